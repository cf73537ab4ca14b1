"""One number at a time: walk from the answer's value in both directions, from piece to piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.rounding import Leading, MarginRows
from pertinent.geometry.running import is_over
from pertinent.questions.ranges.reach import Moves, reach
from pertinent.questions.ranges.trees import ends_in_trees
from pertinent.questions.tolerances import NEAR, RELATION_UNIT, SHARES, SPAN_SLACK
from pertinent.setting.claims.boxes import Answer, steps_of, unions_of
from pertinent.setting.claims.sums import sums_of
from pertinent.setting.margins import FAR
from pertinent.setting.ranges import Span
from pertinent.setting.setting import Setting

#: A walk crosses at most so many pieces.
MOST_PIECES = 400


@dataclass(frozen=True)
class Try:
    """How much is asked for.

    Parameters
    ----------
    room : float
        How many times the rounding is kept from every row.
    share : float
        Of the way to each end.
    inset : float
        By how much a span may keep off the answer's own value, in scales of its column: an answer
        need not be as sure of its class as of not being of the sample's.
    """

    room: float
    share: float = 1.0
    inset: float = 0.0


BOLD = Try(1 + SPAN_SLACK)


class SpanWalk:
    """Columns of some points, each followed in one direction until the class ends.

    Parameters
    ----------
    setting : Setting
    label : int
    moves : Moves
    room : float
        How many times the rounding is kept from every row.
    """

    def __init__(
        self, setting: Setting, answer: Answer, label: int, moves: Moves, room: float
    ) -> None:
        self.setting, self.moves = setting, moves
        self.steps = steps_of(setting, answer)
        unions = unions_of(setting, label, answer.table)
        self.unions = [(pieces, room * unit) for pieces, unit in unions]
        self.sums = [(one, 2 * room * unit) for one, unit in sums_of(setting, label, answer.table)]
        self.own = moves.points[moves.every, moves.columns]
        self.cuts: list[list[float]] = [[] for _ in range(len(moves.points))]

    def ends(self) -> FloatArray:
        """Return the last value of each, in its direction; its own where it cannot move."""
        if not self.unions and not self.sums:
            return self.own
        ends = [self._through(pieces, unit) for pieces, unit in self.unions]
        ends += [ends_in_trees(region, self.moves, share) for region, share in self.sums]
        signs = self.moves.signs
        if any(_grows(pieces) for pieces, _ in self.unions):
            # What is added up may grow faster than any row: no endless span can be shown.
            weights = self.setting.weights[self.moves.columns]
            ends.append(self.own + signs * 1.01 * FAR / np.where(weights > 0, weights, 1.0))
        return np.asarray(signs * np.min([signs * end for end in ends], axis=0))

    @property
    def is_curved(self) -> bool:
        """Whether any row is quadratic."""
        return any(len(pieces) and pieces[0].curved for pieces, _ in self.unions)

    def _through(self, pieces: Sequence[MarginRows], unit: float) -> FloatArray:
        value, active = self.own.copy(), np.ones(len(self.own), dtype=bool)
        for step in range(MOST_PIECES if len(pieces) > 1 else 1):  # no other takes over from one
            rows = np.flatnonzero(active)
            if not len(rows) or is_over():
                break
            here = self.moves.take(rows)
            here.points[here.every, here.columns] = value[rows]
            lengths = _farthest(pieces, here, unit)
            with np.errstate(invalid="ignore"):
                new = value[rows] + here.signs * lengths
            if step == 0:
                moved = lengths > 0
            else:
                new, moved = self._next_piece(pieces, here, value[rows], new, lengths, unit)
            for k in np.flatnonzero(moved & (step > 0)):
                self.cuts[rows[k]].append(float(value[rows[k]]))
            value[rows] = np.where(moved, new, value[rows])
            active[rows] = moved & np.isfinite(value[rows])
        return value

    def _next_piece(
        self, pieces: Sequence[MarginRows], here: Moves, value: FloatArray, new: FloatArray,
        lengths: FloatArray, unit: float,
    ) -> tuple[FloatArray, BoolArray]:  # fmt: skip
        """Return where another piece takes over, from the very value or from its neighbours."""
        least = 8 * np.spacing(np.abs(value))
        moved = lengths > least
        beyond, stepped = value.copy(), np.isin(here.columns, list(self.steps))
        for attempt in range(6):  # the ends of leaves lie a few roundings apart
            left = np.flatnonzero(~(moved | stepped) if attempt else ~moved)
            if not len(left) or is_over():
                break
            some = here.take(left)
            beyond[left] = self._next_values(some, beyond[left])
            some.points[some.every, some.columns] = beyond[left]
            again = _farthest(pieces, some, unit)
            good = again > least[left]
            with np.errstate(invalid="ignore"):
                new[left] = np.where(good, beyond[left] + some.signs * again, new[left])
            moved[left] = good
        return new, moved

    def _next_values(self, moves: Moves, values: FloatArray) -> FloatArray:
        """Return the next step of each column, and the next number of one that has no steps."""
        out = np.nextafter(values, moves.signs * np.inf)
        for j in np.intersect1d(moves.columns, list(self.steps)).tolist():
            for to, sign in ((self.steps[j].ceil, 1.0), (self.steps[j].floor, -1.0)):
                here = np.flatnonzero((moves.columns == j) & (moves.signs == sign))
                out[here] = to(out[here])
        return out


def _grows(pieces: Sequence[MarginRows]) -> bool:
    """Return whether no endless span is shown: of rows over bent columns, or of growing sums.

    What is added up for linear rows may grow with the square of a distance.
    """
    return bool(len(pieces)) and (pieces[0].sums is not None or bool(pieces[0].bent))


def _farthest(pieces: Sequence[MarginRows], moves: Moves, unit: float) -> FloatArray:
    """Return how far each point can move within one of the pieces that hold it."""
    if isinstance(pieces, Leading):
        best = np.full(len(moves.points), -1.0)
        first = pieces.leading(moves.points)
        for p in np.unique(first):
            rows = np.flatnonzero(first == p)
            best[rows] = reach(pieces[int(p)], moves.take(rows), unit)
        return best
    best = np.full(len(moves.points), -1.0)
    for piece in pieces:
        np.maximum(best, reach(piece, moves, unit), out=best)
    return best


def inward(
    setting: Setting, answer: Answer, domain: Domain | None, rows: IntArray, columns: IntArray,
    ends: FloatArray, signs: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return ends within the limits, on the lattice and in the precision of their columns.

    ``domain`` is what the rules allow for all answers.
    """
    low, high = (np.broadcast_to(side, answer.points.shape) for side in answer.limits)
    own = answer.points[rows, columns]
    out = np.clip(ends, low[rows, columns], high[rows, columns])
    if domain is not None:
        _snap(domain, rows, columns, out, signs)
    if answer.table.single_precision:
        singles = answer.table.single_features
        named = np.array([n in singles for n in setting.features.names])
        single = named[setting.features.owner[columns]] & np.isfinite(out)
        near = out.astype(np.float32)
        over = signs * near.astype(float) > signs * out
        back = np.nextafter(near, (-signs * np.inf).astype(np.float32))
        out = np.where(single, np.where(over, back, near).astype(float), out)
    # Nothing is left of a lattice or a precision: the answer's own value always is.
    return np.where(signs * out > signs * ends, own, out)


