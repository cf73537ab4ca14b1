"""Negatives with few changes, and several of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

import numpy as np

from pertinent.answering.searching import SEARCH
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import IntArray
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.questions.alternatives import further_contrasts, further_counts
from pertinent.questions.counted import counted_negatives
from pertinent.questions.supports.batch import Fewest, FewestAsk
from pertinent.questions.supports.fewest import fewest_features
from pertinent.questions.supports.proving import why_none_of_few
from pertinent.questions.tolerances import FEW_SETS
from pertinent.questions.verify import doubted, refuse_blends
from pertinent.setting.claims.negatives import fewer_changes
from pertinent.setting.limits import allowing, counts_by_rules, has_cells, is_mixed, negative_limits
from pertinent.setting.nearest.negative import nearest_contrast, refuse_own_class
from pertinent.setting.question import NegativeQuestion, Norm
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def few_changes(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion
) -> Negatives:
    """Return negatives by the number of their changes, and as many alternatives as asked for."""
    return doubted(setting, _few_changes(setting, table, labels, question))


def _few_changes(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion
) -> Negatives:
    kind, wanted = _wanted(labels, question)
    if question.norm is Norm.L0:
        most = fewer_changes(setting, question)
        by_rules = is_mixed(setting, table) or not has_cells(setting, kind, wanted)
        if by_rules and (setting.constraints.inferred or not question.alternatives):
            found = counted_negatives(setting, table, labels, question, most)
            if not question.alternatives:
                return found
            # Sets of features know no rules about changes, such as those that the data suggest.
            others = further_counts(setting, table, labels, found, question, most)
            return replace(found, alternatives=others)
        refuse_blends(setting, 'norm="l0"')
        _refuse_together(setting)
        return _fewest(setting, table, labels, question, most)
    if question.max_changes is not None and counts_by_rules(setting, table, kind, wanted):
        # Categories, whole numbers and features that change together: the rules count them.
        setting = allowing(setting, fewer_changes(setting, question))
        question = replace(question, max_changes=None)
    negatives = nearest_contrast(SEARCH, setting, table, labels, question)
    if question.max_changes is not None:
        return _limited(setting, table, labels, question, negatives)
    if question.alternatives:
        ask = _ask(setting, table, labels, question)
        asked = ask.kind, ask.labels, (ask.lower, ask.upper), question.alternatives
        others = further_contrasts(setting, table, negatives, *asked, question.with_proofs)
        negatives = replace(negatives, alternatives=others)
    return negatives


def _refuse_together(setting: Setting) -> None:
    if setting.constraints.together:
        raise InputError(
            'alternatives with norm="l0" are sets of features, and here some change together. '
            "Leave norm out: alternatives in weighted L1 know them."
        )


def _wanted(labels: IntArray, question: NegativeQuestion) -> tuple[Kind, IntArray]:
    """Return what must be predicted: the target, or any class but the sample's own."""
    return (Kind.NOT, labels) if question.target is None else (Kind.IS, question.target)


def _ask(setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion) -> FewestAsk:
    samples = table.values
    limits = negative_limits(setting, table, question.untouched)
    lower, upper = (np.broadcast_to(limit, samples.shape) for limit in limits)
    if question.target is not None:
        refuse_own_class(setting, labels, question.target)
    kind, wanted = _wanted(labels, question)
    return FewestAsk(kind, wanted, samples, lower, upper, question.effort, question.alternatives)


def _fewest(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion, most: int
) -> Negatives:
    ask = _ask(setting, table, labels, question)
    found = fewest_features(setting, table, ask)
    negatives = _negatives(setting, table, labels, question, found)
    size = np.where(found.found, negatives.changed.sum(axis=1).astype(float), np.nan)
    negatives = replace(
        negatives,
        objective=size,
        bound=found.size_bound,
        norm=Norm.L0,
        certificates=found.certificates,
        closeness_certificates=found.cost_certificates,
    )
    return _within(negatives, most, setting, ask)


