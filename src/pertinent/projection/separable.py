"""Cells whose rows are sums over features: Gaussian naive Bayes and what is as simple.

Whether a cell is separable is seen from its rows, not from the model: bounds and scalers keep
it so. One row alone is solved to proved optimality by `pertinent.projection.boxes`, all centers
at once. With several rows the local answer comes from the convex-concave procedure, and boxes
prove a bound from the combination of rows that its multipliers name.
"""

from __future__ import annotations

import numpy as np

from pertinent._typing import BoolArray, FloatArray
from pertinent.certificate import SeveralProofs
from pertinent.projection.boxes import BoxSearch, aggregate
from pertinent.projection.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.projection.quadratic import solve_quadratic
from pertinent.projection.settle import settle
from pertinent.projection.shifted import Shifted, shift
from pertinent.projection.single import single_changes
from pertinent.projection.stationary import multipliers_at
from pertinent.regions import Cell


def is_separable(cell: Cell) -> bool:
    """Return whether no row couples two features in its quadratic part.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.projection.separable import is_separable
    >>> from pertinent.regions import Cell, Quadratic
    >>> row = Quadratic.from_matrix(np.diag([1.0, -2.0]), np.zeros(2), 1.0)
    >>> is_separable(Cell(np.zeros((0, 2)), np.zeros(0), (row,)))
    True
    """
    return all(bool((np.diag(np.diagonal(row.A)) == row.A).all()) for row in cell.quadratics)


def solve_separable_row(task: Task) -> Solved:
    """Return the proved optimum of every center, for a cell with one separable row."""
    shifted = shift(task)
    steps, best = single_changes(shifted)
    inside = shifted.values[:, 0] <= 0
    steps[inside], best[inside] = 0.0, 0.0
    mix = np.ones((len(task), 1))
    search = BoxSearch([aggregate(shifted, mix)], [mix], best, steps, single=True)
    search.run()
    proofs = search.proofs()
    found = np.isfinite(search.best) & ~shifted.contradictory
    points = _settled(shifted, search.steps, found)
    outcome = np.where(found & ~np.isnan(points).any(axis=1), SOLVED, TROUBLE).astype(np.int8)
    outcome[~found] = EMPTY
    return Solved(points, outcome, proofs)


def solve_separable(task: Task) -> Solved:
    """Return local optima of a cell with several separable rows, with the best bound found."""
    local = solve_quadratic(task)
    shifted = shift(task)
    solved = local.outcome == SOLVED
    mix = np.zeros(shifted.values.shape)
    steps = (np.nan_to_num(local.points) - shifted.start) * task.weights
    for i in np.flatnonzero(solved):
        mix[i] = multipliers_at(shifted.row(int(i)), steps[i])
    best = np.where(solved, np.abs(steps).sum(axis=1), np.inf)
    bound = (
        local.proofs.bounds(task.cell, task.centers, task.weights, task.lower, task.upper)
        - shifted.base
    )
    rows = np.flatnonzero(solved & (bound < best * (1 - 1e-4)) & (mix.sum(axis=1) > 0))
    if not len(rows):
        return local
    part = shift(task.take(rows))
    units = np.eye(len(mix[0]))
    mixes = [mix[rows], *(np.tile(unit, (len(rows), 1)) for unit in units)]
    combined = [aggregate(part, combination) for combination in mixes]
    search = BoxSearch(combined, mixes, best[rows], steps[rows], single=False)
    search.run()
    everyone = np.arange(len(task))
    proofs = SeveralProofs(len(task), ((everyone, local.proofs), (rows, search.proofs())))
    return Solved(local.points, local.outcome, proofs)


def _settled(shifted: Shifted, steps: FloatArray, found: BoolArray) -> FloatArray:
    """Return the points of all steps, moved by rounding-sized amounts until inside."""
    cell = shifted.task.cell
    points = np.where(found[:, None], shifted.points(steps), np.nan)
    outside = np.flatnonzero(found & ~cell.contains(np.nan_to_num(points)))
    for growth in (1e-15, 4e-15, 1.6e-14, 6.4e-14):
        if not len(outside):
            return points
        longer = np.clip(steps[outside] * (1 + growth), -shifted.down[outside], shifted.up[outside])
        full = steps.copy()
        full[outside] = longer
        moved = shifted.points(full)[outside]
        good = cell.contains(moved)
        points[outside[good]] = moved[good]
        outside = outside[~good]
    for i in outside:
        point = settle(shifted, int(i), steps[i])
        points[i] = np.nan if point is None else point
    return points
