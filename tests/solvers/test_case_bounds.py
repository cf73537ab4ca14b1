"""What multipliers say of cases: the search's bounds against points, and against the checker's."""

import numpy as np
import pytest

from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from pertinent.proofs.cases import leaves, narrowing
from pertinent.solvers.search.duality import case_bounds
from pertinent.solvers.search.narrow import Boxes

NO_RAY = np.zeros(1, dtype=bool)


def both(y, cell, domain, center, weights, lower, upper):
    """Return the bounds of the search and of the checker."""
    row, state = np.zeros(1, dtype=np.int64), np.zeros((1, 0), dtype=np.int8)
    parts = row, lower[None], upper[None], state
    multipliers = np.atleast_2d(y)
    found = case_bounds(multipliers, NO_RAY, cell, domain, center[None], weights, Boxes(*parts))
    boxes = narrowing.Boxes(*parts)
    proved = leaves.leaf_bounds(multipliers, NO_RAY, cell, center[None], weights, boxes, domain)
    return float(found[0]), float(proved[0])


def test_a_number_that_costs_nothing_and_has_no_end_leaves_nothing_to_prune():
    """``x0 + x1 >= 1``, and x1 moves at no cost: the answer costs 0."""
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-1.0]))
    domain = Domain(np.array([0.0, np.nan]))
    ends = np.array([-9.0, -np.inf]), np.array([9.0, np.inf])
    found, proved = both([1.0], cell, domain, np.zeros(2), np.array([1.0, 0.0]), *ends)
    assert found <= 0.0
    assert proved <= 0.0


@pytest.mark.parametrize("seed", range(80))
def test_no_allowed_point_costs_less_than_the_search_says(seed):
    """A whole number (0), any number (1), one that is cut off (2; 3-5, 6), a category (7, 8)."""
    rng = np.random.default_rng(seed)
    cut = Bins(2, np.array([3, 4, 5]), np.array([-1.0, 1.0]), excess=6)
    decimals = np.where(np.arange(9) == 0, 0.0, np.nan)
    groups, owner = (cut.columns, np.array([7, 8])), np.array([0, 1, 2, 2, 2, 2, 2, 3, 3])
    domain = Domain(decimals, groups, owner, (cut,))
    points = np.zeros((4000, 9))
    points[:, :3] = rng.normal(scale=rng.choice([1.0, 5.0], (4000, 1)), size=(4000, 3))
    points[:, 0], points[:, 7] = np.round(points[:, 0]), rng.integers(2, size=4000)
    points[:, 8] = 1 - points[:, 7]
    points = domain.completed(points)
    cell = Cell(rng.normal(size=(2, 9)), rng.normal(size=2))
    weights = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5])
    weights[:3] = rng.choice([0.0, 0.3, 1.0], 3)
    lower, upper = np.full(9, -np.inf), np.full(9, np.inf)
    lower[[3, 4, 5, 7, 8]], upper[[3, 4, 5, 7, 8]] = 0.0, 1.0
    if rng.random() < 0.5:
        lower[:2], upper[:2] = -3.0, 3.0
    inside = (points >= lower) & (points <= upper)
    points = points[inside.all(axis=1) & cell.contains(points)]
    center = domain.completed(np.array([[0.0, 0.2, 0.1, 0, 0, 0, 0, 1.0, 0.0]]))[0]
    cost = (weights * np.abs(points - center)).sum(axis=1).min(initial=np.inf)
    found, proved = both(rng.exponential(size=2), cell, domain, center, weights, lower, upper)
    assert found <= cost + 1e-9
    assert proved <= cost + 1e-9
    # The checker takes off what rounding may have added, over all of an open range (up to 1e6).
    assert found - 1e-7 <= proved <= found + 1e-9
