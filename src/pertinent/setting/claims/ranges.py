"""What is claimed of how far values may move: decided here, whoever proposed it.

A proposal is a span or a box. It is claimed if

- the model's own ``predict``, the rules and everything else that `judge` looks at accept both ends
  of a span;
- everything in between is shown to be of the class, and to obey the relations
  (`pertinent.setting.claims.boxes`);
- no rule of change fails within.

Where other features may take every value, that is asked of all points in between with all of them.

Why a side ends is decided as well: by the value one step farther, which `judge` is asked about. Of
a box some corner one step farther must be of another class, unless it is known that some point is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.running import is_late
from pertinent.proofs.boxes import Box
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.claims.boxes import Answer, ShownBoxes
from pertinent.setting.claims.cuts import is_cut, parts_of, sides_of
from pertinent.setting.judge import Judged, handed_out, judge
from pertinent.setting.margins import FAR, ROUNDINGS, STEP_FARTHER
from pertinent.setting.ranges import End, EndKind, Room, Span
from pertinent.setting.setting import Setting

#: A box is shown in at most so many parts.
MOST_PARTS = 256
#: The model is asked about all corners beyond a side up to so many.
MOST_CORNERS = 64


def state_rooms(setting: Setting, answer: Answer, proposed: Sequence[Room]) -> list[Room]:
    """Return what of the proposals is shown, with why each side ends.

    Parameters
    ----------
    setting : Setting
    answer : Answer
    proposed : sequence of Room
        One for each row; ends are not looked at.
    """
    return Proposals(setting, answer, proposed).stated()


class Proposals:
    """What is proposed of a batch, and what of it is shown; parameters as of `state_rooms`.

    Of a model that is searched nothing is known of the points in between, and nothing is shown.
    """

    def __init__(self, setting: Setting, answer: Answer, proposed: Sequence[Room]) -> None:
        self._proposed, self._none = proposed, answer.points[:0]
        self._stating = None if setting.by_search else _Stating(setting, answer)

    def stated(self) -> list[Room]:
        """Return what is shown, with why each side ends."""
        if self._stating is None:
            return [Room() for _ in self._proposed]
        return self._stating.rooms(self._proposed)

    def points_at_ends(self) -> FloatArray:
        """Return the points that the model is likely to be asked about."""
        return self._none if self._stating is None else self._stating.points_at_ends(self._proposed)


class _Stating:
    """Proposals of a batch, judged together."""

    def __init__(self, setting: Setting, answer: Answer) -> None:
        self.setting, self.answer = setting, answer
        self.boxes = ShownBoxes(setting, answer)
        self.low, self.high = self.boxes.low, self.boxes.high
        self.domain = setting.domain_of(answer.table, changes=answer.changes)
        #: The numbers of each column, be they too close to the own one: that is a reason to end.
        self.steps = None if self.domain is None else replace(self.domain, gap=None)
        self.named = setting.constraints.named_limits(setting.features)

    def rooms(self, proposed: Sequence[Room]) -> list[Room]:
        """Return what is shown of each row."""
        spans = [(i, span) for i, room in enumerate(proposed) for span in room.spans]
        shown = self._spans(spans)
        choices = self._choices(proposed)
        boxes = self._seen_to_end([self._box(i, room.box) for i, room in enumerate(proposed)])
        return [Room(tuple(shown[i]), boxes[i], choices[i]) for i in range(len(proposed))]

    def points_at_ends(self, proposed: Sequence[Room]) -> FloatArray:
        """Return the ends of all spans, one step beyond them and boxes, and all categories."""
        spans = [(i, span) for i, room in enumerate(proposed) for span in room.spans]
        rows, columns, ends = _ends_of(spans)
        finite = np.isfinite(ends).nonzero()[0]
        rows, columns, ends, signs = rows[finite], columns[finite], ends[finite], finite % 2 * 2 - 1
        beyond = [
            self._farther(int(i), int(j), float(end), float(sign))
            for i, j, end, sign in zip(rows, columns, ends, signs, strict=True)
        ]
        at = [self._moved(rows, columns, values) for values in (ends, np.array(beyond))]
        asked = _chosen(proposed)
        beside = [
            self._corners(i, room.box, k, sign)
            for i, room in enumerate(proposed)
            if not self.boxes.is_exact(int(self.answer.labels[i]))
            for k, sign, end in _sides_of(room.box)
            if np.isfinite(end)
        ]
        return np.concatenate([self.answer.points, *at, *beside, self._with_category(asked)])

    # -- Spans ---------------------------------------------------------------------------------

    def _spans(self, proposed: list[tuple[int, Span]]) -> list[list[Span]]:
        out: list[list[Span]] = [[] for _ in range(len(self.answer))]
        held = [(i, span) for i, span in proposed if self._is_shown(i, span)]
        if not held:
            return out
        rows, columns, ends = _ends_of(held)
        open_ = np.isinf(ends)
        beyond, reasons = self._ends(rows, columns, ends)
        left = [k for k, end in enumerate(reasons) if end is None]
        at = np.where(open_, self._own(rows, columns), ends)
        every = np.concatenate([np.arange(len(rows)), np.array(left, dtype=np.int64)])
        judged = self._judged(rows[every], columns[every], np.concatenate([at, beyond[left]]))
        good = (judged.valid[: len(rows)] & self._is_handed_out(rows, columns, ends)) | open_
        for m, k in enumerate(left):
            reasons[k] = _why(judged, len(rows) + m)
        for k, (i, span) in enumerate(held):
            low_end, high_end = reasons[2 * k : 2 * k + 2]
            if good[2 * k : 2 * k + 2].all() and low_end is not None and high_end is not None:
                out[i].append(replace(span, low_end=low_end, high_end=high_end))
        return out

    def _own(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return np.asarray(self.answer.points[rows, columns])

    def _moved(self, rows: IntArray, columns: IntArray, values: FloatArray) -> FloatArray:
        points = self.answer.points[rows].copy()
        points[np.arange(len(rows)), columns] = values
        known = self.setting.features.domain()
        return points if known is None else known.completed(points)

    def _judged(self, rows: IntArray, columns: IntArray, values: FloatArray) -> Judged:
        points = self._moved(rows, columns, values)
        ask = self.boxes.ask(rows, points)
        return judge(self.setting, ask, points)

    def _is_handed_out(self, rows: IntArray, columns: IntArray, ends: FloatArray) -> BoolArray:
        """Return whether ends are numbers that can be handed out: lattice and precision."""
        out = np.ones(len(ends), dtype=bool)
        finite = np.where(np.isinf(ends), self._own(rows, columns), ends)
        if self.answer.table.single_precision:
            points = self._moved(rows, columns, finite)
            same = handed_out(self.boxes.ask(rows, points), points) == points
            out &= same[np.arange(len(rows)), columns]
        if self.domain is not None:
            for j in np.intersect1d(columns, self.domain.confined).tolist():
                here = np.flatnonzero(columns == j)
                out[here] &= self.domain.ceil(j, finite[here], rows[here]) == finite[here]
        return out

    def _farther(self, row: int, column: int, end: float, sign: float) -> float:
        """Return the value one step beyond an end."""
        if self.steps is not None and column in self.steps.steps:
            value = np.nextafter(np.array([end]), sign * np.inf)
            next_ = self.steps.ceil if sign > 0 else self.steps.floor
            return float(next_(column, value, row)[0])
        weight = self.setting.weights[column]
        single = self.answer.table.single_precision
        size = np.spacing(np.float32(abs(end))) if single else np.spacing(abs(end))
        step = max(STEP_FARTHER / weight if weight > 0 else 0.0, ROUNDINGS * float(size))
        beyond = end + sign * step
        return float(np.float32(beyond)) if single else beyond

    def _ends(
        self, rows: IntArray, columns: IntArray, ends: FloatArray
    ) -> tuple[FloatArray, list[End | None]]:
        """Return the value beyond each end, and why it is one; None where that has to be judged.

        Ends come in pairs of low and high.
        """
        signs = np.tile([-1.0, 1.0], len(ends) // 2)
        out: list[End | None] = [
            End(EndKind.OPEN) if np.isinf(end) else None for end in ends.tolist()
        ]
        beyond = ends.copy()
        for k in np.flatnonzero(~np.isinf(ends)):
            i, j = int(rows[k]), int(columns[k])
            beyond[k] = self._farther(i, j, float(ends[k]), float(signs[k]))
            if not self.low[i, j] <= beyond[k] <= self.high[i, j]:
                out[k] = End(EndKind.RULE, self._limit(j, signs[k]))
            elif self._is_far(i, j, float(ends[k])):
                out[k] = End(EndKind.FAR)
            elif self.answer.is_free(i):  # one point of another class was not looked for
                out[k] = End(EndKind.SHOWN)
        return beyond, out

    def _is_far(self, row: int, column: int, end: float) -> bool:
        away = abs(end - self.answer.points[row, column])
        return bool(self.setting.weights[column] * away >= FAR)

    def _limit(self, column: int, sign: float) -> RuleRef:
        """Return the rule behind a limit; without one, what the column holds limits it."""
        side = "high" if sign > 0 else "low"
        found = self.named.get((column, side), [])
        kind = RuleKind.UPPER_LIMIT if sign > 0 else RuleKind.LOWER_LIMIT
        name = self.setting.features.names[self.setting.features.owner[column]]
        return found[-1] if found else RuleRef(kind, (name,))

    def _is_shown(self, i: int, span: Span) -> bool:
        point, own = self.answer.points[i], self.answer.table.values[i, span.column]
        if not (self._reaches(i, span) and self._changes(i, span, own)):
            return False
        whole = replace(span, cuts=())
        if self.answer.is_free(i):
            # On both sides of the value that the answer has: each is easier to see than both.
            middle = float(np.clip(point[span.column], span.low, span.high))
            sides = ((span.low, middle), (middle, span.high))
            return all(
                self.boxes.whatever(i, np.array([span.column]), (np.array([a]), np.array([b])))
                for a, b in (sides if span.low < middle < span.high else [(span.low, span.high)])
            )
        tried = [whole, *([span] if is_cut((span,)) else []), *self._between(i, whole)]
        return any(
            one.low > one.high
            or all(self.boxes.holds(i, *part) for part in parts_of(self.setting, point, one))
            for one in tried
        )

    def _between(self, i: int, span: Span) -> list[Span]:
        """Return what of a span lies between its ends, where numbers come in steps.

        The model itself is asked about the ends (see `_spans`): a step before it may round them to
        the other side of a cut.
        """
        if self.domain is None or span.column not in self.domain.steps or span.low > span.high:
            return []
        low, high = (
            end if np.isinf(end) else self._farther(i, span.column, end, sign)
            for end, sign in ((span.low, 1.0), (span.high, -1.0))
        )
        return [replace(span, low=low, high=high)]

    def _reaches(self, i: int, span: Span) -> bool:
        """Return whether a span reaches the answer's own value, but for a step.

        Of the answer it is known that it is not of the sample's class; that it is surely of its
        own one, however sums are rounded, may need a little more.
        """
        own, column = float(self.answer.points[i, span.column]), span.column
        mark = self.setting.features.marks.get(column)
        if mark is not None and self.answer.points[i, mark] == 1:  # it is missing: no number at all
            return False
        weight, single = self.setting.weights[column], self.answer.table.single_precision
        step = (10 if single else 1) * STEP_FARTHER / weight if weight > 0 else 0.0
        return span.low - step <= own <= span.high + step and span.low <= span.high

    def _changes(self, i: int, span: Span, own: float) -> bool:
        """Return whether what has to change together does, wherever the value lies."""
        features, rules = self.setting.features, self.setting.constraints
        if not self.answer.changes or not rules.together:
            return True
        owner = features.owner[span.column]
        bound = any(owner in features.indices(group) for group in rules.together)
        return not bound or not span.low <= own <= span.high

    # -- Boxes ---------------------------------------------------------------------------------

    def _box(self, i: int, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Return a box with why each side ends; nothing where it is not shown."""
        if not spans:
            return ()
        if not self._is_box(i, spans):  # of a single number the ends may be asked about
            return tuple(self._spans([(i, spans[0])])[i]) if len(spans) == 1 else ()
        box = tuple(
            replace(
                span, low_end=self._side(i, spans, k, -1.0), high_end=self._side(i, spans, k, 1.0)
            )
            for k, span in enumerate(spans)
        )
        return () if is_late() else box  # a side may seem to end where only the time did

    def _is_box(self, i: int, spans: tuple[Span, ...]) -> bool:
        columns = [span.column for span in spans]
        if len(set(columns)) < len(columns):
            return False
        inside = all(self._reaches(i, span) for span in spans)
        own = self.answer.table.values[i]
        if not inside or not all(self._changes(i, span, own[span.column]) for span in spans):
            return False
        return self._is_whole(i, spans)

    def _is_whole(self, i: int, spans: tuple[Span, ...]) -> bool:
        """Return whether a box is shown: at once, or part by part where its sides are cut."""
        whole = _box_of(self.setting, self.answer.points[i], spans)
        if whole is None:
            return False
        return self.boxes.holds(i, *whole) or (
            is_cut(spans) and self._in_parts(i, [sides_of(span) for span in spans])
        )

    def _in_parts(self, i: int, pieces: list[list[Span]]) -> bool:
        """Return whether every part of a box is shown, whose sides are cut into these."""
        if math.prod(len(some) for some in pieces) > MOST_PARTS:
            return False
        point = self.answer.points[i]
        boxes = (_box_of(self.setting, point, parts) for parts in product(*pieces))
        return all(box is not None and self.boxes.holds(i, *box) for box in boxes)

    def _side(self, i: int, spans: tuple[Span, ...], k: int, sign: float) -> End:
        span = spans[k]
        end = span.high if sign > 0 else span.low
        if np.isinf(end):
            return End(EndKind.OPEN)
        beyond = self._farther(i, span.column, end, sign)
        if not self.low[i, span.column] <= beyond <= self.high[i, span.column]:
            return End(EndKind.RULE, self._limit(span.column, sign))
        if self._is_far(i, span.column, end):
            return End(EndKind.FAR)
        more = replace(span, high=beyond) if sign > 0 else replace(span, low=beyond)
        larger = _box_of(self.setting, self.answer.points[i], (*spans[:k], more, *spans[k + 1 :]))
        if larger is None:
            return End(EndKind.SHOWN)
        rule = self.boxes.relation(*larger)
        if rule is not None:
            return End(EndKind.RULE, rule)
        # Of a box that is shown only the parts that have become longer are open.
        pieces = [sides_of(one) for one in spans]
        last = pieces[k][-1] if sign > 0 else pieces[k][0]
        pieces[k] = [replace(last, high=beyond) if sign > 0 else replace(last, low=beyond)]
        is_whole = self.boxes.holds(i, *larger) or (is_cut(spans) and self._in_parts(i, pieces))
        return End(EndKind.SHOWN if is_whole else EndKind.CLASS)

    def _seen_to_end(self, boxes: list[tuple[Span, ...]]) -> list[tuple[Span, ...]]:
        """Return boxes whose sides are said to end by the class only where a point shows it.

        That a longer box is not shown to be of the class proves nothing where it lies in several
        cells, or where rows are bounded and not solved.
        """
        asked = [
            (i, k, sign)
            for i, box in enumerate(boxes)
            if box and not self.boxes.is_exact(int(self.answer.labels[i]))
            for k, sign, _ in _sides_of(box)
            if _end_of(box[k], sign).kind is EndKind.CLASS
        ]
        if not asked:
            return boxes
        corners = [self._corners(i, boxes[i], k, sign) for i, k, sign in asked]
        owner = np.repeat(np.arange(len(asked)), [len(points) for points in corners])
        rows, points = np.array([i for i, _, _ in asked])[owner], np.concatenate(corners)
        judged = judge(self.setting, self.boxes.ask(rows, points), points)
        out = [list(box) for box in boxes]
        for n, (i, k, sign) in enumerate(asked):
            here = owner == n
            if not judged.right[here].all():
                continue
            sparse = judged.dense is not None and not judged.dense[here].all()
            end = End(EndKind.DENSITY if sparse else EndKind.SHOWN)
            side = out[i][k]
            out[i][k] = replace(side, high_end=end) if sign > 0 else replace(side, low_end=end)
        return [tuple(box) for box in out]

    def _corners(self, i: int, box: tuple[Span, ...], k: int, sign: float) -> FloatArray:
        """Return the corners of a box one step beyond a side; the nearest and farthest of many.

        Of a side without an end, the answer's own value stands for it.
        """
        own, came = self.answer.points[i], self.answer.table.values[i]
        end = box[k].high if sign > 0 else box[k].low
        sides = []
        for n, span in enumerate(box):
            j = span.column
            ends = [float(v if np.isfinite(v) else own[j]) for v in (span.low, span.high)]
            near_first = ends if abs(ends[0] - came[j]) <= abs(ends[1] - came[j]) else ends[::-1]
            sides.append([self._farther(i, j, end, sign)] if n == k else near_first)
        many = 2 ** (len(box) - 1) > MOST_CORNERS
        corners = [[side[n] for side in sides] for n in (0, -1)] if many else list(product(*sides))
        points = np.repeat(own[None], len(corners), axis=0)
        points[:, [span.column for span in box]] = corners
        known = self.setting.features.domain()
        points = points if known is None else known.completed(points)
        return handed_out(self.boxes.ask(np.full(len(points), i), points), points)

    # -- Categories ----------------------------------------------------------------------------

    def _choices(self, proposed: Sequence[Room]) -> list[dict[int, tuple[int, ...]]]:
        """Return which of the proposed categories keep the class."""
        asked = _chosen(proposed)
        out: list[dict[int, tuple[int, ...]]] = [{} for _ in proposed]
        if not asked:
            return out
        rows, points = np.array([i for i, _, _ in asked]), self._with_category(asked)
        good = judge(self.setting, self.boxes.ask(rows, points), points).valid
        for k, ((i, j, place), valid) in enumerate(zip(asked, good.tolist(), strict=True)):
            if valid and (not self.answer.is_free(i) or self._keeps(i, j, points[k])):
                out[i][j] = (*out[i].get(j, ()), place)
        return out

    def _keeps(self, i: int, j: int, point: FloatArray) -> bool:
        """Return whether a category is enough as well, whatever the free features are."""
        columns = self.setting.features.columns_of(j)
        return self.boxes.whatever(i, columns, (point[columns], point[columns]))

    def _with_category(self, asked: list[tuple[int, int, int]]) -> FloatArray:
        """Return the answers with other categories: row, feature and place of each."""
        points = self.answer.points[np.array([i for i, _, _ in asked], dtype=np.int64)].copy()
        for k, (_, j, place) in enumerate(asked):
            columns = self.setting.features.columns_of(j)
            points[k, columns] = 0.0
            points[k, columns[place]] = 1.0
        return points


