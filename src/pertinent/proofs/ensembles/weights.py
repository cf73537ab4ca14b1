"""The shared-cost bound with weights that a proof states.

The bound is that of `pertinent.proofs.ensembles.shares`, with one weight for each *section* of a
tree. Where the cuts of a tree on a column are ``c1 < c2 < ...``, the steps from one place to the
next between two of them are alike to the tree. So the steps from the nearest place up to a cut, or
from one cut to the next, are a section, and its tree takes part in all of them with one weight. A
step is paid by the trees in proportion to their weights there. Weights are whole numbers, so their
sums are exact; any weights are right, good ones close boxes.

What a leaf pays is the sum over the sections on the way to it: a run of the sections of its tree
and column. Sums are rounded towards less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows
from pertinent.geometry.codec import record_as
from pertinent.proofs.ensembles.boxes import Boxes, Rules, heads
from pertinent.proofs.ensembles.conditions import Conditions
from pertinent.proofs.ensembles.tables import Tables

#: Larger weights count as this: sums of them stay exact.
MOST = 2**31
#: Unit roundoff of double precision.
UNIT = 2.0**-53
#: What a few hundred roundings come to.
SEVERAL_ROUNDINGS = 512 * UNIT


@record_as("tree-weights")
@dataclass(frozen=True, eq=False)
class Weights(Rows):
    """Weights of the boxes of each row.

    Parameters
    ----------
    count : tuple of ndarray of int
        How many weights each box has; a box without any has those of the box above.
    where : tuple of ndarray of int, shape (3, n_sections)
        Tree, column, and the allowed place below the cut at which each section ends.
    section, weight : tuple of ndarray of int
        The weights of all boxes, one box after the other; sections that are not listed have none.
    """

    count: tuple[IntArray, ...]
    where: tuple[IntArray, ...]
    section: tuple[IntArray, ...]
    weight: tuple[IntArray, ...]

    def of_row(self, row: int, boxes: int) -> RowWeights | None:
        """Return the weights of one row; None if they are none, or not of so many boxes."""
        count, where, section, weight = (
            np.asarray(part[row]) for part in (self.count, self.where, self.section, self.weight)
        )
        whole = all(np.issubdtype(a.dtype, np.integer) for a in (count, where, section, weight))
        fits = where.ndim == 2 and len(where) == 3 and count.shape == (boxes,)
        if not (whole and fits and len(section)) or section.ndim != 1:
            return None
        sums = count.min(initial=0) >= 0 and count.sum() == len(section)
        inside = section.min() >= 0 and section.max() < where.shape[1]
        if not (sums and inside and section.shape == weight.shape):
            return None
        return RowWeights(np.cumsum(count) - count, count, where, section, np.clip(weight, 0, MOST))


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The weights of one row: those of box i are ``start[i]`` and on, so many as ``count[i]``."""

    start: IntArray
    count: IntArray
    where: IntArray
    section: IntArray
    weight: IntArray


@dataclass(frozen=True, eq=False)
class Sections:
    """Where the trees cut columns, sorted by tree, column and place.

    Parameters
    ----------
    way : ndarray of int, shape (n_sections,)
        ``tree * n_columns + column``.
    place : ndarray of int, shape (n_sections,)
        The place below the cut.
    of_first, of_last : ndarray of int, shape (n_conditions,)
        The cut below ``first``, and the one above ``last``, of each condition; -1: none.
    """

    conditions: Conditions
    offset: IntArray
    way: IntArray
    place: IntArray
    of_first: IntArray
    of_last: IntArray

    @classmethod
    def of(cls, conditions: Conditions, offset: IntArray) -> Sections:
        """Return the sections of all leaves."""
        c, width = conditions, int(offset[-1]) + 1
        way = c.tree[c.leaf] * (len(offset) - 1) + c.column
        below = c.first > 0
        above = c.last < np.diff(offset)[c.column] - 1
        first, last = way * width + c.first - 1, way * width + c.last
        keys = np.unique(np.concatenate([first[below], last[above]]))
        return cls(
            c,
            offset,
            keys // width,
            keys % width,
            np.where(below, np.searchsorted(keys, first), -1),
            np.where(above, np.searchsorted(keys, last), -1),
        )

    def __len__(self) -> int:
        return len(self.way)

    @cached_property
    def column(self) -> IntArray:
        """The column of each section."""
        return self.way % (len(self.offset) - 1)

    @cached_property
    def begin(self) -> IntArray:
        """Where the sections of the tree and column of each condition begin."""
        c = self.conditions
        way = c.tree[c.leaf] * (len(self.offset) - 1) + c.column
        return np.searchsorted(self.way, way)

    def of_row(self, tables: Tables, row: int, stated: RowWeights) -> RowSections:
        """Return the sections as one row sees them."""
        near = tables.near[row][self.column]
        up = self.place >= near
        same = self.way[1:] == self.way[:-1]
        low, high = np.where(up, near, self.place), np.where(up, self.place + 1, near)
        low[1:][same & up[1:]] = np.maximum(self.place[:-1] + 1, near[1:])[same & up[1:]]
        high[:-1][same & ~up[:-1]] = np.minimum(self.place[1:], near[:-1])[same & ~up[:-1]]
        at = self.offset[self.column]
        # The way from the nearest place upwards begins behind the cuts below it.
        upwards = np.concatenate([[0], np.cumsum(~up)])
        end = np.searchsorted(self.way, self.way[heads(self.way)], side="right")
        begin = heads(self.way)
        middle = np.repeat(begin + upwards[end] - upwards[begin], end - begin)
        below = tables.down[row, at + self.place]
        width = int(self.offset[-1]) + 1
        tree, column, place = stated.where
        dim = len(self.offset) - 1
        known = (tree * dim + column) * width + place
        known = np.where((column >= 0) & (column < dim) & (place >= 0) & (place < width), known, -1)
        order = np.argsort(known, kind="stable")
        own = self.way * width + below
        spot = np.minimum(np.searchsorted(known[order], own), len(known) - 1)
        match = (known[order][spot] == own) & (below >= 0)
        return RowSections(
            at + low, at + high, np.append(middle, 0), np.where(match, order[spot], -1), stated
        )


