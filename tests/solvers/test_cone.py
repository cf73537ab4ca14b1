"""Convex quadratic cells: exact answers from an interior-point method, proved by tangents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.region import Cell, Quadratic
from pertinent.proofs import OPTIMAL, check
from pertinent.solvers import choose_method, project
from pertinent.solvers.curved.cone import ConeProgram
from pertinent.solvers.curved.shifted import shift
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Task


def ball(center, radius, axes=None) -> Quadratic:
    """|F (x - center)|^2 <= radius^2; a rotation in F keeps it from being separable."""
    center = np.asarray(center, dtype=float)
    F = np.eye(len(center)) if axes is None else np.asarray(axes, dtype=float)
    image = F @ center
    return Quadratic(
        F, np.zeros((0, len(center))), -2 * image @ F, float(image @ image - radius**2)
    )


def slanted(center, radius=1.0) -> Quadratic:
    return ball(center, radius, [[2.0, 1.0], [0.0, 1.0]])


def cell_of(*rows, G=None, h=None) -> Cell:
    dim = rows[0].plus.shape[1]
    G = np.zeros((0, dim)) if G is None else np.asarray(G, dtype=float)
    return Cell(G, np.zeros(0) if h is None else np.asarray(h, dtype=float), rows)


def test_ellipse_is_solved_and_proved():
    cell = cell_of(slanted([4.0, 3.0]))
    found = project(np.zeros((1, 2)), cell)
    assert found.status[0] == 0
    assert cell.contains(found.points)[0]
    angles = np.linspace(0, 2 * np.pi, 200_001)
    circle = np.c_[np.cos(angles), np.sin(angles)]
    rim = np.array([4.0, 3.0]) + np.linalg.solve([[2.0, 1.0], [0.0, 1.0]], circle.T).T
    assert found.objective[0] == pytest.approx(np.abs(rim).sum(axis=1).min(), rel=1e-8)
    assert found.bound[0] >= found.objective[0] * (1 - 1e-6)


def test_dust_is_snapped_to_the_center():
    """Only one feature needs to move; the others keep their exact values."""
    F = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 1.0]])
    center = np.array([0.1, 0.2, 0.3])
    cell = cell_of(ball(center + np.array([5.0, 0.0, 0.0]), 1.0, F))
    found = project(center[None], cell)
    assert found.status[0] == 0
    moved = found.points[0] != center
    assert moved.sum() < 3
    assert cell.contains(found.points)[0]


def test_bounds_are_hit_exactly():
    cell = cell_of(slanted([4.0, 3.0], 2.0))
    found = project(np.zeros((1, 2)), cell, upper=np.array([3.0, 2.0]), lower=np.zeros(2))
    assert found.status[0] in (0, 2)
    if found.status[0] == 0:
        assert (found.points[0] <= [3.0, 2.0]).all()


@pytest.mark.parametrize("seed", range(6))
def test_two_ellipses_and_a_half_space(seed):
    rng = np.random.default_rng(seed)
    d = 4
    rows = [ball(rng.normal(size=d) * 0.5 + 3, 3.0, rng.normal(size=(d, d)) / 2) for _ in range(2)]
    cell = cell_of(*rows, G=rng.normal(size=(1, d)), h=[8.0])
    assert choose_method(cell).name == "cone program"
    found = project(np.zeros((1, d)), cell)
    if found.status[0] == 2:
        assert np.isinf(found.bound[0])
    else:
        assert found.status[0] == 0
        proof = found.certificate.blocks[-1].proofs
        verdict = check(cell, np.zeros(d), np.ones(d), found.points[0], proof)
        assert verdict.optimal
        assert verdict.violation <= 0


def test_disjoint_ellipses_are_proved_empty():
    cell = cell_of(slanted([0.0, 0.0]), slanted([10.0, 0.0]))
    found = project(np.array([[5.0, 1.0]]), cell)
    assert found.status[0] == 2
    assert np.isinf(found.bound[0])


def test_ellipse_out_of_the_box_is_proved_empty():
    found = project(np.zeros((1, 2)), cell_of(slanted([5.0, 5.0])), upper=np.ones(2))
    assert found.status[0] == 2


def test_program_reports_infeasibility_and_penalty():
    """The subproblem itself: empty without slack, solvable with it."""
    cell = cell_of(slanted([0.0, 0.0]), slanted([10.0, 0.0]))
    free = np.full((1, 2), np.inf)
    task = Task(cell, np.array([[5.0, 1.0]]), np.ones(2), -free, free, np.array([np.inf]))
    program = ConeProgram(shift(task).row(0))
    assert program.solve().outcome == EMPTY
    answer = program.solve(penalty=10.0)
    assert answer.outcome == SOLVED
    assert answer.slack > 0


def test_few_features_move_among_many():
    """The program keeps the features that matter, and finds the same as the whole one."""
    rng = np.random.default_rng(0)
    d = 30
    F = rng.normal(size=(d, d)) / 4 + np.eye(d)
    target = np.zeros(d)
    target[:3] = 4.0
    cell = cell_of(ball(target, 1.0, F))
    free = np.full((1, d), np.inf)
    task = Task(cell, np.zeros((1, d)), np.ones(d), -free, free, np.array([np.inf]))
    program = ConeProgram(shift(task).row(0))
    whole, again = program.solve(), program.solve()
    assert program.kept is not None
    assert len(program.kept) < d
    assert np.abs(again.step).sum() == pytest.approx(np.abs(whole.step).sum(), rel=1e-6)


def test_where_the_cone_solver_gives_up_a_point_at_hand_is_the_answer(monkeypatch):
    turn = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0]])
    rows = (ball([3.0, 0.5, 0.0], 1.0, turn), ball([3.0, 0.0, 0.5], 1.5, turn.T))
    anchors = np.array([[3.0, 0.25, 0.25]])
    cell = Cell(np.zeros((0, 3)), np.zeros(0), rows, anchors=anchors)
    solved = project(np.zeros((1, 3)), cell)
    assert solved.methods[0].name == "cone program"
    assert solved.status[0] == OPTIMAL
    real = ConeProgram.solve
    monkeypatch.setattr(ConeProgram, "solve", lambda *args: replace(real(*args), outcome=TROUBLE))
    found = project(np.zeros((1, 3)), cell)
    assert cell.contains(found.points)[0]
    assert found.objective[0] >= solved.objective[0] * (1 - 1e-9)
    # What the solver left is still a bound.
    assert 0 < found.bound[0] <= solved.objective[0] * (1 + 1e-9)
