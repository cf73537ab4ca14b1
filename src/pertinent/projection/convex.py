"""Convex quadratic cells: one cone program each, made exact, with tangents as the proof."""

from __future__ import annotations

import numpy as np

from pertinent._typing import FloatArray
from pertinent.certificate import TangentProofs
from pertinent.projection.cone import ConeProgram
from pertinent.projection.convex_concave import polish
from pertinent.projection.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.projection.settle import settle
from pertinent.projection.shifted import Shifted, shift


def solve_convex(task: Task) -> Solved:
    """Return the optimum of every row, with tangents and multipliers or Farkas rays."""
    shifted = shift(task)
    n, rows = len(task), task.cell.quadratics
    points = np.full(task.centers.shape, np.nan)
    outcome = np.full(n, TROUBLE, dtype=np.int8)
    multipliers = np.zeros((n, len(rows) + len(task.cell.G)))
    tangents = tuple(np.zeros((n, len(row.plus))) for row in rows)
    for i in range(n):
        if shifted.contradictory[i]:
            outcome[i] = EMPTY
            continue
        point, code, y, touched = solve_convex_row(shifted, i)
        outcome[i], multipliers[i] = code, y
        if point is not None:
            points[i] = point
        for k, p in enumerate(touched):
            tangents[k][i] = p
    return Solved(points, outcome, TangentProofs(tangents, multipliers, outcome == EMPTY))


def solve_convex_row(
    shifted: Shifted, i: int
) -> tuple[FloatArray | None, int, FloatArray, tuple[FloatArray, ...]]:
    """Return point, outcome, multipliers and tangents (in x) of one center."""
    local, task = shifted.row(i), shifted.task
    # |P x|^2 is touched at P x = P start + P s.
    images = tuple(row.plus @ shifted.start[i] for row in task.cell.quadratics)
    if (local.values <= 0).all():
        return shifted.start[i], SOLVED, np.zeros(local.n_rows), images
    answer = ConeProgram(local).solve()
    touched = tuple(image + p for image, p in zip(images, answer.tangents, strict=True))
    if answer.outcome != SOLVED:
        return None, answer.outcome, answer.multipliers, touched
    exact = polish(local, answer.step)
    if exact is None or exact.cost > np.abs(answer.step).sum() * (1 + 1e-6):
        point = settle(shifted, i, np.where(np.abs(answer.step) < 1e-9, 0.0, answer.step))
        return point, SOLVED if point is not None else TROUBLE, answer.multipliers, touched
    point = settle(shifted, i, exact.step)
    touched = tuple(image + P @ exact.step for image, P in zip(images, local.plus, strict=True))
    return point, SOLVED if point is not None else TROUBLE, exact.multipliers, touched
