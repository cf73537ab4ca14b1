"""Boxes of cells, many at once, and the rules that leave out what cannot matter.

A box gives each column an interval of places (see `Tables`). Its *nearest point* takes the allowed
place next to the row's center in each column. Cost is a sum over columns, so no point of the box
costs less: its cost is ``near``. Of every tree the leaves are listed that a point of the box, of
the region and below the claim may lie in. The rules only take away:

R1  a leaf that misses the box;
R2  a leaf whose nearest point costs at least the claim, or changes too many features;
R3  a leaf whose lead is so small that even the largest leads of all other trees are not enough:
    ``lead < most_t - slack``, where ``slack = sum_t most_t - needed``; where ``slack < 0`` there
    is no point at all;
R4  what lies outside the smallest box around the leaves of any tree;
R5  categories: exactly one column of a group is 1;
R6  changes: where as many features must change as may, all others stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.running import is_late
from pertinent.proofs.ensembles.conditions import Conditions
from pertinent.proofs.ensembles.tables import Tables

#: How often the rules are applied to a box: boxes below it go on where they stopped.
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class Boxes:
    """Some boxes, with the leaves that are left of each and their conditions.

    Parameters
    ----------
    row, node : ndarray of int, shape (n_boxes,)
        The row of the task, and the place in the list of branchings (-1: none).
    low, high : ndarray of int, shape (n_boxes, n_columns)
    box, leaf : ndarray of int, shape (n_pairs,)
        The leaves of each box, sorted by box and tree.
    pair, place : ndarray of int, shape (n_listed,)
        The conditions of these leaves: their pair, and their place in `Conditions`; sorted by
        box, tree, column and leaf.
    """

    row: IntArray
    node: IntArray
    low: IntArray
    high: IntArray
    box: IntArray
    leaf: IntArray
    pair: IntArray
    place: IntArray

    def __len__(self) -> int:
        return len(self.row)

    def without(self, dropped: BoolArray) -> Boxes:
        """Return the same without some of the pairs."""
        if not dropped.any():
            return self
        kept = ~dropped
        number, listed = np.cumsum(kept) - 1, kept[self.pair]
        return replace(
            self,
            box=self.box[kept],
            leaf=self.leaf[kept],
            pair=number[self.pair[listed]],
            place=self.place[listed],
        )

    def listing(self, box: IntArray, leaf: IntArray, pair: IntArray, place: IntArray) -> Boxes:
        """Return the same boxes with other lists, whose boxes may be mixed up."""
        order = np.argsort(box, kind="stable")
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        listed = np.argsort(box[pair], kind="stable")
        return replace(
            self, box=box[order], leaf=leaf[order], pair=number[pair[listed]], place=place[listed]
        )

    def take(self, some: IntArray) -> Boxes:
        """Return some boxes, in the order given, with their lists; one may be asked for twice."""
        first = np.searchsorted(self.box, np.arange(len(self) + 1))
        listed = np.searchsorted(self.box[self.pair], np.arange(len(self) + 1))
        count, counted = np.diff(first)[some], np.diff(listed)[some]
        pairs, conditions = spans(first[some], count), spans(listed[some], counted)
        moved = np.cumsum(count) - count - first[some]
        return Boxes(
            self.row[some], self.node[some], self.low[some], self.high[some],
            np.repeat(np.arange(len(some)), count), self.leaf[pairs],
            self.pair[conditions] + np.repeat(moved, counted), self.place[conditions],
        )  # fmt: skip


def spans(first: IntArray, count: IntArray) -> IntArray:
    """Return ``first_i, first_i + 1, ...``, so many of each, one after the other."""
    end = np.cumsum(count)
    total = int(end[-1]) if len(end) else 0
    return np.asarray(np.arange(total) + np.repeat(first - (end - count), count))


def heads(keys: IntArray) -> IntArray:
    """Return where runs of equal keys begin."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))


