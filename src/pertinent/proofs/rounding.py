"""What rounding may have added to a bound, for all proofs by one combined row.

A proof adds up rows with multipliers ``y >= 0`` to one row ``excess + slopes'(x - start) <= 0``.
In floating point its value at x is off by at most

    unit ( at_start + sum_i terms_i |x_i - start_i| ),

where ``terms`` and ``at_start`` are the sums of the absolute values of what was added up to the
slopes and to the excess: ``y'|G|`` and ``y'(|G| |start| + |h|)``. A bound t is lowered by the most
of this over all x that cost at most t. A point of the cell that costs at most t then costs at least
what is left, and all others cost more than t. With ``r = t - cost(start)``

    sum_i terms_i |x_i - start_i|  <=  r max_i terms_i / w_i,

since ``cost(x) = cost(start) + sum_i w_i |x_i - start_i|`` within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import SHARED, FloatArray, Rows
from pertinent.geometry.region import Cell, Quadratic, row_products
from pertinent.geometry.rounding import ROUNDOFF
from pertinent.geometry.task import Task, distance
from pertinent.proofs.tolerances import LITTLE_LOST, REACH


def rounding_unit(dim: int, rows: int) -> float:
    """Return by what share of its terms a sum over features and rows may be off, twice over."""
    return 2 * (dim + rows + 8) * ROUNDOFF


@dataclass(frozen=True, eq=False)
class Terms(Rows):
    """The sizes of what was added up to one row for each center.

    Parameters
    ----------
    slopes : ndarray of shape (n, n_features)
        Of each slope.
    at_start : ndarray of shape (n,)
        Of the excess.
    count : int
        How many rows were added up.
    """

    slopes: FloatArray
    at_start: FloatArray
    count: int = field(metadata=SHARED)

    def lowered(self, proved: FloatArray, cost: FloatArray, task: Task) -> FloatArray:
        """Return bounds that rounding cannot have raised; ``cost`` is that of the start.

        The steepest feature for everything there is to be paid is known in no time, and enough
        unless features have unlike units, or cost nothing.
        """
        rise = np.maximum(proved - cost, 0.0)
        if not task.weights.all():
            return self.lowered_by(proved, rise, task, task.start())
        steepest = (self.slopes / task.weights).max(axis=1, initial=0.0)
        total = rise * steepest + np.abs(proved) + self.at_start
        loss = rounding_unit(self.slopes.shape[1], self.count) * total
        enough = loss <= LITTLE_LOST * proved
        if np.count_nonzero(enough) == len(enough):
            return np.asarray(proved - loss)
        # Row by row: a bound does not depend on who else is in the batch.
        left, lowered = (~enough).nonzero()[0], proved - loss
        some = task.take(left)
        lowered[left] = self.take(left).lowered_by(proved[left], rise[left], some, some.start())
        return np.asarray(lowered)

    def lowered_by(
        self, proved: FloatArray, rise: FloatArray, task: Task, start: FloatArray
    ) -> FloatArray:
        """Return the same where all that counts is within a cost of ``rise`` of a start."""
        weights, free = task.weights, task.weights <= 0
        steepest = self.slopes / np.where(free, np.inf, weights)
        room = np.maximum(task.upper - start, start - task.lower)
        # What costs nothing, or less than its bounds leave to be paid, may be anywhere in them.
        within = free | (room * np.where(free, 1.0, weights) < rise[:, None])
        room = np.where(np.isinf(room), REACH * (1.0 + np.abs(start)), room)
        anywhere = np.where(within, self.slopes * room, 0.0).sum(axis=1)
        beyond = np.where(within, 0.0, steepest).max(axis=1, initial=0.0)
        total = rise * beyond + anywhere
        if not free.any():  # either is enough
            total = np.minimum(total, rise * steepest.max(axis=1, initial=0.0))
        total = total + np.abs(proved) + self.at_start
        return np.asarray(proved - rounding_unit(start.shape[1], self.count) * total)

    def rounded(self, reach: FloatArray) -> FloatArray:
        """Return by how much each row may be off where each feature moves by a reach at most."""
        unit = rounding_unit(reach.shape[1], self.count)
        return np.asarray(unit * (self.at_start + _products(self.slopes, reach)))


@dataclass(frozen=True, eq=False)
class RowTerms:
    """The sizes of what is added up to ``y'(G x - h)``, worked out where they are needed.

    Parameters
    ----------
    y : ndarray of shape (n, n_rows)
    cell : Cell
        With the rows ``G x <= h``.
    start : ndarray of shape (n, n_features)
    """

    y: FloatArray
    cell: Cell
    start: FloatArray

    @cached_property
    def full(self) -> Terms:
        """The sizes themselves."""
        slopes = row_products(self.y, np.ascontiguousarray(np.abs(self.cell.G).T))
        at_start = np.einsum("nd,nd->n", slopes, np.abs(self.start))
        at_start = at_start + _dots(self.y, np.abs(self.cell.h))
        return Terms(slopes, at_start, len(self.cell.h))

    def lowered(self, proved: FloatArray, cost: FloatArray, task: Task) -> FloatArray:
        """Return bounds that rounding cannot have raised.

        ``terms_i <= w_i steepest`` with ``steepest = sum_k y_k max_i |G_ki| / w_i`` is known in no
        time, and enough unless features have unlike units. The cost of the start is not negative:
        ``r <= |t|``.
        """
        sizes, most = row_products(self.y, self.cell.per_cost(task.weights).sizes), np.abs(proved)
        total = (_dots(np.abs(self.start), task.weights) + most) * sizes[:, 0]
        total += sizes[:, 1] + most
        loss = rounding_unit(self.start.shape[1], len(self.cell.h)) * total
        enough = loss <= LITTLE_LOST * proved
        if np.count_nonzero(enough) == len(enough):
            return np.asarray(proved - loss)
        # Row by row: a bound does not depend on who else is in the batch.
        left, lowered = (~enough).nonzero()[0], proved - loss
        terms = RowTerms(self.y[left], self.cell, self.start[left]).full
        lowered[left] = terms.lowered(proved[left], cost[left], task.take(left))
        return np.asarray(lowered)


def one_row_terms(slopes: FloatArray, side: FloatArray, start: FloatArray) -> Terms:
    """Return the sizes of a single linear row for each center, with ``|h|`` for its right side."""
    size = np.abs(slopes)
    return Terms(size, np.einsum("nd,nd->n", size, np.abs(start)) + side, 1)


def least_excess(cell: Cell, points: FloatArray) -> FloatArray:
    """Return ``G x - h`` of each point, shape (n, n_rows), less what rounding may have added."""
    sizes = row_products(np.abs(points), np.abs(cell.G)) + np.abs(cell.h)
    return row_products(points, cell.G) - cell.h - rounding_unit(cell.dim, 1) * sizes


def quadratic_sizes(row: Quadratic, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of what is added up to a row's gradient, and to its value, at each point."""
    away = np.abs(row.seen(points))
    gradient, value = np.abs(row.q) + 0.0 * away, _dots(away, np.abs(row.q)) + abs(row.c)
    for factor in (np.abs(row.plus), np.abs(row.minus)):
        image = row_products(away, factor)
        gradient = gradient + 2 * row_products(image, np.ascontiguousarray(factor.T))
        value = value + (image * image).sum(axis=1)
    return gradient, value


