"""The claims of a pertinent negative: what would have changed the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.checking.about import about_the_question
from pertinent.checking.evidence import (
    Evidence,
    claimed_bounds,
    negative_details,
    proved,
    unit_of,
    valid,
)
from pertinent.checking.findings import CHANGE, ENOUGH, HOLDS, REFUTED, UNKNOWN, Finding, judged
from pertinent.checking.reasons import NOT_SHOWN, reason
from pertinent.checking.unique import as_good, is_only_one, unique
from pertinent.geometry.arrays import BoolArray, FloatArray, Limits
from pertinent.geometry.gaps import GAP_NONCONVEX
from pertinent.geometry.task import distance
from pertinent.proofs import FAILED, INFEASIBLE, OPTIMAL
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import negative_limits
from pertinent.setting.question import Norm, Overlap
from pertinent.setting.recheck import (
    is_of_sets,
    recheck_few_changes,
    recheck_few_closeness,
    recheck_negatives,
    search_gap,
)
from pertinent.setting.region_key import Is, Kind, Not, RegionKey
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered, Asked


def negative_findings(
    asked: Asked,
    negative: Negatives,
    label: int,
    target: int | None,
    untouched: BoolArray,
    unsure: str,
) -> list[Finding]:
    """Judge everything that is said of a negative.

    Parameters
    ----------
    asked : Asked
    negative : Negatives
        Of one sample.
    label : int
        Place of the class that the model predicts for the sample.
    target : int or None
        Place of the class asked for; None for any but the sample's own.
    untouched : ndarray of bool, shape (1, n_features)
        Features that the change must keep off.
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    prepared, table, fewest = asked.prepared, negative.table, negative.norm is Norm.L0
    goals, rest = {"certificates": "distance"}, None
    if fewest:
        near = "cost" if is_of_sets(negative.closeness_certificates) else "distance"
        few = "size" if is_of_sets(negative.certificates) else "steps"
        goals = {"certificates": few, "closeness_certificates": near}
        rest = table.values[0]
    keys = asked_regions(label, target)
    negative, foreign = about_the_question(CHANGE, asked, negative, keys, goals, rest)
    limits = negative_limits(prepared, table, untouched)
    proofs = (
        _fewest(prepared, negative, unsure)
        if fewest
        else [
            *_proofs(prepared, negative, untouched, unsure),
            *_unique(prepared, negative, limits),
        ]
    )
    return [
        *valid(CHANGE, prepared, negative, keys[0], int(negative.target_place[0]), limits),
        _target(negative, label, target),
        *foreign,
        *proofs,
        *reason(CHANGE, asked, negative, table.values, limits, unsure),
    ]


def asked_regions(label: int, target: int | None) -> list[RegionKey]:
    """Return what certificates may speak of: the target's region, or all but the label's."""
    return [Not(label) if target is None else Is(target)]


def _target(negative: Negatives, label: int, target: int | None) -> Finding:
    """Judge the class that is reached: the one asked for, or any but the sample's own."""
    place = int(negative.target_place[0])
    if target is not None:
        right = place == target != label
    elif negative.found[0]:
        right = place not in (-1, label)
    else:
        right = place == -1 or negative.status_code[0] == FAILED
    return judged(f"{CHANGE} is of the class asked for", right)


def _proofs(
    prepared: Setting, negative: Negatives, untouched: BoolArray, unsure: str
) -> list[Finding]:
    bound = recheck_negatives(prepared, negative, untouched)[0]
    evidence = Evidence(negative.certificates, bound, unsure)
    claims = (negative.bound[0], negative.closeness_bound[0])
    return [
        proved(CHANGE, prepared, negative, evidence, negative.values, negative.table.values),
        negative_details(prepared, negative),
        *claimed_bounds(CHANGE, [(claimed, evidence) for claimed in claims]),
    ]


