"""Exact answers: strict positives, fewest features, several contrasts, sufficient reasons."""

from pertinent.exact.alternative import Alternative
from pertinent.exact.negatives import FewChanges, few_changes
from pertinent.exact.positives import exact
from pertinent.exact.question import (
    Effort,
    ExactQuestion,
    data_ranges,
    refuse_misplaced,
)
from pertinent.exact.strict import strict
from pertinent.exact.sufficient import sufficient

__all__ = [
    "Alternative",
    "Effort",
    "ExactQuestion",
    "FewChanges",
    "data_ranges",
    "exact",
    "few_changes",
    "refuse_misplaced",
    "strict",
    "sufficient",
]
