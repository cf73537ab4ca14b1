"""The claims of what stands in for a positive that keeps nothing by choice."""

from __future__ import annotations

from dataclasses import replace

from pertinent.checking.findings import ENOUGH, UNKNOWN, Finding, judged
from pertinent.checking.positives import positive_findings
from pertinent.setting.claims.instead import Instead, fault, is_empty
from pertinent.setting.results import Negatives
from pertinent.summary.asked import Answered, Asked

#: Begins every claim of the answer that stands in.
IN_ITS_PLACE = "in its place: "


def instead_findings(explanations: Answered, negative: Negatives, unsure: str) -> list[Finding]:
    """Judge what stands in for an empty positive; nothing where the file says nothing of it.

    Parameters
    ----------
    explanations : Answered
        Of one sample; its label is what the model predicts.
    negative : Negatives
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    asked, [instead] = explanations.asked, explanations.instead([0])
    assert asked is not None
    if instead is None:
        return []
    claim = f"{ENOUGH} keeps nothing by choice, so that another answer may be told"
    empty = is_empty(asked.setting, asked.question, explanations.positive)[0]
    target = int(negative.target_place[0])
    why = fault(asked.setting, asked.question, instead, target)
    kind = f"{IN_ITS_PLACE}the answer is of the kind {instead.basis.value!r}"
    out = [judged(claim, empty), judged(kind, not why, why)]
    if unsure:
        out = [Finding(finding.claim, UNKNOWN, unsure) for finding in out]
    return out + _own_findings(asked, instead, explanations, unsure)


def _own_findings(
    asked: Asked, instead: Instead, explanations: Answered, unsure: str
) -> list[Finding]:
    """Judge the answer itself as any positive, from the base values that it says it has."""
    if instead.positive is None:
        return []
    found = replace(instead.positive, label=explanations.positive.label)
    question = replace(asked.question, baseline=found.baseline)
    own = positive_findings(replace(asked, question=question), found, unsure)
    same = instead.positive.label[0] == found.label[0]
    said = judged(f"{IN_ITS_PLACE}it is about the class that is predicted", same)
    return [said, *(replace(f, claim=f"{IN_ITS_PLACE}{f.claim}") for f in own)]
