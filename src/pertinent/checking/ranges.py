"""The claims about how far values may move: ranges, boxes and categories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.checking.findings import CHANGE, ENOUGH, UNKNOWN, Finding, judged
from pertinent.checking.instead import IN_ITS_PLACE
from pertinent.setting.claims.boxes import Answer
from pertinent.setting.claims.ranges import Proposals
from pertinent.setting.ranges import Room
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered, Rooms
from pertinent.summary.ranges.shown import MOVABLE


def proposed_ranges(explanations: Answered) -> dict[str, Proposals | None]:
    """Return what a file says of how far values may move, by its part of the explanation.

    None where there is no answer that it could be about.
    """
    asked, rooms = explanations.asked, explanations.known_rooms[0]._asdict()
    assert asked is not None
    answers = {part: _movable(explanations, part) for part in rooms}
    return {
        part: Proposals(asked.setting, answers[part], [room])
        if _is_about(asked.setting, answers[part], room)
        else None
        for part, room in rooms.items()
    }


def range_findings(
    explanations: Answered, proposed: dict[str, Proposals | None], unsure: str
) -> tuple[Answered, list[Finding]]:
    """Judge the stored ranges of one explanation; return it with what holds of them.

    Why each side ends is not taken from the file: it is decided again, and what is shown of it is
    compared with the rest of the summary.
    """
    stored = explanations.known_rooms[0]
    if unsure:
        said = any(room != Room() for room in stored)
        claim = "values may move as said"
        return explanations, [Finding(claim, UNKNOWN, unsure)] if said else []
    found, findings = [], []
    for part, room in stored._asdict().items():
        own = proposed[part]
        shown = Room() if own is None else own.stated()[0]
        found.append(shown)
        before = IN_ITS_PLACE if part == "instead" else ""
        judgements = _judged(CHANGE if part == "negative" else ENOUGH, room, shown)
        findings += [replace(one, claim=f"{before}{one.claim}") for one in judgements]
    return replace(explanations, known_rooms=(Rooms(*found),)), findings


def _movable(explanations: Answered, part: str) -> Answer:
    assert explanations.asked is not None
    return MOVABLE[part](explanations, explanations.asked, np.array([0]))


def _is_about(setting: Setting, answer: Answer, room: Room) -> bool:
    """Return whether a room speaks of an answer that there is, and of values that it chose."""
    if np.isnan(answer.points).any() or room == Room():
        return False
    features = setting.features
    numbers = {int(features.first[j]) for j in np.flatnonzero(answer.chosen[0])}
    spans = all(span.column in numbers for span in (*room.spans, *room.box))
    return spans and all(answer.chosen[0, j] for j in room.choices)


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
