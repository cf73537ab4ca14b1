"""Alternatives, with what their points show, and the order of changes, with what proofs show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.gaps import is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.setting.claims.about import Goal, Subject
from pertinent.setting.claims.bounds import bounds_of
from pertinent.setting.claims.shown import gaps_of
from pertinent.setting.results import (
    TIE,
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


def with_proofs_only(results: R) -> R:
    """Return results that claim an order of alternatives only where its proofs are at hand.

    That an answer is the only one of its size is not claimed either where it rests on that order.
    """
    if not any(results.alternatives):
        return results
    shown = tuple(tuple(_in_order(listed)) for listed in results.alternatives)
    lost = [any(a.proved and not b.proved for a, b in zip(*two, strict=True))
            for two in zip(results.alternatives, shown, strict=True)]  # fmt: skip
    code = np.where((results.unique_code == UNIQUE) & lost, UNKNOWN, results.unique_code)
    return replace(results, alternatives=shown, unique_code=code.astype(np.int8))


def _in_order(listed: Sequence[Alternative]) -> list[Alternative]:
    why = any(one.why for one in listed)
    return [one if why else replace(one, proved=False) for one in listed]


def is_next_best(
    setting: Setting,
    table: Table,
    subject: Subject,
    limits: Limits,
    point: FloatArray,
    listed: Sequence[BoolArray],
    why: Sequence[LeftAlone],
) -> bool:
    """Return whether no change of one sample that works is smaller, but those of listed sets.

    That is, whether every smaller one changes all features of a set in ``listed``.

    Parameters
    ----------
    setting : Setting
        Its rules count changes where the question does.
    table : Table
        The sample.
    subject : Subject
        What the proofs must speak of.
    limits : tuple of ndarray broadcastable to (1, n_columns)
    point : ndarray of shape (1, n_columns)
        The change.
    listed : sequence of ndarray of bool, shape (n_features,)
    why : sequence of LeftAlone
        Proofs about the changes that leave some features alone.

    Notes
    -----
    A change that does not contain a listed set leaves one of its features alone. So all changes in
    question are looked at by leaving one feature of the first set alone, then one of the second,
    and so on; each way must come to features of which a proof says that whatever leaves them alone
    is no smaller than the point.
    """
    closed = [one.untouched for one in why if _closes(setting, table, subject, limits, point, one)]
    waiting, seen = [np.zeros(len(setting.features), dtype=bool)], {b""}
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


def _closes(
    setting: Setting,
    table: Table,
    subject: Subject,
    limits: Limits,
    point: FloatArray,
    one: LeftAlone,
) -> bool:
    """Return whether no change that leaves these features alone is smaller than the point."""
    parts, _ = subject.among((one.part,), Goal.DISTANCE)
    samples, held = table.values, setting.features.by_column(one.untouched[None])
    low = np.where(held, np.maximum(limits[0], samples), limits[0])
    high = np.where(held, np.minimum(limits[1], samples), limits[1])
    domain = setting.domain_of(table, changes=True)
    bound = bounds_of(setting, parts, samples, (low, high), domain)
    gap = gaps_of(setting, parts, domain is not None and domain.confines, 1)
    size, unit = distance(point, samples, setting.weights), _unit(table)
    return bool(is_closed(size, bound, point, samples, setting.weights, gap, unit)[0])


def _unit(table: Table) -> float:
    return rounding_unit(table.single_precision, table.values.shape[1])
