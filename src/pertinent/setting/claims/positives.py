"""What is claimed of positives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.proofs import (
    FewestProofs,
    StrictProofs,
)
from pertinent.proofs.core import NoProofs
from pertinent.proofs.supports.sufficient import RivalSetProofs, SufficientProofs
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
    owner_of,
    positive_limits,
    strict_limits,
    sufficient_limits,
)
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.recheck import (
    holds_whatever,
    recheck_exact_positives,
    search_gap,
)
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def stated_positives(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    method: Method,
    found: Positives,
    ledger: Ledger,
) -> Positives:
    """Return strict, exact or sufficient positives with what may be claimed of them.

    Parameters as in `stated_negatives`.
    """
    asked = Asked(setting, table.values, labels, ledger)
    question = question.in_precision_of(table)
    if found.table is not table or found.method != method:
        found = replace(found, table=table, method=method)
    return _few_positives(asked, question, found)


def _few_positives(asked: Asked, question: PositiveQuestion, found: Positives) -> Positives:
    """Decide what is claimed of the methods "strict", "exact" and "sufficient"."""
    setting, table, method = asked.setting, found.table, found.method
    samples, usual = table.values, positive_limits(setting, table, question)
    limits = strict_limits(setting, table, question) if method is Method.STRICT else usual
    if found.fallback.any():
        low, high = (
            np.where(found.fallback[:, None], *both) for both in zip(usual, limits, strict=True)
        )
        limits = low, high
    good = accepted(asked, found, found.values, Kind.IS, asked.labels, limits)
    kept = found.kept & good[:, None]
    if method is not Method.SUFFICIENT:
        away = np.abs(found.values - question.baseline) > question.off_tol
        kept = setting.features.by_feature(away) & good[:, None]
    count = np.where(good, kept.sum(axis=1).astype(float), np.nan)
    on = setting.features.by_column(kept)
    near = distance(np.where(on, found.values, samples), samples, setting.weights)
    if method is Method.SUFFICIENT:
        good &= _suffices(asked, question, found, kept)

    def few(proofs: Any, rows: IntArray) -> bool:
        return _is_of_kept(setting, question, method, proofs, "size", count[rows])

    def close(proofs: Any, rows: IntArray) -> bool:
        return _is_of_kept(setting, question, method, proofs, "cost", count[rows])

    kinds = (Kind.IS, Kind.NOT) if method is Method.SUFFICIENT else (Kind.IS,)
    told = replace(
        found,
        certificates=tuple(
            part
            for kind in kinds
            for part in asked.about(found.certificates, kind, asked.labels, few)
        ),
        closeness_certificates=asked.about(
            found.closeness_certificates, Kind.IS, asked.labels, close
        ),
    )
    proved, cost = recheck_exact_positives(setting, question, told)
    closed = (proved >= count) & ~found.fallback
    own = ((found.values == samples) | ~on).all(axis=1)
    if method is Method.EXACT:
        regions = [setting.region(part.key, setting.asked_margin) for part in told.certificates]
        gap = max([question.effort.gap, *(4 * search_gap(region) for region in regions)])
        closed &= cost >= near * (1 - gap) - ROUNDED
    else:
        closed &= own
    status = status_of(found, good, closed, np.isinf(proved))
    proved = np.where(found.fallback, 0.0, proved)
    return stated(
        asked,
        found,
        status,
        good,
        bound=at_most(found.bound, proved, count),
        closeness_bound=at_most(found.closeness_bound, cost, near),
        objective=count,
        closeness=np.where(found.fallback | ~good, found.closeness, near),
    )


def _suffices(
    asked: Asked, question: PositiveQuestion, found: Positives, kept: BoolArray
) -> BoolArray:
    """Return where it is shown that kept values give the class whatever the others are."""
    setting, table = asked.setting, found.table
    why = asked.about(found.closeness_certificates, Kind.NOT, asked.labels, is_distance)
    lower, upper = sufficient_limits(setting, table, question)
    out = np.zeros(len(table), dtype=bool)
    for k in np.unique(asked.labels):
        rows = np.flatnonzero(asked.labels == k)
        limits = lower[rows], upper[rows]
        some = [part.expand(rows) for part in why if part.key.place == k]
        out[rows], _ = holds_whatever(setting, int(k), table.take(rows), kept[rows], limits, some)
    return out


def _is_of_kept(
    setting: Setting,
    question: PositiveQuestion,
    method: Method,
    proofs: Any,
    goal: str,
    count: FloatArray,
) -> bool:
    """Return whether proofs speak of all sets of kept features, with this baseline."""
    if isinstance(proofs, NoProofs):
        return True
    if method is Method.SUFFICIENT:
        return isinstance(proofs, SufficientProofs | RivalSetProofs)
    if method is Method.STRICT:
        owner, own = getattr(proofs, "owner", None), owner_of(setting)
        grouped = owner is own if own is None or owner is None else np.array_equal(owner, own)
        return (
            isinstance(proofs, StrictProofs)
            and not proofs.listed
            and np.array_equal(proofs.baseline, question.baseline)
            and proofs.off_tol == question.off_tol
            and grouped
        )
    if not isinstance(proofs, FewestProofs) or any(a.listed for a in proofs.arguments):
        return False
    enough = goal == "size" or not (proofs.size < count).any()
    return proofs.goal == goal and enough
