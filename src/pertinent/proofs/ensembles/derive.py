"""Rules and bound for many boxes of one row at once, with the weights that its proof states.

The rules R1-R6 are those of `pertinent.proofs.ensembles.boxes`, the bound is the one of
`pertinent.proofs.ensembles.weights`. Here boxes stand side by side: an array has one line for each
leaf, condition or section of a `Part`, and one column for each box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.proofs.ensembles.boxes import Boxes, Rules
from pertinent.proofs.ensembles.nodes import Nodes
from pertinent.proofs.ensembles.part import OneRow, Part, Places
from pertinent.proofs.ensembles.weights import SEVERAL_ROUNDINGS, UNIT

#: A place beyond those of every column.
BEYOND = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Batch:
    """Boxes of one part.

    Parameters
    ----------
    low, high : ndarray of int, shape (n_boxes, n_columns)
    node : ndarray of int, shape (n_boxes,)
        The place of each in the list of branchings.
    alive : ndarray of bool, shape (n_leaves, n_boxes)
        Which leaves each box still has.
    """

    part: Part
    low: IntArray
    high: IntArray
    node: IntArray
    alive: BoolArray

    def __len__(self) -> int:
        return len(self.node)

    def take(self, some: IntArray) -> Batch:
        """Return some of the boxes, in ascending order."""
        if len(some) == len(self):
            return self
        return replace(
            self,
            low=self.low[some],
            high=self.high[some],
            node=self.node[some],
            alive=self.alive[:, some],
        )


@dataclass(eq=False)
class Look:
    """What is left of boxes of one row.

    Parameters
    ----------
    one : OneRow
    nodes : Nodes
        The branchings of all rows, with prices.
    """

    one: OneRow
    region: EnsembleRegion
    nodes: Nodes

    def __post_init__(self) -> None:
        self.rules: Rules = self.one.rules
        self.claim = float(self.rules.claim[self.one.row])
        self.near = self.rules.tables.near[self.one.row][:, None]

    def open(self, batch: Batch, rounds: int) -> Batch:
        """Apply the rules so many times, then the bound; return the boxes that stay open."""
        batch = self._narrowed(batch, rounds)
        if len(batch) and np.isfinite(self.claim):
            with np.errstate(over="ignore", invalid="ignore"):
                batch = self._priced(batch)
        return self._undecided(batch)

    def _narrowed(self, batch: Batch, rounds: int) -> Batch:
        """Apply R1-R6 so many times, in copies."""
        batch = replace(
            batch, low=batch.low.copy(), high=batch.high.copy(), alive=batch.alive.copy()
        )
        for _ in range(rounds):
            closed = np.zeros(len(batch), dtype=bool)
            before = np.count_nonzero(batch.alive)
            self._snap(batch, closed)
            self._reachable(batch, closed)
            self._enough(batch, closed)
            moved = self._hull(batch, closed)
            batch = batch.take(np.flatnonzero(~closed))
            if not len(batch) or (not moved and np.count_nonzero(batch.alive) == before):
                break
        closed = np.zeros(len(batch), dtype=bool)
        self._snap(batch, closed)
        return batch.take(np.flatnonzero(~closed))

    def _snap(self, batch: Batch, closed: BoolArray) -> None:
        none = np.zeros(0, dtype=np.int64)
        row = np.full(len(batch), self.one.row)
        boxes = Boxes(row, batch.node, batch.low, batch.high, none, none, none, none)
        self.rules.snap(boxes, closed)

    def _costs(self, batch: Batch) -> FloatArray:
        """Return what the nearest point of each box costs, shape (n_columns, n_boxes)."""
        t = self.rules.tables
        places = np.minimum(np.maximum(self.near, batch.low.T), batch.high.T)
        return np.asarray(t.cost[self.one.row, t.offset[:-1, None] + places])

    def _reachable(self, batch: Batch, closed: BoolArray) -> None:
        """R1 and R2."""
        part, low, high = batch.part, _lines(batch.low), _lines(batch.high)
        missed = low[part.column] > part.last[:, None]
        missed |= high[part.column] < part.first[:, None]
        gone = part.of_leaf.reduce(np.logical_or, missed, False)
        cost, need = self._costs(batch), part.need
        near = cost.sum(axis=0)
        closed |= near >= self.claim
        extra = np.maximum(need.reach[:, None] - cost[need.column], 0.0)
        gone |= near + need.of_leaf.reduce(np.add, extra, 0.0) >= self.claim
        domain = self.rules.domain
        if domain is not None and domain.max_changes is not None and domain.has_lone_columns:
            # Those that change anyway were counted already.
            changed = (self.near < low) | (self.near > high)
            new = (~changed)[need.column].astype(np.int32)
            more = need.of_leaf.reduce(np.add, new, 0)
            gone |= more > domain.max_changes - np.count_nonzero(changed, axis=0)
        batch.alive[gone] = False

    def _enough(self, batch: Batch, closed: BoolArray) -> None:
        """R3, against every rival."""
        c, part, alive = self.rules.conditions, batch.part, batch.alive
        gone = np.zeros(alive.shape, dtype=bool)
        for j, needed in enumerate(c.needed):
            lead = part.lead[:, j, None]
            most = part.of_tree.reduce(np.maximum, np.where(alive, lead, -np.inf), -np.inf)
            slack = most.sum(axis=0) - needed + c.error
            closed |= slack < 0
            least = most - np.where(closed, 0.0, slack)
            gone |= lead < least[part.tree]
        alive[gone] = False

    def _hull(self, batch: Batch, closed: BoolArray) -> bool:
        """R4, in place; return whether any box has moved."""
        part, alive = batch.part, batch.alive
        count = part.of_tree.reduce(np.add, alive.astype(np.int32), 0)
        closed |= (count == 0).any(axis=0)
        mine = alive[part.owner]
        every = part.of_way.reduce(np.add, mine.astype(np.int32), 0) == count[part.way_tree]
        first = np.where(mine, part.first[:, None], np.int32(BEYOND))
        last = np.where(mine, part.last[:, None], np.int32(-1))
        least = np.where(every, part.of_way.reduce(np.minimum, first, BEYOND), np.int32(0))
        most = np.where(every, part.of_way.reduce(np.maximum, last, -1), np.int32(BEYOND))
        low = part.of_column.reduce(np.maximum, least, 0).T
        high = part.of_column.reduce(np.minimum, most, BEYOND).T
        moved = bool(((low > batch.low) | (high < batch.high))[~closed].any())
        closed |= ((low > batch.high) | (high < batch.low)).any(axis=1)
        np.maximum(batch.low, low, out=batch.low)
        np.minimum(batch.high, high, out=batch.high)
        return moved

    def _priced(self, batch: Batch) -> Batch:
        """Use the bound with the weights and prices that the proof states."""
        c, part, node = self.rules.conditions, batch.part, batch.node
        source = self.nodes.source[node]
        price = np.where(source >= 0, self.nodes.price[node], 0.0)
        if not (price > 0).any():
            return batch
        rival = np.clip(self.nodes.rival[node], 0, len(c.needed) - 1)
        alive, paid = batch.alive.copy(), self._shares(batch, source)
        lead, paid = part.lead[:, rival], price * paid
        value = np.where(alive, lead - paid, -np.inf)
        most = part.of_tree.reduce(np.maximum, value, -np.inf)
        near = self._costs(batch).sum(axis=0)
        # Any point costs less than the claim: so much is what its steps may be rounded by.
        room = self.claim - near
        room += 8 * UNIT * self.rules.tables.offset[-1] * (abs(self.claim) + near)
        total = most.sum(axis=0) + price * room - c.needed[rival] + c.error
        size = part.of_tree.reduce(np.maximum, np.where(alive, np.abs(lead) + paid, 0.0), 0.0)
        sizes = size.sum(axis=0) + price * room + np.abs(c.needed[rival])
        total += 4 * UNIT * (c.n_trees + 8) * sizes
        alive[value < (most - total)[part.tree]] = False
        # A price may be so large that this is no number: then it says nothing.
        return replace(batch, alive=alive).take(np.flatnonzero(~(total < 0)))

    def _weights(self, batch: Batch, source: IntArray) -> FloatArray:
        """Return the weight of each section in each box; of sections that no leaf needs, 0."""
        part, stated = batch.part, self.one.weights
        some, which = np.unique(source, return_inverse=True)
        listed = np.zeros((stated.where.shape[1], len(some)))
        for i, k in enumerate(some.tolist()):
            if k >= 0:
                own = slice(stated.start[k], stated.start[k] + stated.count[k])
                listed[stated.section[own], i] = stated.weight[own]
        need, section = part.need, part.section
        mine, middle = batch.alive[need.owner], need.middle[:, None]
        begin = np.where(mine, need.begin[:, None], middle)
        begin = need.of_way.reduce(np.minimum, begin, BEYOND)[section.way]
        end = np.where(mine, need.end[:, None], middle)
        end = need.of_way.reduce(np.maximum, end, -1)[section.way]
        number = np.arange(len(section.way))[:, None]
        weight = listed[section.stated][:, which.reshape(-1)]
        weight[(number < begin) | (number >= end)] = 0.0
        return np.asarray(weight)

    def _shares(self, batch: Batch, source: IntArray) -> FloatArray:
        """Return what each leaf pays, in units of cost; never too much."""
        part, n = batch.part, len(batch)
        need, section = part.need, part.section
        weight = self._weights(batch, source)
        # Weights are whole numbers, so these sums are exact.
        total = _sums(weight[section.by_low])[section.begun]
        total -= _sums(weight[section.by_high])[section.ended]
        low, high = _lines(batch.low), _lines(batch.high)
        place = section.place[:, None]
        inside = (place >= low[section.column]) & (place < high[section.column]) & (total > 0)
        each = np.zeros((len(section.cost), n))
        np.divide(section.cost[:, None], total, out=each, where=inside)
        before = _sums(each)
        stop = before[section.high]
        rate = stop - before[section.low] - 4 * UNIT * (len(each) + 5) * stop
        charged = _sums(weight * np.maximum(rate, 0.0))
        stop = charged[need.end]
        share = stop - charged[need.begin] - 4 * UNIT * (len(weight) + 4) * stop
        # Divisions, products and sums of a few terms are off by a few units more.
        share = np.maximum(share, 0.0) * (1 - SEVERAL_ROUNDINGS)
        return need.of_leaf.reduce(np.add, share, 0.0)

    def _undecided(self, batch: Batch) -> Batch:
        """Leave out boxes in which every tree is down to one leaf and the label does not win."""
        single = np.count_nonzero(batch.alive, axis=0) == self.rules.conditions.n_trees
        some = np.flatnonzero(single)
        if not len(some):
            return batch
        line = np.nonzero(batch.alive[:, some].T)[1]  # sorted by box, then by tree
        value = self.region.ensemble.leaves.value[batch.part.leaf[line]]
        tally = self.region.ensemble.tally
        totals = tally.totals(value.reshape(len(some), -1, value.shape[1]))
        wins = np.ones(len(some), dtype=bool)
        for other in self.region.rivals:
            wins &= tally.beats(totals, self.region.label, other)
        single[some[wins]] = False
        return batch.take(np.flatnonzero(~single))


def _lines(values: IntArray) -> Places:
    """Return columns as lines, next to each other in memory."""
    return np.ascontiguousarray(values.T, dtype=np.int32)


def _sums(values: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, ... lines."""
    out = np.zeros((len(values) + 1, values.shape[1]))
    np.cumsum(values, axis=0, out=out[1:])
    return out
