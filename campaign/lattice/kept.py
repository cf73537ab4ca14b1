"""Positives judged by every point: the fewest values that were enough."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from campaign.judges import Tally
from campaign.lattice.case import CATEGORY, Case
from campaign.lattice.grid import Grid, grid_of, is_gap, relations_hold, stand
from campaign.lattice.notes import FOUND, GAP, Notes, least
from campaign.tables import Array

_FIRST = 1e6


@dataclass(frozen=True)
class Kept:
    """The points that would be an answer, for one sample.

    Attributes
    ----------
    on : shape (n, d), which columns are turned on: farther from the baseline than ``off_tol``
    own : shape (n, d), which columns hold the sample's own value
    to_base, to_own : shape (n, d), what each column costs, seen from baseline and sample
    good : shape (n,), points that the question and the rules allow
    sure : shape (n,), those of them that rounding decides nothing about
    """

    grid: Grid
    on: Array
    own: Array
    to_base: Array
    to_own: Array
    good: Array
    sure: Array

    @property
    def count(self) -> Array:
        """Number of columns that are turned on."""
        return np.asarray(self.on.sum(axis=1))

    @property
    def close(self) -> Array:
        """Weighted L1 to the sample over columns that are turned on."""
        return np.asarray((self.to_own * self.on).sum(axis=1))


def kept_of(grid: Grid, method: str) -> Kept:
    """Return what the question allows of a grid."""
    case = grid.case
    base = baseline(case)
    on, own = grid.differs(base), ~grid.differs(grid.own)
    good = grid.allowed & (grid.labels == grid.own_label)
    if case.options.get("between", case.ask == "explain") and method != "sufficient":
        good &= _between(grid, base, on, own)
    tolerance = case.options.get("off_tol", 0.0)
    if tolerance:
        on = on & _beyond(grid, base, tolerance)
    if method == "strict":
        good &= ((on & own) | ~grid.differs(base)).all(axis=1)
    return Kept(
        grid, on, own, grid.costs(base), grid.costs(grid.own), good, good & grid.sure
    )  # fmt: skip


def baseline(case: Case) -> list[Any]:
    """Return what columns are turned off to, in the precision of the samples."""
    given = [case.options["baseline"][name] for name in case.columns]
    return [float(np.float32(v)) if case.single and not isinstance(v, str) else v for v in given]


def _beyond(grid: Grid, base: list[Any], tolerance: float) -> Array:
    columns = [
        np.ones(len(grid), dtype=bool) if name == CATEGORY
        else ~(np.abs(grid.column(j) - base[j]) <= tolerance)
        for j, name in enumerate(grid.case.columns)
    ]  # fmt: skip
    return np.array(columns).T.reshape(len(grid), len(columns))


def _between(grid: Grid, base: list[Any], on: Array, own: Array) -> Array:
    """Return the points whose values lie between the sample's own and the baseline.

    A missing value counts as where it stands, and may stay missing.
    """
    inside = np.ones(len(grid), dtype=bool)
    for j, name in enumerate(grid.case.columns):
        if name == CATEGORY:
            inside &= ~on[:, j] | own[:, j]
            continue
        origin = stand(grid.case, name) if is_gap(grid.own[j]) else grid.own[j]
        low, high = sorted([origin, base[j]])
        values = grid.column(j)
        inside &= ((values >= low) & (values <= high)) | (own[:, j] & np.isnan(values))
    return inside


def judge_positives(case: Case, found: Any, tally: Tally, word: str = "") -> None:
    """Judge one answer for each sample."""
    method, points, status = str(found.method), found.points, found.status
    for row in range(len(found)):
        note = Notes(tally, f"positives {method}{word}", row)
        kept = kept_of(grid_of(case, row), method)
        tally.counts["answers"] += 1
        tally.counts[f"status: {status[row]}"] += 1
        if method == "sufficient":
            _judge_sufficient(kept, found, row, note)
        elif status[row] == "infeasible":
            there = kept.grid.points[kept.sure].head(1).to_dict("records")
            note.holds("none where none is said", not there, there, found.reason_of(row))
        elif status[row] in FOUND:
            _judge_point(kept, found, row, points.iloc[row], note)


def _judge_point(kept: Kept, found: Any, row: int, point: Any, note: Notes) -> None:
    place = kept.grid.place(point)
    if found.fallback[row]:
        note = Notes(note.tally, note.about + ", fallback", row)
        kept = kept_of(kept.grid, "two-phase")
    if not note.holds(
        "a point is allowed", place is not None and kept.good[place], point.to_dict()
    ):
        return
    assert place is not None
    if found.fallback[row]:
        return
    if str(found.method) == "two-phase":
        _judge_phases(kept, found, row, place, note)
    else:
        _judge_counted(kept, found, row, place, note)
        _judge_alternatives(kept, found, row, place, note)


def _has_gaps(kept: Kept) -> bool:
    """Return whether values may be missing: what a missing one is away from is not judged."""
    return kept.grid.case.options["missing"] in ("keep", "allow")


# -- The fewest --------------------------------------------------------------------------------


def _judge_counted(kept: Kept, found: Any, row: int, place: int, note: Notes) -> None:
    """Judge how many values are kept, and how close they are."""
    count, close = kept.count, kept.close
    said, on, exact = found.objective[row], kept.on[place], str(found.method) == "exact"
    note.holds("the objective is that of the point", said == count[place], said, count[place])
    note.holds("kept features", (found.kept[row] == on).all(), found.kept[row], on)
    note.at_most("no point below a bound", float(found.bound[row]), least(count, kept.sure))
    if found.status[row] != "optimal":
        return
    fewest = least(count, kept.sure)
    note.holds("none is smaller", count[place] <= fewest, count[place], fewest)
    if _has_gaps(kept):
        return
    as_few = kept.sure & (count == count[place])
    if exact:
        closest = least(close, as_few)
        right = close[place] <= closest + 1e-5 * (1 + closest)
        note.holds("none is closer", right, close[place], closest)
        note.at_most("no point below a bound", float(found.closeness_bound[row]), closest)
    if found.unique[row] is True:
        tied = as_few & (np.abs(close - close[place]) <= 1e-9 * (1 + close[place]))
        tied[place] = False
        note.holds("the only one", not tied.any(), kept.grid.points[tied].to_dict("records")[:1])


def _judge_alternatives(kept: Kept, found: Any, row: int, place: int, note: Notes) -> None:
    """Judge each further set of values: it works, and none that is not listed comes before."""
    key = kept.count * _FIRST + (kept.close if str(found.method) == "exact" else 0)
    listed = [kept.on[place]]
    for one in found.alternatives[row]:
        point = found.table.write(np.asarray(one.values)[None]).iloc[0]
        here = kept.grid.place(point)
        if not note.holds(
            "an alternative is allowed", here is not None and kept.good[here], point.to_dict()
        ):
            return
        rest = kept.sure & (kept.on != kept.on[here]).any(axis=1)
        for some in listed:
            rest &= ~kept.on[:, some].all(axis=1)
        if one.proved and not _has_gaps(kept):
            best = least(key, rest)
            note.holds("an alternative comes next", key[here] <= best + GAP, point.to_dict(),
                       key[here], best, listed)  # fmt: skip
        listed.append(kept.on[here])


# -- Two phases --------------------------------------------------------------------------------


def _judge_phases(kept: Kept, found: Any, row: int, place: int, note: Notes) -> None:
    """Judge both phases of the paper's algorithm."""
    on = kept.on[place]
    note.holds("kept features", (found.kept[row] == on).all(), found.kept[row], on)
    point = found.sparse_points.iloc[row]
    first = kept.grid.place(point)
    if not note.holds(
        "a point is allowed", first is not None and kept.good[first], "phase 1", point.to_dict()
    ):
        return
    if _has_gaps(kept):
        return
    away = kept.to_base.sum(axis=1)
    said, got, best = float(found.objective[row]), away[first], least(away, kept.sure)
    note.holds("the objective is that of the point", abs(said - got) <= 1e-6 * (1 + got), said, got)
    note.at_most("no point below a bound", float(found.bound[row]), best, "phase 1")
    on = kept.on[first]
    within = kept.sure & ~kept.on[:, ~on].any(axis=1)
    close = kept.to_own[:, on].sum(axis=1)
    closest = least(close, within)
    if found.status[row] == "optimal":
        right = got <= best + GAP * (1 + best)
        note.holds("none is smaller", right, "phase 1", got, best)
        right = close[place] <= closest + GAP * (1 + closest)
        note.holds("none is closer", right, "phase 2", close[place], closest)
    note.at_most("no point below a bound", float(found.closeness_bound[row]), closest, "phase 2")


