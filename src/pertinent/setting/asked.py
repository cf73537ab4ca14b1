"""With what explanations were asked for: what views say in words, and what checks repeat."""

from __future__ import annotations

from dataclasses import dataclass, field

from pertinent.geometry.arrays import FloatArray
from pertinent.questions.positive import PositiveQuestion
from pertinent.setting.setting import Setting
from pertinent.summary.words import Wording


@dataclass(frozen=True, eq=False)
class Asked:
    """Everything beside the answers themselves.

    Parameters
    ----------
    prepared : Setting
    question : PositiveQuestion
    overlap : {"allow", "avoid"}
    baseline : str
        Where the baseline comes from: "median", "mean" or "given".
    measure : str
        What the weights are: "spread" (1 / standard deviation), "units" (all 1) or "given".
    ranges : ndarray of shape (2, n_features), optional
        Where the middle 90% of the training data lie.
    wording : Wording
    """

    prepared: Setting
    question: PositiveQuestion
    overlap: str = "allow"
    baseline: str = "given"
    measure: str = "given"
    ranges: FloatArray | None = None
    wording: Wording = field(default_factory=Wording)
