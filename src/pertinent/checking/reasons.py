"""The words for why there is no answer."""

from __future__ import annotations

import numpy as np

from pertinent.answering.proposing import why_none
from pertinent.checking.findings import GIVEN, UNKNOWN, Finding, judged
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.codec import unknown_kinds
from pertinent.proofs import FAILED
from pertinent.setting.results import Positives, Results
from pertinent.summary.asked import Asked


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
    region = prepared.region(parts[0].key, prepared.asked_margin)
    own = why_none(prepared, parts[0], region, near[0], (low, high))
    return [judged(claim, own == said, f"by the certificate: {own}")]
