"""One false file for each single claim: exactly this claim is refuted by it."""

import copy
import json

import numpy as np
import pytest
from forgeries import refuted
from sklearn.datasets import load_iris

import pertinent
from pertinent.checking.claims import _is_exact, _is_unseen

ROW = 0
#: What is asked, by name.
ASKED = {
    "plain": {},
    "strict": {"method": "strict"},
    "exact": {"method": "exact"},
    "sufficient": {"method": "sufficient"},
    "plausible": {"plausibility": pertinent.Plausibility(*load_iris(return_X_y=True))},
    "apart": {"overlap": "avoid"},
}


@pytest.fixture(scope="module")
def documents(iris):
    model, X = iris
    return {
        name: json.loads(pertinent.Explainer(model, data=X, **how).explain(X[ROW:][:1])[0].json())
        for name, how in ASKED.items()
    }


def put(part, field, values):
    return lambda document, X: document["proof"][part][field].update(values=values)


def point(part, of):
    """Return the forgery that hands out another point."""
    return lambda document, X: document["proof"][part]["values"].update(values=of(X).tolist())


def no_proof(field):
    def forge(document, X):
        document["proof"]["positive"][field] = []

    return forge


def impossible(part):
    def forge(document, X):
        document["proof"][part]["status_code"]["values"] = [2]
        document["proof"][part]["certificates"] = []

    return forge


def feasible(document, X):
    document["proof"]["negative"]["status_code"]["values"] = [1]
    document["proof"]["negative"]["bound"]["values"] = [99.0]


def frozen(document, X):
    question, negative = document["proof"]["question"], document["proof"]["negative"]
    changed = int(np.flatnonzero(negative["changed"]["values"])[0])
    question["constraints"]["frozen"] = [question["features"][changed]]


def kept_moves(document, X):
    positive = document["proof"]["positive"]
    place = int(np.flatnonzero(positive["kept"]["values"])[0])
    positive["values"]["values"][place] += 0.1


def asked_for(**given):
    return lambda document, X: document["proof"]["question"].update(given)


def touches(document, X):
    positive, negative = document["proof"]["positive"], document["proof"]["negative"]
    negative["changed"]["values"] = positive["kept"]["values"]


ENOUGH, CHANGE = "what was enough", "what would have changed it"
FORGERIES = [
    ("plain", put("positive", "objective", [9.0]), f"{ENOUGH} has the size that is said"),
    ("plain", put("negative", "objective", [9.0]), f"{CHANGE} has the size that is said"),
    ("plain", point("positive", lambda X: X[100]), f"{ENOUGH} is predicted as said"),
    ("plain", point("negative", lambda X: X[ROW]), f"{CHANGE} is predicted as said"),
    ("plain", asked_for(min_proba=0.9999), f"{CHANGE} is predicted as said"),
    ("plain", put("positive", "closeness", [9.0]), "its distance to the sample is as said"),
    ("plain", no_proof("certificates"), f"{ENOUGH} is proved smallest"),
    ("plain", kept_moves,
     "no valid answer with these features is closer to the sample"),
    ("plain", put("positive", "sparse_values", [7.0, 3.0, 6.0, 2.0]),
     f"{ENOUGH}: its details are as said"),
    ("plain", put("positive", "fallback", [True]), f"{ENOUGH}: its details are as said"),
    ("plain", put("negative", "closeness", [9.0]), f"{CHANGE}: its details are as said"),
    ("plain", put("negative", "target_place", [2]), f"{CHANGE} is predicted as said"),
    ("plain", impossible("positive"), f"{ENOUGH}: there is none"),
    ("plain", impossible("negative"), f"{CHANGE}: there is none"),
    ("plain", feasible, f"{CHANGE}: none is smaller than 99"),
    ("plain", frozen, f"{CHANGE} obeys the rules"),
    ("strict", put("positive", "objective", [4.0]), "it keeps as many values as said"),
    ("strict", kept_moves, "the values it keeps are the sample's own"),
    ("strict", no_proof("certificates"), "no fewer values are enough"),
    ("exact", kept_moves,
     "no other set of as few values comes closer to the sample"),
    ("exact", put("positive", "closeness", [9.0]), "its distance to the sample is as said"),
    ("sufficient", put("positive", "kept", [False] * 4), "it holds whatever the other values are"),
    ("plausible", point("negative", lambda X: X[ROW] + 50 * np.array([0, 0, 1, 1])), "dense"),
    ("plausible", put("negative", "log_density", [9.0]), f"{CHANGE}: its details are as said"),
    ("apart", touches, f"{CHANGE} keeps off {ENOUGH}"),
]  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_the_honest_file_holds(iris, documents, name):
    assert pertinent.check(documents[name], iris[0]).verdict != "refuted"


@pytest.mark.parametrize(
    ("name", "forge", "claim"), FORGERIES, ids=[f"{i}" for i in range(len(FORGERIES))]
)
def test_the_claim_is_refuted(iris, documents, name, forge, claim):
    model, X = iris
    document = copy.deepcopy(documents[name])
    forge(document, X)
    assert any(claim in found for found in refuted(document, model))


def test_a_number_may_be_told_as_it_is(iris):
    """Other versions round what is shown less; nothing else of it may be told otherwise."""
    model, X = iris
    explainer = pertinent.Explainer(model, data=X, steps_from=None)
    document = json.loads(explainer.explain(X[ROW:][:1])[0].json())
    told = document["summary"]["negative"]["values"][0]
    assert told["value"] != told["exact"]
    told["value"] = told["exact"]
    assert pertinent.check(document, model).ok
    told["value"] += 1e-3
    assert refuted(document, model) == ["what is shown is what was checked"]
    assert not _is_exact({"exact": 0.0}, "fixed", False)
    assert not _is_exact({"value": 1.0}, "value", 1.0)


@pytest.mark.parametrize(
    ("name", "own", "told", "is_other_words"),
    [
        ("positive.box.sides[0].upper_end.kind", "shown", "class", True),
        ("positive.box.sides[0].lower_end.kind", "density", "class", True),
        ("positive.box.sides[0].upper_end.kind", "rule", "class", False),
        ("positive.box.sides[0].upper_end.kind", "open", "class", False),
        ("positive.box.sides[0].upper_end.kind", "shown", "open", False),
        ("positive.box.sides[0].upper_end.kind", "shown", "rule", False),
        ("positive.ranges[0].upper_end.kind", "shown", "class", False),
        ("positive.box.sides[0].upper_end.text", "shown", "class", False),
    ],
)
def test_only_the_class_may_end_a_side_beyond_which_nothing_is_shown(
    name, own, told, is_other_words
):
    assert _is_unseen(name, own, told) == is_other_words
