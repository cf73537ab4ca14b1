"""Whether every point of a box is surely of a class of a sum of trees.

The cuts of a column divide it into cells, and within a product of cells nothing changes. A box
therefore holds as many different sums as it meets products of cells:

- the smallest lead that each tree can give in the box is added up: if even that is enough, the
  class wins everywhere;
- else a few of them are added up one by one, as the library does, to the bit;
- where they are many, the box is cut in two: a number between two of its cells, a feature with
  categories into one of them and all others.

Some of the sums are added up before: where one of them loses, nothing more is looked at.

Steps before the trees may round a number to the other side of a cut that it is next to (``share``).
Both sides of such a cut are then part of the box. Where the box has a single number in a column, it
is on one of both sides in the whole box, whichever that is. Each is tried, but for those on which a
point would be lost that the model itself has put into the class (``known``).

Plain code on purpose: whoever looks for large boxes does it elsewhere, with code of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import is_late

#: Products of cells that are added up one by one, and parts that a box is cut into.
MOST_CELLS, MOST_PARTS = 256, 400
#: Sums that are added up at first, beside two for each column.
SOME = 32
#: Sides of single numbers that are tried.
MOST_SIDES = 64


def lies_inside(
    region: EnsembleRegion,
    low: FloatArray,
    high: FloatArray,
    share: float = 0.0,
    known: FloatArray | None = None,
    groups: Sequence[IntArray] = (),
) -> bool:
    """Return whether a box lies in a region, whatever is rounded by a share of its numbers.

    Parameters
    ----------
    region : EnsembleRegion
    low, high : ndarray of shape (n_columns,)
        Infinite ends are allowed; a missing value shows nothing.
    share : float
        By which share of a number, or of the largest cut of its column, it may be rounded.
    known : ndarray of shape (n_columns,), optional
        A point that the model puts into the class, with the single numbers of the box.
    groups : sequence of ndarray of int
        Columns of which one is 1 and all others are 0: no other point of the box counts.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, Trees
    >>> at = np.array
    >>> stump = Trees(
    ...     at([0]), at([0, -1, -1]), at([2.0, 0.0, 0.0]), at([1, 0, 0]), at([2, 0, 0]),
    ...     at([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    ... )  # fmt: skip
    >>> below = EnsembleRegion.of(Ensemble(stump, 1, Tally(np.zeros(2))), 0)
    >>> lies_inside(below, at([-np.inf]), at([2.0])), lies_inside(below, at([1.0]), at([2.5]))
    (True, False)
    >>> lies_inside(below, at([1.0]), at([2.0]), share=1e-15)
    False
    """
    if not (low <= high).all():  # missing values are in no order
        return False
    first, last = _cells(region, low, -share), _cells(region, high, share)
    margin = region.keep is not None and bool((region.keep > 0).any())
    if margin and not _keeps_off(region, low, high, first, last):
        return False
    if region.common is not None and not _is_common(region.common, low, high):
        return False
    sides = _sides(low, high, first, last)
    if known is not None:
        same = (low == high) & (known == low)
        sides = [side for side in sides if _may_be(region, known, share, same, side[0])]
    # What rounds 0 or 1 beyond a cut makes its column one of numbers.
    ends = _cells(region, np.zeros(len(low)), share), _cells(region, np.ones(len(low)), -share)
    sure = (first == last) | ((ends[0] == first) & (ends[1] == last))
    choices = [_Choice.of(group, high, first, last) for group in groups if sure[group].all()]
    return bool(sides) and all(_holds(_Part.of(region, *side, choices)) for side in sides)


def _sides(
    low: FloatArray, high: FloatArray, first: IntArray, last: IntArray
) -> list[tuple[IntArray, IntArray]]:
    """Return the boxes of cells in which each single number is on one side; none if too many."""
    unsure = np.flatnonzero(low == high)
    if np.prod(last[unsure] - first[unsure] + 1.0) > MOST_SIDES:
        return []
    out = []
    for cells in product(*(range(first[j], last[j] + 1) for j in unsure)):
        one, other = first.copy(), last.copy()
        one[unsure] = other[unsure] = cells
        out.append((one, other))
    return out


def _may_be(
    region: EnsembleRegion, known: FloatArray, share: float, same: BoolArray, side: IntArray
) -> bool:
    """Return whether a point of the class may be one of it, with some numbers in given cells.

    ``same`` says of which columns: the point has the very numbers of the box there.
    """
    first, last = _cells(region, known, -share), _cells(region, known, share)
    first, last = np.where(same, side, first), np.where(same, side, last)
    cells = _Part.of(region, first, last, ())
    return bool(cells.count > MOST_CELLS or _wins(region, cells.all()).any())


def _holds(whole: _Part) -> bool:
    """Return whether the class wins in all of a box of cells, cut in two where that helps."""
    region = whole.region
    if not _wins(region, whole.some()).all():
        return False
    leads = [region.ensemble.lead(region.label, rival) for rival in region.rivals]
    todo, parts = [whole], 0
    while todo:
        part, parts = todo.pop(), parts + 1
        if part.wins_by_far(leads):
            continue
        if is_late():  # nothing is shown
            return False
        if part.count <= MOST_CELLS:
            if not _wins(region, part.all()).all():
                return False
        elif parts > MOST_PARTS:
            return False
        else:
            todo += part.halves()
    return True


def _cells(region: EnsembleRegion, end: FloatArray, share: float) -> IntArray:
    """Return the cell of each value, after it was moved by a share of its size."""
    out = np.zeros(len(end), dtype=np.int64)
    for j, cuts in enumerate(region.ensemble.cuts):
        size = max(abs(end[j]), float(np.abs(cuts).max(initial=0.0)))
        moved = end[j] + share * size if np.isfinite(end[j]) else end[j]
        out[j] = np.searchsorted(cuts, moved)
    return out


def _keeps_off(
    region: EnsembleRegion, low: FloatArray, high: FloatArray, first: IntArray, last: IntArray
) -> bool:
    """Return whether a box keeps the margin from every cut: it meets one cell of each column."""
    ends = [(own[0][c], own[1][c]) for own, c in zip(region.ends, first.tolist(), strict=True)]
    lowest, highest = np.array(ends).reshape(-1, 2).T
    return bool((first == last).all() and (low >= lowest).all() and (high <= highest).all())


def _is_common(common: Cell, low: FloatArray, high: FloatArray) -> bool:
    """Return whether linear inequalities hold in all of a box; no others are looked at."""
    if common.quadratics or common.has_other_rows:
        return False
    if (low < common.lower).any() or (high > common.upper).any():
        return False
    for g, h in zip(common.G, common.h.tolist(), strict=True):
        used = g != 0
        if not float((g[used] * np.where(g > 0, high, low)[used]).sum()) <= h:
            return False
    return True


def _wins(region: EnsembleRegion, cells: IntArray) -> BoolArray:
    """Return in which products of cells the class wins, added up one by one."""
    totals, tally = region.ensemble.totals_of(cells), region.ensemble.tally
    out = np.ones(len(cells), dtype=bool)
    for rival in region.rivals:
        out &= tally.beats(totals, region.label, rival)
    return out


@dataclass(frozen=True, eq=False)
class _Choice:
    """Columns of a feature with categories, of which one is 1.

    ``others`` says that all may be 0: a category that may be chosen has no cut between 0 and 1.
    """

    columns: IntArray
    others: bool

    @classmethod
    def of(cls, group: IntArray, high: FloatArray, first: IntArray, last: IntArray) -> _Choice:
        """Return the columns of a group, of a box that ends at these cells."""
        unseen = (high[group] >= 1) & (first[group] == last[group])
        return cls(group, bool(unseen.any()))

    def open(self, first: IntArray, last: IntArray) -> IntArray:
        """Return the columns that are 0 or 1."""
        return self.columns[first[self.columns] < last[self.columns]]

    def options(self, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
        """Return these columns, and their cells for each category, shape (n, n_columns)."""
        columns = self.open(first, last)
        zero, one = first[columns], last[columns]
        cells = np.where(np.eye(len(columns), dtype=bool), one, zero)
        return columns, np.vstack([cells, zero]) if self.others else cells


@dataclass(frozen=True, eq=False)
class _Part:
    """A box of cells, and the leaves that the box it is a part of may meet.

    Parameters
    ----------
    first, last : ndarray of int, shape (n_columns,)
    choices : sequence of _Choice
    above : ndarray of bool, shape (n_leaves,)
        The leaves that the larger box may meet.
    asked : ndarray of int
        The conditions of these leaves.
    """

    region: EnsembleRegion
    first: IntArray
    last: IntArray
    choices: Sequence[_Choice]
    above: BoolArray
    asked: IntArray

    @classmethod
    def of(
        cls, region: EnsembleRegion, first: IntArray, last: IntArray, choices: Sequence[_Choice]
    ) -> _Part:
        """Return a whole box."""
        leaves = region.ensemble.leaves
        every = np.ones(len(leaves), dtype=bool)
        return cls(region, first, last, choices, every, np.arange(len(leaves.column)))

    @cached_property
    def met(self) -> BoolArray:
        """The leaves that a point of the box may reach."""
        leaves, asked = self.region.ensemble.leaves, self.asked
        column = leaves.column[asked]
        beside = leaves.first[asked] > self.last[column]
        beside |= leaves.last[asked] < self.first[column]
        out = self.above.copy()
        out[leaves.owner[asked[beside]]] = False
        return out

    def wins_by_far(self, leads: Sequence[tuple[FloatArray, float, float]]) -> bool:
        """Return whether the smallest leads of all trees, each by itself, add up to enough."""
        met = np.flatnonzero(self.met)
        tree = self.region.ensemble.leaves.tree[met]
        begin = np.flatnonzero(np.diff(tree, prepend=-1))
        return all(
            float(np.minimum.reduceat(lead[met], begin).sum()) > needed + error
            for lead, needed, error in leads
        )

    @cached_property
    def _options(self) -> list[tuple[IntArray, IntArray]]:
        """Columns, and the cells that they may be in together, shape (n, n_columns)."""
        single = self.first < self.last
        out = [choice.options(self.first, self.last) for choice in self.choices]
        for columns, _ in out:
            single[columns] = False
        out += [
            (np.array([j]), np.arange(self.first[j], self.last[j] + 1)[:, None])
            for j in np.flatnonzero(single).tolist()
        ]
        return [(columns, cells) for columns, cells in out if len(columns)]

    @property
    def count(self) -> float:
        """How many products of cells there are."""
        return float(np.prod([float(len(cells)) for _, cells in self._options]))

    def all(self) -> IntArray:
        """Return all products of cells, shape (n, n_columns)."""
        places = list(product(*(range(len(cells)) for _, cells in self._options)))
        return self._at(np.array(places, dtype=np.int64).reshape(len(places), len(self._options)))

    def some(self) -> IntArray:
        """Return some of them: both ends of each column, whatever the others are."""
        sizes = [len(cells) for _, cells in self._options]
        places = np.random.default_rng(0).integers(0, sizes, (SOME + 2 * len(sizes), len(sizes)))
        for k, size in enumerate(sizes):
            places[SOME + 2 * k : SOME + 2 * k + 2, k] = 0, size - 1
        return self._at(places)

    def _at(self, places: IntArray) -> IntArray:
        out = np.repeat(self.first[None], len(places), axis=0)
        for (columns, cells), place in zip(self._options, places.T, strict=True):
            out[:, columns] = cells[place]
        return out

    def halves(self) -> Iterator[_Part]:
        """Yield both parts of a box, cut along the column that most leaves ask about."""
        leaves, met = self.region.ensemble.leaves, self.met
        asked = self.asked[met[leaves.owner[self.asked]]]
        column = leaves.column[asked]
        cuts = (leaves.first[asked] > self.first[column]) | (leaves.last[asked] < self.last[column])
        wide = self.first < self.last
        j = int(np.argmax(wide * (1 + np.bincount(column[cuts], minlength=len(wide)))))
        for first, last in self._cut(j):
            yield replace(self, first=first, last=last, above=met, asked=asked)

    def _cut(self, j: int) -> Iterator[tuple[IntArray, IntArray]]:
        below, above = self.last.copy(), self.first.copy()
        own = next((c for c in self.choices if j in c.columns), None)
        if own is None:
            middle = (self.first[j] + self.last[j]) // 2
            below[j], above[j] = middle, middle + 1
            yield self.first, below
            yield above, self.last
            return
        # This category, and so none of the others; or one of the others.
        rest = own.open(self.first, self.last)
        rest = rest[rest != j]
        below[rest], above[j] = self.first[rest], self.last[j]
        yield above, below
        below, above = self.last.copy(), self.first.copy()
        below[j] = self.first[j]
        if len(rest) == 1 and not own.others:
            above[rest] = self.last[rest]
        if len(rest) or own.others:
            yield above, below