def _snap(
    domain: Domain, rows: IntArray, columns: IntArray, ends: FloatArray, signs: FloatArray
) -> None:
    """Move ends, in place, back to the last value that the rules allow."""
    for j in np.intersect1d(columns, domain.confined).tolist():
        for to, sign in ((domain.floor, 1.0), (domain.ceil, -1.0)):
            here = np.flatnonzero((columns == j) & (signs == sign) & np.isfinite(ends))
            if len(here):
                ends[here] = to(j, ends[here], rows[here])


def relation_reach(setting: Setting, moves: Moves) -> FloatArray:
    """Return how far each point can move before a relation fails; endless without relations."""
    related = setting.constraints.relation_cell(setting.features)
    if related is None:
        return np.full(len(moves.points), np.inf)
    piece = MarginRows.as_written(related)
    room = reach(piece, moves, RELATION_UNIT)
    return np.maximum(room, 0.0)


def bin_ends(setting: Setting, moves: Moves) -> FloatArray:
    """Return the last value of the bins that each point falls in, in its direction."""
    out = moves.signs * np.inf
    for bins in setting.features.bins:
        mine = np.flatnonzero(moves.columns == bins.column)
        if not len(mine):
            continue
        own = bins.of(moves.points[mine, bins.column])
        last = np.where(moves.signs[mine] > 0, bins.high[own], bins.low[own])
        if bins.excess is not None:  # what is cut off moves along: nothing is proposed there
            last = np.where(own == 1, last, moves.points[mine, bins.column])
        sign = moves.signs[mine]
        out[mine] = sign * np.minimum(sign * out[mine], sign * last)
    return out


