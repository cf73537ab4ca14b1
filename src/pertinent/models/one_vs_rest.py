"""One binary model for each class: the class of the largest score wins.

The binary models may be pipelines. If each of them ends in a linear score, that score is linear in
the raw columns too, and the scores of all classes can be compared there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import Region
from pertinent.models.calibrated import is_scored, log_odds
from pertinent.models.linear import coefficients, linear_region
from pertinent.models.registry import model_classes, register_model
from pertinent.models.steps.pipeline import ONE_VS_REST, columns_of, final_step, inside, unwrap


@register_model(ONE_VS_REST)
def one_vs_rest_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of one-vs-rest over linear binary classifiers, or pipelines of them."""
    if getattr(model, "multilabel_", False):
        raise UnsupportedModelError("OneVsRestClassifier on several labels at once: not a class.")
    _require_classes(model)
    scores = [_raw_score(inner) for inner in model.estimators_]
    rows, offsets = np.array([row for row, _ in scores]), np.array([b for _, b in scores])
    return linear_region(rows, offsets, model, label, margin)


def _require_classes(model: Foreign) -> None:
    """Refuse one class: in place of its binary model there is a constant."""
    classes = model_classes(model).tolist()
    if len(classes) == 1:
        raise InputError(
            f"OneVsRestClassifier was fitted on one class only, {classes[0]!r}, and always "
            "predicts it. Fit it on samples of at least two classes."
        )


def _raw_score(model: Foreign) -> tuple[FloatArray, float]:
    """Return the slope and the offset of a binary model's score in the raw columns.

    A calibrated score is compared through its log odds: the sigmoid is monotone.
    """
    one = unwrap(model)
    final, columns = final_step(inside(one)), columns_of(one)
    if not is_scored(final):
        raise UnsupportedModelError(
            f"OneVsRestClassifier over {type(final).__name__}: supported are linear classifiers "
            "with a decision_function, e.g. LogisticRegression or LinearSVC, or pipelines of them."
        )
    W, b = log_odds(one) or coefficients(final)
    if columns is None:
        return W[0], float(b[0])
    if columns.products is not None:
        raise UnsupportedModelError(
            "OneVsRestClassifier over products of columns: put PolynomialFeatures in front of it."
        )
    # w'(M z + t) + b
    return columns.map.rows(W)[0], float(W[0] @ columns.map.shift + b[0])
