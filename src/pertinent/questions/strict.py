"""Strict positives (sec. III-D): kept features keep their exact values, as few as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pertinent.answering.searching import SEARCH
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import cells_of, pieces_of
from pertinent.geometry.task import Task
from pertinent.proofs import (
    FAILED,
    FEASIBLE,
    INFEASIBLE,
    OPTIMAL,
    Block,
    Certificate,
    StrictProofs,
)
from pertinent.questions.results import positives_by_number
from pertinent.questions.supports.gains import Choices, strict_choices
from pertinent.questions.supports.smallest import further_supports, smallest_supports
from pertinent.questions.verify import doubted, refuse_categories
from pertinent.setting.answers import Certified
from pertinent.setting.claims.bounds import bounds_of
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import away_from_base, owner_of, strict_limits
from pertinent.setting.nearest.ladder import climb
from pertinent.setting.nearest.positive import two_phase
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is, Kind
from pertinent.setting.results import UNIQUE, UNKNOWN, Alternative, Positives, uniqueness
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def strict(
    setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion
) -> Positives:
    """Return the fewest features whose exact values, the rest at the baseline, keep the class.

    Notes
    -----
    With one separable row (binary linear models, binary Gaussian naive Bayes) the features are
    sorted by what they add (eqs. 10 and 13 of the paper); 0 features are allowed. Several rows,
    unions and general quadratic rows are searched, see `pertinent.questions.supports.subsets`.
    """
    question = question.in_precision_of(table)
    lower, upper = strict_limits(setting, table, question)
    if not setting.features.is_plain:
        _refuse_unfolded(setting, labels)
    rest = question.baseline, lower, upper, question.off_tol
    choices = strict_choices(table.values, *rest, owner_of(setting))
    search = _Attempts(setting, table, labels, question, choices, lower, upper)
    search.run()
    positives = search.result()
    positives = doubted(setting, positives)
    if question.fallback:
        positives = with_fallback(setting, positives, question)
    return positives


def _refuse_unfolded(setting: Setting, labels: IntArray) -> None:
    """Say which models and rules with categories or bins are not known."""
    regions = [setting.region(Is(int(k)), 0.0) for k in np.unique(labels)]
    cells = [cells_of(region) for region in regions]
    if not all(
        own is not None and not any(cell.quadratics or cell.exponentials for cell in own)
        for own in cells
    ):
        refuse_categories(setting, 'method="strict" of a model with curved regions')
    if setting.constraints.categories or setting.constraints.transitions:
        raise InputError(
            'method="strict" keeps a category or takes that of the baseline; rules about '
            'categories cannot be asked of it. Leave them out, or use method="two-phase".'
        )


class _Attempts:
    """Supports for a batch, tried with growing margins until predict agrees."""

    def __init__(
        self,
        setting: Setting,
        table: Table,
        labels: IntArray,
        question: PositiveQuestion,
        choices: Choices,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        self.setting, self.table, self.labels = setting, table, labels
        self.question, self.choices = question, choices
        self.lower = np.broadcast_to(lower, table.values.shape)
        self.upper = np.broadcast_to(upper, table.values.shape)
        n = len(table)
        self.asked = setting.asked_margin
        self.points = np.full(table.values.shape, np.nan)
        self.claim = np.zeros(n)
        self.extra: dict[tuple[int, int], FloatArray] = {}
        self.valid = np.zeros(n, dtype=bool)
        self.reason: NDArray[np.object_] = np.full(n, None, dtype=object)
        self.budget = question.effort.budget(n)

    def run(self) -> None:
        used, everyone = np.zeros(len(self.table)), np.arange(len(self.table))
        least = self.setting.enough_for_rounding(self.table)
        climb(self._try(everyone, used, first=True), used, self._try, least=least)

    def _try(self, rows: IntArray, margins: FloatArray, first: bool = False) -> IntArray:
        """Search with a margin, the same for all; return the rows that the judge refuses.

        It is one beyond the margin asked for; what that one alone proves is kept.
        """
        used = self.asked + float(margins[0]) if len(margins) else self.asked
        for k in np.unique(self.labels[rows]):
            mine = rows[self.labels[rows] == k]
            region = self.setting.region(Is(int(k)), used)
            here = self.choices.take(mine)
            found = smallest_supports(pieces_of(region), here, self.budget)
            if first:
                self.claim[mine] = found.bound
                self.extra.update({(int(mine[i]), c): y for (i, c), y in found.extra.items()})
            have = mine[found.found]
            self.points[have] = self._switched(mine, found.mask)[found.found]
            self.reason[mine[~found.found]] = Reason(Why.STOPPED)
        have = rows[np.isfinite(self.points[rows, 0])]
        limits = self.lower[have], self.upper[have]
        args = self.table.take(have), self.points[have], Kind.IS, self.labels[have]
        verdict = judge_points(self.setting, *args, limits)
        good = verdict.valid
        self.points[have] = np.where(good[:, None], verdict.points, np.nan)
        self.valid[have], self.reason[have] = good, None
        for j in np.flatnonzero(~good):
            self.reason[have[j]] = verdict.reason(int(j), used)
        return rows[~self.valid[rows] & np.isfinite(self.claim[rows])]

    def result(self) -> Positives:
        away = away_from_base(self.setting.features, self.points, self.question)
        kept = self.valid[:, None] & self.setting.features.by_feature(away)
        objective = np.where(self.valid, kept.sum(axis=1).astype(float), np.nan)
        # What the search claims: only what proofs show of it is handed out.
        none = np.isinf(self.claim) & ~self.valid
        status = np.where(self.valid, np.where(self.claim >= objective, OPTIMAL, FEASIBLE), FAILED)
        status[none] = INFEASIBLE
        for i in np.flatnonzero(none):
            self.reason[i] = self._why_none(int(i))
        others = tuple(self._others(i, kept[i]) for i in range(len(kept)))
        unique = np.where((status == OPTIMAL) & (objective == 0), UNIQUE, UNKNOWN)
        for i in np.flatnonzero([len(listed) > 0 for listed in others]):
            unique[i] = uniqueness(status[i] == OPTIMAL, objective[i], 0.0, others[i])
        return positives_by_number(
            self.setting,
            self.table,
            self.labels,
            self.question,
            Method.STRICT,
            self.points,
            kept,
            status,
            self.claim,
            reasons=self.reason,
            unique=unique,
            certificates=self._certificates(),
            alternatives=others,
        )

    def _certificates(self) -> tuple[Certified, ...]:
        out = []
        for k in np.unique(self.labels):
            rows = np.flatnonzero(self.labels == k)
            region = self.setting.region(Is(int(k)), self.asked)
            everyone = np.arange(len(rows))
            blocks = tuple(
                Block(p, everyone, self._proofs(rows, p)) for p in range(len(pieces_of(region)))
            )
            out.append(Certified(Is(int(k)), rows, Certificate(len(rows), blocks)))
        return tuple(out)

    def _proofs(self, rows: IntArray, piece: int) -> StrictProofs:
        place = {int(row): i for i, row in enumerate(rows)} if self.extra else {}
        extra = {place[i]: y for (i, c), y in self.extra.items() if c == piece and i in place}
        question = self.question
        owner = owner_of(self.setting)
        claim = self.claim[rows]
        return StrictProofs(question.baseline, claim, question.off_tol, extra, owner=owner)

    def _switched(self, rows: IntArray, masks: BoolArray) -> FloatArray:
        """Return the points with the features of the masks at the samples' own values."""
        on = self.setting.features.by_column(masks)
        return np.where(on, self.table.values[rows], self.choices.rest[rows])

    def _why_none(self, row: int) -> Reason:
        stuck = np.flatnonzero((self.choices.forced & self.choices.barred)[row])
        if len(stuck):
            names = tuple(self.setting.features.names[j] for j in stuck)
            return Reason(Why.NEITHER_VALUE, features=names)
        return Reason(Why.OWN_VALUES, Is(int(self.labels[row])))

    def _others(self, row: int, first: BoolArray) -> tuple[Alternative, ...]:
        """Return the next smallest supports of one sample."""
        if not self.valid[row] or not self.question.alternatives:
            return ()
        region = self.setting.region(Is(int(self.labels[row])), self.asked)
        here, count = self.choices.take(np.array([row])), self.question.alternatives
        budget = self.question.effort.budget()
        masks = further_supports(region, here, first, count, budget)
        if not masks:
            return ()
        points = self._switched(np.full(len(masks), row), np.array(masks))
        label = int(self.labels[row])
        many, limits = np.full(len(masks), row), (self.lower[row], self.upper[row])
        args = self.table.take(many), points, Kind.IS, np.full(len(masks), label)
        verdict = judge_points(self.setting, *args, limits)
        good = np.flatnonzero(verdict.valid)
        supports = [first, *(masks[j] for j in good)]
        sample = self.table.values[row]
        proved = next_best(self.setting, self.question, sample, label, supports, limits)
        return tuple(
            Alternative(masks[j], verdict.points[j], float(masks[j].sum()), 0.0, sure, label)
            for j, sure in zip(good, proved, strict=True)
        )


