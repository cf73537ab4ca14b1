"""What models made of linear binary models share: the score of each in the raw columns."""

from __future__ import annotations

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.models.combined.calibrated import is_scored, log_odds
from pertinent.models.linear import coefficients
from pertinent.models.steps.pipeline import columns_of, final_step, inside, unwrap


def raw_score(owner: Foreign, model: Foreign) -> tuple[FloatArray, float]:
    """Return the slope and the offset of a binary model's score in the raw columns.

    A calibrated score is compared through its log odds: the sigmoid is monotone.
    """
    one, name = unwrap(model), type(owner).__name__
    final, columns = final_step(inside(one)), columns_of(one)
    if not is_scored(final):
        raise UnsupportedModelError(
            f"{name} over {type(final).__name__}: supported are linear classifiers with a "
            "decision_function, e.g. LogisticRegression or LinearSVC, or pipelines of them."
        )
    W, b = log_odds(one) or coefficients(final)
    if columns is None:
        return W[0], float(b[0])
    if columns.products is not None or columns.bends:
        raise UnsupportedModelError(
            f"{name} over products of columns, or over columns that a function bends: put "
            "PolynomialFeatures in front of it, and explain bent columns in their own units."
        )
    # w'(M z + t) + b
    return columns.map.rows(W)[0], float(W[0] @ columns.map.shift + b[0])


def raw_scores(owner: Foreign, models: list[Foreign]) -> tuple[FloatArray, FloatArray]:
    """Return the slopes and the offsets of several binary models, one row each."""
    scores = [raw_score(owner, model) for model in models]
    if len({len(row) for row, _ in scores}) > 1:
        raise UnsupportedModelError(
            f"The models in this {type(owner).__name__} read the raw features each in a way of its "
            "own (some encode or bin them). Put the steps that encode or bin in front of it."
        )
    return np.array([row for row, _ in scores]), np.array([offset for _, offset in scores])


def require_plain_scores(owner: Foreign, models: list[Foreign]) -> None:
    """Refuse calibrated models: what is compared or added up are their probabilities."""
    for model in models:
        if hasattr(unwrap(model), "calibrated_classifiers_"):
            raise UnsupportedModelError(
                f"{type(owner).__name__} over CalibratedClassifierCV adds up probabilities, which "
                "are no linear scores. Calibrate the whole of it instead, or leave it out."
            )
