"""Each single check by itself: a file that is wrong in exactly this way, and the claim that fails.

Other checks may refute the same file; each test looks at the verdict of one claim only, so that the
check behind it cannot be left out unnoticed.
"""

import copy
import json

import numpy as np
import pytest
from forgeries import refuted, tampered

import pertinent

ENOUGH, CHANGE = "what was enough", "what would have changed it"


def verdict(document, model, claim):
    """Return what is said of the one claim with these words."""
    found = [f.verdict for f in pertinent.check(document, model).findings if f.claim == claim]
    assert len(found) == 1, (claim, found)
    return found[0]


def assert_refuted(document, stored, model, claim):
    assert verdict(stored, model, claim) == "holds"
    assert verdict(document, model, claim) == "refuted"


def with_rule(stored, **rule):
    document = copy.deepcopy(stored)
    document["proof"]["question"]["constraints"] |= rule
    return document


def moved(stored, part, share):
    """Return a file whose point lies farther from where it started, with all sizes to match."""
    document = copy.deepcopy(stored)
    answer, question = document["proof"][part], document["proof"]["question"]
    start = np.array(question["sample"])
    values = start + share * (np.array(answer["values"]["values"]) - start)
    answer["values"]["values"] = values.tolist()
    size = float((np.array(question["weights"]["values"]) * np.abs(values - start)).sum())
    for name in ("objective", "closeness"):
        answer[name]["values"] = [size]
    return document


def test_a_negative_of_the_own_class(iris, stored):
    sample = stored["proof"]["question"]["sample"]
    document = tampered(stored, ("proof", "negative", "values", "values"), sample)
    assert_refuted(document, stored, iris[0], f"{CHANGE} is predicted as said")


def test_a_negative_of_a_third_class(iris, stored):
    """The point has another class than the sample, but not the one that the file says."""
    place = stored["proof"]["negative"]["target_place"]["values"][0]
    document = tampered(stored, ("proof", "negative", "target_place", "values"), [2 - place])
    assert_refuted(document, stored, iris[0], f"{CHANGE} is predicted as said")


def test_a_positive_of_another_class(iris, stored):
    model, X = iris
    point = X[0].tolist()
    document = tampered(stored, ("proof", "positive", "values", "values"), point)
    assert_refuted(document, stored, model, f"{ENOUGH} is predicted as said")


@pytest.mark.parametrize(
    "rule",
    [
        {"frozen": [2]},
        {"increase_only": [2]},
        {"bounds": {"type": "mapping", "pairs": [[2, [3.0, 9.0]]]}},
        {"integer": [2]},
        {"decimals": {"type": "mapping", "pairs": [[2, 1]]}},
    ],
    ids=lambda rule: next(iter(rule)),
)
def test_a_negative_that_breaks_a_rule(iris, stored, rule):
    """The negative lowers x2 from 3.5 to 2.28..."""
    assert_refuted(with_rule(stored, **rule), stored, iris[0], f"{CHANGE} obeys the rules")


def test_a_positive_that_breaks_a_rule(iris, stored):
    rule = {"bounds": {"type": "mapping", "pairs": [[0, [None, 1.0]]]}}
    assert_refuted(with_rule(stored, **rule), stored, iris[0], f"{ENOUGH} obeys the rules")


@pytest.mark.parametrize("share", [1.005, 1.00001])
def test_a_negative_that_is_not_smallest(iris, stored, share):
    """The convex gap is 1e-6: half a percent, and a hundredth of a thousandth, are too much."""
    document = moved(stored, "negative", share)
    assert_refuted(document, stored, iris[0], f"{CHANGE} is proved smallest")


def test_a_negative_of_another_size(iris, stored):
    size = stored["proof"]["negative"]["objective"]["values"][0]
    path = ("proof", "negative", "objective", "values")
    claims = refuted(tampered(stored, path, [size * 0.999]), iris[0])
    assert f"{CHANGE} has the size that is said" in claims


