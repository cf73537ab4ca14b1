"""The claims of a pertinent positive: what was enough for the prediction."""

from __future__ import annotations

from pertinent.checking.about import about_the_question
from pertinent.checking.exact import exact_proofs
from pertinent.checking.findings import ENOUGH, Finding
from pertinent.checking.points import valid
from pertinent.checking.reasons import reason
from pertinent.checking.two_phase import two_phase_proofs
from pertinent.exceptions import InputError
from pertinent.setting.limits import positive_limits
from pertinent.setting.region_key import Is, Not
from pertinent.setting.results import Positives
from pertinent.summary.asked import Asked

#: What the certificates of each method bound, by their field.
METHODS = {
    "two-phase": {"certificates": "distance", "closeness_certificates": "distance"},
    "strict": {"certificates": "strict", "closeness_certificates": "strict"},
    "exact": {"certificates": "size", "closeness_certificates": "cost"},
    "sufficient": {"certificates": "sufficient"},
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
    if positive.method not in METHODS:
        raise InputError(f"The stored method {positive.method!r} is not known.")
    prepared, question = asked.prepared, asked.question
    # What suffices whatever the other values are is proved by what other classes need.
    others = [Not(label)] if positive.method == "sufficient" else []
    positive, foreign = about_the_question(
        ENOUGH, asked, positive, [Is(label), *others], METHODS[positive.method]
    )
    limits = positive_limits(prepared, positive.table, question)
    proofs = two_phase_proofs if positive.method == "two-phase" else exact_proofs
    return [
        *valid(ENOUGH, prepared, positive, Is(label), int(positive.label[0]), limits),
        *foreign,
        *proofs(asked, positive, unsure),
        *reason(ENOUGH, asked, positive, question.baseline[None], limits, unsure),
    ]
