"""The row of a knapsack, and the numbers that a sample may take, as Python's own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import NamedTuple

import numpy as np

from pertinent.geometry.domain import Domain, Lattice
from pertinent.solvers.problem import Task


class Number(NamedTuple):
    """A number that the row speaks of: ``price = w_j / |g_j|``."""

    price: float
    column: int
    slope: float


class Grid(NamedTuple):
    """The steps of a column: ``(k * every + first) / factor * divisor`` for whole k."""

    factor: float
    divisor: float
    every: float
    first: float
    single: Lattice | None
    """The steps themselves, where the column is in single precision."""


@dataclass(frozen=True, eq=False)
class Row:
    """The row ``g'x <= h`` and what is the same for all samples.

    Parameters
    ----------
    slopes, weights : list of float
        ``g`` and ``w``, column by column.
    side : float
        ``h``.
    numbers : list of Number
        Those with a slope, the lowest price first.
    confined : list of int
        Columns that do not take every number: see `Domain.confined`.
    groups : list of list of int
        Columns of which one is 1.
    grids : list
        For each column its steps, or None.
    """

    slopes: list[float]
    weights: list[float]
    side: float
    numbers: list[Number]
    confined: list[int]
    groups: list[list[int]]
    grids: list[Grid | None]

    @classmethod
    def of(cls, task: Task, domain: Domain) -> Row:
        """Return the row of a task."""
        slopes, weights = task.cell.G[0].tolist(), task.weights.tolist()
        prices = {
            j: weights[j] / abs(slopes[j])
            for j in np.flatnonzero(~domain.in_group).tolist()
            if slopes[j] != 0
        }
        numbers = sorted([Number(p, j, slopes[j]) for j, p in prices.items() if isfinite(p)])
        grids: list[Grid | None] = [None] * domain.dim
        for j, steps in domain.steps.items():
            digits = float(steps.decimals)
            factor, divisor = 10.0 ** max(digits, 0.0), 10.0 ** max(-digits, 0.0)
            fine = steps if steps.single else None
            grids[j] = Grid(factor, divisor, float(steps.multiple), float(steps.offset), fine)
        groups = [group.tolist() for group in domain.groups]
        side = float(task.cell.h[0])
        return cls(slopes, weights, side, numbers, domain.confined.tolist(), groups, grids)

    @cached_property
    def group_of(self) -> dict[int, list[int]]:
        """The group of each column that is in one."""
        return {k: group for group in self.groups for k in group}

    @cached_property
    def is_confined(self) -> list[bool]:
        """Whether each column does not take every number."""
        confined = set(self.confined)
        return [j in confined for j in range(len(self.slopes))]

    @cached_property
    def number_of(self) -> dict[int, Number]:
        """The number of each column that has a slope."""
        return {number.column: number for number in self.numbers}

    def excess(self, x: list[float]) -> float:
        """Return ``g'x - h``."""
        return sum([g * a for g, a in zip(self.slopes, x, strict=True)]) - self.side

    def size(self, x: list[float]) -> float:
        """Return ``|g|'|x| + |h|``."""
        return sum([abs(g * a) for g, a in zip(self.slopes, x, strict=True)]) + abs(self.side)

    def cost(self, x: list[float], center: list[float]) -> float:
        """Return ``sum_j w_j |x_j - c_j|``."""
        return sum([w * abs(a - c) for w, a, c in zip(self.weights, x, center, strict=True)])


@dataclass(frozen=True, eq=False)
class Allowed:
    """The numbers that a sample may take: `Domain.floor` and `Domain.ceil`, one at a time."""

    row: Row
    own: list[float] | None
    gap: tuple[list[float], list[float]] | None

    @classmethod
    def of(cls, row: Row, domain: Domain, i: int) -> Allowed:
        """Return those of sample i."""
        own = None if domain.own is None else domain.own[i].tolist()
        gap = None if domain.gap is None else (domain.gap[0][i].tolist(), domain.gap[1][i].tolist())
        return cls(row, own, gap)

    def sides(self, column: int, value: float) -> tuple[float, float]:
        """Return the allowed numbers on both sides of a value; twice the value where it is one."""
        up = self.beside(column, value, up=True)
        return (value, value) if up == value else (self.beside(column, value, up=False), up)

    def beside(self, column: int, value: float, *, up: bool) -> float:
        """Return the nearest allowed number that is not below the value, or not above it."""
        point = self._on_steps(column, value, up)
        if self.own is None:
            return point
        own = self.own[column]
        if self.gap is not None:
            below, above = self.gap[0][column], self.gap[1][column]
            if below < point < above and point != own:
                # Between the own value and an end of the gap: on to whichever comes next.
                if (point > own) == up:
                    point = self._on_steps(column, above if up else below, up)
                else:
                    point = own
        if up:
            return min(point, own) if own >= value else point
        return max(point, own) if own <= value else point

    def _on_steps(self, column: int, value: float, up: bool) -> float:
        grid = self.row.grids[column]
        if grid is None or not isfinite(value):
            return value
        factor, divisor, every, first, single = grid
        if single is not None:
            one = np.array(value)
            return float(single.ceil(one) if up else single.floor(one))
        count = float(round((value * factor / divisor - first) / every))
        point = (count * every + first) / factor * divisor
        if point < value if up else point > value:
            point = ((count + (1.0 if up else -1.0)) * every + first) / factor * divisor
        return point
