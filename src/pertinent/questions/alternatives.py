"""Several negatives for one sample: different sets of changed features, in order of cost.

The best point changes the features S. Any other set that does not contain S leaves at least one
feature of S alone, so the next best is the cheapest of |S| projections, each with one feature of
S frozen; and so on. Every branch is a projection with a bound of its own, so a set is proved next
best as soon as no open branch has a smaller bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.answering.searching import SEARCH
from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Limits
from pertinent.proofs import INFEASIBLE, OPTIMAL
from pertinent.questions.counted import counted_negatives
from pertinent.questions.tolerances import ALTERNATIVES_GAP
from pertinent.setting.answers import Answers, Certified
from pertinent.setting.nearest.flow import nearest
from pertinent.setting.question import NegativeQuestion
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Alternative, LeftAlone, Negatives
from pertinent.setting.setting import Setting
from pertinent.solvers.search.engine import BestFirst, Ranked, search
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class _Branches(Ranked):
    """The best points of samples with some features frozen; the rank is their cost."""

    frozen: BoolArray
    points: FloatArray
    changed: BoolArray
    bound: FloatArray
    status: CodeArray
    label: IntArray


def further_contrasts(
    setting: Setting,
    table: Table,
    negatives: Negatives,
    kind: Kind,
    labels: IntArray,
    limits: Limits,
    count: int,
    with_proofs: bool = False,
) -> tuple[tuple[Alternative, ...], ...]:
    """Return up to ``count`` further sets of changed features for each sample.

    Parameters
    ----------
    setting : Setting
    table : Table
    negatives : Negatives
        The best answers.
    kind, labels, limits
        What they were asked with, see `pertinent.setting.nearest.flow`.
    count : int
    with_proofs : bool
        Whether to keep the proofs of the order.
    """
    contrasts = _Contrasts(setting, table, kind, labels, limits, count)
    contrasts.with_proofs = with_proofs
    return _listed(contrasts, negatives, negatives.objective)


def further_counts(
    setting: Setting,
    table: Table,
    labels: IntArray,
    negatives: Negatives,
    question: NegativeQuestion,
    most: int,
) -> tuple[tuple[Alternative, ...], ...]:
    """Return further sets of changed features, those of few features first.

    Parameters
    ----------
    setting, table, labels, question, most
        As in `counted_negatives`.
    negatives : Negatives
        What that returned.
    """
    counts = _Counts(setting, table, labels, question, most)
    return _listed(counts, negatives, _by_count(negatives))


def _by_count(negatives: Negatives) -> FloatArray:
    """Return numbers that are in the order of the count of changes, then of their size."""
    return np.asarray(negatives.objective + negatives.closeness / (1.0 + negatives.closeness))


def _listed(
    contrasts: _Contrasts, negatives: Negatives, rank: FloatArray
) -> tuple[tuple[Alternative, ...], ...]:
    """Return what is found beside the best answers, of which ``rank`` is the order."""
    first = _Branches(
        np.arange(len(negatives)),
        rank,
        np.zeros(negatives.changed.shape, dtype=bool),
        negatives.values,
        negatives.changed,
        negatives.bound,
        negatives.status_code,
        negatives.target_place,
    )
    search(contrasts, first.take(negatives.found))
    return tuple(tuple(found[: contrasts.count]) for found in contrasts.found)


class _Contrasts(BestFirst[_Branches]):
    """The search of all samples: the cheapest open branch of each is next."""

    with_proofs = False

    def __init__(
        self,
        setting: Setting,
        table: Table,
        kind: Kind,
        labels: IntArray,
        limits: Limits,
        count: int,
    ) -> None:
        self.setting, self.table, self.kind, self.labels = setting, table, kind, labels
        self.limits, self.count, n = limits, count, len(table)
        #: Of each sample: the sets listed so far (the first is the best), the sets frozen so far,
        #: the answers, and whether every branch has a point or a proof that there is none; and the
        #: proofs of all branches since the last answer.
        self.listed: list[list[BoolArray]] = [[] for _ in range(n)]
        self.seen: list[set[bytes]] = [set() for _ in range(n)]
        self.found: list[list[Alternative]] = [[] for _ in range(n)]
        self.sure = np.ones(n, dtype=bool)
        self.why: list[list[LeftAlone]] = [[] for _ in range(n)]

    def kept(self, waiting: _Branches) -> _Branches:
        """Return the branches of samples that have not enough sets yet."""
        enough = [len(self.listed[i]) > self.count for i in waiting.row]
        return waiting.take(~np.array(enough, dtype=bool))

    def pick(self, waiting: _Branches) -> tuple[_Branches, _Branches]:
        """Return the cheapest branch of each sample, and all others."""
        chosen, self.others = super().pick(waiting)
        return chosen, self.others

    def solve(self, row: IntArray, frozen: BoolArray) -> _Branches:
        """Return the branches of some samples, each with features frozen."""
        some, features = self.table.take(row), self.setting.features
        held, samples = features.by_column(frozen), some.values
        low, high = (limit[row] for limit in self.limits)
        low = np.where(held, np.maximum(low, samples), low)
        high = np.where(held, np.minimum(high, samples), high)
        asked = some, samples, self.kind, self.labels[row], low, high
        found = nearest(SEARCH, self.setting, *asked, changes=True, says_why=False)
        if self.with_proofs:
            self._keep_proofs(row, frozen, found)
        changed = features.by_feature(found.points != samples)
        told = found.points, changed, found.bound, found.status, found.label
        return _Branches(row, found.objective, frozen, *told)

    def _keep_proofs(self, row: IntArray, frozen: BoolArray, found: Answers) -> None:
        """Note the proof of each branch, for whoever checks the order of the sets."""
        for part in found.certificates:
            for place, k in enumerate(part.rows.tolist()):
                certificate = part.certificate.take(np.array([place]))
                own = Certified(part.key, np.array([0]), certificate)
                self.why[row[k]].append(LeftAlone(frozen[k], own))

    def advance(self, chosen: _Branches) -> _Branches:
        """List the sets of branches, and return the branches with one more feature frozen."""
        todo = [(i, one) for k, i in enumerate(chosen.row) for one in self._next(chosen, k, int(i))]
        if not todo:
            return chosen.take(np.zeros(0, dtype=np.int64))
        fresh = self.solve(np.array([i for i, _ in todo]), np.array([mask for _, mask in todo]))
        found = np.isfinite(fresh.rank)
        self.sure[fresh.row[~found & (fresh.status != INFEASIBLE)]] = False
        return fresh.take(found)

    def _next(self, chosen: _Branches, k: int, i: int) -> list[BoolArray]:
        """List what a branch changes, unless that contains a listed set; return what to freeze."""
        changed = chosen.changed[k]
        inside = next((t for t in self.listed[i] if (t <= changed).all()), None)
        if inside is None:
            self._list(chosen, k, i)
            inside = changed
        out = []
        for j in np.flatnonzero(inside):
            frozen = chosen.frozen[k].copy()
            frozen[j] = True
            if frozen.tobytes() not in self.seen[i]:
                self.seen[i].add(frozen.tobytes())
                out.append(frozen)
        return out

    def _list(self, chosen: _Branches, k: int, i: int) -> None:
        cost, changed = float(chosen.rank[k]), chosen.changed[k]
        if self.listed[i]:
            others = self.others.bound[self.others.row == i].min(initial=np.inf)
            sure = self.sure[i] and chosen.status[k] == OPTIMAL
            proved = bool(sure and cost * (1 - ALTERNATIVES_GAP) <= others)
            label = int(chosen.label[k])
            why = tuple(self.why[i])
            one = Alternative(changed, chosen.points[k], cost, cost, proved, label, why)
            self.found[i].append(one)
            self.why[i].clear()
        self.listed[i].append(changed)


class _Counts(_Contrasts):
    """The same where the number of changes comes first: nothing is proved of the order."""

    def __init__(
        self,
        setting: Setting,
        table: Table,
        labels: IntArray,
        question: NegativeQuestion,
        most: int,
    ) -> None:
        kind = Kind.NOT if question.target is None else Kind.IS
        limits = table.values, table.values  # the question itself has them
        super().__init__(setting, table, kind, labels, limits, question.alternatives)
        self.question, self.most = question, most

    def solve(self, row: IntArray, frozen: BoolArray) -> _Branches:
        """Return the branches of some samples, each with features frozen."""
        part = self.question.take(row)
        held = frozen if part.untouched is None else frozen | part.untouched
        asked = self.labels[row], replace(part, untouched=held), self.most
        found = counted_negatives(self.setting, self.table.take(row), *asked)
        told = found.values, found.changed, found.bound, found.status_code, found.target_place
        return _Branches(row, _by_count(found), frozen, *told)

    def _list(self, chosen: _Branches, k: int, i: int) -> None:
        changed = chosen.changed[k]
        if self.listed[i]:
            count, label = float(changed.sum()), int(chosen.label[k])
            one = Alternative(changed, chosen.points[k], count, count, False, label)
            self.found[i].append(one)
        self.listed[i].append(changed)