def next_best(
    setting: Setting,
    question: PositiveQuestion,
    sample: FloatArray,
    label: int,
    supports: Sequence[BoolArray],
    limits: tuple[FloatArray, FloatArray],
) -> list[bool]:
    """Return of each support after the first whether it is proved next best; no solver is called.

    Proved is that no support which contains none of those before it has fewer features.
    """
    region = setting.region(Is(label), setting.asked_margin)
    out = []
    for j in range(1, len(supports)):
        size = float(supports[j].sum())
        proofs = StrictProofs(
            question.baseline,
            np.array([size]),
            question.off_tol,
            listed=tuple(supports[:j]),
            owner=owner_of(setting),
        )
        pieces = range(len(pieces_of(region)))
        whole = Certificate(1, tuple(Block(piece, np.array([0]), proofs) for piece in pieces))
        task = Task.of(region, sample[None], setting.weights, *limits)
        out.append(bool(whole.bounds(task)[0] >= size))
    return out


def with_fallback(setting: Setting, positives: Positives, question: PositiveQuestion) -> Positives:
    """Return the positives with two-phase answers where no strict one exists (sec. III-D)."""
    none, table = positives.status_code == INFEASIBLE, positives.table
    if not none.any():
        return positives
    # That none exists is part of the answer: here and not only where it is handed out.
    limits = strict_limits(setting, table, question)
    asked = table.values, limits, None, question
    rows = np.flatnonzero(none & np.isinf(bounds_of(setting, positives.certificates, *asked)))
    some, labels = table.take(rows), positives.label[rows]
    other = two_phase(SEARCH, setting, some, labels, question)
    fallback = positives.fallback.copy()
    fallback[rows] = other.found
    changes: dict[str, NDArray[np.generic]] = {}
    for name in ("values", "sparse_values", "closeness", "closeness_bound", "kept", "trivial"):
        merged = getattr(positives, name).copy()
        merged[rows] = getattr(other, name)
        changes[name] = merged
    status, objective = positives.status_code.copy(), positives.objective.copy()
    status[rows] = np.where(other.found, FEASIBLE, INFEASIBLE)
    objective[rows] = np.where(other.found, other.kept.sum(axis=1), np.nan)
    bound = positives.bound.copy()
    bound[rows] = np.where(other.found, 0.0, bound[rows])
    return replace(
        positives,
        status_code=status,
        objective=objective,
        bound=bound,
        fallback=fallback,
        **changes,  # type: ignore[arg-type]
    )
