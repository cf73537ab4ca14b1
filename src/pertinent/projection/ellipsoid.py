"""Linear rows and one ellipsoid: the cells of plausibility, all centers of a batch at once.

A row ``|P x|^2 + q'x + c <= 0`` is a ball ``|P x - r| <= radius`` if ``q = -2 P'r`` for some r:
then ``radius^2 = |r|^2 - c``. Such cells are solved by `pertinent.projection._interior`; a
center that it does not finish (an empty cell, numerical trouble) gets a cone program of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent._typing import FloatArray, IntArray
from pertinent.certificate import TangentProofs
from pertinent.projection._interior import Balls, Inside, solve_balls
from pertinent.projection.convex import solve_convex_row
from pertinent.projection.convex_concave import polish
from pertinent.projection.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.projection.settle import settle
from pertinent.projection.shifted import Shifted, shift
from pertinent.projection.stationary import refine
from pertinent.regions import Cell

#: q counts as -2 P'r if what is left over is below this share of it.
LEFT_OVER = 1e-9
#: Newton's method starts next to the optimum, and aims this share of the terms inside the rows.
NEWTON_STEPS, INSIDE = 4, 1e-14
#: Centers solved at once: their systems should stay in the processor's cache.
AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Ball:
    """The inequality ``|P x - r| <= radius``."""

    P: FloatArray
    r: FloatArray
    radius: float


def ball_of(cell: Cell) -> Ball | None:
    """Return the single quadratic row of a cell as a ball; None if it is not one."""
    if len(cell.quadratics) != 1 or not cell.quadratics[0].is_convex:
        return None
    row = cell.quadratics[0]
    if not len(row.plus):
        return None
    r = np.linalg.lstsq(row.plus.T, -row.q / 2, rcond=None)[0]
    left = np.abs(row.q + 2 * row.plus.T @ r).max(initial=0.0)
    square = float(r @ r - row.c)
    if left > LEFT_OVER * np.abs(row.q).max(initial=1e-300) or square <= 0:
        return None
    return Ball(row.plus, r, float(np.sqrt(square)))


def solve_ellipsoid(task: Task) -> Solved:
    """Return the optimum of every center, with a tangent of the ellipsoid as the proof."""
    ball = ball_of(task.cell)
    assert ball is not None
    shifted = shift(task)
    n, rank = len(task), len(ball.P)
    points = np.full(task.centers.shape, np.nan)
    outcome = np.full(n, TROUBLE, dtype=np.int8)
    multipliers = np.zeros((n, 1 + len(task.cell.G)))
    tangents = np.zeros((n, rank))
    outcome[shifted.contradictory] = EMPTY
    inside = ~shifted.contradictory & (shifted.values <= 0).all(axis=1)
    points[inside], outcome[inside] = shifted.start[inside], SOLVED
    open_ = np.flatnonzero(outcome == TROUBLE)
    for first in range(0, len(open_), AT_ONCE):
        rows = open_[first : first + AT_ONCE]
        found = solve_balls(_balls(shifted, ball, rows))
        y, p = _proof(found, ball, shifted, rows)
        multipliers[rows], tangents[rows] = y, p
        outcome[rows[found.cut]] = CUT
        for k in np.flatnonzero(~found.cut):
            _finish(
                shifted, ball, int(rows[k]), found, int(k), points, outcome, multipliers, tangents
            )
    return Solved(points, outcome, TangentProofs((tangents,), multipliers, outcome == EMPTY))


def _row_sizes(shifted: Shifted) -> FloatArray:
    size = np.abs(shifted.slopes[0, 1:]).max(axis=1, initial=0.0)
    return np.where(size > 0, size, 1.0)


def _balls(shifted: Shifted, ball: Ball, rows: IntArray) -> Balls:
    """Return the problems of some centers, with rows of slope 1 and a ball of radius 1."""
    size = _row_sizes(shifted)
    away = np.matmul(shifted.start[rows][:, None, :], ball.P.T)[:, 0, :] - ball.r
    return Balls(
        shifted.slopes[0, 1:] / size[:, None],
        shifted.plus[0] / ball.radius,
        1.0,
        shifted.values[rows][:, 1:] / size,
        away / ball.radius,
        shifted.up[rows],
        shifted.down[rows],
        shifted.task.cutoff[rows] - shifted.base[rows],
    )


def _proof(
    found: Inside, ball: Ball, shifted: Shifted, rows: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return multipliers and tangents.

    With e = -z / |z|, every point of the ball has ``e'(P x - r) <= radius``, and the tangent at
    ``p = r + radius e`` says ``2 radius (e'(P x - r) - radius) <= 0``: its multiplier is
    ``|z| / (2 radius)``; z itself was found for a ball scaled to radius 1.
    """
    pull = found.pull / ball.radius
    size = np.linalg.norm(pull, axis=1)
    e = -pull / np.where(size > 0, size, 1.0)[:, None]
    y = np.concatenate(
        [size[:, None] / (2 * ball.radius), found.multipliers / _row_sizes(shifted)], axis=1
    )
    return y, ball.r + ball.radius * e


