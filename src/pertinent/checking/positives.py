"""The claims of a pertinent positive: what was enough for the prediction."""

from __future__ import annotations

import numpy as np

from pertinent.checking.about import about_the_question
from pertinent.checking.evidence import (
    Evidence,
    claimed_bounds,
    meets,
    positive_details,
    proved,
    unit_of,
    valid,
)
from pertinent.checking.findings import ENOUGH, HOLDS, UNKNOWN, Finding, judged
from pertinent.checking.reasons import reason
from pertinent.checking.unique import as_good, is_only_one, unique
from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.gaps import GAP_CONVEX
from pertinent.geometry.task import distance
from pertinent.proofs import INFEASIBLE, OPTIMAL
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import (
    held_limits,
    positive_limits,
    sufficient_limits,
    turned_off,
)
from pertinent.setting.question import Method
from pertinent.setting.recheck import (
    holds_whatever,
    recheck_exact_positives,
    recheck_positives,
    search_gap,
)
from pertinent.setting.region_key import Is, Kind, Not
from pertinent.setting.results import Positives
from pertinent.summary.asked import Asked

#: What the certificates of each method bound, by their field.
METHODS = {
    Method.TWO_PHASE: {"certificates": "distance", "closeness_certificates": "distance"},
    Method.STRICT: {"certificates": "strict", "closeness_certificates": "strict"},
    Method.EXACT: {"certificates": "size", "closeness_certificates": "cost"},
    Method.SUFFICIENT: {"certificates": "sufficient", "closeness_certificates": "distance"},
}


