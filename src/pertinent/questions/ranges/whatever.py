"""Numbers of answers whose other features take every value: halved until the class may be lost."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.running import is_over
from pertinent.questions.ranges.spans import inward
from pertinent.setting.claims.boxes import Answer, ShownBoxes
from pertinent.setting.ranges import Span
from pertinent.setting.setting import Setting

#: An end is known to the 2^-HALVINGS of what lies between the own value and its limit.
HALVINGS = 30


def propose_whatever(setting: Setting, answer: Answer) -> list[list[Span]]:
    """Return a span for each chosen number of the answers with free features; [] for the others."""
    boxes = ShownBoxes(setting, answer)
    features = setting.features
    domain = setting.domain_of(answer.table, changes=answer.changes)
    out: list[list[Span]] = [[] for _ in range(len(answer))]
    for i in range(len(answer)):
        chosen = np.flatnonzero(answer.chosen[i]).tolist() if answer.is_free(i) else ()
        for j in (j for j in chosen if not features.is_category(j) and not is_over()):
            column = int(features.first[j])
            ends = np.array([_end(boxes, i, column, sign) for sign in (-1.0, 1.0)])
            rows, columns, signs = np.full(2, i), np.full(2, column), np.array([-1.0, 1.0])
            low, high = inward(setting, answer, domain, rows, columns, ends, signs)
            out[i].append(Span(column, float(low), float(high)))
    return out


def _end(boxes: ShownBoxes, i: int, column: int, sign: float) -> float:
    """Return the last value in a direction, up to which all are shown to keep the class."""
    own = float(boxes.answer.points[i, column])
    limit = float((boxes.high if sign > 0 else boxes.low)[i, column])
    if not sign * limit > sign * own:
        return own

    def is_kept(end: float) -> bool:
        low, high = np.sort([[own], [end]], axis=0)
        return boxes.whatever(i, np.array([column]), (low, high))

    if is_kept(limit):
        return limit
    good, bad = own, limit
    for _ in range(HALVINGS):
        middle = good + (bad - good) / 2
        good, bad = (middle, bad) if is_kept(middle) else (good, middle)
    return good
