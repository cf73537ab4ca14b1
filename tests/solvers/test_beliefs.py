"""What a solver believes its proofs show is what they show: it is told by its own arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import distance
from pertinent.proofs import SweepProofs, TangentProofs
from pertinent.setting.options import Options
from pertinent.solvers import choose_method
from pertinent.solvers.curved.separable.boxes import aggregate
from pertinent.solvers.curved.separable.sweep import sweeps_hold
from pertinent.solvers.curved.shifted import shift, tangent_bounds
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task


def task_of(rng, cell, n=12, room=None):
    centers, weights = rng.normal(0, 2, (n, cell.dim)), rng.uniform(0.5, 2, cell.dim)
    wide = np.full(centers.shape, np.inf) if room is None else rng.uniform(0, room, centers.shape)
    if room is not None:
        wide[rng.random(wide.shape) < 0.3] = 0.0
    limits = centers - wide, centers + wide, np.full(n, np.inf)
    return Task(cell, centers, weights, *limits, Options(unique=False))


def quadratic(rng, d, signs):
    bends = rng.normal(size=(d, d)) * np.sqrt(0.3)
    return Quadratic.from_matrix((bends * signs) @ bends.T, rng.normal(size=d), rng.uniform(0.1, 3))


def cells(rng, d=3):
    linear = rng.normal(size=(2, d)), rng.normal(size=2)
    none = np.zeros((0, d)), np.zeros(0)
    convex = quadratic(rng, d, np.ones(d))
    mixed = [quadratic(rng, d, np.sign(rng.normal(size=d))) for _ in range(2)]
    separable = Quadratic.from_matrix(np.diag(rng.normal(size=d)), rng.normal(size=d), 1.0)
    yield Cell(*linear)
    yield Cell(*linear, (convex,))
    yield Cell(*none, (separable,))
    yield Cell(*linear, (separable,))
    yield Cell(*none, (mixed[0],))
    yield Cell(*linear, tuple(mixed))
    yield Cell(*linear, (convex, mixed[0]))


@pytest.mark.matrix(2)
@pytest.mark.parametrize("room", [None, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_proofs_show_what_their_solver_believes(seed, room):
    rng = np.random.default_rng(seed)
    for cell in cells(rng):
        task = task_of(rng, cell, 5, room)
        found = choose_method(cell).solve(task)
        believed, proved = found.believed(task), found.proofs.bounds(task)
        nothing = distance(task.start(), task.centers, task.weights)
        # Believing too little costs an answer its proof, and too much an attempt.
        close = np.isclose(np.maximum(believed, nothing), np.maximum(proved, nothing), 1e-4, 1e-9)
        assert close[found.outcome != TROUBLE].all(), choose_method(cell).name
        assert (believed <= np.maximum(proved, nothing) * (1 + 1e-4) + 1e-9).all()


def test_without_a_bound_the_outcome_says_what_is_believed():
    cell, n = Cell(np.zeros((0, 1)), np.zeros(0)), 4
    free = np.full((n, 1), np.inf)
    task = Task(cell, np.zeros((n, 1)), np.array([2.0]), -free, free, np.full(n, 5.0))
    outcome = np.array([SOLVED, EMPTY, CUT, TROUBLE], dtype=np.int8)
    points = np.array([[3.0], [np.nan], [np.nan], [np.nan]])
    found = Solved(points, outcome, TangentProofs((), np.zeros((n, 0)), outcome == EMPTY))
    assert found.believed(task).tolist() == [6.0, np.inf, 5.0, 0.0]


@pytest.mark.parametrize("seed", range(10))
def test_any_tangents_and_multipliers_are_weighed_as_the_checker_weighs_them(seed):
    rng = np.random.default_rng(seed)
    d, rows = 3, rng.normal(size=(2, 3))
    convex, other = quadratic(rng, d, np.ones(d)), quadratic(rng, d, np.array([1.0, 1.0, -1.0]))
    task = task_of(rng, Cell(rows, rng.normal(size=2), (convex, other)), 40, rng.choice([0.5, 9.0]))
    tangents = tuple(rng.normal(size=(40, len(row.plus))) for row in (convex, other))
    multipliers, ray = rng.exponential(size=(40, 4)), rng.random(40) < 0.5
    multipliers[rng.random((40, 4)) < 0.4] = 0.0
    proved = TangentProofs(tangents, multipliers, ray).bounds(task)
    np.testing.assert_allclose(
        tangent_bounds(shift(task), tangents, multipliers, ray), proved, 1e-9, 1e-12
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_sweep_holds_where_the_checker_says_so(seed):
    rng = np.random.default_rng(seed)
    bends = rng.normal(size=5)
    row = Quadratic.from_matrix(np.diag(bends), rng.normal(size=5), rng.uniform(1, 4))
    task = task_of(rng, Cell(np.zeros((0, 5)), np.zeros(0), (row,)), 200, rng.choice([1.0, 30.0]))
    slopes = -np.sort(-rng.exponential(size=(200, 6)), axis=1)
    sweeps, shifted = SweepProofs(rng.exponential(0.3, 200), slopes), shift(task)
    holds = sweeps_hold(aggregate(shifted, np.ones((200, 1))), shifted.sizes()[:, 0], sweeps)
    proved = sweeps.bounds(task) > shifted.base
    assert 0 < holds.sum() < len(holds)
    np.testing.assert_array_equal(holds, proved)
