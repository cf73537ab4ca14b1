"""Negatives with the fewest changes: stored with their proofs, and checked from the file."""

import copy
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pertinent
from pertinent.exceptions import InputError
from tests.forgeries import refuted, resummed, tampered

pytestmark = pytest.mark.matrix(2)

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


@pytest.mark.matrix(1)
@pytest.mark.parametrize(
    ("field", "claim"),
    [
        ("certificates", "no fewer changes do"),
        ("closeness_certificates", "no other change of as few features is smaller"),
    ],
)
def test_without_its_proof_nothing_is_fewest(stored, field, claim):
    model, document = stored
    assert claim in refuted(tampered(document, (*NEGATIVE, field), []), model)


@pytest.mark.parametrize("swap", [1, -1])
def test_a_proof_of_a_distance_is_none_of_a_number(stored, swap):
    """Nor is a proof of a number one of a distance."""
    model, document = stored
    field, other = ("certificates", "closeness_certificates")[::swap]
    proof = document["proof"]["negative"][other]
    claims = refuted(tampered(document, (*NEGATIVE, field), proof), model)
    assert "what would have changed it: its proof is about what was asked" in claims


def test_question_and_answer_must_ask_the_same(stored):
    model, document = stored
    with pytest.raises(InputError, match="norm"):
        pertinent.check(tampered(document, ("proof", "question", "norm"), "l1"), model)


def test_the_fewest_changes_do_not_avoid(stored):
    with pytest.raises(InputError, match="Leave overlap out, or ask for norm='l1'"):
        pertinent.Explainer(stored[0], norm="l0", overlap="avoid")


# -- At most so many changes, asked for beside the rules -------------------------------------

RULES = {
    "any number": {},
    "whole numbers": {"integer": [0, 2]},
    "a limit of the rules too": {"max_changes": 3},
    "one is not enough": {"frozen": [0, 3, 4]},
}


