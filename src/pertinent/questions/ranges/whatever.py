"""Numbers of answers whose other features take every value: halved until the class may be lost."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import is_over
from pertinent.questions.ranges.spans import inward
from pertinent.questions.ranges.trees import end_of_cell
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
    sums = boxes.sums_of(int(boxes.answer.labels[i]))
    if sums:
        stops = sorted({end for one in sums for end in _cell_ends(*one, column, own, limit)})
        last = bisect_left(stops[:: int(sign)], True, key=lambda end: not is_kept(end))
        return [own, *stops[:: int(sign)]][last]
    good, bad, room = own, limit, _room(boxes, i, column, sign)
    near = min(abs(limit - own), room) * 2.0**-HALVINGS
    for end in (own + sign * (room - near / 2), own + sign * (room + near / 2)):
        if sign * good < sign * end < sign * bad:
            good, bad = (end, bad) if is_kept(end) else (good, end)
    for _ in range(HALVINGS):
        if abs(bad - good) <= near:
            break
        middle = good + (bad - good) / 2
        good, bad = (middle, bad) if is_kept(middle) else (good, middle)
    return good


def _cell_ends(
    region: EnsembleRegion, share: float, column: int, own: float, limit: float
) -> list[float]:
    """Return where the cells of a column of trees end, on the way from a value to a limit."""
    cells, sign = region.ensemble.cuts[column], 1.0 if limit > own else -1.0
    first, last = np.sort(np.searchsorted(cells, [own, limit]))
    ends = [end_of_cell(region, column, c, sign, share) for c in range(first, last + 1)]
    return [end for end in ends if sign * own < sign * end < sign * limit]


def _room(boxes: ShownBoxes, i: int, column: int, sign: float) -> float:
    """Return how far a value may move before a linear row fails; inf where that is not known.

    It only says where to look first: what rounds, and curved rows, are left out.
    """
    own, room = boxes.answer.points[i, [column]], np.inf
    low, high = boxes.answer.around(i, np.array([column]), (own, own))
    for pieces, _ in boxes.unions_of(int(boxes.answer.labels[i])):
        if len(pieces) != 1:
            return np.inf
        G, h, origin = pieces[0].G, pieces[0].h, pieces[0].origin
        used = sign * G[:, column] > 0
        ends = [np.where(G == 0, 0.0, G * end)[used] for end in (low, high)]
        most = np.maximum(*ends)
        for group in boxes.setting.features.groups:  # one of them is 1
            most[:, group] = 0.0
            most[:, group[0]] = ends[1][:, group[high[group] >= 1]].max(axis=1, initial=-np.inf)
        slack = h[used] - most.sum(axis=1) + (0.0 if origin is None else G[used] @ origin)
        room = float(np.min(slack / np.abs(G[used, column]), initial=room))
    return room if room > 0 else np.inf
