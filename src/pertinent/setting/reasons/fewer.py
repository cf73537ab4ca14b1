"""Conflicts of fewer rules: what a row's limits are if only some of its rules are in force.

The rules that a proof rests on may be more than are needed. A smaller set is named with a proof of
its own: that already these rules, and what is no rule of the user, leave no point.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Region
from pertinent.geometry.task import Task
from pertinent.proofs import Certificate
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.reasons.conflicts import LOW, why_infeasible
from pertinent.setting.reasons.reason import Reason

if TYPE_CHECKING:
    from pertinent.setting.setting import Setting

#: Rules about the values of a number, which a row's limits hold: with them, or without.
DROPPABLE = frozenset(
    {
        RuleKind.AT_LEAST,
        RuleKind.AT_MOST,
        RuleKind.FROZEN,
        RuleKind.INCREASE_ONLY,
        RuleKind.DECREASE_ONLY,
        RuleKind.DATA_AT_LEAST,
        RuleKind.DATA_AT_MOST,
    }
)


def limits_under(
    setting: Setting, rules: Collection[RuleRef], sample: FloatArray, limits: Limits
) -> Limits:
    """Return the limits of a row that hold if, of the rules of `DROPPABLE` kinds, only some do.

    A limit that no rule explains, such as one by categories or by the question, stays as it is.
    """
    low, high = (limit.copy() for limit in limits)
    features = setting.features
    for (column, side), known in setting.constraints.named_limits(features).items():
        if features.is_category(int(features.owner[column])):
            continue
        end, strongest = (low, max) if side == LOW else (high, min)
        values = {rule: _value(rule, sample[column]) for rule in known}
        if end[column] == strongest(values.values()):
            none = -np.inf if side == LOW else np.inf
            left = [values[rule] for rule in known if rule in rules]
            end[column] = strongest(left, default=none)
    return low, high


def _value(rule: RuleRef, own: float) -> float:
    """Return the limit that a rule sets: its number, or the sample's own value.

    A range of the data leaves the own value within.
    """
    if rule.number is not None and rule.kind is RuleKind.DATA_AT_LEAST:
        return float(min(rule.number, own))
    if rule.number is not None and rule.kind is RuleKind.DATA_AT_MOST:
        return float(max(rule.number, own))
    return float(own if rule.number is None else rule.number)


def shown_by(
    setting: Setting,
    reason: Reason,
    proof: Certificate,
    region: Region,
    center: FloatArray,
    sample: FloatArray,
    limits: Limits,
    domain: Domain | None,
) -> Reason | None:
    """Return the conflict that a proof shows if only the rules of a reason are in force.

    None if it proves nothing, or rests on other rules.
    """
    assert reason.asked is not None
    low, high = limits_under(setting, reason.rules, sample, limits)
    task = replace(Task.of(region, center[None], setting.weights, low, high), domain=domain)
    if not proof.trusted().all() or proof.bounds(task)[0] != np.inf:
        return None
    ends, among = (low, high), frozenset(reason.rules)
    own = why_infeasible(setting, reason.asked, proof, region, ends, among)
    if own.kind is not reason.kind or not among.issuperset(own.rules):
        return None
    return replace(own, proof=proof)
