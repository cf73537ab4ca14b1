"""Menus judged by every point: which few columns can do it, and how cheaply."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from campaign.judges import Tally
from campaign.lattice.case import Case
from campaign.lattice.changes import Changes, changes_of
from campaign.lattice.grid import grid_of
from campaign.lattice.notes import GAP, Notes, least


def judge_menus(case: Case, menus: list[Any], tally: Tally) -> None:
    """Judge every set of few columns, for each sample."""
    for row, menu in enumerate(menus):
        note, changes = Notes(tally, "menu", row), changes_of(grid_of(case, row))
        if any(lever.status == "already" for lever in menu):
            aim = 0 if case.regressor else case.target
            note.holds("already there", changes.grid.own_label == aim)
            continue
        free = [name for name in case.columns if name not in menu.frozen]
        sizes = range(1, min(menu.max_features, len(free)) + 1)
        sets = {frozenset(some) for size in sizes for some in itertools.combinations(free, size)}
        listed = [frozenset(lever.features) for lever in menu]
        note.holds(
            "a menu lists every set", sorted(map(sorted, listed)) == sorted(map(sorted, sets))
        )
        _judge_frozen(changes, menu.frozen, note)
        for lever in menu:
            tally.counts["answers"] += 1
            tally.counts[f"status: {lever.status}"] += 1
            _judge_lever(changes, lever, note)


def _judge_frozen(changes: Changes, frozen: tuple[str, ...], note: Notes) -> None:
    """Judge that columns said to be fixed have one value only."""
    for j in changes.grid.places(list(frozen)):
        note.holds("a fixed column has one value", not changes.moved[:, j].any(), frozen)


def _as_stored(case: Case, value: Any) -> Any:
    """Return a value as its column has it: a menu writes 0.4 for the nearest single number."""
    is_single = case.single and isinstance(value, float)
    return float(np.float32(value)) if is_single else value


def _judge_lever(changes: Changes, lever: Any, note: Notes) -> None:
    """Judge what changing only some columns can do."""
    untouched = ~np.isin(changes.grid.case.columns, lever.features)
    changes = changes.within(untouched)
    best = least(changes.cost, changes.sure)
    if lever.status == "infeasible":
        note.holds("none where none is said", not changes.sure.any(), lever, best)
    if not lever.works:
        return
    point = dict(zip(changes.grid.case.columns, changes.grid.own, strict=True))
    point |= {name: _as_stored(changes.grid.case, new) for name, (_, new) in lever.values.items()}
    place = changes.grid.place({k: np.nan if v is None else v for k, v in point.items()})
    if not note.holds("a point is allowed", place is not None and changes.good[place], lever):
        return
    got = changes.cost[place]
    right = abs(lever.objective - got) <= 1e-6 * (1 + got)
    note.holds("the objective is that of the point", right, lever, got)
    note.at_most("no point below a bound", lever.bound or 0.0, best, lever)
    if lever.status == "optimal":
        note.holds("none is smaller", got <= best + GAP * (1 + best), lever, got, best)
