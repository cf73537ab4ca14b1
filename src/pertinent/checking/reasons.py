"""Why there is no answer: the kind of the reason, and the rules that it names."""

from __future__ import annotations

import numpy as np

from pertinent.checking.evidence import NOT_SHOWN
from pertinent.checking.findings import GIVEN, HOLDS, UNKNOWN, Finding, Verdict, judged
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.codec import unknown_kinds
from pertinent.proofs import FAILED
from pertinent.setting.answers import Certified
from pertinent.setting.claims.bounds import is_of_sets
from pertinent.setting.limits import beyond_rules, without_value
from pertinent.setting.question import Method, Norm, PositiveQuestion
from pertinent.setting.reasons.conflicts import why_infeasible, why_too_few
from pertinent.setting.reasons.fewer import Questions, RuleSets, each_is_needed, shown_by
from pertinent.setting.reasons.implausible import WITH_DENSITY, is_shown, why_pair
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is
from pertinent.setting.results import Negatives, Positives, Results
from pertinent.setting.setting import Setting


def reason(
    name: str,
    setting: Setting,
    results: Results,
    centers: FloatArray,
    limits: Limits,
    unsure: str,
    question: PositiveQuestion | None = None,
) -> list[Finding]:
    """Judge the reason by the rules that the proof rests on; words are not compared.

    ``question`` is that of a positive: it may allow less than the rules do.
    """
    said, parts = results.reasons[0], results.certificates
    if said is None or results.found[0]:
        return []
    claim = f"{name}: the reason is as said"
    if unsure:
        return [Finding(claim, UNKNOWN, unsure)]
    if said.kind is Why.UNKNOWN:
        return [Finding(claim, UNKNOWN, f"a reason that is not known here: {said.said}")]
    if said.kind is Why.SAID:
        return [Finding(claim, GIVEN, "the file has words for it, and no data")]
    if results.status_code[0] == FAILED:
        return [Finding(claim, GIVEN, "it is about the search, not about the model")]
    if said.kind is Why.NEITHER_VALUE and question and _is_strict(results):
        stuck = _neither_value(setting, results, question)
        return [judged(claim, bool(stuck.features) and stuck == said)]
    if not _are_about_one_region(parts):
        return [Finding(claim, UNKNOWN, NOT_SHOWN)]
    low, high = (np.broadcast_to(limit, results.values.shape)[0] for limit in limits)
    never = said == Reason(Why.NEVER, parts[0].key)
    if never and setting.region(parts[0].key, setting.asked_margin).is_empty:
        return [Finding(claim, HOLDS)]
    if _is_of_method(said, setting, results):
        return [Finding(claim, HOLDS)]
    beyond = None if question is None else beyond_rules(setting, results.table, question)
    if _counts_features(results):
        asked = _question(setting, results, results.table.values[0], beyond)
        of_sets = Finding(claim, *_of_sets(asked, said, (low, high)))
        return [of_sets, *_needed(name, asked, said)]
    near = results.table.values if isinstance(setting.within, Hulls) else centers
    asked = _question(setting, results, centers[0], beyond)
    own = None
    if said.asked == parts[0].key:
        own = shown_by(asked, said, parts[0].certificate)
    if own is None or (setting.within is not None and own != said):
        own = _read_off(setting, said, parts[0], near[0], (low, high)) or own
    if own is None:
        return [Finding(claim, UNKNOWN, NOT_SHOWN)]
    right = judged(claim, own == said, f"by the certificate: {own.words(results.classes)}")
    return [right, *_needed(name, asked, said)]


def _is_strict(results: Results) -> bool:
    return isinstance(results, Positives) and results.method is Method.STRICT


def _neither_value(setting: Setting, results: Results, question: PositiveQuestion) -> Reason:
    """Return which features the rules leave neither of the two values of a strict positive."""
    stuck = np.flatnonzero(without_value(setting, results.table, question)[0])
    names = tuple(setting.features.names[j] for j in stuck)
    return Reason(Why.NEITHER_VALUE, features=names)


def _are_about_one_region(parts: tuple[Certified, ...]) -> bool:
    """Return whether proofs of known kinds are all about one region: several, of "l0", may be."""
    known = not any(unknown_kinds(part.certificate) for part in parts)
    return known and len({part.key for part in parts}) == 1


def _question(
    setting: Setting, results: Results, center: FloatArray, beyond: Limits | None
) -> Questions:
    """Return the question, to be asked again under some of its rules."""
    key, changes = results.certificates[0].key, isinstance(results, Negatives)
    sets = RuleSets(setting, changes)
    return Questions(sets, key, results.table, center[None], beyond)


def _needed(name: str, asked: Questions, said: Reason) -> list[Finding]:
    """Judge that none of the rules named could be left out, where that is said."""
    if said.without is None:
        return []
    claim = f"{name}: each of the rules named is needed"
    plain = said.kind in (Why.RULES, *WITH_DENSITY) and said.asked == asked.key
    return [judged(claim, plain and bool(each_is_needed(asked, [said])[0]))]


def _counts_features(results: Results) -> bool:
    """Return whether the proof looks at sets of features."""
    if isinstance(results, Negatives):
        return results.norm is Norm.L0 or is_of_sets(results.certificates)
    return isinstance(results, Positives) and results.method is not Method.TWO_PHASE


def _is_of_method(said: Reason, setting: Setting, results: Results) -> bool:
    """Return whether a reason says what "strict" or "sufficient" shows by itself, no more."""
    if not isinstance(results, Positives):
        return False
    own = Is(int(results.label[0]))
    if results.method is Method.SUFFICIENT and said == Reason(Why.TOO_CLOSE):
        region = setting.region(own, setting.asked_margin)
        return not region.contains(results.table.values)[0]
    return results.method is Method.STRICT and said == Reason(Why.OWN_VALUES, own)


def _of_sets(asked: Questions, said: Reason, limits: Limits) -> tuple[Verdict, str]:
    """Return the verdict on a reason where the proof looks at sets of features.

    That one does not show which rules are in the way: the reason names all, or has its own proof.
    """
    setting, key = asked.sets.setting, asked.key
    region = setting.region(key, setting.asked_margin)
    own = said.proof
    if own is not None and own.trusted().all() and shown_by(asked, said, own) == said:
        return HOLDS, ""
    for most in (None, setting.constraints.max_changes):
        if said == why_too_few(setting, key, region, limits, most):
            return HOLDS, ""
    return UNKNOWN, NOT_SHOWN


def _read_off(
    setting: Setting, said: Reason, part: Certified, near: FloatArray, limits: Limits
) -> Reason | None:
    """Return the reason that the proofs show; None if they do not show one of this kind."""
    own = part.certificate
    if setting.within is None:
        region = setting.region(part.key, setting.asked_margin)
        return why_infeasible(setting, part.key, own, region, limits)
    if said.asked != part.key or not is_shown(setting, said, near, limits):
        return None
    return why_pair(setting, said.kind, part.key, said.proof or own, own, near, limits)
