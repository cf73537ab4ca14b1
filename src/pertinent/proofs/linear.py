"""Weak duality for linear rows: the proof of every polyhedral answer.

For multipliers ``y >= 0`` of ``G x <= h`` and any x of the cell within its bounds,

    sum_i w_i |x_i - c_i|  >=  min_x  sum_i w_i |x_i - c_i| + y'(G x - h),

and the right-hand side splits into one small problem a feature, solved by looking at its ends.
A Farkas ray ``y >= 0`` proves emptiness: ``y'(G x - h) > 0`` for all x within the bounds, while
every point of the cell would have it at most 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell, row_products
from pertinent.geometry.task import Task
from pertinent.proofs.cases.near import Near, Tangent, lies_near
from pertinent.proofs.core import Proofs
from pertinent.proofs.rounding import RowTerms, Terms, one_row_terms, rounding_unit
from pertinent.proofs.tolerances import CANCELLED, EQUAL, INDEPENDENT, REACH, SCALED


@record_as("linear")
@dataclass(frozen=True, eq=False)
class LinearProofs(Proofs):
    """Dual multipliers, or Farkas rays where ``ray`` is true.

    Parameters
    ----------
    multipliers : ndarray of shape (n, n_rows)
    ray : ndarray of bool, shape (n,)
    """

    multipliers: FloatArray
    ray: BoolArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual values; ``inf`` where the ray proves the cell empty."""
        cell, start, y = task.cell, task.start(), np.maximum(self.multipliers, 0.0)
        if y.shape[1:] != cell.h.shape:
            return np.zeros(len(task))  # one for each row, or nothing is known of any
        slopes = row_products(y, np.ascontiguousarray(cell.G.T))
        parts = y * (row_products(start, cell.G) - cell.h)
        excess = parts[:, 0] if len(cell.G) == 1 else parts.sum(1)
        return row_bounds(task, start, slopes, excess, self.ray, RowTerms(y, cell, start))

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return whether the multipliers leave the box alone."""
        cell, y = task.cell, np.maximum(self.multipliers, 0.0)
        shown, bounds = np.zeros(len(near), dtype=bool), self.bounds(task)
        if y.shape[1:] != cell.h.shape:
            return shown
        for i in np.flatnonzero(~self.ray):
            none = np.zeros((0, cell.dim)), np.zeros(0)
            tangent = Tangent(y[i] @ cell.G, y[i] @ np.abs(cell.G), y[i], *none)
            one = np.array([i])
            shown[i] = lies_near(task.take(one), near.take(one), tangent, float(bounds[i]))
        return shown


@record_as("single-row")
@dataclass(frozen=True, eq=False)
class SingleRowProofs(Proofs):
    """A multiplier on one linear row only: what a skipped piece rests on.

    Parameters
    ----------
    row : ndarray of int, shape (n,)
    multiplier : ndarray of shape (n,)
    """

    row: IntArray
    multiplier: FloatArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual value of each row's own inequality."""
        cell, start, y = task.cell, task.start(), np.maximum(self.multiplier, 0.0)
        excess = y * ((cell.G[self.row] * start).sum(1) - cell.h[self.row])
        slopes = y[:, None] * cell.G[self.row]
        terms = one_row_terms(slopes, y * np.abs(cell.h[self.row]), start)
        return dual_values(task, start, slopes, excess, terms)


def row_bounds(
    task: Task,
    start: FloatArray,
    slopes: FloatArray,
    excess: FloatArray,
    ray: BoolArray,
    terms: Terms | RowTerms,
) -> FloatArray:
    """Return what one row of each center, ``excess + slopes'(x - start) <= 0``, proves.

    ``inf`` where the row is a ``ray`` and no x within the bounds has it; ``terms`` are the sizes
    of what was added up to it.
    """
    proved, lower, upper = dual_values(task, start, slopes, excess, terms), task.lower, task.upper
    k = ray.nonzero()[0]
    if len(k):
        sizes = (terms if isinstance(terms, Terms) else terms.full).take(k)
        empty = is_empty(slopes[k], excess[k], start[k], lower[k], upper[k], sizes)
        proved[k[empty]] = np.inf
    contradictory = lower > upper
    if np.count_nonzero(contradictory):
        proved[contradictory.any(axis=1)] = np.inf
    return proved


