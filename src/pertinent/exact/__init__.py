"""Exact answers: strict positives, fewest features, several contrasts, sufficient reasons."""

from pertinent.exact.alternative import Alternative
from pertinent.exact.question import Effort, ExactQuestion, checked_count, data_ranges
from pertinent.exact.strict import strict

__all__ = ["Alternative", "Effort", "ExactQuestion", "checked_count", "data_ranges", "strict"]

exact = sufficient = strict
