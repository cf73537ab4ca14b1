"""Few features that move: one in closed form, up to three by a search of all space.

Along one feature every row is ``a s^2 + b s + c <= 0``, so the allowed steps are intervals whose
ends are roots: the nearest allowed root over all features is the best change of a single feature.
Where all other features are held, it is the answer to the whole question, and no root means no
point. With up to three features left to move, boxes of them are halved until each is known to hold
nothing better (`pertinent.solvers.curved.halving`): the convex-concave procedure may have missed a
point, or a copositivity proof may not have closed.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.running import is_over
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.halving import closes, find, improve, restricted
from pertinent.solvers.curved.lagrange import prove_nothing
from pertinent.solvers.curved.shifted import Shifted, real_roots, shift
from pertinent.solvers.curved.stationary import point_inside
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.stages import Part, Stage, spread
from pertinent.solvers.tolerances import PROVED, PROVED_ON_LINE, ROOT_ROUNDING

#: With more features than this free to move there are too many boxes.
MOST_FREE = 3


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
    bound = shifted.base.copy()
    for i in np.flatnonzero(claimed > bound):
        if closes(task.take(np.array([i])), claimed[i]):
            bound[i] = claimed[i]
    return Solved(points, outcome, HalvingProofs(claimed), bound)


#: The rows in which at most one feature may move, in closed form.
LINES = Stage(_nearest_roots, _on_a_line)


def _has_few_free(task: Task) -> BoolArray:
    free = (task.upper > task.lower).sum(axis=1)
    return np.asarray((free >= 1) & (free <= MOST_FREE))


def _search_all(task: Task, so_far: Solved) -> Solved:
    """Return what a search of all space finds, one row at a time."""
    n = len(task)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    parts, bound = list[Part](), np.zeros(n)
    for i in range(n):
        if is_over():
            break
        one = np.array([i])
        known = so_far.points[i] if so_far.outcome[i] == SOLVED else None
        point, proofs, bound[i] = _search(shift(task.take(one)), known)
        if proofs is not None:
            parts.append((one, proofs))
            outcome[i] = EMPTY
        if point is not None:
            points[i], outcome[i] = point, SOLVED
    return Solved(points, outcome, spread(n, parts), bound)


#: All of the space, where at most three features may move.
FEW_FREE = Stage(_search_all, _has_few_free)


def _search(
    shifted: Shifted, known: FloatArray | None
) -> tuple[FloatArray | None, Proofs | None, float]:
    """Return the best point of one center and a proof, if there are any, and its bound."""
    task, whole = shifted.task, shifted.row(0)
    if known is None:
        nothing = prove_nothing(shifted, 0)
        if nothing is not None:
            return None, nothing, np.inf
    free = np.flatnonzero((whole.up > 0) | (whole.down > 0))
    local = restricted(whole, free)
    step = None if known is None else ((known - shifted.start[0]) * task.weights)[free]
    if step is None:
        step = find(local)
    if step is None:
        return None, None, 0.0
    step, is_best = improve(local, step)
    full = np.zeros(whole.dim)
    full[free] = step
    point = point_inside(shifted, 0, full)
    if point is None:
        return known, None, 0.0
    claim = distance(point[None], task.centers, task.weights) * PROVED
    holds = is_best or closes(task, float(claim[0]))
    return point, HalvingProofs(claim), float(claim[0]) if holds else 0.0
