"""Positives of a model of which nothing is known but its ``predict``: found, never proved."""

from __future__ import annotations

import numpy as np

from pertinent.answering.anything.asking import Asking
from pertinent.answering.anything.enough import Kept
from pertinent.answering.anything.space import Space
from pertinent.geometry.arrays import IntArray
from pertinent.proofs import FAILED, FEASIBLE
from pertinent.questions.results import positives_by_number
from pertinent.questions.supports.gains import strict_choices
from pertinent.setting.answers import Ask, RowRules
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import owner_of, strict_limits
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.results import UNKNOWN, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def kept_by_search(
    setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion
) -> Positives:
    """Return few features whose own values, the rest at the baseline, keep the class."""
    question = question.in_precision_of(table)
    limits = strict_limits(setting, table, question)
    low, high = (np.broadcast_to(side, table.values.shape) for side in limits)
    rest = question.baseline, low, high, question.off_tol
    choices = strict_choices(table.values, *rest, owner_of(setting))
    rules = RowRules(setting.domain_of(table, changes=False))
    ask = Ask(table, table.values, Kind.IS, labels, low, high, rules)
    rows = [
        Kept(Space.of(setting, ask, i), choices.rest[i], choices.forced[i], choices.barred[i])
        for i in range(len(table))
    ]
    asking = Asking(setting, table, Kind.IS, labels)
    asking.run([row.search() for row in rows])
    points = table.values.copy()  # all of a sample's values are enough
    for i, row in enumerate(rows):
        own = row.points(np.array(row.found[::-1])) if row.found else points[:0]
        points[i] = next((point for point in own if asking.holds(i, point)), points[i])
    judged = judge_points(setting, table, points, Kind.IS, labels, (low, high))
    good = judged.valid
    points = np.where(good[:, None], judged.points, np.nan)
    reasons = np.full(len(table), None, dtype=object)
    reasons[~good] = Reason(Why.NOT_FOUND)
    away = np.abs(points - question.baseline) > question.off_tol
    return positives_by_number(
        setting,
        table,
        labels,
        question,
        Method.STRICT,
        points,
        setting.features.by_feature(away),
        np.where(good, FEASIBLE, FAILED),
        np.zeros(len(table)),
        reasons=reasons,
        unique=np.full(len(table), UNKNOWN),
        certificates=(),
    )
