"""Which points one sample may move to, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell
from pertinent.geometry.task import distance
from pertinent.setting.answers import Ask
from pertinent.setting.setting import Setting
from pertinent.tables.features import Features


@dataclass(eq=False)
class Space:
    """What the rules allow for one sample.

    Parameters
    ----------
    features : Features
    weights : ndarray of shape (n_columns,)
    center, low, high : ndarray of shape (n_columns,)
        The sample, and between which values each column may lie.
    domain : Domain or None
        Of this sample.
    common : Cell or None
        Relations between features.
    """

    features: Features
    weights: FloatArray
    center: FloatArray
    low: FloatArray
    high: FloatArray
    domain: Domain | None
    common: Cell | None

    @classmethod
    def of(cls, setting: Setting, ask: Ask, row: int) -> Space:
        """Return the space of one row of a question."""
        domain, here = ask.rules.domain, np.array([row])
        return cls(
            setting.features,
            setting.weights,
            ask.centers[row],
            ask.low[row],
            ask.high[row],
            None if domain is None else domain.take(here),
            setting.constraints.relation_cell(setting.features),
        )

    @cached_property
    def any_number(self) -> Space | None:
        """The same whatever the number of changes; None where that is not limited."""
        if self.domain is None or self.domain.max_changes is None:
            return None
        return replace(self, domain=replace(self.domain, max_changes=None))

    def cost(self, points: FloatArray) -> FloatArray:
        """Return the weighted L1 distances of points from the sample."""
        return distance(points, self.center[None], self.weights)

    @cached_property
    def numbers(self) -> IntArray:
        """The columns of numbers that may move."""
        plain = ~self.features.hidden
        for group in self.features.groups:
            plain[group] = False
        plain[list(self.features.marks.values())] = False
        return np.flatnonzero(plain & (self.low < self.high))

    @cached_property
    def categories(self) -> list[IntArray]:
        """The columns of each category that may change."""
        every = [
            self.features.columns_of(j)
            for j in range(len(self.features))
            if self.features.is_category(j)
        ]
        return [own for own in every if np.count_nonzero(self.high[own] >= 1) > 1]

    @cached_property
    def units(self) -> list[IntArray]:
        """The columns of all features that change together, unit by unit; most have one."""
        unit = self.features.owner if self.domain is None else self.domain.unit_of_column
        return [np.flatnonzero(unit == k) for k in np.unique(unit)]

    def allows(self, points: FloatArray) -> BoolArray:
        """Return which points obey the rules."""
        good = ((points >= self.low) & (points <= self.high)).all(axis=1)
        if self.domain is not None:
            many = self.domain.take(np.zeros(len(points), dtype=np.int64))
            good &= ~many.violation(points)
        if self.common is not None:
            good &= self.common.contains(points)
        return np.asarray(good)

    def fitted(self, points: FloatArray) -> FloatArray:
        """Return points with every column at a value that it may have, bins as they follow."""
        points = np.clip(points, self.low, self.high)
        for own in self.categories_all:
            odd = points[:, own].sum(axis=1) != 1
            points[np.ix_(odd, own)] = self.center[own]
        if self.domain is None:
            return points
        return self.domain.completed(self._on_steps(points))

    @cached_property
    def categories_all(self) -> list[IntArray]:
        """The columns of each category."""
        return [
            self.features.columns_of(j)
            for j in range(len(self.features))
            if self.features.is_category(j)
        ]

    def _on_steps(self, points: FloatArray) -> FloatArray:
        """Return points with numbers on their steps: those next to them, towards the sample."""
        domain = self.domain
        if domain is None or not len(domain.confined):
            return points
        j, rows = domain.confined, np.zeros(len(points), dtype=np.int64)
        values = points[:, j]
        below, above = domain.floor(j, values, rows), domain.ceil(j, values, rows)
        from_above = values > self.center[j]
        near, far = np.where(from_above, below, above), np.where(from_above, above, below)
        outside = (near < self.low[j]) | (near > self.high[j])
        points[:, j] = np.where(outside, far, near)
        return points

    def with_number(self, points: FloatArray, column: int, values: FloatArray) -> FloatArray:
        """Return points with one number set; it is then not missing."""
        points = points.copy()
        points[:, column] = values
        mark = self.features.marks.get(column)
        if mark is not None:
            points[:, mark] = np.where(values == self.center[column], self.center[mark], 0.0)
        return points

    def reset(self, points: FloatArray, columns: IntArray) -> FloatArray:
        """Return points with some columns as in the sample."""
        points = points.copy()
        points[:, columns] = self.center[columns]
        return points
