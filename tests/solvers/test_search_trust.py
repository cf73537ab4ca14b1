"""A mistake in what a search prunes with may cost the answer or its proof, never a false claim."""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.proofs import status_names
from pertinent.solvers import project
from pertinent.solvers.search import cases, curved, linear, tree

# 1.5 x0 + x1 >= 3.75 with a whole number x0 costs 2.75 at (2, 0.75); without x0 > 1 it is 3.25.
G, H = np.array([[-1.5, -1.0]]), np.array([-3.75])
#: Outside of a small ball: a row that is not convex and changes nothing.
RING = Quadratic.from_matrix(-np.eye(2), np.zeros(2), 0.01)
CELLS = {"linear": Cell(G, H), "curved": Cell(G, H, (RING,))}


def solve(kind):
    """Return the objective, the bound and the status."""
    domain = Domain(np.array([0.0, np.nan]))
    answer = project(np.zeros((1, 2)), CELLS[kind], np.ones(2), 0.0, 6.0, domain=domain)
    return answer.objective[0], answer.bound[0], status_names(answer.status)[0]


def narrow_without_large(domain, boxes):
    """Lose x0 > 1."""
    tight, empty = linear_narrow(domain, boxes)
    upper = np.minimum(tight.upper, [1.0, np.inf])
    return replace(tight, upper=upper), empty | (tight.lower[:, 0] > 1)


def narrow_to_nothing(domain, boxes):
    """Lose every case but the first of x0 <= 1."""
    tight, empty = linear_narrow(domain, boxes)
    return tight, empty | (tight.lower[:, 0] > 1)


def children_without_right(boxes, splits):
    """Lose what lies above a split."""
    both = tree_children(boxes, splits)
    upper = both.upper.copy()
    upper[len(boxes) :, 0] = -1.0
    return replace(both, upper=upper)


def bounds_too_high(*args):
    """Claim twice what multipliers say, wherever x0 may exceed 1."""
    return np.where(args[-1].upper[:, 0] > 1, 2.0, 1.0) * linear_bounds(*args)


def splits_with_a_gap(*args):
    """Lose the whole number above a split."""
    splits = linear_splits(*args)
    return replace(splits, high=splits.high + 1.0)


linear_narrow, linear_bounds = cases.narrow, linear.case_bounds
linear_splits, tree_children = linear.choose_splits, tree.children


@pytest.mark.parametrize("kind", CELLS)
def test_the_right_answer(kind):
    objective, bound, status = solve(kind)
    assert objective == pytest.approx(2.75)
    assert bound == pytest.approx(2.75, rel=1e-4)
    assert status == "optimal"


@pytest.mark.parametrize(
    ("kind", "module", "name", "planted"),
    [
        ("linear", cases, "narrow", narrow_without_large),
        ("linear", cases, "narrow", narrow_to_nothing),
        ("linear", linear, "case_bounds", bounds_too_high),
        ("linear", linear, "choose_splits", splits_with_a_gap),
        ("linear", tree, "children", children_without_right),
        ("curved", cases, "narrow", narrow_without_large),
        ("curved", cases, "narrow", narrow_to_nothing),
        ("curved", curved, "choose_splits", splits_with_a_gap),
        ("curved", tree, "children", children_without_right),
    ],
)
def test_a_planted_mistake_makes_no_wrong_optimum(monkeypatch, kind, module, name, planted):
    monkeypatch.setattr(module, name, planted)
    objective, bound, status = solve(kind)
    assert not objective < 2.75 - 1e-9
    assert bound <= 2.75 * (1 + 1e-9)
    assert status != "infeasible"
    assert objective == pytest.approx(2.75, rel=1e-4) or status != "optimal"
