"""What is claimed of negatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, IntArray
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX
from pertinent.geometry.task import distance
from pertinent.proofs import (
    FewestProofs,
)
from pertinent.setting.claims.shown import (
    ROUNDED,
    Asked,
    accepted,
    at_most,
    is_distance,
    stated,
    status_of,
)
from pertinent.setting.judge import Ledger
from pertinent.setting.limits import (
    allowing,
    counts_by_rules,
    negative_limits,
)
from pertinent.setting.question import NegativeQuestion, Norm
from pertinent.setting.recheck import (
    bounds_of,
    is_of_sets,
    recheck_few_changes,
    recheck_few_closeness,
    search_gap,
)
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def stated_negatives(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    found: Negatives,
    ledger: Ledger,
) -> Negatives:
    """Return negatives with what may be claimed of them.

    Parameters
    ----------
    setting : Setting
    table : Table
        Of n samples.
    labels : ndarray of int, shape (n,)
        What the samples are predicted as.
    question : NegativeQuestion
    found : Negatives
        As the search hands them out.
    ledger : Ledger
        The points that the judge accepted.
    """
    asked = Asked(setting, table.values, labels, ledger)
    found = found if found.table is table else replace(found, table=table)
    target = question.target
    kind, wanted = (Kind.NOT, labels) if target is None else (Kind.IS, target)
    limits = negative_limits(setting, found.table, question.untouched)
    good = accepted(asked, found, found.values, kind, wanted, limits)
    by_number = question.norm is Norm.L0
    claim = _few_negatives if by_number else _near_negatives
    return claim(asked, question, found, kind, wanted, good)


def _near_negatives(
    asked: Asked,
    question: NegativeQuestion,
    found: Negatives,
    kind: Kind,
    wanted: IntArray,
    good: BoolArray,
) -> Negatives:
    """Decide what is claimed of the smallest changes, by their distance."""
    setting, table, samples = asked.setting, found.table, found.table.values
    limits = negative_limits(setting, table, question.untouched)
    most = fewer_changes(setting, question)

    def of_sets(proofs: Any, rows: IntArray) -> bool:
        return _is_of_changes(proofs, "cost") and bool((proofs.size >= most).all())

    rules = setting
    if question.max_changes is not None and counts_by_rules(setting, table, kind, wanted):
        rules = allowing(setting, int(most))
    domain = rules.domain_of(table, changes=True)
    parts = asked.about(found.certificates, kind, wanted, is_distance)
    gap = asked.gaps(parts, domain is not None, len(samples))
    bound = bounds_of(rules, parts, samples, limits, domain)
    if question.max_changes is not None:
        sets = asked.about(found.certificates, kind, wanted, of_sets)
        whole = setting.domain_of(table, changes=False)
        np.maximum(bound, bounds_of(setting, sets, samples, limits, whole), out=bound)
        for part in sets:
            room = 4 * search_gap(setting.region(part.key, setting.asked_margin))
            gap[part.rows] = max(question.effort.gap, room, GAP_CONVEX)
    shown = asked.shown(found, found.values, samples, limits, bound, gap, found.bound)
    status = status_of(found, good, shown.closed, np.isinf(shown.bound))
    bound = at_most(found.bound, shown.bound, shown.size)
    numbers = {"bound": bound, "objective": shown.size}
    return stated(
        asked, found, status, good, closeness_bound=bound, closeness=shown.size, **numbers
    )


def _few_negatives(
    asked: Asked,
    question: NegativeQuestion,
    found: Negatives,
    kind: Kind,
    wanted: IntArray,
    good: BoolArray,
) -> Negatives:
    """Decide what is claimed of the changes of the fewest features."""
    setting, samples = asked.setting, found.table.values
    most = fewer_changes(setting, question)
    count = np.where(good, changes_of(setting, found), np.nan)
    size = distance(found.values, samples, setting.weights)

    def few(proofs: Any, rows: IntArray) -> bool:
        return _is_of_changes(proofs, "size") or is_distance(proofs, rows)

    def near(proofs: Any, rows: IntArray) -> bool:
        if not isinstance(proofs, FewestProofs):
            return is_distance(proofs, rows)
        # What is proved of sets of fewer features says nothing of those of as many.
        enough = ~(proofs.size < count[rows])
        return _is_of_changes(proofs, "cost") and bool(enough.all())

    told = replace(
        found,
        objective=count,
        certificates=asked.about(found.certificates, kind, wanted, few),
        closeness_certificates=asked.about(found.closeness_certificates, kind, wanted, near),
    )
    proved, close = recheck_few_changes(setting, told), recheck_few_closeness(setting, told)
    none = proved > most
    sets = is_of_sets(told.closeness_certificates)
    gaps = [GAP_NONCONVEX, question.effort.gap if sets else 0.0]
    regions = [setting.region(part.key, setting.asked_margin) for part in told.certificates]
    gap = max([*gaps, *(4 * search_gap(region) for region in regions if sets)])
    closed = (proved >= count) & (close >= size * (1 - gap) - ROUNDED)
    status = status_of(found, good, closed, none)
    return stated(
        asked,
        found,
        status,
        good,
        bound=at_most(found.bound, np.where(none, np.inf, proved), count),
        closeness_bound=at_most(found.closeness_bound, np.where(none, np.inf, close), size),
        objective=count,
        closeness=size,
    )


def fewer_changes(setting: Setting, question: NegativeQuestion) -> int:
    """Return how many features may change by the question and by the rules; at most all."""
    asked = (setting.constraints.max_changes, question.max_changes, len(setting.features))
    return min(most for most in asked if most is not None)


def changes_of(setting: Setting, negatives: Negatives) -> IntArray:
    """Return how many features each point changes; those that change together count as one."""
    different = setting.features.by_feature(negatives.values != negatives.table.values)
    for group in setting.constraints.together:
        places = setting.features.indices(group)
        different[:, places[0]] = different[:, places].any(axis=1)
        different[:, places[1:]] = False
    return np.asarray(different.sum(axis=1))


def _is_of_changes(proofs: Any, goal: str) -> bool:
    """Return whether proofs speak of all sets of features."""
    return (
        isinstance(proofs, FewestProofs)
        and proofs.goal == goal
        and not any(argument.listed for argument in proofs.arguments)
    )