@pytest.fixture(scope="module")
def wine():
    """A model of wines, and the range of each feature."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X[:, [0, 6, 9, 10, 11, 12]]) * 4
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return model, X, {j: (X[:, j].min(), X[:, j].max()) for j in range(X.shape[1])}


@pytest.fixture(scope="module", params=RULES)
def limited(request, wine):
    """Changes of one feature, under several rules, one in need of the limit."""
    model, X, within = wine
    rules = pertinent.Constraints(bounds=within, **RULES[request.param])
    how = {"data": X, "constraints": rules}
    only = {**how, "limits_from": None, "steps_from": None}
    free = pertinent.pertinent_negatives(model, X[:4], **how)
    explainer = pertinent.Explainer(model, **only, max_changes=1)
    result = explainer.explain(X[:4])
    named = pertinent.pertinent_negatives(model, X[:1], max_changes=1, **how)
    np.testing.assert_array_equal(result.negative.values[:1], named.values)
    row = int(np.flatnonzero(free.changed.sum(axis=1) > 1)[0])
    return model, result, json.loads(result[row].json())


def test_a_limit_of_changes_is_stored_and_checked(limited):
    model, result, document = limited
    assert document["proof"]["question"]["max_changes"] == 1
    found = result.negative.found
    assert (result.negative.changed.sum(axis=1)[found] <= 1).all()
    assert "at most 1" in document["summary"]["rules"]["constraints"]
    checked = pertinent.check(document, model)
    assert checked.ok, str(checked)
    for row in range(0, 4, 2):
        checked = pertinent.check(result[row].json(), model)
        assert checked.ok, str(checked)


@pytest.mark.parametrize("most", [None, 2])
def test_another_limit_is_refuted(limited, most):
    model, _, document = limited
    forged = copy.deepcopy(document)
    question = forged["proof"]["question"]
    question.pop("max_changes") if most is None else question.update(max_changes=most)
    assert is_refused(resummed(forged, model), model)


def is_refused(document, model):
    """Return whether a check finds something wrong, or cannot even read the proof.

    A tree of cases that counts changes does not fit a question without a limit.
    """
    try:
        return not pertinent.check(document, model).ok
    except InputError:
        return True


def test_a_limit_goes_with_keeping_off_the_positive(wine):
    model, X, within = wine
    rules = pertinent.Constraints(bounds=within)
    how = {"data": X, "constraints": rules, "overlap": "avoid", "max_changes": 1}
    result = pertinent.Explainer(model, **how).explain(X[:6])
    found = result.negative.found
    assert (result.negative.changed.sum(axis=1)[found] <= 1).all()
    assert result.avoided.any()
    for row in range(6):
        checked = pertinent.check(result[row].json(), model)
        assert checked.ok, str(checked)


TREE_SAMPLES = np.array([[a, b, c] for a in range(5) for b in range(5) for c in range(5)], float)


@pytest.mark.parametrize(
    "how", [{"norm": "l0"}, {"norm": "l0", "max_changes": 2}, {"max_changes": 2}]
)
def test_that_a_range_is_never_predicted_is_checked_whatever_counts_changes(how):
    tree = DecisionTreeRegressor(max_depth=2).fit(TREE_SAMPLES, TREE_SAMPLES @ [1.0, -0.7, 0.5])
    explainer = pertinent.Explainer(tree, data=TREE_SAMPLES, **how)
    explanation = explainer.explain(TREE_SAMPLES[:1], target=(None, -50.0))[0]
    document = json.loads(explanation.json())
    assert document["proof"]["negative"]["reason"]["kind"] == "never"
    checked = pertinent.check(document, tree)
    assert checked.verdict == "holds", str(checked)
    other = explainer.explain(TREE_SAMPLES[-1:], target=(3.0, None))[0]
    forged = tampered(json.loads(other.json()), (*NEGATIVE, "reason"), {"kind": "never"})
    assert pertinent.check(forged, tree).verdict != "holds"


def test_rules_that_leave_no_change_are_checked_where_changes_are_counted():
    labels = np.digitize(TREE_SAMPLES @ [1.0, -0.7, 0.5], [0.0, 2.0])
    tree = DecisionTreeClassifier(max_depth=2).fit(TREE_SAMPLES, labels)
    rules = pertinent.Constraints(frozen=[0, 1])
    explainer = pertinent.Explainer(tree, data=TREE_SAMPLES, constraints=rules, norm="l0")
    result = explainer.explain(TREE_SAMPLES[::9])
    row = int(np.flatnonzero(result.negative.status == "infeasible")[0])
    document = json.loads(result[row].json())
    assert len(document["proof"]["negative"]["certificates"]) > 1
    checked = pertinent.check(document, tree)
    assert checked.verdict == "holds", str(checked)
    forged = copy.deepcopy(document)
    forged["proof"]["negative"]["reason"]["rules"].pop()
    assert pertinent.check(forged, tree).verdict != "holds"


@pytest.mark.parametrize("how", [{"norm": "l0"}, {"norm": "l0", "steps_from": None}])
def test_counted_changes_tell_how_dense_they_are(how):
    """Whichever search found a plausible point: its density is stored, and is as said."""
    labels = (TREE_SAMPLES @ [1.0, -0.7, 0.5] > 1.0).astype(int)
    model = LogisticRegression().fit(TREE_SAMPLES, labels)
    dense = pertinent.Plausibility(TREE_SAMPLES, labels, n_components=1, quantile=0.2)
    explainer = pertinent.Explainer(model, data=TREE_SAMPLES, plausibility=dense, **how)
    explained = explainer.explain(TREE_SAMPLES[:1])
    assert explained.negative.found.all()
    reached = dense.score_samples(explained.negative.points, int(explained.negative.target[0]))
    assert explained.negative.log_density == pytest.approx(reached)
    checked = pertinent.check(explained[0].json(), model)
    assert checked.verdict == "holds", str(checked)


def test_a_reason_with_a_proof_of_fewer_rules_is_checked_from_its_file():
    """Its proof is about the rules named: a relation that has no part in it has no row there."""
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rules = pertinent.Constraints(frozen=[0, 1, 2, 3], relations=["x0 + x1 >= 1"])
    explainer = pertinent.Explainer(model, data=X, norm="l0", constraints=rules)
    explained = explainer.explain(X[:1], target=2)
    assert explained.negative.status.tolist() == ["infeasible"]
    assert pertinent.check(explained[0].json(), model).verdict == "holds"
