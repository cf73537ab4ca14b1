"""What each cell costs each row, and which cells are allowed: the plain reading of a task.

All cells of all columns stand one column after the other. A column of a group of categories has
two places, its values 0 and 1, whatever its cuts are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.task import Task


@dataclass(frozen=True, eq=False)
class Tables:
    """The places of each row, column by column.

    Parameters
    ----------
    offset : ndarray of int, shape (n_columns + 1,)
        Where the places of each column begin.
    cost : ndarray of shape (n, n_places)
        Cost of the nearest allowed value of each place; meaningless where none is allowed.
    value : ndarray of shape (n, n_places)
    up, down : ndarray of int, shape (n, n_places)
        The next allowed place of the column from each place on, upwards and downwards; beyond the
        column where there is none.
    near : ndarray of int, shape (n, n_columns)
        The allowed place that costs least; costs never fall with the distance from it.
    fixed : ndarray of shape (n,)
        What every point of a row costs beside, see `_choose_one`.
    """

    offset: IntArray
    cost: FloatArray
    value: FloatArray
    up: IntArray
    down: IntArray
    near: IntArray
    fixed: FloatArray

    @classmethod
    def of(cls, task: Task, region: EnsembleRegion) -> Tables:
        """Return the tables of all rows of a task."""
        domain, n = task.domain, len(task)
        values, allowed = [], []
        for j in range(region.dim):
            value, fits = _column(task, region, domain, j)
            values.append(value)
            allowed.append(fits)
        offset = np.concatenate([[0], np.cumsum([value.shape[1] for value in values])])
        value, fits = np.hstack(values), np.hstack(allowed)
        column = np.repeat(np.arange(region.dim), np.diff(offset))
        with np.errstate(invalid="ignore"):
            away = np.abs(value - task.centers[:, column])
            cost = task.weights[column] * away
        fixed = np.zeros(n)
        for group in () if domain is None else domain.groups:
            own = task.centers[:, group] == 1
            paid, first = _choose_one(offset[group], cost, fits, own)
            fixed += paid
            # The cheapest category is 1, all others 0: a tie must not make it look changed.
            away[:, offset[group]], away[:, offset[group] + 1] = first, ~first
        up, down, near = np.empty_like(value, dtype=np.int64), np.empty_like(value, np.int64), []
        for a, b in pairwise(offset):
            up[:, a:b], down[:, a:b] = _next_allowed(fits[:, a:b])
            # By distance, not by cost: a column that costs nothing still changes if it moves.
            near.append(np.where(fits[:, a:b], away[:, a:b], np.inf).argmin(axis=1))
        return cls(offset, cost, value, up, down, np.stack(near, axis=1), fixed)


def _column(
    task: Task, region: EnsembleRegion, domain: Domain | None, j: int
) -> tuple[FloatArray, BoolArray]:
    """Return the allowed value next to the center in each place, and whether there is one."""
    low, high = region.ends[j]
    if domain is not None and domain.in_group[j]:
        value = np.array([0.0, 1.0])
        cell = np.searchsorted(region.ensemble.cuts[j], value)
        low, high = low[cell], high[cell]
        value = np.broadcast_to(value, (len(task), 2))
        least = np.maximum(low, task.lower[:, [j]])
        return value, (value >= least) & (value <= np.minimum(high, task.upper[:, [j]]))
    least = np.maximum(low, task.lower[:, [j]])
    most = np.minimum(high, task.upper[:, [j]])
    center = task.centers[:, [j]]
    value = np.clip(center, least, np.maximum(least, most))
    if domain is not None and j in domain.confined:
        row = np.arange(len(task))[:, None]
        below, above = domain.floor(j, value, row), domain.ceil(j, value, row)
        fits_below, fits_above = (below >= least) & (below <= most), above <= most
        lower_is_nearer = np.abs(below - center) <= np.abs(above - center)
        value = np.where(fits_below & (lower_is_nearer | ~fits_above), below, above)
        return value, fits_below | fits_above
    return value, least <= most


def _choose_one(
    at: IntArray, cost: FloatArray, fits: BoolArray, own: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Rewrite the costs of a group, of which exactly one column is 1.

    Return what all pay, and which category is the cheapest: of several the own one.

    With A_j the cost of column j at 1 and B_j at 0, category j costs ``sum B + A_j - B_j``. Let o
    be the cheapest category and m what the second costs more. Then all pay what o costs, column o
    at 0 pays m, and any other column at 1 pays what it costs more than o, less m. For every choice
    of exactly one column the sum is the same as before.
    """
    extra = cost[:, at + 1] - cost[:, at]
    total = cost[:, at].sum(axis=1)
    forced = ~fits[:, at]
    can = fits[:, at + 1] & (forced.sum(axis=1, keepdims=True) == forced)
    ranked = np.where(can, extra, np.inf)
    tied = ranked == ranked.min(axis=1, keepdims=True)
    best = np.where((tied & own).any(axis=1), own.argmax(axis=1), tied.argmax(axis=1))
    row = np.arange(len(cost))
    least = ranked[row, best]
    ranked[row, best] = np.inf
    second = ranked.min(axis=1) - least
    second = np.where(np.isfinite(second), second, 0.0)
    some = np.isfinite(least)
    least = np.where(some, least, 0.0)
    ones = np.where(can, np.maximum(extra - (least + second)[:, None], 0.0), 0.0)
    ones[row, best] = 0.0
    cost[:, at], cost[:, at + 1] = 0.0, ones
    cost[row, at[best]] = second
    return np.where(some, total + least, 0.0), best[:, None] == np.arange(len(at))


def _next_allowed(fits: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the next allowed place from each place on, upwards and downwards."""
    places = np.arange(fits.shape[1])
    down = np.maximum.accumulate(np.where(fits, places, -1), axis=1)
    beyond = np.where(fits, places, len(places))
    up = np.minimum.accumulate(beyond[:, ::-1], axis=1)[:, ::-1]
    return up, down