def propose_spans(setting: Setting, answer: Answer, asked: Try = BOLD) -> list[list[Span]]:
    """Return a span for each chosen number of each answer."""
    features, marks = setting.features, setting.features.marks
    numbers = [j for j in range(len(features)) if not features.is_category(j)]
    pairs = [
        (i, column)
        for i in range(len(answer))
        for j, column in ((j, int(features.first[j])) for j in numbers)
        if answer.chosen[i, j] and not (column in marks and answer.points[i, marks[column]] == 1)
    ]
    out: list[list[Span]] = [[] for _ in range(len(answer))]
    if not pairs:
        return out
    rows = np.repeat([i for i, _ in pairs], 2)
    columns = np.repeat([c for _, c in pairs], 2)
    signs = np.tile([-1.0, 1.0], len(pairs))
    cuts: list[list[float]] = [[] for _ in rows]
    ends, curved = np.empty(len(rows)), np.zeros(len(answer), dtype=bool)
    for label in np.unique(answer.labels[rows]):
        mine = np.flatnonzero(answer.labels[rows] == label)
        moves = Moves(answer.points[rows[mine]], columns[mine], signs[mine])
        ends[mine], found, bent = _through_bins(setting, answer, int(label), moves, asked.room)
        curved[answer.labels == label] = bent
        for place, own_cuts in zip(mine, found, strict=True):
            cuts[place] = own_cuts
    own = answer.points[rows, columns]
    ends = _changed_only(setting, answer, rows, columns, ends, signs)
    ends = _less(asked, setting.weights[columns], own, ends)
    if asked.inset:
        ends = _off_own(asked.inset / setting.weights[columns], own, ends)
    domain = setting.domain_of(answer.table, changes=answer.changes)
    ends = inward(setting, answer, domain, rows, columns, ends, signs)
    for k, (i, column) in enumerate(pairs):
        low, high = ends[2 * k], ends[2 * k + 1]
        near = _around(float(own[2 * k]), float(low), float(high)) if curved[i] else []
        inner = sorted({c for c in (*cuts[2 * k], *cuts[2 * k + 1], *near) if low < c < high})
        out[i].append(Span(column, float(low), float(high), tuple(inner)))
    return out


