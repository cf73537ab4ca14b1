"""The one judge of every point that is handed out, printed or read from a file.

It looks at seven things, always and for every question: what the model's own ``predict`` says of
the point as it is handed out, the probability asked for, whether rounding could change the
prediction, the margin asked for, the limits of each value, the rules value by value, and the
density asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pertinent.density.measure import are_plausible
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits, Rows
from pertinent.geometry.rounding.singles import single_beside
from pertinent.rules.obeyed import broken_rules
from pertinent.rules.reference import RuleRef
from pertinent.setting.answers import Ask, RowRules, into_bounds
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class Accepted(Rows):
    """Points that the judge accepted in one call.

    Parameters
    ----------
    kind : Kind
    points : ndarray of shape (n, n_columns)
    samples : ndarray of shape (n, n_columns), or None
        The sample that each point was judged for; None: no rule was compared with a sample.
    labels, predicted : ndarray of int, shape (n,)
        What each was asked to be predicted as, or not as; and what it is predicted as.
    """

    kind: Kind
    points: FloatArray
    samples: FloatArray | None
    labels: IntArray
    predicted: IntArray


@dataclass(eq=False)
class Ledger:
    """The points that the judge accepted: for which sample, and as what they are predicted."""

    known: list[Accepted] = field(default_factory=list)

    def predicted(
        self, points: FloatArray, samples: FloatArray | None, kind: Kind, labels: IntArray
    ) -> IntArray:
        """Return the class of each point that was accepted for its sample, else -1.

        Point, sample and label must be the same, number by number. Without samples: accepted for
        any sample.
        """
        place = np.full(len(points), -1)
        noted = [note for note in self.known if note.kind is kind]
        for note in noted:  # most often all points of one call, in their order
            if len(note.points) == len(points) and note.samples is not None:
                same = (note.points == points).all(axis=1) & (note.labels == labels)
                if samples is not None and note.samples is not samples:
                    same &= (note.samples == samples).all(axis=1)
                place = np.where(same, note.predicted, place)
                if (place >= 0).all():
                    return place
        left = ((place < 0) & ~np.isnan(points).any(axis=1)).nonzero()[0]
        wanted: dict[bytes, list[int]] = {}
        kinds: list[FloatArray | None] = [] if samples is None else [samples[left]]
        if samples is None or any(note.samples is None for note in noted):
            kinds = [*kinds, None]
        for own in kinds:
            for i, key in zip(left.tolist(), _keys(points[left], own, labels[left]), strict=True):
                wanted.setdefault(key, []).append(i)
        for note in noted if wanted else ():
            own = note.samples if samples is not None else None
            for j, key in enumerate(_keys(note.points, own, note.labels)):
                if key in wanted:
                    place[wanted[key]] = note.predicted[j]
        return place


def _keys(points: FloatArray, samples: FloatArray | None, labels: IntArray) -> list[bytes]:
    """Return the numbers of each point, its sample and its label as they are in memory."""
    parts = (points, labels[:, None]) if samples is None else (points, samples, labels[:, None])
    rows = np.concatenate(parts, axis=1, dtype=float) + 0.0  # -0.0 is 0.0
    return [row.tobytes() for row in rows]


_LEDGER: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextmanager
def noting() -> Iterator[Ledger]:
    """Note all points that are accepted meanwhile."""
    ledger = Ledger()
    token = _LEDGER.set(ledger)
    try:
        yield ledger
    finally:
        _LEDGER.reset(token)


@dataclass(eq=False)
class Judged:
    """What speaks for and against each of n points.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        As they are handed out.
    predicted : ndarray of int, shape (n,)
        Place of the class that ``predict`` gives to each.
    right : ndarray of bool, shape (n,)
        Predicted as asked, as likely as asked for, and whatever the order of summation.
    deep : ndarray of bool, shape (n,)
        Inside its class by the margin asked for: see `Setting.keep_margin`.
    obeys : ndarray of bool, shape (n,)
        Within its limits, and no rule is broken.
    dense : ndarray of bool, shape (n,), or None
        Where plausibility asks for points; None where it asks for nothing.
    broken : dict of int to RuleRef
        A rule that the point breaks, for those that break one by name.
    """

    points: FloatArray
    predicted: IntArray
    right: BoolArray
    deep: BoolArray
    obeys: BoolArray
    dense: BoolArray | None
    broken: dict[int, RuleRef]

    @property
    def valid(self) -> BoolArray:
        """Whether nothing speaks against the point."""
        return np.asarray(self.passes & self.deep)

    @property
    def passes(self) -> BoolArray:
        """The same whatever the margin: rounded numbers that are shown need not keep it."""
        valid = self.right & self.obeys
        return valid if self.dense is None else valid & self.dense

    def put(self, rows: IntArray, points: FloatArray, predicted: IntArray) -> None:
        """Put other points, which nothing speaks against, in the place of some."""
        self.points, self.predicted = self.points.copy(), self.predicted.copy()
        self.points[rows], self.predicted[rows] = points, predicted
        self.right[rows] = self.deep[rows] = self.obeys[rows] = True
        if self.dense is not None:
            self.dense[rows] = True
        for i in rows.tolist():
            self.broken.pop(i, None)

    def reason(self, i: int, used: float) -> Reason:
        """Return why point i is refused; ``used`` is the margin it was found with."""
        if i in self.broken:
            return Reason(Why.RULE_BROKEN, rules=(self.broken[i],))
        inside = self.right[i] and self.deep[i] and self.obeys[i]
        kind = Why.DENSITY if inside else Why.PREDICT
        return Reason(kind, number=float(used))


def handed_out(ask: Ask, points: FloatArray) -> FloatArray:
    """Return points as `Table.write` hands them out, within the limits."""
    if not ask.table.single_precision:
        return points
    return into_bounds(ask.table.as_handed_out(points), ask.low, ask.high, single=True)


def handed_out_farther(ask: Ask, points: FloatArray) -> FloatArray:
    """Return the same, but numbers in single precision no closer to their centers than they were.

    A point at the end of a cell may leave it when it is rounded to the nearest such number: the
    next one farther away does not, unless the cell is narrower than that.
    """
    table, handed = ask.table, handed_out(ask, points)
    rounded = table.single_columns.copy()
    rounded[[bins.column for bins in table.features.bins]] = False  # these know their ends
    beside = [single_beside(points, up=up) for up in (True, False)]
    away = np.where(points > ask.centers, beside[0], beside[1])
    moved = rounded & (points != ask.centers)
    return into_bounds(np.where(moved, away, handed), ask.low, ask.high, single=True)


def judge(
    setting: Setting,
    ask: Ask,
    points: FloatArray,
    predicted: IntArray | None = None,
    blends: NDArray[np.object_] | None = None,
) -> Judged:
    """Return the verdict on points as they are handed out.

    Parameters
    ----------
    setting : Setting
    ask : Ask
        The question, row by row.
    points : ndarray of shape (n, n_features)
        See `handed_out`.
    predicted : ndarray of int, shape (n,), optional
        What ``predict`` says of them, where it was asked already.
    blends : ndarray of object, shape (n,), optional
        The `Blend` that each point is said to be, with plausibility by hulls.
    """
    taken = setting.features.takes(points)
    asked = points if taken.all() else setting.features.within_ends(points)
    if predicted is None:
        predicted = setting.predict(ask.table, asked)
    right = ask.kind.holds(predicted, ask.labels) & taken
    if setting.min_proba is not None and len(points):
        proba = np.asarray(setting.model.predict_proba(ask.table.for_model(asked)))
        right &= proba[np.arange(len(points)), predicted] >= setting.min_proba
    if setting.by_search:  # as it is handed out, in company and alone
        right &= setting.alone(ask.table, asked) == predicted
    else:
        right &= _is_firm(setting, ask, points)
    deep = setting.keep_margin(ask.table, points, predicted)
    obeys = _is_between(points, ask.low, ask.high)
    broken: dict[int, RuleRef] = {}
    if setting.constraints.speaks_of_values or np.count_nonzero(obeys) < len(obeys):
        broken = _broken(setting, ask, points)
        obeys[list(broken)] = False
    dense, single = None, ask.table.single_precision
    if setting.within is not None:
        samples = ask.table.values if ask.is_aligned else None
        dense = are_plausible(
            setting.within, predicted, points, blends, samples, setting.weights, single
        )
    judged = Judged(points, predicted, right, deep, obeys, dense, broken)
    ledger = _LEDGER.get()
    if ledger is not None and not setting.is_partial:
        samples, valid = ask.table.values if ask.is_aligned else None, judged.valid
        # As they are now: both arrays are handed on, and answers are taken back in them.
        note = Accepted(ask.kind, points.copy(), samples, ask.labels, predicted.copy())
        ledger.known.append(note if valid.all() else note.take(valid))
    return judged


def judge_points(
    setting: Setting,
    table: Table,
    points: FloatArray,
    kind: Kind,
    labels: IntArray,
    limits: Limits,
    *,
    changes: bool = False,
    blends: NDArray[np.object_] | None = None,
) -> Judged:
    """Return the verdict on points that no solver found with a margin of its own.

    Parameters
    ----------
    setting : Setting
    table : Table
        The samples, one for each point; says in which form points are handed out.
    points : ndarray of shape (n, n_features)
    kind : Kind
        Whether a point must be predicted as its label, or as any other.
    labels : ndarray of int, shape (n,)
    limits : tuple of ndarray broadcastable to (n, n_features)
    changes : bool
        Whether the rules about how many features change, and which together, apply.
    blends : ndarray of object, shape (n,), optional
        As in `judge`.
    """
    low, high = (np.broadcast_to(limit, points.shape) for limit in limits)
    ask = Ask(table, points, kind, labels, low, high, RowRules(None, changes))
    return judge(setting, ask, handed_out(ask, points), blends=blends)


def _is_between(points: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return which points lie within their limits."""
    between = points >= low
    between &= points <= high
    if np.count_nonzero(between) == between.size:  # most often: any column will do
        return between[:, 0]
    return np.asarray(between.all(axis=1))


def _is_firm(setting: Setting, ask: Ask, points: FloatArray) -> BoolArray:
    """Return whether rounding cannot change the prediction, or there is nothing to round.

    The sample itself has the class that it is predicted as: that is what is explained.
    """
    sure = setting.is_sure(ask.kind, ask.labels, points, ask.table)
    if np.count_nonzero(sure) < len(sure):
        rows = (~sure).nonzero()[0]
        sure[rows] = setting.is_exact(ask.kind, ask.labels[rows], points[rows])
        if ask.kind is Kind.IS and ask.is_aligned:
            sure[rows] |= (points[rows] == ask.table.values[rows]).all(axis=1)
    return sure


def _broken(setting: Setting, ask: Ask, points: FloatArray) -> dict[int, RuleRef]:
    """Return a rule that each point breaks, told value by value in raw units."""
    table = ask.table
    found = broken_rules(
        setting.constraints,
        setting.features,
        table.raw(table.as_told(points)),
        table.own_raw if ask.is_aligned else None,
        changes=ask.rules.changes,
        single=table.single_precision,
        held=table.raw(points) if table.single_precision else None,
    )
    return {int(i): rule for rule, wrong in found for i in np.flatnonzero(wrong)}
