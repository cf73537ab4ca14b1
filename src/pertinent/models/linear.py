"""Linear classifiers: the class with the largest score ``W x + b`` wins.

Label ``t`` wins where ``(W_k - W_t) x <= b_t - b_k`` for every other class k: one cell with
K - 1 rows, a half-space for two classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.models.registry import (
    class_index,
    dense,
    model_classes,
    register_model,
    registered_function,
)

#: Beyond it products of coefficients are no numbers any more.
LARGEST_COEFFICIENT = 1e150


def linear_region(
    coef: FloatArray, intercept: FloatArray, model: Foreign, label: Any, margin: float
) -> Region:
    """Return where ``label`` wins under linear scores.

    Parameters
    ----------
    coef : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        With a single row, a positive score means the second class.
    intercept : ndarray of shape (n_classes,) or (1,)
    model : fitted classifier
        Asked for its ``classes_`` only.
    label : one of ``classes_``
    margin : float
    """
    require_usable(model, coef, intercept)
    t, n_classes = class_index(model, label), len(model_classes(model))
    if len(coef) == 1 and n_classes == 2:
        sign = -1.0 if t == 1 else 1.0
        cell = Cell(sign * coef, -sign * intercept)
    elif len(coef) == n_classes:
        others = np.flatnonzero(np.arange(n_classes) != t)
        rivals, beyond = coef.take(others, axis=0), intercept.take(others)
        # predict adds up two whole scores, of which the row is the difference.
        terms = np.empty((len(rivals), coef.shape[1] + 1))
        np.add(np.abs(rivals), np.abs(coef[t]), out=terms[:, :-1])
        np.add(np.abs(beyond), np.abs(intercept[t]), out=terms[:, -1])
        cell = Cell(rivals - coef[t], intercept[t] - beyond, magnitudes=terms)
    else:
        raise InputError(
            f"{type(model).__name__} has {n_classes} classes and {len(coef)} rows of "
            "coefficients; expected one row for each class, or one row for two classes."
        )
    return CellUnion((cell.tighten(margin),))


def require_usable(model: Foreign, *numbers: FloatArray) -> None:
    """Refuse coefficients that are no numbers, or so large that products with them are none."""
    for some in numbers:
        odd = some[~(np.abs(some) <= LARGEST_COEFFICIENT)]
        if odd.size:
            raise UnsupportedModelError(
                f"{type(model).__name__} has the coefficient {odd.flat[0]:g}. Coefficients must be "
                f"numbers of at most {LARGEST_COEFFICIENT:g}: products with larger ones overflow. "
                "Scale the features, or fit the model with more regularization."
            )


def coefficients(model: Foreign) -> tuple[FloatArray, FloatArray]:
    """Return ``coef_`` (dense, two-dimensional) and ``intercept_`` in double precision."""
    W = np.atleast_2d(dense(model.coef_))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=float).reshape(-1), (len(W),))
    require_usable(model, W, b)
    return W, b


@register_model(
    "sklearn.linear_model.LogisticRegression",
    "sklearn.linear_model.LogisticRegressionCV",
    "sklearn.linear_model.SGDClassifier",
    "sklearn.linear_model.Perceptron",
    "sklearn.linear_model.PassiveAggressiveClassifier",
    "sklearn.linear_model.RidgeClassifier",
    "sklearn.linear_model.RidgeClassifierCV",
    "sklearn.svm.LinearSVC",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
)
def scored_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of models that predict the class of the largest linear score."""
    coef, intercept = coefficients(model)
    _require_a_class_for_every_score(model, coef, intercept)
    return linear_region(coef, intercept, model, label, margin)


def adds_up_in_double(model: Foreign) -> bool:
    """Return whether the scores of samples in single precision are rounded in double precision.

    ``X @ coef_.T + intercept_`` is computed in the wider type of its first two terms, to which
    samples are converted without rounding. What stands before a model, such as a scaler, may
    round in single precision: False for everything but these models themselves.
    """
    if registered_function(model) is not scored_region:
        return False
    return np.result_type(model.coef_.dtype, np.float32) == np.float64


def winning_scores(model: Foreign) -> tuple[FloatArray, FloatArray] | None:
    """Return ``W`` and ``b`` of a model that predicts the class of the largest ``W x + b``.

    None for models that decide otherwise, or that have a step before them.
    """
    if registered_function(model) is not scored_region:
        return None
    coef, intercept = coefficients(model)
    return (coef, intercept) if len(coef) == len(model_classes(model)) > 1 else None


def _require_a_class_for_every_score(
    model: Foreign, coef: FloatArray, intercept: FloatArray
) -> None:
    """Refuse one class with a score that may be positive, which means the second class.

    Fitted on one class only, a model that allows it has a score of at most 0 everywhere.
    """
    if len(coef) == len(model_classes(model)) == 1 and (coef.any() or intercept[0] > 0):
        raise InputError(
            f"{type(model).__name__} has one class only, {model_classes(model).tolist()[0]!r}, and "
            "its predict fails where its score is positive, which means a second class. Fit it "
            "on samples of at least two classes."
        )
