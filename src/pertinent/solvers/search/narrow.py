"""Cases of a search: boxes, and how the domain narrows them.

A case is a box ``lower <= x <= upper`` of one row, with what is known of each unit of features that
change together. The checker (`pertinent.proofs.cases`) derives the same boxes again from the tree,
by code of its own: a mistake made here costs an answer or its proof, but makes no false claim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Rows
from pertinent.geometry.domain import Bins, Domain

#: What is known of a unit.
UNDECIDED, UNCHANGED, CHANGED = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Boxes(Rows):
    """Cases as boxes.

    Parameters
    ----------
    row : ndarray of int, shape (n,)
        The row of the task that each case belongs to.
    lower, upper : ndarray of shape (n, n_columns)
    state : ndarray of int8, shape (n, n_units)
        UNDECIDED, UNCHANGED or CHANGED; no columns where the domain does not count changes.
    """

    row: IntArray
    lower: FloatArray
    upper: FloatArray
    state: CodeArray


def whole_boxes(domain: Domain, lower: FloatArray, upper: FloatArray) -> Boxes:
    """Return the first case of each row: its bounds, and nothing decided."""
    units = len(domain.units) if domain.counts_changes else 0
    state = np.zeros((len(lower), units), dtype=np.int8)
    return Boxes(np.arange(len(lower)), lower, upper, state)


def narrow(domain: Domain, boxes: Boxes) -> tuple[Boxes, BoolArray]:
    """Return the cases with bounds as tight as the domain says at once, and which are empty."""
    lower, upper, state = boxes.lower.copy(), boxes.upper.copy(), boxes.state.copy()
    own = None if domain.own is None else domain.own[boxes.row]
    empty = np.zeros(len(lower), dtype=bool)
    if state.shape[1] and own is not None:
        empty |= _apply_changes(domain, lower, upper, state, own)
    _narrow_numbers(domain, lower, upper, boxes.row)
    if domain.groups:
        empty |= _narrow_groups(domain, lower, upper)
    if domain.bins:
        for _ in range(2):
            for bins in domain.bins:
                empty |= _narrow_bins(bins, lower, upper)
                empty |= _narrow_group(bins.columns, lower, upper)
                _narrow_excess(bins, lower, upper)
            _narrow_numbers(domain, lower, upper, boxes.row)
    empty |= (lower > upper).any(axis=1)
    return Boxes(boxes.row, lower, upper, state), empty


def _narrow_numbers(domain: Domain, lower: FloatArray, upper: FloatArray, row: IntArray) -> None:
    j = domain.confined
    if len(j):
        lower[:, j] = domain.ceil(j, lower[:, j], row)
        upper[:, j] = domain.floor(j, upper[:, j], row)


def _apply_changes(
    domain: Domain, lower: FloatArray, upper: FloatArray, state: CodeArray, own: FloatArray
) -> BoolArray:
    empty = np.zeros(len(lower), dtype=bool)
    if domain.max_changes is not None:
        count = (state == CHANGED).sum(axis=1)
        empty |= count > domain.max_changes
        full = count >= domain.max_changes
        state[full[:, None] & (state == UNDECIDED)] = UNCHANGED
    kept = (state == UNCHANGED)[:, domain.unit_of_column]
    np.maximum(lower, np.where(kept, own, -np.inf), out=lower)
    np.minimum(upper, np.where(kept, own, np.inf), out=upper)
    for group in domain.together:
        changed = state[:, domain.units[group[0]]] == CHANGED
        for j in np.flatnonzero(np.isin(domain.owner, group) & ~domain.follows):
            if domain.in_group[j]:
                # The own category is given up: its column, the one that is 1, becomes 0.
                upper[changed & (own[:, j] == 1), j] = 0.0
                continue
            below, above = domain.next_to_own(int(j), own[:, j])
            rises, falls = changed & (lower[:, j] > below), changed & (upper[:, j] < above)
            lower[rises, j] = np.maximum(lower[rises, j], above[rises])
            upper[falls, j] = np.minimum(upper[falls, j], below[falls])
    return empty


def _narrow_groups(domain: Domain, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Do the same as `_narrow_group` for all groups; they share no column."""
    columns, starts, member = domain.grouped
    can, sure = upper[:, columns] >= 1.0, lower[:, columns] > 0.0
    decided = np.add.reduceat(sure, starts, axis=1, dtype=np.int64)
    can &= sure | (decided == 0)[:, member]
    count = np.add.reduceat(can, starts, axis=1, dtype=np.int64)
    upper[:, columns] = can
    lower[:, columns] = can & (count == 1)[:, member]
    return np.asarray(((count == 0) | (decided > 1)).any(axis=1))


def _narrow_group(group: IntArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Exactly one is 1: a sure one excludes the others, and the last possible one is sure."""
    can = np.asarray(upper[:, group] >= 1.0)
    sure = np.asarray(lower[:, group] > 0.0)
    can &= sure | ~sure.any(axis=1, keepdims=True)
    count = can.sum(axis=1)
    upper[:, group] = np.where(can, 1.0, 0.0)
    lower[:, group] = np.where(can & (count == 1)[:, None], 1.0, 0.0)
    return np.asarray((count == 0) | (sure.sum(axis=1) > 1))


def _narrow_bins(bins: Bins, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Bins out of reach are excluded, and the number lies in those that are left."""
    j = bins.column
    reach = (bins.low <= upper[:, [j]]) & (bins.high >= lower[:, [j]])
    if bins.excess is not None:
        # An edge belongs to two bins: it alone is no reason to keep both.
        more = (bins.low < upper[:, [j]]) & (bins.high > lower[:, [j]])
        reach &= more | ~more.any(axis=1, keepdims=True)
    can = reach & (upper[:, bins.columns] >= 1.0)
    upper[:, bins.columns] = np.where(can, 1.0, 0.0)
    lower[:, j] = np.maximum(lower[:, j], np.where(can, bins.low, np.inf).min(axis=1))
    upper[:, j] = np.minimum(upper[:, j], np.where(can, bins.high, -np.inf).max(axis=1))
    return np.asarray(
        ~can.any(axis=1) | (lower[:, bins.columns] > upper[:, bins.columns]).any(axis=1)
    )


def _narrow_excess(bins: Bins, lower: FloatArray, upper: FloatArray) -> None:
    """Narrow what is cut off: it grows with the number, so its ends follow from the number's."""
    if bins.excess is None:
        return
    for ends, tighter in ((lower, np.maximum), (upper, np.minimum)):
        at = ends[:, bins.column]
        follows = np.where(np.isfinite(at), bins.beyond(np.where(np.isfinite(at), at, 0.0)), at)
        ends[:, bins.excess] = tighter(ends[:, bins.excess], follows)
