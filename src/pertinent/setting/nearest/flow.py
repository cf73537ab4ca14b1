"""The nearest points that the model predicts as asked: found, judged, solved again.

A point that is refused is solved again with a larger margin, a row without a point with a smaller
one; what that does not help is reported as failed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Answers, Ask, RowRules, blank
from pertinent.setting.claims.unique import decide_only
from pertinent.setting.nearest.ladder import TRIES_SINGLE, climb
from pertinent.setting.nearest.search import Search
from pertinent.setting.nearest.verdicts import (
    PREDICTED_TOGETHER,
    Proposal,
    predict_all,
    prefer_start,
    proposal,
    verdict,
)
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: How often a point that is refused is solved again; and where it only helps to say why there is
#: none, e.g. without a rule that keeps features from going 1e20 of their spreads away.
TRIES, FEW_TRIES = 12, 3


def nearest(
    search: Search,
    setting: Setting,
    table: Table,
    centers: FloatArray,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    changes: bool = False,
    says_why: bool = True,
    beyond: Limits | None = None,
    tries: int = TRIES,
) -> Answers:
    """Return the nearest points to the centers that are predicted as asked.

    Parameters
    ----------
    search : Search
    setting : Setting
    table : Table
        Says in which form points are handed out and predicted.
    centers : ndarray of shape (n, n_features)
    kind : Kind
        Whether the point must be predicted as the label, or as any other.
    labels : ndarray of int, shape (n,)
    lower, upper : ndarray broadcastable to (n, n_features)
    changes : bool
        Whether the rules about how many features change, and which together, apply.
    says_why : bool
        Whether anybody wants to know why there is no point.
    beyond : tuple of ndarray broadcastable to (n, n_features), or None
        What the question allows beyond the rules; None: everything.
    tries : int
        How often points that are refused are solved again.
    """
    where = table, centers, kind, labels, lower, upper
    asked = propose(search, setting, *where, changes=changes, says_why=says_why, beyond=beyond)
    return answered(search, setting, [asked], tries)[0]


def propose(
    search: Search,
    setting: Setting,
    table: Table,
    centers: FloatArray,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    changes: bool = False,
    says_why: bool = True,
    beyond: Limits | None = None,
) -> Proposal:
    """Return the points that a search finds, for `answered`; parameters as in `nearest`."""
    low = lower if lower.shape == centers.shape else np.broadcast_to(lower, centers.shape)
    high = upper if upper.shape == centers.shape else np.broadcast_to(upper, centers.shape)
    domain = setting.domain_of(table, changes=changes)
    ask = Ask(table, centers, kind, labels, low, high, RowRules(domain, changes), beyond, says_why)
    used = setting.first_margins(table, centers, kind, labels, domain)
    return proposal(search, setting, ask, used)


def answered(
    search: Search, setting: Setting, proposals: Sequence[Proposal], tries: int = TRIES
) -> list[Answers]:
    """Return the answers that the model accepts; what it refuses is solved again."""
    predicted = predict_all(setting, _given(proposals))
    return [
        _settled(search, setting, proposed, own, tries)
        for proposed, own in zip(proposals, predicted, strict=True)
    ]


def answered_if_guessed(
    search: Search, setting: Setting, proposals: Sequence[Proposal], table: Table, labels: IntArray
) -> list[Answers] | None:
    """Return the same where the labels of the samples were guessed; None if one is wrong."""
    own, *predicted = predict_all(setting, [(table, table.values), *_given(proposals)])
    if np.count_nonzero(setting.without_company(table, own) == labels) < len(labels):
        return None
    return [
        _settled(search, setting, proposed, own)
        for proposed, own in zip(proposals, predicted, strict=True)
    ]


def _given(proposals: Sequence[Proposal]) -> list[tuple[Table, FloatArray]]:
    """Return the points that there are, with the samples that they are for."""
    given = (proposed.given for proposed in proposals)
    return [(ask.table, points) for ask, points in given]


def guess(setting: Setting, table: Table) -> IntArray | None:
    """Return what a few samples are likely predicted as, by the regions; None if unclear.

    A call of ``predict`` costs a few rows more than all else. With a guess the samples can go
    to the model together with their answers: see `answered_if_guessed`.
    """
    asks_more = setting.within is not None or setting.min_proba is not None
    together = table.takes_any_points or len(table) == 1
    if len(table) > PREDICTED_TOGETHER // 8 or not together or asks_more or setting.features.fills:
        return None
    return setting.by_regions(table.values)


def doubt(setting: Setting, table: Table, answers: Answers) -> None:
    """Claim nothing where the region does not hold the sample that the model says it does.

    A decomposition that keeps directions without variance may be weighed by 1e13: what the
    model predicts is then its own rounding, and proofs about its region prove nothing.
    """
    if not setting.may_fold_badly:
        return
    rows = setting.misplaced(table)
    answers.bound[rows], answers.unique[rows] = 0.0, -1
    answers.status[rows & (answers.status == OPTIMAL)] = FEASIBLE
    gone = rows & (answers.status == INFEASIBLE)
    answers.status[gone] = FAILED
    answers.reason[gone] = Reason(Why.MISPLACED)


def _settled(
    search: Search,
    setting: Setting,
    proposed: Proposal,
    predicted: IntArray,
    tries: int = TRIES,
) -> Answers:
    """Judge the points, and solve what is refused again with other margins."""
    ask, used = proposed.ask, proposed.used
    if not len(ask):
        return blank(ask.centers)
    answers = verdict(search, setting, proposed, predicted)

    def again(rows: IntArray, margins: FloatArray) -> IntArray:
        nonlocal answers
        redone = verdict(search, setting, proposal(search, setting, ask.take(rows), margins))
        answers.put(rows, redone)
        return np.asarray(rows[redone.status == FAILED])

    def nothing(rows: IntArray) -> BoolArray:
        return np.array([answers.reason[i].kind is Why.NO_PROOF for i in rows], dtype=bool)

    refused = (answers.status == FAILED).nonzero()[0]
    if len(refused) and not setting.by_search:  # a search knows no margins
        slowly = TRIES_SINGLE if ask.table.single_precision else 0
        least = setting.needed_margins(
            ask.table, ask.centers, ask.kind, ask.labels, ask.rules.domain
        )
        climb(refused, used, again, slowly + tries, least=least, slowly=slowly, nothing=nothing)
    prefer_start(setting, answers, ask, used)
    if setting.options.unique:
        decide_only(setting, ask, answers)
    return answers
