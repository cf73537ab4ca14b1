"""How far the values of many answers may move: proposed, claimed, and proposed again if refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.density.measure import by_sample
from pertinent.geometry.arrays import IntArray
from pertinent.questions.ranges.boxes import Growing
from pertinent.questions.ranges.spans import BOLD, Try, propose_spans
from pertinent.setting.claims.ranges import Answer, state_rooms
from pertinent.setting.ranges import Room, Span
from pertinent.setting.setting import Setting

#: What is proposed, and proposed again if it was refused.
TRIES = (
    BOLD, Try(2.5, 1 - 1e-12), Try(2.5, 1 - 1e-12, 1e-12), Try(16.0, 1 - 1e-9, 1e-10),
    Try(16.0, 1 - 1e-6, 1e-8), Try(16.0, 0.9, 5e-7), Try(16.0, 0.9, 5e-6),
)  # fmt: skip


def find_rooms(setting: Setting, answer: Answer, *, boxes: bool) -> list[Room]:
    """Return how far the chosen values of each answer may move, as far as it is shown.

    Parameters
    ----------
    setting : Setting
    answer : Answer
    boxes : bool
        Whether to look for boxes as well.
    """
    rooms = [Room() for _ in range(len(answer))]
    found = np.flatnonzero(~np.isnan(answer.points).any(axis=1) & answer.chosen.any(axis=1))
    # A blend of neighbours is one only as it is.
    if not len(found) or by_sample(setting.within):
        return rooms
    some = _some(answer, found)
    for place, room in zip(found.tolist(), _find(setting, some, boxes), strict=True):
        rooms[place] = room
    return rooms


def _some(answer: Answer, rows: IntArray) -> Answer:
    low, high = (np.broadcast_to(side, answer.points.shape)[rows] for side in answer.limits)
    return replace(
        answer, table=answer.table.take(rows), points=answer.points[rows],
        labels=answer.labels[rows], limits=(low, high), chosen=answer.chosen[rows],
    )  # fmt: skip


def _find(setting: Setting, answer: Answer, boxes: bool) -> list[Room]:
    choices = _categories(setting, answer)
    stated = [Room() for _ in range(len(answer))]
    waiting = np.arange(len(answer))
    for asked in TRIES:
        some = _some(answer, waiting)
        spans = propose_spans(setting, some, asked)
        rooms = state_rooms(setting, some, [Room(tuple(one)) for one in spans])
        refused = []
        for k, i in enumerate(waiting.tolist()):
            known = {span.column for span in stated[i].spans}
            new = tuple(span for span in rooms[k].spans if span.column not in known)
            stated[i] = replace(stated[i], spans=(*stated[i].spans, *new))
            if len(stated[i].spans) < len(spans[k]):
                refused.append(i)
        waiting = np.array(refused, dtype=np.int64)
        if not len(waiting):
            break
    proposed = [Room((), (), choices[i]) for i in range(len(answer))]
    if boxes:
        grown = _grown(setting, answer, stated, BOLD.room, True)
        proposed = [replace(p, box=box) for p, box in zip(proposed, grown, strict=True)]
    final = state_rooms(setting, answer, proposed)
    out = [
        Room(tuple(sorted(own.spans, key=_by_column)), other.box, other.choices)
        for own, other in zip(stated, final, strict=True)
    ]
    return _smaller_boxes(setting, answer, out) if boxes else out


def _by_column(span: Span) -> int:
    return span.column


def _grown(
    setting: Setting, answer: Answer, known: Sequence[Room], room: float, whole: bool
) -> list[tuple[Span, ...]]:
    """Return a proposed box of each answer; a single number's box is its span."""
    domain = setting.domain_of(answer.table, changes=answer.changes)
    return [
        own.spans
        if len(own.spans) == 1 and whole
        else Growing(setting, answer, i, own.spans, room, whole, domain).grown()
        for i, own in enumerate(known)
    ]


def _smaller_boxes(setting: Setting, answer: Answer, rooms: list[Room]) -> list[Room]:
    """Return the rooms with a smaller box where the one proposed first was refused."""
    for asked in TRIES[1:]:
        rows = [i for i, room in enumerate(rooms) if room.spans and not room.box]
        if not rows:
            break
        some = _some(answer, np.array(rows))
        grown = _grown(setting, some, [rooms[i] for i in rows], asked.room, False)
        shrunk = [
            tuple(_shrunk(some, k, span, asked.share) for span in box)
            for k, box in enumerate(grown)
        ]
        stated = state_rooms(setting, some, [Room(box=box) for box in shrunk])
        for i, room in zip(rows, stated, strict=True):
            rooms[i] = replace(rooms[i], box=room.box)
    return rooms


def _shrunk(answer: Answer, row: int, span: Span, share: float) -> Span:
    if share == 1:
        return span
    own = float(answer.points[row, span.column])
    low = own + share * (span.low - own) if np.isfinite(span.low) else span.low
    high = own + share * (span.high - own) if np.isfinite(span.high) else span.high
    return replace(span, low=low, high=high)


def _categories(setting: Setting, answer: Answer) -> list[dict[int, tuple[int, ...]]]:
    """Return the categories that the rules allow for each chosen feature that holds some."""
    features = setting.features
    high = np.broadcast_to(answer.limits[1], answer.points.shape)
    held = [j for j in range(len(features)) if features.is_category(j)]
    return [
        {
            j: tuple(np.flatnonzero(high[i, features.columns_of(j)] >= 1).tolist())
            for j in held
            if answer.chosen[i, j]
        }
        for i in range(len(answer))
    ]
