"""A model made ready: everything that does not depend on the row, computed once.

`Prepared` is where regions, projection and the model's own ``predict`` meet. Points are proposed
by projection, then judged: every point it returns went through ``predict`` in the form it is
handed out; a point that fails is solved again with a larger margin, and reported as failed if
that does not help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pertinent._typing import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.answers import (
    Answers,
    Certified,
    RowRules,
    blank,
    into_bounds,
    merged,
    replaced,
)
from pertinent.certificate import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.certificate._check import (
    GAP_CONVEX,
    GAP_NONCONVEX,
    is_closed,
    rounding_unit,
)
from pertinent.conflicts import why_infeasible
from pertinent.model_regions import ModelRegions
from pertinent.plausibility import Hulls
from pertinent.plausibility.conflict import why_implausible
from pertinent.plausibility.hull import Blend
from pertinent.plausibility.judge import is_dense, nearest_blends
from pertinent.projection import Projections, project
from pertinent.projection.problem import distance
from pertinent.regions import Region
from pertinent.rulecheck import broken_rules
from pertinent.tables import Table

#: A point that ``predict`` refuses is solved again with a margin this many times larger ...
GROWTH = 10.0
#: ... and at first only this many times in single precision, where margins cost what one sees ...
GROWTH_SINGLE, TRIES_SINGLE = 2.0, 4
#: ... at most this often, from a margin for all rows, or from the row's own.
RETRIES, LADDER = 7, 12
#: Up to this many points of several questions are predicted in one call: a call costs more.
FEW = 256


@dataclass(frozen=True, eq=False)
class Ask:
    """One batch of questions: see `Prepared.nearest`."""

    table: Table
    centers: FloatArray
    kind: str
    labels: IntArray
    low: FloatArray
    high: FloatArray
    rules: RowRules

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def is_aligned(self) -> bool:
        """Whether each question belongs to a sample of the table."""
        return len(self.table) == len(self.centers)

    def take(self, rows: IntArray) -> Ask:
        """Return some of the questions."""
        return Ask(
            self.table.take(rows) if self.is_aligned else self.table,
            self.centers[rows],
            self.kind,
            self.labels[rows],
            self.low[rows],
            self.high[rows],
            self.rules.take(rows),
        )


@dataclass(frozen=True, eq=False)
class Proposal:
    """Points for a batch of questions, not yet judged by the model.

    ``used`` is the margin that each was solved with, ``answers.gap`` what counts as closed.
    """

    ask: Ask
    used: FloatArray
    answers: Answers


@dataclass(frozen=True, eq=False)
class _Handed:
    """The points of a proposal as they will be handed out; ``rows`` are those that have one."""

    rows: IntArray
    ask: Ask
    points: FloatArray


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
        if len(truths):
            low, high = low.copy(), high.copy()
            low[:, truths] = np.maximum(low[:, truths], 0.0)
            high[:, truths] = np.minimum(high[:, truths], 1.0)
        ask = Ask(table, centers, kind, labels, low, high, RowRules(domain, changes))
        used = self.first_margins(table, centers, kind, labels)
        return Proposal(ask, used, self._solve(ask, used))

    def judge(self, proposals: Sequence[Proposal]) -> list[Answers]:
        """Return the answers that the model accepts; what it refuses is solved again."""
        self._verify(proposals)
        return [self._settled(proposal) for proposal in proposals]

    def judge_guessed(
        self, proposals: Sequence[Proposal], table: Table, labels: IntArray
    ) -> list[Answers] | None:
        """Return the same where the labels of the samples were guessed; None if one is wrong."""
        samples = _Handed(np.arange(len(table)), proposals[-1].ask, table.values)
        handed = [self._handed(proposal) for proposal in proposals]
        own, *verdicts = self._predict_all([samples, *handed])
        if not (own == labels).all():
            return None
        for proposal, points, verdict in zip(proposals, handed, verdicts, strict=True):
            self._take_verdict(proposal, points, verdict)
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

    # Solving ----------------------------------------------------------------------------------

    def _solve(self, ask: Ask, used: FloatArray) -> Answers:
        """Solve the rows, those of the same class and margin together."""
        if not len(ask):
            return blank(ask.centers)
        k, margin = ask.labels[0], used[0]
        if len(ask) == 1 or ((ask.labels == k).all() and (used == margin).all()):
            return self._solve_alike(ask, int(k), float(margin))
        parts = [
            (rows, self._solve_alike(self._part(ask, rows), label, value))
            for label, value, rows in _alike(ask.labels, used)
        ]
        return merged(ask.centers, parts)

    def _part(self, ask: Ask, rows: IntArray) -> Ask:
        """Return some of the questions, their samples only where solving looks at them."""
        if isinstance(self.within, Hulls):
            return ask.take(rows)
        low, high = ask.low[rows], ask.high[rows]
        labels, rules = ask.labels[rows], ask.rules.take(rows)
        return Ask(ask.table, ask.centers[rows], ask.kind, labels, low, high, rules)

    def _solve_alike(self, ask: Ask, k: int, used: float) -> Answers:
        """Solve with the margin ``used``; bounds and status speak of the margin asked for."""
        region, owner = self.region(ask.kind, k, used)
        asked, n = self.asked_margin, len(ask)
        wide = region if used == asked else self.region(ask.kind, k, asked)[0]
        blends: dict[int, Blend] = {}
        if isinstance(self.within, Hulls):
            found, bound, status, blends = self._blended(ask, region, owner, wide)
        else:
            found = project(
                ask.centers,
                region,
                self.weights,
                ask.low,
                ask.high,
                self.options,
                domain=ask.rules.domain,
                proved_on=wide,
            )
            bound, status = found.bound, found.status
        convex = region.is_convex and ask.rules.domain is None
        gap = np.full(n, GAP_CONVEX if convex else GAP_NONCONVEX)
        # A bound that only repeats a solver's word proves nothing: no gap counts as closed.
        trusted = found.certificate.trusted()
        if not trusted.all():
            gap[~trusted] = -1.0
            status = np.where(trusted | (status != OPTIMAL), status, FEASIBLE).astype(np.int8)
        label = owner[found.piece] if len(owner) else np.full(n, -1)
        certified = Certified((ask.kind, k), np.arange(n), found.certificate)
        reasons, blend = np.empty((2, n), dtype=object)
        for i, own in blends.items():
            blend[i] = own
        if (status > FEASIBLE).any():
            label = np.where(found.piece < 0, -1, label)
            self._give_reasons(reasons, found, region, ask, k)
        return Answers(
            points=found.points,
            objective=found.objective,
            bound=bound,
            status=status,
            unique=found.unique,
            label=label,
            reason=reasons,
            second=found.second,
            certificates=(certified,),
            blend=blend,
            gap=gap,
        )

    def _blended(
        self, ask: Ask, region: Region, owner: IntArray, wide: Region
    ) -> tuple[Projections, FloatArray, CodeArray, dict[int, Blend]]:
        """Return projections onto blends of training points, with bounds and statuses."""
        assert isinstance(self.within, Hulls)
        args = (ask.centers, ask.low, ask.high)
        samples = ask.table.values
        found, blends = nearest_blends(self.within, samples, region, owner, self.weights, args)
        bound = found.certificate.bounds(wide, args[0], self.weights, args[1], args[2])
        # Nothing inside the tightened region does not mean nothing at all.
        gone = (found.status == INFEASIBLE) & np.isfinite(bound)
        status = np.where(gone, FAILED, found.status)
        has = np.flatnonzero(found.status <= FEASIBLE)
        points = found.points[has]
        cost = found.objective[has] = distance(points, args[0][has], self.weights)
        closed = is_closed(cost, bound[has], points, args[0][has], self.weights, GAP_CONVEX)
        status[has] = np.where(closed, OPTIMAL, FEASIBLE)
        bound[has] = np.minimum(bound[has], cost)
        return found, bound, status, blends

    def _give_reasons(
        self, reasons: FloatArray, found: Projections, region: Region, ask: Ask, k: int
    ) -> None:
        near = ask.table.values if isinstance(self.within, Hulls) else ask.centers
        for i in np.flatnonzero(found.status == INFEASIBLE):
            proof, key = found.certificate.take(np.array([i])), (ask.kind, k)
            limits = ask.low[i], ask.high[i]
            if self.within is not None:
                margin = self.asked_margin
                reasons[i] = why_implausible(self, key, proof, near[i], *limits, margin)
                continue
            words = self.asked(key)
            reasons[i] = why_infeasible(
                proof, region, *limits, words, self.features, self.constraints
            )
        for i in np.flatnonzero(found.status == FAILED):
            reasons[i] = "the solvers gave neither a point nor a proof that none exists"

    # Judging ----------------------------------------------------------------------------------

    def _verify(self, proposals: Sequence[Proposal]) -> None:
        """Cast points to the form handed out, and let the model and the rules judge them."""
        handed = [self._handed(proposal) for proposal in proposals]
        for proposal, own, predicted in zip(
            proposals, handed, self._predict_all(handed), strict=True
        ):
            self._take_verdict(proposal, own, predicted)

    @staticmethod
    def _handed(proposal: Proposal) -> _Handed:
        ask, answers = proposal.ask, proposal.answers
        rows, points = answers.found.nonzero()[0], answers.points
        if len(rows) < len(ask):
            ask, points = ask.take(rows), points[rows]
        single = ask.table.single_precision
        points = into_bounds(ask.table.as_handed_out(points), ask.low, ask.high, single)
        return _Handed(rows, ask, points)

    def _predict_all(self, handed: Sequence[_Handed]) -> Iterator[IntArray]:
        """Yield the predictions of each, from one call where they are few."""
        table, sizes = handed[0].ask.table, [len(h.points) for h in handed]
        if len(handed) == 1 or sum(sizes) > FEW or not table.takes_any_points:
            yield from (self.predict(h.ask.table, h.points) for h in handed)
            return
        predicted = self.predict(table, np.concatenate([h.points for h in handed]))
        start = 0
        for size in sizes:
            yield predicted[start : start + size]
            start += size

    def _take_verdict(self, proposal: Proposal, handed: _Handed, predicted: IntArray) -> None:
        """Note what the model and the rules say of the points; refused ones are dropped."""
        out, rows, ask, points = proposal.answers, handed.rows, handed.ask, handed.points
        some = slice(None) if len(rows) == len(out) else rows
        valid = (predicted == ask.labels) if ask.kind == "is" else (predicted != ask.labels)
        if self.min_proba is not None and len(points):
            proba = np.asarray(self.model.predict_proba(ask.table.for_model(points)))
            valid &= proba[np.arange(len(points)), predicted] >= self.min_proba
        valid &= self.is_steady(
            ask.kind,
            ask.labels,
            points,
            out.objective[some],
            proposal.used[some],
            ask.table.single_precision,
        )
        inside = np.asarray(((points >= ask.low) & (points <= ask.high)).all(axis=1))
        out.label[some] = predicted
        if points is not out.points:
            self._restate(out, some, ask, points)
        good = valid & inside
        if self.within is not None:
            good &= is_dense(self.within, predicted, points)
        if not good.all():
            for j in np.flatnonzero(~good):
                judge = "the density asked for" if valid[j] and inside[j] else "the model's predict"
                used = proposal.used[rows[j]]
                words = f"the point found does not pass {judge}, even with a margin of {used:g}"
                _drop(out, rows[j], words)
        if self.constraints.speaks_of_values:
            self._refuse_broken(out, handed)

    def _restate(self, out: Answers, some: slice | IntArray, ask: Ask, points: FloatArray) -> None:
        """Say of points as they are handed out what was said of them as they were solved for."""
        cost, bound = distance(points, ask.centers, self.weights), out.bound[some]
        unit = rounding_unit(ask.table.single_precision, points.shape[1])
        closed = is_closed(cost, bound, points, ask.centers, self.weights, out.gap[some], unit)
        out.points[some], out.objective[some] = points, cost
        out.status[some] = np.where(closed, OPTIMAL, FEASIBLE)
        out.bound[some] = np.minimum(bound, cost)

    def _refuse_broken(self, out: Answers, handed: _Handed) -> None:
        """Let the rules judge the points value by value, in raw units."""
        ask, table = handed.ask, handed.ask.table
        for words, wrong in broken_rules(
            self.constraints,
            self.features,
            table.raw(handed.points),
            table.raw(table.values) if ask.is_aligned else None,
            changes=ask.rules.changes,
            single=table.single_precision,
        ):
            for i in handed.rows[wrong]:
                _drop(out, i, f"the point found breaks a rule: {words}")

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
            again = Proposal(some, used[wrong], self._solve(some, used[wrong]))
            self._verify([again])
            answers = replaced(answers, wrong, again.answers)
        self._prefer_start(answers, ask, used)
        return answers

    def _prefer_start(self, answers: Answers, ask: Ask, used: FloatArray) -> None:
        """Answer with the start itself where only the margin keeps it out.

        The point of the bounds nearest to the center cannot be undercut. If it lies exactly on
        the boundary and ``predict`` gives it the class asked for, it is the answer. Not if rounding
        alone decides: ``predict`` may then say otherwise in other company.
        """
        if ask.rules.domain is not None or self.within is not None or self.min_proba is not None:
            return
        if self.asked_margin > 0:
            return
        # A margin is a distance in the units of the model's features; NaN where no point is.
        near = answers.objective <= 100 * self._largest_weight * used
        rows = ((near & (answers.objective > 0)) | ~answers.found).nonzero()[0]
        if not len(rows):
            return
        rows = rows[(ask.low[rows] <= ask.high[rows]).all(axis=1)]
        if not len(rows):
            return
        some = ask.take(rows)
        start = np.clip(some.centers, some.low, some.high)
        handed = into_bounds(
            ask.table.as_handed_out(start), some.low, some.high, ask.table.single_precision
        )
        predicted = self.predict(some.table, handed)
        right = (predicted == some.labels) if ask.kind == "is" else (predicted != some.labels)
        right &= ((handed >= some.low) & (handed <= some.high)).all(axis=1)
        right &= self._related(handed)
        exact = self.is_exact(ask.kind, some.labels, handed)
        single = ask.table.single_precision
        right &= exact | self.is_sure(ask.kind, some.labels, handed, single)
        right &= ~answers.found[rows] | exact
        for j in np.flatnonzero(right):
            i = rows[j]
            answers.points[i], answers.label[i] = handed[j], predicted[j]
            answers.objective[i] = answers.bound[i] = distance(
                handed[j : j + 1], ask.centers[i : i + 1], self.weights
            )[0]
            answers.status[i], answers.unique[i], answers.reason[i] = OPTIMAL, 1, None
            answers.second.pop(int(i), None)

    def _related(self, points: FloatArray) -> BoolArray:
        related = self.constraints.relation_cell(self.features)
        if related is None:
            return np.ones(len(points), dtype=bool)
        return related.contains(points)


def _alike(labels: IntArray, used: FloatArray) -> Iterator[tuple[int, float, IntArray]]:
    """Yield each class and margin with its rows."""
    for k in np.unique(labels):
        own = np.flatnonzero(labels == k)
        for margin in np.unique(used[own]):
            yield int(k), float(margin), own[used[own] == margin]


def _drop(out: Answers, i: int, words: str) -> None:
    """Take a point back."""
    out.points[i], out.objective[i], out.status[i] = np.nan, np.nan, FAILED
    out.unique[i], out.label[i], out.blend[i], out.reason[i] = -1, -1, None, words
