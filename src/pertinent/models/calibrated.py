"""Calibrated classifiers: a sigmoid moves the threshold of a binary model's score.

``CalibratedClassifierCV(method="sigmoid")`` gives ``1 / (1 + exp(a s + b))`` for a score s, so it
decides by the sign of ``-(a s + b)``: a linear model with its coefficients times -a.
"""

from __future__ import annotations

from typing import Any

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Region
from pertinent.models.linear import coefficients, linear_region
from pertinent.models.registry import model_classes, register_model
from pertinent.models.steps.pipeline import columns_of, final_step, inside, pull_back

CALIBRATED = "sklearn.calibration.CalibratedClassifierCV"


def log_odds_factor(model: Foreign) -> tuple[float | None, float]:
    """Return f and o so that the log odds are ``f s + o``; None and 0 for an uncalibrated model."""
    if not hasattr(model, "calibrated_classifiers_"):
        return None, 0.0
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
    if not hasattr(final, "decision_function") or not hasattr(final, "coef_"):
        raise UnsupportedModelError(
            f"CalibratedClassifierCV over {type(final).__name__}: supported are linear models "
            "with a decision_function."
        )
    sigmoid = one.calibrators[0]
    return -float(sigmoid.a_), -float(sigmoid.b_)


@register_model(CALIBRATED)
def calibrated_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a sigmoid over one binary linear model."""
    factor, offset = log_odds_factor(model)
    final = final_step(inside(model))
    W, b = coefficients(final)
    scale = 0.0 if factor is None else factor
    region = linear_region(scale * W, scale * b + offset, model, label, margin)
    return pull_back(region, columns_of(model))
