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

from pertinent.geometry.arrays import FloatArray, IntArray, Rows
from pertinent.geometry.codec import record_as
from pertinent.geometry.running import is_late
from pertinent.proofs.ensembles.boxes import heads
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
    """

    conditions: Conditions
    offset: IntArray
    way: IntArray
    place: IntArray

    @classmethod
    def of(cls, conditions: Conditions, offset: IntArray) -> Sections | None:
        """Return the sections of all leaves, a few trees at a time; None where it gets too late."""
        c, width, found = conditions, int(offset[-1]) + 1, []
        most = np.diff(offset) - 1
        for trees in c.few_trees():
            if is_late():
                return None
            a, b = c.start[list(trees)]
            column, first, last = c.column[a:b], c.first[a:b], c.last[a:b]
            way = (c.tree[c.leaf[a:b]] * len(most) + column) * width
            below, above = first > 0, last < most[column]
            found.append(np.unique(np.concatenate([(way + first - 1)[below], (way + last)[above]])))
        keys = np.concatenate(found)
        return cls(c, offset, keys // width, keys % width)

    def cuts(self, place: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return of some conditions where the sections of their tree and column begin.

        Then the cut below ``first`` of each, and the one above ``last``, where there are such.
        """
        c, width = self.conditions, int(self.offset[-1]) + 1
        way = c.tree[c.leaf[place]] * (len(self.offset) - 1) + c.column[place]
        keys = self.way * width + self.place
        below, above = way * width + c.first[place] - 1, way * width + c.last[place]
        return (
            np.searchsorted(self.way, way),
            np.searchsorted(keys, below),
            np.searchsorted(keys, above),
        )

    def __len__(self) -> int:
        return len(self.way)

    @cached_property
    def column(self) -> IntArray:
        """The column of each section."""
        return self.way % (len(self.offset) - 1)

    def of_row(self, tables: Tables, row: int, stated: RowWeights) -> RowSections:
        """Return the sections as one row sees them."""
        near = tables.near[row][self.column]
        up = self.place >= near
        same = self.way[1:] == self.way[:-1]
        low, high = np.where(up, near, self.place), np.where(up, self.place + 1, near)
        # A section above the nearest place begins at the cut before, one below it ends at the next.
        low[1:] = np.where(same & up[1:], np.maximum(self.place[:-1] + 1, near[1:]), low[1:])
        high[:-1] = np.where(same & ~up[:-1], np.minimum(self.place[1:], near[:-1]), high[:-1])
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
        order = np.argsort(known, kind="stable")
        own = self.way * width + below
        spot = np.minimum(np.searchsorted(known[order], own), len(known) - 1)
        match = known[order][spot] == own  # sections may be mixed up: any weights are right
        return RowSections(
            at + low, at + high, np.append(middle, 0), np.where(match, order[spot], -1)
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
