"""Convex combinations of curved rows: proofs that hold, and that fail once tampered with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.codec import decode, encode
from pertinent.geometry.region import Cell, Quadratic
from pertinent.proofs import LagrangeProofs
from pertinent.solvers.curved.lagrange import prove_bound, prove_empty
from pertinent.solvers.curved.shifted import shift
from pertinent.solvers.problem import Task

DIM = 4


def ball(radius: float) -> Quadratic:
    return Quadratic(np.eye(DIM), np.zeros((0, DIM)), np.zeros(DIM), -(radius**2))


def saddle(asked: float) -> Quadratic:
    """x1^2 - x2^2 + asked <= 0: asks for |x2| of at least the root of asked."""
    return Quadratic.from_matrix(np.diag([1.0, -1.0, 0.0, 0.0]), np.zeros(DIM), asked)


def task_of(cell: Cell, center, lower=None, upper=None) -> Task:
    center = np.asarray(center, dtype=float)[None]
    free = np.full(center.shape, np.inf)
    low = -free if lower is None else np.asarray(lower, dtype=float)[None]
    high = free if upper is None else np.asarray(upper, dtype=float)[None]
    return Task(cell, center, np.array([1.0, 2.0, 1.0, 0.5]), low, high, np.array([np.inf]))


def bound_of(proofs: LagrangeProofs, task: Task) -> float:
    limits = task.lower, task.upper
    return float(proofs.bounds(Task.of(task.cell, task.centers, task.weights, *limits))[0])


def rows(*quadratics: Quadratic) -> Cell:
    return Cell(np.zeros((0, DIM)), np.zeros(0), quadratics)


def test_a_ball_without_the_reach_of_a_saddle_is_empty():
    task = task_of(rows(ball(1.0), saddle(1.05)), np.zeros(DIM))
    proof = prove_empty(shift(task), 0)
    assert proof is not None
    assert bound_of(proof, task) == np.inf
    assert bound_of(decode(encode(proof)), task) == np.inf
    # The saddle alone can be satisfied, and so can the ball.
    for k in range(2):
        weaker = replace(proof, multipliers=proof.multipliers * (np.arange(2) == k))
        assert bound_of(weaker, task) < np.inf


def test_a_ball_that_just_reaches_is_not_called_empty():
    task = task_of(rows(ball(1.0), saddle(0.999)), np.zeros(DIM))
    assert prove_empty(shift(task), 0) is None


def test_frozen_features_take_part():
    # With x3 held at 0.8 the ball leaves x2^2 <= 0.36.
    held = [-np.inf, -np.inf, 0.8, -np.inf], [np.inf, np.inf, 0.8, np.inf]
    cell = rows(ball(1.0), saddle(0.4))
    task = task_of(cell, np.zeros(DIM), *held)
    proof = prove_empty(shift(task), 0)
    assert proof is not None
    assert bound_of(proof, task) == np.inf
    # The same proof says nothing where x3 may move.
    assert bound_of(proof, task_of(cell, np.zeros(DIM))) < np.inf


def test_two_bounds_bend_what_no_ball_does():
    # x2^2 >= 1.05 has no point between -1 and 1, and the row alone is concave.
    row = Quadratic.from_matrix(np.diag([0.0, -1.0, 0.0, 0.0]), np.zeros(DIM), 1.05)
    between = np.full(DIM, -1.0), np.full(DIM, 1.0)
    task = task_of(rows(row), np.zeros(DIM), *between)
    proof = prove_empty(shift(task), 0)
    assert proof is not None
    assert bound_of(proof, task) == np.inf
    wider = task_of(rows(row), np.zeros(DIM), np.full(DIM, -2.0), np.full(DIM, 2.0))
    assert bound_of(proof, wider) < np.inf


def test_what_is_not_convex_proves_nothing():
    task = task_of(rows(ball(1.0), saddle(0.25)), np.zeros(DIM))
    only = LagrangeProofs(np.zeros((1, DIM)), np.array([[0.0, 1.0]]), np.zeros((1, DIM)),
                          np.array([True]))  # fmt: skip
    assert bound_of(only, task) == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_no_point_undercuts_the_bound(seed):
    rng = np.random.default_rng(seed)
    form = rng.normal(size=(DIM, DIM))
    curved = Quadratic.from_matrix(form + form.T, rng.normal(size=DIM), 0.5)
    cell = rows(ball(1.5), curved)
    task = task_of(cell, rng.normal(size=DIM) * 2)
    found = prove_bound(shift(task), 0)
    points = rng.normal(size=(200_000, DIM))
    points *= 1.5 * rng.random((len(points), 1)) ** 0.25 / np.linalg.norm(points, axis=1)[:, None]
    inside = points[cell.contains(points)]
    assert len(inside) > 100
    costs = (task.weights * np.abs(inside - task.centers)).sum(axis=1)
    assert found is not None
    proof, believed = found
    assert bound_of(proof, task) <= costs.min()
    assert believed == pytest.approx(bound_of(proof, task), rel=1e-9)
    # Not an empty promise: it says most of what sampling can show.
    assert bound_of(proof, task) >= 0.5 * costs.min()
