"""How far two computations of a model's own probability may be apart: what rounding explains.

A model asked about many samples adds up in another order than asked about one. What it adds up to
compare two classes, ``s_t - s_k``, is off by at most ``e = (d + 4) u S``, with S the terms of both
(`pertinent.geometry.rounding`), so two computations differ by ``2 e``. A probability p then differs
by ``p (1 - p) 2 e`` if that is small, and its odds ``p / (1 - p)`` by a factor of ``exp(2 e)`` at
most, whether it comes from a softmax, ``dp / p = sum_k p_k d(s_t - s_k)``, or from
sigmoids that are made to add up to 1, ``dp / p = (1 - g_t)(1 - p) ds_t - sum_k p_k (1 - g_k) ds_k``
over the other classes k. Exponentials, their sum and the quotient add some roundings of p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.checking.tolerances import SAME, SAME_IN_SINGLE
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE, Leading
from pertinent.models.combined.searched import unsearched
from pertinent.models.regressors import RangeClassifier
from pertinent.models.steps.pipeline import final_step
from pertinent.setting.region_key import Is
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered
from pertinent.summary.chances import PROBABILITY, VALUE

#: The smallest number of single precision.
TINY = 2.0**-149
#: The smallest number of double precision, and the score beyond which an exponential has no end.
LEAST, MOST_SCORE = 2.0**-1074, 700.0
#: Roundings of an exponential, of a quotient and of the number itself.
ROUNDINGS = 8


@dataclass(frozen=True)
class Rounded:
    """By how much the model's own numbers may differ.

    Parameters
    ----------
    scores : float
        By how much two computations of a score may differ.
    share, least : float
        What is the same, relative to the number, and however small the number is.
    model : RangeClassifier, optional
        A regressor: what it predicts where a score is off.
    """

    scores: float
    share: float
    least: float
    model: RangeClassifier | None = None

    def explains(self, own: Any, told: Any, kind: str) -> bool:
        """Return whether two numbers of a kind may be two computations of one."""
        if not all(isinstance(v, float | int) and not isinstance(v, bool) for v in (own, told)):
            return False
        low, high = own - self.scores, own + self.scores
        if kind == VALUE and self.model is not None:
            low, high = self.model.around(float(own), self.scores)
        if kind == PROBABILITY:
            low, high = _by_odds(own, -self.scores), _by_odds(own, self.scores)
        most = max(self.share * abs(own), self.least)
        return bool(min(own, low) - most <= told <= max(own, high) + most)


def _by_odds(p: float, by: float) -> float:
    """Return a probability whose odds are ``exp(by)`` times as large."""
    p = min(max(p, LEAST), 1 - ROUNDOFF)  # 1 is what rounding makes of more
    score = math.log(p) - math.log1p(-p) + by
    return 1 / (1 + math.exp(-score)) if score > -MOST_SCORE else 0.0


def rounded(explanations: Answered, setting: Setting) -> Rounded:
    """Return by how much the numbers of one explanation may differ."""
    table = explanations.table
    positive, negative = explanations.positive, explanations.negative
    points = np.vstack([table.values, positive.values, negative.values])
    points = points[~np.isnan(points).any(axis=1)]
    places = {int(positive.label[0]), int(negative.target_place[0])} - {-1}
    scores = [_apart(setting, explanations, place, points) for place in places]
    unknown = _is_clipped(setting) or any(score is None for score in scores)
    model = unsearched(setting.model)
    own = model if isinstance(model, RangeClassifier) else None
    if not table.single_precision:
        off = 0.0 if unknown else max(filter(None, scores), default=0.0)
        return Rounded(off, SAME, SAME, own)
    if unknown:
        return Rounded(0.0, SAME_IN_SINGLE, SAME_IN_SINGLE, own)
    last = 2 * (len(setting.classes) + ROUNDINGS) * ROUNDOFF_SINGLE
    return Rounded(max(score for score in scores if score is not None), last, TINY, own)


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
