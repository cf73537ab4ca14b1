"""Negatives with few changes: what is said where too many would be needed."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError
from tests.shown import proved_of_negatives


def linear(coefficients, intercept):
    """Return a binary model of the given scores; the origin is predicted as 0."""
    d = len(coefficients)
    model = LogisticRegression().fit(np.vstack([np.zeros(d), np.ones(d)]), [0, 1])
    model.coef_[:], model.intercept_[:] = coefficients, intercept
    return model


def boxed(d, high=2.0):
    return pertinent.Constraints(bounds={j: (0.0, high) for j in range(d)})


ORIGIN = np.zeros((1, 2))


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_too_many_changes_are_proved_to_be_needed(norm):
    model = linear([1.0, 1.0], -3.0)
    found = pertinent.pertinent_negatives(
        model, ORIGIN, max_changes=1, norm=norm, constraints=boxed(2)
    )
    assert found.status.tolist() == ["infeasible"]
    assert found.bound.tolist() == [np.inf]
    assert found.unique.tolist() == [None]
    for rule in ("at most 1 change", "x0 <= 2", "x1 <= 2"):
        assert rule in found.reason[0]
    # It is the bounds that it rests on.
    free = pertinent.pertinent_negatives(model, ORIGIN, max_changes=1, norm=norm)
    assert free.status.tolist() == ["optimal"]


def test_the_proof_is_rechecked():
    model = linear([1.0, 1.0], -3.0)
    explainer = pertinent.Explainer(model, constraints=boxed(2))
    found = pertinent.pertinent_negatives(model, ORIGIN, max_changes=1, constraints=boxed(2))
    assert proved_of_negatives(explainer.setting, found, max_changes=1)[0].tolist() == [np.inf]
    wider = pertinent.Explainer(model, constraints=boxed(2, 4.0))
    assert np.isfinite(proved_of_negatives(wider.setting, found, max_changes=1)[0]).all()


@pytest.mark.parametrize("norm", ["l1", "l0"])
@pytest.mark.parametrize("by_rule", [False, True])
def test_alternatives_obey_the_cap(norm, by_rule):
    """{0} will do, and so will {1, 2}: two changes are not allowed."""
    rules = boxed(3)
    if by_rule:
        rules = pertinent.Constraints(bounds=rules.bounds, max_changes=1)
    found = pertinent.pertinent_negatives(
        linear([3.0, 1.0, 1.0], -3.0),
        np.zeros((1, 3)),
        norm=norm,
        max_changes=None if by_rule else 1,
        alternatives=3,
        constraints=rules,
    )
    assert found.changed.tolist() == [[True, False, False]]
    assert found.alternatives == ((),)


def test_a_search_that_stopped_claims_nothing():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = LogisticRegression(max_iter=200).fit(X, y)
    found = pertinent.pertinent_negatives(
        model,
        X[:25],
        norm="l0",
        max_changes=2,
        time_limit=1e-9,
        constraints=pertinent.Constraints(bounds={j: (0, 1) for j in range(64)}),
    )
    failed = found.status == "failed"
    assert failed.any()
    for words in found.reason[failed]:
        assert "reached its limit" in words


@pytest.mark.parametrize("most", ["x", float("nan"), 1.5, True, 0])
def test_odd_caps_are_refused(most):
    with pytest.raises(InputError, match="max_changes must be a whole number"):
        pertinent.pertinent_negatives(linear([1.0, 1.0], -3.0), ORIGIN, max_changes=most)
