"""Files that agree with themselves, and are false."""

import copy
import json

import numpy as np
import pytest
from forgeries import refuted, resummed, tampered
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.exceptions import InputError


@pytest.mark.parametrize(
    ("path", "value", "claim"),
    [
        (("proof", "negative", "objective", "values", 0), 0.01, "has the size that is said"),
        (("proof", "negative", "values", "values", 2), 1.0, "what would have changed it"),
        (("proof", "positive", "label", "values", 0), 0, "the sample is predicted as said"),
        (("summary", "negative", "values", 0, "value"), 99.0, "what is shown"),
        (("summary", "features", 0, "sample"), 99.0, "what is shown"),
        (("summary", "prediction"), 2, "what is shown"),
    ],
)
def test_every_tampering_is_refuted(iris, stored, path, value, claim):
    checked = pertinent.check(tampered(stored, path, value), iris[0])
    assert checked.verdict == "refuted"
    assert any(claim in f.claim for f in checked.findings if f.verdict == "refuted")


def test_false_multipliers_prove_nothing(iris, stored):
    document = copy.deepcopy(stored)
    for part in document["proof"]["negative"]["certificates"]:
        for block in part["certificate"]["blocks"]:
            for key in ("multipliers", "multiplier", "rival"):
                if key in block["proofs"]:
                    array = block["proofs"][key]
                    array["values"] = [0 for _ in array["values"]]
    checked = pertinent.check(document, iris[0])
    assert checked.verdict == "refuted"


@pytest.mark.parametrize("part", ["positive", "negative"])
@pytest.mark.parametrize("region", [["is", 0], ["is", 2], ["not", 0], ["not", 2]])
def test_a_proof_about_another_region_is_refuted(iris, stored, part, region):
    path = ("proof", part, "certificates", 0, "region")
    claims = refuted(tampered(stored, path, region), iris[0])
    assert any("its proof is about what was asked" in claim for claim in claims)


def test_what_was_asked_is_stored(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X)
    for target in (None, 2):
        one = explainer.explain(X[:1], target=target)[0]
        document = json.loads(one.json())
        assert document["proof"]["question"]["target"] == target
        assert pertinent.check(document, model).ok
    assert refuted(tampered(document, ("proof", "question", "target"), None), model)
    assert refuted(tampered(document, ("proof", "question", "target"), 1), model)
    del document["proof"]["question"]["target"]
    with pytest.raises(InputError, match="does not say which class was asked for"):
        pertinent.check(document, model)


def test_a_distant_class_does_not_prove_the_nearest(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X)
    document = json.loads(explainer.explain(X[:1], target=2)[0].json())
    negative, x = document["proof"]["negative"], X[0]
    weights = np.array(document["proof"]["question"]["weights"]["values"])
    size = negative["objective"]["values"][0]
    other = x.copy()
    for length in np.linspace(0, 5, 500):
        other[2] = x[2] + length
        other[1] = x[1] + (size - weights[2] * length) / weights[1]
        if other[1] >= x[1] and model.predict(other[None])[0] == 1:
            break
    assert model.predict(other[None])[0] == 1
    negative["values"]["values"] = other.tolist()
    negative["objective"]["values"] = [float(weights @ np.abs(other - x))]
    negative["closeness"]["values"] = negative["objective"]["values"]
    negative["target_place"]["values"] = [1]
    negative["changed"]["values"] = (other != x).tolist()
    assert refuted(resummed(document, model), model)
    document["proof"]["question"]["target"] = None
    assert refuted(document, model)


def test_the_sample_itself_is_no_contrast(iris, stored):
    document, sample = copy.deepcopy(stored), stored["proof"]["question"]["sample"]
    negative = document["proof"]["negative"]
    negative["values"]["values"] = sample
    for key in ("objective", "closeness", "bound", "closeness_bound"):
        negative[key]["values"] = [0.0]
    negative["target_place"]["values"] = negative["label"]["values"]
    negative["changed"]["values"] = [False] * 4
    assert refuted(resummed(document, iris[0]), iris[0])


def test_the_same_proof_twice_proves_no_more(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X, method="sufficient")
    document = json.loads(explainer.explain(X[60:61])[0].json())
    positive = document["proof"]["positive"]
    assert positive["objective"]["values"][0] < 4
    positive["certificates"] *= 3
    positive["kept"]["values"], positive["objective"]["values"] = [True] * 4, [4.0]
    positive["values"]["values"] = positive["sparse_values"]["values"] = X[60].tolist()
    claims = refuted(resummed(document, model), model)
    assert "no fewer values are enough" in claims


def test_a_number_of_features_is_no_distance(iris, stored):
    model, X = iris
    for method in ("strict", "exact"):
        counted = pertinent.Explainer(model, data=X, method=method).explain(X[60:61])[0]
        other = json.loads(counted.json())["proof"]["positive"]["certificates"]
        path = ("proof", "positive", "certificates")
        claims = refuted(tampered(stored, path, other), model)
        assert any("its proof is about what was asked" in claim for claim in claims)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("negative", "unique_code", [0]),
        ("positive", "unique_code", [0]),
        ("negative", "bound", [99.0]),
        ("positive", "bound", [99.0]),
        ("positive", "closeness_bound", [99.0]),
        ("negative", "closeness_bound", [99.0]),
        ("positive", "trivial", "flip"),
        ("positive", "kept", [True] * 4),
        ("negative", "changed", [True] * 4),
        ("negative", "label", [0]),
    ],
)
def test_every_detail_of_the_answers_is_checked(iris, stored, part, field, value):
    document = copy.deepcopy(stored)
    record = document["proof"][part][field]
    record["values"] = [not record["values"][0]] if value == "flip" else value
    assert refuted(resummed(document, iris[0]), iris[0])


