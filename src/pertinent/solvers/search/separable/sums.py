"""What multipliers make of rows that are sums over parts, and where the sum is least.

A number is measured in cost, ``s = weights * (x - start)``; of a group of columns exactly one is 1.
Row k is ``v_k + sum over numbers of a_ki s_i^2 + g_ki s_i + sum over groups of b_k(category)``. For
multipliers y the sum of cost and ``y'rows`` falls apart into numbers and groups: it is least at the
ends of a number, where that is 0, or at a vertex; at one of the categories of a group.

Arrays hold ``s`` in the columns of numbers, and 0 or 1 in those of groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Quadratic
from pertinent.geometry.task import distance
from pertinent.solvers.problem import Task
from pertinent.solvers.search.narrow import Boxes
from pertinent.solvers.tolerances import ROW_ROUNDING


@dataclass(frozen=True, eq=False)
class SeparableRows:
    """The rows of a cell as seen from the start of each sample.

    Parameters
    ----------
    start : ndarray of shape (n, d)
        0 in the columns of groups.
    base : ndarray of shape (n,)
        What the start of all numbers costs.
    weights : ndarray of shape (d,)
        1 in the columns of groups.
    choice : ndarray of shape (n, d)
        What it costs that a column is the one of its group; 0 for numbers.
    square : ndarray of shape (n_rows, d)
        0 in the columns of groups.
    slope : ndarray of shape (n, n_rows, d)
        What a row is for each category, in the columns of groups.
    value : ndarray of shape (n, n_rows)
    domain : Domain
    """

    start: FloatArray
    base: FloatArray
    weights: FloatArray
    choice: FloatArray
    square: FloatArray
    slope: FloatArray
    value: FloatArray
    domain: Domain

    @classmethod
    def of(cls, task: Task, domain: Domain) -> SeparableRows:
        """Return the rows of a task; quadratic ones first."""
        cell, grouped = task.cell, domain.in_group
        start = np.where(grouped, 0.0, task.start())
        w = np.where(grouped, 1.0, task.weights)
        squares, slopes, values = [], [], []
        for row in cell.quadratics:
            a, u = (
                np.where(grouped, 0.0, np.diagonal(row.A)),
                np.where(grouped, 0.0, row.seen(start)),
            )
            squares.append(a)
            slopes.append(np.where(grouped, _categories(row, domain), 2 * a * u + row.q))
            values.append((a * u * u + row.q * u).sum(axis=1) + row.c)
        for g, h in zip(cell.G, cell.h.tolist(), strict=True):
            squares.append(np.zeros(len(g)))
            slopes.append(np.broadcast_to(g, start.shape))
            values.append((start * g).sum(axis=1) - h)
        numbers = np.where(grouped, 0.0, task.weights)
        base = distance(start, task.centers, numbers)
        choice = np.zeros(start.shape)
        for group in domain.groups:
            away = np.abs(np.eye(len(group)) - task.centers[:, None, group])
            choice[:, group] = (away * task.weights[group]).sum(axis=2)
        square, slope = np.array(squares) / w**2, np.stack(slopes, axis=1) / w
        return cls(start, base, w, choice, square, slope, np.stack(values, axis=1), domain)

    def of_cases(self, boxes: Boxes, reach: FloatArray) -> Cases:
        """Return cases, in which no number moves farther than a reach."""
        row, number = boxes.row, ~self.domain.in_group
        low = (boxes.lower - self.start[row]) * self.weights
        high = (boxes.upper - self.start[row]) * self.weights
        room = np.maximum(reach - self.base[row], 0.0)[:, None]
        low = np.where(number, np.maximum(low, -room), low)
        high = np.where(number, np.minimum(high, room), high)
        return Cases(self, boxes, low, high)

    def values(self, row: IntArray, steps: FloatArray) -> FloatArray:
        """Return the values of all rows at steps of some samples, shape (m, n_rows)."""
        curved = (steps * steps) @ self.square.T
        return np.asarray(self.value[row] + curved + (self.slope[row] * steps[:, None]).sum(axis=2))

    def points(self, row: IntArray, steps: FloatArray) -> FloatArray:
        """Return the points of steps of some samples."""
        return np.asarray(self.start[row] + steps / self.weights)


def _categories(row: Quadratic, domain: Domain) -> FloatArray:
    """Return what a row adds for each column that may be the one of its group."""
    out = np.zeros(domain.dim)
    for group in domain.groups:
        u, form = np.eye(len(group)) - row.at[group], row.A[np.ix_(group, group)]
        out[group] = ((u @ form) * u).sum(axis=1) + u @ row.q[group]
    return out


@dataclass(frozen=True, eq=False)
class Cases:
    """Boxes in steps from the start, in cost."""

    rows: SeparableRows
    boxes: Boxes
    low: FloatArray
    high: FloatArray

    def take(self, which: IntArray | BoolArray) -> Cases:
        """Return some of the cases."""
        return Cases(self.rows, self.boxes.take(which), self.low[which], self.high[which])

    @cached_property
    def own(self) -> FloatArray | None:
        """The samples' own values, where changes are counted."""
        domain, row = self.rows.domain, self.boxes.row
        if domain.own is None or domain.max_changes is None:
            return None
        return (domain.own[row] - self.rows.start[row]) * self.rows.weights

    @cached_property
    def gone(self) -> BoolArray:
        """Which units cannot be at their own values, shape (m, n_units)."""
        domain, boxes = self.rows.domain, self.boxes
        out = np.zeros((len(boxes), len(domain.units)), dtype=bool)
        if domain.own is not None:
            own = domain.own[boxes.row]
            outside = (own < boxes.lower) | (own > boxes.upper)
            for j, unit in enumerate(domain.unit_of_column):
                out[:, unit] |= outside[:, j]
        return out

    def least(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least cost that multipliers show, shape (m,), and the steps where it is."""
        rows, row = self.rows, self.boxes.row
        slope = (y[:, :, None] * rows.slope[row]).sum(axis=1)
        value = (y * rows.value[row]).sum(axis=1)
        parts = _Parts(y @ rows.square, slope + rows.choice[row], rows.domain.in_group)
        steps, least, size = parts.of_numbers(self.low, self.high)
        for group in rows.domain.groups:
            can = self.boxes.upper[:, group] >= 1.0
            price = np.where(can, parts.slope[:, group], np.inf)
            chosen = np.arange(len(group)) == price.argmin(axis=1)[:, None]
            steps[:, group], least[:, group] = chosen, np.where(chosen, price, 0.0)
            size[:, group] = np.abs(slope[:, group]) + rows.choice[row][:, group]
        if self.own is not None:
            self._keep_most(parts, self.own, steps, least, size)
        off = ROW_ROUNDING * least.shape[1] * (np.abs(value) + size.sum(axis=1))
        return rows.base[row] + value + least.sum(axis=1) - off, steps

    def _keep_most(
        self, parts: _Parts, own: FloatArray, steps: FloatArray, least: FloatArray, size: FloatArray
    ) -> None:
        """Leave all units at their own values but those that gain most, in place."""
        domain = self.rows.domain
        at_own, units = parts.at(own), domain.unit_of_column
        gain, gone = np.zeros((len(own), len(domain.units))), self.gone
        np.add.at(gain.T, units, (least - at_own).T)
        gain = np.where(gone, 0.0, np.minimum(gain, 0.0))
        rank = np.argsort(np.argsort(gain, axis=1, kind="stable"), axis=1, kind="stable")
        left = (domain.max_changes or 0) - np.count_nonzero(gone, axis=1)
        kept = ~(gone | ((rank < left[:, None]) & (gain < 0)))[:, units]
        steps[kept], least[kept] = own[kept], at_own[kept]
        np.maximum(size, np.abs(at_own) + np.abs(own), out=size)


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts ``|s| + square s^2 + slope s`` of a sum; of a category, its slope."""

    square: FloatArray
    slope: FloatArray
    grouped: BoolArray

    def at(self, steps: FloatArray) -> FloatArray:
        """Return the parts at steps."""
        bent = np.where(self.grouped, 0.0, np.abs(steps)) + self.square * steps * steps
        return np.asarray(bent + self.slope * steps)

    def of_numbers(
        self, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where each part is least between two ends, its value, and the size of terms."""
        convex = self.square > 0
        soft = np.sign(-self.slope) * np.maximum(np.abs(self.slope) - 1.0, 0.0)
        vertex = np.where(convex, soft / np.where(convex, 2 * self.square, 1.0), 0.0)
        zero = np.minimum(np.maximum(0.0, low), high)
        places = np.stack([zero, low, high, np.minimum(np.maximum(vertex, low), high)])
        bent, sloped = self.square * places * places, self.slope * places
        values = np.abs(places) + bent + sloped
        best = np.nan_to_num(values, nan=np.inf).argmin(axis=0)[None]
        sizes = np.abs(places) + np.abs(bent) + np.abs(sloped)
        steps = np.take_along_axis(places, best, axis=0)[0]
        return steps, np.take_along_axis(values, best, axis=0)[0], sizes.max(axis=0)
