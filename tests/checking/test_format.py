"""The stored format: its version, its schema, and what later versions may add to it."""

import copy
import json

import jsonschema
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.checking import GIVEN, NOT_CHECKED, REFUTED, UNKNOWN
from pertinent.exceptions import InputError
from pertinent.rules.reference import RuleKind
from pertinent.setting.reasons.reason import Why
from tests.forgeries import tampered

REASON = ("proof", "negative", "reason")


@pytest.fixture(scope="module")
def held():
    """No contrast class: the rules hold what would change it."""
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rules = pertinent.Constraints(frozen=[2, 3], bounds={0: (4, 8), 1: (2, 4.5)})
    explainer = pertinent.Explainer(model, data=X, constraints=rules)
    return model, json.loads(explainer.explain(X[:1], target=2)[0].json())


def of(checked, claim):
    return [finding for finding in checked.findings if claim in finding.claim]


def test_a_reason_is_stored_as_data_and_read_off_the_proof_again(held):
    model, document = held
    jsonschema.validate(document, pertinent.json_schema())
    reason = document["proof"]["negative"]["reason"]
    assert (reason["kind"], reason["asked"]) == ("rules", ["is", 2])
    assert {rule["kind"] for rule in reason["rules"]} <= {"frozen", "at-least", "at-most"}
    checked = pertinent.check(document, model)
    assert checked.ok
    assert of(checked, "the reason is as said")[0].verdict == "holds"
    assert checked.format.startswith("Format 2")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "model"},
        {"asked": ["is", 1]},
        {"rules": []},
        {"rules": [{"kind": "frozen", "features": ["x0"]}]},
    ],
)
def test_another_reason_is_refuted(held, change):
    model, document = held
    forged = copy.deepcopy(document)
    forged["proof"]["negative"]["reason"].update(change)
    (finding,) = of(pertinent.check(forged, model), "the reason is as said")
    assert finding.verdict == REFUTED


@pytest.mark.parametrize(
    "change",
    [{"kind": "a-later-kind"}, {"later": 1}, {"rules": [{"kind": "a-later-rule"}]}],
)
def test_a_reason_that_is_not_known_here_is_unknown(held, change):
    model, document = held
    later = copy.deepcopy(document)
    later["proof"]["negative"]["reason"].update(change)
    checked = pertinent.check(later, model)
    assert checked.verdict == UNKNOWN
    assert of(checked, "the reason is as said")[0].verdict == UNKNOWN


def test_better_words_do_not_refute(held):
    model, document = held
    words = "nothing that the rules allow is predicted as 2"
    better = tampered(document, ("summary", "reasons", "negative"), words)
    better = tampered(better, ("summary", "negative", "reason"), words)
    better = tampered(better, ("summary", "rules", "constraints"), "x2 and x3 stay")
    better = tampered(better, ("summary", "features", 0, "text"), "X 0")
    checked = pertinent.check(better, model)
    assert checked.ok
    (finding,) = of(checked, "the words of what is shown")
    assert finding.verdict == NOT_CHECKED
    assert "reasons.negative" in finding.detail


@pytest.mark.parametrize("path", [("later",), ("negative", "later"), ("features", 0, "later")])
def test_a_part_of_the_summary_that_is_not_known_is_listed_as_not_checked(held, path):
    model, document = held
    later = tampered(document, ("summary", *path), True)
    jsonschema.validate(later, pertinent.json_schema())
    checked = pertinent.check(later, model)
    assert checked.ok
    (finding,) = [f for f in checked.findings if f.verdict == NOT_CHECKED]
    assert "later" in finding.claim


@pytest.mark.parametrize(
    "path",
    [
        ("question", "later"),
        ("question", "constraints", "later"),
        ("question", "constraints", "type"),
        ("question", "wording", "later"),
        ("positive", "later"),
        ("negative", "certificates", 0, "certificate", "blocks", 0, "proofs", "type"),
    ],
)
def test_a_question_or_proof_that_is_not_known_here_is_unknown_never_true(held, path):
    model, document = held
    later = tampered(document, ("proof", *path), "a-later-one")
    checked = pertinent.check(later, model)
    assert checked.verdict == UNKNOWN, str(checked)


def test_a_later_format_is_refused_and_the_first_one_described(held):
    model, document = held
    with pytest.raises(InputError, match="reads 1 and 2"):
        pertinent.check(tampered(document, ("version",), 3), model)
    assert pertinent.json_schema(1)["$id"] != pertinent.json_schema()["$id"]
    with pytest.raises(InputError, match="version 0"):
        pertinent.json_schema(0)


def test_the_words_of_the_first_format_are_taken_as_given(held):
    model, document = held
    words = {"type": "array", "of": "object", "shape": [1], "values": ["because"]}
    first = tampered(tampered(document, ("version",), 1), REASON, words)
    checked = pertinent.check(first, model)
    assert checked.ok
    assert checked.format.startswith("Format 1")
    assert of(checked, "the reason is as said")[0].verdict == GIVEN


def test_the_schema_names_every_kind():
    kinds = pertinent.json_schema()["$defs"]
    assert set(kinds["reason"]["properties"]["kind"]["enum"]) == {w.value for w in Why} - {
        "unknown"
    }
    assert set(kinds["rule"]["properties"]["kind"]["enum"]) == {k.value for k in RuleKind}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(also=1),
        lambda d: d["proof"].update(also=1),
        lambda d: d["proof"]["negative"]["certificates"][0].update(only_if="x"),
        lambda d: d["proof"]["question"]["constraints"].update(relations=["x0 ~ x1"]),
    ],
    ids=["document", "proof", "certificate", "relation"],
)
def test_what_is_not_known_anywhere_in_a_file_makes_it_unknown(change):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    document = json.loads(pertinent.Explainer(model, data=X).explain(X[:1])[0].json())
    assert pertinent.check(document, model).verdict == "holds"
    change(document)
    assert pertinent.check(document, model).verdict == "not re-checkable here"
