"""Whether the change keeps off what was enough, where that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.checking.about import about_the_question
from pertinent.checking.evidence import Evidence
from pertinent.checking.findings import CHANGE, ENOUGH, REFUTED, UNKNOWN, Finding, judged
from pertinent.setting.recheck import recheck_negatives
from pertinent.setting.region_key import RegionKey
from pertinent.summary.asked import Answered


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
    if asked.overlap == "allow":
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
