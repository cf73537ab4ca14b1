"""Which two of density, class and rules cannot be had together already: asked of the solvers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.answering.blends import nearest_blends
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.region import Region
from pertinent.geometry.running import is_over
from pertinent.proofs import Certificate
from pertinent.rules.reference import RuleRef
from pertinent.setting.answers import Ask, Certified
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.fewer import DROPPABLE, limits_under, shown_by
from pertinent.setting.reasons.implausible import PAIRS, Pair, pair, why_pair
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.setting import Setting
from pertinent.solvers import project

#: With more rules than this in a conflict, none is tried to be dropped.
MOST_RULES = 64


def why_none(setting: Setting, part: Certified, ask: Ask) -> Reason:
    """Return why there is no point, by the rules that the proof of one row rests on.

    Parameters
    ----------
    setting : Setting
    part : Certified
        The proof of this one row.
    ask : Ask
        The question of this one row.
    """
    asked, own, limits = part.key, part.certificate, (ask.low[0], ask.high[0])
    if setting.within is None:
        region = setting.region(asked, setting.asked_margin)
        reason = why_infeasible(setting, asked, own, region, limits)
        return _fewer_rules(setting, reason, region, ask) if ask.is_aligned else reason
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


def _fewer_rules(setting: Setting, reason: Reason, region: Region, ask: Ask) -> Reason:
    """Drop rules without which there is still proved to be no point, until each is needed.

    A rule that is needed stays needed when others are dropped. Without each of the rules in turn
    the rows of one task are solved at once.
    """
    limits, sample = (ask.low[0], ask.high[0]), ask.table.values[0]
    open_ = [rule for rule in reason.rules if rule.kind in DROPPABLE]
    options = replace(setting.options, unique=False, exact=False)
    while open_ and 1 < len(reason.rules) <= MOST_RULES and not is_over():
        fewer = [replace(reason, rules=_but(reason.rules, rule)) for rule in open_]
        ends = [limits_under(setting, one.rules, sample, limits) for one in fewer]
        low, high = (np.array(end) for end in zip(*ends, strict=True))
        many = np.zeros(len(open_), dtype=np.int64)
        domain = ask.rules.domain
        found = project(
            ask.centers[many],
            region,
            setting.weights,
            low,
            high,
            options,
            domain=None if domain is None else domain.take(many),
        )
        dropped = None
        for k in np.flatnonzero(found.piece < 0).tolist():
            args = region, ask.centers[0], sample, limits, domain
            proof = found.certificate.take(np.array([k]))
            dropped = shown_by(setting, fewer[k], proof, *args)
            if dropped is not None:
                break
        if dropped is None:
            return reason
        reason = dropped
        tried = np.flatnonzero(found.piece < 0).tolist()
        open_ = [open_[k] for k in tried if open_[k] in reason.rules]
    return reason


def _but(rules: tuple[RuleRef, ...], one: RuleRef) -> tuple[RuleRef, ...]:
    return tuple(rule for rule in rules if rule != one)
