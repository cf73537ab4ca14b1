"""The tree of cases while it grows: how every search over a domain writes down its proof."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs.cases.branch import LEAF, Tree
from pertinent.solvers.search.narrow import Boxes
from pertinent.solvers.search.split import Splits, children


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
