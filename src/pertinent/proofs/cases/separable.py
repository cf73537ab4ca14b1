"""Separable rows: boxes and Lagrange multipliers.

Measured in cost, with ``s = weights * (x - start)``, let all rows be sums over features,
``c_k + sum_i a_ki s_i^2 + g_ki s_i``. A point of cost at most t lies in the box
``|s_i| <= min(t, room)``. In a part of that box, for multipliers y >= 0,

    |s|_1  >=  y'c + sum_i min_{s_i} ( |s_i| + y'a_i s_i^2 + y'g_i s_i )      for every s inside,

and each minimum over an interval is taken at its ends, at 0, or at a vertex. If the right-hand
side reaches t in every part of a partition of the box, then no point of the cell costs less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, RowIndex
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task, distance
from pertinent.proofs.cases.axes import axis_row, is_separable, linear_rows
from pertinent.proofs.cases.axis_boxes import Sums
from pertinent.proofs.cases.near import Near
from pertinent.proofs.core import RaisingProofs
from pertinent.proofs.tolerances import CURVED, SUMS


@record_as("separable")
@dataclass(frozen=True, eq=False)
class SeparableProofs(RaisingProofs):
    """A tree of boxes for each center, with the multipliers that close its leaves.

    Parameters
    ----------
    radius : ndarray of shape (n,)
        What is proved: no point of the cell costs less than the start plus this.
    feature : ndarray of int, shape (n_nodes,)
        The feature split at a node, -1 at a leaf. The first n nodes are the roots, and the
        children of the k-th node that is split are the nodes ``n + 2k`` (below the threshold)
        and ``n + 2k + 1`` (above it): so the leaves always cover everything.
    threshold : ndarray of shape (n_nodes,)
    multipliers : ndarray of shape (n_nodes, n_quadratics + n_rows)
        Read at leaves; quadratic rows first.
    """

    radius: FloatArray
    feature: IntArray
    threshold: FloatArray
    multipliers: FloatArray

    def __len__(self) -> int:
        return len(self.radius)

    def require_sound(self) -> None:
        """Refuse boxes, perhaps from a file, that are no trees: children come after parents."""
        split = np.flatnonzero(self.feature >= 0)
        first_child = len(self) + 2 * np.arange(len(split))
        if (first_child <= split).any() or len(self.feature) != len(self) + 2 * len(split):
            raise InputError("A stored tree of boxes is not a tree.")

    def take(self, rows: RowIndex) -> Self:
        """Return the proofs of the given rows, their nodes numbered anew."""
        _, first_child = self._owners()
        roots = np.arange(len(self))[rows]
        level, order = roots, [roots]
        while len(level):
            split = level[self.feature[level] >= 0]
            level = (first_child[split][:, None] + np.arange(2)).ravel()
            order.append(level)
        kept = np.concatenate(order)
        nodes = self.feature[kept], self.threshold[kept], self.multipliers[kept]
        return type(self)(self.radius[rows], *nodes)

    def _raised(self, task: Task, start: FloatArray, known: FloatArray) -> FloatArray:
        cell, weights = task.cell, task.weights
        if not (weights > 0).all() or not is_separable(cell):
            return known  # what costs nothing is in no ball
        up = np.maximum(task.upper - start, 0.0) * weights
        down = np.maximum(start - task.lower, 0.0) * weights
        owner, first_child = self._owners()
        t = self.radius[:, None]
        low, high = np.maximum(-down, -t), np.minimum(up, t)
        if len(cell.quadratics) == 1 and not len(cell.G):
            # Of s and -s the one with g s <= 0 costs the same and satisfies the row if the
            # other does: the other side need not be looked at, if this one has the room.
            slope = cell.quadratics[0].gradient(start)
            low, high = (
                np.where((slope <= 0) & (high >= -low), 0.0, low),
                np.where((slope > 0) & (-low >= high), 0.0, high),
            )
        low, high = self._boxes(low, high, first_child)
        leaves = np.flatnonzero(self.feature < 0)
        closed = self._closed(cell, start, weights, owner, low, high, leaves)
        holds = self.radius > 0
        holds[owner[leaves[~closed]]] = False
        # A ball that holds all of the box leaves no point at all.
        whole = np.maximum(up, down).sum(axis=1) <= self.radius
        return known + np.where(holds, np.where(whole, np.inf, self.radius), 0.0)

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return whether, with the answer's cost for the radius, leaves leave its box alone."""
        cell, weights, start = task.cell, task.weights, task.start()
        if not (weights > 0).all() or not is_separable(cell):
            return np.zeros(len(self), dtype=bool)
        ends = [(end - start) * weights for end in (task.lower, task.upper, near.lower, near.upper)]
        cost = near.cost - distance(start, task.centers, weights) * (1 - SUMS)
        low, high = np.maximum(ends[0], -cost[:, None]), np.minimum(ends[1], cost[:, None])
        owner, first_child = self._owners()
        low, high = self._boxes(low, high, first_child)
        leaves = np.flatnonzero(self.feature < 0)
        own, low, high = owner[leaves], low[leaves], high[leaves]
        sums = self._sums(cell, start, weights, own, leaves)
        below, above = sums.beyond(low, high, cost[own], (ends[2][own], ends[3][own]))
        # A leaf is closed by what is shown of it: numbers that are none show nothing.
        open_ = ~(sums.bounds(low, high)[0] > cost[own]) & (below | above).any(axis=1)
        holds = np.ones(len(self), dtype=bool)
        holds[own[open_]] = False
        return holds

    def _owners(self) -> tuple[IntArray, IntArray]:
        """Return each node's root, and the first child of each node that is split."""
        n, nodes = len(self), len(self.feature)
        split = np.flatnonzero(self.feature >= 0)
        first_child = np.full(nodes, -1)
        first_child[split] = n + 2 * np.arange(len(split))
        owner = np.arange(nodes)
        parent = np.concatenate([np.arange(n), np.repeat(split, 2)])
        while (owner >= n).any():
            owner = parent[owner]
        return owner, first_child

    def _boxes(
        self, low: FloatArray, high: FloatArray, first_child: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the box of every node: that of its parent, cut at the threshold."""
        n, nodes = len(self), len(self.feature)
        lows, highs = np.empty((nodes, low.shape[1])), np.empty((nodes, low.shape[1]))
        lows[:n], highs[:n] = low, high
        level = np.flatnonzero(self.feature[:n] >= 0)
        while len(level):
            below = first_child[level]
            above, feature, at = below + 1, self.feature[level], self.threshold[level]
            lows[below] = lows[above] = lows[level]
            highs[below] = highs[above] = highs[level]
            highs[below, feature] = np.minimum(highs[below, feature], at)
            lows[above, feature] = np.maximum(lows[above, feature], at)
            children = np.sort(np.concatenate([below, above]))
            level = children[self.feature[children] >= 0]
        return lows, highs

    def _closed(
        self,
        cell: Cell,
        start: FloatArray,
        weights: FloatArray,
        owner: IntArray,
        low: FloatArray,
        high: FloatArray,
        leaves: IntArray,
    ) -> BoolArray:
        """Return whether the bound of each leaf reaches the radius."""
        own, low, high = owner[leaves], low[leaves], high[leaves]
        bounds, _ = self._sums(cell, start, weights, own, leaves).bounds(low, high)
        return np.asarray((low > high).any(axis=1) | (bounds >= self.radius[own]))

    def _sums(
        self,
        cell: Cell,
        start: FloatArray,
        weights: FloatArray,
        own: IntArray,
        leaves: IntArray,
    ) -> Sums:
        """Return what the multipliers of leaves make of the rows; ``own`` are their centers."""
        y, value = np.maximum(self.multipliers[leaves], 0.0), np.zeros(len(leaves))
        square, slope = np.zeros((len(leaves), cell.dim)), np.zeros((len(leaves), cell.dim))
        blur = np.zeros((len(leaves), cell.dim))  # by how much slopes may be off
        rows = [axis_row(row, start, weights) for row in cell.quadratics]
        for k, row in enumerate(rows + linear_rows(cell, start, weights)):
            # Whatever rounding did, the row is at least this.
            square += y[:, k, None] * (row.square - row.square_off)
            slope += y[:, k, None] * row.slope[own]
            blur += y[:, k, None] * row.slope_off[own]
            value += y[:, k] * (row.value - row.value_off)[own]
        # Sums over rows are rounded themselves.
        blur += CURVED * y.shape[1] * np.abs(slope)
        return Sums(value, square, slope, blur)
