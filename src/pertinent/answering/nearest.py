"""The nearest points that the model predicts as asked: proposed, judged, solved again.

A solver proposes points; `pertinent.setting.judge` judges them in the form they are handed out. A
point that is refused is solved again with a larger margin, and reported as failed if that does not
help.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pertinent.answering.proposing import solve
from pertinent.answering.retry import TRIES_SINGLE, climb
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Answers, Ask, Proposal, RowRules, replaced
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.setting.verdicts import (
    FEW,
    Handed,
    handed_by,
    predict_all,
    prefer_start,
    take_verdict,
    verify,
)
from pertinent.tables.table import Table

#: How often a point that is refused is solved again.
TRIES = 12


def nearest(
    setting: Setting,
    table: Table,
    centers: FloatArray,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    changes: bool = False,
) -> Answers:
    """Return the nearest points to the centers that are predicted as asked.

    Parameters
    ----------
    table : Table
        Says in which form points are handed out and predicted.
    centers : ndarray of shape (n, n_features)
    kind : Kind
        Whether the point must be predicted as the label, or as any other.
    labels : ndarray of int, shape (n,)
    lower, upper : ndarray broadcastable to (n, n_features)
    changes : bool
        Whether the rules about how many features change, and which together, apply.
    """
    proposal = propose(setting, table, centers, kind, labels, lower, upper, changes=changes)
    return settled(setting, [proposal])[0]


def propose(
    setting: Setting,
    table: Table,
    centers: FloatArray,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    changes: bool = False,
) -> Proposal:
    """Return the nearest points of the regions, for `settled`; parameters as in `nearest`."""
    low = lower if lower.shape == centers.shape else np.broadcast_to(lower, centers.shape)
    high = upper if upper.shape == centers.shape else np.broadcast_to(upper, centers.shape)
    domain = setting.domain_of(table, changes=changes)
    ask = Ask(table, centers, kind, labels, low, high, RowRules(domain, changes))
    used = setting.first_margins(table, centers, kind, labels)
    return Proposal(ask, used, solve(setting, ask, used))


def settled(setting: Setting, proposals: Sequence[Proposal]) -> list[Answers]:
    """Return the answers that the model accepts; what it refuses is solved again."""
    verify(setting, proposals)
    return [_settled(setting, proposal) for proposal in proposals]


def settled_if_guessed(
    setting: Setting, proposals: Sequence[Proposal], table: Table, labels: IntArray
) -> list[Answers] | None:
    """Return the same where the labels of the samples were guessed; None if one is wrong."""
    samples = Handed(np.arange(len(table)), proposals[-1].ask, table.values)
    handed = [handed_by(proposal) for proposal in proposals]
    own, *verdicts = predict_all(setting, [samples, *handed])
    if not (own == labels).all():
        return None
    for proposal, points, verdict in zip(proposals, handed, verdicts, strict=True):
        take_verdict(setting, proposal, points, verdict)
    return [_settled(setting, proposal) for proposal in proposals]


def guess(setting: Setting, table: Table) -> IntArray | None:
    """Return what a few samples are likely predicted as, by the regions; None if unclear.

    A call of ``predict`` costs a few rows more than all else. With a guess the samples can go
    to the model together with their answers: see `settled_if_guessed`.
    """
    asks_more = setting.within is not None or setting.min_proba is not None
    if len(table) > FEW // 8 or not table.takes_any_points or asks_more or setting.features.fills:
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


def _settled(setting: Setting, proposal: Proposal) -> Answers:
    """Solve what was refused again, with larger and larger margins."""
    answers, ask, used = proposal.answers, proposal.ask, proposal.used

    def again(rows: IntArray, margins: FloatArray) -> IntArray:
        nonlocal answers
        some = ask.take(rows)
        redone = Proposal(some, margins, solve(setting, some, margins))
        verify(setting, [redone])
        answers = replaced(answers, rows, redone.answers)
        return np.asarray(rows[redone.answers.status == FAILED])

    refused = (answers.status == FAILED).nonzero()[0]
    if len(refused):
        slowly = TRIES_SINGLE if ask.table.single_precision else 0
        climb(refused, used, again, slowly + TRIES, slowly=slowly)
    prefer_start(setting, answers, ask, used)
    return answers
