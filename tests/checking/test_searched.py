"""Stored explanations of a model that was searched: what holds is confirmed, no proof is taken."""

import copy
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pertinent
from pertinent.checking import HOLDS, REFUTED
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.codec import encode

X, y = load_iris(return_X_y=True)
MODEL = SVC().fit(X, y)


@pytest.fixture(scope="module")
def stored():
    explainer = pertinent.Explainer(MODEL, data=X, search=True)
    return json.loads(explainer.explain(X[10:11])[0].json())


def verdict(document, model=MODEL):
    return pertinent.check(json.dumps(document), model).verdict


def test_what_holds_is_confirmed(stored):
    found = pertinent.check(json.dumps(stored), MODEL)
    assert found.verdict == HOLDS
    claims = [one.claim for one in found.findings]
    assert not any("proved smallest" in claim or "no fewer" in claim for claim in claims)
    assert stored["proof"]["question"]["search"] is True


@pytest.mark.parametrize("row", [10, 60])
def test_it_has_the_form_of_the_schema(row):
    """Of the second row typical values have the class: another answer stands in."""
    jsonschema = pytest.importorskip("jsonschema")
    explainer = pertinent.Explainer(MODEL, data=X, search=True)
    document = json.loads(explainer.explain(X[row : row + 1])[0].json())
    jsonschema.validate(document, pertinent.json_schema())
    assert (document["summary"]["positive"]["instead"] is not None) == (row == 60)
    assert verdict(document) == HOLDS


def _status(document, part):
    document["proof"][part]["status_code"] = encode(np.zeros(1, dtype=np.int8))
    document["summary"][part]["status"] = "optimal"


def _cost(document, part):
    cost = document["summary"][part]["objective"] / 2
    for field in ("objective", "closeness") if part == "negative" else ("objective",):
        document["proof"][part][field] = encode(np.array([cost]))
        document["summary"][part][field] = cost


def _bound(document, part):
    document["proof"][part]["bound"] = encode(np.array([0.1]))
    document["summary"][part]["bound"] = 0.1


def _point(document, part):
    values = np.array(document["proof"]["question"]["sample"])[None]
    values = values + 1e-3 if part == "negative" else values * 0 + 100.0
    document["proof"][part]["values"] = encode(values)
    document["summary"][part]["point"] = values[0].tolist()


def _class(document, part):
    name = "target_place" if part == "negative" else "label"
    document["proof"][part][name] = encode(np.array([2]))


def _unique(document, part):
    document["proof"][part]["unique_code"] = encode(np.ones(1, dtype=np.int8))


def _mark(document, part):
    del document["summary"][part]["search"]
    document["summary"][part]["status"] = "optimal"


@pytest.mark.parametrize("part", ["positive", "negative"])
@pytest.mark.parametrize("forge", [_status, _cost, _bound, _point, _class, _unique, _mark])
def test_forgeries_are_refuted(stored, forge, part):
    document = copy.deepcopy(stored)
    forge(document, part)
    assert verdict(document) == REFUTED


def test_a_range_that_nobody_can_show_is_refuted(stored):
    other = LogisticRegression(max_iter=1000).fit(X, y)
    proved = json.loads(pertinent.Explainer(other, data=X).explain(X[10:11])[0].json())
    document = copy.deepcopy(stored)
    column = int(np.flatnonzero(np.array(document["summary"]["negative"]["point"]) != X[10])[0])
    spans = copy.deepcopy(proved["proof"]["ranges"])
    assert spans["negative"]["spans"]
    for span in spans["negative"]["spans"]:
        span["column"] = column
    spans["negative"]["box"] = []
    spans["positive"] = document["proof"]["ranges"]["positive"]
    document["proof"]["ranges"] = spans
    assert verdict(document) == REFUTED


def test_a_model_that_cannot_be_read_needs_the_word(stored):
    document = copy.deepcopy(stored)
    del document["proof"]["question"]["search"]
    with pytest.raises(UnsupportedModelError):
        verdict(document)


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("search", 1, "'search' is not true"),
        ("search", False, "'search' is not true"),
        ("categories", {"0": None}, "categories are not those of each feature"),
        ("categories", [None], "categories are not those of each feature"),
    ],
)
def test_what_is_no_search_is_refused(stored, part, value, words):
    document = copy.deepcopy(stored)
    document["proof"]["question"][part] = value
    with pytest.raises(InputError, match=words):
        verdict(document)


def test_another_model_refutes_it(stored):
    class Other:
        classes_ = MODEL.classes_

        def predict(self, table):
            return np.zeros(len(table), dtype=int)

    assert verdict(stored, Other()) == REFUTED