def _fewest(prepared: Setting, negative: Negatives, unsure: str) -> list[Finding]:
    """Judge that no fewer changes do, and that none of as few is smaller."""
    few = Evidence(negative.certificates, recheck_few_changes(prepared, negative)[0], unsure)
    near = Evidence(
        negative.closeness_certificates, recheck_few_closeness(prepared, negative)[0], unsure
    )
    most = prepared.constraints.max_changes or len(prepared.features)
    if negative.status_code[0] == INFEASIBLE:
        return [few.judge(f"{CHANGE}: there is none", few.bound > most)]
    if not negative.found[0]:
        return [Finding(f"{CHANGE}: no answer was given", HOLDS)]
    count, size = _changes(prepared, negative), float(negative.closeness[0])
    out = [
        judged("it changes as few features as said", count <= negative.objective[0], f"{count}"),
        negative_details(prepared, negative),
        *claimed_bounds(CHANGE, [(negative.bound[0], few), (negative.closeness_bound[0], near)]),
    ]
    if negative.unique_code[0] >= 0:
        only = "the only" if negative.unique_code[0] else "not the only"
        out.append(Finding(f"{CHANGE} is {only} one of its size", UNKNOWN, NOT_SHOWN))
    if negative.status_code[0] == OPTIMAL:
        parts = near.certificates if is_of_sets(near.certificates) else ()
        regions = [prepared.region(part.key, prepared.asked_margin) for part in parts]
        gap = max([GAP_NONCONVEX, *(4 * search_gap(region) for region in regions)])
        met = near.bound >= size * (1 - gap) - 1e-12
        out.append(few.judge("no fewer changes do", few.bound >= negative.objective[0]))
        out.append(near.judge("no other change of as few features is smaller", met))
    return out


def _changes(prepared: Setting, negative: Negatives) -> int:
    """Return how many features change; those that change together count as one."""
    unit = np.arange(len(prepared.features))
    for group in prepared.constraints.together:
        places = prepared.features.indices(group)
        unit[places] = places.min()
    different = prepared.features.by_feature(negative.values != negative.table.values)[0]
    return len(np.unique(unit[different]))


def _unique(prepared: Setting, negative: Negatives, limits: Limits) -> list[Finding]:
    table, parts, samples = negative.table, negative.certificates, negative.table.values

    def only() -> bool:
        lattice = prepared.domain_of(table, changes=True) is not None
        unit = unit_of(negative)
        return is_only_one(prepared, parts, samples, negative.values, limits, lattice, unit)

    def equally_good(other: FloatArray) -> bool:
        # Where any other class will do, the other one may be of a third.
        untargeted = parts[0].key.kind is Kind.NOT if parts else False
        kind = Kind.NOT if untargeted else Kind.IS
        labels = negative.label if untargeted else negative.target_place
        good = judge_points(prepared, table, other, kind, labels, limits, changes=True).valid[0]
        size = distance(other, samples, prepared.weights)[0]
        return bool(good) and as_good(size, negative.objective[0])

    return unique(CHANGE, negative, only, equally_good)


def overlap_findings(
    explanations: Answered, keys: Sequence[RegionKey], unsure: str
) -> list[Finding]:
    """Judge what is said of features that both parts share.

    Parameters
    ----------
    explanations : Answered
        Of one sample.
    keys : sequence of tuple
        The regions that the negative's certificates may speak of.
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    asked, avoided = explanations.asked, bool(explanations.avoided[0])
    assert asked is not None
    if asked.settings.overlap is Overlap.ALLOW:
        return [] if not avoided else [Finding("both parts may share features", REFUTED)]
    if avoided:
        both = (explanations.positive.kept & explanations.negative.changed).any()
        return [judged(f"{CHANGE} keeps off {ENOUGH}", not both)]
    claim, kept = f"no change keeps off {ENOUGH}", explanations.positive.kept
    goals = {"avoiding_certificates": "distance"}
    negative, foreign = about_the_question(CHANGE, asked, explanations.negative, keys, goals)
    why = negative.avoiding_certificates
    if not why:
        return [*foreign, Finding(claim, UNKNOWN, "the explanation holds no proof of it")]
    bound = recheck_negatives(asked.prepared, replace(negative, certificates=why), kept)[0]
    return [Evidence(why, bound, unsure).judge(claim, bound == np.inf)]
