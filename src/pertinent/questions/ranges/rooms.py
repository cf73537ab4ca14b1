"""Spans and boxes proposed for many answers; `pertinent.setting.claims.rooms` decides on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.questions.ranges.boxes import Growing
from pertinent.questions.ranges.spans import BOLD, Try, propose_spans
from pertinent.questions.ranges.whatever import propose_whatever
from pertinent.questions.tolerances import SMALLER_SPANS
from pertinent.setting.claims.boxes import Answer
from pertinent.setting.ranges import Room, Span
from pertinent.setting.setting import Setting

#: What is proposed, and proposed again if it was refused.
TRIES = (BOLD, *(Try(room, share, inset) for room, share, inset in SMALLER_SPANS))


class Ranging:
    """The search for spans and boxes of every kind of model."""

    tries = len(TRIES)

    def spans(self, setting: Setting, answer: Answer, attempt: int) -> list[list[Span]]:
        """Return a span for each chosen number of each answer."""
        if answer.free is None or not answer.free.any():
            return propose_spans(setting, answer, TRIES[attempt])
        held = ~answer.free.any(axis=1, keepdims=True)
        found = propose_spans(setting, replace(answer, chosen=answer.chosen & held), TRIES[attempt])
        if attempt:  # what others are free beside is as large as it is shown to be at once
            return found
        return [a + b for a, b in zip(found, propose_whatever(setting, answer), strict=True)]

    def boxes(
        self, setting: Setting, answer: Answer, known: Sequence[Room], attempt: int
    ) -> list[tuple[Span, ...]]:
        """Return a box of each answer; at first a single number's box is its span."""
        asked, whole = TRIES[attempt], attempt == 0
        domain = setting.domain_of(answer.table, changes=answer.changes)
        grown = [
            own.spans
            if len(own.spans) == 1 and whole
            else Growing(setting, answer, i, own.spans, asked.room, whole, domain).grown()
            for i, own in enumerate(known)
        ]
        return [
            tuple(_shrunk(answer, i, span, asked.share) for span in box)
            for i, box in enumerate(grown)
        ]


RANGING = Ranging()


def _shrunk(answer: Answer, row: int, span: Span, share: float) -> Span:
    if share == 1:
        return span
    own = float(answer.points[row, span.column])
    low = own + share * (span.low - own) if np.isfinite(span.low) else span.low
    high = own + share * (span.high - own) if np.isfinite(span.high) else span.high
    return replace(span, low=low, high=high)
