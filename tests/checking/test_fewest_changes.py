"""Negatives with the fewest changes: stored with their proofs, and checked from the file."""

import copy
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.exceptions import InputError
from tests.forgeries import refuted, resummed, tampered

NEGATIVE = ("proof", "negative")


@pytest.fixture(scope="module")
def stored():
    """A change of two features or more."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    within = {j: (X[:, j].min(), X[:, j].max()) for j in range(X.shape[1])}
    rules = pertinent.Constraints(bounds=within)
    explainer = pertinent.Explainer(model, data=X, constraints=rules, norm="l0")
    result = explainer.explain(X[:40])
    row = int(np.flatnonzero(result.negative.objective > 1)[0])
    return model, json.loads(result[row].json())


def test_the_question_names_the_norm_and_the_proof_holds(stored):
    model, document = stored
    assert document["proof"]["question"]["norm"] == "l0"
    assert document["summary"]["negative"]["norm"] == "l0"
    checked = pertinent.check(document, model)
    assert checked.ok, str(checked)
    claims = {finding.claim for finding in checked.findings}
    assert {"no fewer changes do", "no other change of as few features is smaller"} <= claims
    text = pertinent.Explanation.from_json(json.dumps(document)).text()
    assert "Proved fewest: no fewer changes" in text


@pytest.mark.parametrize(
    ("field", "value"),
    [("bound", 9.0), ("closeness_bound", 99.0), ("closeness", 0.01), ("objective", 1.0)],
)
def test_numbers_that_are_not_proved_are_refuted(stored, field, value):
    model, document = stored
    forged = copy.deepcopy(document)
    forged["proof"]["negative"][field]["values"] = [value]
    assert refuted(resummed(forged, model), model)


@pytest.mark.parametrize("field", ["certificates", "closeness_certificates"])
def test_without_its_proof_nothing_is_fewest(stored, field):
    model, document = stored
    assert refuted(tampered(document, (*NEGATIVE, field), []), model)


def test_a_proof_of_a_distance_is_none_of_a_number(stored):
    model, document = stored
    cost = document["proof"]["negative"]["closeness_certificates"]
    assert refuted(tampered(document, (*NEGATIVE, "certificates"), cost), model)


def test_question_and_answer_must_ask_the_same(stored):
    model, document = stored
    with pytest.raises(InputError, match="norm"):
        pertinent.check(tampered(document, ("proof", "question", "norm"), "l1"), model)


def test_the_fewest_changes_do_not_avoid(stored):
    with pytest.raises(InputError, match="overlap"):
        pertinent.Explainer(stored[0], norm="l0", overlap="avoid")
