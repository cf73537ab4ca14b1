"""Exact positives (eq. 3): the fewest kept features, then the closest values."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import IntArray
from pertinent.questions.results import positives_by_number
from pertinent.questions.supports.batch import FewestAsk
from pertinent.questions.supports.fewest import fewest_features
from pertinent.questions.verify import doubted, refuse_blends
from pertinent.setting.limits import away_from_base, beyond_rules, positive_limits, resting
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def exact(
    setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion
) -> Positives:
    """Return the fewest features that keep the class, with the closest values of all such sets.

    Notes
    -----
    Eq. 3 of the paper, which its two-phase algorithm relaxes, in lexicographic order: first the
    number of features away from the baseline, then their weighted distance to the sample.
    """
    refuse_blends(setting, 'method="exact"')
    question = question.in_precision_of(table)
    samples = table.values
    limits = positive_limits(setting, table, question)
    lower, upper = (np.broadcast_to(limit, samples.shape) for limit in limits)
    ask = FewestAsk(
        Kind.IS,
        labels,
        np.broadcast_to(resting(setting, question), samples.shape),
        lower,
        upper,
        question.effort,
        question.alternatives,
        question.off_tol,
        own_values=True,
        beyond=beyond_rules(setting, table, question),
    )
    found = fewest_features(setting, table, ask)
    away = away_from_base(setting.features, found.points, question)
    positives = positives_by_number(
        setting,
        table,
        labels,
        question,
        Method.EXACT,
        found.points,
        setting.features.by_feature(away),
        found.status,
        found.size_bound,
        reasons=found.reason,
        unique=found.unique,
        certificates=found.certificates,
        closeness=found.cost,
        closeness_bound=found.cost_bound,
        closeness_certificates=found.cost_certificates,
        alternatives=found.alternatives,
    )
    return doubted(setting, positives)
