"""Steps and gaps: which numbers are allowed, next to each other and in searches and proofs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from pertinent.geometry.domain import Bins, Domain, Lattice, are_on_steps
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task, distance
from pertinent.proofs import status_names
from pertinent.proofs.cases import narrowing
from pertinent.proofs.cases.branch import next_allowed
from pertinent.rules.form import lattice_of
from pertinent.solvers import project
from pertinent.solvers.search import narrow as search_narrow

COARSE = [1, 10, 0.5, 2.5, (10, 3), (1.5, 0.2)]
STEPS = [*COARSE, 0.1, 0.01, 25, (0.3, -0.1)]


@pytest.mark.parametrize("off", [None, *range(len(STEPS))])
def test_columns_are_on_their_steps_only_if_each_is(off):
    lattice = {j + 1: lattice_of("x", given) for j, given in enumerate([*STEPS, *STEPS])}
    values = np.full((3, 2 + len(lattice)), np.pi)
    for j, grid in lattice.items():
        values[:, j] = grid.at(np.array([0.0, 3.0, -7.0]))
    assert are_on_steps(values, lattice)
    if off is not None:
        values[1, 1 + len(STEPS) + off] += 0.001
        assert not are_on_steps(values, lattice)


@pytest.mark.parametrize("given", STEPS)
def test_numbers_of_a_lattice_are_the_decimal_numbers(given):
    grid = lattice_of("x", given)
    step, first = given if isinstance(given, tuple) else (given, 0)
    step, first = Fraction(str(step)), Fraction(str(first))
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=50) * 40, grid.at(np.arange(-30.0, 30.0))])
    for value, low, high in zip(values, grid.floor(values), grid.ceil(values), strict=True):
        for one in (low, high):
            assert (Fraction(repr(float(one))) - first) % step == 0
        assert low <= value <= high
        assert Fraction(repr(float(high))) - Fraction(repr(float(low))) in (0, step)
    assert grid.has(grid.ceil(values)).all()


def random_domain(rng, n):
    """Return a domain of two columns on lattices and two of any number, some with gaps."""
    first, second = (lattice_of("x", COARSE[k]) for k in rng.integers(0, 6, 2))
    own = np.round(rng.normal(size=(n, 4)) * 3, 2)
    wide = np.array([rng.choice([0.0, first.step]), 0.0, rng.choice([0.0, 0.7]), 0.4])
    return Domain(
        np.array([first.decimals, second.decimals, np.nan, np.nan]),
        own=own,
        multiple=np.array([first.multiple, second.multiple, 1, 1]),
        offset=np.array([first.offset, second.offset, 0, 0]),
        gap=(own - wide, own + wide),
    )


def allowed(domain, row, column, low, high):
    """Return allowed numbers of a range, told one by one, and its ends where they are."""
    grid, own = domain.steps.get(column), domain.own[row, column]
    below, above = (side[row, column] for side in domain.gap)
    many = np.linspace(low, high, 101)
    if grid is not None:
        many = np.unique(np.concatenate([grid.ceil(many), grid.floor(many)]))
    many = np.concatenate([many, [below, above]] if grid is None else [many])
    many = many[((many <= below) | (many >= above)) & (many >= low) & (many <= high)]
    return np.unique(np.concatenate([many, [own]] if low <= own <= high else [many]))


@pytest.mark.parametrize("seed", range(30))
def test_both_narrowings_keep_all_that_is_allowed_and_the_next_value_skips_none(seed):
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, 3)
    low = np.round(rng.normal(size=(3, 4)) * 3, 3)
    high = low + np.round(rng.random((3, 4)) * 5, 3)
    row, state = np.arange(3), np.zeros((3, 0), dtype=np.int8)
    ours, _ = narrowing.narrow(domain, narrowing.Boxes(row, low, high, state))
    theirs, _ = search_narrow.narrow(domain, search_narrow.Boxes(row, low, high, state))
    assert np.array_equal(ours.lower, theirs.lower)
    assert np.array_equal(ours.upper, theirs.upper)
    for i, j in product(range(3), range(4)):
        known = allowed(domain, i, j, low[i, j], high[i, j])
        if len(known):
            assert ours.lower[i, j] <= known[0]
            assert ours.upper[i, j] >= known[-1]
        if j in domain.steps and len(known):
            assert [ours.lower[i, j], ours.upper[i, j]] == [known[0], known[-1]]
        for value in [*known[:-1], (low[i, j] + high[i, j]) / 2]:
            above = known[known > value]
            (following,) = next_allowed(domain, np.array([j]), np.array([value]), np.array([i]))
            if len(above):
                assert following <= above[0]
            if j in domain.steps and len(above):
                assert following == above[0]


@pytest.mark.parametrize("seed", range(12))
def test_nearest_points_on_steps_and_outside_gaps_agree_with_trying_all(seed):
    rng = np.random.default_rng(100 + seed)
    n = 2
    domain = random_domain(rng, n)
    G, weights = rng.normal(size=(1, 4)), rng.random(4) + 0.5
    G[:, 2:] *= 0.5
    h = (domain.own @ G.T).min() - rng.random(1) * 2
    cell, low, high = Cell(G, h), domain.own - 6.0, domain.own + 6.0
    found = project(domain.own, cell, weights, low, high, domain=domain)
    for i in range(n):
        best = np.inf
        for x0, x1 in product(*(allowed(domain, i, j, low[i, j], high[i, j]) for j in (0, 1))):
            best = min(best, _least(domain, i, (x0, x1), cell, weights, low[i], high[i]))
        if np.isinf(best):
            assert status_names(found.status)[i] == "infeasible"
            continue
        assert found.objective[i] == pytest.approx(best, rel=1e-9)
        assert status_names(found.status)[i] == "optimal"
    assert not domain.violation(found.points)[np.isfinite(found.objective)].any()
    assert (cell.violation(found.points[np.isfinite(found.objective)]) < 1e-9).all()


def _least(domain, i, fixed, cell, weights, low, high):
    """Return the least cost for the last two columns, each below, at or above its own value."""
    best, g = np.inf, cell.G[0]
    own, (below, above) = domain.own[i], (side[i] for side in domain.gap)
    spent = distance(np.array([fixed]), own[None, :2], weights[:2])[0]
    sides = [[(low[j], below[j]), (own[j], own[j]), (above[j], high[j])] for j in (2, 3)]
    for ranges in product(*sides):
        x = np.array([np.clip(own[j], *ranges[j - 2]) for j in (2, 3)])
        need = g[:2] @ np.array(fixed) + g[2:] @ x - cell.h[0]
        for j in np.argsort(-np.abs(g[2:]) / weights[2:]):
            end = ranges[j][0] if g[2 + j] > 0 else ranges[j][1]
            move = min(abs(end - x[j]), max(need, 0.0) / abs(g[2 + j]))
            x[j] += np.sign(end - x[j]) * move
            need -= move * abs(g[2 + j])
        if need <= 1e-9:
            best = min(best, spent + distance(x[None], own[None, 2:], weights[2:])[0])
    return best


def test_a_task_with_gaps_proves_what_a_task_without_proves_at_least():
    own = np.array([[0.0, 0.0]])
    cell = Cell(np.array([[-1.0, -0.1]]), np.array([-0.05]))  # x0 + 0.1 x1 >= 0.05
    domain = Domain(np.full(2, np.nan), own=own, gap=(own - 0.2, own + 0.2))
    found = project(own, cell, domain=domain)
    assert found.points.tolist() == [[0.2, 0.0]]
    assert found.bound == pytest.approx(0.2)
    free = project(own, cell)
    asked = Task.of(cell, own, np.ones(2), domain=domain)
    assert free.certificate.bounds(asked) == pytest.approx(0.05)


def test_a_step_has_words():
    assert Lattice(0, 25).words() == "steps of 25"


def test_nobody_can_write_to_the_ends_of_bins():
    """Answers are judged by them, and searches look at them."""
    for excess in (None, 3):
        bins = Bins(0, np.array([1, 2, 4]), np.array([1.0, 3.0]), excess=excess)
        for ends in (bins.edges, bins.low, bins.high, bins.beyond_slope, bins.beyond_shift):
            with pytest.raises(ValueError, match="read-only"):
                ends *= 0.5
