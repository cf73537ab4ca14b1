"""What each leaf asks of each column, in places of `Tables`, one list for all leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Leaves

#: Conditions of leaves that are looked at together.
AT_ONCE = 400_000


@dataclass(frozen=True, eq=False)
class Conditions:
    """The leaves of a region, and their conditions sorted by tree, column and leaf.

    Parameters
    ----------
    tree : ndarray of int, shape (n_leaves,)
    lead : ndarray of shape (n_leaves, n_rivals)
        What a leaf adds to the lead of the label over each rival.
    needed : ndarray of shape (n_rivals,)
    error : float
        How far a lead may be off by rounding, in whichever order it is added up.
    leaf, column, first, last : ndarray of int, shape (n_conditions,)
    start : ndarray of int, shape (n_trees + 1,)
        Where the conditions of each tree begin.
    """

    tree: IntArray
    n_trees: int
    lead: FloatArray
    needed: FloatArray
    error: float
    leaf: IntArray
    column: IntArray
    first: IntArray
    last: IntArray
    start: IntArray

    @classmethod
    def of(cls, region: EnsembleRegion, groups: Sequence[IntArray]) -> Conditions:
        """Return the conditions of all leaves."""
        ensemble, leaves = region.ensemble, region.ensemble.leaves
        found = [ensemble.lead(region.label, rival) for rival in region.rivals]
        return cls(
            leaves.tree,
            len(ensemble.trees),
            np.stack([lead for lead, _, _ in found], axis=1),
            np.array([needed for _, needed, _ in found]),
            max(error for _, _, error in found),
            *_listed(ensemble, groups),
        )

    def few_trees(self, boxes: int = 1) -> Iterator[tuple[int, int]]:
        """Yield some trees after others, as first and end, that so many boxes can list at once."""
        most, first = AT_ONCE // boxes, 0
        while first < self.n_trees:
            end = int(np.searchsorted(self.start, self.start[first] + most, side="right")) - 1
            end = min(max(end, first + 1), self.n_trees)
            yield first, end
            first = end


Listed = tuple[IntArray, IntArray, IntArray, IntArray]
Known = tuple[IntArray, IntArray, IntArray, IntArray, IntArray]

#: The conditions of ensembles, by the groups of columns of which exactly one is 1: those of all
#: classes are the same, and to list a million of them takes as long as many a proof.
_KNOWN: WeakKeyDictionary[Ensemble, dict[tuple[bytes, ...], Known]] = WeakKeyDictionary()


def _listed(ensemble: Ensemble, groups: Sequence[IntArray]) -> Known:
    """Return leaf, column, first and last place of all conditions, and ``start``, listed once."""
    known, key = _KNOWN.setdefault(ensemble, {}), tuple(group.tobytes() for group in groups)
    if key not in known:
        leaves = ensemble.leaves
        leaf, column, first, last = _in_places(ensemble, leaves, groups)
        # Sorted by tree, column and leaf: runs of what is sorted by leaf and column.
        order = np.argsort(leaves.tree[leaf] * ensemble.dim + column, kind="stable")
        tree = leaves.tree[leaf[order]]
        start = np.searchsorted(tree, np.arange(len(ensemble.trees) + 1))
        known[key] = leaf[order], column[order], first[order], last[order], start
    return known[key]


def _in_places(ensemble: Ensemble, leaves: Leaves, groups: Sequence[IntArray]) -> Listed:
    """Return conditions in places: of categories the values 0 and 1, and what a choice implies."""
    leaf, column = leaves.owner, leaves.column
    first, last = leaves.first.copy(), leaves.last.copy()
    more: list[Listed] = []
    for group in groups:
        for j in group:
            own = np.flatnonzero(column == j)
            cell = np.searchsorted(ensemble.cuts[j], np.array([0.0, 1.0]))
            zero = (first[own] <= cell[0]) & (cell[0] <= last[own])
            one = (first[own] <= cell[1]) & (cell[1] <= last[own])
            first[own], last[own] = np.where(zero, 0, 1), np.where(one, 1, 0)
            # Where one column is 1, all others of its group are 0.
            chosen = leaf[own[one & ~zero]]
            for other in group[group != j]:
                zeros = np.zeros(len(chosen), dtype=np.int64)
                more.append((chosen, zeros + other, zeros, zeros))
    parts = zip((leaf, column, first, last), *more, strict=True)
    leaf, column, first, last = (np.concatenate(part) for part in parts)
    # Conditions of one leaf on one column are one: where all of them hold.
    order = np.argsort(leaf * ensemble.dim + column, kind="stable")
    leaf, column, first, last = (part[order] for part in (leaf, column, first, last))
    if not len(leaf):
        return leaf, column, first, last
    new = np.flatnonzero(np.r_[True, (leaf[1:] != leaf[:-1]) | (column[1:] != column[:-1])])
    return (
        leaf[new],
        column[new],
        np.maximum.reduceat(first, new),
        np.minimum.reduceat(last, new),
    )
