"""Alternatives, with what their points show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.setting.margins import TIE
from pertinent.setting.results import Alternative, Negatives, Positives


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
                own = Alternative(features[j], said.values, size, near, proved, int(label[j]))
                out[i].append(own)
        return tuple(tuple(some) for some in out)


def some_limits(limits: Limits, found: Positives | Negatives, rows: IntArray) -> Limits:
    """Return the limits of some of the samples, one of which may repeat."""
    low, high = (np.broadcast_to(limit, found.values.shape)[rows] for limit in limits)
    return low, high
