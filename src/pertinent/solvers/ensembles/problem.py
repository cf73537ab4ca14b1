"""One row's problem: the leaves that it can reach, what choices cost, who must be beaten."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import note_end
from pertinent.geometry.task import Task
from pertinent.solvers.ensembles.choices import Choices, choices_of

#: Conditions of all leaves that are seen in a second, about; those that are left of them that are
#: laid out in a second until the first box is looked at; and how many seconds a row may take for
#: either beyond the end of the time.
SEEN_A_SECOND, CONDITIONS_A_SECOND, ANYWAY = 60_000_000, 5_000_000, 0.01


@dataclass(frozen=True, eq=False)
class Leads:
    """What every leaf adds to the lead of the label over each rival; the same for all rows."""

    region: EnsembleRegion
    lead: FloatArray  # (n_leaves, n_rivals)
    needed: FloatArray  # (n_rivals,)
    error: float

    @classmethod
    def of(cls, region: EnsembleRegion) -> Leads:
        """Return the leads of a region's label."""
        found = [region.ensemble.lead(region.label, rival) for rival in region.rivals]
        lead = np.stack([lead for lead, _, _ in found], axis=1)
        needed = np.array([needed for _, needed, _ in found])
        return cls(region, np.ascontiguousarray(lead), needed, max(e for _, _, e in found))


@dataclass(frozen=True, eq=False)
class Left:
    """Which leaves and conditions are left for one row.

    Parameters
    ----------
    leads : Leads
    choices : Choices
    domain : Domain, optional
    dead : ndarray of bool, shape (n_leaves,)
        The leaves that no choice leads to.
    kept : ndarray of int, shape (n_kept,)
        The conditions of the others that some choice does not meet.
    lowest, highest : ndarray of int32, shape (n_cells of all columns,)
        For each cell the first choice not below it, and the last one not above it.
    """

    leads: Leads
    choices: Choices
    domain: Domain | None
    dead: BoolArray
    kept: IntArray
    lowest: NDArray[np.int32]
    highest: NDArray[np.int32]

    @classmethod
    def of(cls, leads: Leads, task: Task, row: int) -> Left:
        """Return what is left for one row of a task.

        There are many more conditions than cells, so what can be is worked out for cells.
        """
        ensemble = leads.region.ensemble
        leaves, n_cells = ensemble.leaves, ensemble.n_cells
        choices = choices_of(leads.region, task, row)
        least, most = np.repeat(choices.first, n_cells), np.repeat(choices.last, n_cells)
        below, above = _choices_of_cells(choices, n_cells)
        lowest = np.maximum(below, least).astype(np.int32)
        highest = np.minimum(above, most).astype(np.int32)
        low, high = ensemble.ends
        dead = np.zeros(len(leaves), dtype=bool)
        never = np.flatnonzero(lowest[low] > highest[high])
        kept = np.flatnonzero((lowest > least)[low] | (highest < most)[high])
        if len(never):
            dead[leaves.owner[never]] = True
            kept = kept[~dead[leaves.owner[kept]]]
        return cls(leads, choices, task.domain, dead, kept, lowest, highest)

    @property
    def ends(self) -> tuple[IntArray, IntArray]:
        """The first and the last choice that meets each condition that is kept."""
        low, high = self.leads.region.ensemble.ends
        first, last = self.lowest[low[self.kept]], self.highest[high[self.kept]]
        return first.astype(np.int64), last.astype(np.int64)

    def is_too_much(self, end: float) -> bool:
        """Return whether the first box of so many conditions would be looked at after ``end``."""
        return _takes_too_long(len(self.kept) / CONDITIONS_A_SECOND, end)


def is_too_late(leads: Leads, end: float) -> bool:
    """Return whether it would be seen only after ``end`` which conditions are left for a row."""
    return _takes_too_long(len(leads.region.ensemble.leaves.column) / SEEN_A_SECOND, end)


def _takes_too_long(takes: float, end: float) -> bool:
    """Return whether so many seconds are not left.

    What takes next to no time is done in any case, so that there is a point at all.
    """
    is_too_long = end < np.inf and takes > ANYWAY and monotonic() + takes > end
    if is_too_long:
        note_end()
    return is_too_long


@dataclass(frozen=True, eq=False)
class RowProblem:
    """What is left of an ensemble for one row: leaves as products of intervals of choices.

    Parameters
    ----------
    leads : Leads
    choices : Choices
    leaf : ndarray of int, shape (n,)
        The leaves that some choice leads to, in the order of their trees.
    start, column, first, last
        Their conditions, as in `pertinent.geometry.ensembles.Leaves`; those left out that every
        choice meets.
    groups : tuple of ndarray of int
        Columns of which exactly one is 1.
    unit : ndarray of int, shape (n_columns,)
        The unit of change that each column belongs to.
    most_changes : int
        How many units may change.
    """

    leads: Leads
    choices: Choices
    leaf: IntArray
    start: IntArray
    column: IntArray
    first: IntArray
    last: IntArray
    groups: tuple[IntArray, ...]
    unit: IntArray
    most_changes: int

    @classmethod
    def of(cls, left: Left) -> RowProblem:
        """Return the problem of one row."""
        leads, choices, domain = left.leads, left.choices, left.domain
        leaves, dead, kept = leads.region.ensemble.leaves, left.dead, left.kept
        groups = () if domain is None else domain.groups
        owner = (np.cumsum(~dead) - 1)[leaves.owner[kept]]
        conditions = owner, leaves.column[kept], *left.ends
        if len(groups):
            conditions = _with_own_category(conditions, groups, choices)
        owner, column, first, last = conditions
        leaf = np.flatnonzero(~dead)
        start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(leaf)))])
        unit, most = _units(domain, len(choices.center))
        return cls(leads, choices, leaf, start, column, first, last, tuple(groups), unit, most)

    def last_choices(self) -> IntArray:
        """Return, for each cell of all columns, the last choice of its column not above it."""
        return _choices_of_cells(self.choices, self.leads.region.ensemble.n_cells)[1]

    @property
    def is_empty(self) -> bool:
        """Whether some column has no choice, or some tree no leaf."""
        ensemble = self.leads.region.ensemble
        count = np.bincount(ensemble.leaves.tree[self.leaf], minlength=len(ensemble.trees))
        without = not count.all()
        return without or bool((self.choices.first > self.choices.last).any())


