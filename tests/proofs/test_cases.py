"""Cases under whole numbers, categories, bins and rules of change: nothing allowed is lost."""

from itertools import product

import numpy as np
import pytest

from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs.cases.branch import LEAF, BranchProofs, Tree
from pertinent.proofs.cases.leaves import leaf_bounds
from pertinent.proofs.cases.narrowing import CHANGED, UNCHANGED, Boxes, narrow

#: A whole number, a number, a category of three, a number with three bins, and what is cut off.
NUMBERS, GROUP, BINNED, INDICATORS, EXCESS = [0, 1], [2, 3, 4], 5, [6, 7, 8], 9


def random_domain(rng, cut):
    """Return a domain of one row with some rules, its own point, and all points of a grid."""
    edges = np.sort(rng.choice(np.arange(-2, 3), 2, replace=False)).astype(float)
    bins = Bins(BINNED, np.array(INDICATORS), edges, excess=EXCESS if cut else None)
    dim = 10 if cut else 9
    owner = np.array([0, 1, 2, 2, 2, 3, 3, 3, 3, 3])[:dim]
    decimals = np.full(dim, np.nan)
    decimals[0] = 0
    shared = {"groups": (np.array(GROUP), bins.columns), "owner": owner, "bins": (bins,)}
    plain = Domain(decimals, **shared)
    axis = np.arange(-2.0, 3.0)
    rows = []
    for whole, number, category, binned in product(axis, axis, range(3), axis):
        row = np.zeros(dim)
        row[[0, 1, BINNED]], row[GROUP[category]] = (whole, number, binned), 1.0
        rows.append(row)
    grid = plain.completed(np.array(rows))
    own = grid[[rng.integers(len(grid))]]
    most = int(rng.integers(1, 4)) if rng.random() < 0.6 else None
    together = (np.array([0, 1]),) if rng.random() < 0.5 else ()
    domain = Domain(
        decimals, **shared, max_changes=most, together=together, own=own, scale=np.ones(dim)
    )
    return domain, grid[~domain.take(np.zeros(len(grid), int)).violation(grid)]


def random_box(rng, domain):
    low = rng.integers(-3, 1, domain.dim).astype(float)
    high = low + rng.integers(0, 6, domain.dim)
    indicators = [*GROUP, *INDICATORS]
    low[indicators], high[indicators] = 0.0, rng.random(6) < 0.8
    if domain.dim > EXCESS:
        low[EXCESS], high[EXCESS] = -np.inf, np.inf
    units = len(domain.units) if domain.counts_changes else 0
    state = rng.integers(0, 3, (1, units)).astype(np.int8)
    return Boxes(np.zeros(1, dtype=np.int64), low[None], high[None], state)


def inside(domain, box, points):
    """Return which allowed points a case holds."""
    held = ((points >= box.lower[0]) & (points <= box.upper[0])).all(axis=1)
    if box.state.shape[1]:
        changed = domain.take(np.zeros(len(points), int)).changed_features(points)
        units = np.zeros((len(points), len(domain.units)), dtype=bool)
        np.logical_or.at(units.T, domain.units, changed.T)
        held &= ~(units & (box.state[0] == UNCHANGED)).any(axis=1)
        held &= ~(~units & (box.state[0] == CHANGED)).any(axis=1)
    return held


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_narrowing_and_bounds_hold_for_every_allowed_point(seed, cut):
    rng = np.random.default_rng(seed)
    domain, points = random_domain(rng, cut)
    G, h = rng.normal(size=(2, domain.dim)), rng.normal(size=2)
    G[:, INDICATORS] *= not cut  # no row speaks of where a number is cut off
    cell = Cell(G, h)
    weights = np.ones(domain.dim)
    weights[6:] = 0.0
    for _ in range(8):
        box = random_box(rng, domain)
        held = points[inside(domain, box, points)]
        # Where a number is cut off both bins own their edge: one of the two cases holds it.
        held = held[~(np.isin(held[:, BINNED], domain.bins[0].edges) & cut)]
        tight, empty = narrow(domain, box)
        if empty[0]:
            assert not len(held)
            continue
        assert ((held >= tight.lower[0]) & (held <= tight.upper[0])).all()
        y, ray = rng.random((1, 2)), np.array([rng.random() < 0.3])
        bound = leaf_bounds(y, ray, cell, domain.own, weights, tight, domain)[0]
        good = held[cell.contains(held)]
        assert (np.abs(good - domain.own) @ weights >= bound - 1e-9).all()


def test_what_costs_nothing_and_has_no_end_proves_nothing():
    # x0 + x1 >= 1 costs nothing: x1 is free and has no end.
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-1.0]))
    one, none = np.zeros(1, dtype=np.int64), np.zeros(1)
    leaf = Tree(np.full(1, LEAF, dtype=np.int8), one, none, none, one - 1, one - 1, one)
    proofs = BranchProofs(one, leaf, np.ones((1, 1)), np.array([False]))
    domain = Domain(np.array([0.0, np.nan]))
    paid = Task.of(cell, np.zeros((1, 2)), np.ones(2), domain=domain)
    free = Task.of(cell, np.zeros((1, 2)), np.array([1.0, 0.0]), domain=domain)
    assert proofs.bounds(paid)[0] == pytest.approx(1.0)
    assert proofs.bounds(free)[0] == 0.0


def test_all_groups_are_narrowed_as_each_is():
    rng = np.random.default_rng(0)
    groups = tuple(np.array(group) for group in ([4, 1], [0], [2, 5, 7, 3]))
    for _ in range(200):
        low = (rng.random((5, 9)) < 0.2).astype(float)
        high = np.where(rng.random((5, 9)) < 0.6, 1.0, low)
        every = Domain(np.full(9, np.nan), groups)
        boxes = Boxes(np.arange(5), low, high, np.zeros((5, 0), dtype=np.int8))
        narrowed, empty = narrow(every, boxes)
        alone, none = boxes, (low > high).any(axis=1)
        for group in groups:
            alone, gone = narrow(Domain(np.full(9, np.nan), (group,)), alone)
            none |= gone
        assert (empty == none).all()
        assert (narrowed.lower[~empty] == alone.lower[~empty]).all()
        assert (narrowed.upper[~empty] == alone.upper[~empty]).all()
