"""Calibrated classifiers: a sigmoid moves the threshold of a binary model's score.

``CalibratedClassifierCV(method="sigmoid")`` gives ``1 / (1 + exp(a s + b))`` for a score s, so it
decides by the sign of ``-(a s + b)``: a linear model with its coefficients times -a.
"""

from __future__ import annotations

from typing import Any

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import Region
from pertinent.models.linear import coefficients, linear_region
from pertinent.models.registry import model_classes, register_model
from pertinent.models.steps.pipeline import columns_of, final_step, inside, pull_back

CALIBRATED = "sklearn.calibration.CalibratedClassifierCV"


def log_odds(model: Foreign) -> tuple[FloatArray, FloatArray] | None:
    """Return ``W, b`` so that the log odds are ``W x + b``; None for an uncalibrated model."""
    if not hasattr(model, "calibrated_classifiers_"):
        return None
    if len(model_classes(model)) != 2:
        raise UnsupportedModelError(
            "CalibratedClassifierCV with more than two classes calibrates each class by itself; "
            "two classes are supported."
        )
    if len(model.calibrated_classifiers_) != 1:
        raise UnsupportedModelError(
            f"This CalibratedClassifierCV averages {len(model.calibrated_classifiers_)} models, "
            "and the average of sigmoids is no linear score. Fit it with ensemble=False, or on a "
            "FrozenEstimator."
        )
    one = model.calibrated_classifiers_[0]
    if one.method != "sigmoid":
        raise UnsupportedModelError(
            f"CalibratedClassifierCV(method={one.method!r}) is not supported; 'sigmoid' is."
        )
    final = final_step(one.estimator)
    if not is_scored(final):
        raise UnsupportedModelError(
            f"CalibratedClassifierCV over {type(final).__name__}: supported are linear models "
            "with a decision_function."
        )
    W, b = coefficients(final_step(inside(model)))
    factor, offset = -float(one.calibrators[0].a_), -float(one.calibrators[0].b_)
    return factor * W, factor * b + offset


def is_scored(final: Foreign) -> bool:
    """Return whether a model decides by the sign of a linear score that it gives out."""
    return hasattr(final, "decision_function") and hasattr(final, "coef_")


@register_model(CALIBRATED)
def calibrated_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a sigmoid over one binary linear model."""
    scores = log_odds(model)
    assert scores is not None
    return pull_back(linear_region(*scores, model, label, margin), columns_of(model))
