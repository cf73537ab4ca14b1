"""How far the values of answers may move, for those rows that somebody looks at."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.running import one_thread
from pertinent.questions.ranges.rooms import RANGING
from pertinent.setting.claims import rooms as claims
from pertinent.setting.ranges import Room
from pertinent.summary.asked import Answered, Asked
from pertinent.summary.ranges import movable


def rooms_of(explanations: Answered, asked: Asked, rows: list[int], *, kept: bool) -> list[Room]:
    """Return how far the kept values of some rows may move, or else the changed ones."""
    positive, negative = movable(explanations, asked, np.array(rows, dtype=np.int64))
    answer = positive if kept else negative
    with one_thread, asked.question.effort.limiting(len(rows)):
        return claims.rooms_of(RANGING, asked.setting, answer, boxes=not kept)
