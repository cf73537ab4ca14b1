"""The tree of cases while it grows, and the cases that wait to be solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.proofs.cases.branch import LEAF, Tree
from pertinent.solvers.search.narrow import Boxes, children


@dataclass(frozen=True, eq=False)
class Open:
    """Cases that are not decided yet.

    Parameters
    ----------
    boxes : Boxes
    nodes : ndarray of int
        Their places in the tree.
    bound : ndarray
        What is already proved of each.
    proof : ndarray of int
        The multipliers that prove it, -1 for none.
    """

    boxes: Boxes
    nodes: IntArray
    bound: FloatArray
    proof: IntArray

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, rows: IntArray | BoolArray) -> Open:
        """Return some of the cases."""
        return Open(self.boxes.take(rows), self.nodes[rows], self.bound[rows], self.proof[rows])

    def choose(self, width: int) -> tuple[Open, Open]:
        """Return each row's cases of least bound, at most ``width``, and all the others."""
        row = self.boxes.row
        order = np.lexsort((self.nodes, self.bound, row))
        first = np.searchsorted(row[order], row[order], side="left")
        chosen = np.zeros(len(self), dtype=bool)
        chosen[order[np.arange(len(order)) - first < width]] = True
        return self.take(chosen), self.take(~chosen)

    @staticmethod
    def joined(one: Open, other: Open) -> Open:
        """Return the cases of both."""
        boxes = Boxes(
            np.concatenate([one.boxes.row, other.boxes.row]),
            np.concatenate([one.boxes.lower, other.boxes.lower]),
            np.concatenate([one.boxes.upper, other.boxes.upper]),
            np.concatenate([one.boxes.state, other.boxes.state]),
        )
        return Open(
            boxes,
            np.concatenate([one.nodes, other.nodes]),
            np.concatenate([one.bound, other.bound]),
            np.concatenate([one.proof, other.proof]),
        )


class TreeBuilder:
    """A tree in growing arrays."""

    def __init__(self, n_rows: int) -> None:
        self._tree = Tree(
            np.zeros(0, dtype=np.int8),
            np.zeros(0, dtype=np.int64),
            np.zeros(0),
            np.zeros(0),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
        )
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
            self._grow(max(2 * len(self._tree.kind), self.size + n, 64))
        places = np.arange(self.size, self.size + n)
        self.size += n
        return places

    def _grow(self, capacity: int) -> None:
        t = self._tree
        more = capacity - len(t.kind)

        def longer(a: IntArray, fill: int) -> IntArray:
            return np.concatenate([a, np.full(more, fill, dtype=a.dtype)])

        self._tree = Tree(
            np.concatenate([t.kind, np.full(more, LEAF, dtype=np.int8)]),
            longer(t.place, 0),
            np.concatenate([t.low, np.zeros(more)]),
            np.concatenate([t.high, np.zeros(more)]),
            longer(t.left, -1),
            longer(t.right, -1),
            longer(t.proof, -1),
        )

    def keep_proofs(self, multipliers: FloatArray, ray: BoolArray) -> IntArray:
        """Return the numbers of new rows of multipliers."""
        self._multipliers.append(multipliers)
        self._rays.append(ray)
        places = np.arange(self._n_proofs, self._n_proofs + len(ray))
        self._n_proofs += len(ray)
        return places

    def split(
        self,
        boxes: Boxes,
        nodes: IntArray,
        kind: CodeArray,
        place: IntArray,
        low: FloatArray,
        high: FloatArray,
    ) -> tuple[Boxes, IntArray]:
        """Split leaves, and return the cases of all left, then of all right children."""
        left, right = self.add(len(nodes)), self.add(len(nodes))
        t = self._tree
        t.kind[nodes], t.place[nodes], t.low[nodes], t.high[nodes] = kind, place, low, high
        t.left[nodes], t.right[nodes] = left, right
        return children(boxes, kind, place, low, high), np.concatenate([left, right])

    def finish(self) -> tuple[Tree, FloatArray, BoolArray]:
        """Return the tree with its multipliers."""
        t, n = self._tree, self.size
        tree = Tree(
            t.kind[:n], t.place[:n], t.low[:n], t.high[:n], t.left[:n], t.right[:n], t.proof[:n]
        )
        return tree, np.vstack(self._multipliers), np.concatenate(self._rays)
