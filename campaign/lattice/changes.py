"""Negatives judged by every point: the smallest change, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from campaign.judges import Tally
from campaign.lattice.case import Case
from campaign.lattice.grid import Grid, grid_of
from campaign.lattice.notes import FOUND, GAP, Notes, least
from campaign.tables import Array

#: One change more costs more than all that a column can.
_FIRST = 1e6


@dataclass(frozen=True)
class Changes:
    """The points that would be an answer, for one sample.

    Attributes
    ----------
    moved : shape (n, d), which columns differ from the sample
    cost, count : shape (n,), weighted L1 and number of changes
    good : shape (n,), points that the question and the rules allow
    sure : shape (n,), those of them that rounding decides nothing about
    """

    grid: Grid
    moved: Array
    cost: Array
    count: Array
    good: Array
    sure: Array

    def key(self, norm: str) -> Array:
        """Return what is made small."""
        return self.cost if norm == "l1" else self.count * _FIRST + self.cost

    def within(self, untouched: Array) -> Changes:
        """Return the changes that leave some columns alone."""
        free = ~self.moved[:, untouched].any(axis=1)
        good, sure = self.good & free, self.sure & free
        return Changes(self.grid, self.moved, self.cost, self.count, good, sure)


def changes_of(grid: Grid) -> Changes:
    """Return what the question allows of a grid."""
    case, moved = grid.case, grid.differs(grid.own)
    count, good = grid.changes(moved), grid.allowed & wanted(grid)
    for group in case.rules.get("together", ()):
        some = moved[:, grid.places(group)]
        good &= some.all(axis=1) | ~some.any(axis=1)
    if case.rules.get("max_changes") is not None:
        good &= count <= case.rules["max_changes"]
    cost = grid.costs(grid.own).sum(axis=1)
    return Changes(grid, moved, cost, count, good, good & grid.sure)


def wanted(grid: Grid) -> Array:
    """Return the points of the class that is asked for."""
    if grid.case.regressor:
        return np.asarray(grid.labels == 0)
    target = grid.case.target
    if target is None:
        return np.asarray(grid.labels != grid.own_label)
    return np.asarray(grid.labels == target)


def judge_negatives(
    case: Case, found: Any, tally: Tally, untouched: Array | None = None, word: str = ""
) -> None:
    """Judge one answer for each sample; ``untouched``, shape (n, d), are columns left alone."""
    norm = str(found.norm)
    points, status = found.points, found.status
    for row in range(len(found)):
        note = Notes(tally, f"negatives {norm}{word}", row)
        changes = changes_of(grid_of(case, row))
        if untouched is not None:
            changes = changes.within(untouched[row])
        tally.counts["answers"] += 1
        tally.counts[f"status: {status[row]}"] += 1
        if status[row] == "already":
            aim = 0 if case.regressor else case.target
            note.holds("already there", changes.grid.own_label == aim)
        elif status[row] == "infeasible":
            _judge_none(changes, found.reason_of(row), note)
        elif status[row] in FOUND:
            _judge_point(changes, found, row, points.iloc[row], note)


def _judge_none(changes: Changes, reason: str | None, note: Notes) -> None:
    there = np.flatnonzero(changes.sure)
    seen = changes.grid.points.iloc[there[:1]].to_dict("records")
    note.holds("none where none is said", not len(there), seen, reason)


def _judge_point(changes: Changes, found: Any, row: int, point: Any, note: Notes) -> None:
    place = changes.grid.place(point)
    if not note.holds(
        "a point is allowed", place is not None and changes.good[place], point.to_dict()
    ):
        return
    assert place is not None
    _judge_numbers(changes, found, row, place, note)
    _judge_only(changes, found, row, place, note)
    _judge_alternatives(changes, found, row, place, note)


def _judge_numbers(changes: Changes, found: Any, row: int, place: int, note: Notes) -> None:
    """Judge objective, changed columns, status and bounds."""
    norm, sure = str(found.norm), changes.sure
    key = changes.key(norm)
    counted = changes.cost if norm == "l1" else changes.count
    got, said = float(counted[place]), float(found.objective[row])
    note.holds("the objective is that of the point", abs(said - got) <= 1e-6 * (1 + got), said, got)
    moved = changes.moved[place]
    note.holds("changed features", (found.changed[row] == moved).all(), found.changed[row], moved)
    if found.status[row] == "optimal":
        best = least(key, sure)
        slack = GAP * (1 + (best if norm == "l1" else 0))
        better = changes.grid.points.iloc[int(np.where(sure, key, np.inf).argmin())].to_dict()
        note.holds("none is smaller", key[place] <= best + slack, key[place], best, better)
    note.at_most("no point below a bound", float(found.bound[row]), least(counted, sure))
    if norm == "l0" and found.status[row] == "optimal":
        closest = least(changes.cost, sure & (changes.count == changes.count[place]))
        note.at_most("no point below a bound", float(found.closeness_bound[row]), closest)


def _judge_only(changes: Changes, found: Any, row: int, place: int, note: Notes) -> None:
    """Judge whether an answer is the only one, where that is said."""
    key = changes.key(str(found.norm))
    near = 1e-9 * (1 + key[place])
    if found.unique[row] is True and found.status[row] == "optimal":
        tied = changes.sure & (np.abs(key - key[place]) <= near)
        tied[place] = False
        note.holds("the only one", not tied.any(), changes.grid.points[tied].to_dict("records")[:1])
    if row in found.second:
        other = changes.grid.place(found.table.write(found.second[row][None]).iloc[0])
        right = other is not None and other != place and bool(changes.good[other])
        right = right and key[other] <= key[place] + GAP * (1 + changes.cost[place])
        note.holds("another as good", right, found.second[row])


def _judge_alternatives(changes: Changes, found: Any, row: int, place: int, note: Notes) -> None:
    """Judge each further set of columns: it works, and none that is not listed comes before."""
    key, listed = changes.key(str(found.norm)), [changes.moved[place]]
    for one in found.alternatives[row]:
        point = found.table.write(np.asarray(one.values)[None]).iloc[0]
        here = changes.grid.place(point)
        if not note.holds(
            "an alternative is allowed", here is not None and changes.good[here], point.to_dict()
        ):
            return
        moved = changes.moved[here]
        note.holds("changed features", (np.asarray(one.features) == moved).all(), one, moved)
        rest = changes.sure & (changes.moved != moved).any(axis=1)
        for some in listed:
            rest &= ~changes.moved[:, some].all(axis=1)
        if one.proved:
            best = least(key, rest)
            slack = 1e-5 * (1 + (best if np.isfinite(best) and found.norm == "l1" else 0))
            note.holds("an alternative comes next", key[here] <= best + slack, point.to_dict(),
                       key[here], best, listed)  # fmt: skip
        listed.append(moved)
