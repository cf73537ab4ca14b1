"""One sample under a model whose classes are half-spaces: no batch to sort, nothing to look up.

A single row pays for every call, not for its numbers. What is asked, how it is judged and what is
proved are the same as in `pertinent.setting.nearest.flow`, to the bit; whatever is out of the
ordinary (no point, a refusal, a bound that does not close) is left to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray, Limits
from pertinent.geometry.gaps import GAP_CONVEX
from pertinent.geometry.pieces import lone_cell
from pertinent.geometry.region import Region
from pertinent.geometry.rounding import Rounding
from pertinent.geometry.task import Task, distance
from pertinent.proofs import Certificate
from pertinent.setting.answers import Answers, Ask, Certified, RowRules
from pertinent.setting.judge import judge
from pertinent.setting.limits import beyond_rules, cost_at_rest, held_limits, narrowed, turned_off
from pertinent.setting.margins import first_margins
from pertinent.setting.nearest.negative import negatives_from
from pertinent.setting.nearest.positive import positives_from
from pertinent.setting.nearest.search import Search
from pertinent.setting.nearest.verdicts import far_from_start
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.region_key import Is, Not, RegionKey
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

_FIRST = np.zeros(1, dtype=np.int64)
_PLAIN = RowRules()


@dataclass(frozen=True, eq=False)
class _Side:
    """The half-space where a class is predicted, or is not."""

    key: RegionKey
    region: Region
    rounding: Rounding

    @classmethod
    def of(cls, setting: Setting, key: RegionKey) -> _Side | None:
        """Return the side; None where the region is something else."""
        region, rounding = setting.region(key, 0.0), setting.rounding(key)
        cell = lone_cell(region)
        if cell is None or rounding is None or not cell.is_linear or cell.has_bounds:
            return None
        return cls(key, region, rounding) if len(cell.G) == 1 else None


@dataclass(frozen=True, eq=False)
class _Point:
    """A point that a search found, not yet judged."""

    side: _Side
    ask: Ask
    point: FloatArray
    certificate: Certificate
    used: FloatArray


def sides_of(setting: Setting) -> list[tuple[_Side, _Side]] | None:
    """Return where each class is predicted, and is not; None if anything else is asked for."""
    more = setting.within is not None or setting.min_proba is not None or setting.asked_margin > 0
    unusual = setting.options.unique is not None or setting.may_fold_badly
    if more or unusual or setting.features.fills:
        return None
    if setting.constraints.speaks_of_values or len(setting.classes) != 2:
        return None
    sides = [(_Side.of(setting, Is(k)), _Side.of(setting, Not(k))) for k in range(2)]
    known = [(own, other) for own, other in sides if own is not None and other is not None]
    return known if len(known) == 2 else None


def one_at_once(
    search: Search, setting: Setting, table: Table, question: PositiveQuestion
) -> tuple[Positives, Negatives] | None:
    """Return the positive and the negative of one sample; None if that takes more than looking."""
    sides = setting.kept("sides of one row", sides_of)
    plain = not question.off_tol and table.takes_any_points and not table.single_precision
    if sides is None or not plain or setting.domain_of(table, changes=True) is not None:
        return None
    labels = setting.by_regions(table.values)
    if labels is None:
        return None
    asking = _Asking(search, setting, table, labels)
    own, other = sides[int(labels[0])]
    allowed = setting.constraints.limits(setting.features, table)
    limits = narrowed(allowed, beyond_rules(setting, table, question))
    first = asking.nearest(own, question.baseline[None], limits)
    if first is None:
        return None
    held = turned_off(setting, first.point, question)
    second = asking.nearest(own, table.values, held_limits(setting, *limits, question, held))
    contrast = asking.nearest(other, table.values, allowed)
    if second is None or contrast is None:
        return None
    answers = asking.judged([first, second, contrast])
    if answers is None:
        return None
    sparse, close, found = answers
    spent = cost_at_rest(setting, question, table.values, held)
    return (
        positives_from(setting, table, labels, question, sparse, close, held, spent),
        negatives_from(setting, table, labels, found.label, found),
    )


@dataclass(frozen=True, eq=False)
class _Asking:
    """What is asked about one sample that is likely predicted as the label."""

    search: Search
    setting: Setting
    table: Table
    labels: IntArray

    def nearest(self, side: _Side, center: FloatArray, limits: Limits) -> _Point | None:
        """Return the nearest point to the center, with the margin that rounding needs."""
        used = first_margins(side.rounding, center, False, False)
        cell = lone_cell(self.setting.region(side.key, float(used[0])))
        if cell is None:
            return None
        found = self.search.look(Task(cell, center, self.setting.weights, *limits))
        if found is None:
            return None
        ask = Ask(self.table, center, side.key.kind, self.labels, *limits, _PLAIN)
        return _Point(side, ask, *found, used)

    def judged(self, points: list[_Point]) -> list[Answers] | None:
        """Return the answers; None unless all are accepted and proved."""
        asked = [self.table.values, *[one.point for one in points]]
        predicted = self.setting.predict(self.table, np.concatenate(asked))
        if self.setting.without_company(self.table, predicted[:1])[0] != self.labels[0]:
            return None
        answers = []
        for i, one in enumerate(points, start=1):
            answer = self._judged(one, predicted[i : i + 1])
            if answer is None:
                return None
            answers.append(answer)
        return answers

    def _judged(self, one: _Point, predicted: IntArray) -> Answers | None:
        setting, ask, side = self.setting, one.ask, one.side
        if not judge(setting, ask, one.point, predicted).valid[0]:
            return None
        cost = distance(one.point, ask.centers, setting.weights)
        task = Task(side.region, ask.centers, setting.weights, ask.low, ask.high)
        bound = one.certificate.bounds(task)
        closed = cost[0] - bound[0] <= GAP_CONVEX * cost[0]
        if not closed or not (cost[0] == 0 or far_from_start(setting, cost, one.used)[0]):
            return None
        status, unique = np.zeros(1, dtype=np.int8), np.ones(1, dtype=np.int8)
        none, proofs = np.empty(1, dtype=object), (Certified(side.key, _FIRST, one.certificate),)
        bound = np.fmin(bound, cost)
        return Answers(
            one.point, cost, bound, status, unique, predicted, none, {}, proofs, none.copy()
        )
