"""Rules are obeyed, contradictions are named, wrong rules are refused."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import data, fitted

import pertinent
from pertinent.exceptions import InputError


@pytest.fixture(scope="module")
def model():
    return fitted("logistic", "breast_cancer")


@pytest.fixture(scope="module")
def X():
    return data("breast_cancer")[0]


def test_frozen_bounds_and_directions(model, X):
    rules = pertinent.Constraints(
        frozen=[0, 1],
        bounds={20: (-3.0, 3.0), 21: (None, 2.5), 22: (-2.0, None)},
        increase_only=[23],
        decrease_only=[24],
    )
    found = pertinent.pertinent_negatives(model, X, constraints=rules)
    assert found.found.all()
    P = found.points
    assert (P[:, :2] == X[:, :2]).all()
    assert ((P[:, 20] >= -3) & (P[:, 20] <= 3)).all()
    assert (P[:, 21] <= 2.5).all()
    assert (P[:, 22] >= -2).all()
    assert (P[:, 23] >= X[:, 23]).all()
    assert (P[:, 24] <= X[:, 24]).all()
    free = pertinent.pertinent_negatives(model, X)
    assert (found.objective >= free.objective - 1e-9).all()


def test_everything_frozen_is_proved_infeasible_and_says_so(model, X):
    rules = pertinent.Constraints(frozen=range(30))
    found = pertinent.pertinent_negatives(model, X[:5], constraints=rules)
    assert (found.status == "infeasible").all()
    assert np.isinf(found.bound).all()
    assert np.isnan(found.points).all()
    assert "x21 frozen" in found.reason[0]


def test_only_the_rules_that_conflict_are_named(model, X):
    # A single free feature in a narrow range cannot flip a clear case; feature 3 has no part.
    rules = pertinent.Constraints(frozen=[i for i in range(30) if i != 3], bounds={3: (-9, 9)})
    clear = X[np.abs(model.decision_function(X)).argmax()][None]
    found = pertinent.pertinent_negatives(model, clear, constraints=rules)
    assert found.status[0] == "infeasible"
    assert "obeys" in found.reason[0]
    side = "x3 >= -9" if "x3 >= -9" in found.reason[0] else "x3 <= 9"
    assert side in found.reason[0]


def test_a_frozen_value_outside_its_bounds_is_a_contradiction_of_both(model, X):
    rules = pertinent.Constraints(frozen=[0], bounds={0: (100.0, 200.0)})
    found = pertinent.pertinent_negatives(model, X[:2], constraints=rules)
    assert (found.status == "infeasible").all()
    assert "x0 frozen" in found.reason[0]
    assert "x0 >= 100" in found.reason[0]


def test_positives_obey_the_same_rules(model, X):
    rules = pertinent.Constraints(frozen=[5], bounds={7: (-1.0, 1.0)})
    found = pertinent.pertinent_positives(model, X, constraints=rules)
    here = found.found
    assert here.any()
    assert (found.points[here][:, 5] == X[here][:, 5]).all()
    assert (np.abs(found.points[here][:, 7]) <= 1).all()
    assert (model.predict(found.points[here]) == model.predict(X[here])).all()


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"bounds": {0: (5, 3)}}, "5 is not below 3"),
        ({"bounds": {0: 3}}, "must be a pair"),
        ({"bounds": {0: (np.nan, 1)}}, "leave no value"),
        ({"bounds": {"a": ("1", 2)}}, r"bounds of 'a' must be numbers, or None.* Got \('1', 2\)"),
        ({"bounds": {"a": "12"}}, "must be a pair"),
        ({"bounds": [("a", 0, 1)]}, r"bounds must be a mapping such as \{'income': \(0, None\)\}"),
        ({"decimals": ["a"]}, "decimals must be a mapping such as"),
        ({"decimals": {"a": 0.5}}, "must be a whole number from -12 to 12. Got 0.5"),
        ({"decimals": {"a": "2"}}, "must be a whole number from -12 to 12. Got '2'"),
        ({"decimals": {"a": 99}}, "must be a whole number from -12 to 12. Got 99"),
        ({"max_changes": 1.5}, "max_changes must be a whole number of at least 1.* Got 1.5"),
        ({"max_changes": "2"}, "max_changes must be a whole number of at least 1.* Got '2'"),
        ({"max_changes": True}, "max_changes must be a whole number of at least 1.* Got True"),
        ({"max_changes": 0}, "max_changes must be a whole number of at least 1.* Got 0"),
        ({"costs": {"a": "x"}}, "cost of 'a' must be a positive number. Got 'x'"),
        ({"costs": {"a": None}}, "cost of 'a' must be a positive number. Got None"),
        ({"costs": [2, 3]}, "costs must be a mapping"),
        ({"relations": [({"a": np.nan}, 0)]}, "numbers must be finite. Got nan"),
        ({"relations": [({"a": "x"}, 0)]}, "numbers must be finite. Got 'x'"),
        ({"relations": [({"a": 1}, "0")]}, "numbers must be finite. Got '0'"),
        ({"relations": [({"a": 0}, 1)]}, "speaks of no feature"),
        ({"relations": ["1e999 * a <= 3"]}, "numbers must be finite. Got inf"),
        ({"relations": "a <= 3"}, "relations must be a list"),
        ({"frozen": "age"}, "frozen must be a list. Got 'age'"),
        ({"integer": 3}, "integer must be a list. Got 3"),
        ({"categories": {"job": "fixed"}}, "must be a list of categories. Got 'fixed'"),
        ({"categories": ["job"]}, "categories must be a mapping"),
        ({"transitions": {"job": ["fixed"]}}, "must map each category"),
        ({"transitions": {"job": {"a": "bc"}}}, "'a' of 'job' may become must be a list"),
    ],
)
def test_impossible_rules_are_refused(rules, match):
    with pytest.raises(InputError, match=match):
        pertinent.Constraints(**rules)


def test_numbers_of_numpy_are_numbers():
    rules = pertinent.Constraints(
        bounds={"a": (np.float32(0), np.int64(2))},
        decimals={"a": np.int64(1)},
        max_changes=np.int32(2),
        costs={"a": np.float64(2)},
        frozen=np.array(["b"]),
        relations=[({"a": np.float64(1)}, np.int64(0))],
    )
    assert "at most 2 features change" in str(rules)


def test_unknown_features_are_refused_before_any_work(model, X):
    for rules in (
        pertinent.Constraints(frozen=["agee"]),
        pertinent.Constraints(bounds={"agee": (0, 1)}),
        pertinent.Constraints(increase_only=["agee"]),
        pertinent.Constraints(frozen=[99]),
    ):
        with pytest.raises(InputError, match="feature"):
            pertinent.pertinent_negatives(model, X, constraints=rules)


def test_rules_in_words():
    rules = pertinent.Constraints(
        frozen=["age"],
        bounds={"income": (0, None), "debt": (None, 5), "rate": (1, 2)},
        increase_only=["seniority"],
        decrease_only=["amount"],
    )
    assert str(rules) == (
        "age frozen; income >= 0; debt <= 5; 1 <= rate <= 2; "
        "seniority may only increase; amount may only decrease"
    )
    assert str(pertinent.Constraints()) == "none"


@pytest.mark.parametrize("pair", [(np.inf, np.inf), (-np.inf, -np.inf), (np.inf, None)], ids=str)
def test_bounds_without_a_finite_value_are_refused(pair):
    with pytest.raises(InputError, match="leave no finite value"):
        pertinent.Constraints(bounds={0: pair})
