"""What multipliers say of a case: weak duality over whole numbers, groups of categories and bins.

For multipliers ``y >= 0`` of ``G x <= h``, every allowed x of a case costs at least the minimum of
``cost(x) + y'(G x - h)`` over the case. This minimum is a sum of small problems, one for each
number, group or bin. The search prunes with it; the checker has code of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell, row_products
from pertinent.solvers.search.narrow import Boxes
from pertinent.solvers.tolerances import CASE_RAY_ROUNDING, RAY_REACH, SHRUNK


def case_bounds(
    y: FloatArray,
    ray: BoolArray,
    cell: Cell,
    domain: Domain,
    centers: FloatArray,
    weights: FloatArray,
    boxes: Boxes,
) -> FloatArray:
    """Return what multipliers say of narrowed cases; ``inf`` for a ray that excludes all points.

    Parameters
    ----------
    y : ndarray of shape (n, n_rows)
    ray : ndarray of bool, shape (n,)
        Whether the multipliers are to show that the case is empty.
    cell, domain, weights
    centers : ndarray of shape (n, n_columns)
        The center of each case.
    boxes : Boxes
    """
    y = np.maximum(y, 0.0)
    slopes = row_products(y, np.ascontiguousarray(cell.G.T))
    # A slope beyond the weight of an unbounded number: shrink all multipliers until it holds, to
    # nothing if the weight is 0. What is cut off of a number is looked at with it.
    outer = _outer_slopes(domain, slopes)
    end = np.where(outer > 0, boxes.lower, boxes.upper)
    endless = (np.abs(outer) > weights) & np.isinf(end) & ~domain.follows
    if endless.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(endless, np.abs(outer) / weights, 1.0).max(axis=1)
        shrink = np.where((ratio > 1.0) & ~ray, SHRUNK / ratio, 1.0)
        y, slopes = y * shrink[:, None], slopes * shrink[:, None]
    start = _start(domain, centers, boxes)
    excess = (y * (row_products(start, cell.G) - cell.h)).sum(axis=1)
    cost = (weights * np.abs(start - centers)).sum(axis=1)
    least = _Least(slopes, weights, centers, start, boxes.lower, boxes.upper)
    proved = cost + excess + least.over(domain)
    if ray.any():
        r = np.flatnonzero(ray)
        reach = RAY_REACH * (1.0 + np.abs(start[r]))
        low = np.where(np.isinf(boxes.lower[r]), start[r] - reach, boxes.lower[r])
        high = np.where(np.isinf(boxes.upper[r]), start[r] + reach, boxes.upper[r])
        free = np.zeros_like(weights)
        fall = _Least(slopes[r], free, centers[r], start[r], low, high).over(domain)
        size = np.abs(slopes[r]).sum(axis=1) + np.abs(excess[r])
        is_empty = excess[r] + fall > CASE_RAY_ROUNDING * size
        proved[r] = np.where(is_empty, np.inf, np.maximum(proved[r], 0.0))
    return np.asarray(proved)


def _outer_slopes(domain: Domain, slopes: FloatArray) -> FloatArray:
    """Return the slopes far out, where what is cut off of a number grows with it."""
    cut = [bins for bins in domain.bins if bins.excess is not None]
    if not cut:
        return slopes
    outer = slopes.copy()
    for bins in cut:
        outer[:, bins.column] += slopes[:, bins.excess]
    return outer


def _start(domain: Domain, centers: FloatArray, boxes: Boxes) -> FloatArray:
    """Return a point of each narrowed box: near the center, with one 1 in each group."""
    start = np.clip(centers, boxes.lower, boxes.upper)
    for group in domain.groups:
        can = boxes.upper[:, group] >= 1.0
        chosen = np.where(can, centers[:, group], -1.0).argmax(axis=1)
        start[:, group] = 0.0
        start[np.arange(len(start)), group[chosen]] = 1.0
    return start


@dataclass(frozen=True, eq=False)
class _Least:
    """The least of ``w|x - c| - w|start - c| + slopes'(x - start)`` over allowed x of each case."""

    slopes: FloatArray
    weights: FloatArray
    centers: FloatArray
    start: FloatArray
    lower: FloatArray
    upper: FloatArray

    def over(self, domain: Domain) -> FloatArray:
        """Return the sum of the least of all numbers, groups and bins."""
        numeric, slopes, start = ~domain.in_group, self.slopes, self.start
        # One family of bins of each number is looked at with it: one that cuts it off, if any.
        joint = {b.column: b for b in sorted(domain.bins[::-1], key=lambda b: b.excess is not None)}
        numeric[list(joint)] = False
        numeric[[b.excess for b in joint.values() if b.excess is not None]] = False
        end = np.where(slopes > 0, self.lower, self.upper)
        steep = (np.abs(slopes) > self.weights) & numeric & np.isfinite(end)
        at = np.where(steep, end, start)
        farther = np.abs(at - self.centers) - np.abs(start - self.centers)
        moved = self.weights * farther + slopes * (at - start)
        total = np.where(steep, moved, 0.0).sum(axis=1)
        shared = {id(b.columns) for b in joint.values()}
        for group in domain.groups:
            if id(group) not in shared:
                total += self._of_group(group)
        for bins in joint.values():
            total += self._of_bins(bins)
        return np.asarray(total)

    def _of_group(self, group: IntArray) -> FloatArray:
        c, w = self.centers[:, group], self.weights[group]
        price = w * (np.abs(1.0 - c) - np.abs(c)) + self.slopes[:, group]
        now = (price * self.start[:, group]).sum(axis=1)
        return np.asarray(np.where(self.upper[:, group] >= 1.0, price, np.inf).min(axis=1) - now)

    def _of_bins(self, bins: Bins) -> FloatArray:
        """Return the least over all bins of the number's own part plus the bin's slope.

        In bin k what is cut off is ``a_k x + b_k``: its slope adds to the number's.
        """
        j, slopes, start = bins.column, self.slopes, self.start
        s, c, w = slopes[:, [j]], self.centers[:, [j]], self.weights[j]
        fixed, now = slopes[:, bins.columns], s[:, 0] * start[:, j]
        if bins.excess is not None:
            of_excess = slopes[:, [bins.excess]]
            now = now + of_excess[:, 0] * start[:, bins.excess]
            s, fixed = s + of_excess * bins.beyond_slope, fixed + of_excess * bins.beyond_shift
        low = np.maximum(self.lower[:, [j]], bins.low)
        high = np.minimum(self.upper[:, [j]], bins.high)
        near = np.clip(c, low, np.maximum(low, high))
        end = np.where(s > 0, low, high)
        at = np.where((np.abs(s) > w) & np.isfinite(end), end, near)
        price = w * np.abs(at - c) + s * at + fixed
        can = (self.upper[:, bins.columns] >= 1.0) & (low <= high)
        now = now + w * np.abs(start[:, [j]] - c)[:, 0]
        now += (slopes[:, bins.columns] * start[:, bins.columns]).sum(axis=1)
        return np.asarray(np.where(can, price, np.inf).min(axis=1) - now)
