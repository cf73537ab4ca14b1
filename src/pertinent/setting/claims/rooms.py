"""How far the values of many answers may move: a search proposes, and is asked again if refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from pertinent.density.measure import by_sample
from pertinent.geometry.running import is_late, is_over
from pertinent.setting.claims.boxes import Answer
from pertinent.setting.claims.ranges import state_rooms
from pertinent.setting.ranges import Room, Span
from pertinent.setting.setting import Setting


class RangeSearch(Protocol):
    """Whatever proposes spans and boxes; nothing of it is believed."""

    tries: int

    def spans(self, setting: Setting, answer: Answer, attempt: int) -> list[list[Span]]:
        """Return a span for each chosen number of each answer; smaller with each attempt."""

    def boxes(
        self, setting: Setting, answer: Answer, known: Sequence[Room], attempt: int
    ) -> list[tuple[Span, ...]]:
        """Return a box of each answer, whose spans are known; smaller with each attempt."""


def rooms_of(search: RangeSearch, setting: Setting, answer: Answer, *, boxes: bool) -> list[Room]:
    """Return how far the chosen values of each answer may move, as far as it is shown.

    Parameters
    ----------
    search : RangeSearch
    setting : Setting
    answer : Answer
    boxes : bool
        Whether to look for boxes as well.
    """
    rooms = [Room() for _ in range(len(answer))]
    found = np.flatnonzero(~np.isnan(answer.points).any(axis=1) & answer.chosen.any(axis=1))
    # A blend of neighbours is one only as it is.
    # Of a model that is searched nothing is known in between.
    if not len(found) or by_sample(setting.within) or setting.by_search or is_late():
        return rooms
    some = answer.take(found)
    stated = _spans(search, setting, some)
    if not is_late():
        choices = _categories(setting, some)
        shown = state_rooms(setting, some, [Room((), (), own) for own in choices])
        stated = [replace(a, choices=b.choices) for a, b in zip(stated, shown, strict=True)]
    if boxes:
        stated = _boxes(search, setting, some, stated)
    for place, room in zip(found.tolist(), stated, strict=True):
        rooms[place] = room
    return rooms


def _spans(search: RangeSearch, setting: Setting, answer: Answer) -> list[Room]:
    """Return the spans that are shown; where one was refused, a smaller one is asked for."""
    known: list[dict[int, Span]] = [{} for _ in range(len(answer))]
    waiting = np.arange(len(answer))
    for attempt in range(search.tries):
        some = answer.take(waiting)
        proposed = search.spans(setting, some, attempt)
        shown = state_rooms(setting, some, [Room(tuple(one)) for one in proposed])
        refused = []
        for i, asked, room in zip(waiting.tolist(), proposed, shown, strict=True):
            known[i] = {span.column: span for span in room.spans} | known[i]
            if len(known[i]) < len(asked):
                refused.append(i)
        waiting = np.array(refused, dtype=np.int64)
        if not len(waiting) or is_over():
            break
    return [Room(tuple(own[column] for column in sorted(own))) for own in known]


def _boxes(search: RangeSearch, setting: Setting, answer: Answer, rooms: list[Room]) -> list[Room]:
    """Return the rooms with a box where one is shown; a smaller one if the first was refused."""
    rooms = list(rooms)
    for attempt in range(search.tries):
        rows = [i for i, room in enumerate(rooms) if room.spans and not room.box]
        if not rows or is_over():
            break
        some = answer.take(np.array(rows))
        proposed = search.boxes(setting, some, [rooms[i] for i in rows], attempt)
        shown = state_rooms(setting, some, [Room(box=box) for box in proposed])
        for i, room in zip(rows, shown, strict=True):
            rooms[i] = replace(rooms[i], box=room.box)
    return rooms


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
