"""The leaves that are left of one row in a part of the space, laid out for many boxes at once.

Arrays of `Replay` have one line for each leaf, condition or section and one column for each box. A
`Part` lists only those lines that can matter in its outer box: leaves that some box still has,
conditions that the outer box does not imply, sections of ways that such a condition needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs.ensembles.boxes import Rules, heads
from pertinent.proofs.ensembles.layers import Layers
from pertinent.proofs.ensembles.weights import RowWeights, Sections, step_costs

#: Places in half the memory of other integers.
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class OneRow:
    """The conditions of one row's leaves, with the ends that its allowed places give them.

    A condition is *needed* (``up`` or ``down``) where the row's nearest place does not meet it. The
    way to it costs ``reach``, and leads through the sections ``begin .. end - 1``; from ``middle``
    on they lie above the nearest place.

    Parameters
    ----------
    place : ndarray of int, shape (n_listed,)
        The conditions, as places in `Conditions`, ascending.
    leaf, column, first, last, begin, end, middle : ndarray of int, shape (n_listed,)
    reach : ndarray of shape (n_listed,)
    low, high, stated : ndarray of int, shape (n_sections,)
        See `RowSections`.
    step : ndarray of shape (n_places,)
        What the step from each place to the next one costs.
    """

    rules: Rules
    row: int
    weights: RowWeights
    way: IntArray
    leaf: IntArray
    column: IntArray
    first: IntArray
    last: IntArray
    is_needed: BoolArray
    reach: FloatArray
    begin: IntArray
    end: IntArray
    middle: IntArray
    low: IntArray
    high: IntArray
    stated: IntArray
    step: FloatArray

    @classmethod
    def of(
        cls, rules: Rules, sections: Sections, row: int, weights: RowWeights, place: IntArray
    ) -> OneRow:
        """Return what a row sees of some conditions."""
        c, t = rules.conditions, rules.tables
        column, cost = c.column[place], t.cost[row]
        at, near = t.offset[column], t.near[row, column]
        first, last = t.up[row, at + c.first[place]], t.down[row, at + c.last[place]]
        up, down = near < first, near > last
        width = np.diff(t.offset)[column]
        reach = np.where(up, cost[at + np.minimum(first, width - 1)], 0.0)
        reach = np.where(down, cost[at + np.maximum(last, 0)], reach)
        own = sections.of_row(t, row, weights)
        of_way, of_first, of_last = sections.cuts(place)
        middle = own.middle[of_way]
        begin = np.where(down, of_last, middle)
        end = np.where(up, of_first + 1, middle)
        return cls(
            rules, row, weights, sections.way, c.leaf[place], column, first, last, up | down,
            reach, begin, end, middle, own.low, own.high, own.stated, step_costs(t, row),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Part:
    """The lines of a part; see `OneRow` for those of conditions.

    Parameters
    ----------
    leaf, tree : ndarray of int, shape (n_leaves,)
        Sorted by tree.
    lead : ndarray of shape (n_leaves, n_rivals)
    owner, column, first, last : ndarray of int, shape (n_conditions,)
        ``owner`` is the line of the condition's leaf.
    of_leaf, of_tree, of_way, of_column : Layers
        Conditions of each leaf; leaves of each tree; conditions of each *way*, which is a tree and
        a column; ways of each column.
    way_tree : ndarray of int, shape (n_ways,)
    need : Needs
    section : Lengths
    """

    leaf: IntArray
    tree: IntArray
    lead: FloatArray
    owner: IntArray
    column: IntArray
    first: Places
    last: Places
    of_leaf: Layers
    of_tree: Layers
    of_way: Layers
    of_column: Layers
    way_tree: IntArray
    need: Needs
    section: Lengths

    @classmethod
    def of(cls, one: OneRow, leaf: IntArray, low: IntArray, high: IntArray) -> Part:
        """Return what is left of some leaves (ascending) in an outer box.

        Leaves that miss the outer box are left out.
        """
        c = one.rules.conditions
        missed = (one.first > high[one.column]) | (one.last < low[one.column])
        reached = np.ones(len(c.tree), dtype=bool)
        reached[one.leaf[missed]] = False
        leaf = leaf[reached[leaf]]
        line = np.full(len(c.tree), -1)
        line[leaf] = np.arange(len(leaf))
        asks = (one.first > low[one.column]) | (one.last < high[one.column])
        kept = np.flatnonzero(asks & (line[one.leaf] >= 0))
        owner, column, tree = line[one.leaf[kept]], one.column[kept], c.tree[leaf]
        dim = len(low)
        key = tree[owner] * dim + column  # ascending: conditions are sorted by tree and column
        start = heads(key)
        way = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(key))))
        need, section = _needs(one, kept, owner, key, (low, high), len(leaf))
        return cls(
            leaf, tree, c.lead[leaf], owner, column,
            one.first[kept].astype(np.int32), one.last[kept].astype(np.int32),
            Layers.of(owner, len(leaf)), Layers.of(tree, c.n_trees), Layers.of(way, len(start)),
            Layers.of(key[start] % dim, dim), key[start] // dim, need, section,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.leaf) + len(self.owner) + len(self.section.low)


@dataclass(frozen=True, eq=False)
class Needs:
    """The conditions that the nearest place does not meet, and the sections on the way to each.

    Parameters
    ----------
    owner, column, begin, end, middle : ndarray of int, shape (n_needs,)
    reach : ndarray of shape (n_needs,)
    of_leaf, of_way : Layers
    """

    owner: IntArray
    column: IntArray
    reach: FloatArray
    begin: Places
    end: Places
    middle: Places
    of_leaf: Layers
    of_way: Layers


@dataclass(frozen=True, eq=False)
class Lengths:
    """The sections on those ways, and the steps that they are made of.

    Parameters
    ----------
    way, stated, low, high : ndarray of int, shape (n_sections,)
        The way of each section, its number in the proof, and its steps.
    by_low, by_high : ndarray of int, shape (n_sections,)
        Sections sorted by where they begin, and by where they end.
    begun, ended : ndarray of int, shape (n_steps,)
        How many sections have begun, and ended, up to each step.
    column, place : ndarray of int, shape (n_steps,)
    cost : ndarray of shape (n_steps,)
    """

    way: IntArray
    stated: IntArray
    low: IntArray
    high: IntArray
    by_low: IntArray
    by_high: IntArray
    begun: IntArray
    ended: IntArray
    column: IntArray
    place: Places
    cost: FloatArray


def _needs(
    one: OneRow,
    kept: IntArray,
    owner: IntArray,
    key: IntArray,
    outer: tuple[IntArray, IntArray],
    n_leaves: int,
) -> tuple[Needs, Lengths]:
    """Return what some conditions need."""
    mine = np.flatnonzero(one.is_needed[kept])
    some = kept[mine]
    ways, way = np.unique(key[mine], return_inverse=True)
    size = len(one.low)
    marks = np.bincount(one.begin[some], minlength=size + 1)
    marks -= np.bincount(one.end[some], minlength=size + 1)
    listed = (np.cumsum(marks)[:-1] > 0) & (one.stated >= 0)
    before = np.concatenate([[0], np.cumsum(listed)]).astype(np.int32)
    needs = Needs(
        owner[mine], one.column[some], one.reach[some],
        before[one.begin[some]], before[one.end[some]], before[one.middle[some]],
        Layers.of(owner[mine], n_leaves), Layers.of(way.reshape(-1), len(ways)),
    )  # fmt: skip
    section = np.flatnonzero(listed)
    return needs, _lengths(one, section, np.searchsorted(ways, one.way[section]), outer)


def _lengths(
    one: OneRow, section: IntArray, way: IntArray, outer: tuple[IntArray, IntArray]
) -> Lengths:
    """Return the steps of sections that lie in the outer box and cost something."""
    offset, (low, high) = one.rules.tables.offset, outer
    column = np.repeat(np.arange(len(low)), np.diff(offset))
    place = np.arange(len(column)) - offset[column]
    counts = (place >= low[column]) & (place < high[column]) & (one.step > 0)
    step = np.flatnonzero(counts)
    before = np.concatenate([[0], np.cumsum(counts)])
    first, last = before[one.low[section]], before[one.high[section]]
    by_low, by_high = np.argsort(first, kind="stable"), np.argsort(last, kind="stable")
    every = np.arange(len(step))
    return Lengths(
        way, one.stated[section], first, last, by_low, by_high,
        np.searchsorted(first[by_low], every, side="right"),
        np.searchsorted(last[by_high], every, side="right"),
        column[step], place[step].astype(np.int32), one.step[step],
    )  # fmt: skip
