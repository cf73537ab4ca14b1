"""Cells whose rows are sums over features: Gaussian naive Bayes and what is as simple.

Whether a cell is separable is seen from its rows, not from the model: bounds and scalers keep
it so. One row alone is solved to proved optimality by `separable.boxes`, all centers
at once. With several rows the local answer comes from the convex-concave procedure, and boxes
prove a bound from the combination of rows that its multipliers name.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.running import is_over
from pertinent.proofs import Proofs, SeveralProofs, SweepProofs, TangentProofs
from pertinent.solvers.curved.copositive.quadratic import local_row, prove_row
from pertinent.solvers.curved.few import single_changes
from pertinent.solvers.curved.lagrange import prove_nothing
from pertinent.solvers.curved.separable.boxes import (
    Aggregate,
    BoxSearch,
    aggregate,
)
from pertinent.solvers.curved.separable.sweep import (
    FEW_TOUCHES,
    MANY_TOUCHES,
    closed_form,
    sweep_proofs,
    sweeps_hold,
)
from pertinent.solvers.curved.shifted import Shifted, shift, tangent_bounds
from pertinent.solvers.curved.stationary import multipliers_at, point_inside
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.tolerances import GROWTHS, PROVED_BY_BOXES, PROVED_BY_CONVEX_BOXES

#: Boxes that one center may have open at the same time, in the first and in the last try.
FIRST_OPEN, LAST_OPEN = 40, 300
#: With no more centers than this, many slopes at once take less time than two tries.
FEW_CENTERS = 24
#: Where boxes prove less than this share of the best cost, copositivity may prove more.
POOR = 0.9


def is_diagonal(row: Quadratic, rounding: float = 0.0) -> bool:
    """Return whether entries off the diagonal are at most this share of the largest."""
    size = np.abs(row.A)
    return bool((size - np.diag(np.diagonal(size))).max() <= rounding * size.max())


def is_separable(cell: Cell, rounding: float = 0.0) -> bool:
    """Return whether no row couples two features, but for entries of this relative size.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.solvers.curved.separable.separable import is_separable
    >>> from pertinent.geometry.region import Cell, Quadratic
    >>> row = Quadratic.from_matrix(np.diag([1.0, -2.0]), np.zeros(2), 1.0)
    >>> is_separable(Cell(np.zeros((0, 2)), np.zeros(0), (row,)))
    True
    """
    return not cell.exponentials and all(is_diagonal(row, rounding) for row in cell.quadratics)


def solve_separable_row(task: Task) -> Solved:
    """Return the proved optimum of every center, for a cell with one separable row.

    Where no bound is in the way the optimum has a closed form, and a sweep proves it; the other
    centers are left to branch and bound over boxes.
    """
    shifted = shift(task)
    n = len(task)
    row = aggregate(shifted, np.ones((n, 1)))
    share = PROVED_BY_CONVEX_BOXES if task.cell.is_convex else PROVED_BY_BOXES
    inside, sizes = shifted.values[:, 0] <= 0, shifted.sizes()[:, 0]
    steps, best, _ = closed_form(row)
    steps[inside], best[inside] = 0.0, 0.0
    # Where the start is inside, a sweep of nothing proves what entering the bounds costs.
    still = ~inside
    here, left = inside.nonzero()[0], still.nonzero()[0]
    nothing, bound = SweepProofs(np.zeros(len(here)), np.zeros((len(here), 1))), shifted.base.copy()
    parts: list[tuple[IntArray, Proofs]] = [(here, nothing)] if len(here) else []
    for where in (MANY_TOUCHES,) if len(left) <= FEW_CENTERS else (FEW_TOUCHES, MANY_TOUCHES):
        rows = left[np.isfinite(best[left])]
        if len(rows):
            sweeps = sweep_proofs(row.take(rows), steps[rows], best[rows] * share, where)
            proved = np.flatnonzero(sweeps_hold(row.take(rows), sizes[rows], sweeps))
            parts.append((rows[proved], sweeps.take(proved)))
            bound[rows[proved]] += sweeps.radius[proved]
            still[rows[proved]] = False
            left = still.nonzero()[0]
    if len(left):
        search = _box_row(task.take(left), steps[left], best[left], share)
        parts.append((left, search.proofs()))
        bound[left] += search.radius()
        steps[left], best[left] = search.steps, search.best
    found = np.isfinite(best) & ~shifted.contradictory
    points = _points_inside(shifted, steps, found)
    outcome = np.where(found & ~np.isnan(points).any(axis=1), SOLVED, TROUBLE).astype(np.int8)
    outcome[~found] = EMPTY
    if task.cell.is_convex and not found.all():
        nowhere = np.flatnonzero(~found)
        some, proofs = task.take(nowhere), _emptiness(task.take(nowhere), row, nowhere)
        parts.append((nowhere, proofs))
        said = tangent_bounds(shift(some), proofs.tangents, proofs.multipliers, proofs.ray)
        bound[nowhere] = np.maximum(bound[nowhere], said)
    bound[shifted.contradictory] = np.inf
    return Solved(points, outcome, SeveralProofs(n, tuple(parts)), bound)


def _emptiness(task: Task, row: Aggregate, which: IntArray) -> TangentProofs:
    """Return the tangent at the lowest point of a convex row: above 0, so is the row itself."""
    a, g = row.a[which], row.g[which]
    lowest = np.where(a > 0, -g / np.where(a > 0, 2 * a, 1.0), 0.0) / task.weights
    lowest = np.clip(task.start() + lowest, task.lower, task.upper)
    touched = task.cell.quadratics[0].image(lowest)
    return TangentProofs((touched,), np.ones((len(which), 1)), np.ones(len(which), dtype=bool))


def _box_row(task: Task, steps: FloatArray, best: FloatArray, share: float) -> BoxSearch:
    """Return the search over boxes, from the better of the given and of single changes."""
    shifted = shift(task)
    single, cost = single_changes(shifted)
    better = cost < best
    mix = np.ones((len(task), 1))
    search = BoxSearch(
        [aggregate(shifted, mix)],
        [mix],
        np.where(better, cost, best),
        np.where(better[:, None], single, steps),
        single=True,
        share=share,
        sizes=shifted.sizes()[:, 0],
    )
    search.run(task.options)
    return search


def solve_separable(task: Task) -> Solved:
    """Return local optima of a cell with several separable rows, proved global by boxes.

    The best change of one feature is tried first; where boxes do not close below it, the
    convex-concave procedure looks for something better, and boxes are tried once more.
    """
    shifted = shift(task)
    steps, best = single_changes(shifted)
    inside = (shifted.values <= 0).all(axis=1)
    steps[inside], best[inside] = 0.0, 0.0
    first, bound = _prove(shifted, steps, best, FIRST_OPEN), shifted.base.copy()
    bound += first.radius()
    parts: list[tuple[IntArray, Proofs]] = [(np.arange(len(task)), first.proofs())]
    rows = np.flatnonzero(~first.closed() & ~inside & ~shifted.contradictory)
    for k, i in enumerate(rows):
        if k and is_over():  # one row is tried, whatever the time
            break
        better = local_row(shifted, int(i), steps[i] if np.isfinite(best[i]) else None)
        if better is not None:
            steps[i], best[i] = better, np.abs(better).sum()
    if len(rows):
        again = _prove(shift(task.take(rows)), steps[rows], best[rows], LAST_OPEN)
        proofs = again.proofs()
        parts.append((rows, proofs))
        bound[rows] = np.maximum(bound[rows], shifted.base[rows] + again.radius())
        for i in rows[np.isfinite(best[rows]) & (proofs.radius < POOR * best[rows])]:
            if is_over():
                break
            proof, proved = prove_row(shifted, int(i), steps[i], thoroughly=False)
            parts.append((np.array([i]), proof))
            bound[i] = max(bound[i], proved)
    found = np.isfinite(best) & ~shifted.contradictory
    points = _points_inside(shifted, steps, found)
    outcome = np.where(found & ~np.isnan(points).any(axis=1), SOLVED, TROUBLE).astype(np.int8)
    outcome[shifted.contradictory] = EMPTY
    for k, i in enumerate(rows[~found[rows]]):
        if k and is_over():
            break
        nothing = prove_nothing(shifted, int(i))
        if nothing is not None:
            parts.append((np.array([i]), nothing))
            outcome[i], bound[i] = EMPTY, np.inf
    bound[shifted.contradictory] = np.inf
    return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)), bound)


def _prove(shifted: Shifted, steps: FloatArray, best: FloatArray, open_: int) -> BoxSearch:
    """Return the search over boxes that uses the steps' multipliers, and each row alone."""
    n, m = shifted.values.shape
    mix = np.zeros((n, m))
    for i in np.flatnonzero(np.isfinite(best)):
        mix[i] = multipliers_at(shifted.row(int(i)), steps[i])
    units = [np.tile(unit, (n, 1)) for unit in np.eye(m)]
    bare = mix.sum(axis=1) == 0
    mix[bare] = 1.0 / np.maximum(np.abs(shifted.values[bare]), 1e-300)
    mixes = [mix, *units]
    sizes = shifted.sizes()
    rows = [aggregate(shifted, combination, sizes) for combination in mixes]
    # Each box costs m passes over d features: allow fewer where that is much.
    limit = max(8, int(open_ * min(1.0, 150 / (m * shifted.start.shape[1]))))
    search = BoxSearch(rows, mixes, best, steps, single=False, limit=limit)
    search.run(shifted.task.options)
    return search


def _points_inside(shifted: Shifted, steps: FloatArray, found: BoolArray) -> FloatArray:
    """Return the points of all steps, moved by rounding-sized amounts until inside."""
    cell = shifted.task.cell
    points = np.where(found[:, None], shifted.points(steps), np.nan)
    outside = np.flatnonzero(found & ~cell.contains(np.nan_to_num(points)))
    for growth in GROWTHS:
        if not len(outside):
            return points
        moved = shifted.points(steps[outside] * (1 + growth), outside)
        good = cell.contains(moved)
        points[outside[good]] = moved[good]
        outside = outside[~good]
    for i in outside:
        point = point_inside(shifted, int(i), steps[i])
        points[i] = np.nan if point is None else point
    return points
