"""The claims of a pertinent positive: what was enough for the prediction."""

from __future__ import annotations

from pertinent.checking.evidence import (
    NOT_SHOWN,
    Evidence,
    about_the_question,
    absent,
    claimed_bounds,
    has_tie,
    is_same,
    positive_details,
    proved,
    unique,
    valid,
)
from pertinent.checking.findings import ENOUGH, HOLDS, UNKNOWN, Finding, judged
from pertinent.checking.reasons import reason
from pertinent.geometry.arrays import FloatArray
from pertinent.proofs import OPTIMAL
from pertinent.setting.claims.bounds import holds_whatever
from pertinent.setting.claims.positives import kept_features, shown_positives
from pertinent.setting.claims.unique import is_only_pair, other_pairs
from pertinent.setting.limits import positive_limits, sufficient_limits
from pertinent.setting.question import Method
from pertinent.setting.region_key import Is
from pertinent.setting.results import Positives, Uniqueness
from pertinent.summary.asked import Asked


def positive_findings(asked: Asked, positive: Positives, unsure: str) -> list[Finding]:
    """Judge everything that is said of a positive.

    Parameters
    ----------
    asked : Asked
    positive : Positives
        Of one sample; its label is what the model predicts.
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    setting, question = asked.setting, asked.question
    shown = shown_positives(setting, question, positive)
    positive, foreign = about_the_question(ENOUGH, positive, shown)
    limits = positive_limits(setting, positive.table, question)
    few, near = Evidence.of(shown.few, unsure), Evidence.of(shown.near, unsure)
    proofs = _two_phase if positive.method is Method.TWO_PHASE else _fewest
    label = int(positive.label[0])
    return [
        *valid(ENOUGH, setting, positive, Is(label), label, limits),
        *foreign,
        *proofs(asked, positive, few, near),
        *reason(ENOUGH, setting, positive, question.baseline[None], limits, unsure, question),
    ]


def _two_phase(asked: Asked, positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge the bounds of both phases, and whether each has one optimum only."""
    out = [proved(ENOUGH, positive, few), *_details(asked, positive, few, near)]
    if not positive.found[0]:
        return out
    out += [*_only_optimum(asked, positive), _closeness(positive, near)]
    if positive.status_code[0] == OPTIMAL:
        claim = "no valid answer with these features is closer to the sample"
        out.append(near.judge(claim, near.closed))
    return out


def _details(asked: Asked, positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge details and bounds, which are told whether or not there is an answer."""
    bounds = [(positive.bound[0], few), (positive.closeness_bound[0], near)]
    return [positive_details(asked, positive), *claimed_bounds(ENOUGH, bounds)]


def _closeness(positive: Positives, near: Evidence) -> Finding:
    right = is_same(near.size, positive.closeness[0])
    return judged("its distance to the sample is as said", right, f"{near.size:.6g}")


def _only_optimum(asked: Asked, positive: Positives) -> list[Finding]:
    """Judge whether both phases have one optimum only."""
    setting, question = asked.setting, asked.question

    def equally_good(other: FloatArray) -> bool:
        return bool(other_pairs(setting, question, positive, other)[0])

    return unique(ENOUGH, positive, lambda: is_only_pair(setting, question, positive), equally_good)


def _fewest(asked: Asked, positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge the answers of the methods "strict", "exact" and "sufficient"."""
    details = _details(asked, positive, few, near)
    if none := absent(ENOUGH, positive, few):
        return [none, *details]
    return [
        *_values(asked, positive, few, near),
        *_smallest(positive, few, near),
        *details,
        *_only_set(positive),
    ]


def _values(asked: Asked, positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge how many values are kept, and which they are."""
    right = few.size == positive.objective[0]
    out = [judged("it keeps as many values as said", right, f"{few.size:g}")]
    out.append(_closeness(positive, near))
    if positive.method is Method.EXACT:
        return out
    kept = kept_features(asked.setting, asked.question, positive)
    on = asked.setting.features.by_column(kept)
    own = (positive.values == positive.table.values)[on].all()
    out.append(judged("the values it keeps are the sample's own", own))
    return [*out, _whatever(asked, positive, few)] if positive.method is Method.SUFFICIENT else out


def _whatever(asked: Asked, positive: Positives, few: Evidence) -> Finding:
    """Judge whether the kept values suffice, by the model or by a proof of its own."""
    claim = "it holds whatever the other values are"
    if few.unsure:  # the rules say what the others may be
        return Finding(claim, UNKNOWN, few.unsure)
    table, label = positive.table, int(positive.label[0])
    limits = sufficient_limits(asked.setting, table, asked.question)
    why = positive.closeness_certificates
    holds, sure = holds_whatever(asked.setting, label, table, positive.kept, limits, why)
    if not holds[0] and not sure:
        return Finding(claim, UNKNOWN, "no proof of it is stored, and this model needs one")
    return judged(claim, holds[0], "another class is possible")


def _smallest(positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge that no fewer values are enough, and that none of as few come closer."""
    if positive.status_code[0] != OPTIMAL:
        return []
    out = [few.judge("no fewer values are enough", few.bound >= positive.objective[0])]
    if positive.method is Method.EXACT:
        claim = "no other set of as few values comes closer to the sample"
        out.append(near.judge(claim, near.closed))
    return out


def _only_set(positive: Positives) -> list[Finding]:
    if positive.unique_code[0] == Uniqueness.SEVERAL:
        claim = f"{ENOUGH} is not the only one of its size"
        shown = (HOLDS, "") if has_tie(positive) else (UNKNOWN, NOT_SHOWN)
        return [Finding(claim, *shown)]
    # The only set of no features is the empty one.
    return unique(ENOUGH, positive, lambda: positive.objective[0] == 0, lambda other: False)
