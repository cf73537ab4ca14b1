"""Exact positives against HiGHS: a mixed-integer program with tight bounds, in two stages."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.linear_model import LogisticRegression

import pertinent


def two_stage_milp(cell, x, baseline, low, high, weights, forced):
    """Return the fewest features, then the least cost of that many.

    Variables v, z, e:  z_i (low_i - b_i) <= v_i - b_i <= z_i (high_i - b_i)  with z in {0, 1},
    and  e_i >= w_i |v_i - x_i| - M_i (1 - z_i):  only features that are on pay.
    """
    d = len(x)
    eye, zero = np.eye(d), np.zeros((d, d))
    far = weights * (np.maximum(np.abs(high - x), np.abs(low - x)) + np.abs(baseline - x))
    scale, big = np.diag(weights), np.diag(far)
    rows = [
        LinearConstraint(np.hstack([cell.G, np.zeros((len(cell.G), 2 * d))]), ub=cell.h),
        LinearConstraint(np.hstack([eye, -np.diag(high - baseline), zero]), ub=baseline),
        LinearConstraint(np.hstack([eye, -np.diag(low - baseline), zero]), lb=baseline),
        LinearConstraint(np.hstack([scale, big, -eye]), ub=weights * x + far),
        LinearConstraint(np.hstack([-scale, big, -eye]), ub=far - weights * x),
    ]
    none = np.zeros(d)
    bounds = Bounds(
        np.concatenate([np.minimum(low, baseline), forced, none]),
        np.concatenate([np.maximum(high, baseline), np.ones(d), np.full(d, np.inf)]),
    )
    whole = np.concatenate([none, np.ones(d), none])
    first = milp(whole, constraints=rows, bounds=bounds, integrality=whole)
    size = round(first.fun)
    rows.append(LinearConstraint(whole[None], ub=size + 0.5))
    cost = np.concatenate([none, none, np.ones(d)])
    second = milp(
        cost, constraints=rows, bounds=bounds, integrality=whole, options={"mip_rel_gap": 1e-9}
    )
    return size, second.fun


@pytest.mark.parametrize("seed", range(8))
def test_exact_equals_the_milp(seed):
    rng = np.random.default_rng(seed)
    d, n_classes = int(rng.integers(5, 14)), int(rng.integers(2, 6))
    X = rng.normal(size=(120, d)) + 1
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 120 - n_classes)])
    model = LogisticRegression(C=10).fit(X, y)
    low, high, weights = X.min(axis=0), X.max(axis=0), rng.uniform(0.5, 2, d)
    baseline, frozen = np.clip(rng.normal(size=d), low, high), int(rng.integers(d))
    rules = pertinent.Constraints(bounds={j: (low[j], high[j]) for j in range(d)}, frozen=[frozen])
    found = pertinent.pertinent_positives(
        model, X[:6], method="exact", baseline=baseline, constraints=rules, weights=weights
    )
    assert (found.status == "optimal").all()
    for i, x in enumerate(X[:6]):
        cell = pertinent.decision_region(model, model.predict(x[None])[0], 1e-9).cells[0]
        lower, upper, forced = low.copy(), high.copy(), np.zeros(d)
        lower[frozen] = upper[frozen] = x[frozen]
        forced[frozen] = float(x[frozen] != baseline[frozen])
        size, cost = two_stage_milp(cell, x, baseline, lower, upper, weights, forced)
        assert found.objective[i] == size
        assert found.closeness[i] == pytest.approx(cost, abs=1e-5)
