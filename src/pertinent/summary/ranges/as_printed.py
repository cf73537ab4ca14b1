"""Ranges that hold beside the other values as they are printed.

A range is proved around the answer, whose numbers may have more digits than are read. Somebody who
takes the printed numbers, and moves one of them to the end of its range, must get the class, too:
the model is asked, and a range for which it says otherwise is not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.setting.ranges import Room, Span
from pertinent.setting.setting import Setting
from pertinent.summary.ranges.shown import rounded_ends
from pertinent.tables.table import Table

#: A row, and the column of a number or the feature of a category.
_Moved = tuple[int, int, bool]


def as_printed(
    setting: Setting,
    table: Table,
    labels: IntArray,
    points: tuple[FloatArray, FloatArray],
    rooms: Sequence[Room],
    steps: FloatArray,
) -> list[Room]:
    """Return the rooms without the ranges that printed numbers leave.

    Parameters
    ----------
    setting : Setting
    table : Table
        The samples of n rows.
    labels : ndarray of int, shape (n,)
        Place of the class that each row's answer has.
    points : tuple of two ndarray of shape (n, n_columns)
        The answers as they are printed, and as they are.
    rooms : sequence of Room
        As they are told: see `told_rooms`.
    steps : ndarray of shape (n_columns,)
        Coarsest rounding of the ends.
    """
    printed, exact = table.as_told(points[0]), points[1]
    rounded = (table.as_held(printed) != exact) & ~np.isnan(exact)
    tried: list[tuple[_Moved, FloatArray]] = []
    gone: set[_Moved] = set()
    for i in np.flatnonzero(rounded.any(axis=1)).tolist():
        for span in rooms[i].spans:
            where, value = (i, span.column, False), float(printed[i, span.column])
            low, high = rounded_ends(span, value, float(steps[span.column]))
            if (low is not None and value < low) or (high is not None and value > high):
                gone.add(where)
            if not np.delete(rounded[i], span.column).any():
                continue  # it was proved beside the others as they are
            ends = [end for end in (low, high) if end is not None]
            tried += [(where, _with(printed[i], span.column, end)) for end in ends]
        for j, places in rooms[i].choices.items():
            columns = table.features.columns_of(j)
            for place in places:
                point = _with(printed[i], columns, 0.0)
                tried.append(((i, j, True), _with(point, columns[place], 1.0)))
    if tried:
        rows = np.array([where[0] for where, _ in tried])
        moved = table.as_held(np.array([point for _, point in tried]))
        said = setting.predict(table.take(rows), moved)
        wrong = np.flatnonzero(said != labels[rows])
        gone |= {tried[k][0] for k in wrong.tolist()}
    return [_without(room, i, gone) for i, room in enumerate(rooms)] if gone else list(rooms)


def told_rooms(table: Table, rooms: Sequence[Room]) -> list[Room]:
    """Return rooms whose ends are told as values are: see `Table.as_told`."""
    if not table.single_precision:
        return list(rooms)
    return [
        replace(room, spans=_told(table, room.spans), box=_told(table, room.box)) for room in rooms
    ]


def _told(table: Table, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    ends = np.full((2, table.features.dim), np.nan)
    for span in spans:
        ends[:, span.column] = span.low, span.high
    low, high = table.as_told(ends)
    return tuple(
        replace(span, low=float(low[span.column]), high=float(high[span.column])) for span in spans
    )


def _with(point: FloatArray, column: int | IntArray, value: float) -> FloatArray:
    point = point.copy()
    point[column] = value
    return point


def _without(room: Room, row: int, gone: set[_Moved]) -> Room:
    spans = tuple(span for span in room.spans if (row, span.column, False) not in gone)
    choices = {j: places for j, places in room.choices.items() if (row, j, True) not in gone}
    return replace(room, spans=spans, choices=choices)
