"""The best change of a single feature, in closed form, for all centers at once.

Along one feature every row is ``a s^2 + b s + c <= 0``, so the allowed steps are intervals whose
ends are roots: the nearest allowed root over all features is the answer. Where all other
features are held, it is the answer to the whole question, and no root means no point.
"""

from __future__ import annotations

from functools import wraps

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs import Proofs, SeveralProofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.settle import settle
from pertinent.solvers.curved.shifted import Shifted, shift
from pertinent.solvers.problem import EMPTY, SOLVED, Solved, Solver, Task

#: A root satisfies its own row up to this share of the row's terms.
ROOT = 1e-12
#: The cost to prove, relative to that of the root: the closest first.
SHARES = (1 - 1e-9, 1 - 1e-7, 1 - 4e-5)


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
        with np.errstate(invalid="ignore", divide="ignore"):
            # The stable pair: no difference of nearly equal numbers.
            half = -0.5 * (b + np.where(b >= 0, 1.0, -1.0) * np.sqrt(b * b - 4 * a * c))
            candidates += [half / a, c / half]
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
            allowed &= square + linear + c <= ROOT * size
    return np.asarray(allowed)


def lines_first(solver: Solver) -> Solver:
    """Return the solver, called only where more than one feature may move.

    With a single feature in all, the solvers are as good, and look at all centers at once. Rows
    about which the line leaves something open go to the solver as well.
    """

    @wraps(solver)
    def solve(task: Task) -> Solved:
        most = 1 if task.cell.dim > 1 else 0
        few = np.flatnonzero((task.upper > task.lower).sum(axis=1) <= most)
        if not len(few):
            return solver(task)
        line, done = _on_lines(task.take(few))
        if len(few) == len(task) and done.all():
            return line
        points, outcome = np.full(task.centers.shape, np.nan), np.zeros(len(task), dtype=np.int8)
        points[few], outcome[few] = line.points, line.outcome
        parts: list[tuple[IntArray, Proofs]] = [(few, line.proofs)]
        left = np.setdiff1d(np.arange(len(task)), few[done])
        answer = solver(task.take(left))
        points[left], outcome[left] = answer.points, answer.outcome
        parts.append((left, answer.proofs))
        return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)))

    return solve


def _on_lines(task: Task) -> tuple[Solved, BoolArray]:
    """Return the answers where at most one feature moves, and which of them are proved."""
    shifted = shift(task)
    steps, costs = single_changes(shifted)
    inside = (shifted.values <= 0).all(axis=1) & ~shifted.contradictory
    steps[inside], costs[inside] = 0.0, 0.0
    costs[shifted.contradictory] = np.inf
    points, claimed = np.full(task.centers.shape, np.nan), np.full(len(task), np.inf)
    found = np.isfinite(costs)
    for i in np.flatnonzero(found):
        point = settle(shifted, int(i), steps[i])
        if point is not None:
            points[i] = point
    open_ = np.ones(len(task), dtype=bool)
    for share in SHARES:
        claimed[open_ & found] = (shifted.base + costs * share)[open_ & found]
        open_ &= HalvingProofs(np.where(open_, claimed, 0.0)).bounds(task) < claimed
        if not open_[found].any():
            break
    claimed[open_] = 0.0
    outcome = np.where(found, SOLVED, EMPTY).astype(np.int8)
    done = ~open_ & (~found | ~np.isnan(points).any(axis=1))
    return Solved(points, outcome, HalvingProofs(claimed)), done
