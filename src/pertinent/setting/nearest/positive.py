"""Pertinent positives: the fewest features, close to their values, that keep the prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.density.measure import by_sample, measure
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.running import is_late
from pertinent.geometry.task import distance
from pertinent.proofs import FAILED, FEASIBLE
from pertinent.setting.answers import Answers, blank, claimed_unique
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import (
    SecondPhase,
    away_from_base,
    beyond_rules,
    cost_at_rest,
    held_limits,
    positive_limits,
    second_phases,
    turned_off,
)
from pertinent.setting.nearest.flow import answered, doubt, nearest, propose
from pertinent.setting.nearest.search import Search
from pertinent.setting.nearest.verdicts import Proposal
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(eq=False)
class PositiveProposal:
    """Both phases solved, not yet judged; the second trusts the first.

    ``place`` is the row of phase 1 for each sample: where its range is the same for everyone,
    its answer depends on the class alone and is solved once a class.
    """

    search: Search
    setting: Setting
    table: Table
    labels: IntArray
    question: PositiveQuestion
    lower: FloatArray
    upper: FloatArray
    first: Proposal
    place: IntArray | None
    held: BoolArray
    second: Proposal | None

    @property
    def proposals(self) -> list[Proposal]:
        """Those of the phases that are already solved."""
        return [self.first] if self.second is None else [self.first, self.second]

    def judged(self, sparse: Answers, close: Answers | None = None) -> Positives:
        """Return the positives, from both phases as the model accepts them."""
        sparse = sparse if self.place is None else sparse.take(self.place)
        doubt(self.setting, self.table, sparse)
        _fall_back_on_the_sample(self, sparse)
        off = turned_off(self.setting, sparse.points, self.question)
        held = off & sparse.found[:, None]
        # Phase 2 sees of phase 1 only what it turned off: it stands unless that has changed.
        changed = held != self.held
        rows = np.zeros(0, dtype=np.int64)
        if np.count_nonzero(changed):
            rows = changed.any(axis=1).nonzero()[0]
        if close is None:
            close, rows = blank(self.table.values), np.arange(len(held))
        spent = cost_at_rest(self.setting, self.question, self.table.values, held)
        if is_late():  # phase 1's points answer
            close.put(rows, blank(self.table.values[rows]))
        elif len(rows):
            low, high = (b[rows] if len(b) > 1 else b for b in (self.lower, self.upper))
            asked = self.question, self.table.values[rows], (low, high), held[rows]
            for part in second_phases(self.setting, *asked):
                here = rows[part.rows]
                close.put(here, self._second_phase(here, part))
                spent[here] = part.spent
        return positives_from(
            self.setting, self.table, self.labels, self.question, sparse, close, off, spent
        )

    def _second_phase(self, rows: IntArray, part: SecondPhase) -> Answers:
        some, labels = self.table.take(rows), self.labels[rows]
        asked = some, part.centers, Kind.IS, labels, *part.limits
        return nearest(self.search, part.setting, *asked, says_why=False)


def two_phase(
    search: Search, setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion
) -> Positives:
    """Return the paper's positives (algorithm 1) for a batch of samples predicted as ``labels``.

    Phase 1 (eq. 5) projects the baseline onto the region of the predicted class: few features
    leave it. Phase 2 (eq. 6) holds the others at the baseline and projects the sample.
    """
    proposal = propose_positives(search, setting, table, labels, question)
    return proposal.judged(*answered(search, setting, proposal.proposals))


def propose_positives(
    search: Search,
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    allowed: Limits | None = None,
) -> PositiveProposal:
    """Return both phases of `two_phase`, for the model to judge.

    ``allowed`` is what the constraints allow, where it is known already.
    """
    question = question.in_precision_of(table)
    lower, upper = positive_limits(setting, table, question, allowed)
    first, place = _phase_one(search, setting, table, labels, lower, upper, question)
    points, found = first.points, first.cost < np.inf
    if place is not None:
        points, found = points[place], found[place]
    held = turned_off(setting, points, question) & found[:, None]
    second = None
    if not question.off_tol and not is_late():
        low, high = held_limits(setting, lower, upper, question, held)
        asked = table, table.values, Kind.IS, labels, low, high
        second = propose(search, setting, *asked, says_why=False)
    return PositiveProposal(
        search, setting, table, labels, question, lower, upper, first, place, held, second
    )


def _phase_one(
    search: Search,
    setting: Setting,
    table: Table,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    question: PositiveQuestion,
) -> tuple[Proposal, IntArray | None]:
    if len(lower) > 1 or len(labels) <= 1 or by_sample(setting.within):
        centers = question.baseline[None]
        if len(labels) != 1:
            centers = np.broadcast_to(centers, table.values.shape)
        asked = table, centers, Kind.IS, labels, lower, upper
        return propose(search, setting, *asked, beyond=beyond_rules(setting, table, question)), None
    # The same range for everyone: the answer depends on the class alone.
    classes, first, place = np.unique(labels, return_index=True, return_inverse=True)
    table = table.take(first)  # one sample of each class: questions and samples stay aligned
    centers = np.broadcast_to(question.baseline, (len(classes), len(question.baseline)))
    return propose(search, setting, table, centers, Kind.IS, classes, lower, upper), place


def _fall_back_on_the_sample(proposal: PositiveProposal, sparse: Answers) -> None:
    """Answer with the sample where the solvers gave up: it has its own class, proved or not."""
    setting, question = proposal.setting, proposal.question
    rows = (sparse.status == FAILED).nonzero()[0]
    if not len(rows) or setting.asked_margin > 0:
        return
    table, labels = proposal.table.take(rows), proposal.labels[rows]
    shape = proposal.table.values.shape
    limits = tuple(np.broadcast_to(b, shape)[rows] for b in (proposal.lower, proposal.upper))
    good = judge_points(setting, table, table.values, Kind.IS, labels, limits).valid
    rows, samples = rows[good], table.values[good]
    sparse.points[rows] = samples
    sparse.objective[rows] = distance(samples, question.baseline, setting.weights)
    sparse.status[rows], sparse.reason[rows] = FEASIBLE, None


def positives_from(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    sparse: Answers,
    close: Answers,
    off: BoolArray,
    spent: FloatArray,
) -> Positives:
    """Return the positives, from what both phases found, what is off, and what that costs."""
    samples, weights = table.values, setting.weights
    # Phase 1's point is valid as it stands: it answers where phase 2 has numerical trouble.
    found = sparse.found
    use = close.found & found
    points = close.points
    # Eq. 8 leaves out the features that are held, and so does its bound.
    closeness_bound = np.maximum(close.bound - spent, 0.0)
    status = np.maximum(sparse.status, close.status)  # optimal where both phases are
    if np.count_nonzero(use) < len(use):
        points = np.where(use[:, None], close.points, sparse.points)
        closeness_bound = np.where(use, closeness_bound, 0.0)
        status = np.where(found, np.minimum(status, FEASIBLE), sparse.status)
    closeness = distance(points, samples, weights, only=~off)
    unique = claimed_unique(np.where(sparse.unique == 1, close.unique, sparse.unique), status)
    if question.off_tol:
        unique[unique == 1] = -1  # what is off may move at no cost
    second = {i: p for i, p in close.second.items() if unique[i] == 0}
    second.update({i: p for i, p in sparse.second.items() if sparse.unique[i] == 0})
    on = away_from_base(setting.features, points, question)
    kept = setting.features.by_feature(on)  # nothing where the point is NaN
    log_density, threshold, percentile = measure(setting.within, labels, points)
    return Positives(
        table=table,
        classes=setting.classes,
        values=points,
        status_code=status,
        reasons=sparse.reason,
        unique_code=unique,
        label=labels,
        objective=sparse.objective,
        bound=sparse.bound,
        second=second,
        sparse_values=sparse.points,
        closeness=closeness,
        closeness_bound=np.fmin(closeness_bound, closeness),
        kept=kept,
        trivial=found & (sparse.objective == 0),
        baseline=question.baseline,
        certificates=sparse.certificates,
        closeness_certificates=close.certificates,
        log_density=log_density,
        density_threshold=threshold,
        density_percentile=percentile,
        blend=np.where(use, close.blend, sparse.blend) if by_sample(setting.within) else None,
    )
