"""Exact positives (eq. 3): the fewest kept features, then the closest values."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import IntArray
from pertinent.questions.supports.fewest import Ask, fewest_features
from pertinent.questions.verify import doubted, refuse_blends
from pertinent.setting.limits import positive_limits
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def exact(
    prepared: Setting, table: Table, labels: IntArray, question: PositiveQuestion
) -> Positives:
    """Return the fewest features that keep the class, with the closest values of all such sets.

    Notes
    -----
    Eq. 3 of the paper, which its two-phase algorithm relaxes, in lexicographic order: first the
    number of features away from the baseline, then their weighted distance to the sample.
    """
    refuse_blends(prepared, 'method="exact"')
    question = question.in_precision_of(table)
    samples = table.values
    limits = positive_limits(prepared, table, question)
    lower, upper = (np.broadcast_to(limit, samples.shape) for limit in limits)
    ask = Ask(
        Kind.IS,
        labels,
        np.broadcast_to(question.baseline, samples.shape),
        lower,
        upper,
        question.effort,
        question.alternatives,
        question.off_tol,
        own_values=True,
    )
    found = fewest_features(prepared, table, ask)
    away = np.abs(found.points - question.baseline) > question.off_tol
    kept = found.found[:, None] & prepared.features.by_feature(away)
    size = np.where(found.found, kept.sum(axis=1).astype(float), np.nan)
    positives = Positives(
        table=table,
        classes=prepared.classes,
        values=found.points,
        status_code=found.status.astype(np.int8),
        reasons=found.reason,
        unique_code=found.unique,
        label=labels,
        objective=size,
        bound=np.where(found.found, np.fmin(found.size_bound, size), found.size_bound),
        second={},
        sparse_values=found.points,
        closeness=found.cost,
        closeness_bound=found.cost_bound,
        kept=kept,
        trivial=found.found & (size == 0),
        baseline=question.baseline,
        certificates=found.certificates,
        closeness_certificates=found.cost_certificates,
        method="exact",
        alternatives=found.alternatives,
    )
    return doubted(prepared, positives)