def _within(negatives: Negatives, most: int, setting: Setting, ask: FewestAsk) -> Negatives:
    """Return the negatives without those that change more; the fewest prove there is none."""
    few = tuple(
        tuple(a for a in others if a.features.sum() <= most) for others in negatives.alternatives
    )
    far = negatives.found & (negatives.objective > most)
    none = far & (negatives.bound > most)
    reason = negatives.reasons.copy()
    reason[far] = Reason(Why.STOPPED)
    why_none_of_few(setting, negatives.table, ask, none, most, reason)
    place = np.where(far, -1, negatives.target_place)
    return replace(
        negatives,
        status_code=np.where(none, INFEASIBLE, np.where(far, FAILED, negatives.status_code)),
        reasons=reason,
        unique_code=np.where(far, -1, negatives.unique_code),
        values=np.where(far[:, None], np.nan, negatives.values),
        objective=np.where(far, np.nan, negatives.objective),
        bound=np.where(none, np.inf, negatives.bound),
        changed=negatives.changed & ~far[:, None],
        closeness=np.where(far, np.nan, negatives.closeness),
        closeness_bound=np.where(none, np.inf, negatives.closeness_bound),
        target_place=place if ask.kind is Kind.NOT else negatives.target_place,
        alternatives=few,
    )


def _limited(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    negatives: Negatives,
) -> Negatives:
    """Solve again where the nearest point changes too much, or was not proved."""
    most = int(question.max_changes or 0)
    search = _Limited(setting, table, labels, question)
    too_many = negatives.changed.sum(axis=1) > most
    if question.alternatives:
        too_many[:] = True
    negatives = search.replace(negatives, np.flatnonzero(negatives.found & too_many), always=True)
    if comb(table.values.shape[1], most) <= FEW_SETS:
        # Where nothing is known of all points, something may be of those with so few changes.
        unknown = np.flatnonzero(~too_many & (negatives.status_code == FAILED))
        negatives = search.replace(negatives, unknown, always=True)
        # What could not be proved of all points may be of those with so few changes.
        unproved = ~too_many & (negatives.status_code == FEASIBLE)
        negatives = search.replace(negatives, np.flatnonzero(unproved), always=False)
    return negatives


@dataclass(frozen=True, eq=False)
class _Limited:
    """The search for the nearest points with few changes, for some of the samples."""

    setting: Setting
    table: Table
    labels: IntArray
    question: NegativeQuestion

    def replace(self, negatives: Negatives, rows: IntArray, always: bool) -> Negatives:
        """Return the negatives with some rows searched again; unless always, if proved then."""
        if not len(rows):
            return negatives
        again = self._search(rows)
        if not always:
            good = np.flatnonzero(again.status_code == OPTIMAL)
            rows, again = rows[good], again.take(good)
        return negatives.overwritten(rows, again)

    def _search(self, rows: IntArray) -> Negatives:
        question, some = self.question, self.table.take(rows)
        part = question.take(rows)
        ask = replace(
            _ask(self.setting, some, self.labels[rows], part),
            at_most=min(int(question.max_changes or 0), self.table.values.shape[1]),
            alternatives=question.alternatives,
        )
        found = fewest_features(self.setting, some, ask)
        return replace(
            _negatives(self.setting, some, self.labels[rows], part, found),
            objective=found.cost,
            bound=found.cost_bound,
            certificates=found.cost_certificates,
        )


def _negatives(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion, found: Fewest
) -> Negatives:
    reached = found.label if question.target is None else question.target
    different = setting.features.by_feature(found.points != table.values)
    return Negatives(
        table=table,
        classes=setting.classes,
        values=found.points,
        status_code=found.status.astype(np.int8),
        reasons=found.reason,
        unique_code=found.unique,
        label=labels,
        objective=found.cost,
        bound=found.cost_bound,
        second={},
        changed=(found.status <= FEASIBLE)[:, None] & different,
        target_place=reached,
        certificates=found.cost_certificates,
        closeness=found.cost,
        closeness_bound=found.cost_bound,
        alternatives=found.alternatives,
    )
