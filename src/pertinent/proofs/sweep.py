"""One separable row without caps that matter: a sweep over how the budget is shared.

Measured in cost, with ``s = weights * (x - start)``, the row ``c + sum_i a_i s_i^2 + g_i s_i <= 0``
asks for a gain of c. Spending u on feature i gains at most ``|g_i| u - a_i u^2``: concave for
a_i > 0, convex otherwise. Of two features of convex gain one is enough: moving budget from one to
the other, the gain is convex in what is moved, so one of the ends is at least as good. Hence
within a budget t at most

    max_j max_{0 <= u <= t}  convex_j(t - u) + C(u)

is gained, where C(u) is the most that features of concave gain make of all of u (the best of them
spend nothing in vain: a feature of convex gain, or nobody, gets the rest). For any slope v,
``C(u) <= v u + K(v)`` with ``K(v) = sum_i max_s (|g_i| s - a_i s^2 - v s)``. With a few slopes,
each used between two points, the sum is convex in u there, and so largest at one of the two
points. If it stays below c, then no point of the cell costs t or less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.task import Task, distance
from pertinent.proofs.cases.axes import axis_row, is_separable
from pertinent.proofs.cases.axis_boxes import OneRow
from pertinent.proofs.cases.near import Near
from pertinent.proofs.core import RaisingProofs
from pertinent.proofs.tolerances import CURVED, SUMS

#: Numbers looked at together, features times lines of some centers: few enough for the cache.
AT_ONCE = 200_000


@record_as("sweep")
@dataclass(frozen=True, eq=False)
class SweepProofs(RaisingProofs):
    """Slopes that bound what features of concave gain can contribute.

    Parameters
    ----------
    radius : ndarray of shape (n,)
        What is proved: no point of the cell costs less than the start plus this.
    slopes : ndarray of shape (n, n_slopes)
        In descending order.
    """

    radius: FloatArray
    slopes: FloatArray

    def _raised(self, task: Task, start: FloatArray, known: FloatArray) -> FloatArray:
        cell, weights = task.cell, task.weights
        if len(cell.quadratics) != 1 or len(cell.G) or not (weights > 0).all():
            return known
        if not is_separable(cell):
            return known
        row = axis_row(cell.quadratics[0], start, weights)
        up, down = (task.upper - start) * weights, (start - task.lower) * weights
        # Whatever rounding did, the row gains no more than this and asks for no less.
        a, value = row.square - row.square_off, row.value - row.value_off
        steep = np.abs(row.slope) + row.slope_off
        holds = np.zeros(len(self), dtype=bool)
        size = max(1, AT_ONCE // max(1, cell.dim * self.slopes.shape[1]))
        for first in range(0, len(self), size):
            k = slice(first, first + size)
            part = SweepProofs(self.radius[k], self.slopes[k])
            holds[k] = part._holds(a, row.slope[k], steep[k], value[k], up[k], down[k])
        return known + np.where(holds, self.radius, 0.0)

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return whether boxes of the row leave the answer's alone; the slopes are not needed."""
        cell, weights, start = task.cell, task.weights, task.start()
        shown, one_row = np.zeros(len(near), dtype=bool), len(cell.quadratics) == 1
        if not one_row or len(cell.G) or not (weights > 0).all() or not is_separable(cell):
            return shown
        known = distance(start, task.centers, weights)
        for i in range(len(near)):
            row = OneRow(axis_row(cell.quadratics[0], start[i : i + 1], weights))
            ends = [task.lower[i], task.upper[i], near.lower[i], near.upper[i]]
            low, high, *box = ((end - start[i]) * weights for end in ends)
            cost = float(near.cost[i] - known[i] * (1 - SUMS))
            shown[i] = row.only_near(low, high, cost, (box[0], box[1]))
        return shown

    def _holds(
        self,
        a: FloatArray,
        g: FloatArray,
        steep: FloatArray,
        c: FloatArray,
        up: FloatArray,
        down: FloatArray,
    ) -> BoolArray:
        t = self.radius
        # Lowering the row means moving against its slope; the other side gains less for the
        # same cost, and need not be looked at if this one has at least as much room.
        here, there = np.where(g > 0, down, up), np.where(g > 0, up, down)
        concave = a > 0
        roomy = (here >= t[:, None]) | (np.maximum(here, there) <= 0)
        usable = roomy[:, ~concave].all(axis=1)
        room = np.minimum(np.maximum(here, 0.0), t[:, None])
        ends, lines, size = self._lines(a[concave], steep[:, concave], room[:, concave])
        alone = _best_alone(
            a[~concave], steep[:, ~concave], room[:, ~concave] > 0, t[:, None] - ends
        )
        most = np.maximum(alone[:, :-1] + lines[0], alone[:, 1:] + lines[1]).max(axis=1)
        rounding = CURVED * len(a) * (np.abs(c) + alone.max(axis=1) + size)
        return np.asarray(usable & (c > 0) & (t > 0) & (most + rounding < c))

    def _lines(
        self, a: FloatArray, steep: FloatArray, room: FloatArray
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray], FloatArray]:
        """Return the points of the sweep, and each line's height at its two ends.

        Line k, of slope ``v_k``, is used between points k and k + 1; wherever these are, the
        bound holds. They are put where neighbouring lines meet, which makes it best.
        """
        v = self.slopes
        # max_s (|g_i| - v) s - a_i s^2 within the room, features first, in as little memory
        over = steep.T[:, :, None] - v
        s = over / (2 * a[:, None, None])
        np.maximum(s, 0.0, out=s)
        np.minimum(s, room.T[:, :, None], out=s)
        over -= a[:, None, None] * s
        over *= s
        height = over.sum(axis=0)
        drop = v[:, :-1] - v[:, 1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = np.where(drop > 0, (height[:, 1:] - height[:, :-1]) / drop, 0.0)
        t = self.radius[:, None]
        meet = np.maximum.accumulate(np.fmin(np.fmax(meet, 0.0), t), axis=1)
        ends = np.hstack([np.zeros_like(t), meet, t])
        at_ends = height + v * ends[:, :-1], height + v * ends[:, 1:]
        return ends, at_ends, np.abs(at_ends[1]).max(axis=1)


def _best_alone(
    a: FloatArray, steep: FloatArray, movable: BoolArray, rest: FloatArray
) -> FloatArray:
    """Return the most that one feature of convex gain, or none, makes of each rest of a budget.

    Spending u gains ``|g_j| u + |a_j| u^2``: a feature that another one matches in both need not
    be looked at.
    """
    order = np.argsort(a, kind="stable")  # the most curved first
    slope = np.where(movable, steep, -1.0)[:, order]
    before = np.hstack([np.full((len(slope), 1), -1.0), slope[:, :-1]])
    row, j = np.nonzero(slope > np.maximum.accumulate(before, axis=1)[:, : slope.shape[1]])
    alone = np.zeros(rest.shape)
    if len(row):
        u = rest[row]
        gain = (slope[row, j, None] - a[order][j, None] * u) * u
        first = np.flatnonzero(np.diff(row, prepend=-1))
        alone[row[first]] = np.maximum(np.maximum.reduceat(gain, first, axis=0), 0.0)
    return alone