def positive_findings(asked: Asked, positive: Positives, label: int, unsure: str) -> list[Finding]:
    """Judge everything that is said of a positive.

    Parameters
    ----------
    asked : Asked
    positive : Positives
        Of one sample.
    label : int
        Place of the class that the model predicts for the sample.
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    prepared, question = asked.prepared, asked.question
    # What suffices whatever the other values are is proved by what other classes need.
    others = [Not(label)] if positive.method is Method.SUFFICIENT else []
    positive, foreign = about_the_question(
        ENOUGH, asked, positive, [Is(label), *others], METHODS[positive.method]
    )
    limits = positive_limits(prepared, positive.table, question)
    proofs = two_phase_proofs if positive.method is Method.TWO_PHASE else exact_proofs
    return [
        *valid(ENOUGH, prepared, positive, Is(label), int(positive.label[0]), limits),
        *foreign,
        *proofs(asked, positive, unsure),
        *reason(ENOUGH, asked, positive, question.baseline[None], limits, unsure),
    ]


def two_phase_proofs(asked: Asked, positive: Positives, unsure: str) -> list[Finding]:
    """Judge the bounds of both phases, and whether each has one optimum only."""
    first, second = recheck_positives(asked.prepared, asked.question, positive)
    sparse = Evidence(positive.certificates, first[0], unsure)
    close = Evidence(positive.closeness_certificates, second[0], unsure)
    baseline = asked.question.baseline[None]
    out = [
        proved(ENOUGH, asked.prepared, positive, sparse, positive.sparse_values, baseline),
        positive_details(asked, positive),
    ]
    bounds = [(positive.bound[0], sparse)]
    if not positive.found[0]:
        return out + claimed_bounds(ENOUGH, bounds)
    # A distance is at least 0, whatever the certificate says.
    at_least = Evidence(positive.closeness_certificates, max(second[0], 0.0), unsure)
    out += claimed_bounds(ENOUGH, [*bounds, (positive.closeness_bound[0], at_least)])
    return out + _only_optimum(asked, positive) + _closeness(asked, positive, close)


def _closeness(asked: Asked, positive: Positives, evidence: Evidence) -> list[Finding]:
    """Judge the distance to the sample of the features that are on, and that none is closer."""
    prepared, samples = asked.prepared, positive.table.values
    off = turned_off(prepared, positive.sparse_values, asked.question)
    on = np.where(off, 0.0, prepared.weights)[0]
    real = distance(positive.values, samples, on)[0]
    right = np.isclose(real, positive.closeness[0], rtol=1e-9, atol=1e-12)
    out = [judged("its distance to the sample is as said", right, f"{real:.6g}")]
    if positive.status_code[0] == OPTIMAL:
        total = distance(positive.values, samples, prepared.weights)
        # The bound is on the part of the distance that is not held fixed.
        spent = float(total[0] - real)
        met = meets(evidence, prepared, positive, total, positive.values, samples, spent)
        out.append(
            evidence.judge("no valid answer with these features is closer to the sample", met)
        )
    return out


def _only_optimum(asked: Asked, positive: Positives) -> list[Finding]:
    """Judge whether both phases have one optimum only."""
    prepared, table, question = asked.prepared, positive.table, asked.question
    baseline = np.broadcast_to(question.baseline, table.values.shape)
    low, high = positive_limits(prepared, table, question)
    held = turned_off(prepared, positive.sparse_values, question)
    kept_limits = held_limits(low, high, question, held)

    def only() -> bool:
        first, second = positive.certificates, positive.closeness_certificates
        sparse, point = positive.sparse_values, positive.values
        lattice = prepared.domain_of(table, changes=False) is not None
        how = (lattice, unit_of(positive))
        if not is_only_one(prepared, first, baseline, sparse, (low, high), *how):
            return False
        return is_only_one(prepared, second, table.values, point, kept_limits, *how)

    def equally_good(other: FloatArray) -> bool:
        good = judge_points(prepared, table, other, Kind.IS, positive.label, (low, high)).valid[0]
        on = np.where(held, 0.0, prepared.weights)[0]
        as_sparse = as_good(distance(other, baseline, prepared.weights)[0], positive.objective[0])
        inside = ((other >= kept_limits[0]) & (other <= kept_limits[1])).all()
        as_close = as_good(distance(other, table.values, on)[0], positive.closeness[0])
        return bool(good and (as_sparse or (inside and as_close)))

    return unique(ENOUGH, positive, only, equally_good)


def exact_proofs(asked: Asked, positive: Positives, unsure: str) -> list[Finding]:
    """Judge the answers of the methods "strict", "exact" and "sufficient"."""
    size, close = recheck_exact_positives(asked.prepared, asked.question, positive)
    few = Evidence(positive.certificates, size[0], unsure)
    near = Evidence(positive.closeness_certificates, close[0], unsure)
    if positive.status_code[0] == INFEASIBLE:
        return [few.judge(f"{ENOUGH}: there is none", few.bound == np.inf)]
    bounds = [(positive.bound[0], few)]
    if not positive.found[0]:
        claims = claimed_bounds(ENOUGH, bounds)
        return [Finding(f"{ENOUGH}: no answer was given", HOLDS), *claims]
    return [
        *_values(asked, positive),
        *_smallest(asked, positive, few, near),
        positive_details(asked, positive),
        *claimed_bounds(ENOUGH, [*bounds, (positive.closeness_bound[0], near)]),
        *_only_set(positive),
    ]


def _kept(asked: Asked, positive: Positives) -> BoolArray:
    """Return which features are kept, from the point where it tells."""
    if positive.method is Method.SUFFICIENT:
        return positive.kept
    away = np.abs(positive.values - asked.question.baseline) > asked.question.off_tol
    return asked.prepared.features.by_feature(away)


def _distance(asked: Asked, positive: Positives) -> float:
    """Return how far the features that are kept are from the sample."""
    on = asked.prepared.features.by_column(_kept(asked, positive))
    weights = np.where(on, asked.prepared.weights, 0.0)[0]
    return float(distance(positive.values, positive.table.values, weights)[0])


def _values(asked: Asked, positive: Positives) -> list[Finding]:
    """Judge how many values are kept, and which they are."""
    kept = _kept(asked, positive)
    right = kept.sum() == positive.objective[0]
    out = [judged("it keeps as many values as said", right, f"{kept.sum()}")]
    if positive.method is Method.EXACT:
        real = _distance(asked, positive)
        right = np.isclose(real, positive.closeness[0], rtol=1e-9, atol=1e-12)
        return [*out, judged("its distance to the sample is as said", right, f"{real:.6g}")]
    on = asked.prepared.features.by_column(kept)
    own = (positive.values == positive.table.values)[on].all()
    out.append(judged("the values it keeps are the sample's own", own))
    return [*out, _whatever(asked, positive)] if positive.method is Method.SUFFICIENT else out


def _whatever(asked: Asked, positive: Positives) -> Finding:
    """Judge whether the kept values suffice, by the model or by a proof of its own."""
    table, label = positive.table, int(positive.label[0])
    limits = sufficient_limits(asked.prepared, table, asked.question)
    why = positive.closeness_certificates
    holds, sure = holds_whatever(asked.prepared, label, table, positive.kept, limits, why)
    claim = "it holds whatever the other values are"
    if not holds[0] and not sure:
        return Finding(claim, UNKNOWN, "no proof of it is stored, and this model needs one")
    return judged(claim, holds[0], "another class is possible")


def _smallest(asked: Asked, positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge that no fewer values are enough, and that none of as few come closer."""
    if positive.status_code[0] != OPTIMAL:
        return []
    out = [few.judge("no fewer values are enough", few.bound >= positive.objective[0])]
    if positive.method is Method.EXACT:
        prepared = asked.prepared
        region = prepared.region(Is(int(positive.label[0])), prepared.asked_margin)
        gap = max(GAP_CONVEX, 4 * search_gap(region))
        met = near.bound >= _distance(asked, positive) * (1 - gap) - 1e-12
        out.append(near.judge("no other set of as few values comes closer to the sample", met))
    return out


def _only_set(positive: Positives) -> list[Finding]:
    if positive.unique_code[0] == 0:
        claim = f"{ENOUGH} is not the only one of its size"
        return [Finding(claim, UNKNOWN, "the certificate alone does not show it")]
    # The only set of no features is the empty one.
    return unique(ENOUGH, positive, lambda: positive.objective[0] == 0, lambda other: False)