# -- Enough whatever the others are ------------------------------------------------------------


def _judge_sufficient(kept: Kept, found: Any, row: int, note: Notes) -> None:
    """Judge that no other value of the rest changes the class, and that no smaller set does it."""
    grid, status = kept.grid, found.status[row]
    chosen = np.asarray(found.kept[row])
    if status in FOUND:
        against = _against(kept, chosen) & grid.sure
        note.holds("enough whatever the others are", not against.any(),
                   chosen, grid.points[against].head(1).to_dict("records"))  # fmt: skip
        if status == "optimal":
            smaller = _smaller_set(kept, int(chosen.sum()))
            note.holds("none is smaller", smaller is None, chosen, smaller)
    elif status == "infeasible" and grid.case.options.get("min_proba") is None:
        whole = np.ones(len(grid.own), dtype=bool)
        itself = kept.own.all(axis=1) & _obeys(grid)
        enough = itself.any() and not _against(kept, whole).any() and grid.sure[itself].all()
        note.holds("none where none is said", not enough, found.reason_of(row))


def _obeys(grid: Grid) -> Array:
    """Return the points that the rules allow, whatever their probability."""
    return relations_hold(grid.case, grid.points)


def _against(kept: Kept, chosen: Array) -> Array:
    """Return points with the chosen values that the rules allow and that are not of the class."""
    room = kept.own[:, chosen].all(axis=1) & _obeys(kept.grid)
    return np.asarray(room & ~(kept.grid.allowed & (kept.grid.labels == kept.grid.own_label)))


def _smaller_set(kept: Kept, size: int) -> tuple[int, ...] | None:
    """Return a set of fewer values that is enough; None if there is none."""
    obeys, sure = _obeys(kept.grid), kept.grid.sure
    for fewer in range(size):
        for some in itertools.combinations(range(kept.own.shape[1]), fewer):
            chosen = np.isin(np.arange(kept.own.shape[1]), some)
            room = kept.own[:, chosen].all(axis=1) & obeys
            if room.any() and sure[room].all() and not _against(kept, chosen).any():
                return some
    return None
