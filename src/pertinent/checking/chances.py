"""How far two computations of a model's own probability may be apart: what rounding explains.

A model asked about many samples adds up in another order than asked about one. What it adds up to
compare two classes, ``s_t - s_k``, is off by at most ``e = (d + 4) u S``, with S the terms of both
(`pertinent.geometry.rounding`), so two computations differ by ``2 e``. A probability p then differs
by ``p (1 - p) 2 e``, whether it comes from a softmax, ``dp / p = sum_k p_k d(s_t - s_k)``, or from
sigmoids that are made to add up to 1, ``dp / p = (1 - g_t)(1 - p) ds_t - sum_k p_k (1 - g_k) ds_k``
over the other classes k. Exponentials, their sum and the quotient add some roundings of p.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.checking.tolerances import SAME, SAME_IN_SINGLE
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE, Leading
from pertinent.models.steps.pipeline import final_step
from pertinent.setting.region_key import Is
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered
from pertinent.summary.chances import PROBABILITY

#: The smallest number of single precision.
TINY = 2.0**-149
#: Roundings of an exponential, of a quotient and of the number itself.
FEW = 8


@dataclass(frozen=True)
class Rounded:
    """By how much the model's own numbers may differ.

    Parameters
    ----------
    scores : float
        By how much two computations of a score may differ.
    share, least : float
        What is the same, relative to the number, and however small the number is.
    """

    scores: float
    share: float
    least: float

    def explains(self, own: Any, told: Any, kind: str) -> bool:
        """Return whether two numbers of a kind may be two computations of one."""
        if not all(isinstance(v, float | int) and not isinstance(v, bool) for v in (own, told)):
            return False
        slope = own * (1 - own) if kind == PROBABILITY else 1.0
        most = max(self.share * abs(own), self.least) + slope * self.scores
        return bool(abs(own - told) <= most)


def rounded(explanations: Answered, setting: Setting) -> Rounded:
    """Return by how much the numbers of one explanation may differ."""
    table = explanations.table
    if not table.single_precision:
        return Rounded(0.0, SAME, SAME)
    positive, negative = explanations.positive, explanations.negative
    points = np.vstack([table.values, positive.values, negative.values])
    points = points[~np.isnan(points).any(axis=1)]
    places = {int(positive.label[0]), int(negative.target_place[0])} - {-1}
    scores = [_apart(setting, explanations, place, points) for place in places]
    if _is_clipped(setting) or any(score is None for score in scores):
        return Rounded(0.0, SAME_IN_SINGLE, SAME_IN_SINGLE)
    last = 2 * (len(setting.classes) + FEW) * ROUNDOFF_SINGLE
    return Rounded(max(score for score in scores if score is not None), last, TINY)


def _is_clipped(setting: Setting) -> bool:
    """Return whether probabilities are clipped scores: neither a softmax nor sigmoids."""
    return getattr(final_step(setting.model), "loss", None) == "modified_huber"


def _apart(
    setting: Setting, explanations: Answered, place: int, points: FloatArray
) -> float | None:
    """Return ``2 e`` of the scores of a class against all others; None where S is not known."""
    rounding = setting.of_predict.rounding(Is(place))
    if rounding is None or not len(rounding.pieces):
        return None
    pieces = rounding.pieces
    if isinstance(pieces, Leading):
        pieces = [pieces[i] for i in np.unique(pieces.leading(points)).tolist()]
    single = setting.sums_in_single(explanations.table) and not rounding.knows_precision
    unit = (points.shape[1] + 4) * (ROUNDOFF_SINGLE if single else ROUNDOFF)
    most = max(float(piece.added_up(points).max()) for piece in pieces)
    return float(2 * unit * most)
