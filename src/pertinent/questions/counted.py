"""Fewest changes where values are discrete, or a region has no cells: the rules count.

`Constraints.max_changes` limits changes in the mixed-integer search, with the tree as proof. So
the fewest changes come from allowing 1, 2, 3, ... of them: the first number that leaves a point
is the smallest, the search in vain with one less proves it, and the point is the closest of its
size. Features that change together count as one.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np

from pertinent.answering.searching import SEARCH
from pertinent.geometry.arrays import IntArray
from pertinent.geometry.running import time_left, until
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Certified
from pertinent.setting.limits import allowing
from pertinent.setting.nearest.negative import nearest_contrast
from pertinent.setting.question import NegativeQuestion, Norm
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def counted_negatives(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    most: int,
) -> Negatives:
    """Return negatives by the number of changes, at most so many, then by cost.

    With a time limit the second half of the time is for samples that have no point by then: any
    number of changes will do.
    """
    half = monotonic() + time_left() / 2
    with until(half):
        first = allowing(setting, 1), table, labels, question
        negatives = nearest_contrast(SEARCH, *first, says_why=most == 1)
    # The number of changes of each sample, and how many are proved necessary.
    size, bound = np.full(len(table), np.nan), np.ones(len(table))
    proofs: list[Certified] = []
    for k in range(1, most + 1):
        status = negatives.status_code
        size[(status <= FEASIBLE) & np.isnan(size)] = k
        left = np.flatnonzero(np.isnan(size))
        # One more is proved necessary only where all below it are.
        none = left[(status[left] == INFEASIBLE) & (bound[left] == k)]
        bound[none] = k + 1
        proofs += [part.among(none, len(table)) for part in negatives.certificates]
        if not len(left) or k == most:
            break
        some, part = table.take(left), question.take(left)
        hurry = monotonic() > half
        with until(np.inf if hurry else half):
            allowed = most if hurry else k + 1
            more = allowing(setting, allowed), some, labels[left], part
            again = nearest_contrast(SEARCH, *more, says_why=allowed == most)
        negatives = negatives.overwritten(left, again)
        if hurry:
            size[left] = np.where(again.found, again.changed.sum(axis=1), np.nan)
            break
    # Not even all features, or as many as are allowed: there is no negative.
    none = np.isnan(size) & (negatives.status_code == INFEASIBLE)
    proved = none & (bound > most)
    status = np.where(none & ~proved, FAILED, negatives.status_code)
    reasons = negatives.reasons.copy()
    reasons[none & ~proved] = Reason(Why.NO_PROOF)
    status = np.where((status == OPTIMAL) & (bound < size), FEASIBLE, status)
    return replace(
        negatives,
        status_code=status.astype(np.int8),
        reasons=reasons,
        unique_code=np.full(len(table), -1, dtype=np.int8),
        objective=size,
        bound=np.where(proved, np.inf, np.fmin(bound, size)),
        closeness=negatives.objective,
        closeness_bound=negatives.bound,
        norm=Norm.L0,
        certificates=tuple(proofs),
        closeness_certificates=negatives.certificates,
    )
