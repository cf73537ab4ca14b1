"""Ranges and boxes judged by every point inside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from campaign.judges import Tally
from campaign.lattice.case import Case
from campaign.lattice.changes import changes_of
from campaign.lattice.grid import Grid, grid_of, same
from campaign.lattice.notes import FOUND, Notes
from campaign.tables import Array


def judge_rooms(case: Case, answers: Any, tally: Tally) -> None:
    """Judge how far values may move, by themselves and together, for each sample."""
    for row in range(len(answers)):
        grid, one = grid_of(case, row), answers[row]
        note = Notes(tally, "ranges", row)
        if answers.negative.status[row] in FOUND:
            changes = changes_of(grid)
            stays = grid.labels == _label(grid, answers.negative.points.iloc[row])
            good = changes.good & stays
            point = answers.negative.points.iloc[row]
            for name, ends in one.ranges.items():
                _judge(grid, point, {name: ends}, good, "every value of a range", note)
            _judge(grid, point, one.box, good, "every point of a box", note)
        positive = answers.positive
        if positive.status[row] in FOUND and one.basis == "typical":
            good, point = _freely(grid), positive.points.iloc[row]
            for name, ends in one.kept_ranges.items():
                _judge(grid, point, {name: ends}, good, "every value of a range", note)


def _label(grid: Grid, point: Any) -> Any:
    place = grid.place(point)
    return None if place is None else grid.labels[place]


def _freely(grid: Grid) -> Array:
    """Return the points that keep the class, be they between sample and baseline or not."""
    return np.asarray(grid.allowed & (grid.labels == grid.own_label))


def _judge(
    grid: Grid, point: Any, room: dict[str, Any], good: Array, name: str, note: Notes
) -> None:
    """Judge that every point of the grid within a room is good; rounding aside."""
    if not room:
        return
    inside = np.ones(len(grid), dtype=bool)
    for j, column in enumerate(grid.case.columns):
        values = grid.column(j)
        if column not in room:
            inside &= same(values, point[column])
        elif isinstance(room[column], list):
            inside &= np.isin(values.astype(str), [str(v) for v in room[column]])
        else:
            low, high = room[column]
            inside &= (values >= low) & (values <= high)
    bad = inside & grid.sure & ~good
    seen = grid.points[bad].head(1).to_dict("records")
    note.holds(name, not bad.any(), room, seen, point.to_dict())
