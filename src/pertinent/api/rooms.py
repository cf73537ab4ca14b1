"""How far the values of answers may move, for those rows that somebody looks at."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.running import one_thread
from pertinent.questions.ranges.rooms import RANGING
from pertinent.setting.claims import rooms as claims
from pertinent.summary.asked import Answered, Asked, Rooms
from pertinent.summary.ranges import movable


def rooms_of(explanations: Answered, asked: Asked, rows: list[int]) -> list[Rooms]:
    """Return how far kept and changed values of some rows may move."""
    kept, changed = movable(explanations, asked, np.array(rows, dtype=np.int64))
    with one_thread:
        return list(
            zip(
                claims.rooms_of(RANGING, asked.setting, kept, boxes=False),
                claims.rooms_of(RANGING, asked.setting, changed, boxes=True),
                strict=True,
            )
        )
