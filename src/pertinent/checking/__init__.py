"""A stored explanation, judged again: by the model's own ``predict`` and without any solver.

`document` makes the library's own answers of a document; `claims` is the list of what it
claims; each of the other modules judges one kind of claim.
"""

from pertinent.checking.claims import check
from pertinent.checking.findings import (
    GIVEN,
    HOLDS,
    NOT_CHECKED,
    REFUTED,
    UNKNOWN,
    Checked,
    Finding,
)

__all__ = ["GIVEN", "HOLDS", "NOT_CHECKED", "REFUTED", "UNKNOWN", "Checked", "Finding", "check"]
