"""The bound of one case: weak duality over whole numbers, groups of categories and bins.

For multipliers ``y >= 0``, slopes ``s = y'G`` and a point ``start`` of the case,

    cost(x)  >=  cost(start) + y'(G start - h)  +  sum over parts of  min_x change(x),
    change(x) =  w |x - c| - w |start - c| + s (x - start)   for the columns of one part,

where a part is a number, a group of categories, or a number with the bins that follow from it. Each
minimum is taken at one of a few places: the ends, the center, or one of the categories or bins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell, row_products
from pertinent.geometry.task import Task
from pertinent.proofs.cases.narrowing import Boxes
from pertinent.proofs.rounding import RowTerms, Terms
from pertinent.proofs.tolerances import CANCELLED, REACH, SCALED


def leaf_bounds(
    y: FloatArray,
    ray: BoolArray,
    cell: Cell,
    centers: FloatArray,
    weights: FloatArray,
    boxes: Boxes,
    domain: Domain,
) -> FloatArray:
    """Return what multipliers prove about narrowed cases; ``inf`` for a ray that holds."""
    y, parts = np.maximum(y, 0.0), Parts.of(domain)
    start = start_of(domain, centers, boxes)
    slopes = row_products(y, np.ascontiguousarray(cell.G.T))
    excess = (y * (row_products(start, cell.G) - cell.h)).sum(axis=1)
    cost = (weights * np.abs(start - centers)).sum(axis=1)
    shrink = parts.shrink(slopes, weights, boxes)
    least = parts.least(slopes * shrink[:, None], weights, centers, start, boxes)
    terms = parts.folded(RowTerms(y, cell, start).full)
    proved = cost + excess * shrink + least
    # |x - start| <= |x - c| + |start - c|: the start need not be the nearest of its case.
    task = Task(cell, centers, weights, boxes.lower, boxes.upper)
    proved = terms.lowered_by(proved, np.abs(proved) + cost, task, start)
    # Multipliers that are no numbers prove nothing.
    proved = np.where(np.isfinite(proved), proved, 0.0)
    rays = np.flatnonzero(ray)
    if len(rays):
        # Emptiness: y'(G x - h) > 0 for every x of the case. Where it has no end there must be no
        # slope; what cancellation leaves of one is looked at within reach.
        case, at = boxes.take(rays), start[rays]
        far = REACH * (1.0 + np.abs(at))
        low = np.where(np.isinf(case.lower), at - far, case.lower)
        high = np.where(np.isinf(case.upper), at + far, case.upper)
        near = Boxes(case.row, low, high, case.state)
        fall = parts.least(slopes[rays], np.zeros_like(weights), centers[rays], at, near)
        sizes = row_products(y[rays], np.ascontiguousarray(np.abs(cell.G).T))
        off = terms.take(rays).rounded(np.maximum(high - at, at - low))
        empty = (excess[rays] + fall > off) & ~parts.falls_endlessly(slopes[rays], sizes, case)
        proved[rays[empty]] = np.inf
    return np.asarray(proved)


def start_of(domain: Domain, centers: FloatArray, boxes: Boxes) -> FloatArray:
    """Return a point of each case: near the center, with one of each group."""
    start = np.clip(centers, boxes.lower, boxes.upper)
    for group in domain.groups:
        liking = np.where(boxes.upper[:, group] >= 1.0, centers[:, group], -1.0)
        start[:, group] = 0.0
        start[np.arange(len(start)), group[liking.argmax(axis=1)]] = 1.0
    return start


@dataclass(frozen=True, eq=False)
class Parts:
    """The columns of a domain in parts whose minima can be taken one by one.

    Of several families of bins of one number, one is looked at together with the number: the one
    that cuts it off, if any. The others count as groups of their own: that can only lower a bound.
    """

    numbers: list[int]
    groups: list[IntArray]
    binned: list[Bins]

    @classmethod
    def of(cls, domain: Domain, without: frozenset[int] = frozenset()) -> Parts:
        """Return the parts of a domain, without some numbers: their bins are groups alone."""
        joint: dict[int, Bins] = {}
        for bins in domain.bins:
            if bins.column in without:
                continue
            known = joint.get(bins.column)
            if known is None or (known.excess is None and bins.excess is not None):
                joint[bins.column] = bins
        taken = {j for b in joint.values() for j in (b.column, b.excess)} | without
        numbers = [j for j in range(domain.dim) if not domain.in_group[j] and j not in taken]
        theirs = [b.columns for b in joint.values()]
        groups = [g for g in domain.groups if not any(np.array_equal(g, own) for own in theirs)]
        return cls(numbers, groups, list(joint.values()))

    def folded(self, terms: Terms) -> Terms:
        """Return the terms with those of what is cut off of a number counted as the number's.

        It moves by no more than the number does.
        """
        slopes = terms.slopes.copy()
        for bins in self.binned:
            if bins.excess is not None:
                slopes[:, bins.column] += slopes[:, bins.excess]
                slopes[:, bins.excess] = 0.0
        return replace(terms, slopes=slopes)

    def shrink(self, slopes: FloatArray, weights: FloatArray, boxes: Boxes) -> FloatArray:
        """Return factors of the multipliers: towards an open end no slope may exceed the weight.

        Smaller multipliers prove less, but what they prove holds.
        """
        factor = np.ones(len(slopes))
        if np.isfinite(boxes.lower).all() and np.isfinite(boxes.upper).all():
            return factor
        for j, slope in self._far_out(slopes):
            end = np.where(slope > 0, boxes.lower[:, j], boxes.upper[:, j])
            endless = np.isinf(end) & (np.abs(slope) > weights[j])
            share = weights[j] * (1.0 - SCALED) / np.where(endless, np.abs(slope), 1.0)
            factor = np.where(endless, np.minimum(factor, share), factor)
        return factor

    def falls_endlessly(self, slopes: FloatArray, terms: FloatArray, boxes: Boxes) -> BoolArray:
        """Return the cases with a slope towards an open end; ``terms`` is what it was made of.

        What is no more than rounding of these terms is none.
        """
        out = np.zeros(len(slopes), dtype=bool)
        for (j, slope), (_, size) in zip(self._far_out(slopes), self._far_out(terms), strict=True):
            end = np.where(slope > 0, boxes.lower[:, j], boxes.upper[:, j])
            out |= np.isinf(end) & (np.abs(slope) > CANCELLED * size)
        return out

    def falls_beyond(self, slopes: FloatArray, weights: FloatArray, boxes: Boxes) -> BoolArray:
        """Return the cases in which a slope towards an open end outweighs what the way costs."""
        out = np.zeros(len(slopes), dtype=bool)
        for j, slope in self._far_out(slopes):
            end = np.where(slope > 0, boxes.lower[:, j], boxes.upper[:, j])
            out |= np.isinf(end) & (np.abs(slope) > weights[j])
        return out

    def _far_out(self, slopes: FloatArray) -> list[tuple[int, FloatArray]]:
        """Return each number with its slopes far out, where what is cut off grows with it."""
        out = [(j, slopes[:, j]) for j in self.numbers]
        for bins in self.binned:
            slope = slopes[:, bins.column]
            out.append(
                (bins.column, slope if bins.excess is None else slope + slopes[:, bins.excess])
            )
        return out

    def least(
        self,
        slopes: FloatArray,
        weights: FloatArray,
        centers: FloatArray,
        start: FloatArray,
        boxes: Boxes,
    ) -> FloatArray:
        """Return the sum of the least changes of all parts."""
        j = self.numbers
        now, own, change = start[:, j], centers[:, j], np.zeros((len(slopes), len(j)))
        for place in (boxes.lower[:, j], boxes.upper[:, j]):
            moved = np.where(np.isfinite(place), place, now)
            paid = np.abs(moved - own) - np.abs(now - own)
            change = np.minimum(change, weights[j] * paid + slopes[:, j] * (moved - now))
        total = np.asarray(change.sum(axis=1))
        if self.groups:
            total = self._least_of_groups(total, slopes, weights, centers, start, boxes)
        for bins in self.binned:
            total += _least_of_bins(bins, slopes, weights, centers, start, boxes)
        return total

    def _least_of_groups(
        self,
        total: FloatArray,
        slopes: FloatArray,
        weights: FloatArray,
        centers: FloatArray,
        start: FloatArray,
        boxes: Boxes,
    ) -> FloatArray:
        """Return the total, and the least changes of all groups added to it one by one."""
        j = np.concatenate(self.groups)
        first = np.cumsum([0, *map(len, self.groups[:-1])])
        c = centers[:, j]
        price = weights[j] * (np.abs(1.0 - c) - np.abs(c)) + slopes[:, j]
        now = np.add.reduceat(price * start[:, j], first, axis=1)
        can = np.where(boxes.upper[:, j] >= 1.0, price, np.inf)
        change = np.minimum.reduceat(can, first, axis=1) - now
        return np.asarray(np.cumsum(np.column_stack([total, change]), axis=1)[:, -1])


def _least_of_bins(
    bins: Bins,
    slopes: FloatArray,
    weights: FloatArray,
    centers: FloatArray,
    start: FloatArray,
    boxes: Boxes,
) -> FloatArray:
    """Return the least change of a number together with its bins: bin by bin, place by place."""
    j, w, c = bins.column, weights[bins.column], centers[:, bins.column]
    now = w * np.abs(start[:, j] - c) + slopes[:, j] * start[:, j]
    now = now + (slopes[:, bins.columns] * start[:, bins.columns]).sum(axis=1)
    if bins.excess is not None:
        now = now + slopes[:, bins.excess] * start[:, bins.excess]
    best = np.full(len(slopes), np.inf)
    for k, column in enumerate(bins.columns):
        slope, fixed = slopes[:, j], slopes[:, column]
        if bins.excess is not None:  # what is cut off is a x + b in this bin
            beyond = slopes[:, bins.excess]
            slope = slope + bins.beyond_slope[k] * beyond
            fixed = fixed + bins.beyond_shift[k] * beyond
        low = np.maximum(boxes.lower[:, j], bins.low[k])
        high = np.minimum(boxes.upper[:, j], bins.high[k])
        can = (boxes.upper[:, column] >= 1.0) & (low <= high)
        near = np.clip(c, low, np.maximum(low, high))
        for place in (near, low, high):
            at = np.where(np.isfinite(place), place, near)
            price = w * np.abs(at - c) + slope * at + fixed
            best = np.where(can, np.minimum(best, price), best)
    return np.asarray(best - now)
