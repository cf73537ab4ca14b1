"""Alternatives, with what their points show, and the order of changes, with what proofs show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.gaps import is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.setting.claims.about import Goal, Subject
from pertinent.setting.claims.bounds import bounds_of
from pertinent.setting.claims.shown import gaps_of
from pertinent.setting.margins import TIE
from pertinent.setting.results import (
    UNIQUE,
    UNKNOWN,
    Alternative,
    LeftAlone,
    Negatives,
    Positives,
)
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

R = TypeVar("R", Positives, Negatives)

#: Sets of features left alone that the proof of one order may look at.
MOST_SETS = 20_000


@dataclass(frozen=True, eq=False)
class Listed:
    """The m alternatives of n answers, in their order.

    ``rows`` tells which answer each belongs to, ``points`` has shape (m, n_columns).
    """

    n: int
    others: tuple[Alternative, ...]
    rows: IntArray
    points: FloatArray

    @staticmethod
    def of(found: Positives | Negatives) -> Listed:
        """Return the alternatives of all answers."""
        others = [(i, one) for i, some in enumerate(found.alternatives) for one in some]
        rows = np.array([i for i, _ in others], dtype=np.int64)
        points = np.array([one.values for _, one in others], dtype=float)
        return Listed(len(found), tuple(one for _, one in others), rows, points)

    def stated(
        self,
        good: BoolArray,
        features: BoolArray,
        objective: FloatArray | IntArray,
        closeness: FloatArray,
        label: IntArray,
    ) -> tuple[tuple[Alternative, ...], ...]:
        """Return those that are good, with the numbers given here instead of what was said.

        What was proved of sets "not listed before" is not proved any more after one that is not
        good, or that was said to be another set, or of another size.
        """
        out: list[list[Alternative]] = [[] for _ in range(self.n)]
        sure = np.ones(self.n, dtype=bool)
        for j, (i, said) in enumerate(zip(self.rows, self.others, strict=True)):
            size = float(objective[j])
            same = abs(said.objective - size) <= TIE * (1.0 + abs(size))
            sure[i] &= good[j] and same and np.array_equal(said.features, features[j])
            if good[j]:
                proved, near = bool(said.proved and sure[i]), float(closeness[j])
                shown = features[j], said.values, size, near, proved, int(label[j])
                out[i].append(Alternative(*shown, said.why))
        return tuple(tuple(some) for some in out)


def some_limits(limits: Limits, found: Positives | Negatives, rows: IntArray) -> Limits:
    """Return the limits of some of the samples, one of which may repeat."""
    low, high = (np.broadcast_to(limit, found.values.shape)[rows] for limit in limits)
    return low, high


def with_order(results: R, shown: Callable[[int], BoolArray | None]) -> R:
    """Return results that claim an order of alternatives only where proofs show it.

    That an answer is the only one of its size is not claimed either where it rests on that order.

    Parameters
    ----------
    results : Positives or Negatives
    shown : callable
        Given a row, which of its alternatives are shown to be the next best; None: of none is
        anything known.
    """
    if not any(results.alternatives):
        return results
    listed, code = [], results.unique_code.copy()
    for i, others in enumerate(results.alternatives):
        said = np.array([one.proved for one in others], dtype=bool)
        known = shown(i) if said.any() else None
        right = said & (False if known is None else known)
        listed.append(
            tuple(replace(one, proved=bool(p)) for one, p in zip(others, right, strict=True))
        )
        if (said & ~right).any() and code[i] == UNIQUE:
            code[i] = UNKNOWN
    return replace(results, alternatives=tuple(listed), unique_code=code)


@dataclass(frozen=True, eq=False)
class Order:
    """What the proofs about one sample must speak of.

    Parameters
    ----------
    setting : Setting
        Its rules count changes where the question does.
    table : Table
        The sample.
    subject : Subject
    limits : tuple of ndarray broadcastable to (1, n_columns)
    """

    setting: Setting
    table: Table
    subject: Subject
    limits: Limits

    def next_best(self, own: BoolArray, others: Sequence[Alternative]) -> BoolArray:
        """Return which alternatives are shown to be the next best after those before them.

        That is, whether every smaller change that works changes all features of the answer
        (``own``) or of an alternative that is listed before.

        Notes
        -----
        A change that does not contain a listed set leaves one of its features alone. So all
        changes in question are looked at by leaving one feature of the first set alone, then one
        of the second, and so on; each way must come to features of which a proof says that
        whatever leaves them alone is no smaller.
        """
        shown, listed, bounds = [], [own], []
        for one in others:
            bounds += [(left.untouched, *self._proved(left)) for left in one.why]
            closed = [
                alone for alone, bound, gap in bounds if self._closes(one.values[None], bound, gap)
            ]
            shown.append(_leave_nothing_open(listed, closed))
            listed.append(self._changed(one))
        return np.array(shown, dtype=bool)

    def _changed(self, one: Alternative) -> BoolArray:
        different = one.values[None] != self.table.values
        return np.asarray(self.setting.features.by_feature(different)[0])

    def _proved(self, left: LeftAlone) -> tuple[FloatArray, FloatArray]:
        """Return what is proved of changes that leave features alone, and the gap of the proof."""
        setting, samples = self.setting, self.table.values
        parts, _ = self.subject.among((left.part,), Goal.DISTANCE)
        held = setting.features.by_column(left.untouched[None])
        low, high = self.limits
        low = np.where(held, np.maximum(low, samples), low)
        high = np.where(held, np.minimum(high, samples), high)
        domain = setting.domain_of(self.table, changes=True)
        bound = bounds_of(setting, parts, samples, (low, high), domain)
        left.part.certificate.forget()
        return bound, gaps_of(setting, parts, domain is not None and domain.confines, 1)

    def _closes(self, point: FloatArray, bound: FloatArray, gap: FloatArray) -> bool:
        samples, weights = self.table.values, self.setting.weights
        unit = rounding_unit(self.table.single_precision, samples.shape[1])
        size = distance(point, samples, weights)
        return bool(is_closed(size, bound, point, samples, weights, gap, unit)[0])


def _leave_nothing_open(listed: Sequence[BoolArray], closed: Sequence[BoolArray]) -> bool:
    """Return whether all that leaves alone a feature of each listed set is closed."""
    waiting, seen = [np.zeros_like(listed[0])], {b""}
    while waiting:
        alone = waiting.pop()
        if any((untouched <= alone).all() for untouched in closed):
            continue
        whole = next((features for features in listed if not (features & alone).any()), None)
        if whole is None or len(seen) > MOST_SETS:
            return False
        for j in np.flatnonzero(whole):
            more = alone.copy()
            more[j] = True
            if more.tobytes() not in seen:
                seen.add(more.tobytes())
                waiting.append(more)
    return True
