"""The multipliers that show most of each case: what is shown is concave in them.

One multiplier at a time is moved, for all cases in lock step. On such a line what is shown lies
below both tangents at the ends of a bracket; the next multiplier is where they meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray, Rows
from pertinent.solvers.search.separable.sums import Cases
from pertinent.solvers.tolerances import GOOD_MULTIPLIER

#: How often a bracket is widened, by which factor, and how often it is narrowed.
WIDENED, WIDER, NARROWED = 24, 8.0, 24
#: Passes over all rows, where there are several.
PASSES = 3
#: How close to the ends of a bracket, as a share of it, it is looked at.
INNER = 1e-3


@dataclass(eq=False)
class Shown(Rows):
    """What multipliers show of cases.

    Parameters
    ----------
    y : ndarray of shape (m, n_rows)
    bound : ndarray of shape (m,)
    before, after : ndarray of shape (m, d)
        Where the sum is least for slightly smaller and slightly larger multipliers: the first
        violates the row of the last line, the second does not.
    """

    y: FloatArray
    bound: FloatArray
    before: FloatArray
    after: FloatArray


def ascend(cases: Cases, goal: FloatArray) -> Shown:
    """Return multipliers that show as much as can be, or as much as is asked for."""
    m, n_rows = len(cases.boxes), cases.rows.value.shape[1]
    y = np.zeros((m, n_rows))
    bound, steps = cases.least(y)
    shown = Shown(y, bound, steps, steps.copy())
    for _ in range(PASSES if n_rows > 1 else 1):
        values = cases.rows.values(cases.boxes.row, shown.after)
        order = np.argsort(-values, axis=1, kind="stable")
        before = shown.bound.copy()
        for k in range(n_rows):
            left = np.flatnonzero(shown.bound < goal)
            if not len(left):
                return shown
            _Line(cases.take(left), shown, left, order[left, k]).run(goal[left])
        if (shown.bound <= before + GOOD_MULTIPLIER * np.abs(before)).all():
            break
    return shown


class _Line:
    """The search of one multiplier of each case."""

    def __init__(self, cases: Cases, shown: Shown, which: IntArray, column: IntArray) -> None:
        self.cases, self.shown, self.which, self.column = cases, shown, which, column
        self.m = len(which)

    def run(self, goal: FloatArray) -> None:
        """Move the multiplier, and keep what shows more."""
        every, zero = np.arange(self.m), np.zeros(self.m)
        bound, gain, steps = self._look(every, zero)
        left = [zero, bound, gain, steps]
        right = [np.full(self.m, np.inf), bound.copy(), gain.copy(), steps.copy()]
        self._keep(every, zero, bound, steps, steps)
        up = np.flatnonzero((gain > 0) & (bound < goal))
        at = self._first(up)
        for _ in range(WIDENED):
            if not len(up):
                break
            seen = self._look(up, at)
            rises = seen[1] > 0
            for side, here in ((left, rises), (right, ~rises)):
                side[0][up[here]] = at[here]
                for part, new in zip(side[1:], seen, strict=True):
                    part[up[here]] = new[here]
            self._keep(up, at, seen[0], left[3][up], seen[2])
            go_on = rises & (seen[0] < goal[up]) & np.isfinite(seen[0])
            up, at = up[go_on], at[go_on] * WIDER
        self._narrow(left, right, goal)

    def _narrow(self, left: list[FloatArray], right: list[FloatArray], goal: FloatArray) -> None:
        open_ = np.flatnonzero((left[2] > 0) & np.isfinite(right[0]))
        for _ in range(NARROWED):
            low, high = left[0][open_], right[0][open_]
            rise, fall = left[2][open_], -right[2][open_]
            # Both tangents meet here, and what is shown in between lies below.
            with np.errstate(all="ignore"):
                at = (right[1][open_] - left[1][open_] + rise * low + fall * high) / (rise + fall)
                most = left[1][open_] + rise * (at - low)
            at = np.where(np.isfinite(at), at, (low + high) / 2)
            at = np.clip(at, low + INNER * (high - low), high - INNER * (high - low))
            best = self.shown.bound[self.which[open_]]
            on = (
                (best < goal[open_]) & ~(most <= best + GOOD_MULTIPLIER * np.abs(best)) & (low < at)
            )
            on &= at < high
            open_, at = open_[on], at[on]
            if not len(open_):
                break
            seen = self._look(open_, at)
            rises = seen[1] > 0
            for side, here in ((left, rises), (right, ~rises)):
                side[0][open_[here]] = at[here]
                for part, new in zip(side[1:], seen, strict=True):
                    part[open_[here]] = new[here]
            self._keep(open_, at, seen[0], left[3][open_], right[3][open_])
        both = np.isfinite(right[0])
        self.shown.before[self.which[both]] = left[3][both]
        self.shown.after[self.which[both]] = right[3][both]

    def _first(self, some: IntArray) -> FloatArray:
        """Return a multiplier at which a row first outweighs the price of a step."""
        rows, row = self.cases.rows, self.cases.boxes.row[some]
        slope = np.abs(rows.slope[row, self.column[some]]).max(axis=1)
        reach = np.maximum(np.abs(self.cases.low[some]), np.abs(self.cases.high[some]))
        reach = np.where(np.isfinite(reach), reach, 0.0).max(axis=1)
        bent = np.abs(rows.square[self.column[some]]).max(axis=1)
        return np.asarray(1.0 / np.maximum(slope + bent * reach, 1e-300))

    def _look(self, some: IntArray, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what multipliers show, how that grows with them, and where the sum is least."""
        cases = self.cases.take(some)
        y = self.shown.y[self.which[some]].copy()
        y[np.arange(len(some)), self.column[some]] = at
        bound, steps = cases.least(y)
        values = self.cases.rows.values(cases.boxes.row, steps)
        return bound, values[np.arange(len(some)), self.column[some]], steps

    def _keep(
        self,
        some: IntArray,
        at: FloatArray,
        bound: FloatArray,
        before: FloatArray,
        after: FloatArray,
    ) -> None:
        """Take what shows more."""
        where = self.which[some]
        more = bound > self.shown.bound[where]
        place = where[more]
        self.shown.bound[place] = bound[more]
        self.shown.y[place, self.column[some[more]]] = at[more]
        self.shown.before[place], self.shown.after[place] = before[more], after[more]