@dataclass(eq=False)
class Weighing:
    """The weights of the shared-cost bound, box by box; see `EnsembleProofs`.

    Parameters
    ----------
    count : ndarray of int, shape (n_boxes,)
        How many weights each box has; none: those of the box above.
    where : ndarray of int, shape (3, n_sections)
        Tree, column and cell on the lower side of the cut of each section.
    section, weight : ndarray of int
    """

    count: IntArray
    where: IntArray
    section: IntArray
    weight: NDArray[np.int32]

    @classmethod
    def none(cls, boxes: int) -> Weighing:
        """Return no weights."""
        none = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(boxes, np.int64), none.reshape(3, 0), none, none.astype(np.int32))

    def of_used(self) -> Weighing:
        """Return the same with those sections alone that some box has a weight for."""
        used = np.flatnonzero(np.bincount(self.section, minlength=self.where.shape[1]))
        number = np.zeros(self.where.shape[1], dtype=np.int64)
        number[used] = np.arange(len(used))
        return replace(self, where=self.where[:, used], section=number[self.section])


@dataclass(eq=False)
class Branchings:
    """The cases of a search in the order in which it made them.

    Parameters
    ----------
    column : ndarray of int
        The column that a box is halved at; -1 where it is closed.
    cut : ndarray of int
        Twice the last choice of the lower side, plus 1 where the upper side comes first.
    price, rival : ndarray
        Of the shared-cost bound.
    weighing : Weighing, optional
    """

    column: NDArray[np.int32]
    cut: NDArray[np.int32]
    price: NDArray[np.float32]
    rival: NDArray[np.int32]
    weighing: Weighing | None = None

    @property
    def weights(self) -> Weighing:
        """The weights of all boxes; where nothing is known of them, none."""
        return Weighing.none(len(self.column)) if self.weighing is None else self.weighing

    @classmethod
    def closed(cls) -> Branchings:
        """Return a single box, closed."""
        one = np.zeros(1, dtype=np.int32)
        return cls(one - 1, one, np.zeros(1, dtype=np.float32), one)

    def in_cells(self, problem: RowProblem) -> Branchings:
        """Return the same as a proof has it: cells in place of choices, no weight without use.

        Categories keep the values 0 and 1.
        """
        choices, column = problem.choices, np.maximum(self.column, 0)
        cell = choices.cell[choices.offset[column] + self.cut // 2]
        in_group = np.isin(column, np.concatenate([*problem.groups, np.zeros(0, dtype=np.int64)]))
        last = np.where(in_group, self.cut // 2, cell)
        cut = np.where(self.column < 0, 0, 2 * last + self.cut % 2)
        return replace(self, cut=cut.astype(np.int32), weighing=self.weights.of_used())


def _choices_of_cells(choices: Choices, n_cells: IntArray) -> tuple[IntArray, IntArray]:
    """Return for each cell the first choice not below it, and the last one not above it."""
    low, high = [], []
    for (a, b), n in zip(pairwise(choices.offset), n_cells, strict=True):
        own = choices.cell[a:b]
        low.append(np.searchsorted(own, np.arange(n), side="left"))
        high.append(np.searchsorted(own, np.arange(n), side="right") - 1)
    return np.concatenate(low), np.concatenate(high)


Conditions = tuple[IntArray, IntArray, IntArray, IntArray]


def _with_own_category(
    conditions: Conditions, groups: tuple[IntArray, ...], choices: Choices
) -> Conditions:
    """Return conditions with what a chosen category implies: the cheapest one is then 0.

    Its cost is paid by leaving the cheapest one (see `Choices`), so a leaf must say that it does.
    """
    owner, column, first, last = conditions
    dim = len(choices.center)
    own = np.full(dim, -1)  # the sample's own category of each column's group
    for group in groups:
        chosen = group[choices.center[group] == 1]
        if len(chosen):
            own[group] = chosen[0]
    other = own[column]
    chooses = (first == 1) & (other >= 0) & (other != column)
    key = owner * dim + column  # ascending: the conditions of each leaf are sorted by column
    new = np.unique(owner[chooses] * dim + other[chooses])
    at = np.searchsorted(key, new)
    has = key[np.minimum(at, len(key) - 1)] == new if len(key) else at < 0
    new, at = new[~has], at[~has]
    return (
        np.insert(owner, at, new // dim),
        np.insert(column, at, new % dim),
        np.insert(first, at, 0),
        np.insert(last, at, 0),
    )


def _units(domain: Domain | None, dim: int) -> tuple[IntArray, int]:
    """Return the unit of change of each column, and how many may change."""
    if domain is None or domain.max_changes is None:
        return np.arange(dim), dim
    _, unit = np.unique(domain.unit_of_column, return_inverse=True)
    return unit.reshape(-1), domain.max_changes