def dual_values(
    task: Task,
    start: FloatArray,
    slopes: FloatArray,
    excess: FloatArray,
    terms: Terms | RowTerms,
) -> FloatArray:
    """Return ``min_x sum w|x-c| + slopes'(x - start) + excess`` over the bounds, rounding aside.

    Where a feature is unbounded its slope must not exceed its weight. All multipliers of such a
    row are shrunk by the same factor until it holds: shrinking keeps them dual feasible.
    """
    away = np.abs(start - task.centers)
    cost = row_products(away, task.weights[None])[:, 0]
    steep = (np.abs(slopes) > task.weights).ravel().nonzero()[0]
    if not len(steep):
        return _finite(terms.lowered(cost + excess, cost, task))
    # Few are steep. A slope > 0 pushes x down to its lower bound, one < 0 up to its upper bound.
    rows, columns = np.divmod(steep, slopes.shape[1])
    slope, weight, first = slopes.take(steep), task.weights[columns], start.take(steep)
    end = np.where(slope > 0, task.lower.take(steep), task.upper.take(steep))
    endless = np.isinf(end)
    if np.count_nonzero(endless):
        ratio = np.ones(len(task))
        np.maximum.at(ratio, rows[endless], (np.abs(slope) / weight)[endless])
        shrink = np.where(ratio > 1.0, (1.0 - SCALED) / ratio, 1.0)
        slope, excess = slope * shrink[rows], excess * shrink
        end = np.where(~endless & (np.abs(slope) > weight), end, first)
    # Moving to the end pays for the way there, and saves what the start costs and what is gained.
    paid = weight * np.abs(end - task.centers.take(steep))
    saved = weight * away.take(steep) - slope * (end - first)
    # Both are rounded, and what is paid is less; terms of shrunk multipliers are less, too.
    saved *= 1.0 + 2 * rounding_unit(slopes.shape[1], 1)
    at_ends = np.bincount(rows, paid - saved, len(start))
    return _finite(terms.lowered(cost + excess + at_ends, cost, task))


def _finite(values: FloatArray) -> FloatArray:
    """Return the values, 0 where multipliers that are no numbers made them endless or NaN."""
    finite = np.isfinite(values)
    return values if np.count_nonzero(finite) == len(values) else np.where(finite, values, 0.0)


def is_empty(
    slopes: FloatArray,
    excess: FloatArray,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    terms: Terms,
) -> BoolArray:
    """Return whether ``excess + slopes'(x - start) > 0`` for every x within the bounds.

    A slope towards an open side proves nothing, unless it is what cancellation leaves of its terms.
    """
    end = np.where(slopes > 0, start - lower, upper - start)
    open_ = np.isinf(end) & (slopes != 0)
    left_over = np.abs(slopes) <= CANCELLED * terms.slopes
    reach = np.where(open_, np.where(left_over, REACH * (1.0 + np.abs(start)), np.inf), end)
    with np.errstate(invalid="ignore"):
        fall = np.where(slopes != 0, np.abs(slopes) * reach, 0.0).sum(axis=1)
    # Rounding counts towards both ends; a slope of 0 may be rounded as well.
    far = np.maximum(start - lower, upper - start)
    far = np.where(np.isinf(far), REACH * (1.0 + np.abs(start)), far)
    return np.asarray(excess - fall > terms.rounded(far))


def leaves_one_point(
    cell: Cell,
    multipliers: FloatArray,
    center: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> bool:
    """Return whether optimal multipliers of a linear cell allow one optimal point only.

    Every optimum minimises ``w_i |x_i - c_i| + a_i x_i`` within the bounds, feature by feature,
    with ``a = G'y``: where ``|a_i| < w_i`` at the center, where ``|a_i| > w_i`` at a bound, and
    where they are equal anywhere between the two. Rows with ``y > 0`` are tight at every optimum;
    if they determine the features of the last kind, there is one optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import Cell
    >>> unbounded = np.full(2, -np.inf), np.full(2, np.inf)
    >>> steep = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))  # x1 + 2 x2 >= 2
    >>> leaves_one_point(steep, np.array([0.5]), np.zeros(2), np.ones(2), *unbounded)
    True
    >>> even = Cell(np.array([[-1.0, -1.0]]), np.array([-2.0]))  # either feature will do
    >>> leaves_one_point(even, np.array([1.0]), np.zeros(2), np.ones(2), *unbounded)
    False
    """
    if not (weights > 0).all():
        return False
    steepest = np.abs(cell.G / weights).max(axis=1, initial=0.0)
    tight = multipliers * steepest > EQUAL
    slopes = multipliers[tight] @ cell.G[tight]
    low, high = np.maximum(lower, cell.lower), np.minimum(upper, cell.upper)
    end = np.where(slopes > 0, low, high)
    equal = np.abs(np.abs(slopes) - weights) <= EQUAL * weights
    free = equal & (end != np.clip(center, low, high))
    block = cell.G[np.ix_(tight, free)]
    if not free.any():
        return True
    if block.shape[0] < block.shape[1]:
        return False
    size = np.abs(block).max()
    return bool(np.linalg.matrix_rank(block / size, tol=INDEPENDENT) == block.shape[1])
