"""Several numbers together: a box around the answer, grown side by side.

There is no unique largest box. Sides grow one after the other, each as far as it goes with the
sides before it as they are: first the sides away from the sample, then those towards it, and among
them first that of the feature whose change costs most. The box is therefore maximal: no side can be
moved farther by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np

from pertinent.geometry.affine import BentRows
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.rounding import Leading, MarginRows
from pertinent.geometry.running import is_over
from pertinent.questions.ranges.reach import Moves, holds_within, reach
from pertinent.questions.ranges.spans import bin_ends, inward
from pertinent.questions.ranges.trees import TreeBox
from pertinent.questions.tolerances import (
    EXPONENTIAL,
    LONG,
    PRECISION,
    RELATION_BOX_UNIT,
    SPAN_SLACK,
)
from pertinent.setting.claims.boxes import Answer, unions_of
from pertinent.setting.claims.ranges import MOST_PARTS
from pertinent.setting.claims.sums import sums_of
from pertinent.setting.ranges import Span
from pertinent.setting.setting import Setting

#: Halvings to find where a side ends.
HALVINGS = 60
#: Corners of a box are looked at up to so many columns.
MOST_CORNERS = 8


class Growing:
    """A box around one answer.

    Parameters
    ----------
    setting : Setting
    answer : Answer
        Of many rows.
    row : int
    spans : sequence of Span
        How far each column goes by itself: no box goes farther.
    room : float
        How many times the rounding is kept from every row.
    whole : bool
        Whether a box may reach over several pieces that are boxes themselves.
    domain : Domain or None
        What the rules allow for all answers.
    """

    def __init__(
        self,
        setting: Setting,
        answer: Answer,
        row: int,
        spans: Sequence[Span],
        room: float,
        whole: bool,
        domain: Domain | None,
    ) -> None:
        self.setting, self.answer, self.row, self.spans = setting, answer, row, spans
        self.domain = domain
        self.point = answer.points[row].copy()
        for span in spans:  # a span may keep off the answer's own value by a little
            self.point[span.column] = np.clip(self.point[span.column], span.low, span.high)
        self.low, self.high = self.point.copy(), self.point.copy()
        label = int(answer.labels[row])
        unions = unions_of(setting, label, answer.table)
        self.pieces = [(self._piece(pieces, room * unit), room * unit) for pieces, unit in unions]
        sums = sums_of(setting, label, answer.table)
        self.trees = [TreeBox(region, 2 * room * share) for region, share in sums]
        related = setting.constraints.relation_cell(setting.features)
        if related is not None:
            self.pieces.append((MarginRows.as_written(related), RELATION_BOX_UNIT))
        self.blockers = self._blockers(label) if whole else None

    def _piece(self, pieces: Sequence[MarginRows], unit: float) -> MarginRows:
        """Return the piece that the point lies deepest in, as far as its columns can tell."""
        if isinstance(pieces, Leading):
            return pieces[int(pieces.leading(self.point[None])[0])]
        if len(pieces) == 1 or not self.spans:
            return pieces[0]
        columns = np.repeat([span.column for span in self.spans], 2)
        signs = np.tile([-1.0, 1.0], len(self.spans))
        moves = Moves(np.repeat(self.point[None], len(signs), axis=0), columns, signs)
        scale = self.setting.weights[columns]
        rooms = [
            float(np.minimum(scale * reach(piece, moves, unit), 1e6).sum()) for piece in pieces
        ]
        return pieces[int(np.argmax(rooms))]

    def _blockers(self, label: int) -> list[tuple[FloatArray, FloatArray]] | None:
        """Return the boxes of all other classes; None where classes are no unions of boxes."""
        found = []
        for k in range(len(self.setting.classes)):
            if k == label:
                continue
            for union in unions_of(self.setting, k, self.answer.table)[:1]:
                for piece in () if isinstance(union[0], Leading) else union[0]:
                    if piece.ends is None or not is_plain_box(piece):
                        return None
                    found.append(piece.ends)
        own = self.pieces[0][0] if self.pieces else None
        plain = own is not None and is_plain_box(own)
        return found if plain and found else None

    def grown(self) -> tuple[Span, ...]:
        """Return the box."""
        if not (self.pieces or self.trees) or not self.spans:
            return ()
        came = self.answer.table.values[self.row]
        columns = np.array([span.column for span in self.spans])
        cost = self.setting.weights[columns] * np.abs(self.point[columns] - came[columns])
        away = np.where(self.point[columns] >= came[columns], 1.0, -1.0)
        for signs in (away, -away):
            for k in np.argsort(-cost, kind="stable"):
                if is_over():
                    break
                self._grow(self.spans[k], float(signs[k]))
        return tuple(map(self._side, self.spans))

    def _side(self, span: Span) -> Span:
        low, high = float(self.low[span.column]), float(self.high[span.column])
        cuts = [cut for cut in span.cuts if low < cut < high]
        # Sides are cut beside the answer's value: as many parts as a check looks at.
        most = int(MOST_PARTS ** (1 / len(self.spans)) + SPAN_SLACK) - 1
        near = sorted(cuts, key=lambda cut: abs(cut - self.point[span.column]))[:most]
        curved = bool(self.pieces) and bool(self.pieces[0][0].curved)
        return Span(span.column, low, high, tuple(sorted(near)) if curved else ())

    def _grow(self, span: Span, sign: float) -> None:
        """Move one side of the box as far as it goes."""
        column, farthest = span.column, span.high if sign > 0 else span.low
        end = self.point[column] + sign * self._lengths(column, sign, farthest)
        end = sign * min(sign * end, sign * farthest)
        moves = Moves(self.point[None], np.array([column]), np.array([sign]))
        end = sign * min(sign * end, sign * float(bin_ends(self.setting, moves)[0]))
        rows, where, ends = np.array([self.row]), np.array([column]), np.array([end])
        ends = inward(self.setting, self.answer, self.domain, rows, where, ends, moves.signs)
        (self.high if sign > 0 else self.low)[column] = float(ends[0])

    def _lengths(self, column: int, sign: float, farthest: float) -> float:
        length = np.inf
        for box in self.trees:
            extended = partial(self._extended, column, sign)
            start = float(self.point[column])
            length = min(length, box.end(extended, column, start, sign, farthest))
        for k, (piece, unit) in enumerate(self.pieces):
            if k == 0 and self.blockers is not None:
                length = min(length, self._to_blocker(column, sign))
                continue
            if piece.ends is not None:
                last = piece.ends[1][column] if sign > 0 else piece.ends[0][column]
                length = min(length, sign * (last - self.point[column]))
            length = min(length, self._linear(piece, unit, column, sign))
            for row, _ in piece.curved:
                length = min(length, self._curved(row, unit, column, sign, farthest))
            if piece.bends:
                length = min(length, self._exponential(piece, column, sign, farthest))
            for block, _ in piece.bent:
                length = min(length, self._bent(block, 2 * unit, column, sign, farthest))
        return max(length, 0.0)

    def _to_blocker(self, column: int, sign: float) -> float:
        """Return how far it is to the first box of another class that stands in the way."""
        best = np.inf
        rest = np.arange(len(self.low)) != column
        for first, last in self.blockers or ():
            if ((last < self.low) | (first > self.high))[rest].any():
                continue
            edge = first[column] if sign > 0 else last[column]
            before = np.nextafter(edge, -sign * np.inf)
            if sign * (before - self.point[column]) >= 0:
                best = min(best, sign * (before - self.point[column]))
        return float(best)

    def _linear(self, piece: MarginRows, unit: float, column: int, sign: float) -> float:
        if not len(piece.G):
            return np.inf
        origin = np.zeros(len(self.low)) if piece.origin is None else piece.origin
        low, high, other = self.low.copy(), self.high.copy(), np.ones(len(self.low), dtype=bool)
        low[column] = high[column] = self.point[column]
        other[~(np.isfinite(low) & np.isfinite(high))] = False
        size = np.maximum(np.abs(low), np.abs(high))[other]
        slopes = piece.terms[:, :-1]
        # Sides that do not end are on the falling side of every row: their other end counts.
        near = np.where(np.isfinite(low), low, high)
        far = np.where(np.isfinite(high), high, low)
        worst = np.maximum(piece.G * (near - origin), piece.G * (far - origin)).sum(axis=1)
        slack = piece.h - worst - unit * (slopes[:, other] @ size + piece.terms[:, -1])
        if piece.sums is not None:
            slack = slack - 2 * unit * piece.sums(np.stack([near, far])).sum()
        rate = sign * piece.G[:, column] + unit * slopes[:, column]
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(rate > 0, np.maximum(slack, 0.0) / rate, np.inf).min())

    def _halved(
        self, column: int, sign: float, farthest: float, holds: Callable[[float], bool]
    ) -> float:
        weight = self.setting.weights[column]
        if np.isinf(farthest):
            farthest = self.point[column] + sign * LONG / (weight if weight > 0 else 1.0)
        low, high = 0.0, float(sign * (farthest - self.point[column]))
        if holds(high):
            return high
        for _ in range(HALVINGS):
            if high - low <= PRECISION * (weight and 1.0 / weight):
                break
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    def _extended(self, column: int, sign: float, length: float) -> tuple[FloatArray, FloatArray]:
        low, high = self.low.copy(), self.high.copy()
        low[column] = high[column] = self.point[column]
        (high if sign > 0 else low)[column] += sign * length
        return low, high

    def _curved(
        self, row: Quadratic, unit: float, column: int, sign: float, farthest: float
    ) -> float:
        if np.isinf(farthest) and _endless(row, *self._extended(column, sign, np.inf)):
            return np.inf

        low, high = self._extended(column, sign, 0.0)
        mixed = row.A[column, (self.low < self.high) & (np.arange(len(low)) != column)].any()
        if not mixed:
            ends = np.stack([_finite(low, high), _finite(high, low)])
            start = largest(row, low, high) + 4 * unit * row.added_up(ends).max()
            slope = sign * float(row.gradient(self.point[None])[0, column])
            return _first_root(float(row.A[column, column]), slope, min(start, 0.0))

        def holds(length: float) -> bool:
            low, high = self._extended(column, sign, length)
            ends = np.stack([_finite(low, high), _finite(high, low)])
            rounding = unit * float(row.added_up(ends).max())
            return largest(row, low, high) + 4 * rounding <= 0

        return self._halved(column, sign, farthest, holds)

    def _bent(
        self, block: BentRows, unit: float, column: int, sign: float, farthest: float
    ) -> float:
        def holds(length: float) -> bool:
            return holds_within(block, *self._extended(column, sign, length), 2 * unit)

        return self._halved(column, sign, farthest, holds)

    def _exponential(self, piece: MarginRows, column: int, sign: float, farthest: float) -> float:
        def holds(length: float) -> bool:
            low, high = self._extended(column, sign, length)
            low, high = _finite(low, high), _finite(high, low)
            for bend in piece.bends:
                terms = np.maximum(bend.W * low, bend.W * high).sum(axis=1) + bend.b
                if np.logaddexp.reduce(terms) > -EXPONENTIAL:
                    return False
            return True

        return self._halved(column, sign, farthest, holds)


def is_plain_box(piece: MarginRows) -> bool:
    """Return whether a piece has ends and no rows."""
    rows = len(piece.G) or piece.curved or piece.bends or piece.bent
    return piece.ends is not None and not rows


def _finite(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.where(np.isfinite(one), one, other)


def _endless(row: Quadratic, low: FloatArray, high: FloatArray) -> bool:
    """Return whether a row that does not mix the moving columns holds on the endless box."""
    free = np.flatnonzero(low < high)
    A = row.A[np.ix_(free, free)]
    if (A - np.diag(np.diagonal(A))).any():
        return False
    return largest(row, low, high) < 0


def largest(row: Quadratic, low: FloatArray, high: FloatArray) -> float:
    """Return the largest value of a row over a box: separable rows exactly, others by trying.

    Every corner, and from it the best place along each column.
    """
    free = np.flatnonzero(low < high)
    base = _finite(low, high)
    A, b = row.A[np.ix_(free, free)], row.gradient(base[None])[0][free]
    start, span = float(row.value(base[None])[0]), (high - base)[free] + (low - base)[free]
    a = np.diagonal(A)
    if not (A - np.diag(a)).any():
        return start + sum(map(_peak, a.tolist(), b.tolist(), span.tolist()))
    if not np.isfinite(span).all():
        return np.inf
    k = len(free)
    if k <= MOST_CORNERS:
        corners = np.array(list(product((0.0, 1.0), repeat=k))) * span
    else:  # uphill corners only
        corners = np.where([b > 0, b + 2 * A @ span > 0], span, 0.0)
    values = ((corners @ A) * corners).sum(axis=1) + corners @ b
    best = float(values.max())
    for _ in range(3):  # along each column in turn
        for i in range(k):
            slope = b[i] + 2 * (corners @ A[:, i] - corners[:, i] * a[i])
            with np.errstate(divide="ignore", invalid="ignore"):
                top = np.where(a[i] < 0, -slope / (2 * a[i]), np.inf)
            ends = np.sort([0.0, span[i]])
            end = np.where(a[i] * span[i] ** 2 + slope * span[i] > 0, span[i], 0.0)
            corners[:, i] = np.where(np.isfinite(top), np.clip(top, *ends), end)
        values = ((corners @ A) * corners).sum(axis=1) + corners @ b
        best = max(best, float(values.max()))
    return start + best


def _first_root(a: float, b: float, c: float) -> float:
    """Return the first t >= 0 with ``a t^2 + b t + c >= 0``, c <= 0; infinite if there is none."""
    inside = b * b - 4 * a * c
    if (b <= 0 and a <= 0) or inside < 0:
        return np.inf
    root = float(np.sqrt(inside))
    return -2 * c / (b + root) if b > 0 else (root - b) / (2 * a)


def _peak(a: float, b: float, span: float) -> float:
    """Return the largest ``a t^2 + b t`` for t between 0 and ``span``, which may be endless."""
    if span < 0:
        b, span = -b, -span
    if a < 0 and 0 < -b / (2 * a) < span:
        return -b * b / (4 * a)
    if np.isinf(span):
        return np.inf if a > 0 or (a == 0 and b > 0) else 0.0
    return max(0.0, a * span * span + b * span)
