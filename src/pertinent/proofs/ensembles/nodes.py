"""The branchings of proofs, read as a tree: which two boxes lie below each one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs.ensembles.weights import RowWeights, Weights


@dataclass(frozen=True, eq=False)
class Nodes:
    """The branchings of all rows, one row after the other, with the boxes below each."""

    root: IntArray
    column: IntArray
    cut: IntArray
    rival: IntArray
    price: FloatArray
    below: IntArray  # (n_nodes, 2): the lower and the upper side; -1 where there is none
    source: IntArray  # (n_nodes,) the box above, or the box itself, that has weights; -1: none
    stated: dict[int, RowWeights]
    sound: BoolArray  # (n_rows,)

    @classmethod
    def of(
        cls, columns: tuple[IntArray, ...], cuts: tuple[IntArray, ...],
        rivals: tuple[IntArray, ...], prices: tuple[FloatArray, ...], weights: Weights | None,
    ) -> Nodes:  # fmt: skip
        """Return the branchings of rows, one array each; rows that are no tree are not sound."""
        root = np.cumsum([0, *map(len, columns)])[:-1]
        below, sound, source, stated = [], [], [], dict[int, RowWeights]()
        for row, (start, column, cut) in enumerate(zip(root, columns, cuts, strict=True)):
            sides = _sides(np.asarray(column), np.asarray(cut))
            sound.append(sides is not None)
            none = np.full((len(column), 2), -1)
            below.append(none if sides is None else np.where(sides < 0, -1, sides + start))
            own = None if weights is None else weights.of_row(row, len(column))
            if own is None or sides is None:
                source.append(np.full(len(column), -1))
                continue
            stated[row] = own
            source.append(_sources(sides, own.count))
        column, cut, rival = (
            np.concatenate([np.asarray(a, dtype=np.int64) for a in one] or [np.zeros(0, int)])
            for one in (columns, cuts, rivals)
        )
        price = np.concatenate([np.asarray(a, dtype=float) for a in prices] or [np.zeros(0)])
        price = np.where(np.isfinite(price), np.maximum(price, 0.0), 0.0)
        both = np.concatenate(below or [np.zeros((0, 2), int)])
        sources = np.concatenate(source or [np.zeros(0, int)])
        good = np.array(sound, dtype=bool)
        return cls(root, column, cut, rival, price, both, sources, stated, good)


def _sides(column: IntArray, cut: IntArray) -> IntArray | None:
    """Return the two boxes below each one, from a list that goes down first; None if it is none."""
    below = np.full((len(column), 2), -1)
    waiting: list[tuple[int, int]] = []
    columns, cuts = column.tolist(), cut.tolist()
    if not columns:
        return None
    for i, j in enumerate(columns):
        if i:
            if not waiting:
                return None
            parent, side = waiting.pop()
            below[parent, side] = i
        if j >= 0:
            first = cuts[i] % 2
            waiting.append((i, 1 - first))
            waiting.append((i, first))
    return None if waiting else below


def _sources(sides: IntArray, count: IntArray) -> IntArray:
    """Return for each box itself if it has weights, else the next box above that has; -1: none."""
    source = np.where(count > 0, np.arange(len(count)), -1).tolist()
    for i, (low, high) in enumerate(sides.tolist()):
        for side in (low, high):
            if side >= 0 and source[side] < 0:
                source[side] = source[i]
    return np.array(source)
