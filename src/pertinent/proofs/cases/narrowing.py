"""What a case leaves of each column: the plain reading of a `Domain`, for replaying proofs.

A case says ``lower <= x <= upper`` and, of each unit of features, whether it keeps its own values,
changes, or is not decided. Narrowing moves the ends of columns inwards. Every step takes away only
values that no allowed point of the case has, so the narrowed case holds the same points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Rows
from pertinent.geometry.domain import Bins, Domain

UNDECIDED, UNCHANGED, CHANGED = 0, 1, 2
#: A number's bin narrows the number, which may leave fewer bins: looked at this often.
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class Boxes(Rows):
    """Cases as they are replayed: their row, bounds of the columns, what is known of each unit."""

    row: IntArray
    lower: FloatArray
    upper: FloatArray
    state: CodeArray


def whole_box(lower: FloatArray, upper: FloatArray) -> Boxes:
    """Return the one case of one row of which nothing is decided."""
    one = np.zeros(1, dtype=np.int64)
    return Boxes(one, lower[None], upper[None], np.zeros((1, 0), dtype=np.int8))


def narrow(domain: Domain, boxes: Boxes) -> tuple[Boxes, BoolArray]:
    """Return the narrowed cases, and which of them hold no allowed point."""
    low, high, state = boxes.lower.copy(), boxes.upper.copy(), boxes.state.copy()
    own = None if domain.own is None else domain.own[boxes.row]
    empty = np.zeros(len(low), dtype=bool)
    if state.shape[1] and own is not None:
        empty |= _too_many_changes(domain, state)
        _keep_own_values(domain, state, own, low, high)
        _leave_own_values(domain, state, own, low, high)
    _to_allowed_numbers(domain, boxes.row, low, high)
    if domain.groups:
        empty |= _one_of_each_is_chosen(domain, low, high)
    for _ in range(ROUNDS if domain.bins else 0):
        for bins in domain.bins:
            empty |= _number_in_bins(bins, low, high)
            empty |= _one_is_chosen(bins.columns, low, high)
            if bins.excess is not None:
                # What is cut off never falls as the number grows.
                e, j = bins.excess, bins.column
                low[:, e] = np.maximum(low[:, e], bins.beyond(low[:, j]))
                high[:, e] = np.minimum(high[:, e], bins.beyond(high[:, j]))
        _to_allowed_numbers(domain, boxes.row, low, high)
    empty |= (low > high).any(axis=1)
    return Boxes(boxes.row, low, high, state), empty


def _too_many_changes(domain: Domain, state: CodeArray) -> BoolArray:
    """Return the cases with more changes than are allowed; with as many, the others are kept."""
    if domain.max_changes is None:
        return np.zeros(len(state), dtype=bool)
    changes = np.count_nonzero(state == CHANGED, axis=1)
    for i in np.flatnonzero(changes >= domain.max_changes):
        state[i, state[i] == UNDECIDED] = UNCHANGED
    return np.asarray(changes > domain.max_changes)


def _keep_own_values(
    domain: Domain, state: CodeArray, own: FloatArray, low: FloatArray, high: FloatArray
) -> None:
    """Fix ``x = own`` in all columns of a unit that does not change."""
    for j, unit in enumerate(domain.unit_of_column):
        kept = state[:, unit] == UNCHANGED
        low[kept, j] = np.maximum(low[kept, j], own[kept, j])
        high[kept, j] = np.minimum(high[kept, j], own[kept, j])


def _leave_own_values(
    domain: Domain, state: CodeArray, own: FloatArray, low: FloatArray, high: FloatArray
) -> None:
    """Let all features of a group that changes do so: the next value, another category."""
    for group in domain.together:
        changed = np.flatnonzero(state[:, domain.units[group[0]]] == CHANGED)
        for j in range(domain.dim):
            if domain.owner[j] not in group or domain.follows[j]:
                continue
            if domain.in_group[j]:
                high[changed[own[changed, j] == 1], j] = 0.0
                continue
            below, above = domain.next_to_own(j, own[:, j])
            up = changed[low[changed, j] > below[changed]]  # nothing is left below the own value
            down = changed[high[changed, j] < above[changed]]
            low[up, j] = np.maximum(low[up, j], above[up])
            high[down, j] = np.minimum(high[down, j], below[down])


def _to_allowed_numbers(domain: Domain, row: IntArray, low: FloatArray, high: FloatArray) -> None:
    """Move both ends of numbers on a lattice, or in a gap, to the next allowed value."""
    j = domain.confined
    if len(j):
        low[:, j] = domain.ceil(j, low[:, j], row)
        high[:, j] = domain.floor(j, high[:, j], row)


def _one_is_chosen(columns: IntArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Choose exactly one column to be 1; return where none can be.

    A column can be 1 if its upper end is, and if no other column is above 0 for sure.
    """
    sure = low[:, columns] > 0
    alone = sure.sum(axis=1)[:, None] == sure
    possible = (high[:, columns] >= 1.0) & alone
    left = possible.sum(axis=1)
    high[:, columns] = possible
    low[:, columns] = possible & (left == 1)[:, None]
    return np.asarray(left == 0)


def _one_of_each_is_chosen(domain: Domain, low: FloatArray, high: FloatArray) -> BoolArray:
    """Do the same for all groups: they share no column."""
    columns, starts, group = domain.grouped
    sure = (low[:, columns] > 0).astype(np.int64)
    alone = np.add.reduceat(sure, starts, axis=1)[:, group] == sure
    possible = (high[:, columns] >= 1.0) & alone
    left = np.add.reduceat(possible.astype(np.int64), starts, axis=1)
    high[:, columns] = possible
    low[:, columns] = possible & (left == 1)[:, group]
    return np.asarray((left == 0).any(axis=1))


def _number_in_bins(bins: Bins, low: FloatArray, high: FloatArray) -> BoolArray:
    """Leave the bins that a number meets and whose indicator may be 1; return where none is."""
    j, least, most = bins.column, low[:, bins.column], high[:, bins.column]
    meets = [(a <= most) & (b >= least) for a, b in zip(bins.low, bins.high, strict=True)]
    if bins.excess is not None:
        # Both bins own their edge: one that the range meets in its edge alone adds no number,
        # unless the range is that edge.
        inside = [(a < most) & (b > least) for a, b in zip(bins.low, bins.high, strict=True)]
        anywhere = np.any(inside, axis=0)
        meets = [m & (i | ~anywhere) for m, i in zip(meets, inside, strict=True)]
    impossible = np.zeros(len(low), dtype=bool)
    first, last = np.full(len(low), np.inf), np.full(len(low), -np.inf)
    for k, column in enumerate(bins.columns):
        can = meets[k] & (high[:, column] >= 1.0)
        high[:, column] = can
        impossible |= low[:, column] > high[:, column]
        first[can] = np.minimum(first[can], bins.low[k])
        last[can] = np.maximum(last[can], bins.high[k])
    low[:, j], high[:, j] = np.maximum(least, first), np.minimum(most, last)
    return impossible | (first > last)
