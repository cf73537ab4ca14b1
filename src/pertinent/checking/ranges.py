"""The claims about how far values may move: ranges, boxes and categories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.checking.findings import CHANGE, ENOUGH, UNKNOWN, Finding, judged
from pertinent.setting.claims.ranges import Answer, state_rooms
from pertinent.setting.ranges import Room
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered
from pertinent.summary.ranges import movable


def range_findings(explanations: Answered, unsure: str) -> tuple[Answered, list[Finding]]:
    """Judge the stored ranges of one explanation; return it with what holds of them.

    Why each side ends is not taken from the file: it is decided again, and what is shown of it is
    compared with the rest of the summary.
    """
    asked, stored = explanations.asked, explanations.known_rooms[0]
    assert asked is not None
    if unsure:
        said = any(room != Room() for room in stored)
        claim = "values may move as said"
        return explanations, [Finding(claim, UNKNOWN, unsure)] if said else []
    parts = movable(explanations, asked, np.array([0]))
    found, findings = [], []
    for what, answer, room in zip((ENOUGH, CHANGE), parts, stored, strict=True):
        shown = _shown(asked.setting, answer, room)
        found.append(shown)
        findings += _judged(what, room, shown)
    return replace(explanations, known_rooms=((found[0], found[1]),)), findings


def _shown(setting: Setting, answer: Answer, room: Room) -> Room:
    """Return what of a room holds; nothing where there is no answer that it could be about."""
    if np.isnan(answer.points).any() or room == Room():
        return Room()
    features = setting.features
    numbers = {int(features.first[j]) for j in np.flatnonzero(answer.chosen[0])}
    about = [span for span in (*room.spans, *room.box) if span.column in numbers]
    kept = [j for j in room.choices if answer.chosen[0, j]]
    if len(about) < len(room.spans) + len(room.box) or len(kept) < len(room.choices):
        return Room()
    return state_rooms(setting, answer, [room])[0]


def _judged(what: str, said: Room, shown: Room) -> list[Finding]:
    out = []
    if said.spans:
        right = [span.column for span in shown.spans] == [span.column for span in said.spans]
        out.append(judged(f"each value of {what} may move within its range", right))
    if said.box:
        right = len(shown.box) == len(said.box)
        out.append(judged(f"the values of {what} may move together within their box", right))
    if said.choices:
        out.append(judged(f"the categories of {what} are as said", shown.choices == said.choices))
    return out
