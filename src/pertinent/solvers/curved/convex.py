"""Convex quadratic cells: one cone program each, made exact, with tangents as the proof."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.proofs import TangentProofs
from pertinent.solvers.curved.cone import ConeProgram
from pertinent.solvers.curved.convex_concave import polish
from pertinent.solvers.curved.shifted import Shifted, shift, tangent_bounds
from pertinent.solvers.curved.stationary import may_replace, point_inside, shortened
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.tolerances import INTERIOR_DUST


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
    ray = outcome == EMPTY
    bound = tangent_bounds(shifted, tangents, multipliers, ray)
    return Solved(points, outcome, TangentProofs(tangents, multipliers, ray), bound)


def solve_convex_row(
    shifted: Shifted, i: int
) -> tuple[FloatArray | None, int, FloatArray, tuple[FloatArray, ...]]:
    """Return point, outcome, multipliers and tangents (in x) of one center."""
    local, task = shifted.row(i), shifted.task
    # |P u|^2 is touched at P u = P (start - origin) + P s.
    images = tuple(row.image(shifted.start[i : i + 1])[0] for row in task.cell.quadratics)
    if (local.values <= 0).all():
        return shifted.start[i], SOLVED, np.zeros(local.n_rows), images
    answer = ConeProgram(local).solve()
    touched = tuple(image + p for image, p in zip(images, answer.tangents, strict=True))
    if answer.outcome == SOLVED:
        exact = polish(local, answer.step)
        if exact is not None and may_replace(local, exact, np.abs(answer.step).sum()):
            point = point_inside(shifted, i, exact.step)
            if point is not None:
                at = zip(images, local.plus, strict=True)
                moved = tuple(image + P @ exact.step for image, P in at)
                return point, SOLVED, exact.multipliers, moved
        dust = np.abs(answer.step) < INTERIOR_DUST * np.abs(answer.step).max()
        point = point_inside(shifted, i, np.where(dust, 0.0, answer.step))
        if point is not None:
            return point, SOLVED, answer.multipliers, touched
    point = _at_hand(shifted, i)
    if point is not None:
        return point, SOLVED, answer.multipliers, touched
    return None, answer.outcome if answer.outcome == EMPTY else TROUBLE, answer.multipliers, touched


def _at_hand(shifted: Shifted, i: int) -> FloatArray | None:
    """Return a point for which no solver is needed: on the way to an anchor, made stationary.

    The bound then says how far from the optimum it may be.
    """
    local, task = shifted.row(i), shifted.task
    best: FloatArray | None = None
    for anchor in (task.cell.anchors - shifted.start[i]) * task.weights:
        step = np.clip(anchor, -local.down, local.up)
        if local.within(step, 0.0):
            near = shortened(local, step)
            exact = polish(local, near)
            if exact is not None and exact.cost < np.abs(near).sum():
                near = exact.step
            if best is None or np.abs(near).sum() < np.abs(best).sum():
                best = near
    return None if best is None else point_inside(shifted, i, best)
