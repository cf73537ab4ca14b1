"""The search for a task with a domain: what all its kinds share, whatever the rows of its cell.

A case is a box in which some of what is discrete is decided. Its relaxation gives a bound and a
point. The point, rounded to an allowed one, may be the best; a case whose bound is at least the
limit of its row becomes a leaf; every other case is split in two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.proofs.cases.branch import LEAF, Tree
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Task
from pertinent.solvers.search.engine import BestFirst, Limits, Ranked, search
from pertinent.solvers.search.narrow import Boxes, narrow, whole_boxes
from pertinent.solvers.search.split import Splits, children


@dataclass(frozen=True, eq=False)
class Open(Ranked):
    """Cases that are not decided yet.

    Parameters
    ----------
    row : ndarray of int
    rank : ndarray
        The bound that is known of each case.
    boxes : Boxes
    node : ndarray of int
        Their places in the tree.
    proof : ndarray of int
        What proves the bound, -1 for nothing.
    """

    boxes: Boxes
    node: IntArray
    proof: IntArray

    @property
    def bound(self) -> FloatArray:
        """The bound that is known of each case."""
        return self.rank


class CaseSearch(BestFirst[Open]):
    """The state of the search of all rows; a kind of cell says how a case is advanced.

    Parameters
    ----------
    task : Task
        With a domain.
    width : int
        Cases of one row that are looked at in one round.
    most : int
        Cases of one row after which the others are given up.
    """

    def __init__(self, task: Task, width: int, most: int) -> None:
        if task.domain is None:
            raise ValueError("This task has no domain; its cell has methods of its own.")
        n = len(task)
        self.task, self.domain, self.width, self.most = task, task.domain, width, most
        self.best, self.points = np.full(n, np.inf), np.full(task.centers.shape, np.nan)
        self.looked_at = np.zeros(n, dtype=np.int64)
        self.tree = TreeBuilder(len(task.cell.G))
        self.roots = self.tree.add(n)
        #: The least bound of all leaves, and of those that were given up.
        self.least, self.left = np.full(n, np.inf), np.full(n, np.inf)

    def run(self, lower: FloatArray, upper: FloatArray) -> None:
        """Search within the bounds, both of shape (n, n_columns)."""
        n = len(self.task)
        boxes = whole_boxes(self.domain, lower, upper)
        first = self._enter(boxes, self.roots, np.zeros(n), np.full(n, -1))
        search(self, first, Limits.of(self.task.options, n))

    def gap(self, row: IntArray) -> FloatArray | float:
        """Return how close to the best, relatively, a case is of no interest."""
        raise NotImplementedError

    def limit(self, row: IntArray) -> FloatArray:
        """Return the bound from which on a case of each row is of no interest."""
        reach = np.minimum(self.best[row], self.task.cutoff[row])
        return np.asarray(reach * (1.0 - self.gap(row)))

    def outcome(self) -> CodeArray:
        """Return what became of each row."""
        given_up = self.left < self.limit(np.arange(len(self.best)))
        lost = np.where(given_up | np.isinf(self.task.cutoff), TROUBLE, CUT)
        lost = np.where(np.isinf(self.least), EMPTY, lost)
        return np.where(np.isfinite(self.best), SOLVED, lost).astype(np.int8)

    def kept(self, waiting: Open) -> Open:
        """Return the cases that may hold something better; the others are leaves."""
        spent = self.looked_at[waiting.row] >= self.most
        keep = ~spent & (waiting.bound < self.limit(waiting.row))
        if keep.all():
            return waiting
        self.close(waiting.take(~keep))
        self.leave(waiting.take(spent))
        return waiting.take(keep)

    def close(self, leaves: Open) -> None:
        """Note leaves: their bounds hold for what is in them."""
        np.minimum.at(self.least, leaves.row, leaves.bound)

    def leave(self, waiting: Open) -> None:
        """Note leaves that may hold something better."""
        self.close(waiting)
        np.minimum.at(self.left, waiting.row, waiting.bound)

    def offer(self, row: IntArray, points: FloatArray) -> None:
        """Take allowed points where they are better than the best."""
        value = distance(points, self.task.centers[row], self.task.weights)
        for k in np.argsort(value, kind="stable"):
            if value[k] < self.best[row[k]]:
                self.best[row[k]], self.points[row[k]] = value[k], points[k]

    def split(self, chosen: Open, splits: Splits) -> Open:
        """Return the two cases of each of the chosen ones; what cannot be split is given up."""
        whole = splits.is_leaf
        self.leave(chosen.take(whole))
        parts, splits = chosen.take(~whole), splits.take(~whole)
        boxes, nodes = self.tree.split(parts.boxes, parts.node, splits)
        return self._enter(boxes, nodes, np.tile(parts.bound, 2), np.tile(parts.proof, 2))

    def _enter(self, boxes: Boxes, node: IntArray, bound: FloatArray, proof: IntArray) -> Open:
        """Return narrowed cases; empty ones stay leaves that need no proof."""
        tight, empty = narrow(self.domain, boxes)
        self.tree.proof[node] = proof
        return Open(tight.row, bound, tight, node, proof).take(~empty)


class TreeBuilder:
    """A tree in growing arrays, with multipliers of ``n_rows`` rows for its leaves."""

    def __init__(self, n_rows: int) -> None:
        none = np.zeros(0, dtype=np.int64)
        self._tree = Tree(none.astype(np.int8), none, np.zeros(0), np.zeros(0), none, none, none)
        self._multipliers: list[FloatArray] = [np.zeros((0, n_rows))]
        self._rays: list[BoolArray] = [np.zeros(0, dtype=bool)]
        self._n_proofs = 0
        self.size = 0

    @property
    def proof(self) -> IntArray:
        """The multipliers of each node."""
        return self._tree.proof

    def add(self, n: int) -> IntArray:
        """Return the places of n new leaves."""
        if self.size + n > len(self._tree.kind):
            self._grow(max(len(self._tree.kind), n, 64))
        places = np.arange(self.size, self.size + n)
        self.size += n
        return places

    def _grow(self, more: int) -> None:
        leaf, zero = np.full(more, LEAF, dtype=np.int8), np.zeros(more, dtype=np.int64)
        none, gap = zero - 1, np.zeros(more)
        self._tree = Tree.stack([self._tree, Tree(leaf, zero, gap, gap, none, none, none)])

    def keep_proofs(self, multipliers: FloatArray, ray: BoolArray) -> IntArray:
        """Return the numbers of new rows of multipliers."""
        self._multipliers.append(multipliers)
        self._rays.append(ray)
        places = np.arange(self._n_proofs, self._n_proofs + len(ray))
        self._n_proofs += len(ray)
        return places

    def split(self, boxes: Boxes, nodes: IntArray, splits: Splits) -> tuple[Boxes, IntArray]:
        """Split leaves, and return the cases of all left, then of all right children."""
        left, right = self.add(len(nodes)), self.add(len(nodes))
        t, s = self._tree, splits
        t.kind[nodes], t.place[nodes], t.low[nodes], t.high[nodes] = s.kind, s.place, s.low, s.high
        t.left[nodes], t.right[nodes] = left, right
        return children(boxes, splits), np.concatenate([left, right])

    def finish(self) -> tuple[Tree, FloatArray, BoolArray]:
        """Return the tree with its multipliers."""
        tree = self._tree.take(np.arange(self.size))
        return tree, np.vstack(self._multipliers), np.concatenate(self._rays)
