"""One linear row over steps and categories: beside the search over relaxations, and brute force."""

from itertools import product

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell
from pertinent.geometry.task import distance
from pertinent.solvers.problem import EMPTY, SOLVED, Task
from pertinent.solvers.search.knapsack.row import Allowed, Row
from pertinent.solvers.search.knapsack.solve import is_knapsack, solve_knapsack
from pertinent.solvers.search.linear import _solve_within


def drawn(rng, steps=(np.nan, 0, 1, -1, 2), most=6, endless=True):
    """Return a task: numbers in odd units on steps of their own or none, groups, gaps, bounds."""
    numbers, sizes = int(rng.integers(1, most)), rng.integers(2, 5, size=rng.integers(0, 3))
    d, n, units = numbers + sizes.sum(), 3, 10.0 ** rng.integers(-2, 4, size=numbers)
    groups = tuple(np.split(np.arange(numbers, d), np.cumsum(sizes)[:-1])) if len(sizes) else ()
    owner = np.r_[np.arange(numbers), numbers + np.repeat(np.arange(len(sizes)), sizes)]
    decimals = np.r_[rng.choice(steps, numbers), np.full(d - numbers, np.nan)]
    own = np.zeros((n, d))
    own[:, :numbers] = rng.normal(size=(n, numbers)) * units
    if rng.random() < 0.6:
        for j in np.flatnonzero(np.isfinite(decimals)):
            own[:, j] = np.round(own[:, j], int(decimals[j]))
    for group in groups:
        own[np.arange(n), rng.choice(group, n)] = 1.0
    centers = own.copy()
    if rng.random() < 0.3:  # as from a baseline, which need not be allowed
        centers[:, :numbers] = rng.normal(size=numbers) * units
    width = np.zeros(d)
    width[:numbers] = rng.random(numbers) * units * rng.choice([0.0, 0.1, 0.5])
    whole = rng.integers(1, 4, size=d).astype(float)
    domain = Domain(
        decimals, groups, owner, own=own, multiple=whole, gap=(own - width, own + width)
    )
    slopes, weights = rng.normal(size=d), rng.random(d) + 0.1
    slopes[:numbers] /= units
    weights[:numbers] /= units
    slopes[rng.integers(0, d)] *= rng.choice([0.0, 1.0])
    side = np.array([np.median(own @ slopes) - 3 * rng.random()])
    low, high = np.zeros((n, d)), np.ones((n, d))
    reach = np.inf if endless and rng.random() < 0.3 else 3 * rng.random(numbers) * units
    low[:, :numbers], high[:, :numbers] = own[:, :numbers] - reach, own[:, :numbers] + reach
    cell = Cell(slopes[None], side)
    return Task(cell, centers, weights, low, high, np.full(n, np.inf), domain=domain)


@pytest.mark.parametrize("seed", range(40))
def test_as_good_as_the_search_over_relaxations(seed):
    task = drawn(np.random.default_rng(seed))
    assert is_knapsack(task)
    found, other = solve_knapsack(task), _solve_within(task, 1.0)
    assert found.outcome.tolist() == other.outcome.tolist()
    good = found.outcome == SOLVED
    cost, before = (distance(a.points, task.centers, task.weights) for a in (found, other))
    np.testing.assert_allclose(cost[good], before[good], rtol=1e-9, atol=1e-12)
    assert not task.domain.take(good).violation(found.points[good]).any()
    bound = found.proofs.bounds(task)
    assert (cost - bound)[good].max(initial=0.0) <= 1e-4 * cost[good].max(initial=0.0)
    assert np.isinf(bound[found.outcome == EMPTY]).all()


def brute_force(task, i):
    """Return the least cost of sample i over all its allowed points."""
    domain, values = task.domain, []
    for j in np.flatnonzero(~domain.in_group).tolist():
        low, high, step = task.lower[i, j], task.upper[i, j], domain.steps[j].step
        every = np.round(np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step, 3)
        every = np.append(every, domain.own[i, j])
        below, above = (side[i, j] for side in domain.gap)
        in_gap = (every > below) & (every < above) & (every != domain.own[i, j])
        values.append(every[(every >= low) & (every <= high) & ~in_gap])
    ones = [np.eye(len(group)) for group in domain.groups]
    rows = np.array([np.r_[numbers, *groups] for numbers in product(*values)
                     for groups in product(*ones)] or np.zeros((0, domain.dim)))  # fmt: skip
    rows = rows[task.cell.violation(rows) <= 0] if len(rows) else rows
    return (np.abs(rows - task.centers[i]) @ task.weights).min(initial=np.inf)


@pytest.mark.parametrize("seed", range(100, 130))
def test_nothing_is_nearer_by_brute_force(seed):
    task = drawn(np.random.default_rng(seed), steps=(0, 1), most=3, endless=False)
    scale = np.abs(task.upper - task.lower).max()
    if scale > 60:  # too many numbers to try: in coarser units
        task = drawn(np.random.default_rng(seed + 1000), steps=(0,), most=2, endless=False)
    found = solve_knapsack(task)
    cost = distance(found.points, task.centers, task.weights)
    for i in range(len(task)):
        least = brute_force(task, i)
        assert (found.outcome[i] == EMPTY) == np.isinf(least)
        if np.isfinite(least):
            assert cost[i] == pytest.approx(least, rel=1e-9, abs=1e-12)


def test_rows_do_not_depend_on_the_batch():
    task = drawn(np.random.default_rng(7))
    alone = [solve_knapsack(task.take(np.array([i]))).points for i in range(len(task))]
    np.testing.assert_array_equal(solve_knapsack(task).points, np.vstack(alone))


@pytest.mark.parametrize("seed", range(20))
def test_numbers_beside_a_value_are_those_of_the_domain(seed):
    """`Allowed.beside` is `Domain.ceil` and `Domain.floor`, to the bit."""
    rng = np.random.default_rng(seed)
    task = drawn(rng)
    domain, row = task.domain, Row.of(task, task.domain)
    for i in range(len(task)):
        allowed = Allowed.of(row, domain, i)
        for j in domain.confined.tolist():
            around = domain.own[i, j] + rng.normal(size=12) * np.tile(
                [0.0, 1e-3, 0.1, 1, 10, 100], 2
            )
            for value in [*around.tolist(), *domain.own[:, j].tolist()]:
                one, rows = np.array([value]), np.array([i])
                assert allowed.beside(j, value, up=True) == domain.ceil(j, one, rows)[0]
                assert allowed.beside(j, value, up=False) == domain.floor(j, one, rows)[0]