def _ends_of(spans: list[tuple[int, Span]]) -> tuple[IntArray, IntArray, FloatArray]:
    """Return row, column and value of both ends of each span."""
    rows = np.repeat(np.array([i for i, _ in spans], dtype=np.int64), 2)
    columns = np.repeat(np.array([span.column for _, span in spans], dtype=np.int64), 2)
    return rows, columns, np.array([[span.low, span.high] for _, span in spans]).reshape(-1)


def _sides_of(box: tuple[Span, ...]) -> list[tuple[int, float, float]]:
    """Return place, direction and value of each side of a box."""
    return [
        (k, sign, end)
        for k, span in enumerate(box)
        for sign, end in ((-1.0, span.low), (1.0, span.high))
    ]


def _end_of(span: Span, sign: float) -> End:
    return span.high_end if sign > 0 else span.low_end


def _chosen(proposed: Sequence[Room]) -> list[tuple[int, int, int]]:
    """Return row, feature and place of each proposed category."""
    return [
        (i, j, place)
        for i, room in enumerate(proposed)
        for j, places in room.choices.items()
        for place in places
    ]


def _why(judged: Judged, m: int) -> End:
    if not judged.right[m]:
        return End(EndKind.CLASS)
    if not judged.obeys[m]:
        return End(EndKind.RULE, judged.broken.get(m))
    if judged.dense is not None and not judged.dense[m]:
        return End(EndKind.DENSITY)
    return End(EndKind.SHOWN)


def _box_of(setting: Setting, point: FloatArray, spans: tuple[Span, ...]) -> Box | None:
    """Return a box around a point; None where a number would fall in other bins within it."""
    low, high = point.copy(), point.copy()
    for span in spans:
        low[span.column], high[span.column] = span.low, span.high
        for bins in setting.features.bins:
            if bins.column == span.column and span.low < span.high:
                own = int(bins.of(point[[span.column]])[0])
                clipped = bins.excess is not None and own != 1
                if clipped or span.low < bins.low[own] or span.high > bins.high[own]:
                    return None
    return low, high
