"""Separable rows: whether all points that cost no more than an answer are near it.

Notation as in `pertinent.proofs.cases.separable`. In a box, for multipliers ``y >= 0``, every point
of the cell with a cost of at most T has

    sum_i l_i(s_i) <= T - y'c      with  l_i(s) = |s| + y'a_i s^2 + y'g_i s.

So no single ``l_i`` can exceed its least value in the box by more than what T leaves open. Where
that keeps every feature near the answer, the box needs no further look. For a single row, boxes
that do need one are halved; the multiplier that proves most is looked for in each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Limits, Rows
from pertinent.geometry.running import is_over
from pertinent.proofs.cases.axes import AxisRow
from pertinent.proofs.tolerances import AXIS_BOXES, CURVED, MULTIPLIER_STEPS, NEAR_ROUNDS

#: How the golden section divides a range.
GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Sums(Rows):
    """What multipliers make of the rows in each of n boxes: ``value + sum_i l_i(s_i)``.

    Parameters
    ----------
    value : ndarray of shape (n,)
    square, slope, blur : ndarray of shape (n, n_features)
        ``blur`` is by how much slopes may be off.
    """

    value: FloatArray
    square: FloatArray
    slope: FloatArray
    blur: FloatArray

    def least(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least ``l_i`` over boxes, ``inf`` over none, and what rounding may hide."""
        convex, cost = self.square > 0, 1.0 - self.blur
        soft = np.sign(-self.slope) * np.maximum(np.abs(self.slope) - cost, 0.0)
        vertex = np.where(convex, soft / np.where(convex, 2 * self.square, 1.0), 0.0)
        best, size = np.full(low.shape, np.inf), np.zeros(low.shape)
        for s in (low, high, np.clip(0.0, low, high), np.clip(vertex, low, high)):
            best = np.minimum(best, cost * np.abs(s) + self.square * s * s + self.slope * s)
            size = np.maximum(
                size, np.abs(s) + np.abs(self.square) * s * s + np.abs(self.slope * s)
            )
        return np.where(low > high, np.inf, best), size

    def bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what is proved of each box, and the least of each feature."""
        least, sizes = self.least(low, high)
        rounding = CURVED * low.shape[1] * (np.abs(self.value) + sizes.sum(axis=1))
        return self.value + least.sum(axis=1) - rounding, least

    def beyond(
        self, low: FloatArray, high: FloatArray, cost: FloatArray, near: Limits
    ) -> tuple[BoolArray, BoolArray]:
        """Return which features may be below, and above, what is near in boxes; shape (n, d).

        They may be where numbers are none, as those of boxes that hold nothing.
        """
        bound, least = self.bounds(low, high)
        with np.errstate(invalid="ignore"):
            room = (cost - bound)[:, None] + least
        below = ~(self.least(low, np.minimum(high, near[0]))[0] > room)
        above = ~(self.least(np.maximum(low, near[1]), high)[0] > room)
        return below & ~(low >= near[0]), above & ~(high <= near[1])


@dataclass(frozen=True, eq=False)
class OneRow:
    """A single separable row at one start; fields of one row each."""

    row: AxisRow

    def only_near(self, low: FloatArray, high: FloatArray, cost: float, near: Limits) -> bool:
        """Return whether all points of the row that cost at most ``cost`` are near.

        All are steps from the start, in cost; ``low`` and ``high`` are the bounds.
        """
        low, high = np.maximum(low, -cost)[None], np.minimum(high, cost)[None]
        for _ in range(NEAR_ROUNDS):
            if not len(low):
                return True
            if len(low) > AXIS_BOXES or is_over():
                return False
            low, high = _affordable(low, high, cost)
            sums = self._best(low, high, cost)
            bound, _ = sums.bounds(low, high)
            below, above = sums.beyond(low, high, np.full(len(low), cost), near)
            open_ = ~(bound > cost) & (below | above).any(axis=1)
            # What cannot be beyond need not be looked at there.
            low = np.where(below, low, np.maximum(low, near[0]))[open_]
            high = np.where(above, high, np.minimum(high, near[1]))[open_]
            halves = _halved(low, high, sums.take(open_).square)
            if halves is None:
                return False
            low, high = halves
        return False

    def _best(self, low: FloatArray, high: FloatArray, cost: float) -> Sums:
        """Return the multipliers that prove most: a golden section, what is proved is concave.

        The least of a sum is at most 0, so no multiplier below ``cost / c`` proves the cost.
        """
        first = np.full(len(low), cost / max(float(self.row.value[0]), CURVED * cost))
        left, right = np.zeros(len(low)), np.full(len(low), np.log(MULTIPLIER_STEPS[1]))
        for _ in range(MULTIPLIER_STEPS[0]):
            a, b = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
            at = [self._sums(first * np.exp(y)).bounds(low, high)[0] for y in (a, b)]
            smaller = at[0] >= at[1]
            left, right = np.where(smaller, left, a), np.where(smaller, b, right)
        return self._sums(first * np.exp((left + right) / 2))

    def _sums(self, y: FloatArray) -> Sums:
        """Return what one multiplier for each box makes of the row, whatever rounding did."""
        row, y = self.row, y[:, None]
        slope = y * row.slope
        blur = y * row.slope_off + CURVED * np.abs(slope)
        square = y * (row.square - row.square_off)
        return Sums(y[:, 0] * (row.value - row.value_off), square, slope, blur)


def _affordable(low: FloatArray, high: FloatArray, cost: float) -> tuple[FloatArray, FloatArray]:
    """Return boxes without those that cost too much, cut to what the others' cost leaves."""
    nearest = np.maximum(np.maximum(low, -high), 0.0)
    rest = cost - nearest.sum(axis=1)
    far = nearest + rest[:, None]
    low, high = np.maximum(low, -far), np.minimum(high, far)
    kept = (rest >= 0) & (low <= high).all(axis=1)
    return low[kept], high[kept]


def _halved(
    low: FloatArray, high: FloatArray, square: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return both halves of each box, cut where its sum is least convex; None if one is convex."""
    if not len(low):
        return low, high
    here, far = np.arange(len(low)), np.maximum(high, -low)
    bent = np.maximum(-square, 0.0) * np.where((low < 0) & (high > 0), far, high - low) ** 2
    if not (bent.max(axis=1) > 0).all():
        return None
    j = bent.argmax(axis=1)
    first, last = low[here, j], high[here, j]
    across = np.where(last >= -first, last, first) / 2
    cut = np.where((first < 0) & (last > 0), across, (first + last) / 2)
    below, above = high.copy(), low.copy()
    below[here, j], above[here, j] = cut, cut
    return np.concatenate([low, above]), np.concatenate([below, high])
