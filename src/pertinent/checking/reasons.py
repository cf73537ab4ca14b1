"""Why there is no answer: the kind of the reason, and the rules that it names."""

from __future__ import annotations

import numpy as np

from pertinent.checking.findings import GIVEN, UNKNOWN, Finding, judged
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.codec import unknown_kinds
from pertinent.proofs import FAILED
from pertinent.setting.answers import Certified
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.implausible import is_shown, why_pair
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.results import Positives, Results
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked

NOT_SHOWN = "the certificate alone does not show it"


def reason(
    name: str, asked: Asked, results: Results, centers: FloatArray, limits: Limits, unsure: str
) -> list[Finding]:
    """Judge the reason by the rules that the proof rests on; words are not compared."""
    said, prepared, parts = results.reasons[0], asked.prepared, results.certificates
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
    plain = not isinstance(results, Positives) or results.method == "two-phase"
    if not plain or len(parts) != 1 or unknown_kinds(parts[0].certificate):
        return [Finding(claim, UNKNOWN, NOT_SHOWN)]
    low, high = (np.broadcast_to(limit, results.values.shape)[0] for limit in limits)
    near = results.table.values if isinstance(prepared.within, Hulls) else centers
    own = _read_off(prepared, said, parts[0], near[0], (low, high))
    if own is None:
        return [Finding(claim, UNKNOWN, NOT_SHOWN)]
    return [judged(claim, own == said, f"by the certificate: {own.words(results.classes)}")]


def _read_off(
    prepared: Setting, said: Reason, part: Certified, near: FloatArray, limits: Limits
) -> Reason | None:
    """Return the reason that the proofs show; None if they do not show one of this kind."""
    own = part.certificate
    if prepared.within is None:
        region = prepared.region(part.key, prepared.asked_margin)
        return why_infeasible(prepared, part.key, own, region, limits)
    if said.asked != part.key or not is_shown(prepared, said, near, limits):
        return None
    return why_pair(prepared, said.kind, part.key, said.proof or own, own, near, limits)
