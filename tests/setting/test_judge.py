"""One judge for every question: no point that breaks a rule is handed out, whatever the method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from pertinent import Constraints, pertinent_negatives, pertinent_positives
from pertinent.exceptions import InputError
from pertinent.setting.results import Negatives, Positives

X, y = load_iris(return_X_y=True)
ROWS = X[::15]
BASELINE = np.array([5.8, 3.0, 4.0, 1.3])


@pytest.fixture(scope="module")
def model() -> LogisticRegression:
    return LogisticRegression(max_iter=2000).fit(X, y)


#: Each rule with the share of the samples that obey it themselves: some do, some do not.
RULES = {
    "bounds": Constraints(bounds={0: (5.0, 6.5), 2: (1.5, 5.5)}),
    "frozen": Constraints(frozen=[2]),
    "decrease_only": Constraints(decrease_only=[2, 3]),
    "increase_only": Constraints(increase_only=[2, 3]),
    "integer": Constraints(integer=[2]),
    "decimals": Constraints(decimals={2: 0, 3: 1}),
    "relations": Constraints(relations=["x0 >= x1 + 2.5"]),
}


def broken(rules: Constraints, points: Any, samples: Any) -> Any:
    """Return which points break a rule, told by the rule's own words and nothing else."""
    wrong = np.zeros(len(points), dtype=bool)
    for j, (low, high) in rules.bounds.items():
        wrong |= (points[:, j] < low) | (points[:, j] > high)
    wrong |= (points[:, list(rules.frozen)] != samples[:, list(rules.frozen)]).any(axis=1)
    for j in rules.decrease_only:
        wrong |= points[:, j] > samples[:, j]
    for j in rules.increase_only:
        wrong |= points[:, j] < samples[:, j]
    for j, digits in {**dict.fromkeys(rules.integer, 0), **rules.decimals}.items():
        own = points[:, j] == samples[:, j]  # a sample may keep what it has
        wrong |= ~own & (points[:, j] != np.round(points[:, j], digits))
    if rules.relations:
        wrong |= points[:, 0] < points[:, 1] + 2.5 - 1e-9
    return wrong


def positives(model: Any, method: str, rules: Constraints, **more: Any) -> Positives:
    return pertinent_positives(
        model, ROWS, method=method, baseline=BASELINE, data=X, constraints=rules, **more
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("off_tol", [0.0, 0.3])
@pytest.mark.parametrize("method", ["two-phase", "strict", "exact", "sufficient"])
def test_no_positive_breaks_a_rule(
    model: LogisticRegression, method: str, off_tol: float, rule: str
) -> None:
    rules = RULES[rule]
    if method == "sufficient" and rules.relations:
        with pytest.raises(InputError, match="relations"):
            positives(model, method, rules, off_tol=off_tol)
        return
    found = positives(model, method, rules, off_tol=off_tol)
    have = found.found
    assert not broken(rules, found.values[have], ROWS[have]).any()
    assert (model.predict(found.values[have]) == found.prediction[have]).all()
    assert all(found.reason[~have])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("more", [{}, {"norm": "l0"}, {"max_changes": 2}, {"alternatives": 2}])
def test_no_negative_breaks_a_rule(
    model: LogisticRegression, more: dict[str, Any], rule: str
) -> None:
    rules = RULES[rule]
    found: Negatives = pertinent_negatives(model, ROWS, data=X, constraints=rules, **more)
    have = found.found
    assert not broken(rules, found.values[have], ROWS[have]).any()
    assert (model.predict(found.values[have]) != found.prediction[have]).all()
    for i, others in enumerate(found.alternatives):
        for other in others:
            assert not broken(rules, other.values[None], ROWS[i : i + 1]).any()


@pytest.mark.parametrize("method", ["two-phase", "strict", "exact", "sufficient"])
def test_every_positive_is_as_likely_as_asked_for(method: str) -> None:
    two = LogisticRegression(max_iter=2000).fit(X[y > 0], y[y > 0])
    found = positives(two, method, Constraints(), min_proba=0.8)
    have = found.found
    proba = two.predict_proba(found.values[have])
    assert have.any()
    assert (proba[np.arange(have.sum()), found.label[have]] >= 0.8).all()


def test_turned_off_features_stay_within_their_limits(model: LogisticRegression) -> None:
    """A frozen feature near its base value counts as off, and is not moved there."""
    rules = Constraints(frozen=[0, 1, 2, 3])
    found = positives(model, "two-phase", rules, off_tol=10.0)
    assert (found.values == ROWS).all()
    assert (found.status == "optimal").all()


def test_a_sufficient_sample_outside_the_bounds_says_so(model: LogisticRegression) -> None:
    rules = RULES["bounds"]
    found = positives(model, "sufficient", rules)
    refused = broken(rules, ROWS, ROWS) & ~found.found
    assert refused.any()
    assert all(
        str(why).startswith("the point found breaks a rule") for why in found.reason[refused]
    )
    assert found.found.any()