def test_a_reason_beside_an_answer_is_refuted(iris, stored):
    document = tampered(stored, ("proof", "negative", "reason"), {"kind": "never"})
    assert refuted(resummed(document, iris[0]), iris[0])


def test_overlap_that_nobody_asked_to_avoid_is_refuted(iris, stored):
    document = tampered(stored, ("proof", "question", "avoided"), True)
    assert refuted(resummed(document, iris[0]), iris[0])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rules", "constraints"), "income frozen"),
        (("rules", "measure"), "units"),
        (("rules", "between"), False),
        (("rules", "baseline"), "mean"),
        (("rules", "margin"), 1.0),
        (("reasons",), {"positive": "x", "negative": "y"}),
        (("prediction_text",), "rejected"),
        (("subject",), "applicant"),
        (("model",), "SVC"),
        (("classes",), [2, 1, 0]),
        (("features", 0, "unit"), "miles"),
        (("features", 0, "low"), -5.0),
        (("negative", "target_text"), "approved"),
    ],
)
def test_everything_shown_is_compared(iris, stored, path, value):
    claims = refuted(tampered(stored, ("summary", *path), value), iris[0])
    assert claims == ["what is shown is what was checked"]


def test_uniqueness_that_is_not_shown_is_never_ok():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    document = json.loads(pertinent.Explainer(model, data=X).explain(X[60:61])[0].json())
    assert document["proof"]["negative"]["unique_code"]["values"] == [-1]
    document["proof"]["negative"]["unique_code"]["values"] = [1]
    assert not pertinent.check(resummed(document, model), model).ok


@pytest.mark.parametrize("alone", [True, False])
def test_multipliers_that_prove_nothing_show_no_answer_to_be_the_only_one(alone):
    """Zeros leave no tie, and no bound either; a true proof beside them does not make them true."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    model.coef_[:] = 1.0
    result = pertinent.Explainer(model, baseline=0.0, between=False).explain(X)
    row = int(np.flatnonzero(result.negative.unique_code == 0)[0])
    document = json.loads(result[row].json())
    negative = document["proof"]["negative"]
    negative["unique_code"]["values"] = [1]
    blocks = negative["certificates"][0]["certificate"]["blocks"]
    (true,) = blocks
    false = copy.deepcopy(true)
    false["proofs"]["multipliers"]["values"] = [0.0]
    if alone:
        blocks.append(false)
    else:
        for key in ("multipliers", "ray"):
            both = true["proofs"][key]
            both["values"] = false["proofs"][key]["values"] + both["values"]
            both["shape"] = [2, *both["shape"][1:]]
        true["rows"]["values"], true["rows"]["shape"] = [0, 0], [2]
    checked = pertinent.check(resummed(document, model), model)
    claim = "what would have changed it is the only one of its size"
    assert [f.verdict for f in checked.findings if f.claim == claim] == ["not re-checkable here"]


def test_a_proof_about_fewer_features_says_nothing_of_the_closest(iris):
    """No set of no features comes close; that proves nothing of sets of as many as are kept."""
    model, X = iris
    document = json.loads(
        pertinent.Explainer(model, data=X, method="exact").explain(X[:1])[0].json()
    )
    positive = document["proof"]["positive"]
    assert positive["objective"]["values"][0] >= 1
    for part in positive["closeness_certificates"]:
        for block in part["certificate"]["blocks"]:
            block["proofs"]["size"]["values"] = [0.0]
    claims = refuted(document, model)
    assert "what was enough: its proof is about what was asked" in claims


@pytest.mark.parametrize("place", [0, 1, 7, 8, 30])
def test_a_blend_of_training_points_that_are_not_the_nearest_is_refuted(iris, place):
    """The answer is one training point of its class: fine as one of the 8 nearest, not beyond."""
    (model, X), (_, y) = iris, load_iris(return_X_y=True)
    hulls = pertinent.Plausibility(X, y, method="hull", n_neighbors=8)
    explainer = pertinent.Explainer(model, data=X, plausibility=hulls)
    document = json.loads(explainer.explain(X[:1])[0].json())
    away = np.abs(X - X[0]) @ explainer.setting.weights
    row = [i for i in np.argsort(away, kind="stable") if y[i] == 1 == model.predict(X[[i]])][place]
    forged = document["proof"]["negative"]
    changed = X[row] != X[0]
    new = {"values": X[row], "changed": changed, "status_code": [1], "target_place": [1]}
    new |= {"objective": [away[row]], "closeness": [away[row]]}
    new |= {"bound": [0.0], "closeness_bound": [0.0]}
    for field, values in new.items():
        forged[field]["values"] = np.asarray(values).tolist()
    forged["certificates"] = []
    blend = forged["blend"]["values"][0]
    for field, value in (("rows", int(row)), ("shares", 1.0)):
        blend[field] |= {"shape": [1], "values": [value]}
    checked = pertinent.check(resummed(document, model), model)
    wrong = [f.claim for f in checked.findings if f.verdict == "refuted"]
    claim = "what would have changed it is a blend of the 8 nearest training points of its class"
    assert wrong == ([] if place < 8 else [claim])
