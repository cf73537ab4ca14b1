"""Calibrated classifiers: a monotone function moves the threshold of a binary model's score.

For a score s, ``CalibratedClassifierCV`` gives class 1 the probability

* ``1 / (1 + exp(a s + b))`` (sigmoid): it decides by the sign of ``-(a s + b)``, a linear model
  with its coefficients times -a;
* a rising, piecewise linear function of s (isotonic): class 1 wins above the largest s at which it
  is at most 1/2, which is found to the last bit in the function as it is computed;
* a softmax of ``beta s`` (temperature): the class of the model inside, of any number of classes.

Several folds that calibrate one and the same model (a FrozenEstimator) have a mean that is monotone
in s as well. Folds with models of their own do not: their mean is a sum of functions of several
scores.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.geometry.pieces import each_cell
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.models.linear import coefficients, linear_region, scored_region
from pertinent.models.registry import (
    class_index,
    model_classes,
    register_model,
    registered_function,
)
from pertinent.models.steps.once import once
from pertinent.models.steps.pipeline import columns_of, final_step, inside, pull_back

CALIBRATED = "sklearn.calibration.CalibratedClassifierCV"
#: What a probability near 1/2 may be off by, in either direction.
OFF = 2.0**-50


def log_odds(model: Foreign) -> tuple[FloatArray, FloatArray] | None:
    """Return ``W, b`` so that the log odds are ``W x + b``; None for an uncalibrated model."""
    if not hasattr(model, "calibrated_classifiers_"):
        return None
    _require_two_classes(model)
    if len(model.calibrated_classifiers_) != 1:
        raise _averages(model)
    one = model.calibrated_classifiers_[0]
    if one.method != "sigmoid":
        raise UnsupportedModelError(
            f"CalibratedClassifierCV(method={one.method!r}): its probabilities are no sigmoid of a "
            "linear score, which is needed here; those of method='sigmoid' are."
        )
    W, b = _score(model)
    factor, offset = -float(one.calibrators[0].a_), -float(one.calibrators[0].b_)
    return factor * W, factor * b + offset


def _averages(model: Foreign) -> UnsupportedModelError:
    count = len(model.calibrated_classifiers_)
    return UnsupportedModelError(
        f"This CalibratedClassifierCV averages {count} models, and the average of sigmoids is no "
        "linear score. Fit it with ensemble=False, or on a FrozenEstimator."
    )


def _require_two_classes(model: Foreign) -> None:
    if len(model_classes(model)) != 2:
        raise UnsupportedModelError(
            "CalibratedClassifierCV with more than two classes calibrates each class by itself; "
            "two classes are supported, and any number with method='temperature'."
        )


def _score(model: Foreign) -> tuple[FloatArray, FloatArray]:
    """Return the score of the model inside, which must be linear."""
    final = final_step(inside(model))
    if not is_scored(final):
        raise UnsupportedModelError(
            f"CalibratedClassifierCV over {type(final).__name__}: supported are linear models "
            "with a decision_function."
        )
    return coefficients(final)


def is_scored(final: Foreign) -> bool:
    """Return whether a model decides by the sign of a linear score that it gives out."""
    return hasattr(final, "decision_function") and hasattr(final, "coef_")


@register_model(CALIBRATED)
def calibrated_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a calibrated linear model."""
    parts = model.calibrated_classifiers_
    if inside(model) is model:  # several models, each with scores of its own
        raise _averages(model)
    if all(part.method == "temperature" for part in parts):
        region = _same_class(model, label, margin)
    else:
        _require_two_classes(model)
        region = _moved(model, label, margin)
    return pull_back(region, columns_of(model))


def _same_class(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of the model inside: a softmax keeps the order of the scores.

    Scores that differ by less than ``u / beta`` may have the same probability.
    """
    scores, final = _score(model), final_step(inside(model))
    if len(model_classes(model)) > 2 and registered_function(final) is not scored_region:
        raise UnsupportedModelError(
            f"CalibratedClassifierCV(method='temperature') over {type(final).__name__} with more "
            "than two classes: supported are linear models with one score for each class, e.g. "
            "LinearSVC."
        )
    least = min(float(p.calibrators[0].beta_) for p in model.calibrated_classifiers_)

    def rounded(cell: Cell) -> Cell:
        terms = cell.terms.copy()
        terms[:, -1] += 8.0 / least
        return replace(cell, magnitudes=terms)

    return each_cell(linear_region(*scores, model, label, margin), rounded, "temperature")


def _moved(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a score is above, or not above, the threshold that calibration gives it."""
    if len(model.calibrated_classifiers_) == 1 and _methods(model) == {"sigmoid"}:
        scores = log_odds(model)
        assert scores is not None
        return linear_region(*scores, model, label, margin)
    (W, b), sign = _score(model), _direction(model)
    threshold, unsure = once("threshold", model, sign, partial(_threshold, model, sign))
    second, dim = class_index(model, label) == 1, W.shape[1]
    if np.isinf(threshold):
        never = second == (threshold > 0)
        return CellUnion(() if never else (Cell.whole_space(dim),), dim)
    # Class 1: sign (w x + b) > threshold, i.e. -sign w x <= sign b - threshold.
    side = -1.0 if second else 1.0
    size = abs(b[0]) + abs(threshold) + unsure / (2.0**-53 * (dim + 4))
    cell = Cell(
        side * sign * W,
        np.array([side * (threshold - sign * float(b[0]))]),
        magnitudes=np.append(np.abs(W[0]), size)[None],
    )
    return CellUnion((cell.tighten(margin),))


def _methods(model: Foreign) -> set[str]:
    return {part.method for part in model.calibrated_classifiers_}


def _direction(model: Foreign) -> float:
    """Return 1 where the probability of class 1 rises with the score, -1 where it falls."""
    slopes = [
        -float(part.calibrators[0].a_)
        if part.method == "sigmoid"
        else (1.0 if part.calibrators[0].increasing_ else -1.0)
        for part in model.calibrated_classifiers_
    ]
    if min(slopes) < 0 < max(slopes):
        raise UnsupportedModelError(
            "The folds of this CalibratedClassifierCV do not share the order of scores: of some "
            "the probability rises with the score, of others it falls, so that their mean does "
            "both. Fit it with ensemble=False."
        )
    return -1.0 if min(slopes) < 0 else 1.0


def _threshold(model: Foreign, sign: float) -> tuple[float, float]:
    """Return the largest score, times ``sign``, at which class 0 wins, and how unsure it is."""
    calibrators = [part.calibrators[0] for part in model.calibrated_classifiers_]

    def lead(scores: FloatArray) -> FloatArray:
        # As predict adds up: the sum over folds of p and of 1 - p, each divided by their number.
        every = [np.asarray(one.predict(sign * scores), dtype=float) for one in calibrators]
        ahead, behind = (
            sum(parts, np.zeros(len(scores))) / len(every)
            for parts in (every, [1.0 - p for p in every])
        )
        return np.asarray(ahead - behind)

    low, at, high = last_at_most(lead, np.array([-OFF, 0.0, OFF])).tolist()
    if np.isinf(at):
        return at, 0.0
    # On a plateau of exactly 1/2 class 0 wins, and nothing rounds.
    level = lead(np.array([at, at / 2 + max(low, -np.finfo(float).max) / 2])) == 0
    unsure = max(high - at, 0.0 if level.all() else at - low)
    if np.isinf(unsure):
        raise UnsupportedModelError(
            "The probabilities of this CalibratedClassifierCV stay at 1/2, up to rounding, however "
            "large the score: rounding decides. Calibrate it with more samples."
        )
    return at, unsure
