"""A target that some samples have already: they say so, and the others are answered as alone."""

import json

import jsonschema
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from tests.forgeries import tampered


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=1000).fit(X, y), X


@pytest.mark.parametrize("how", [{}, {"norm": "l0"}, {"max_changes": 2}])
def test_others_are_answered_as_alone(iris, how):
    model, X = iris
    X = X[::10]
    there = model.predict(X) == 1
    assert 0 < there.sum() < len(X)
    both = pertinent.pertinent_negatives(model, X, target=1, **how)
    alone = pertinent.pertinent_negatives(model, X[~there], target=1, **how)
    assert (both.status[there] == "already").all()
    assert np.isnan(both.values[there]).all()
    assert not both.objective[there].any()
    assert not both.changed[there].any()
    assert both.reason[there][0] == "the sample is predicted as 1 already"
    assert np.array_equal(both.values[~there], alone.values)
    assert both.status[~there].tolist() == alone.status.tolist()
    assert np.array_equal(both.bound[~there], alone.bound)
    assert (both.target == 1).all()
    everyone = pertinent.pertinent_negatives(model, X[there], target=1, **how)
    assert (everyone.status == "already").all()


@pytest.mark.parametrize("overlap", ["allow", "avoid"])
def test_every_view_says_so_and_the_file_holds(iris, overlap, tmp_path):
    model, X = iris
    X = X[::10]
    explainer = pertinent.Explainer(model, data=X, overlap=overlap)
    result = explainer.explain(X, target=1)
    there = np.flatnonzero(result.negative.status == "already")
    validator = jsonschema.Draft202012Validator(pertinent.json_schema())
    for i in (int(there[0]), 0):
        stored = json.loads(result[i].json())
        validator.validate(stored)
        checked = pertinent.check(stored, model)
        assert checked.ok, checked
    explanation = result[int(there[0])]
    assert "nothing has to, since the model predicts 1 already" in explanation.text()
    assert "Nothing has to change for 1." in explanation.text("short")
    assert "already" in explanation.html()
    assert result.summary()["negative"]["status"]["already"] == len(there)
    assert "nothing has to change" in result.text()
    assert result.to_frame()["negative_status"].tolist().count("already") == len(there)
    result.report(tmp_path / "report.html")
    result.plot_summary()
    explanation.plot()


def test_forgeries_are_refuted(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X)
    stored = json.loads(explainer.explain(X[60:61], target=1)[0].json())
    other = json.loads(explainer.explain(X[:1], target=1)[0].json())
    for forged in (
        tampered(stored, ("proof", "question", "target"), 2),
        tampered(stored, ("proof", "question", "target"), None),
        tampered(stored, ("summary", "negative", "status"), "optimal"),
        tampered(other, ("proof", "negative"), stored["proof"]["negative"]),
    ):
        assert pertinent.check(forged, model).verdict == "refuted"
