"""Whether every point of a box is surely of a class of a sum of trees.

The cuts of a column divide it into cells, and within a product of cells nothing changes. A box
therefore holds as many different sums as it meets products of cells:

- the smallest lead that each tree can give in the box is added up: if even that is enough, the
  class wins everywhere;
- else a few of them are added up one by one, as the library does, to the bit;
- where they are many, the box is cut in two.

Some of the sums are added up before: where one of them loses, nothing more is looked at.

Steps before the trees may round a number to the other side of a cut that it is next to (``share``).
Both sides of such a cut are then part of the box. Where the box has a single number in a column, it
is on one of both sides in the whole box, whichever that is. Each is tried, but for those on which a
point would be lost that the model itself has put into the class (``known``).

Plain code on purpose: whoever looks for large boxes does it elsewhere, with code of its own.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.ensembles import EnsembleRegion

#: Products of cells that are added up one by one, and parts that a box is cut into.
MOST_CELLS, MOST_PARTS = 256, 1000
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
    return bool(sides) and all(_holds(region, *side) for side in sides)


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
    many = np.prod(last - first + 1.0) > MOST_CELLS
    return bool(many or _wins(region, _all(first, last)).any())


def _holds(region: EnsembleRegion, first: IntArray, last: IntArray) -> bool:
    """Return whether the class wins in all of a box of cells, cut in two where that helps."""
    if not _wins(region, _some(first, last)).all():
        return False
    todo, parts = [(first, last)], 0
    while todo:
        (first, last), parts = todo.pop(), parts + 1
        if _wins_by_far(region, first, last):
            continue
        if np.prod(last - first + 1.0) <= MOST_CELLS:
            if not _wins(region, _all(first, last)).all():
                return False
        elif parts > MOST_PARTS:
            return False
        else:
            todo += _halves(first, last)
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
    if common.quadratics or common.exponentials:
        return False
    if (low < common.lower).any() or (high > common.upper).any():
        return False
    for g, h in zip(common.G, common.h.tolist(), strict=True):
        used = g != 0
        if not float((g[used] * np.where(g > 0, high, low)[used]).sum()) <= h:
            return False
    return True


def _all(first: IntArray, last: IntArray) -> IntArray:
    """Return all products of cells of a box, shape (n, n_columns)."""
    wide = np.flatnonzero(first < last)
    places = list(product(*(range(first[j], last[j] + 1) for j in wide)))
    cells = np.repeat(first[None], len(places), axis=0)
    cells[:, wide] = np.array(places, dtype=np.int64).reshape(len(places), len(wide))
    return cells


def _some(first: IntArray, last: IntArray) -> IntArray:
    """Return some of them: both ends of each column, whatever the others are."""
    cells = np.random.default_rng(0).integers(first, last + 1, (SOME + 2 * len(first), len(first)))
    for j in range(len(first)):
        cells[SOME + 2 * j : SOME + 2 * j + 2, j] = first[j], last[j]
    return cells


def _wins(region: EnsembleRegion, cells: IntArray) -> BoolArray:
    """Return in which products of cells the class wins, added up one by one."""
    totals, tally = region.ensemble.totals_of(cells), region.ensemble.tally
    out = np.ones(len(cells), dtype=bool)
    for rival in region.rivals:
        out &= tally.beats(totals, region.label, rival)
    return out


def _wins_by_far(region: EnsembleRegion, first: IntArray, last: IntArray) -> bool:
    """Return whether the smallest leads of all trees, each by itself, add up to enough."""
    leaves = region.ensemble.leaves
    met = _met(region, first, last)
    for rival in region.rivals:
        lead, needed, error = region.ensemble.lead(region.label, rival)
        least = np.full(len(region.ensemble.trees), np.inf)
        np.minimum.at(least, leaves.tree[met], lead[met])
        if not float(least.sum()) > needed + error:
            return False
    return True


def _met(region: EnsembleRegion, first: IntArray, last: IntArray) -> BoolArray:
    """Return which leaves a point of the box may reach."""
    leaves = region.ensemble.leaves
    beside = (leaves.first > last[leaves.column]) | (leaves.last < first[leaves.column])
    return np.asarray(np.bincount(leaves.owner[beside], minlength=len(leaves)) == 0)


def _halves(first: IntArray, last: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return a box of cells cut in two, along the column with most of them."""
    j = int(np.argmax(last - first))
    middle = (first[j] + last[j]) // 2
    below, above = last.copy(), first.copy()
    below[j], above[j] = middle, middle + 1
    return [(first, below), (above, last)]
