"""Answers that stand in for an empty positive are checked as what they say they are."""

import copy
import json

import numpy as np
import pytest
from forgeries import refuted, resummed
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError

X, y = load_iris(return_X_y=True)


def told(model, basis, **how):
    explainer = pertinent.Explainer(model, data=X, **how)
    for one in explainer.explain(X[::4]):
        if one.basis == basis:
            return json.loads(one.json())
    raise AssertionError(f"no row rests on {basis}")


@pytest.fixture(scope="module")
def linear():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return model, told(model, "sufficient")


@pytest.fixture(scope="module")
def curved():
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    return model, told(model, "contrast")


@pytest.mark.parametrize("name", ["linear", "curved"])
def test_each_kind_is_stored_and_holds(name, request):
    model, document = request.getfixturevalue(name)
    checked = pertinent.check(document, model)
    assert checked.ok, checked
    assert any(f.claim.startswith("in its place: ") for f in checked.findings)
    again = pertinent.Explanation.from_json(json.dumps(document))
    assert again.json() == json.dumps(document, ensure_ascii=False)


@pytest.mark.parametrize("name", ["linear", "curved"])
@pytest.mark.parametrize("basis", ["sufficient", "contrast", "negative"])
def test_a_forged_kind_is_refuted(name, basis, request):
    model, stored = request.getfixturevalue(name)
    document = copy.deepcopy(stored)
    own = document["proof"]["instead"]["basis"]
    if own == basis:
        return
    document["proof"]["instead"]["basis"] = basis
    assert any("is of the kind" in c for c in refuted(resummed(document, model), model))
    method = {"sufficient": "sufficient", "contrast": "two-phase"}.get(basis)
    if method:
        document["proof"]["instead"]["positive"]["method"] = method
        assert refuted(resummed(document, model), model)


def test_a_kind_that_is_shown_only_is_refuted(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    document["summary"]["positive"]["instead"]["basis"] = "contrast"
    assert "what is shown is what was checked" in refuted(document, model)
    document = copy.deepcopy(stored)
    del document["proof"]["instead"]
    assert "what is shown is what was checked" in refuted(document, model)


def test_a_smaller_set_is_not_sufficient(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    answer = document["proof"]["instead"]["positive"]
    kept = answer["kept"]["values"]
    kept[kept.index(True)] = False
    answer["objective"]["values"] = answer["bound"]["values"] = [float(sum(kept))]
    claims = refuted(resummed(document, model), model)
    assert "in its place: it holds whatever the other values are" in claims


def test_nothing_stands_in_for_a_positive_that_keeps_something(linear):
    model, _ = linear
    explainer = pertinent.Explainer(model, data=X)
    other = next(one for one in explainer.explain(X[::10]) if one.basis == "typical")
    document = json.loads(other.json())
    document["proof"]["instead"] = {"basis": "negative"}
    claims = refuted(resummed(document, model), model)
    assert any("keeps nothing by choice" in claim for claim in claims)


def test_typical_values_of_another_class_are_refuted(curved):
    model, stored = curved
    document = copy.deepcopy(stored)
    part = document["proof"]["instead"]
    third = ({0, 1, 2} - {part["class"], document["summary"]["prediction"]}).pop()
    document["proof"]["instead"]["class"] = third
    assert any("is of the kind" in c for c in refuted(resummed(document, model), model))
    document = copy.deepcopy(stored)
    at = np.median(X[model.predict(X) == third], axis=0)
    document["proof"]["instead"]["baseline"]["values"] = at.tolist()
    assert any("is of the kind" in c for c in refuted(resummed(document, model), model))


def test_what_is_not_known_is_no_proof(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    document["proof"]["instead"]["more"] = 1
    assert pertinent.check(document, model).verdict == "not re-checkable here"
    document["proof"]["instead"]["basis"] = "dreamt"
    with pytest.raises(InputError, match="basis must be one of"):
        pertinent.check(document, model)


def test_files_of_before_say_nothing_of_it(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    del document["proof"]["instead"], document["summary"]["positive"]["instead"]
    del document["proof"]["ranges"]["instead"]
    assert pertinent.check(document, model).ok
    one = pertinent.Explanation.from_json(json.dumps(document))
    assert "nothing in particular" in one.text()
    assert one.basis == "typical"