def _finish(
    shifted: Shifted,
    ball: Ball,
    i: int,
    found: Inside,
    k: int,
    points: FloatArray,
    outcome: IntArray,
    multipliers: FloatArray,
    tangents: FloatArray,
) -> None:
    """Make one center's answer exact, or solve it by a cone program of its own."""
    if found.done[k]:
        step, y = _exact(shifted, i, found.step[k])
        point = settle(shifted, i, step)
        if point is not None:
            points[i], outcome[i] = point, SOLVED
            if y is not None:
                multipliers[i] = y
                tangents[i] = ball.P @ shifted.start[i] + shifted.plus[0] @ step
            return
    point, outcome[i], multipliers[i], touched = solve_convex_row(shifted, i)
    tangents[i] = touched[0]
    if point is not None:
        points[i] = point


def _exact(shifted: Shifted, i: int, step: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return the step without dust, just inside its rows, and its multipliers if it is exact."""
    local, cost = shifted.row(i), float(np.abs(step).sum())
    quick = refine(local, step, inside=INSIDE, steps=NEWTON_STEPS)
    if quick is not None and quick.cost <= cost * (1 + 1e-6) and local.within(quick.step, 0.0):
        return quick.step, quick.multipliers
    exact = polish(local, step)
    if exact is not None and exact.cost <= cost * (1 + 1e-6):
        return exact.step, exact.multipliers
    return np.where(np.abs(step) < 1e-9 * np.abs(step).max(), 0.0, step), None


def ball_bounds(
    cell: Cell,
    centers: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[FloatArray, TangentProofs] | None:
    """Return a lower bound for each center from one tangent of the ellipsoid, with its proof.

    Seen from the start (the center within its bounds) the ellipsoid lies beyond the tangent
    across the line to its middle: ``e'(P x - r) <= radius`` with e the direction of the start.
    None if the cell has no ellipsoid.
    """
    ball = ball_of(cell)
    if ball is None:
        return None
    start = np.clip(centers, lower, upper)
    away = np.matmul(start[:, None, :], ball.P.T)[:, 0, :] - ball.r
    distance = np.linalg.norm(away, axis=1)
    outside = distance > ball.radius
    e = away / np.where(distance > 0, distance, 1.0)[:, None]
    gain = np.abs(np.matmul(e[:, None, :], ball.P)[:, 0, :]) / weights
    # Moving the free feature with the largest gain per cost is the cheapest way across.
    steep = np.where(lower < upper, gain, 0.0).max(axis=1)
    good = outside & (steep > 0)
    y = np.zeros((len(centers), 1 + len(cell.G)))
    y[good, 0] = 1.0 / (2 * ball.radius * steep[good])
    proofs = TangentProofs((ball.r + ball.radius * e,), y, np.zeros(len(centers), dtype=bool))
    return np.maximum(proofs.bounds(cell, centers, weights, lower, upper), 0.0), proofs
