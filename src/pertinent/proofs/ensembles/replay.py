"""The ends of one row's branchings, each derived from its cuts alone, many at once.

A box is what the cuts above it leave of the whole box. So no box has to wait for the one above it:
the ends of a list, the boxes that it says are closed, are looked at side by side. Neighbours in the
list lie close to each other, so few leaves and conditions matter to a batch of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import IntArray, Rows
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import is_over
from pertinent.proofs.ensembles.derive import Batch, Look
from pertinent.proofs.ensembles.nodes import Nodes
from pertinent.proofs.ensembles.part import OneRow, Part

#: Numbers (lines times boxes) that are looked at together; boxes at least and at most.
AT_ONCE, LEAST_BOXES, MOST_BOXES = 400_000, 8, 64
#: How often the rules are applied before the bound, try by try. The bound closes most ends as soon
#: as the rules were applied once; the others are looked at again, whatever the first try took away.
ROUNDS = (1, 3, 20, 20, 20)
#: Boxes are looked at again if this share of their leaves, or less, is left.
WORTH = 0.995


@dataclass(eq=False)
class Replay:
    """The ends of one row.

    Parameters
    ----------
    one : OneRow
    nodes : Nodes
        The branchings of all rows.
    """

    one: OneRow
    region: EnsembleRegion
    nodes: Nodes

    def __post_init__(self) -> None:
        self.look = Look(self.one, self.region, self.nodes)
        self.left: list[Ends] = []

    def run(self, low: IntArray, high: IntArray, leaf: IntArray, node: int) -> bool:
        """Look at all ends below a box; note in ``left`` those that stay open.

        Return False if the list of branchings is wrong, or the time is over.
        """
        ends = self._ends(Ends(low[None], high[None], np.array([node])))
        if ends is None:
            return False
        first = 0
        while first < len(ends.node):
            if is_over():
                return False
            some = ends.take(np.arange(first, min(first + MOST_BOXES, len(ends.node))))
            part = Part.of(self.one, leaf, some.low.min(axis=0), some.high.max(axis=0))
            size = min(max(AT_ONCE // max(len(part), 1), LEAST_BOXES), len(some.node))
            self._close(part, some.take(np.arange(size)))
            first += size
        return True

    def _ends(self, boxes: Ends) -> Ends | None:
        """Return the ends below boxes, in the order of the list; None if a cut is none."""
        out = []
        while len(boxes.node):
            is_end = self.nodes.column[boxes.node] < 0
            out.append(boxes.take(np.flatnonzero(is_end)))
            inner = boxes.take(np.flatnonzero(~is_end))
            below = self._halves(inner)
            if below is None:
                return None
            boxes = below
        ends = Ends.stack(out)
        return ends.take(np.argsort(ends.node, kind="stable"))

    def _halves(self, boxes: Ends) -> Ends | None:
        """Return both sides of boxes; None if a cut is none."""
        column, cut = self.nodes.column[boxes.node], self.nodes.cut[boxes.node] // 2
        width = np.diff(self.one.rules.tables.offset)
        if (column >= len(width)).any() or (cut < 0).any() or (cut >= width[column] - 1).any():
            return None
        twice = np.repeat(np.arange(len(boxes.node)), 2)
        side, line, at = np.tile([0, 1], len(column)), np.arange(len(twice)), column[twice]
        low, high, cut = boxes.low[twice], boxes.high[twice], cut[twice]
        high[line, at] = np.where(side == 0, np.minimum(high[line, at], cut), high[line, at])
        low[line, at] = np.where(side == 1, np.maximum(low[line, at], cut + 1), low[line, at])
        return Ends(low, high, self.nodes.below[boxes.node[twice], side])

    def _close(self, part: Part, ends: Ends) -> None:
        """Look at some ends until nothing more is found; note those that stay open."""
        every = np.ones((len(part.leaf), len(ends.node)), dtype=bool)
        batch = Batch(part, ends.low, ends.high, ends.node, every)
        for k, rounds in enumerate(ROUNDS):
            before = batch.node
            count = np.count_nonzero(batch.alive, axis=0)
            batch = self.look.open(batch, rounds)
            same = count[np.isin(before, batch.node)]
            if k and (np.count_nonzero(batch.alive, axis=0) > WORTH * same).all():
                break
        if len(batch):
            self.left.append(Ends(batch.low, batch.high, batch.node))


@dataclass(frozen=True, eq=False)
class Ends(Rows):
    """Boxes as their cuts leave them: ``low`` and ``high`` of shape (n_boxes, n_columns)."""

    low: IntArray
    high: IntArray
    node: IntArray
