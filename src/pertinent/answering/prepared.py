"""A model made ready: everything that does not depend on the row, computed once.

`Prepared` is where regions, projection and the model's own ``predict`` meet. Points are proposed
by projection, then judged: every point it returns went through ``predict`` in the form it is
handed out; a point that fails is solved again with a larger margin, and reported as failed if
that does not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pertinent.answering.proposing import Ask, Proposal, solve
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Answers, RowRules, replaced
from pertinent.setting.judge import (
    FEW,
    Handed,
    handed_out,
    predict_all,
    prefer_start,
    take_verdict,
    verify,
)
from pertinent.setting.setting import ModelRegions
from pertinent.tables.table import Table

#: A point that ``predict`` refuses is solved again with a margin this many times larger ...
GROWTH = 10.0
#: ... and at first only this many times in single precision, where margins cost what one sees ...
GROWTH_SINGLE, TRIES_SINGLE = 2.0, 4
#: ... at most this often, from a margin for all rows, or from the row's own.
RETRIES, LADDER = 7, 12


@dataclass(eq=False)
class Prepared(ModelRegions):
    """A model with its regions, features, weights and rules, ready to answer."""

    def nearest(
        self,
        table: Table,
        centers: FloatArray,
        kind: str,
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
        kind : {"is", "not"}
            Whether the point must be predicted as the label, or as any other.
        labels : ndarray of int, shape (n,)
        lower, upper : ndarray broadcastable to (n, n_features)
        changes : bool
            Whether the rules about how many features change, and which together, apply.
        """
        proposal = self.propose(table, centers, kind, labels, lower, upper, changes=changes)
        return self.judge([proposal])[0]

    def propose(
        self,
        table: Table,
        centers: FloatArray,
        kind: str,
        labels: IntArray,
        lower: FloatArray,
        upper: FloatArray,
        *,
        changes: bool = False,
    ) -> Proposal:
        """Return the nearest points of the regions, for `judge`; parameters as in `nearest`."""
        low = lower if lower.shape == centers.shape else np.broadcast_to(lower, centers.shape)
        high = upper if upper.shape == centers.shape else np.broadcast_to(upper, centers.shape)
        truths = table.booleans
        domain = self.constraints.domain(self.features, table.values, self.weights, truths, changes)
        ask = Ask(table, centers, kind, labels, low, high, RowRules(domain, changes))
        used = self.first_margins(table, centers, kind, labels)
        return Proposal(ask, used, solve(self, ask, used))

    def judge(self, proposals: Sequence[Proposal]) -> list[Answers]:
        """Return the answers that the model accepts; what it refuses is solved again."""
        verify(self, proposals)
        return [self._settled(proposal) for proposal in proposals]

    def judge_guessed(
        self, proposals: Sequence[Proposal], table: Table, labels: IntArray
    ) -> list[Answers] | None:
        """Return the same where the labels of the samples were guessed; None if one is wrong."""
        samples = Handed(np.arange(len(table)), proposals[-1].ask, table.values)
        handed = [handed_out(proposal) for proposal in proposals]
        own, *verdicts = predict_all(self, [samples, *handed])
        if not (own == labels).all():
            return None
        for proposal, points, verdict in zip(proposals, handed, verdicts, strict=True):
            take_verdict(self, proposal, points, verdict)
        return [self._settled(proposal) for proposal in proposals]

    def guess(self, table: Table) -> IntArray | None:
        """Return what a few samples are likely predicted as, by the regions; None if unclear.

        A call of ``predict`` costs a few rows more than all else. With a guess the samples can go
        to the model together with their answers: see `judge_guessed`.
        """
        asks_more = self.within is not None or self.min_proba is not None
        if len(table) > FEW // 8 or not table.takes_any_points or asks_more or self.features.fills:
            return None
        return self.by_regions(table.values)

    def doubt(self, table: Table, answers: Answers) -> None:
        """Claim nothing where the region does not hold the sample that the model says it does.

        A decomposition that keeps directions without variance may be weighed by 1e13: what the
        model predicts is then its own rounding, and proofs about its region prove nothing.
        """
        if not self.may_fold_badly:
            return
        rows = self.misplaced(table)
        answers.bound[rows], answers.unique[rows] = 0.0, -1
        answers.status[rows & (answers.status == OPTIMAL)] = FEASIBLE
        gone = rows & (answers.status == INFEASIBLE)
        answers.status[gone] = FAILED
        answers.reason[gone] = "the model's regions and its predict disagree on this very sample"

    def _settled(self, proposal: Proposal) -> Answers:
        """Solve what was refused again, with larger and larger margins."""
        answers, ask, used = proposal.answers, proposal.ask, proposal.used
        slowly = TRIES_SINGLE if ask.table.single_precision else 0
        for attempt in range(slowly + LADDER):
            wrong = (answers.status == FAILED).nonzero()[0]
            if not len(wrong):
                break
            growth = GROWTH_SINGLE if attempt < slowly else GROWTH
            used[wrong] *= growth
            some = ask.take(wrong)
            again = Proposal(some, used[wrong], solve(self, some, used[wrong]))
            verify(self, [again])
            answers = replaced(answers, wrong, again.answers)
        prefer_start(self, answers, ask, used)
        return answers
