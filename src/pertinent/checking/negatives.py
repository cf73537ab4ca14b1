"""The claims of a pertinent negative: what would have changed the prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.checking.evidence import (
    NOT_SHOWN,
    Evidence,
    about_the_question,
    absent,
    claimed_bounds,
    has_tie,
    negative_details,
    proved,
    unique,
    valid,
)
from pertinent.checking.findings import CHANGE, ENOUGH, HOLDS, REFUTED, UNKNOWN, Finding, judged
from pertinent.checking.reasons import reason
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.proofs import ALREADY, FAILED, OPTIMAL
from pertinent.setting.claims.negatives import shown_negatives, with_its_limit
from pertinent.setting.claims.unique import is_only_change, other_changes
from pertinent.setting.limits import negative_limits
from pertinent.setting.question import NegativeQuestion, Norm, Overlap
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is, Not
from pertinent.setting.results import Negatives, Uniqueness
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered, Asked


def negative_findings(
    asked: Asked, negative: Negatives, question: NegativeQuestion, unsure: str
) -> list[Finding]:
    """Judge everything that is said of a negative.

    Parameters
    ----------
    asked : Asked
    negative : Negatives
        Of one sample; its label is what the model predicts.
    question : NegativeQuestion
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    setting, table = asked.setting, negative.table
    if negative.status_code[0] == ALREADY:
        return _already(setting, negative, question)
    shown = shown_negatives(setting, question, negative)
    negative, foreign = about_the_question(CHANGE, negative, shown)
    limits = negative_limits(setting, table, question.untouched)
    few, near = Evidence.of(shown.few, unsure), Evidence.of(shown.near, unsure)
    if negative.norm is Norm.L0:
        proofs = _fewest(setting, negative, few, near)
    else:
        bounds = [(claimed[0], few) for claimed in (negative.bound, negative.closeness_bound)]
        proofs = [
            proved(CHANGE, negative, few),
            negative_details(setting, negative),
            *claimed_bounds(CHANGE, bounds),
            *_unique(setting, negative, question, limits),
        ]
    place, wanted = int(negative.target_place[0]), question.target
    key = Not(int(negative.label[0])) if wanted is None else Is(int(wanted[0]))
    ruled = with_its_limit(setting, question)
    return [
        *valid(CHANGE, ruled, negative, key, place, limits),
        _target(negative, question),
        *foreign,
        *proofs,
        *reason(CHANGE, ruled, negative, table.values, limits, unsure),
    ]


def _already(setting: Setting, negative: Negatives, question: NegativeQuestion) -> list[Finding]:
    """Judge that nothing has to change."""
    place, label = int(negative.target_place[0]), int(negative.label[0])
    there = question.target is not None and place == question.target[0] == label
    nothing = np.isnan(negative.values).all() and negative.unique_code[0] == Uniqueness.UNKNOWN
    told = (negative.objective, negative.bound, negative.closeness, negative.closeness_bound)
    sizes = [size[0] for size in told]
    why = negative.reasons[0] == Reason(Why.ALREADY, Is(label))
    return [
        judged(f"{CHANGE}: the sample is predicted as asked already", there),
        judged(f"{CHANGE}: nothing has to", nothing and not np.any(sizes) and why),
        negative_details(setting, negative),
    ]


def _target(negative: Negatives, question: NegativeQuestion) -> Finding:
    """Judge the class that is reached: the one asked for, or any but the sample's own."""
    place, label = negative.target_place[0], negative.label[0]
    if question.target is not None:
        right = place == question.target[0] != label
    elif negative.found[0]:
        right = place not in (-1, label)
    else:
        right = place == -1 or negative.status_code[0] == FAILED
    return judged(f"{CHANGE} is of the class asked for", right)


def _fewest(setting: Setting, negative: Negatives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge that no fewer changes do, and that none of as few is smaller."""
    bounds = [(negative.bound[0], few), (negative.closeness_bound[0], near)]
    details = [negative_details(setting, negative), *claimed_bounds(CHANGE, bounds)]
    if none := absent(CHANGE, negative, few):
        return [none, *details]
    said = negative.objective[0]
    out = [judged("it changes as few features as said", few.size == said, f"{few.size:g}")]
    out += details
    if negative.unique_code[0] == Uniqueness.SEVERAL and has_tie(negative):
        out.append(Finding(f"{CHANGE} is not the only one of its size", HOLDS))
    elif negative.unique_code[0] != Uniqueness.UNKNOWN:
        only = "the only" if negative.unique_code[0] == Uniqueness.UNIQUE else "not the only"
        out.append(Finding(f"{CHANGE} is {only} one of its size", UNKNOWN, NOT_SHOWN))
    if negative.status_code[0] == OPTIMAL:
        out.append(few.judge("no fewer changes do", few.bound >= said))
        out.append(near.judge("no other change of as few features is smaller", near.closed))
    return out


def _unique(
    setting: Setting, negative: Negatives, question: NegativeQuestion, limits: Limits
) -> list[Finding]:
    def equally_good(other: FloatArray) -> bool:
        return bool(other_changes(setting, question, negative, other)[0])

    return unique(CHANGE, negative, lambda: is_only_change(setting, negative, limits), equally_good)


def overlap_findings(
    explanations: Answered, negative: Negatives, question: NegativeQuestion, unsure: str
) -> list[Finding]:
    """Judge what is said of features that both parts share; parameters as above."""
    asked, avoided = explanations.asked, bool(explanations.avoided[0])
    assert asked is not None
    if asked.settings.overlap is Overlap.ALLOW:
        return [] if not avoided else [Finding("both parts may share features", REFUTED)]
    kept, why = explanations.positive.kept, negative.avoiding_certificates
    if avoided:
        return [judged(f"{CHANGE} keeps off {ENOUGH}", not (kept & negative.changed).any())]
    shown = shown_negatives(
        asked.setting, replace(question, untouched=kept), replace(negative, certificates=why)
    )
    claim, evidence = f"no change keeps off {ENOUGH}", Evidence.of(shown.few, unsure)
    _, foreign = about_the_question(CHANGE, negative, shown)
    if not evidence.certificates:
        return [*foreign, Finding(claim, UNKNOWN, "the explanation holds no proof of it")]
    return [*foreign, evidence.judge(claim, evidence.bound == np.inf)]
