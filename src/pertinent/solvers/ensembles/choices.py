"""What each column of one row may choose: one value in every cell that it may be in.

Within a cell all values are alike to the trees, so the nearest allowed one is enough. A column of
a group of categories chooses 0 or 1. Choices are numbered from the lowest to the highest value;
those of all columns stand one column after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.task import Task


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of one row.

    Parameters
    ----------
    value, cost : ndarray of shape (n_choices,)
        Costs never fall with the distance from the column's ``center``.
    cell : ndarray of int, shape (n_choices,)
        The cell that each value lies in; ascending within a column.
    offset : ndarray of int, shape (n_columns + 1,)
    center : ndarray of int, shape (n_columns,)
        The cheapest choice of each column.
    first, last : ndarray of int, shape (n_columns,)
        Which choices are allowed at all: all of them, but for columns of categories, whose
        choices are always the values 0 and 1. Nothing is, if any ``first > last``.
    fixed : float
        What every point costs beside: columns of categories cost as much as the cheapest one.
    """

    value: FloatArray
    cost: FloatArray
    cell: IntArray
    offset: IntArray
    center: IntArray
    first: IntArray
    last: IntArray
    fixed: float

    def points(self, chosen: IntArray) -> FloatArray:
        """Return the values of one choice for each column."""
        return np.asarray(self.value[self.offset[:-1] + chosen])


def choices_of(region: EnsembleRegion, task: Task, row: int) -> Choices:
    """Return the choices of one row of a task."""
    domain = None if task.domain is None else task.domain.take(np.array([row]))
    columns = [_of_column(region, task, domain, row, j) for j in range(region.dim)]
    sizes = np.array([len(value) for value, _ in columns])
    value = np.concatenate([value for value, _ in columns])
    cell = np.concatenate([cell for _, cell in columns])
    column, offset = np.repeat(np.arange(region.dim), sizes), np.concatenate([[0], sizes.cumsum()])
    away = np.abs(value - task.centers[row, column])
    cost = task.weights[column] * away
    first, last, fixed = np.zeros(region.dim, dtype=np.int64), sizes - 1, 0.0
    for group in () if domain is None else domain.groups:
        for j in group:
            allowed = _allowed_categories(region, task, row, int(j), cell[offset[j] :][:2])
            first[j], last[j] = (0 if allowed[0] else 1), (1 if allowed[1] else 0)
        own = task.centers[row, group] == 1
        paid, best = _share_costs(cost, offset[group], first[group], last[group], own)
        fixed += paid
        # The cheapest category is 1, all others 0: a tie must not make it look changed.
        away[offset[group]], away[offset[group] + 1] = best, ~best
    # By distance, not by cost: a column that costs nothing still changes if it moves.
    center = np.array([int(away[a:b].argmin()) if b > a else 0 for a, b in pairwise(offset)])
    return Choices(value, cost, cell, offset, center, first, last, fixed)


def _of_column(
    region: EnsembleRegion, task: Task, domain: Domain | None, row: int, j: int
) -> tuple[FloatArray, IntArray]:
    """Return the nearest allowed value of each cell of a column, and the cells that have one."""
    if domain is not None and domain.in_group[j]:
        value = np.array([0.0, 1.0])
        return value, np.searchsorted(region.ensemble.cuts[j], value)
    center, (low, high) = task.centers[row, j], region.ends[j]
    least, most = np.maximum(low, task.lower[row, j]), np.minimum(high, task.upper[row, j])
    value = np.minimum(np.maximum(center, least), most)
    if domain is not None and j in domain.confined:
        value = _nearest_allowed(domain, j, value, center, (least, most))
    cell = np.flatnonzero((value >= least) & (value <= most))
    return value[cell], cell


def _allowed_categories(
    region: EnsembleRegion, task: Task, row: int, j: int, cell: IntArray
) -> BoolArray:
    """Return whether a column of a group may be 0, and whether it may be 1."""
    value, (low, high) = np.array([0.0, 1.0]), region.ends[j]
    least, most = np.maximum(low[cell], task.lower[row, j]), high[cell]
    return np.asarray((value >= least) & (value <= np.minimum(most, task.upper[row, j])))


def _nearest_allowed(
    domain: Domain, j: int, value: FloatArray, center: float, limits: Limits
) -> FloatArray:
    """Return the allowed numbers next to the center in each cell; NaN where there is none."""
    below, above = domain.floor(j, value, 0), domain.ceil(j, value, 0)
    least, most = limits
    below = np.where((below >= least) & (below <= most), below, np.nan)
    above = np.where((above >= least) & (above <= most), above, np.nan)
    use_below = np.abs(below - center) <= np.abs(above - center)
    return np.where(np.isnan(above) | use_below, below, above)


def _share_costs(
    cost: FloatArray, at: IntArray, first: IntArray, last: IntArray, own: BoolArray
) -> tuple[float, BoolArray]:
    """Move the costs of one group to where bounds see them.

    Return what every point pays, and which category is the cheapest: of several the own one.

    With A_j the cost of column j at 1 and B_j at 0, category j costs ``sum B + A_j - B_j``. The
    cheapest one pays nothing beside what is fixed, leaving it costs what the next one costs more,
    and any other one what it costs more than that. Exactly one is chosen, so sums stay the same.
    """
    extra = cost[at + 1] - cost[at]
    can = (last == 1) & ((first == 1).sum() == (first == 1))
    if not can.any():
        return 0.0, own
    order = np.flatnonzero(can)[np.lexsort((~own[can], extra[can]))]
    best = order[0]
    second = extra[order[1]] - extra[best] if len(order) > 1 else 0.0
    fixed = float(cost[at].sum() + extra[best])
    cost[at], cost[at + 1] = 0.0, np.maximum(extra - extra[best] - second, 0.0)
    cost[at[best]], cost[at[best] + 1] = second, 0.0
    return fixed, np.arange(len(at)) == best