def form_sizes(row: Quadratic) -> FloatArray:
    """Return the sizes of what is added up to the entries of a row's matrix."""
    plus, minus = np.abs(row.plus), np.abs(row.minus)
    return np.asarray(plus.T @ plus + minus.T @ minus)


def model_rounding(task: Task, proved: FloatArray) -> FloatArray:
    """Return by how much rows are widened to hold every point of the model within what was proved.

    Where squares cancel (`Cell.sums`), the rows of a cell are those of the model up to what these
    squares round to. Each center has a number of its own, the next power of two: many share one,
    and none depends on who else is in the batch. ``sum_k (S |x - o| + s)_k^2`` is at most
    ``sum_k (a_k + b_k)^2`` with ``a`` its value at the start and
    ``b_k = max_i S_ki |x_i - start_i|``.
    """
    cell, start = task.cell, task.start()
    assert cell.sums is not None
    rise = np.maximum(proved - distance(start, task.centers, task.weights), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(task.weights > 0, rise[:, None] / task.weights, np.inf)
    room = np.maximum(task.upper - start, start - task.lower).clip(0.0)
    reach = np.minimum(reach, room)
    reach = np.where(np.isinf(reach), REACH * (1.0 + np.abs(start)), reach)
    most = _products(np.abs(cell.sums.slopes) + 0.0 * start, np.abs(start) + reach)
    most = most + cell.sums.constant
    for square in cell.sums.squares:
        S, away = square.S, np.abs(start - square.origin)
        here = (away * S if S.ndim == 1 else row_products(away, S)) + square.s
        with np.errstate(invalid="ignore"):
            moved = [np.where(row == 0, 0.0, row * reach).max(axis=1) for row in np.atleast_2d(S)]
        there = here + (S * reach if S.ndim == 1 else np.stack(moved, axis=1))
        most = most + (there * there).sum(axis=1)
    # Models add up squares with (d + 4) roundings of these sums, whatever their order.
    off = np.nan_to_num((cell.dim + 4) * ROUNDOFF * most, nan=np.inf)
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp2(np.ceil(np.log2(off))))


def _dots(rows: FloatArray, vector: FloatArray) -> FloatArray:
    """Return ``rows @ vector``, each row on its own: the same bits in every batch."""
    return row_products(rows, vector[None])[:, 0]


def _products(terms: FloatArray, reach: FloatArray) -> FloatArray:
    """Return ``sum_i terms_i reach_i``; what has no terms may reach as far as it likes."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(terms == 0, 0.0, terms * reach).sum(axis=1))
