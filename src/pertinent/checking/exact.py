"""What is proved of exact positives: the number of features, and how close they come."""

from __future__ import annotations

import numpy as np

from pertinent.checking.details import positive_details
from pertinent.checking.evidence import Evidence, claimed_bounds
from pertinent.checking.findings import ENOUGH, HOLDS, UNKNOWN, Finding, judged
from pertinent.checking.unique import unique
from pertinent.checking.whatever import holds_whatever
from pertinent.geometry.arrays import BoolArray
from pertinent.geometry.gaps import GAP_CONVEX
from pertinent.geometry.task import distance
from pertinent.proofs import INFEASIBLE, OPTIMAL
from pertinent.setting.limits import sufficient_limits
from pertinent.setting.recheck import recheck_exact_positives, search_gap
from pertinent.setting.region_key import Is
from pertinent.setting.results import Positives
from pertinent.summary.asked import Asked


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
        *_unique(positive),
    ]


def _kept(asked: Asked, positive: Positives) -> BoolArray:
    """Return which features are kept, from the point where it tells."""
    if positive.method == "sufficient":
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
    if positive.method == "exact":
        real = _distance(asked, positive)
        right = np.isclose(real, positive.closeness[0], rtol=1e-9, atol=1e-12)
        return [*out, judged("its distance to the sample is as said", right, f"{real:.6g}")]
    on = asked.prepared.features.by_column(kept)
    own = (positive.values == positive.table.values)[on].all()
    out.append(judged("the values it keeps are the sample's own", own))
    return [*out, _whatever(asked, positive)] if positive.method == "sufficient" else out


def _whatever(asked: Asked, positive: Positives) -> Finding:
    """Judge whether the kept values suffice, where no solver is needed to tell."""
    table, label = positive.table, int(positive.label[0])
    low, high = sufficient_limits(asked.prepared, table, asked.question)
    holds = holds_whatever(asked.prepared, label, table, positive.kept[0], (low[0], high[0]))
    claim = "it holds whatever the other values are"
    if holds is None:
        return Finding(claim, UNKNOWN, "a solver is needed to tell for this model")
    return judged(claim, holds, "another class is possible")


def _smallest(asked: Asked, positive: Positives, few: Evidence, near: Evidence) -> list[Finding]:
    """Judge that no fewer values are enough, and that none of as few come closer."""
    if positive.status_code[0] != OPTIMAL:
        return []
    out = [few.judge("no fewer values are enough", few.bound >= positive.objective[0])]
    if positive.method == "exact":
        prepared = asked.prepared
        region = prepared.region(Is(int(positive.label[0])), prepared.asked_margin)
        gap = max(GAP_CONVEX, 4 * search_gap(region))
        met = near.bound >= _distance(asked, positive) * (1 - gap) - 1e-12
        out.append(near.judge("no other set of as few values comes closer to the sample", met))
    return out


def _unique(positive: Positives) -> list[Finding]:
    if positive.unique_code[0] == 0:
        claim = f"{ENOUGH} is not the only one of its size"
        return [Finding(claim, UNKNOWN, "the certificate alone does not show it")]
    # The only set of no features is the empty one.
    return unique(ENOUGH, positive, lambda: positive.objective[0] == 0, lambda other: False)
