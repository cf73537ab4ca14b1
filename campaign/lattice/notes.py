"""What a judge notes about one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from campaign.judges import Tally

FOUND = ("optimal", "feasible")
#: What sums of a few terms round to.
ROUNDING = 1e-6
#: How much better another answer must be than one that is called optimal.
GAP = 1e-4


@dataclass(frozen=True)
class Notes:
    """A tally, and which answer is judged."""

    tally: Tally
    about: str
    row: int

    def holds(self, name: str, right: Any, *detail: Any) -> bool:
        """Count one judgement, and note a failure with what was seen."""
        name = f"lattice: {name}"
        self.tally.counts[name] += 1
        if not right:
            words = ", ".join(map(str, detail))
            self.tally.fail(name, self.row, f"{self.about}, sample {self.row}: {words}")
        return bool(right)

    def at_most(self, name: str, value: float, most: float, *detail: Any) -> bool:
        """Judge ``value <= most``, up to rounding."""
        return self.holds(name, value <= most + ROUNDING * (1 + abs(most)), value, most, *detail)


def least(values: Any, among: Any) -> float:
    """Return the smallest of some values, infinity if there are none."""
    return float(np.min(np.asarray(values, float)[among], initial=np.inf))
