"""Boxes that no stated weights close: weights are guessed, and boxes are split here.

So are all boxes of a proof that states no weights. Boxes that stay open at the end of the list of
branchings are split, up to a number of times: no proof hangs on how well weights were guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import is_over
from pertinent.proofs.ensembles.boxes import Boxes, Rules
from pertinent.proofs.ensembles.conditions import AT_ONCE
from pertinent.proofs.ensembles.nodes import Nodes
from pertinent.proofs.ensembles.shares import best_prices, close_by_shares

#: Boxes that may be split beside those of a proof: so many, and this share of its own.
MORE_BOXES, MORE_SHARE = 200, 1.0


@dataclass(eq=False)
class Rest:
    """Boxes of some rows, with the branchings below them."""

    rules: Rules
    region: EnsembleRegion
    nodes: Nodes

    def run(self, rows: IntArray, boxes: Iterable[Boxes]) -> BoolArray:
        """Return for which rows all of the boxes, no leaf listed yet, can be closed.

        The next are asked for when those before are closed, as long as there is time.
        """
        self.failed = np.zeros(len(self.rules.claim), dtype=bool)
        sizes = np.array([len(c) for c in np.split(self.nodes.column, self.nodes.root[1:])])
        self.more = (MORE_BOXES + MORE_SHARE * sizes).astype(np.int64)
        for some in boxes:
            reached = self.rules.reached(some)
            if reached is None:  # what is not looked at shows nothing
                return np.zeros(len(rows), dtype=bool)
            waiting = [reached]
            while waiting:
                if is_over():
                    return np.zeros(len(rows), dtype=bool)
                waiting += self._below(waiting.pop())
        return ~self.failed[rows]

    def _below(self, boxes: Boxes) -> list[Boxes]:
        """Close what can be closed; return the two sides of what is left, in batches."""
        boxes = boxes.take(np.flatnonzero(~self.failed[boxes.row]))
        closed = np.zeros(len(boxes), dtype=bool)
        boxes = self._closed(boxes, closed)
        left = np.flatnonzero(~closed)
        if not len(left):
            return []
        boxes = boxes.take(left)
        node = boxes.node
        is_end = (node < 0) | (self.nodes.column[node] < 0)
        column, cut = self.nodes.column[node], self.nodes.cut[node] // 2
        below = np.where(is_end[:, None], -1, self.nodes.below[node])
        width = np.diff(self.rules.tables.offset)
        wrong = ~is_end & ((column >= len(width)) | (cut < 0))
        wrong |= ~is_end & (cut >= width[np.where(wrong, 0, column)] - 1)
        self.failed[boxes.row[wrong]] = True
        ends = np.flatnonzero(is_end)
        if len(ends):
            np.subtract.at(self.more, boxes.row[ends], 1)
            self.failed[boxes.row[ends][self.more[boxes.row[ends]] < 0]] = True
            column, cut = column.copy(), cut.copy()
            column[ends], cut[ends] = self._own_cuts(boxes, ends)
            self.failed[boxes.row[ends][column[ends] < 0]] = True
        good = np.flatnonzero(~self.failed[boxes.row])
        return self._halved(boxes.take(good), column[good], cut[good], below[good])

    def _halved(
        self, boxes: Boxes, column: IntArray, cut: IntArray, below: IntArray
    ) -> list[Boxes]:
        size = np.bincount(boxes.box[boxes.pair], minlength=len(boxes)) + 1
        batch = np.cumsum(2 * size) // AT_ONCE
        out = []
        for k in np.unique(batch):
            some = np.repeat(np.flatnonzero(batch == k), 2)
            both, side = boxes.take(some), np.tile([0, 1], len(some) // 2)
            row, at = np.arange(len(some)), column[some]
            low, high = both.low, both.high
            high[row, at] = np.where(side == 0, np.minimum(high[row, at], cut[some]), high[row, at])
            low[row, at] = np.where(
                side == 1, np.maximum(low[row, at], cut[some] + 1), low[row, at]
            )
            out.append(replace(both, node=below[some, side]))
        return out

    def _closed(self, boxes: Boxes, closed: BoolArray) -> Boxes:
        """Apply all rules and the shared-cost bound; note the boxes that are closed."""
        boxes = self.rules.narrow(boxes, closed)
        known = boxes.node >= 0
        price = np.where(known, self.nodes.price[boxes.node], 0.0)
        rival = np.where(known, self.nodes.rival[boxes.node], 0)
        rival = np.clip(rival, 0, len(self.rules.conditions.needed) - 1)
        rivals = self._tightest(boxes, rival, ~known)
        guessed = np.flatnonzero(~closed & (price > 0))
        boxes = self._priced(boxes, closed, price, rivals, guessed)
        self._decided(boxes, closed)
        # Nothing is known of what a box is closed by: look for a price.
        ends = known & (self.nodes.column[boxes.node] < 0) | ~known
        tried = np.flatnonzero(~closed & ends & np.isfinite(self.rules.claim[boxes.row]))
        if len(tried):
            some = boxes.take(tried)
            room = self.rules.claim[some.row]
            guess = np.where(price[tried] > 0, price[tried], 1.0 / np.maximum(room, 1e-300))
            price[tried] = best_prices(self.rules, some, guess, rivals[tried])
            boxes = self._priced(boxes, closed, price, rivals, tried)
            self._decided(boxes, closed)
        return boxes

    def _priced(
        self, boxes: Boxes, closed: BoolArray, price: FloatArray, rival: IntArray, some: IntArray
    ) -> Boxes:
        """Use the bound on some boxes, as long as it leaves out a good part of their leaves."""
        for _ in range(3):
            if not len(some):
                break
            mine = np.zeros(len(boxes), dtype=bool)
            mine[some] = True
            part, shut = boxes.take(some), np.zeros(len(some), dtype=bool)
            before = np.bincount(part.box, minlength=len(some))
            part = close_by_shares(self.rules, part, shut, price[some], rival[some])
            part = self.rules.narrow(part, shut)
            closed[some] |= shut
            after = np.bincount(part.box, minlength=len(some))
            boxes = _merged(boxes, part, mine, some)
            some = some[~shut & (after < 0.9 * before)]
        return boxes

    def _tightest(self, boxes: Boxes, rival: IntArray, unknown: BoolArray) -> IntArray:
        """Return a rival for each box; where none is known, the one that is hardest to beat."""
        c = self.rules.conditions
        if len(c.needed) == 1 or not unknown.any():
            return rival
        inside = self._inside(boxes)
        total = np.stack(
            [
                np.bincount(boxes.box[inside], c.lead[boxes.leaf[inside], j], len(boxes)) - needed
                for j, needed in enumerate(c.needed)
            ],
            axis=1,
        )
        return np.where(unknown, total.argmin(axis=1), rival)

    def _inside(self, boxes: Boxes) -> BoolArray:
        """Return which leaves hold their box's nearest point."""
        c, dim = self.rules.conditions, boxes.low.shape[1]
        p = self.rules.nearest(boxes).reshape(-1)[
            boxes.box[boxes.pair] * dim + c.column[boxes.place]
        ]
        inside = np.ones(len(boxes.leaf), dtype=bool)
        inside[boxes.pair[(p < c.first[boxes.place]) | (p > c.last[boxes.place])]] = False
        return inside

    def _decided(self, boxes: Boxes, closed: BoolArray) -> None:
        """Close boxes in which every tree is down to one leaf and the label does not win."""
        count = np.bincount(boxes.box, minlength=len(boxes))
        single = np.flatnonzero(~closed & (count == self.rules.conditions.n_trees))
        if not len(single):
            return
        region, some = self.region, boxes.take(single)
        value = region.ensemble.leaves.value[some.leaf]
        terms = value.reshape(len(single), -1, value.shape[1])
        totals = region.ensemble.tally.totals(terms)
        wins = np.ones(len(single), dtype=bool)
        for other in region.rivals:
            wins &= region.ensemble.tally.beats(totals, region.label, other)
        closed[single[~wins]] = True

    def _own_cuts(self, boxes: Boxes, some: IntArray) -> tuple[IntArray, IntArray]:
        """Return where to halve boxes that no branching is left for; -1: nowhere.

        At the condition, not met by the nearest point, of the leaf with the largest lead, that
        costs most; else at any condition that divides the box.
        """
        c, part = self.rules.conditions, boxes.take(some)
        column, dim = c.column[part.place], part.low.shape[1]
        flat = part.box[part.pair] * dim + column
        low, high = part.low.reshape(-1)[flat], part.high.reshape(-1)[flat]
        first, last = c.first[part.place], c.last[part.place]
        below, above = first > low, last < high
        where = np.where(below, first - 1, last)
        p = self.rules.nearest(part).reshape(-1)[flat]
        missed = (p < first) | (p > last)
        score = c.lead[part.leaf[part.pair], 0] - c.lead.min()
        score = np.where(missed, 1.0 + score, 0.5) * (below | above)
        found = np.full(len(some), -1), np.full(len(some), -1)
        order = np.lexsort((-score, part.box[part.pair]))
        top = order[np.unique(part.box[part.pair][order], return_index=True)[1]]
        top = top[score[top] > 0]
        found[0][part.box[part.pair[top]]] = column[top]
        found[1][part.box[part.pair[top]]] = where[top]
        return found


def _merged(boxes: Boxes, part: Boxes, mine: BoolArray, some: IntArray) -> Boxes:
    """Return the boxes with some of them replaced by what is left of them."""
    low, high = boxes.low.copy(), boxes.high.copy()
    low[some], high[some] = part.low, part.high
    kept = boxes.without(mine[boxes.box])
    box = np.concatenate([kept.box, some[part.box]])
    leaf = np.concatenate([kept.leaf, part.leaf])
    pair = np.concatenate([kept.pair, part.pair + len(kept.leaf)])
    place = np.concatenate([kept.place, part.place])
    return replace(boxes, low=low, high=high).listing(box, leaf, pair, place)
