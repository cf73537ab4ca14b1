"""The words for why there is no answer."""

from __future__ import annotations

import numpy as np

from pertinent._typing import FloatArray, Limits
from pertinent.answers import Certified
from pertinent.asked import Asked
from pertinent.certificate import FAILED
from pertinent.certificate._records import unknown_kinds
from pertinent.checking.findings import GIVEN, UNKNOWN, Finding, judged
from pertinent.conflicts import why_infeasible
from pertinent.explanation import Positives, Results
from pertinent.plausibility.conflict import why_implausible
from pertinent.plausibility.hull import Hulls
from pertinent.prepared import Prepared


def reason(
    name: str, asked: Asked, results: Results, centers: FloatArray, limits: Limits
) -> list[Finding]:
    """Judge the words by the rules that the proof rests on."""
    said, prepared, parts = results.reason[0], asked.prepared, results.certificates
    if said is None or results.found[0]:
        return []
    claim = f"{name}: the reason is as said"
    if results.status_code[0] == FAILED:
        return [Finding(claim, GIVEN, "it is about the search, not about the model")]
    plain = not isinstance(results, Positives) or results.method == "two-phase"
    if not plain or len(parts) != 1 or unknown_kinds(parts[0].certificate):
        return [Finding(claim, UNKNOWN, "the certificate alone does not show it")]
    low, high = (np.broadcast_to(limit, results.values.shape)[0] for limit in limits)
    near = results.table.values if isinstance(prepared.within, Hulls) else centers
    own = _why(prepared, parts[0], near[0], (low, high))
    return [judged(claim, own == said, f"by the certificate: {own}")]


def _why(prepared: Prepared, part: Certified, near: FloatArray, limits: Limits) -> str:
    """Return the reason that a certificate gives."""
    key, proof, margin = part.key, part.certificate, prepared.asked_margin
    if prepared.within is not None:
        return why_implausible(prepared, key, proof, near, *limits, margin)
    region, words = prepared.region(*key, margin)[0], prepared.asked(key)
    return why_infeasible(proof, region, *limits, words, prepared.features, prepared.constraints)
