"""What one feature can add to a row: against all its allowed values, and against the search's."""

import numpy as np
import pytest

from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs import Argument, FewestProofs, SufficientProofs
from pertinent.proofs.cases import leaves
from pertinent.proofs.cases.narrowing import whole_box
from pertinent.proofs.supports import reach
from pertinent.proofs.supports.sufficient import narrowed
from pertinent.questions.sufficient.worst import worst_gains
from pertinent.questions.supports import reach as searched

#: A category (0-2), a number in bins (3; 4-6), a whole number (7), any number (8), one that is cut
#: off (9; 10-12, 13), and a whole number in two families of bins (14; 15-16, 17-19).
OWNER = np.array([0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5])
NUMBERS = {1: 3, 2: 7, 3: 8, 4: 9, 5: 14}
DIM = len(OWNER)


def some_domain(rng):
    """Return a domain of one row, and the bounds of its columns, narrowed."""
    decimals = np.full(DIM, np.nan)
    decimals[[7, 14]] = 0.0
    group, cut = np.array([0, 1, 2]), np.array([10, 11, 12])
    edges = np.sort(rng.choice(np.arange(-3.0, 4.0), 2, replace=False))
    closed = bool(rng.integers(2))
    bins = (
        Bins(3, np.array([4, 5, 6]), edges, closed),
        Bins(9, cut, np.array([-1.0, 1.5]), excess=13),
        Bins(14, np.array([15, 16]), np.array([0.0]), closed),
        Bins(14, np.array([17, 18, 19]), np.array([-1.0, 1.0]), not closed),
    )
    groups = (group, *(b.columns for b in bins))
    own = np.zeros((1, DIM))
    own[0, rng.integers(3)] = 1.0
    own[0, list(NUMBERS.values())] = rng.choice([-2.0, -1.0, 0.0, 0.3, 1.0, 1.5, 2.0], 5)
    domain = Domain(decimals, groups, OWNER, bins, own=own)
    domain = Domain(decimals, groups, OWNER, bins, own=domain.completed(own))
    low, high = np.full(DIM, -np.inf), np.full(DIM, np.inf)
    low[group], high[group] = 0.0, 1.0
    if rng.random() < 0.5:
        high[rng.choice(group)] = 0.0
    for j in NUMBERS.values():
        # Often an edge, often the own value.
        ends = np.sort(rng.choice([-4, -3, -2, -1.5, -1, 0, 1, 1.5, 2, 3, own[0, j]], 2))
        low[j], high[j] = ends
    return domain, *narrowed(domain, low, high)


def allowed_values(domain, feature, low, high, more=()):
    """Return every value of a feature (finely, where any number will do), one row a value."""
    columns = np.flatnonzero(np.equal(OWNER, feature))
    if feature == 0:
        return np.eye(3)[(high[:3] >= 1) & ((low[:3] >= 1) | ~(low[:3] >= 1).any())]
    j = NUMBERS[feature]
    edges = np.concatenate([[], *(b.edges for b in domain.bins if b.column == j)])
    beside = [np.nextafter(edges, side) for side in (-np.inf, np.inf)]
    ends, grid = [low[j], high[j], domain.own[0, j]], np.linspace(-4, 4, 161)
    numbers = np.unique(np.concatenate([ends, edges, *beside, grid, more]))
    numbers = numbers[(numbers >= low[j]) & (numbers <= high[j])]
    points = np.repeat(domain.own, len(numbers), axis=0)
    points[:, j] = numbers
    points = domain.completed(points)
    return points[~domain.take(np.zeros(len(points), dtype=int)).violation(points)][:, columns]


def brute(domain, low, high, at, slope, A, feature):
    """Return the most that a feature adds to ``slope'd + d'A d``."""
    columns = np.flatnonzero(np.equal(OWNER, feature))
    block = A[np.ix_(columns, columns)]
    more = []
    if feature in NUMBERS:
        k = int(np.flatnonzero(columns == NUMBERS[feature])[0])
        if block[k, k] < 0:
            more = at[columns[k]] - slope[columns[k]] / (2 * block[k, k]) + np.linspace(-1, 1, 81)
    d = allowed_values(domain, feature, low, high, more) - at[columns]
    return np.max(d @ slope[columns] + np.einsum("ki,ij,kj->k", d, block, d), initial=-np.inf)


def some_row(rng, curved):
    """Return a slope and a matrix without entries between features."""
    slope = np.where(rng.random(DIM) < 0.2, 0.0, rng.normal(size=DIM))
    A = rng.normal(size=(DIM, DIM)) * (OWNER[:, None] == OWNER)
    numbers = list(NUMBERS.values())
    A[numbers] = A[:, numbers] = 0.0
    A[numbers, numbers] = rng.normal(size=len(numbers))
    return slope, (A + A.T) / 2 * curved