@pytest.mark.parametrize(("part", "name"), [("positive", ENOUGH), ("negative", CHANGE)])
def test_a_bound_that_is_not_proved(iris, stored, part, name):
    size = stored["proof"][part]["objective"]["values"][0]
    status = tampered(stored, ("proof", part, "status_code", "values"), [1])  # feasible
    wrong = tampered(status, ("proof", part, "bound", "values"), [size + 0.1])
    assert_refuted(wrong, stored, iris[0], f"{name}: its bound is as said")


def test_changes_that_are_none(iris, stored):
    document = tampered(
        stored, ("proof", "negative", "changed", "values"), [True, False, True, False]
    )
    assert_refuted(document, stored, iris[0], f"{CHANGE}: its details are as said")


def test_kept_values_that_are_none(iris, stored):
    kept = [not k for k in stored["proof"]["positive"]["kept"]["values"]]
    document = tampered(stored, ("proof", "positive", "kept", "values"), kept)
    assert_refuted(document, stored, iris[0], f"{ENOUGH}: its details are as said")


def test_a_closeness_that_is_another(iris, stored):
    document = tampered(stored, ("proof", "negative", "closeness", "values"), [0.1])
    assert_refuted(document, stored, iris[0], f"{CHANGE}: its details are as said")
    document = tampered(stored, ("proof", "positive", "closeness", "values"), [0.1])
    assert_refuted(document, stored, iris[0], "its distance to the sample is as said")


def test_a_class_that_was_not_asked_for(iris, stored):
    """The sample is of class 1, the negative of class 0, and class 2 was asked for."""
    document = tampered(stored, ("proof", "question", "target"), 2)
    assert_refuted(document, stored, iris[0], f"{CHANGE} is of the class asked for")


def test_an_own_class_that_was_reached(iris, stored):
    document = tampered(stored, ("proof", "negative", "target_place", "values"), [1])
    assert_refuted(document, stored, iris[0], f"{CHANGE} is of the class asked for")


def test_an_own_class_that_is_another(iris, stored):
    for part in ("positive", "negative"):
        document = tampered(stored, ("proof", part, "label", "values"), [0])
        assert_refuted(document, stored, iris[0], "the sample is predicted as said")


def test_an_only_one_that_is_not_optimal(iris, stored):
    document = tampered(stored, ("proof", "negative", "status_code", "values"), [1])
    assert_refuted(document, stored, iris[0], f"{CHANGE} is the only one of its size")


def test_a_second_one_that_is_the_same(iris, stored):
    document = tampered(stored, ("proof", "negative", "unique_code", "values"), [0])
    document["proof"]["negative"]["second"] = {
        "type": "array", "of": "float", "shape": [4],
        "values": document["proof"]["negative"]["values"]["values"],
    }  # fmt: skip
    claim = f"{CHANGE} is not the only one of its size"
    assert verdict(document, iris[0], claim) == "refuted"


def test_what_is_impossible_needs_a_proof(iris, stored):
    document = copy.deepcopy(stored)
    answer = document["proof"]["negative"]
    answer["status_code"]["values"], answer["bound"]["values"] = [2], [np.inf]
    document = json.loads(json.dumps(document))
    claims = {f.claim: f.verdict for f in pertinent.check(document, iris[0]).findings}
    assert claims[f"{CHANGE}: there is none"] == "refuted"


def test_negative_weights(iris, stored):
    weights = [-w for w in stored["proof"]["question"]["weights"]["values"]]
    document = tampered(stored, ("proof", "question", "weights", "values"), weights)
    with pytest.raises(pertinent.exceptions.InputError, match="weights"):
        pertinent.check(document, iris[0])


def test_an_unknown_part_of_a_question(iris, stored):
    document = copy.deepcopy(stored)
    document["proof"]["question"]["only_on_sundays"] = True
    assert pertinent.check(document, iris[0]).verdict == "not re-checkable here"
