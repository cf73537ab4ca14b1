"""The proof of a distance: branchings, replayed box by box with bounds of this folder.

A branching halves a box at a cut of one column; nothing is lost, wherever it is. A box is closed
where its nearest point costs the claim, where no leaf of some tree is left, where the shared-cost
bound says so, or where the trees are down to one leaf each and the label does not win there: the
sums are then those of the library, to the bit. Boxes that stay open at the end of the list are
split here, up to a number of times, so that no proof hangs on how well weights were guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion, as_ensemble
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs
from pertinent.proofs.ensembles.boxes import Boxes, Rules
from pertinent.proofs.ensembles.conditions import Conditions
from pertinent.proofs.ensembles.shares import best_prices, close_by_shares
from pertinent.proofs.ensembles.tables import Tables
from pertinent.proofs.ensembles.weights import RowWeights, Weighed, Weights
from pertinent.proofs.tolerances import ENSEMBLE_COSTS, LOWERED_TREES

#: Conditions of leaves that are looked at together.
AT_ONCE = 400_000
#: Numbers of tables (rows times places) that are made together.
TABLES = 4_000_000
#: Boxes that may be split beside those of a proof: so many, and this share of its own.
MORE_BOXES, MORE_SHARE = 200, 1.0


@record_as("trees")
@dataclass(frozen=True, eq=False)
class EnsembleProofs(Proofs):
    """Branchings of one row each, in the order of a search that goes down first.

    Parameters
    ----------
    claimed : ndarray of shape (n,)
        What no point costs less than; ``inf``: there is no point.
    column : tuple of ndarray of int
        The column that each box is halved at; -1 where it is closed.
    cut : tuple of ndarray of int
        Twice the last cell of the lower side, plus 1 where the upper side comes first.
    rival : tuple of ndarray of int
        The rival against which the shared-cost bound is computed.
    price : tuple of ndarray
        Its price; 0: the other rules close the box.
    weights : Weights, optional
        Its weights; without them weights are guessed (see `shares`).
    """

    claimed: FloatArray
    column: tuple[IntArray, ...]
    cut: tuple[IntArray, ...]
    rival: tuple[IntArray, ...]
    price: tuple[FloatArray, ...]
    weights: Weights | None = None

    def bounds(self, task: Task) -> FloatArray:
        """Return the claims that replaying confirms, else the cost of the nearest point."""
        region = as_ensemble(task.region)
        start = np.minimum(np.maximum(task.centers, task.lower), task.upper)
        known = np.asarray((task.weights * np.abs(start - task.centers)).sum(axis=1))
        known[(task.lower > task.upper).any(axis=1)] = np.inf
        if region is None or not _is_covered(task.domain):
            return known
        conditions = Conditions.of(region, () if task.domain is None else task.domain.groups)
        size = max(1, TABLES // int(region.ensemble.n_cells.sum() + region.dim))
        for first in range(0, len(task), size):
            rows = np.arange(first, min(first + size, len(task)))
            proved = self.take(rows)._replayed(task.take(rows), region, conditions, known[rows])
            known[rows] = np.maximum(known[rows], proved)
        return known

    def _replayed(
        self, task: Task, region: EnsembleRegion, conditions: Conditions, known: FloatArray
    ) -> FloatArray:
        tables = Tables.of(task, region)
        sizes = (task.weights * np.abs(task.centers)).sum(axis=1)
        proved: FloatArray = np.full(len(task), -np.inf)
        nodes = _Nodes.of(self)
        for share in LOWERED_TREES:
            claim = self.claimed - share * sizes
            rows = np.flatnonzero(np.isneginf(proved) & (claim > known) & nodes.sound)
            if share and not np.isfinite(self.claimed[rows]).all():
                rows = rows[np.isfinite(self.claimed[rows])]
            if not len(rows) or is_over():
                break
            met = claim * (1 - ENSEMBLE_COSTS)
            rules = Rules(conditions, tables, met - tables.fixed, task.domain)
            holds = _Replay(rules, region, nodes).run(rows)
            proved[rows[holds]] = met[rows[holds]]
        return proved


def _is_covered(domain: Domain | None) -> bool:
    """Return whether the rules here speak of all that the task allows.

    Inequalities that are kept beside may be left out: a bound on more points is one on fewer.
    """
    return domain is None or not (domain.bins or domain.together)


@dataclass(frozen=True, eq=False)
class _Nodes:
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
    def of(cls, proofs: EnsembleProofs) -> _Nodes:
        sizes = [len(column) for column in proofs.column]
        root = np.cumsum([0, *sizes])[:-1]
        below, sound, source, stated = [], [], [], dict[int, RowWeights]()
        for row, (start, column, cut) in enumerate(
            zip(root, proofs.column, proofs.cut, strict=True)
        ):
            sides = _sides(np.asarray(column), np.asarray(cut))
            sound.append(sides is not None)
            none = np.full((len(column), 2), -1)
            below.append(none if sides is None else np.where(sides < 0, -1, sides + start))
            own = None if proofs.weights is None else proofs.weights.of_row(row, len(column))
            if own is None or sides is None:
                source.append(np.full(len(column), -1))
                continue
            stated[row] = own
            source.append(_sources(sides, own.count))
        columns = (proofs.column, proofs.cut, proofs.rival)
        column, cut, rival = (
            np.concatenate([np.asarray(a, dtype=np.int64) for a in one] or [np.zeros(0, int)])
            for one in columns
        )
        price = np.concatenate([np.asarray(a, dtype=float) for a in proofs.price] or [np.zeros(0)])
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


@dataclass(eq=False)
class _Replay:
    """The boxes of some rows, derived again."""

    rules: Rules
    region: EnsembleRegion
    nodes: _Nodes

    def run(self, rows: IntArray) -> BoolArray:
        """Return for which rows every box is closed."""
        self.failed = np.zeros(len(self.rules.claim), dtype=bool)
        self.weighed = Weighed(self.rules, self.nodes.stated)
        sizes = np.array([len(c) for c in np.split(self.nodes.column, self.nodes.root[1:])])
        self.more = (MORE_BOXES + MORE_SHARE * sizes).astype(np.int64)
        listed = max(1, len(self.rules.conditions.leaf))
        size = max(1, AT_ONCE // listed)
        waiting = [
            self.rules.whole(
                rows[first : first + size], self.nodes.root[rows[first : first + size]]
            )
            for first in range(0, len(rows), size)
        ]
        while waiting:
            if is_over():
                self.failed[np.concatenate([boxes.row for boxes in waiting])] = True
                break
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
        if self.nodes.stated:
            size += len(self.weighed.sections) + int(self.rules.tables.offset[-1])
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
        stated = known & (self.nodes.source[boxes.node] >= 0)
        boxes = self._weighed(boxes, closed, price, rivals, stated & (price > 0))
        guessed = np.flatnonzero(~closed & ~stated & (price > 0))
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

    def _weighed(
        self, boxes: Boxes, closed: BoolArray, price: FloatArray, rival: IntArray, mine: BoolArray
    ) -> Boxes:
        """Use the bound with the weights of the proof on some boxes."""
        some = np.flatnonzero(mine & ~closed & np.isfinite(self.rules.claim[boxes.row]))
        if not len(some):
            return boxes
        mine = np.zeros(len(boxes), dtype=bool)
        mine[some] = True
        part, shut = boxes.take(some), np.zeros(len(some), dtype=bool)
        source = self.nodes.source[part.node]
        part = self.weighed.close(part, shut, price[some], rival[some], source)
        part = self.rules.narrow(part, shut)
        closed[some] |= shut
        return _merged(boxes, part, mine, some)

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
    order = np.argsort(box, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    listed = np.argsort(box[pair], kind="stable")
    return Boxes(
        boxes.row, boxes.node, low, high, box[order], leaf[order], number[pair[listed]],
        place[listed],
    )  # fmt: skip
