"""Why there is no point: the rules that conflict, and which of density, class and rules do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.answering.blends import nearest_blends
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.running import is_over
from pertinent.proofs import INFEASIBLE, Certificate
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.answers import Answers, Ask, Certified
from pertinent.setting.judge import handed_out, judge
from pertinent.setting.nearest.flow import nearest
from pertinent.setting.nearest.search import Search
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.fewer import OneQuestion, confirmed, own_rules
from pertinent.setting.reasons.implausible import PAIRS, Pair, pair, why_pair
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.solvers import project
from pertinent.tables.table import Table

#: With more rules than this in a conflict, none is tried to be dropped.
MOST_RULES = 64
#: Of more rules than this, some are left out together.
FEW_RULES = 8
#: Rules that the data suggest are dropped first: a user knows the own ones.
_SUGGESTED = frozenset(
    {
        RuleKind.DATA_AT_LEAST,
        RuleKind.DATA_AT_MOST,
        RuleKind.DATA_STEP,
        RuleKind.DATA_CHANGE,
        RuleKind.DATA_CATEGORIES,
    }
)
#: Rules that leave some numbers only.
_STEPS = frozenset({RuleKind.DECIMALS, RuleKind.STEP, RuleKind.DATA_STEP, RuleKind.DATA_CHANGE})


def why_none(search: Search, setting: Setting, part: Certified, ask: Ask) -> Reason:
    """Return why there is no point, by rules that conflict.

    Parameters
    ----------
    search : Search
    setting : Setting
    part : Certified
        The proof of this one row.
    ask : Ask
        The question of this one row.
    """
    asked, own, limits = part.key, part.certificate, (ask.low[0], ask.high[0])
    if setting.within is None:
        return smallest_conflict(search, OneQuestion.of(setting, ask, asked), own)
    # For blends of training points the sample decides which.
    near = ask.table.values[0] if isinstance(setting.within, Hulls) else ask.centers[0]
    for kind in PAIRS:
        proof = _impossible(setting, pair(setting, kind, asked, limits), near)
        if proof is not None:
            return why_pair(setting, kind, asked, proof, own, near, limits)
    return why_pair(setting, Why.DENSITY_CLASS_RULES, asked, own, own, near, limits)


def _impossible(setting: Setting, two: Pair, sample: FloatArray) -> Certificate | None:
    """Return a proof that no point has both; None without one."""
    one, (low, high) = sample[None], two.limits
    if two.blends:
        assert isinstance(setting.within, Hulls)
        args = (one, low[None], high[None])
        found, _ = nearest_blends(setting.within, one, two.region, two.owner, setting.weights, args)
    elif any(
        cell.contains(np.clip(cell.anchors, low, high)).any() for cell in cells_of(two.region) or ()
    ):
        return None  # the mean of a mixture is such a point
    else:
        found = project(one, two.region, setting.weights, low[None], high[None])
    return found.certificate if np.isinf(found.believed[0]) else None


def smallest_conflict(search: Search, asked: OneQuestion, own: Certificate) -> Reason:
    """Return rules that leave no point, with a point for each without which there is one.

    One rule after the other is left out, of many rules some at once. If the others leave no point
    still, it is dropped for good; if there is a point, the rule is needed, and stays so when others
    are dropped.

    Parameters
    ----------
    search : Search
    asked : OneQuestion
    own : Certificate
        That there is no point, about all rules.
    """
    rules, proof = _first(search, asked, own)
    points: dict[RuleRef, FloatArray] = {}
    open_ = rules if len(rules) <= MOST_RULES else ()
    size = _at_once(open_)
    while open_ and not is_over():
        fewer = tuple(rule for rule in rules if rule not in open_[:size])
        typical = _typical(asked, fewer) if size == 1 else None
        if typical is not None:
            points[open_[0]], open_ = typical, open_[1:]
            size = _at_once(open_)
            continue
        found = _under(search, asked, fewer)
        shown = _proof(found)
        if shown is not None and asked.shows(shown, fewer):
            rules, proof = _read(asked, fewer, shown)
        elif size > 1:
            size //= 2
            continue
        elif found.found[0]:
            points[open_[0]] = found.points[0]
        open_ = tuple(rule for rule in open_[size:] if rule in rules)
        size = _at_once(open_)
    reason = asked.reason(rules, proof)
    reason = replace(reason, proof=None if proof is own else proof)
    named = own_rules(reason.rules)
    if not named or not points.keys() >= set(named):
        return reason
    return replace(reason, without=np.array([points[rule] for rule in named]))


def _typical(asked: OneQuestion, rules: tuple[RuleRef, ...]) -> FloatArray | None:
    """Return a typical point of the class, moved into the limits, if that will do: no search."""
    ruled = asked.under(rules)
    low, high = ruled.limits
    if ruled.ask.rules.domain is not None or (low > high).any():
        return None
    for cell in cells_of(ruled.region) or ():
        near = handed_out(ruled.ask, np.clip(cell.anchors, low, high))
        for point in near[cell.contains(near)]:
            if judge(ruled.setting, ruled.ask, point[None]).valid[0]:
                return np.asarray(point)
    return None


def _at_once(rules: tuple[RuleRef, ...]) -> int:
    """Return how many rules to leave out together."""
    return len(rules) // 3 if len(rules) > FEW_RULES else 1


def conflict(search: Search, setting: Setting, table: Table, key: RegionKey) -> Reason | None:
    """Return the rules that leave one sample without a contrast; None if that is not proved.

    Its reason holds the proof, whatever else was proved before.
    """
    asked = OneQuestion(setting, key, table, table.values[0], None, changes=True)
    proof = _proof(_under(search, asked, asked.rules))
    if proof is None or not asked.shows(proof, asked.rules):
        return None
    reason = smallest_conflict(search, asked, proof)
    reason = replace(reason, proof=reason.proof or proof)
    return confirmed(asked, reason, proof)


def _first(
    search: Search, asked: OneQuestion, own: Certificate
) -> tuple[tuple[RuleRef, ...], Certificate]:
    """Return rules to begin with: those that the proof of the answer rests on, if they will do."""
    every = tuple(sorted(asked.rules, key=lambda rule: (rule.kind not in _SUGGESTED, str(rule))))
    rules, proof = _read(asked, every, own)
    named = _named(asked, every, own)
    if named == rules or is_over():
        return rules, proof
    found = _under(search, asked, named)
    shown = _proof(found)
    if shown is not None and asked.shows(shown, named):
        return _read(asked, named, shown)
    return rules, proof


def _read(
    asked: OneQuestion, rules: tuple[RuleRef, ...], proof: Certificate
) -> tuple[tuple[RuleRef, ...], Certificate]:
    """Return the rules that a proof rests on, if it is one without the others; else all."""
    named = _named(asked, rules, proof)
    # A proof speaks of the rows of all relations that were there.
    some = tuple(rule for rule in rules if rule in named or rule.kind is RuleKind.RELATION)
    return (some if len(some) < len(rules) and asked.shows(proof, some) else rules), proof


def _named(
    asked: OneQuestion, rules: tuple[RuleRef, ...], proof: Certificate
) -> tuple[RuleRef, ...]:
    """Return the rules that a proof rests on, as far as that can be read off."""
    ruled = asked.under(rules)
    read = why_infeasible(ruled.setting, asked.key, proof, ruled.region, ruled.limits).rules
    # Relations are counted anew where some are left out: their texts tell which they are.
    texts = {rule.text for rule in read if rule.kind is RuleKind.RELATION}
    # The limits of numbers in steps are the last steps within them.
    limited = {name for rule in read for name in rule.features}

    def rests_on(rule: RuleRef) -> bool:
        if rule.kind is RuleKind.RELATION:
            return rule.text in texts
        return rule in read or (rule.kind in _STEPS and limited.issuperset(rule.features))

    return tuple(filter(rests_on, rules))


def _under(search: Search, asked: OneQuestion, rules: tuple[RuleRef, ...]) -> Answers:
    """Return the nearest point under some of the rules."""
    ruled = asked.under(rules)
    options = replace(ruled.setting.options, unique=False, exact=False, round_steps=True)
    ruled.setting.options, ask = options, ruled.ask
    where = ask.table, ask.centers, ask.kind, ask.labels, ask.low, ask.high
    changes = ask.rules.changes
    return nearest(search, ruled.setting, *where, changes=changes, says_why=False)


def _proof(found: Answers) -> Certificate | None:
    return found.proof_of(0) if found.status[0] == INFEASIBLE else None
