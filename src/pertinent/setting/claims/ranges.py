"""What is claimed of how far values may move: decided here, whoever proposed it.

A proposal is a span or a box. It is claimed if

- the model's own ``predict``, the rules and everything else that `judge` looks at accept both ends
  of a span;
- `proofs.boxes` (of sums of trees `proofs.ensembles.inside`) shows of everything in between that it
  is surely of the class (and dense enough, where that is asked for);
- no relation fails at its worst corner, and no rule of change within.

Why a side ends is decided as well: by the value one step farther, which `judge` is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from pertinent.density import Densities
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits, read_only
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE, MarginRows
from pertinent.models.steps.pipeline import inside, is_pipeline
from pertinent.proofs.boxes import Box, gaps
from pertinent.proofs.ensembles.inside import lies_inside
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.tolerances import SATISFIED
from pertinent.setting.answers import Ask, RowRules
from pertinent.setting.claims.cuts import is_cut, parts_of, sides_of
from pertinent.setting.claims.sums import sums_of
from pertinent.setting.judge import Judged, handed_out, judge
from pertinent.setting.margins import FAR, ROUNDINGS, STEP_FARTHER
from pertinent.setting.ranges import End, EndKind, Room, Span
from pertinent.setting.region_key import Is, Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: The model is asked about each number of a sliver, up to so many.
MOST_ASKED = 16
#: A box is shown in at most so many parts.
MOST_PARTS = 256


@dataclass(frozen=True, eq=False)
class Answer:
    """Points whose values may move, one for each sample.

    Parameters
    ----------
    table : Table
        The samples.
    points : ndarray of shape (n, n_columns)
    labels : ndarray of int, shape (n,)
        The class that each must keep.
    limits : tuple of ndarray broadcastable to (n, n_columns)
        What the rules allow, value by value.
    chosen : ndarray of bool, shape (n, n_features)
        The features that may move.
    changes : bool
        Whether the rules about changes apply.
    """

    table: Table
    points: FloatArray
    labels: IntArray
    limits: Limits
    chosen: BoolArray
    changes: bool

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: IntArray) -> Answer:
        """Return some of the answers, for a search to look at: nothing can be written to them."""
        low, high = (np.broadcast_to(side, self.points.shape)[rows] for side in self.limits)
        return Answer(
            self.table.take(rows),
            read_only(self.points[rows]),
            read_only(self.labels[rows]),
            (read_only(low), read_only(high)),
            read_only(self.chosen[rows]),
            self.changes,
        )


def unions_of(
    setting: Setting, label: int, table: Table
) -> list[tuple[Sequence[MarginRows], float]]:
    """Return the unions that a box must lie in, each with its unit of rounding.

    The class with what rounds in it; with a margin asked for, that as well; with a density, its
    ellipsoids. Empty where the region is no union of cells: see `sums_of`, else nothing can be
    shown.
    """
    plain = setting.without_plausibility()
    region, rounding = plain.region(Is(label), 0.0), plain.rounding(Is(label))
    sums = setting.features.dim + 4
    double = sums * ROUNDOFF
    cells = cells_of(region)
    pieces: Sequence[MarginRows] = () if rounding is None else rounding.pieces
    # Who made the sums knew the model's precision, and not that of the steps before it.
    known = (
        rounding is not None and rounding.knows_precision and not is_pipeline(inside(setting.model))
    )
    in_single = setting.sums_in_single(table) and not known
    if not len(pieces):
        if cells is None or not len(cells):
            return []
        pieces = [MarginRows.as_written(cell) for cell in cells]
    out = [(pieces, sums * ROUNDOFF_SINGLE if in_single else double)]
    if setting.asked_margin > 0:
        inner = cells_of(plain.region(Is(label), setting.asked_margin))
        if inner is None:
            return []
        out.append(([MarginRows.as_written(cell) for cell in inner], double))
    if isinstance(setting.within, Densities):
        dense = setting.within.region(label, 0.0)
        out.append(([MarginRows.as_written(cell) for cell in dense], double))
    return out


def state_rooms(setting: Setting, answer: Answer, proposed: Sequence[Room]) -> list[Room]:
    """Return what of the proposals is shown, with why each side ends.

    Parameters
    ----------
    setting : Setting
    answer : Answer
    proposed : sequence of Room
        One for each row; ends are not looked at.
    """
    return _Stating(setting, answer).rooms(proposed)


def points_at_ends(setting: Setting, answer: Answer, proposed: Sequence[Room]) -> FloatArray:
    """Return the points that `state_rooms` is likely to ask the model about."""
    return _Stating(setting, answer).points_at_ends(proposed)


class _Stating:
    """Proposals of a batch, judged together."""

    def __init__(self, setting: Setting, answer: Answer) -> None:
        self.setting, self.answer = setting, answer
        self.low, self.high = (np.broadcast_to(s, answer.points.shape) for s in answer.limits)
        self.domain = setting.domain_of(answer.table, changes=answer.changes)
        self.unions: dict[int, list[tuple[Sequence[MarginRows], float]]] = {}
        self.sums: dict[int, list[tuple[EnsembleRegion, float]]] = {}
        related = setting.constraints.relation_cell(setting.features)
        self.relations = [] if related is None else list(zip(related.G, related.h, strict=True))
        self.named = setting.constraints.named_limits(setting.features)

    def rooms(self, proposed: Sequence[Room]) -> list[Room]:
        """Return what is shown of each row."""
        spans = [(i, span) for i, room in enumerate(proposed) for span in room.spans]
        shown = self._spans(spans)
        choices = self._choices(proposed)
        return [
            Room(tuple(shown[i]), self._box(i, room.box), choices[i])
            for i, room in enumerate(proposed)
        ]

    def points_at_ends(self, proposed: Sequence[Room]) -> FloatArray:
        """Return the ends of all spans, one step beyond them, and all categories."""
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
        return np.concatenate([self.answer.points, *at, self._with_category(asked)])

    # -- Spans ---------------------------------------------------------------------------------

    def _spans(self, proposed: list[tuple[int, Span]]) -> list[list[Span]]:
        out: list[list[Span]] = [[] for _ in range(len(self.answer))]
        held = [(i, span) for i, span in proposed if self._is_shown(i, span)]
        if not held:
            return out
        rows, columns, ends = _ends_of(held)
        open_ = np.isinf(ends)
        judged = self._judged(rows, columns, np.where(open_, self._own(rows, columns), ends))
        good = (judged.valid & self._is_handed_out(rows, columns, ends)) | open_
        reasons = self._ends(rows, columns, ends)
        for k, (i, span) in enumerate(held):
            if good[2 * k : 2 * k + 2].all():
                low_end, high_end = reasons[2 * k : 2 * k + 2]
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
        ask = self._ask(rows, points)
        return judge(self.setting, ask, points)

    def _ask(self, rows: IntArray, points: FloatArray) -> Ask:
        answer, rules = self.answer, RowRules(None, self.answer.changes)
        labels, limits = answer.labels[rows], (self.low[rows], self.high[rows])
        return Ask(answer.table.take(rows), points, Kind.IS, labels, *limits, rules)

    def _is_handed_out(self, rows: IntArray, columns: IntArray, ends: FloatArray) -> BoolArray:
        """Return whether ends are numbers that can be handed out: lattice and precision."""
        out = np.ones(len(ends), dtype=bool)
        finite = np.where(np.isinf(ends), self._own(rows, columns), ends)
        if self.answer.table.single_precision:
            points = self._moved(rows, columns, finite)
            same = handed_out(self._ask(rows, points), points) == points
            out &= same[np.arange(len(rows)), columns]
        if self.domain is not None:
            for j in np.intersect1d(columns, self.domain.confined).tolist():
                here = np.flatnonzero(columns == j)
                out[here] &= self.domain.ceil(j, finite[here], rows[here]) == finite[here]
        return out

    def _farther(self, row: int, column: int, end: float, sign: float) -> float:
        """Return the value one step beyond an end."""
        if self.domain is not None and column in self.domain.steps:
            value = np.nextafter(np.array([end]), sign * np.inf)
            next_ = self.domain.ceil if sign > 0 else self.domain.floor
            return float(next_(column, value, row)[0])
        weight = self.setting.weights[column]
        single = self.answer.table.single_precision
        size = np.spacing(np.float32(abs(end))) if single else np.spacing(abs(end))
        step = max(STEP_FARTHER / weight if weight > 0 else 0.0, ROUNDINGS * float(size))
        beyond = end + sign * step
        return float(np.float32(beyond)) if single else beyond

    def _ends(self, rows: IntArray, columns: IntArray, ends: FloatArray) -> list[End]:
        """Return why each end is one; ends come in pairs of low and high."""
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
        left = np.array([k for k, end in enumerate(out) if end is None], dtype=np.int64)
        if len(left):
            judged = self._judged(rows[left], columns[left], beyond[left])
            for m, k in enumerate(left.tolist()):
                out[k] = _why(judged, m)
        return [end for end in out if end is not None]

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
        tried = [whole, *([span] if is_cut((span,)) else []), *self._between(i, whole)]
        return any(
            one.low > one.high
            or all(self._holds(i, *part) for part in parts_of(self.setting, point, one))
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

    def _holds(self, i: int, low: FloatArray, high: FloatArray) -> bool:
        """Return whether a box lies in the class, obeys relations and is dense enough."""
        label = int(self.answer.labels[i])
        if label not in self.unions:
            self.unions[label] = unions_of(self.setting, label, self.answer.table)
            self.sums[label] = sums_of(self.setting, label, self.answer.table)
        known = self.unions[label] or self.sums[label]
        if not known or self._relation(low, high) is not None:
            return False
        if ((low < self.low[i]) | (high > self.high[i]))[self._visible].any():
            return False
        if not all(self._in_trees(i, *one, low, high) for one in self.sums[label]):
            return False
        for pieces, unit in self.unions[label]:
            left = gaps(pieces, low, high, unit)
            if left is None or not all(self._asked(i, *sliver) for sliver in left):
                return False
        return True

    def _in_trees(
        self, i: int, region: EnsembleRegion, share: float, low: FloatArray, high: FloatArray
    ) -> bool:
        """Return whether a box lies in a class of a sum of trees."""
        known = self.answer.points[i] if share > 0 and self._said[i] else None
        return lies_inside(region, low, high, share, known)

    @cached_property
    def _said(self) -> BoolArray:
        """Which answers the model itself puts into their class."""
        answer = self.answer
        return np.asarray(self.setting.predict(answer.table, answer.points) == answer.labels)

    @property
    def _visible(self) -> BoolArray:
        return ~self.setting.features.hidden

    def _asked(self, i: int, low: FloatArray, high: FloatArray) -> bool:
        """Return whether the model gives the class to every number of a sliver in one column."""
        free = np.flatnonzero(low < high)
        if len(free) > 1:
            return False
        points = [low]
        while len(free) and points[-1][free[0]] < high[free[0]] and len(points) <= MOST_ASKED:
            points.append(points[-1].copy())
            points[-1][free[0]] = np.nextafter(points[-1][free[0]], np.inf)
        if len(points) > MOST_ASKED:
            return False
        rows, stacked = np.full(len(points), i), np.array(points)
        return bool(judge(self.setting, self._ask(rows, stacked), stacked).right.all())

    def _relation(self, low: FloatArray, high: FloatArray) -> RuleRef | None:
        """Return a relation that fails somewhere in a box; None if all hold everywhere."""
        for g, h, rule in zip(*self._rows_of_relations(), strict=True):
            used = g != 0
            ends = np.where(g > 0, high, low)[used]
            worst = float((g[used] * ends).sum()) - h
            least = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
            slack = SATISFIED * (float((np.abs(g) * least)[used].sum()) + abs(h))
            if not worst <= slack:
                return rule
        return None

    def _rows_of_relations(self) -> tuple[list[FloatArray], list[float], list[RuleRef]]:
        rules, features = self.setting.constraints, self.setting.features
        named = rules.named_relations(features) if self.relations else []
        pairs = zip(named, rules.read_relations, strict=True) if self.relations else ()
        refs = [rule for rule, relation in pairs for _ in relation.rows()]
        return [g for g, _ in self.relations], [float(h) for _, h in self.relations], refs

    # -- Boxes ---------------------------------------------------------------------------------

    def _box(self, i: int, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Return a box with why each side ends; nothing where it is not shown."""
        if not spans:
            return ()
        if not self._is_box(i, spans):  # of a single number the ends may be asked about
            return tuple(self._spans([(i, spans[0])])[i]) if len(spans) == 1 else ()
        return tuple(
            replace(
                span, low_end=self._side(i, spans, k, -1.0), high_end=self._side(i, spans, k, 1.0)
            )
            for k, span in enumerate(spans)
        )

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
        return self._holds(i, *whole) or (
            is_cut(spans) and self._in_parts(i, [sides_of(span) for span in spans])
        )

    def _in_parts(self, i: int, pieces: list[list[Span]]) -> bool:
        """Return whether every part of a box is shown, whose sides are cut into these."""
        if math.prod(len(some) for some in pieces) > MOST_PARTS:
            return False
        point = self.answer.points[i]
        boxes = (_box_of(self.setting, point, parts) for parts in product(*pieces))
        return all(box is not None and self._holds(i, *box) for box in boxes)

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
        rule = self._relation(*larger)
        if rule is not None:
            return End(EndKind.RULE, rule)
        # Of a box that is shown only the parts that have become longer are open.
        pieces = [sides_of(one) for one in spans]
        last = pieces[k][-1] if sign > 0 else pieces[k][0]
        pieces[k] = [replace(last, high=beyond) if sign > 0 else replace(last, low=beyond)]
        is_whole = self._holds(i, *larger) or (is_cut(spans) and self._in_parts(i, pieces))
        return End(EndKind.SHOWN if is_whole else EndKind.CLASS)

    # -- Categories ----------------------------------------------------------------------------

    def _choices(self, proposed: Sequence[Room]) -> list[dict[int, tuple[int, ...]]]:
        """Return which of the proposed categories keep the class."""
        asked = _chosen(proposed)
        out: list[dict[int, tuple[int, ...]]] = [{} for _ in proposed]
        if not asked:
            return out
        rows, points = np.array([i for i, _, _ in asked]), self._with_category(asked)
        good = judge(self.setting, self._ask(rows, points), points).valid
        for (i, j, place), valid in zip(asked, good.tolist(), strict=True):
            if valid:
                out[i][j] = (*out[i].get(j, ()), place)
        return out

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
