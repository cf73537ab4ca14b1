"""A case of a knapsack: a box, and its relaxation.

At its start each number and each group of categories costs as little as it can; ``g'x`` is then too
large by the *need*. *Steps* meet it:

    a number    from its start to the end of its box,  gain |g_j| room,  price w_j / |g_j| a unit;
    a group     from one category to the next on the lower hull of the points (g_k, cost_k).

The relaxation takes steps in the order of their prices, the last one in part. The price of the last
is the multiplier of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from operator import itemgetter
from typing import NamedTuple

from pertinent.solvers.search.knapsack.row import Allowed, Row
from pertinent.solvers.tolerances import CASE_RAY_ROUNDING

_PRICE = itemgetter(0)


class Step(NamedTuple):
    """What meets a part of the need: ``column`` goes to ``end``, or takes over from another."""

    price: float
    gain: float
    column: int
    end: float
    given_up: int = -1  #: the category before; -1 for a number


class Case(NamedTuple):
    """A box with its start.

    Parameters
    ----------
    lower, upper, start : list of float
    steps : list of Step
        In the order of their prices.
    unsettled : list of int
        Columns whose start is not allowed.
    """

    lower: list[float]
    upper: list[float]
    start: list[float]
    steps: list[Step]
    unsettled: list[int]


class Relaxed(NamedTuple):
    """A relaxed point; the steps up to the last were taken, that one perhaps in part."""

    bound: float
    multiplier: float
    point: list[float]
    taken: list[Step]
    divides: bool  #: whether a group was left between two categories


@dataclass(frozen=True, eq=False)
class Sample:
    """What is asked of one sample: the row, the center, and the allowed numbers."""

    row: Row
    center: list[float]
    allowed: Allowed
    _hulls: dict[tuple[int, ...], tuple[int, list[Step]]] = field(default_factory=dict)

    @cached_property
    def category_costs(self) -> dict[int, float]:
        """What it costs more that a category is the one of its group, not none."""
        w, c = self.row.weights, self.center
        return {k: w[k] * (abs(1.0 - c[k]) - abs(c[k])) for k in self.row.group_of}

    def whole(self, lower: list[float], upper: list[float]) -> Case:
        """Return the first case, of narrowed bounds."""
        case = Case(lower, upper, [0.0] * len(lower), [], [])
        for j in range(len(lower)):
            if j not in self.row.group_of:
                self._place_number(case, j)
        for group in self.row.groups:
            self._place_group(case, group)
        case.steps.sort(key=_PRICE)
        return case

    def below(self, case: Case, column: int, low: float) -> Case | None:
        """Return the part of a case with ``x[column] <= low``; None if it is empty."""
        upper = case.upper.copy()
        upper[column] = low
        return self._part(case, column, case.lower, upper)

    def above(self, case: Case, column: int, high: float) -> Case | None:
        """Return the part of a case with ``x[column] >= high``; None if it is empty."""
        lower, upper = case.lower.copy(), case.upper
        lower[column] = high
        if column in self.row.group_of:
            upper = upper.copy()
            for k in self.row.group_of[column]:
                upper[k] = float(k == column)
        return self._part(case, column, lower, upper)

    def _part(self, case: Case, column: int, lower: list[float], upper: list[float]) -> Case | None:
        """Return a case in which only the column, or its group, differs from another."""
        group = self.row.group_of.get(column)
        touched = (column,) if group is None else group
        steps = [step for step in case.steps if step.column not in touched]
        unsettled = [j for j in case.unsettled if j != column]
        part = Case(lower, upper, case.start.copy(), steps, unsettled)
        if group is None:
            if lower[column] > upper[column]:
                return None
            self._place_number(part, column)
        else:
            if not any([upper[k] >= 1 for k in group]):
                return None
            self._place_group(part, group)
        steps.sort(key=_PRICE)
        return part

    def _place_number(self, case: Case, j: int) -> None:
        """Put a number to its start, with the step from there."""
        low, high = case.lower[j], case.upper[j]
        case.start[j] = start = min(max(self.center[j], low), high)
        number = self.row.number_of.get(j)
        if number is not None:
            end = low if number.slope > 0 else high
            if end != start:
                gain = abs(number.slope) * abs(end - start)
                case.steps.append(Step(number.price, gain, j, end))
        if self.row.is_confined[j] and self.allowed.beside(j, start, up=True) != start:
            case.unsettled.append(j)

    def _place_group(self, case: Case, group: list[int]) -> None:
        """Put a group to its cheapest category, with the steps from there."""
        first, steps = self._hull(tuple([k for k in group if case.upper[k] >= 1]))
        for k in group:
            case.start[k] = float(k == first)
        case.steps.extend(steps)

    def _hull(self, can: tuple[int, ...]) -> tuple[int, list[Step]]:
        """Return the cheapest of some categories, and the steps from it down the hull."""
        if can not in self._hulls:
            slope, cost = self.row.slopes, self.category_costs
            first = at = min(can, key=lambda k: (cost[k], slope[k], k))
            steps = []
            while lower := [k for k in can if slope[k] < slope[at]]:
                price, _, k = min(
                    [((cost[k] - cost[at]) / (slope[at] - slope[k]), slope[k], k) for k in lower]
                )
                steps.append(Step(price, slope[at] - slope[k], k, 1.0, at))
                at = k
            self._hulls[can] = first, steps
        return self._hulls[can]

    def relaxed(self, case: Case) -> Relaxed:
        """Take steps in the order of their prices until the need is met."""
        row, x = self.row, case.start.copy()
        need, bound, multiplier, count = row.excess(x), row.cost(x, self.center), 0.0, 0
        if need <= 0:
            return Relaxed(bound, 0.0, x, [], False)
        for count, (price, gain, j, end, given_up) in enumerate(case.steps, start=1):
            multiplier = price
            if need < gain:
                bound += price * need
                if given_up >= 0:
                    x[j], x[given_up] = need / gain, 1.0 - need / gain
                else:
                    x[j] -= need / row.slopes[j]
                return Relaxed(bound, price, x, case.steps[:count], given_up >= 0)
            bound, need, x[j] = bound + price * gain, need - gain, end
            if given_up >= 0:
                x[given_up] = 0.0
            if need <= 0:
                break
        if need > CASE_RAY_ROUNDING * row.size(x):
            bound, multiplier = inf, 1.0
        return Relaxed(bound, multiplier, x, case.steps[:count], False)