@dataclass(frozen=True, eq=False)
class RowSections:
    """The sections of one row.

    Parameters
    ----------
    low, high : ndarray of int, shape (n_sections,)
        The steps of each section; step i leads from place i to the next, all columns in one line.
    middle : ndarray of int, shape (n_sections + 1,)
        The first section, of its tree and column, above the nearest place.
    stated : ndarray of int, shape (n_sections,)
        Its number in the proof; -1: not listed.
    """

    low: IntArray
    high: IntArray
    middle: IntArray
    stated: IntArray
    weights: RowWeights

    def of_box(self, node: int) -> FloatArray:
        """Return the weight of each section in a box."""
        w = self.weights
        own = slice(w.start[node], w.start[node] + w.count[node])
        listed = np.zeros(w.where.shape[1] + 1)
        listed[w.section[own]] = w.weight[own]
        return listed[self.stated]


def step_costs(tables: Tables, row: int) -> FloatArray:
    """Return what the step from each place to the next costs, away from the nearest place.

    A place that is not allowed costs as much as the next allowed one; beyond the last nothing.
    """
    out = np.zeros(tables.offset[-1])
    for j, (a, b) in enumerate(zip(tables.offset[:-1], tables.offset[1:], strict=True)):
        near, cost = tables.near[row, j], tables.cost[row, a:b]
        up, down = tables.up[row, a:b], tables.down[row, a:b]
        above = np.where(up < b - a, cost[np.minimum(up, b - a - 1)], -np.inf)[near:]
        below = np.where(down >= 0, cost[np.maximum(down, 0)], -np.inf)[: near + 1][::-1]
        out[a + near : b - 1] = np.diff(np.maximum.accumulate(above))
        out[a : a + near] = np.diff(np.maximum.accumulate(below))[::-1]
    return np.where(np.isfinite(out), out, 0.0)