def _through_bins(
    setting: Setting, answer: Answer, label: int, moves: Moves, room: float
) -> tuple[FloatArray, list[list[float]], bool]:
    """Return the last value of each move, where it is cut, and whether rows are curved.

    Where a bin ends, the walk goes on from the first value of the next one.
    """
    walk = SpanWalk(setting, answer, label, moves, room)
    ends, cuts, known = _ends_in_bin(setting, walk), walk.cuts, setting.features.domain()
    left, here = moves.every, moves
    for _ in range(MOST_PIECES):
        entries = _next_bins(setting, here, ends[left])
        on = np.flatnonzero(np.isfinite(entries))
        if known is None or not len(on):
            break
        left, points = left[on], here.points[on]
        points[np.arange(len(on)), here.columns[on]] = entries[on]
        here = Moves(known.completed(points), here.columns[on], here.signs[on])
        further = SpanWalk(setting, answer, label, here, room)
        new = _ends_in_bin(setting, further)
        moved = np.flatnonzero(here.signs * (new - entries[on]) > 0)
        for k in moved.tolist():
            cuts[left[k]] += further.cuts[k]
        left, here = left[moved], here.take(moved)
        ends[left] = new[moved]
    return ends, cuts, walk.is_curved


def _ends_in_bin(setting: Setting, walk: SpanWalk) -> FloatArray:
    """Return the last values that class, relations and bins allow."""
    moves = walk.moves
    by_rules = walk.own + moves.signs * relation_reach(setting, moves)
    limits = (walk.ends(), by_rules, bin_ends(setting, moves))
    return np.asarray(moves.signs * np.min([moves.signs * end for end in limits], axis=0))


def _next_bins(setting: Setting, moves: Moves, ends: FloatArray) -> FloatArray:
    """Return the first value of the next bin where a bin is what ends a walk, else NaN."""
    out = np.full(len(ends), np.nan)
    for bins in setting.features.bins:
        for k in np.flatnonzero((moves.columns == bins.column) & np.isfinite(ends)).tolist():
            up = moves.signs[k] > 0
            own = int(bins.of(moves.points[k, [bins.column]])[0])
            if ends[k] == (bins.high if up else bins.low)[own]:
                out[k] = bins.low[own + 1] if up else bins.high[own - 1]
    return out


def _less(asked: Try, weights: FloatArray, own: FloatArray, ends: FloatArray) -> FloatArray:
    """Return ends nearer to the answer's own value, where less is asked for."""
    if asked.share == 1:
        return ends
    near = np.abs(ends - own) * weights < NEAR
    less = own + asked.share * (np.where(np.isfinite(ends), ends, own) - own)
    return np.where(near, own, np.where(np.isfinite(ends), less, ends))


def _off_own(inset: FloatArray, own: FloatArray, ends: FloatArray) -> FloatArray:
    """Return pairs of ends of which those at the own value keep off it, where there is room."""
    out = ends.copy()
    for k in range(0, len(ends), 2):
        if ends[k + 1] - ends[k] > 4 * inset[k]:
            out[k] += inset[k] if ends[k] == own[k] else 0.0
            out[k + 1] -= inset[k] if ends[k + 1] == own[k] else 0.0
    return out


def _around(own: float, low: float, high: float) -> list[float]:
    """Return cuts beside the answer's value: next to a row only small parts can be shown."""
    ends = [end if np.isfinite(end) else own + np.sign(end) * (1 + abs(own)) for end in (low, high)]
    return [own, *(own + share * (end - own) for end in ends for share in SHARES)]


def _changed_only(
    setting: Setting, answer: Answer, rows: IntArray, columns: IntArray, ends: FloatArray,
    signs: FloatArray,
) -> FloatArray:  # fmt: skip
    """Return ends that keep off the sample's own value, where features have to change together."""
    rules = setting.constraints
    if not answer.changes or not rules.together:
        return ends
    bound = {int(j) for group in rules.together for j in setting.features.indices(group)}
    own, at = answer.table.values[rows, columns], answer.points[rows, columns]
    domain = setting.domain_of(answer.table, changes=True)
    assert domain is not None  # it holds what changes together
    out = ends.copy()
    for k in range(len(out)):
        towards = signs[k] * (own[k] - at[k]) > 0 and signs[k] * (out[k] - own[k]) >= 0
        if towards and int(setting.features.owner[columns[k]]) in bound:
            below, above = domain.next_to_own(int(columns[k]), own[k])
            out[k] = below if signs[k] > 0 else above
    return out