def _joined(parts: list[Boxes]) -> Boxes:
    """Return the same boxes with the leaves of all parts."""
    before = np.cumsum([0, *(len(part.leaf) for part in parts)])
    return parts[0].listing(
        np.concatenate([part.box for part in parts]),
        np.concatenate([part.leaf for part in parts]),
        np.concatenate([part.pair + start for part, start in zip(parts, before, strict=False)]),
        np.concatenate([part.place for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Rules:
    """What boxes are narrowed by.

    Parameters
    ----------
    claim : ndarray of shape (n_rows,)
        What every point is claimed to cost at least, fixed costs aside.
    """

    conditions: Conditions
    tables: Tables
    claim: FloatArray
    domain: Domain | None

    def whole(self, rows: IntArray, nodes: IntArray) -> Boxes:
        """Return one box for each row that holds everything allowed; no leaf is listed yet."""
        width, n, none = np.diff(self.tables.offset), len(rows), np.zeros(0, np.int64)
        low, high = np.zeros((n, len(width)), np.int64), np.tile(width - 1, (n, 1))
        return Boxes(rows, nodes, low, high, none, none, none, none)

    def reached(self, boxes: Boxes) -> Boxes | None:
        """Return boxes with the leaves that R1 and R2 leave of all; None where it gets too late.

        There may be millions of conditions: few trees are listed at a time, while there is time.
        """
        closed, found = np.zeros(len(boxes), dtype=bool), []
        self.snap(boxes, closed)
        for first, last in self.conditions.few_trees(len(boxes)):
            if is_late():
                return None
            found.append(self._reachable(self._listed(boxes, first, last), closed))
        return _joined(found)

    def _listed(self, boxes: Boxes, first: int, last: int) -> Boxes:
        """Return boxes with every leaf of the trees ``first .. last - 1``."""
        c, n = self.conditions, len(boxes)
        a, b = np.searchsorted(c.tree, [first, last])
        leaf, place = np.arange(a, b), np.arange(c.start[first], c.start[last])
        return replace(
            boxes,
            box=np.repeat(np.arange(n), len(leaf)),
            leaf=np.tile(leaf, n),
            pair=np.tile(c.leaf[place] - a, n) + np.repeat(np.arange(n) * len(leaf), len(place)),
            place=np.tile(place, n),
        )

    def narrow(self, boxes: Boxes, closed: BoolArray) -> Boxes:
        """Apply all rules, a few times. Closed boxes are noted, and lose their leaves."""
        for _ in range(ROUNDS):
            self.snap(boxes, closed)
            before = len(boxes.leaf)
            boxes = self._reachable(boxes, closed)
            boxes = self._enough(boxes, closed)
            moved = self._hull(boxes, closed)
            boxes = boxes.without(closed[boxes.box])
            if not moved and (len(boxes.leaf) == before or not len(boxes.leaf)):
                break
        self.snap(boxes, closed)
        return boxes.without(closed[boxes.box])

    def nearest(self, boxes: Boxes) -> IntArray:
        """Return the place of each box's nearest point in each column."""
        near = self.tables.near[boxes.row]
        return np.minimum(np.maximum(near, boxes.low), boxes.high)

    def costs(self, boxes: Boxes, places: IntArray) -> FloatArray:
        """Return what one place for each column costs, shape (n_boxes, n_columns)."""
        return np.asarray(self.tables.cost[boxes.row[:, None], self.tables.offset[:-1] + places])

    def snap(self, boxes: Boxes, closed: BoolArray) -> None:
        """Move the ends of boxes to allowed places, in place; R5 and R6."""
        t, at, row = self.tables, self.tables.offset[:-1], boxes.row[:, None]
        low, high = boxes.low, boxes.high
        width = np.diff(t.offset)
        low[:] = t.up[row, at + np.clip(low, 0, width - 1)]
        high[:] = t.down[row, at + np.clip(high, 0, width - 1)]
        domain = self.domain
        for group in () if domain is None else domain.groups:
            can, must = high[:, group] == 1, low[:, group] == 1
            alone = (can.sum(axis=1) == 1)[:, None]
            closed |= (must.sum(axis=1) > 1) | ~can.any(axis=1)
            excluded = must.any(axis=1)[:, None] & ~must
            high[:, group] = np.where(excluded, np.minimum(high[:, group], 0), high[:, group])
            low[:, group] = np.where(alone & can, 1, low[:, group])
        if domain is not None and domain.max_changes is not None:
            self._few_changes(boxes, closed, domain, domain.max_changes)
        closed |= (low > high).any(axis=1)
        wrong = np.flatnonzero(closed)
        low[wrong], high[wrong] = 0, 0

    def _must_change(self, boxes: Boxes) -> BoolArray:
        near = self.tables.near[boxes.row]
        return np.asarray((near < boxes.low) | (near > boxes.high))

    def _units(self, domain: Domain, columns: BoolArray) -> BoolArray:
        """Return which units have any of the columns."""
        units = np.zeros((len(columns), len(domain.units)), dtype=bool)
        np.logical_or.at(units.T, domain.unit_of_column, columns.T)
        return units

    def _few_changes(self, boxes: Boxes, closed: BoolArray, domain: Domain, most: int) -> None:
        changed = self._units(domain, self._must_change(boxes))
        count = changed.sum(axis=1)
        closed |= count > most
        stay = (count == most)[:, None] & ~changed[:, domain.unit_of_column]
        near = self.tables.near[boxes.row]
        boxes.low[stay], boxes.high[stay] = near[stay], near[stay]

    def _reachable(self, boxes: Boxes, closed: BoolArray) -> Boxes:
        """R1 and R2."""
        c, t = self.conditions, self.tables
        places = self.nearest(boxes)
        cost = self.costs(boxes, places)
        near = cost.sum(axis=1)
        closed |= near >= self.claim[boxes.row]
        column, box = c.column[boxes.place], boxes.box[boxes.pair]
        row, at, dim = boxes.row[box], t.offset[column], boxes.low.shape[1]
        flat = box * dim + column
        a = np.maximum(c.first[boxes.place], boxes.low.reshape(-1)[flat])
        b = np.minimum(c.last[boxes.place], boxes.high.reshape(-1)[flat])
        missed = a > b
        p = places.reshape(-1)[flat]
        outside = np.flatnonzero((p < a) | (p > b))
        own, spot = row[outside], at[outside]
        up = p[outside] < a[outside]
        target = np.where(up, t.up[own, spot + a[outside]], t.down[own, spot + b[outside]])
        missed[outside] = np.where(up, target > b[outside], target < a[outside])
        reach = np.clip(target, 0, np.diff(t.offset)[column[outside]] - 1)
        extra = t.cost[own, spot + reach] - cost.reshape(-1)[flat[outside]]
        total = near[boxes.box] + np.bincount(
            boxes.pair[outside], np.maximum(extra, 0.0), len(boxes.leaf)
        )
        dropped = (total >= self.claim[boxes.row[boxes.box]]) | closed[boxes.box]
        dropped[boxes.pair[missed]] = True
        domain = self.domain
        if domain is not None and domain.max_changes is not None and domain.has_lone_columns:
            # Those that change anyway were counted already.
            changed = self._must_change(boxes)
            new = outside[~changed.reshape(-1)[flat[outside]]]
            more = np.bincount(boxes.pair[new], minlength=len(boxes.leaf))
            dropped |= more > (domain.max_changes - changed.sum(axis=1))[boxes.box]
        return boxes.without(dropped)

    def _enough(self, boxes: Boxes, closed: BoolArray) -> Boxes:
        """R3, against every rival."""
        c = self.conditions
        run = heads(boxes.box * c.n_trees + c.tree[boxes.leaf])
        if not len(run):
            closed[:] = True
            return boxes
        of_box, count = boxes.box[run], np.diff(np.append(run, len(boxes.leaf)))
        closed |= np.bincount(of_box, minlength=len(boxes)) < c.n_trees
        dropped = np.zeros(len(boxes.leaf), dtype=bool)
        for j, needed in enumerate(c.needed):
            lead = c.lead[boxes.leaf, j]
            most = np.maximum.reduceat(lead, run)
            slack = np.bincount(of_box, most, len(boxes)) - needed + c.error
            closed |= slack < 0
            dropped |= lead < np.repeat(most - slack[of_box], count)
        # Of several rivals each may leave out other leaves of a tree, together all of them.
        closed[of_box[np.logical_and.reduceat(dropped, run)]] = True
        return boxes.without(dropped | closed[boxes.box])

    def _hull(self, boxes: Boxes, closed: BoolArray) -> bool:
        """R4, in place; return whether any box has moved."""
        c, dim = self.conditions, boxes.low.shape[1]
        tree = boxes.box * c.n_trees + c.tree[boxes.leaf]
        run = heads(tree)
        size = np.diff(np.append(run, len(tree)))
        number = np.repeat(np.arange(len(run)), size)[boxes.pair]
        column = c.column[boxes.place]
        asked = heads(number * dim + column)
        count = np.diff(np.append(asked, len(number)))
        every = np.flatnonzero(count == size[number[asked]])  # all leaves of the tree ask about it
        least = np.minimum.reduceat(c.first[boxes.place], asked)[every]
        most = np.maximum.reduceat(c.last[boxes.place], asked)[every]
        flat = boxes.box[run][number[asked[every]]] * dim + column[asked[every]]
        low, high = boxes.low.reshape(-1), boxes.high.reshape(-1)
        up, down = least > low[flat], most < high[flat]
        np.maximum.at(low, flat[up], least[up])
        np.minimum.at(high, flat[down], most[down])
        return bool(up.any() or down.any())
