"""Alternatives, with what their points show, and the order of changes, with what proofs show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.gaps import is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.proofs.core import joined
from pertinent.setting.answers import Certified
from pertinent.setting.claims.about import Goal, Subject
from pertinent.setting.claims.bounds import bounds_of
from pertinent.setting.claims.shown import gaps_of
from pertinent.setting.margins import TIE
from pertinent.setting.region_key import RegionKey
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


def with_order(results: R, shown: Sequence[BoolArray | None]) -> R:
    """Return results that claim an order of alternatives only where proofs show it.

    That an answer is the only one of its size is not claimed either where it rests on that order.

    Parameters
    ----------
    results : Positives or Negatives
    shown : sequence of ndarray of bool or None
        Of each row, which of its alternatives are shown to be the next best; None: of none is
        anything known.
    """
    if not any(results.alternatives):
        return results
    listed, code = [], results.unique_code.copy()
    for i, (others, known) in enumerate(zip(results.alternatives, shown, strict=True)):
        said = np.array([one.proved for one in others], dtype=bool)
        right = said & (False if known is None else known)
        listed.append(
            tuple(replace(one, proved=bool(p)) for one, p in zip(others, right, strict=True))
        )
        if (said & ~right).any() and code[i] == UNIQUE:
            code[i] = UNKNOWN
    return replace(results, alternatives=tuple(listed), unique_code=code)


@dataclass(frozen=True, eq=False)
class Order:
    """What the proofs about n samples must speak of.

    Parameters
    ----------
    setting : Setting
        Its rules count changes where the question does.
    table : Table
        The samples.
    subject : Subject
    limits : tuple of ndarray broadcastable to (n, n_columns)
    """

    setting: Setting
    table: Table
    subject: Subject
    limits: Limits

    def next_best(self, own: BoolArray, others: Sequence[Sequence[Alternative]]) -> list[BoolArray]:
        """Return which alternatives of each sample are the next best after those before them.

        That is, of which it is shown that every smaller change that works changes all features of
        the answer (``own``, of shape (n, n_features)) or of an alternative that is listed before.

        Notes
        -----
        A change that does not contain a listed set leaves one of its features alone. So all
        changes in question are looked at by leaving one feature of the first set alone, then one
        of the second, and so on; each way must come to features of which a proof says that
        whatever leaves them alone is no smaller.
        """
        whose = [(i, left) for i, some in enumerate(others) for one in some for left in one.why]
        bound, gap = self._proved(whose)
        shown, first = [], 0
        for i, some in enumerate(others):
            last = first + sum(len(one.why) for one in some)
            shown.append(self._shown(i, own[i], some, bound[first:last], gap[first:last]))
            first = last
        return shown

    def _shown(
        self,
        i: int,
        own: BoolArray,
        others: Sequence[Alternative],
        bound: FloatArray,
        gap: FloatArray,
    ) -> BoolArray:
        """Return the same of sample i, with what all its proofs show."""
        shown, listed, alone = [], [own], [left.untouched for one in others for left in one.why]
        known = 0
        for one in others:
            known += len(one.why)
            closed = self._closes(i, one.values, bound[:known], gap[:known])
            sets = [untouched for untouched, is_so in zip(alone, closed, strict=False) if is_so]
            shown.append(_leave_nothing_open(listed, sets))
            different = one.values != self.table.values[i]
            listed.append(np.asarray(self.setting.features.by_feature(different[None])[0]))
        return np.array(shown, dtype=bool)

    def _proved(self, whose: Sequence[tuple[int, LeftAlone]]) -> tuple[FloatArray, FloatArray]:
        """Return what is proved of changes that leave features alone, and the gap of each proof.

        ``whose`` tells which sample each is about.
        """
        if not whose:
            return np.zeros(0), np.zeros(0)
        setting, rows = self.setting, np.array([i for i, _ in whose])
        some = self.table.take(rows)
        held = setting.features.by_column(np.array([left.untouched for _, left in whose]))
        low, high = (np.broadcast_to(s, self.table.values.shape)[rows] for s in self.limits)
        low = np.where(held, np.maximum(low, some.values), low)
        high = np.where(held, np.minimum(high, some.values), high)
        domain, parts = setting.domain_of(some, changes=True), self._together(whose)
        bound = bounds_of(setting, parts, some.values, (low, high), domain)
        return bound, gaps_of(setting, parts, domain is not None and domain.confines, len(rows))

    def _together(self, whose: Sequence[tuple[int, LeftAlone]]) -> tuple[Certified, ...]:
        """Return the certificates that speak of their samples, those of each region as one."""
        by_key: dict[RegionKey, list[int]] = {}
        for k, (i, left) in enumerate(whose):
            if self._speaks_of(i, left.part):
                by_key.setdefault(left.part.key, []).append(k)
        return tuple(
            Certified(key, np.array(some), joined([whose[k][1].part.certificate for k in some]))
            for key, some in by_key.items()
        )

    def _speaks_of(self, i: int, part: Certified) -> bool:
        about, here = self.subject, np.array([i])
        alone = Subject(about.setting, about.samples[here], about.kind, about.labels[here])
        one_row = part.certificate.n == 1 and np.array_equal(part.rows, [0])
        return one_row and bool(alone.among((part,), Goal.DISTANCE)[0])

    def _closes(self, i: int, point: FloatArray, bound: FloatArray, gap: FloatArray) -> BoolArray:
        """Return which bounds say that nothing is smaller than the point's change of sample i."""
        weights, shape = self.setting.weights, (len(bound), len(point))
        points = np.broadcast_to(point, shape)
        samples = np.broadcast_to(self.table.values[i], shape)
        unit = rounding_unit(self.table.single_precision, len(point))
        size = distance(points, samples, weights)
        return is_closed(size, bound, points, samples, weights, gap, unit)


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
