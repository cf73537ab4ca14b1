"""One batch on its way from sets of features to checked answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pertinent.answering.searching import SEARCH
from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Limits
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import cells_of, pieces_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE
from pertinent.questions.supports.closed_forms import best_boxes, boxes_of, one_at_most
from pertinent.questions.supports.gains import Choices, ranged_choices, strict_choices
from pertinent.questions.supports.pool import Best, Pool, SampleSearch
from pertinent.questions.supports.smallest import RegionPiece, Supports, smallest_supports
from pertinent.questions.tolerances import FEWEST_RETRIES, HINT_ROOM
from pertinent.setting.answers import Answers, Certified
from pertinent.setting.effort import Effort
from pertinent.setting.limits import discrete_domain
from pertinent.setting.margins import CLOSED
from pertinent.setting.nearest.flow import nearest
from pertinent.setting.nearest.ladder import climb
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.setting.results import Alternative
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class FewestAsk:
    """What is asked for a batch.

    Parameters
    ----------
    kind : Kind
    labels : ndarray of int, shape (n,)
        As in `pertinent.setting.nearest.flow`.
    rest : ndarray of shape (n, n_features)
        Value of a feature that is off.
    lower, upper : ndarray of shape (n, n_features)
    effort : Effort
    alternatives : int
    off_tol : float
    at_most : int, optional
        Allow this many features and minimise the cost alone.
    own_values : bool
        Features may stand at the sample's own value, at no cost (positives).
    beyond : tuple of ndarray of shape (n, n_features), or None
        What the question allows beyond the rules; None: everything.
    """

    kind: Kind
    labels: IntArray
    rest: FloatArray
    lower: FloatArray
    upper: FloatArray
    effort: Effort = field(default_factory=Effort)
    alternatives: int = 0
    off_tol: float = 0.0
    at_most: int | None = None
    own_values: bool = False
    beyond: Limits | None = None


@dataclass(eq=False)
class Fewest:
    """Answers for a batch: points that passed predict, and what is proved about them."""

    points: FloatArray
    cost: FloatArray
    size_bound: FloatArray
    cost_bound: FloatArray
    status: IntArray
    label: IntArray
    reason: NDArray[np.object_]
    alternatives: tuple[tuple[Alternative, ...], ...]
    unique: CodeArray
    certificates: tuple[Certified, ...]
    cost_certificates: tuple[Certified, ...]

    @property
    def found(self) -> BoolArray:
        """Whether there is a point."""
        return np.asarray(self.status <= FEASIBLE)


class Batch:
    """One batch on its way from supports to checked answers."""

    def __init__(self, setting: Setting, table: Table, ask: FewestAsk) -> None:
        self.setting, self.table, self.ask = setting, table, ask
        self.samples = table.values
        n, d = self.samples.shape
        self.margin = setting.asked_margin
        self.domain = discrete_domain(setting, table)
        self.mask = np.zeros((n, len(setting.features)), dtype=bool)
        self.have = np.zeros(n, dtype=bool)
        self.claim = np.zeros(n)
        self.value = np.zeros(n)
        self.searches: dict[int, SampleSearch] = {}
        self.hints: dict[int, Best] = {}
        self.out = Fewest(
            points=np.full((n, d), np.nan),
            cost=np.full(n, np.nan),
            size_bound=np.zeros(n),
            cost_bound=np.zeros(n),
            status=np.full(n, FAILED),
            label=np.full(n, -1),
            reason=np.full(n, None, dtype=object),
            alternatives=(),
            unique=np.full(n, -1, dtype=np.int8),
            certificates=(),
            cost_certificates=(),
        )

    def solve(self) -> None:
        """Find a support of each sample, and the closest point that it holds."""
        everyone = np.arange(len(self.samples))
        for k, rows in self.by_label(everyone):
            self._supports(rows, self.region(k))
        self._fill(np.flatnonzero(self.have), first=True)
        self._again()
        self._without_support(np.flatnonzero(~self.have))

    def region(self, k: int, margin: float | None = None) -> Region:
        """Return the region asked for, at the margin asked for unless another is given."""
        key = RegionKey(self.ask.kind, k)
        return self.setting.region(key, self.margin if margin is None else margin)

    def pieces(self, k: int, margin: float | None = None) -> Sequence[Cell | Region]:
        """Return the pieces of that region: sets of features are searched piece by piece."""
        return pieces_of(self.region(k, margin))

    def by_label(self, rows: IntArray) -> list[tuple[int, IntArray]]:
        """Return each class asked for, with those of the samples that ask for it."""
        labels = self.ask.labels[rows]
        return [(int(k), rows[labels == k]) for k in np.unique(labels)]

    def choices(self, rows: IntArray) -> Choices:
        """Return which features of some samples may be on, and where."""
        ask = self.ask
        limits = ask.rest[rows], ask.lower[rows], ask.upper[rows]
        return ranged_choices(*limits, ask.off_tol, self.domain_of(rows))

    def columns(self, mask: BoolArray) -> BoolArray:
        """Return the columns of features."""
        return self.setting.features.by_column(mask)

    def changed(self, row: int, point: FloatArray) -> BoolArray:
        """Return which features of a point do not rest."""
        if self.domain is None:
            return np.asarray(point != self.ask.rest[row])
        rest = self.ask.rest[[row]]
        away = np.abs(point - np.vstack([rest, self.table.as_handed_out(rest)])).min(axis=0)
        away = away > self.ask.off_tol
        return np.asarray(self.setting.features.by_feature(away[None])[0])

    def domain_of(self, rows: IntArray) -> Domain | None:
        """Return which values are allowed to some samples; None where any number is."""
        return None if self.domain is None else self.domain.take(rows)

    def task(self, region: Cell | Region, rows: IntArray) -> Task:
        """Return what proofs about some samples are checked against."""
        ask, domain = self.ask, self.domain_of(rows)
        task = Task(region, self.samples, self.setting.weights, ask.lower, ask.upper)
        task = replace(task, rest=ask.rest, off_tol=ask.off_tol).take(rows)
        return replace(task, domain=domain)

    # Supports ---------------------------------------------------------------------------------

    def _supports(self, rows: IntArray, region: Region) -> None:
        """Find supports at the margin asked for: the cheap ways first."""
        boxes = boxes_of(region) if self.domain is None else None
        if boxes is not None:
            args = (self.samples[rows], self.setting.weights, self.ask.at_most)
            mask, found = best_boxes(boxes, self.choices(rows), *args)
            self._take(rows, found, mask)
            return
        left, pieces = np.ones(len(rows), dtype=bool), pieces_of(region)
        cells = cells_of(region) if self.domain is None and self.ask.at_most is None else None
        if cells is not None:
            left = self._cheap(rows, cells, self.choices(rows))
        for j in np.flatnonzero(left):
            if is_over():
                break
            self._search(int(rows[j]), pieces, self.margin)

    def _cheap(self, rows: IntArray, cells: Sequence[Cell], choices: Choices) -> BoolArray:
        """Answer by closed forms where they apply; return which samples are left."""
        mask, found = one_at_most(cells, choices, self.samples[rows], self.setting.weights)
        self._take(rows, found, mask)
        left = ~found
        if self.ask.own_values and left.any():
            least = np.full(len(rows), np.inf)
            for cell in cells:
                if is_over():
                    return left
                np.minimum(least, RegionPiece(cell, choices).least, out=least)
            own = self._strict(rows, cells)
            # As few as the bound, at the sample's own values: nothing is smaller or closer.
            size = own.mask.sum(axis=1)
            done = left & own.found & (size <= least)
            self._take(rows, done, own.mask)
            left &= ~done
        return left

    def _strict(self, rows: IntArray, cells: Sequence[Cell]) -> Supports:
        ask = self.ask
        choices = strict_choices(
            self.samples[rows], ask.rest[rows], ask.lower[rows], ask.upper[rows], ask.off_tol
        )
        return smallest_supports(cells, choices, ask.effort.budget(len(rows)))

    def _take(self, rows: IntArray, found: BoolArray, mask: BoolArray) -> None:
        mine = rows[found]
        self.mask[mine], self.have[mine] = mask[found], True
        self.claim[mine] = mask[found].sum(axis=1) if self.ask.at_most is None else 0.0

    def _search(self, row: int, pieces: Sequence[Cell | Region], margin: float) -> None:
        search = self.begin(row, pieces)
        size = self.ask.at_most
        best = self.best(search, 0)
        if margin == self.margin:
            self.searches[row] = search
            self.claim[row] = search.proved_size if size is None else 0.0
            if best is None and size is not None and not search.stopped:
                self.claim[row], self.value[row] = size + 1.0, np.inf
            if best is not None and not search.stopped:
                self.value[row] = best.cost * (1 - 2 * search.gap)
        if best is not None:
            self.mask[row], self.have[row], self.hints[row] = best.mask, True, best

    def begin(self, row: int, pieces: Sequence[Cell | Region]) -> SampleSearch:
        """Return a fresh search for one sample."""
        options = replace(self.setting.options, unique=False)
        choices, center = self.choices(np.array([row])), self.samples[row]
        weights = self.setting.weights
        pools = list[Pool]()
        while len(pools) < len(pieces) and not (pools and is_over()):
            pools.append(Pool(pieces[len(pools)], choices, center, weights, options))
        search = SampleSearch(pools, self.ask.effort.budget())
        search.stopped = len(pools) < len(pieces)
        return search

    def best(self, search: SampleSearch, start: int) -> Best | None:
        """Return what is asked for: the fewest from a size on, or the cheapest of few."""
        most = self.ask.at_most
        if most is None:
            return search.fewest(start)
        if not search.listed:
            # Whatever fewer features can do, more can: look at the largest size only.
            largest = max((pool.most for pool in search.pools), default=0)
            return search.closest(min(most, largest))
        best = None
        for size in range(most + 1):
            best = search.closest(size, best)
        return best

    # Points -----------------------------------------------------------------------------------

    def _held(self, rows: IntArray, mask: BoolArray) -> tuple[FloatArray, FloatArray]:
        ask = self.ask
        rest = np.clip(ask.rest[rows], ask.lower[rows], ask.upper[rows])
        handed = self.table.as_handed_out(rest)  # the steps, and what they are rounded to
        low, high, on = np.minimum(rest, handed), np.maximum(rest, handed), self.columns(mask)
        return np.where(on, ask.lower[rows], low), np.where(on, ask.upper[rows], high)

    def nearest(self, rows: IntArray, mask: BoolArray) -> Answers:
        """Return the closest points with all but the masked features at rest."""
        return self._within(rows, *self._held(rows, mask))

    def _within(self, rows: IntArray, low: FloatArray, high: FloatArray) -> Answers:
        return nearest(
            SEARCH,
            self.setting,
            self.table.take(rows),
            self.samples[rows],
            self.ask.kind,
            self.ask.labels[rows],
            low,
            high,
            says_why=False,
        )

    def _fill(self, rows: IntArray, first: bool = False) -> None:
        """Take the closest point of each support, as the model accepts it."""
        if not len(rows):
            return
        answers, out = self.nearest(rows, self.mask[rows]), self.out
        answers = self._towards_hints(rows, answers)
        out.points[rows], out.label[rows] = answers.points, answers.label
        out.cost[rows] = self._cost(rows, answers.points)
        out.status[rows] = np.where(answers.found, FEASIBLE, FAILED)
        out.unique[rows] = answers.unique  # of this support, so far
        out.reason[rows] = answers.reason
        # That these features will not do is no reason why none will.
        out.reason[rows[answers.status == INFEASIBLE]] = Reason(Why.NO_PROOF)
        if first:
            # What the closed forms claim; the check decides.
            easy = np.array([int(i) not in self.searches for i in rows], dtype=bool)
            self.value[rows[easy]] = np.nan_to_num(out.cost[rows[easy]] * (1 - 2 * CLOSED))

    def _cost(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """Return the distance of the features that are on."""
        on = np.where(self.columns(self.mask[rows]), self.setting.weights, 0.0)
        return np.asarray((on * np.abs(points - self.samples[rows])).sum(axis=1))

    def _towards_hints(self, rows: IntArray, answers: Answers) -> Answers:
        """Look between the sample and the search's own point where that one is closer.

        A local method may miss it; whatever lies between costs no more.
        """
        if self.domain is not None:
            return answers
        cost = self._cost(rows, answers.points)
        hinted = {j: self.hints[int(i)] for j, i in enumerate(rows) if int(i) in self.hints}
        some = [j for j, hint in hinted.items() if not cost[j] <= hint.cost * (1 + CLOSED)]
        if not some:
            return answers
        points = np.array([hinted[j].point for j in some])
        low, high = self._held(rows[some], self.mask[rows[some]])
        # A hair more room, for the margin.
        room = HINT_ROOM * np.abs(points - self.samples[rows[some]])
        low = np.maximum(low, np.minimum(points, self.samples[rows[some]]) - room)
        high = np.minimum(high, np.maximum(points, self.samples[rows[some]]) + room)
        again = self._within(rows[some], low, high)
        with np.errstate(invalid="ignore"):
            better = ~(self._cost(rows[some], again.points) >= cost[some]) & again.found
        closer = np.flatnonzero(better)
        places = np.array(some)[closer]
        for name in ("points", "label", "status", "reason", "unique"):
            getattr(answers, name)[places] = getattr(again, name)[closer]
        return answers

    def _again(self) -> None:
        """Where predict refuses the point, look for a support with a larger margin."""

        def again(rows: IntArray, margins: FloatArray) -> IntArray:
            used = self.margin + float(margins[0])
            for k, some in self.by_label(rows):
                for row in some:
                    self._search(int(row), self.pieces(k, used), used)
            self._fill(rows)
            return np.asarray(rows[self.have[rows] & (self.out.status[rows] == FAILED)])

        wrong = np.flatnonzero(self.have & (self.out.status == FAILED))
        used, least = np.zeros(len(self.samples)), self.setting.enough_for_rounding(self.table)
        climb(wrong, used, again, FEWEST_RETRIES, least=least)

    def _of_all(self, rows: IntArray) -> Answers:
        """Return the nearest points with any features, with the rules in the way of those none."""
        ask, beyond = self.ask, self.ask.beyond
        return nearest(
            SEARCH,
            self.setting,
            self.table.take(rows),
            self.samples[rows],
            ask.kind,
            ask.labels[rows],
            ask.lower[rows],
            ask.upper[rows],
            changes=not ask.own_values,
            beyond=None if beyond is None else (beyond[0][rows], beyond[1][rows]),
        )

    def _without_support(self, rows: IntArray) -> None:
        """Nothing found: proved so, or the nearest point of all as a fallback for the search."""
        if not len(rows):
            return
        answers = self._of_all(rows)
        for j, row in enumerate(rows):
            if answers.status[j] == INFEASIBLE or not answers.found[j]:
                self.out.status[row], self.out.reason[row] = answers.status[j], answers.reason[j]
                if answers.status[j] == INFEASIBLE:
                    # The proofs about sets of features do not show which rules are in the way.
                    proof = answers.reason[j].proof or answers.proof_of(j)
                    self.out.reason[row] = replace(answers.reason[j], proof=proof)
                    self.claim[row] = self.value[row] = np.inf
                continue
            changed = self.changed(int(row), answers.points[j])
            if self.ask.at_most is not None and changed.sum() > self.ask.at_most:
                self.out.reason[row] = Reason(Why.STOPPED)
                continue
            self.mask[row] = changed
            self.out.points[row], self.out.label[row] = answers.points[j], answers.label[j]
            self.out.cost[row] = self._cost(np.array([row]), answers.points[[j]])[0]
            self.out.status[row] = FEASIBLE
