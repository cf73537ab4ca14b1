"""Pertinent negatives: the smallest change that gives another class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pertinent.density.measure import by_sample, measure
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import IntArray, Limits
from pertinent.proofs import ALREADY
from pertinent.setting.answers import Answers, blank, claimed_unique
from pertinent.setting.limits import negative_limits
from pertinent.setting.nearest.flow import answered, doubt, propose
from pertinent.setting.nearest.search import Search
from pertinent.setting.nearest.verdicts import Proposal
from pertinent.setting.question import NegativeQuestion, Norm, is_one_label
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is, Kind
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def target_places(setting: Setting, target: Any, n: int) -> IntArray | None:
    """Return the wanted class of each sample: one label for all, or one for each."""
    if target is None:
        return None
    if isinstance(target, Mapping | Set):
        kind = type(target).__name__
        raise InputError(f"target must be one label, or one for each sample. Got a {kind} instead.")
    if is_one_label(target):
        return np.repeat(setting.places(np.array([target])), n)
    if np.ndim(target) != 1:
        raise InputError("target must be one label, or one label for each sample.")
    if len(target) != n:
        raise InputError(f"target has {len(target)} labels for {n} samples.")
    return setting.places(target)


#: Gives the negatives of samples that are predicted as labels, for a question.
Solve = Callable[[Table, IntArray, NegativeQuestion], Negatives]


def beside_already(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion, solve: Solve
) -> Negatives:
    """Return negatives, solved for where a sample is not predicted as its target already."""
    there = np.zeros(len(labels), dtype=bool)
    if question.target is not None:
        there = labels == question.target
    if not there.any():
        return solve(table, labels, question)
    rows, rest = np.flatnonzero(there), np.flatnonzero(~there)
    parts = [_already(setting, table.take(rows), labels[rows], question.norm)]
    if len(rest):
        parts.insert(0, solve(table.take(rest), labels[rest], question.take(rest)))
    order = np.argsort(np.concatenate([rest, rows]))
    # What is stacked has the first part's table: any of the right length will do in between.
    return replace(replace(Negatives.stack(parts), table=table).take(order), table=table)


def _already(setting: Setting, table: Table, labels: IntArray, norm: Norm) -> Negatives:
    """Return that nothing has to change: the smallest change is none."""
    found = blank(table.values)
    found.status[:], found.objective[:] = ALREADY, 0.0
    for i, label in enumerate(labels.tolist()):
        found.reason[i] = Reason(Why.ALREADY, Is(label))
    return replace(negatives_from(setting, table, labels, labels, found), norm=norm)


@dataclass(eq=False)
class NegativeProposal:
    """The nearest contrasts, not yet judged."""

    setting: Setting
    table: Table
    labels: IntArray
    target: IntArray | None
    found: Proposal

    def judged(self, found: Answers) -> Negatives:
        """Return the negatives, from the points that the model accepts."""
        doubt(self.setting, self.table, found)
        wanted = found.label if self.target is None else self.target
        return negatives_from(self.setting, self.table, self.labels, wanted, found)


def nearest_contrast(
    search: Search,
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    *,
    says_why: bool = True,
) -> Negatives:
    """Return the nearest point of another class for a batch predicted as ``labels`` (eq. 1)."""
    proposal = propose_negatives(search, setting, table, labels, question, says_why=says_why)
    return proposal.judged(*answered(search, setting, [proposal.found]))


def propose_negatives(
    search: Search,
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    allowed: Limits | None = None,
    *,
    says_why: bool = True,
) -> NegativeProposal:
    """Return the points of `nearest_contrast`, for the model to judge.

    ``allowed`` is what the constraints allow, where it is known already, and ``says_why`` whether
    anybody wants to know why a sample has none.
    """
    samples, target = table.values, question.target
    lower, upper = allowed or negative_limits(setting, table, question.untouched)
    if target is not None:
        refuse_own_class(setting, labels, target)
    kind, wanted = (Kind.NOT, labels) if target is None else (Kind.IS, target)
    # Where features may not be touched and there is no point, all is asked again without that.
    says_why = says_why and question.untouched is None
    where = table, samples, kind, wanted, lower, upper
    found = propose(search, setting, *where, changes=True, says_why=says_why)
    return NegativeProposal(setting, table, labels, target, found)


def refuse_own_class(setting: Setting, labels: IntArray, target: IntArray) -> None:
    """Refuse a target that a sample is already predicted as."""
    same = np.flatnonzero(labels == target)
    if len(same):
        label = setting.classes.tolist()[labels[same[0]]]
        raise InputError(
            f"A sample is already predicted as its target {label!r}. "
            "Leave such rows out or give them another target."
        )


def negatives_from(
    setting: Setting, table: Table, labels: IntArray, wanted: IntArray, found: Answers
) -> Negatives:
    """Return the negatives, from the points that were found for the classes that were wanted."""
    different = setting.features.by_feature(found.points != table.values)
    changed = found.found[:, None] & different
    log_density, threshold, percentile = measure(setting.within, wanted, found.points)
    return Negatives(
        table=table,
        classes=setting.classes,
        values=found.points,
        status_code=found.status,
        reasons=found.reason,
        unique_code=claimed_unique(found.unique, found.status),
        label=labels,
        objective=found.objective,
        bound=found.bound,
        second=found.second,
        changed=changed,
        target_place=wanted,
        certificates=found.certificates,
        log_density=log_density,
        density_threshold=threshold,
        density_percentile=percentile,
        blend=found.blend if by_sample(setting.within) else None,
    )
