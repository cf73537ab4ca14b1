"""What is proved of the paper's two phases: sparse first, then close with the same features."""

from __future__ import annotations

import numpy as np

from pertinent.checking.details import positive_details
from pertinent.checking.evidence import Evidence, claimed_bounds, meets, proved, unit_of
from pertinent.checking.findings import ENOUGH, Finding, judged
from pertinent.checking.unique import as_good, is_only_one, unique
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.task import distance
from pertinent.proofs import OPTIMAL
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import held_limits, positive_limits, turned_off
from pertinent.setting.recheck import recheck_positives
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Positives
from pertinent.summary.asked import Asked


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
    return out + _unique(asked, positive) + _closeness(asked, positive, close)


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


def _unique(asked: Asked, positive: Positives) -> list[Finding]:
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
