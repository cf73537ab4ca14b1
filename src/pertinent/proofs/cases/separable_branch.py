"""Whole numbers, categories and rules of change under separable rows: a tree of cases.

The tree is that of `pertinent.proofs.cases.branch`, replayed in the same way. All rows are sums
over parts, where a part is a number, or a group of columns of which exactly one is 1:

    row_k(x) = c_k + sum over numbers of a_ki s_i^2 + g_ki s_i + sum over groups of b_k(category),

with ``s = weights * (x - start)``, measured in cost. A row may couple the columns of one group: it
has a value for each category. For multipliers ``y >= 0`` every allowed point of a case costs at
least

    base + y'c + sum_i min_s ( |s| + y'a_i s^2 + y'g_i s ) + sum of min ( cost + y'b )(category).

Only points that cost no more than the *reach* of a leaf are looked at, so that no number moves
farther than that; what is shown of a leaf is at most its reach.

Where at most m features may change, at most m of them are elsewhere than at their own values: those
that gain most by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pertinent.geometry.arrays import SHARED, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs.cases.axes import squares
from pertinent.proofs.cases.axis_boxes import Sums
from pertinent.proofs.cases.branch import TreeProofs
from pertinent.proofs.cases.narrowing import Boxes
from pertinent.proofs.rounding import form_sizes, rounding_unit
from pertinent.proofs.tolerances import CURVED, SUMS


@record_as("separable-branch")
@dataclass(frozen=True, eq=False)
class SeparableBranchProofs(TreeProofs):
    """Trees of cases over separable rows: multipliers and a reach for each leaf.

    Parameters
    ----------
    roots, tree
        As in `TreeProofs`.
    multipliers : ndarray of shape (n_proofs, n_quadratics + n_rows)
        Quadratic rows first.
    reach : ndarray of shape (n_proofs,)
    """

    multipliers: FloatArray = field(metadata=SHARED)
    reach: FloatArray = field(metadata=SHARED)

    def _kept(self, used: IntArray) -> dict[str, Any]:
        return {"multipliers": self.multipliers[used], "reach": self.reach[used]}

    def leaf_bounds(self, used: IntArray, task: Task, domain: Domain, boxes: Boxes) -> FloatArray:
        """Return what multipliers show of leaves; ``inf`` where the reach is all of the box."""
        cell, weights = task.cell, task.weights
        shape = (len(self.reach), len(cell.quadratics) + len(cell.h))
        if self.multipliers.shape != shape or not is_sum_of_parts(cell, domain):
            return np.zeros(len(used))
        if not (weights > 0).all():
            return np.zeros(len(used))
        numbers = np.flatnonzero(~domain.in_group)
        start, center = task.start()[boxes.row], task.centers[boxes.row]
        w, reach = weights[numbers], self.reach[used]
        base = (w * np.abs(start - center)[:, numbers]).sum(axis=1) * (1 - SUMS)
        low, high = ((end - start)[:, numbers] * w for end in (boxes.lower, boxes.upper))
        # |x - c| = |x - start| + |start - c| for every number x within the bounds.
        far = np.maximum(np.abs(low), np.abs(high)).sum(axis=1) + base
        room = (reach - base)[:, None]
        low, high = np.maximum(low, -room), np.minimum(high, room)
        parts = _Parts(task, domain, boxes, np.maximum(self.multipliers[used], 0.0), start, center)
        with np.errstate(invalid="ignore"):
            shown = base + parts.least(low, high)
            whole = reach * (1 - 4 * SUMS) > far + parts.farthest()
        closed = shown >= reach  # numbers that are none show nothing
        shown = np.where(np.isfinite(shown), shown, 0.0)
        return np.where(closed, np.where(whole, np.inf, reach), shown)


def is_sum_of_parts(cell: Cell, domain: Domain) -> bool:
    """Return whether no row couples a column with one of another part, and nothing follows."""
    if cell.has_other_rows or domain.bins:
        return False
    part = np.arange(domain.dim)
    for group in domain.groups:
        part[group] = group[0]
    apart = part[:, None] != part
    return not any((row.A[apart] != 0).any() for row in cell.quadratics)


class _Rows(NamedTuple):
    """All rows as seen from n starts, and how far off each number may be.

    ``square`` (rows, numbers), ``slope`` (n, rows, numbers) and ``value`` (n, rows) of the numbers;
    ``choice`` (rows, columns): the value of a row where the one of a group is this column.
    """

    square: FloatArray
    slope: FloatArray
    value: FloatArray
    choice: FloatArray
    slope_off: FloatArray
    choice_size: FloatArray


def _rows_of(cell: Cell, domain: Domain, start: FloatArray, weights: FloatArray) -> _Rows:
    """Return the rows; squares and values are lowered by what they may be off."""
    numbers, unit = np.flatnonzero(~domain.in_group), rounding_unit(domain.dim, 1)
    w, rows = weights[numbers], list[tuple[FloatArray, ...]]()
    for row in cell.quadratics:
        square, square_size = squares(row)
        a, size, q = square[numbers], square_size[numbers], row.q[numbers]
        u = row.seen(start)[:, numbers]
        value = (a * u * u + q * u).sum(axis=1) + row.c
        terms = (size * u * u + np.abs(q * u)).sum(axis=1) + abs(row.c)
        slope, off = 2 * a * u + q, unit * (2 * size * np.abs(u) + np.abs(q))
        lowered, choice = (a - unit * size, value - unit * terms), _choices(row, domain)
        rows.append((lowered[0] / w**2, slope / w, lowered[1], choice[0], off / w, choice[1]))
    for g, h in zip(cell.G, cell.h, strict=True):
        slope = np.broadcast_to(g[numbers] / w, (len(start), len(numbers)))
        products = start[:, numbers] * g[numbers]
        value = products.sum(axis=1) - h - unit * (np.abs(products).sum(axis=1) + abs(h))
        rows.append((np.zeros(len(numbers)), slope, value, g, unit * np.abs(slope), np.abs(g)))
    first = 0, 1, 1, 0, 1, 0  # the axis of the rows
    return _Rows(*[np.stack([row[k] for row in rows], axis=axis) for k, axis in enumerate(first)])


def _choices(row: Quadratic, domain: Domain) -> tuple[FloatArray, FloatArray]:
    """Return what a row is for each category of each group, and the sizes of its terms."""
    form, sizes, at = row.A, form_sizes(row), row.at
    out, terms = np.zeros(domain.dim), np.zeros(domain.dim)
    for group in domain.groups:
        u, own = np.eye(len(group)) - at[group], np.ix_(group, group)
        out[group] = ((u @ form[own]) * u).sum(axis=1) + u @ row.q[group]
        size = np.eye(len(group)) + np.abs(at[group])
        terms[group] = ((size @ sizes[own]) * size).sum(axis=1) + size @ np.abs(row.q[group])
    return out, terms


@dataclass(frozen=True, eq=False)
class _Parts:
    """The least of each part of a sum, in cases, for multipliers ``y`` of shape (n, rows)."""

    task: Task
    domain: Domain
    boxes: Boxes
    y: FloatArray
    start: FloatArray
    center: FloatArray

    def farthest(self) -> FloatArray:
        """Return what all groups cost at most."""
        cost = self._costs()
        most = [cost[:, group].max(axis=1) for group in self.domain.groups]
        return np.asarray(np.sum(most, axis=0))

    def least(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the least sum in each case, less what rounding may hide.

        Numbers are steps from the start, in cost.
        """
        domain, y, weights = self.domain, self.y, self.task.weights
        rows = _rows_of(self.task.cell, domain, self.start, weights)
        slope, off = (np.einsum("nk,nki->ni", y, part) for part in (rows.slope, rows.slope_off))
        off = off + CURVED * y.shape[1] * np.abs(slope)
        value = (y * rows.value).sum(axis=1)
        sums = Sums(value, y @ rows.square, slope, off)
        numbers = np.flatnonzero(~domain.in_group)
        least, size = (np.zeros(self.start.shape) for _ in range(2))
        least[:, numbers], size[:, numbers] = sums.least(low, high)
        prices = self._costs() + y @ rows.choice
        for group in domain.groups:
            can = self.boxes.upper[:, group] >= 1.0
            least[:, group[0]] = np.where(can, prices[:, group], np.inf).min(axis=1)
        size += self._costs() + y @ rows.choice_size
        if domain.max_changes is not None and domain.own is not None:
            own = domain.own[self.boxes.row]
            at_own = own * prices  # of groups
            steps = ((own - self.start) * weights)[:, numbers]
            at_own[:, numbers], size_own = sums.least(steps, steps)
            size[:, numbers] = np.maximum(size[:, numbers], size_own)
            total = self._of_few_changes(least, at_own, own)
        else:
            total = least.sum(axis=1)
        rounding = CURVED * domain.dim * (np.abs(value) + size.sum(axis=1))
        return np.asarray(value + total - rounding)

    def _costs(self) -> FloatArray:
        """Return what it costs that a column is the one of its group; 0 for numbers."""
        out, weights = np.zeros(self.start.shape), self.task.weights
        for group in self.domain.groups:
            away = np.abs(np.eye(len(group)) - self.center[:, None, group])
            out[:, group] = (away * weights[group]).sum(axis=2)
        return out

    def _of_few_changes(self, least: FloatArray, at_own: FloatArray, own: FloatArray) -> FloatArray:
        """Return the least sum where at most `max_changes` units leave their own values.

        Units that cannot stay in their case have left them. Of the others no choice gains more than
        those that gain most.
        """
        shape = (len(least), len(self.domain.units))
        lowest, stays, gone = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        outside = (own < self.boxes.lower) | (own > self.boxes.upper)
        for j, unit in enumerate(self.domain.unit_of_column):
            lowest[:, unit] += least[:, j]
            stays[:, unit] += at_own[:, j]
            gone[:, unit] |= outside[:, j]
        gain = np.sort(np.where(gone, 0.0, np.minimum(lowest - stays, 0.0)), axis=1)
        left = (self.domain.max_changes or 0) - np.count_nonzero(gone, axis=1)
        gained = np.where(np.arange(gain.shape[1]) < left[:, None], gain, 0.0)
        return np.asarray(np.where(gone, lowest, stays).sum(axis=1) + gained.sum(axis=1))
