"""Whether an answer of a curved model is the only one of its size: asked for, shown, checked."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import scale

import pertinent
from pertinent.lvq import LGMLVQ

pytestmark = pytest.mark.matrix(2)

CLAIM = "what would have changed it is the only one of its size"
ASKED = pertinent.Options(unique=True)


def dense(X, y):
    return {"plausibility": pertinent.Plausibility(X, y)}


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize(
    ("model", "more"),
    [
        (QuadraticDiscriminantAnalysis(reg_param=0.01), lambda X, y: {}),
        (GaussianNB(), lambda X, y: {}),
        (LGMLVQ(random_state=0), lambda X, y: {}),
        (LogisticRegression(), dense),
    ],
    ids=["qda", "naive-bayes", "lgmlvq", "dense"],
)
def test_most_answers_are_shown_to_be_the_only_ones_and_a_check_agrees(load, model, more):
    X, y = load(return_X_y=True)
    X = scale(X)
    explainer = pertinent.Explainer(model.fit(X, y), options=ASKED, **more(X, y))
    result = explainer.explain(X[::26])
    for part in (result.positive, result.negative):
        decided = part.unique_code[part.status_code == 0] == 1
        assert decided.mean() >= 0.7
    for i in range(0, len(result), 3):
        checked = pertinent.check(result[i].json(), model)
        assert checked.ok, checked
        said = [f.verdict for f in checked.findings if f.claim == CLAIM]
        assert said == ["holds"] * int(result.negative.unique_code[i] == 1)
        alone = explainer.explain(X[::26][[i]])
        assert alone.positive.unique_code[0] == result.positive.unique_code[i]
        assert alone.negative.unique_code[0] == result.negative.unique_code[i]


def test_it_is_not_looked_for_unless_asked():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    for options in (None, pertinent.Options(unique=False)):
        found = pertinent.pertinent_negatives(model, X[:3], options=options)
        assert found.unique.tolist() == [None] * 3
    found = pertinent.pertinent_negatives(model, X[:3], options=ASKED)
    assert found.unique.tolist() == [True] * 3


def two_ways():
    """Return a model of equal means that differs in one variance: up and down do the same."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) * [3.0, 1.0]])
    y = np.repeat([0, 1], 200)
    model = GaussianNB().fit(X, y)
    model.theta_[:] = 0.0
    return model


def test_of_two_answers_of_the_same_size_none_is_called_the_only_one():
    model, sample = two_ways(), np.zeros((1, 2))
    found = pertinent.pertinent_negatives(model, sample, options=ASKED)
    assert found.status.tolist() == ["optimal"]
    assert found.unique.tolist() == [None]
    other = -found.values
    assert model.predict(other) == model.predict(found.values)
    stored = json.loads(pertinent.Explainer(model, options=ASKED).explain(sample)[0].json())
    stored["proof"]["negative"]["unique_code"]["values"] = [1]
    checked = pertinent.check(json.dumps(stored), model)
    assert [f.verdict for f in checked.findings if f.claim == CLAIM] == ["not re-checkable here"]
    assert not checked.ok


def test_with_one_of_two_ways_shut_the_other_is_the_only_one():
    model, sample = two_ways(), np.zeros((1, 2))
    up = pertinent.Constraints(increase_only=[0])
    found = pertinent.pertinent_negatives(model, sample, options=ASKED, constraints=up)
    assert found.unique.tolist() == [True]
