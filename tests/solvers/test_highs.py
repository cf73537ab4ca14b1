"""HiGHS as fallback and judge: textbook answers, rays, scales, and independence of the batch."""

from __future__ import annotations

import numpy as np
import pytest

from pertinent.solvers.linear import highs
from pertinent.solvers.linear.simplex.scaled import Asked
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE
from pertinent.solvers.programs import linear

INF = np.inf


def solve_highs(*asked):
    return highs.solve_highs(Asked.of(*asked))


def farkas_value(G, demand, up, down, y):
    """Positive: no step within the rooms satisfies ``-G s >= demand``."""
    pull = -(y @ G)
    room = np.where(pull > 0, up, down)
    return y @ demand - (np.abs(pull) * np.where(np.abs(pull) < 1e-12, 0, room)).sum()


@pytest.mark.parametrize(
    ("G", "demand", "up", "step", "multipliers"),
    [
        ([[-1, -2]], [4], INF, [0, 2], [0.5]),
        ([[-1, -2]], [4], 1.5, [1, 1.5], [1]),
        ([[-1, -0.9], [1, 0]], [4, -1], INF, [1, 3 / 0.9], [1 / 0.9, 0.1 / 0.9]),
        ([[1, 0], [0, 1]], [2, 1], INF, [-2, -1], [1, 1]),
        ([[1, 1]], [-1], INF, [0, 0], [0]),
    ],
)
def test_textbook(G, demand, up, step, multipliers):
    G, demand = np.array(G, dtype=float), np.array([demand], dtype=float)
    steps = solve_highs(G, np.ones(2), demand, up, INF)
    assert steps.status.tolist() == [SOLVED]
    np.testing.assert_allclose(steps.step, [step], rtol=1e-12)
    np.testing.assert_allclose(steps.multipliers, [multipliers], rtol=1e-12)


@pytest.mark.parametrize("own_ray", [True, False])
@pytest.mark.parametrize(
    ("G", "demand", "up"),
    [
        ([[-1.0, 0.0], [1.0, 0.0]], [3.0, -2.0], INF),
        ([[-1.0, -2.0]], [4.0], 1.0),
        ([[-1.0, -2.0], [0.0, 0.0]], [4.0, 1.0], INF),
        ([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]], [3.0, -1.0, -1.0], INF),
    ],
)
def test_infeasible_with_a_ray(G, demand, up, own_ray, monkeypatch):
    if not own_ray:  # HiGHS proves infeasibility, but has no ray to show
        monkeypatch.setattr(linear.LinearProgram, "ray", lambda program: None)
    G, demand = np.array(G), np.array([demand])
    steps = solve_highs(G, np.ones(2), demand, up, INF)
    assert steps.status.tolist() == [EMPTY]
    assert np.isnan(steps.step).all()
    assert (steps.multipliers >= 0).all()
    assert farkas_value(G, demand[0], up, INF, steps.multipliers[0]) > 0


def test_bounds_are_met_exactly():
    rng = np.random.default_rng(0)
    G, weights = rng.normal(size=(5, 12)), rng.uniform(0.5, 2.0, 12)
    room = rng.uniform(0.1, 0.6, size=(20, 12))
    steps = solve_highs(G, weights, rng.normal(size=(20, 5)), room, room)
    solved = steps.status == SOLVED
    step, room = steps.step[solved], room[solved]
    near = np.abs(np.abs(step) - room) < 1e-9
    assert near.any()
    assert (np.abs(step)[near] == room[near]).all()


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_units_do_not_matter(factor):
    rng = np.random.default_rng(1)
    G, weights = rng.normal(size=(8, 6)), rng.uniform(0.5, 2.0, 6)
    demand, room = rng.normal(size=(15, 8)), rng.uniform(0.0, 3.0, size=(15, 6))
    plain = solve_highs(G, weights, demand, room, room)
    steps = solve_highs(G, weights, demand * factor, room * factor, room * factor)
    np.testing.assert_array_equal(steps.status, plain.status)
    np.testing.assert_allclose(steps.step, plain.step * factor, rtol=1e-9)
    steps = solve_highs(G * factor, weights, demand * factor, room, room)
    np.testing.assert_allclose(steps.step, plain.step, rtol=1e-9)
    np.testing.assert_allclose(steps.multipliers * factor, plain.multipliers, rtol=1e-9)


def test_an_answer_does_not_depend_on_the_batch():
    rng = np.random.default_rng(2)
    G, demand = rng.normal(size=(6, 10)), rng.normal(size=(12, 6))
    full = solve_highs(G, np.ones(10), demand, 1.0, 1.0)
    for i in range(12):
        alone = solve_highs(G, np.ones(10), demand[i : i + 1], 1.0, 1.0)
        assert alone.step.tobytes() == full.step[i].tobytes()
        assert alone.multipliers.tobytes() == full.multipliers[i].tobytes()


def test_an_answer_that_fails_the_check_is_trouble(monkeypatch):
    monkeypatch.setitem(linear.STATUS, linear.highspy.HighsModelStatus.kOptimal, EMPTY)
    steps = solve_highs(np.array([[-1.0, -2.0]]), np.ones(2), np.array([[4.0]]), INF, INF)
    assert steps.status.tolist() == [TROUBLE]
    assert np.isnan(steps.step).all()
    assert (steps.multipliers == 0).all()
