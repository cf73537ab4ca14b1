"""Stored ranges are proved again: whatever is made wider, or moved, is refuted."""

import copy
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.geometry.codec import encode
from pertinent.proofs.records import decode
from tests.forgeries import tampered

MODELS = {
    "logistic": LogisticRegression(max_iter=1000),
    "tree": DecisionTreeClassifier(random_state=0),
    "centroid": NearestCentroid(),
    "qda": QuadraticDiscriminantAnalysis(reg_param=0.1),
}


@pytest.fixture(scope="module", params=MODELS)
def stored(request):
    X, y = load_iris(return_X_y=True)
    model = MODELS[request.param].fit(X, y)
    rules = pertinent.Constraints(bounds={2: (0.5, 6.5)})
    result = pertinent.Explainer(
        model, data=X, constraints=rules, limits_from=None, steps_from=None
    ).explain(X[[0, 70]])
    documents = [json.loads(explanation.json()) for explanation in result]
    assert all(pertinent.check(document, model).ok for document in documents)
    return model, documents


def claims(document, model):
    checked = pertinent.check(document, model)
    assert checked.verdict == "refuted", checked
    return [f.claim for f in checked.findings if f.verdict == "refuted"]


@pytest.mark.parametrize("part", ["spans", "box"])
@pytest.mark.parametrize("side", [0, 1])
def test_wider_is_refuted(stored, part, side):
    model, documents = stored
    for document in documents:
        room = document["proof"]["ranges"]["negative"]
        for k, span in enumerate(room[part]):
            ends = np.asarray(decode(span["ends"]), dtype=float)
            if np.isinf(ends[side]):
                continue
            ends[side] += (-1.0, 1.0)[side] * 1e-5
            path = ("proof", "ranges", "negative", part, k, "ends")
            wrong = claims(tampered(document, path, encode(ends)), model)
            assert any("may move" in claim for claim in wrong)


def test_other_columns_and_positives_are_refuted(stored):
    model, documents = stored
    forged = copy.deepcopy(documents[0])
    forged["proof"]["ranges"]["negative"]["spans"][0]["column"] = 1
    assert claims(forged, model)
    forged = copy.deepcopy(documents[0])
    rooms = forged["proof"]["ranges"]
    rooms["positive"] = rooms["negative"]
    assert claims(forged, model)


def test_what_is_shown_is_what_was_proved(stored):
    model, documents = stored
    first = ("summary", "negative", "values", 0)
    for key, value in (
        ("exact_high", 1e3),
        ("low", -1e3),
        ("low_end", {"kind": "rule", "rule": "x"}),
    ):
        forged = tampered(documents[0], (*first, "range", key), value)
        assert claims(forged, model) == ["what is shown is what was checked"]
    without = copy.deepcopy(documents[0])
    del without["proof"]["ranges"]
    assert claims(without, model) == ["what is shown is what was checked"]


def test_files_of_before_may_let_the_class_end_a_side_that_nothing_is_shown_beyond():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(1).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None)
    seen = set()
    for one in explainer.explain(X[50:100:10]):
        document = json.loads(one.json())
        for k, value in enumerate(document["summary"]["negative"]["values"]):
            for end in ("low_end", "high_end"):
                kind = value["box"][end]["kind"]
                path = ("summary", "negative", "values", k, "box", end, "kind")
                told = {
                    said: pertinent.check(tampered(document, path, said), model)
                    for said in {"class", "open", "shown", "density"} - {kind}
                }
                seen.add(kind)
                for said, checked in told.items():
                    before = kind == "shown" and said == "class"
                    assert checked.verdict == ("holds" if before else "refuted"), checked
                    if before:
                        assert "this version says it in other words" in str(checked)
    assert seen >= {"class", "shown"}


def test_probabilities_are_computed_again(stored):
    model, documents = stored
    told = documents[0]["summary"]["probability"]
    if told is None:
        assert not hasattr(model, "predict_proba")
        return
    assert told["before"] < told["after"]
    forged = tampered(documents[0], ("summary", "probability", "after"), told["after"] + 1e-6)
    assert claims(forged, model) == ["what is shown is what was checked"]


def test_later_parts_are_unknown(stored):
    model, documents = stored
    later = tampered(documents[0], ("proof", "ranges", "later"), 1)
    assert pertinent.check(later, model).verdict == "not re-checkable here"
