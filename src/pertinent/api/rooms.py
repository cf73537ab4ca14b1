"""How far the values of answers may move, for those rows that somebody looks at."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.running import one_thread
from pertinent.models.steps.text import PassageClassifier
from pertinent.questions.ranges.rooms import RANGING
from pertinent.setting.claims import rooms as claims
from pertinent.setting.ranges import Room
from pertinent.summary.asked import Answered, Asked
from pertinent.summary.ranges.shown import MOVABLE


def rooms_of(explanations: Answered, asked: Asked, rows: list[int], part: str) -> list[Room]:
    """Return how far the values of some rows may move: those of one answer, by its name."""
    if isinstance(asked.setting.model, PassageClassifier):
        return [Room()] * len(rows)  # a word is there or not
    answer = MOVABLE[part](explanations, asked, np.array(rows, dtype=np.int64))
    with one_thread, asked.question.effort.limiting(len(rows)):
        return claims.rooms_of(RANGING, asked.setting, answer, boxes=part == "negative")
