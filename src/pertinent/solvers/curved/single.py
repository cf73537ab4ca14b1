"""The best change of a single feature, in closed form, for all centers at once.

Along one feature every row is ``a s^2 + b s + c <= 0``, so the allowed steps are intervals whose
ends are roots: the nearest allowed root over all features is the answer. Where all other
features are held, it is the answer to the whole question, and no root means no point.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.shifted import Shifted, real_roots, shift
from pertinent.solvers.curved.stationary import point_inside
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.stages import Stage
from pertinent.solvers.tolerances import PROVED_ON_LINE, ROOT_ROUNDING


def single_changes(shifted: Shifted) -> tuple[FloatArray, FloatArray]:
    """Return the best steps that move one feature, and their costs (``inf`` where none does)."""
    n, d = shifted.start.shape
    best, where = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    step = np.zeros(n)
    for candidate in _candidates(shifted):
        cost = np.where(_allowed(shifted, candidate), np.abs(candidate), np.inf)
        feature = cost.argmin(axis=1)
        value = cost[np.arange(n), feature]
        # Ties go to the first feature, whichever row the root came from.
        better = (value < best) | ((value == best) & (feature < where) & np.isfinite(value))
        best[better], where[better] = value[better], feature[better]
        step[better] = candidate[np.arange(n), feature][better]
    steps = np.zeros((n, d))
    steps[np.arange(n), where] = np.where(np.isfinite(best), step, 0.0)
    return steps, best


def _candidates(shifted: Shifted) -> list[FloatArray]:
    """Return the roots of each row along each feature, shape (n, d) each; NaN where none."""
    candidates = [np.zeros_like(shifted.start)]
    for k in range(shifted.values.shape[1]):
        a, b, c = _coefficients(shifted, k)
        candidates += real_roots(a, b, c)
    return candidates


def _coefficients(shifted: Shifted, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    quadratic = k < len(shifted.forms)
    a = np.diagonal(shifted.forms[k]) if quadratic else np.zeros(shifted.start.shape[1])
    return a, shifted.slopes[:, k], shifted.values[:, k, None]


def _allowed(shifted: Shifted, s: FloatArray) -> FloatArray:
    """Return whether each single step satisfies every row and the bounds."""
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = np.isfinite(s) & (s <= shifted.up) & (s >= -shifted.down)
        for k in range(shifted.values.shape[1]):
            a, b, c = _coefficients(shifted, k)
            square, linear = a * s * s, b * s
            size = np.abs(square) + np.abs(linear) + np.abs(c)
            allowed &= square + linear + c <= ROOT_ROUNDING * size
    return np.asarray(allowed)


def _on_a_line(task: Task) -> BoolArray:
    """Return where at most one feature may move.

    With a single feature in all, the solvers are as good, and look at all centers at once.
    """
    most = 1 if task.cell.dim > 1 else 0
    return np.asarray((task.upper > task.lower).sum(axis=1) <= most)


def _nearest_roots(task: Task, so_far: Solved) -> Solved:
    """Return the best changes of one feature, proved by halving."""
    shifted = shift(task)
    steps, costs = single_changes(shifted)
    inside = (shifted.values <= 0).all(axis=1) & ~shifted.contradictory
    steps[inside], costs[inside] = 0.0, 0.0
    costs[shifted.contradictory] = np.inf
    points, found = np.full(task.centers.shape, np.nan), np.isfinite(costs)
    outcome = np.where(found, TROUBLE, EMPTY).astype(np.int8)
    for i in np.flatnonzero(found):
        point = point_inside(shifted, int(i), steps[i])
        if point is not None:
            points[i], outcome[i] = point, SOLVED
    claimed = np.where(found, shifted.base + np.where(found, costs, 0.0) * PROVED_ON_LINE, np.inf)
    return Solved(points, outcome, HalvingProofs(claimed))


#: The rows in which at most one feature may move, in closed form.
LINES = Stage(_nearest_roots, _on_a_line)