@pytest.mark.parametrize("seed", range(60))
def test_the_most_of_a_feature_is_that_of_its_allowed_values(seed):
    rng = np.random.default_rng(seed)
    domain, low, high = some_domain(rng)
    at = domain.own[0]
    features = reach.stretches(domain, at, low, high)
    rows = np.array([some_row(rng, 0.0)[0] for _ in range(4)])
    linear = reach.most_by_feature(rows, features)
    slope, A = some_row(rng, 1.0)
    curved = reach.most_of_quadratic(slope, A, features, domain, at)
    none = np.zeros((DIM, DIM))
    for f in range(6):
        wanted = [brute(domain, low, high, at, row, none, f) for row in rows]
        np.testing.assert_allclose(linear[:, f], wanted, rtol=1e-9, atol=1e-9)
        wanted = brute(domain, low, high, at, slope, A, f)
        assert curved[f] >= wanted - 1e-9
        np.testing.assert_allclose(curved[f], wanted, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("seed", range(60))
def test_the_search_says_the_same(seed):
    rng = np.random.default_rng(seed)
    domain, low, high = some_domain(rng)
    x = domain.own[0]
    rows = [some_row(rng, 1.0) for _ in range(2)]
    quadratics = tuple(Quadratic.from_matrix(A, slope, 0.3) for slope, A in rows)
    cell = Cell(np.array([some_row(rng, 0.0)[0] for _ in range(3)]), rng.normal(size=3), quadratics)
    assert reach.splits_by_feature(cell, domain)
    assert searched.splits_by_feature(cell, domain)
    checked, over = reach.pushes(cell, x, low, high, domain)
    found, _ = searched.pushes(cell, x, low, high, domain)
    # Beyond an edge the search looks for the vertex of the number alone, without what is cut off.
    same = np.ones((5, 6), dtype=bool)
    same[3:, 4] = False
    np.testing.assert_allclose(found[same], checked[same], rtol=1e-9, atol=1e-9)
    assert (found <= checked + 1e-9).all()
    at_x = np.concatenate([cell.G @ x - cell.h, *(row.value(x[None]) for row in quadratics)])
    np.testing.assert_allclose(over, at_x + checked.sum(axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_of_plain_columns_the_search_says_the_same(seed):
    rng = np.random.default_rng(seed)
    x, d = rng.normal(size=5), 5
    low, high = x - rng.choice([0.0, 1.0, 3.0], d), x + rng.choice([0.0, 0.5, 2.0], d)
    row = Quadratic.from_matrix(np.diag(rng.normal(size=d)), rng.normal(size=d), 0.1)
    cell = Cell(rng.normal(size=(2, d)), rng.normal(size=2), (row,))
    push, over = reach.pushes(cell, x, low, high)
    gains = worst_gains(cell, x[None], low[None], high[None])
    np.testing.assert_allclose(gains.gain[0], push, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gains.need[0], over, rtol=1e-9, atol=1e-12)
    points = rng.uniform(low, high, size=(2000, d))
    worst = np.concatenate([points @ cell.G.T - cell.h, row.value(points)[:, None]], axis=1)
    assert (worst <= over + 1e-9).all()
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(d, -1).T
    np.testing.assert_allclose((corners @ cell.G.T - cell.h).max(axis=0), over[:2], atol=1e-9)


def test_a_number_without_an_end_pushes_without_end_but_for_a_row_that_ignores_it():
    cell = Cell(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]))
    low, high = np.array([0.0, 0.0]), np.array([np.inf, 2.0])
    push, over = reach.pushes(cell, np.zeros(2), low, high)
    assert push.tolist() == [[np.inf, 0.0], [0.0, 2.0]]
    assert over[0] == np.inf
    assert over[1] == pytest.approx(1.0, rel=1e-12)
    domain = Domain(np.array([np.nan, 0.0]))
    again, _ = reach.pushes(cell, np.zeros(2), low, high, domain)
    assert again.tolist() == push.tolist()


def test_rows_that_are_no_sums_prove_no_set_necessary():
    """``x + y - 2xy <= 1.5`` holds in all of the unit square: no feature has to be kept."""
    A = np.array([[0.0, -1.0], [-1.0, 0.0]])
    product = Quadratic.from_matrix(A, np.array([1.0, 1.0]), -1.5)
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (product,))
    assert not reach.splits_by_feature(cell)
    task = Task.of(cell, np.zeros((1, 2)), np.ones(2), 0.0, 1.0)
    assert SufficientProofs(np.array([1.0])).bounds(task).tolist() == [0.0]


@pytest.mark.parametrize("high", [4e6, np.inf])
def test_large_numbers_are_no_infinity(high):
    """``x0 + x1 + x2 >= 7e6`` from 0: two features of 4e6 each will do."""
    cell = Cell(-np.ones((1, 3)), np.array([-7e6]))
    proofs = FewestProofs(np.array([3.0]), np.zeros(1), (Argument.empty(1),))
    task = Task.of(cell, np.zeros((1, 3)), np.ones(3), 0.0, high)
    assert proofs.bounds(task)[0] <= (2.0 if high == 4e6 else 1.0)
    mixed = Task.of(cell, np.zeros((1, 3)), np.ones(3), 0.0, high, Domain(np.zeros(3)))
    assert proofs.bounds(mixed)[0] <= (2.0 if high == 4e6 else 1.0)


@pytest.mark.parametrize("high", [1e7, np.inf])
def test_a_ray_looks_at_all_of_a_long_range(high):
    """``x0 >= 5e6`` has points up to 1e7."""
    cell, domain = Cell(np.array([[-1.0]]), np.array([-5e6])), Domain(np.zeros(1))
    box = whole_box(np.zeros(1), np.full(1, high))
    args = np.ones((1, 1)), np.ones(1, dtype=bool), cell, np.zeros((1, 1)), np.ones(1), box, domain
    assert np.isfinite(leaves.leaf_bounds(*args)).all()
