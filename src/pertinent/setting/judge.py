"""The one judge of every point that is handed out, printed or read from a file.

It looks at six things, always and for every question: what the model's own ``predict`` says of the
point as it is handed out, the probability asked for, whether rounding could change the prediction,
the limits of each value, the rules value by value, and the density asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pertinent.density.measure import are_plausible
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.rules.obeyed import broken_rules
from pertinent.rules.reference import RuleRef
from pertinent.setting.answers import Ask, RowRules, into_bounds
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: Odd numbers, one for each column, that mix the bits of a point into one number.
_ODD = np.random.default_rng(7).integers(0, 2**63, size=4096, dtype=np.uint64) * 2 + 1


@dataclass(eq=False)
class Ledger:
    """The points that the judge accepted, with what they were asked to be predicted as."""

    known: list[tuple[Kind, FloatArray, IntArray]] = field(default_factory=list)

    def note(self, points: FloatArray, kind: Kind, labels: IntArray) -> None:
        """Remember points that are valid, as they are now."""
        self.known.append((kind, points.copy(), labels))

    def holds(self, points: FloatArray, kind: Kind, labels: IntArray) -> BoolArray:
        """Return which points were accepted, bit by bit."""
        found = np.zeros(len(points), dtype=bool)
        for noted, known, own in self.known:  # most often all points of one call, in their order
            if noted is kind and len(known) == len(points):
                found |= (known == points).all(axis=1) & (own == labels)
                if found.all():
                    return found
        left = np.flatnonzero(~found & ~np.isnan(points).any(axis=1))
        if len(left) and self.known:
            marks = np.concatenate([_marks(p, k, own) for k, p, own in self.known])
            found[left] = np.isin(_marks(points[left], kind, labels[left]), marks)
        return found


def _marks(points: FloatArray, kind: Kind, labels: IntArray) -> NDArray[np.uint64]:
    """Return a number for each point that no other point is likely to have."""
    bits = (points + 0.0).view(np.uint64)
    odd = _ODD[np.arange(points.shape[1]) % len(_ODD)] if points.shape[1] > 4096 else _ODD
    mixed = ((bits ^ (bits >> np.uint64(29))) * odd[: points.shape[1]]).sum(axis=1)
    asked = labels.astype(np.uint64) * _ODD[1] + _ODD[2 + (kind is Kind.IS)]
    return np.asarray(mixed + asked)


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
    obeys: BoolArray
    dense: BoolArray | None
    broken: dict[int, RuleRef]

    @property
    def valid(self) -> BoolArray:
        """Whether nothing speaks against the point."""
        valid = self.right & self.obeys
        return valid if self.dense is None else valid & self.dense

    def reason(self, i: int, used: float) -> Reason:
        """Return why point i is refused; ``used`` is the margin it was found with."""
        if i in self.broken:
            return Reason(Why.RULE_BROKEN, rules=(self.broken[i],))
        kind = Why.DENSITY if self.right[i] and self.obeys[i] else Why.PREDICT
        return Reason(kind, number=float(used))


def handed_out(ask: Ask, points: FloatArray) -> FloatArray:
    """Return points as `Table.write` hands them out, within the limits."""
    if not ask.table.single_precision:
        return points
    return into_bounds(ask.table.as_handed_out(points), ask.low, ask.high, single=True)


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
    if predicted is None:
        predicted = setting.predict(ask.table, points)
    right = ask.kind.holds(predicted, ask.labels)
    if setting.min_proba is not None and len(points):
        proba = np.asarray(setting.model.predict_proba(ask.table.for_model(points)))
        right &= proba[np.arange(len(points)), predicted] >= setting.min_proba
    right &= _is_firm(setting, ask, points)
    obeys = np.asarray(((points >= ask.low) & (points <= ask.high)).all(axis=1))
    broken: dict[int, RuleRef] = {}
    if setting.constraints.speaks_of_values or not obeys.all():
        broken = _broken(setting, ask, points)
        obeys[list(broken)] = False
    dense, single = None, ask.table.single_precision
    if setting.within is not None:
        samples = ask.table.values if ask.is_aligned else None
        dense = are_plausible(
            setting.within, predicted, points, blends, samples, setting.weights, single
        )
    judged = Judged(points, predicted, right, obeys, dense, broken)
    ledger = _LEDGER.get()
    if ledger is not None:
        valid = judged.valid
        if valid.all():
            ledger.note(points, ask.kind, ask.labels)
        else:
            ledger.note(points[valid], ask.kind, ask.labels[valid])
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


def _is_firm(setting: Setting, ask: Ask, points: FloatArray) -> BoolArray:
    """Return whether rounding cannot change the prediction, or there is nothing to round.

    The sample itself has the class that it is predicted as: that is what is explained.
    """
    sure = setting.is_sure(ask.kind, ask.labels, points, ask.table)
    rows = (~sure).nonzero()[0]
    if len(rows):
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
        table.raw(points),
        table.raw(table.values) if ask.is_aligned else None,
        changes=ask.rules.changes,
        single=table.single_precision,
    )
    return {int(i): rule for rule, wrong in found for i in np.flatnonzero(wrong)}
