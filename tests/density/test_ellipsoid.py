"""Linear rows and one ellipsoid: against a cone solver, at the edges, and in any company."""

from __future__ import annotations

import numpy as np
import pytest

from pertinent.geometry.region import Cell, CellUnion, Quadratic
from pertinent.geometry.task import distance
from pertinent.setting.options import Options
from pertinent.solvers import choose_method, project
from pertinent.solvers.curved.convex import solve_convex
from pertinent.solvers.curved.interior import ellipsoid as interior
from pertinent.solvers.curved.interior import points
from pertinent.solvers.curved.interior.ellipsoid import (
    ball_bounds,
    ball_of,
    solve_ellipsoid,
    solve_ellipsoids,
)
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Task


def ellipsoid(rng, d, rank, m, radius=1.0):
    """A cell with m rows that a ball of some rank around a random middle satisfies partly."""
    P = rng.normal(size=(rank, d))
    middle = rng.normal(size=d) * 3
    r = P @ middle
    ball = Quadratic(P, np.zeros((0, d)), -2 * P.T @ r, float(r @ r - radius**2))
    G = rng.normal(size=(m, d))
    return Cell(G, G @ middle + 0.1, (ball,))


def make_task(rng, cell, n, kind):
    d = cell.dim
    centers = rng.normal(size=(n, d)) * 3
    lower, upper = np.full((n, d), -np.inf), np.full((n, d), np.inf)
    if kind == "box":
        lower, upper = centers - 9, centers + 9
    elif kind == "held":
        held = rng.random((n, d)) < 0.2
        lower, upper = np.where(held, centers, lower), np.where(held, centers, upper)
    elif kind == "one-sided":
        lower = centers.copy()
    return Task(cell, centers, rng.uniform(0.5, 2, size=d), lower, upper, np.full(n, np.inf))


@pytest.mark.parametrize("kind", ["free", "box", "held", "one-sided"])
@pytest.mark.parametrize(("d", "rank", "m"), [(3, 3, 0), (6, 4, 2), (12, 12, 3), (20, 8, 5)])
def test_agrees_with_a_cone_solver_and_proves_it(rng, kind, d, rank, m):
    task = make_task(rng, ellipsoid(rng, d, rank, m), 12, kind)
    ours, theirs = solve_ellipsoid(task), solve_convex(task)
    proved = ours.proofs.bounds(
        Task.of(task.cell, task.centers, task.weights, task.lower, task.upper)
    )
    solved = ours.outcome == SOLVED
    assert (solved | (ours.outcome == EMPTY)).all()
    assert np.isinf(proved[~solved]).all()
    value = distance(ours.points, task.centers, task.weights)
    assert task.cell.contains(ours.points[solved], 1e-9).all()
    assert (ours.points >= task.lower)[solved].all()
    assert (ours.points <= task.upper)[solved].all()
    np.testing.assert_allclose(proved[solved], value[solved], rtol=1e-6)
    both = solved & (theirs.outcome == SOLVED)
    other = distance(theirs.points, task.centers, task.weights)
    np.testing.assert_allclose(value[both], other[both], rtol=1e-6)
    assert not (solved & (theirs.outcome == EMPTY)).any()


def test_of_several_problems_those_are_left_that_are_late_and_a_single_one_is_solved(
    rng, monkeypatch
):
    """Hundreds of them, those of a menu, took a second after the time was over."""
    task = make_task(rng, ellipsoid(rng, 12, 12, 3), 40, "free")
    assert (solve_ellipsoid(task).outcome == SOLVED).all()
    monkeypatch.setattr(points, "is_late", lambda: True)
    monkeypatch.setattr(interior, "is_late", lambda: True)
    monkeypatch.setattr(interior, "solve_convex_row", None)  # nobody is asked instead
    late = solve_ellipsoid(task)
    assert (late.outcome == TROUBLE).all()
    assert np.isnan(late.points).all()
    assert solve_ellipsoid(task.take(np.array([7]))).outcome.tolist() == [SOLVED]