@dataclass(eq=False)
class Weighed:
    """The bound at the weights of a proof.

    Parameters
    ----------
    stated : dict of int to RowWeights
        The weights of rows that have some.
    """

    rules: Rules
    stated: dict[int, RowWeights]

    def __post_init__(self) -> None:
        self.sections = Sections.of(self.rules.conditions, self.rules.tables.offset)
        self._rows: dict[int, tuple[RowSections, FloatArray]] = {}

    def _of_row(self, row: int) -> tuple[RowSections, FloatArray]:
        known = self._rows.get(row)
        if known is None:
            tables = self.rules.tables
            sections = self.sections.of_row(tables, row, self.stated[row])
            known = self._rows[row] = sections, step_costs(tables, row)
        return known

    def close(
        self,
        boxes: Boxes,
        closed: BoolArray,
        price: FloatArray,
        rival: IntArray,
        source: IntArray,
    ) -> Boxes:
        """Note boxes that the bound closes; return them without the leaves that it leaves out.

        ``source`` is the box of the proof, counted from its row's first, that has the weights.
        """
        if not len(boxes.leaf):
            return boxes
        c = self.rules.conditions
        share = self._shares(boxes, source)
        lead = c.lead[boxes.leaf, rival[boxes.box]]
        value = lead - price[boxes.box] * share
        run = heads(boxes.box * c.n_trees + c.tree[boxes.leaf])
        most, of_box = np.maximum.reduceat(value, run), boxes.box[run]
        near = self.rules.costs(boxes, self.rules.nearest(boxes)).sum(axis=1)
        claim = self.rules.claim[boxes.row]
        # Any point costs less than the claim: so much is what its steps may be rounded by.
        room = claim - near + 8 * UNIT * self.rules.tables.offset[-1] * (np.abs(claim) + near)
        paid = price * room
        total = np.bincount(of_box, most, len(boxes)) + paid - c.needed[rival] + c.error
        largest = np.maximum.reduceat(np.abs(lead) + price[boxes.box] * share, run)
        sizes = np.bincount(of_box, largest, len(boxes)) + paid + np.abs(c.needed[rival])
        total += 4 * UNIT * (c.n_trees + 8) * sizes
        closed |= total < 0
        count = np.diff(np.append(run, len(value)))
        dropped = value < np.repeat(most - total[of_box], count)
        return boxes.without(dropped | closed[boxes.box])

    def _shares(self, boxes: Boxes, source: IntArray) -> FloatArray:
        """Return what each leaf pays, in units of cost; never too much."""
        n, size = len(boxes), len(self.sections)
        begin, end = self._needs(boxes)
        some = np.flatnonzero(end > begin)
        begin, end, pair = begin[some], end[some], boxes.pair[some]
        box = boxes.box[pair]
        flat, stop = box * (size + 1) + begin, box * (size + 1) + end
        marks = np.bincount(flat, minlength=n * (size + 1))
        marks -= np.bincount(stop, minlength=n * (size + 1))
        needed = np.cumsum(marks.reshape(n, size + 1), axis=1)[:, :-1] > 0
        charges = np.zeros((n, size + 1))
        charges[:, 1:] = self._charges(boxes, source, needed)
        before = np.cumsum(charges, axis=1).reshape(-1)
        share = before[stop] - before[flat] - 4 * UNIT * (size + 4) * before[stop]
        # Divisions, products and sums of a few terms are off by a few units more.
        paid = np.bincount(pair, np.maximum(share, 0.0) * (1 - SEVERAL_ROUNDINGS), len(boxes.leaf))
        return np.asarray(paid, dtype=float)

    def _needs(self, boxes: Boxes) -> tuple[IntArray, IntArray]:
        """Return where the sections of each condition's way begin and end."""
        c, s = self.rules.conditions, self.sections
        row, column = boxes.row[boxes.box[boxes.pair]], c.column[boxes.place]
        near = self.rules.tables.near[row, column]
        above, below = near < c.first[boxes.place], near > c.last[boxes.place]
        middle = np.empty(len(row), dtype=np.int64)
        for r in np.unique(boxes.row):
            own = np.flatnonzero(row == r)
            middle[own] = self._of_row(int(r))[0].middle[s.begin[boxes.place[own]]]
        begin = np.where(below, s.of_last[boxes.place], middle)
        return begin, np.where(above, s.of_first[boxes.place] + 1, middle)

    def _charges(self, boxes: Boxes, source: IntArray, needed: BoolArray) -> FloatArray:
        """Return what each section costs its tree, shape (n_boxes, n_sections)."""
        places, n = int(self.rules.tables.offset[-1]), len(boxes)
        column = np.repeat(np.arange(boxes.low.shape[1]), np.diff(self.rules.tables.offset))
        place = np.arange(places) - self.rules.tables.offset[column]
        step, lists = np.empty((n, places)), []
        for i in range(n):
            sections, cost = self._of_row(int(boxes.row[i]))
            own = np.where(needed[i], sections.of_box(int(source[i])), 0.0)
            k, step[i] = np.flatnonzero(own), cost
            lists.append((np.full(len(k), i), k, own[k], sections.low[k], sections.high[k]))
        box, k, weight, low, high = (np.concatenate(part) for part in zip(*lists, strict=True))
        width = places + 1
        total = np.bincount(box * width + low, weight, n * width)
        total -= np.bincount(box * width + high, weight, n * width)
        total = np.cumsum(total.reshape(n, width), axis=1)[:, :-1]  # whole numbers: exact
        inside = (place >= boxes.low[:, column]) & (place < boxes.high[:, column]) & (total > 0)
        each = np.where(inside, step / np.where(inside, total, 1.0), 0.0)
        before = np.zeros((n, width))
        np.cumsum(each, axis=1, out=before[:, 1:])
        rate = before[box, high] - before[box, low] - 4 * UNIT * (width + 4) * before[box, high]
        out = np.zeros(needed.shape)
        out[box, k] = weight * np.maximum(rate, 0.0)
        return out
