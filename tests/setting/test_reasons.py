"""A reason never claims more than the status."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError
from pertinent.geometry.running import until
from pertinent.proofs import FAILED, INFEASIBLE
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is

#: The kinds whose words say that there is no answer; every other kind is about the search.
CLAIMS = {
    Why.NEVER,
    Why.RULES,
    Why.MODEL,
    Why.DENSITY_CLASS,
    Why.DENSITY_RULES,
    Why.DENSITY_CLASS_RULES,
    Why.OWN_VALUES,
    Why.NEITHER_VALUE,
    Why.TOO_CLOSE,
}


@pytest.fixture(scope="module")
def frozen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    rules = pertinent.Constraints(frozen=[0, 1, 2])
    found = pertinent.pertinent_negatives(model, X[:2], constraints=rules)
    assert found.status.tolist() == ["infeasible"] * 2
    return found


@pytest.mark.parametrize("kind", Why)
def test_only_what_is_proved_impossible_is_said_to_be(frozen, kind):
    reasons = np.array([Reason(kind, Is(0), number=1.0)] * 2, dtype=object)
    known = replace(frozen, reasons=reasons)
    assert known.status_code.tolist() == [INFEASIBLE] * 2
    failed = np.array([INFEASIBLE, FAILED], dtype=np.int8)
    assert kind.claims_none == (kind in CLAIMS)
    if kind in CLAIMS:
        with pytest.raises(InputError, match="says that there is no answer"):
            replace(known, status_code=failed)
    else:
        assert replace(known, status_code=failed).status.tolist() == ["infeasible", "failed"]
    words = known.reason[0]
    assert ("no point" in words or "no set" in words) <= (kind in CLAIMS)


@pytest.mark.parametrize(
    ("function", "how"),
    [
        (pertinent.pertinent_negatives, {"norm": "l0"}),
        (pertinent.pertinent_negatives, {"norm": "l0", "alternatives": 1}),
        (pertinent.pertinent_negatives, {"max_changes": 2}),
        (pertinent.pertinent_positives, {"method": "exact"}),
        (pertinent.pertinent_positives, {"method": "strict"}),
        (pertinent.pertinent_positives, {"method": "sufficient"}),
    ],
)
def test_what_ends_early_claims_nothing(function, how):
    rng = np.random.default_rng(1)
    X = np.round(3 * rng.normal(size=(200, 12)))
    model = LogisticRegression().fit(X, X @ rng.normal(size=12) > 0)
    rules = pertinent.Constraints(integer=list(range(12)), bounds={j: (-3, 3) for j in range(12)})
    with until(0.0):
        found = function(model, X[:10], data=X, constraints=rules, **how)
    for status, why in zip(found.status, found.reasons, strict=True):
        assert status == "infeasible" or why is None or not why.kind.claims_none


def test_a_rule_that_is_enough_is_not_said_to_be_the_only_one():
    """Either frozen feature is too much, and one is named: without it there is no answer yet."""
    X = np.array([[a, b] for a in range(6) for b in range(6)], dtype=float)
    model = DecisionTreeClassifier().fit(X, (X > 2).all(axis=1))
    for frozen in ([0, 1], [0], [1]):
        rules = pertinent.Constraints(frozen=frozen)
        found = pertinent.pertinent_negatives(model, X[:1], constraints=rules)
        assert found.status[0] == "infeasible"
        assert len(found.reasons[0].rules) == 1
        assert "without this rule" not in found.reason[0]
        assert "this rule is enough for that" in found.reason[0]
