"""Exact answers: strict positives, fewest features, several contrasts, sufficient reasons."""

from pertinent.questions.effort import (
    Effort,
    ExactQuestion,
    data_ranges,
    refuse_misplaced,
)
from pertinent.questions.fewest_changed import FewChanges, few_changes
from pertinent.questions.fewest_kept import exact
from pertinent.questions.strict import strict
from pertinent.questions.sufficient.sufficient import sufficient
from pertinent.setting.alternative import Alternative

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