def test_a_center_inside_stays(rng):
    cell = ellipsoid(rng, 4, 4, 0)
    ball = ball_of(cell)
    middle = np.linalg.solve(ball.P, ball.r)
    found = project(middle[None], cell)
    assert found.objective[0] == 0
    assert found.unique[0] == 1


def test_cutoffs_only_stop_what_cannot_win(rng):
    cell = ellipsoid(rng, 10, 10, 3)
    task = make_task(rng, cell, 20, "box")
    task = task.take(np.flatnonzero(solve_ellipsoid(task).outcome == SOLVED)[:12])
    whole = solve_ellipsoid(task)
    value = distance(whole.points, task.centers, task.weights)
    assert len(task) == 12
    limits = value * np.where(np.arange(12) % 2, 0.9, 1.1)
    cut = solve_ellipsoid(Task(cell, task.centers, task.weights, task.lower, task.upper, limits))
    assert (cut.outcome[::2] == SOLVED).all()
    assert (cut.outcome[1::2] == CUT).all()
    proved = cut.proofs.bounds(Task.of(cell, task.centers, task.weights, task.lower, task.upper))
    assert (proved[1::2] >= limits[1::2]).all()
    assert (proved <= value * (1 + 1e-9)).all()


def test_company_changes_nothing(rng):
    cells = [ellipsoid(rng, 8, 8, 2) for _ in range(3)] + [ellipsoid(rng, 8, 5, 2)]
    tasks = [make_task(rng, cell, 5 + k, "box") for k, cell in enumerate(cells)]
    together = solve_ellipsoids(tasks)
    for task, answer in zip(tasks, together, strict=True):
        alone = solve_ellipsoid(task)
        assert alone.points.tobytes() == answer.points.tobytes()
        one = solve_ellipsoid(task.take(np.array([2])))
        assert one.points.tobytes() == answer.points[2:3].tobytes()


def test_a_union_of_ellipsoids_is_as_good_without_skipping(rng):
    region = CellUnion(tuple(ellipsoid(rng, 6, 6, 2) for _ in range(5)))
    centers = rng.normal(size=(30, 6)) * 3
    quick, slow = project(centers, region), project(centers, region, skip=False)
    assert (quick.status == 0).all()
    assert quick.points.tobytes() == slow.points.tobytes()
    assert quick.solved < slow.solved
    for p, cell in enumerate(region):
        alone = project(centers, cell)
        assert (alone.objective >= quick.objective - 1e-9).all()
        assert (alone.objective[quick.piece == p] <= quick.objective[quick.piece == p] + 1e-9).all()


def test_cheap_bounds_never_promise_too_much(rng):
    cell = ellipsoid(rng, 7, 4, 2)
    for kind in ("free", "box", "held"):
        task = make_task(rng, cell, 25, kind)
        bound, proofs = ball_bounds(task)
        solved = solve_ellipsoid(task)
        value = distance(solved.points, task.centers, task.weights)
        fine = solved.outcome == SOLVED
        assert (bound[fine] <= value[fine] * (1 + 1e-9)).all()
        np.testing.assert_allclose(bound, proofs.bounds(task), 1e-9)
    assert (bound > 0).any()


def test_empty_cells_are_proved_empty(rng):
    cell = ellipsoid(rng, 5, 5, 0)
    ball = ball_of(cell)
    middle = np.linalg.solve(ball.P, ball.r)
    away = Cell(np.array([[-1.0, 0, 0, 0, 0]]), np.array([-middle[0] - 50.0]))
    found = project(rng.normal(size=(6, 5)), cell.intersect(away), options=Options())
    assert np.isinf(found.bound).all()
    assert (found.status == 2).all()


def test_what_is_not_a_ball_is_left_to_others(rng):
    P = rng.normal(size=(2, 4))
    leaning = Quadratic(P, np.zeros((0, 4)), rng.normal(size=4), -1.0)  # a paraboloid
    cell = Cell(np.zeros((0, 4)), np.zeros(0), (leaning,))
    assert ball_of(cell) is None
    assert choose_method(cell).name == "cone program"
    assert choose_method(ellipsoid(rng, 4, 4, 2)).name == "ellipsoid"
    assert ball_bounds(make_task(rng, cell, 1, "free")) is None
