"""Regions in which a model is sure: the probability of a class is at least ``min_proba``.

Where the probability of label t against k is ``1 / (1 + exp(s_k - s_t))``, asking for p moves the
row ``s_k - s_t <= 0`` to ``s_k - s_t <= -log(p / (1 - p))``. For a softmax over more classes,
``sum_k exp(s_k - s_t) <= (1 - p) / p``, a convex inequality if the scores are linear.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.pieces import each_cell
from pertinent.geometry.region import Cell, Exponential, Region
from pertinent.models.combined.calibrated import log_odds
from pertinent.models.linear import linear_region
from pertinent.models.registry import RegionOf, decision_region, lineage, model_classes
from pertinent.models.steps.pipeline import (
    columns_of,
    final_step,
    inside,
    is_pipeline,
    pull_back,
    unwrap,
)
from pertinent.tables.numbers import is_number

#: Models whose rows ``score_k - score_t`` are exactly the logarithms of odds.
SOFTMAX = (
    "sklearn.linear_model.LogisticRegression",
    "sklearn.linear_model.LogisticRegressionCV",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.naive_bayes.MultinomialNB",
    "sklearn.naive_bayes.ComplementNB",
)

#: Tree ensembles whose outputs are the probabilities, and those whose single output of two classes
#: is the logarithm of the odds.
SHARES = (
    "sklearn.ensemble.RandomForestClassifier",
    "sklearn.ensemble.ExtraTreesClassifier",
)
BOOSTED = (
    "sklearn.ensemble.GradientBoostingClassifier",
    "sklearn.ensemble.HistGradientBoostingClassifier",
)


def confident(min_proba: float) -> RegionOf:
    """Return the function that gives a model's regions of at least this probability."""
    if not (is_number(min_proba) and 0.0 < min_proba < 1.0):
        raise InputError(f"min_proba must be a number between 0 and 1. Got {min_proba!r} instead.")
    return partial(confident_region, min_proba=float(min_proba))  # other processes can be given it


def confident_region(model: Foreign, label: Any, margin: float, min_proba: float) -> Region:
    """Return where a model predicts a label with at least the given probability.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> sure = confident_region(model, 1, 0.0, 0.9)
    >>> bool((sure.contains(X) == (model.predict_proba(X)[:, 1] >= 0.9)).all())
    True
    """
    last = unwrap(model)
    if is_pipeline(last):
        inner = confident_region(final_step(last), label, margin, min_proba)
        return pull_back(inner, columns_of(last))
    final, columns = final_step(inside(last)), columns_of(last)
    odds = float(np.log(min_proba) - np.log1p(-min_proba))
    least = _least_output(final, min_proba, odds)
    if least is not None:
        trees: Any = decision_region(final, label, 0.0)
        sure = trees.at_least(least)
        return pull_back(sure.tighten(margin) if margin else sure, columns)
    scores = log_odds(last)
    if scores is not None:
        region = linear_region(*scores, final, label, 0.0)
    else:
        _require_softmax(model, final)
        region = decision_region(final, label, 0.0)
    if len(model_classes(model)) == 2:
        sure = each_cell(region, lambda cell: _shifted(cell, max(odds, 0.0)), "min_proba")
    else:
        sure = each_cell(region, lambda cell: _softmax(cell, odds, final), "min_proba")
    return pull_back(sure.tighten(margin), columns)


def _least_output(final: Foreign, min_proba: float, odds: float) -> float | None:
    """Return the least output of a tree ensemble with that probability; None for other models."""
    known = {name for _, name in lineage(type(final))}
    if known & set(SHARES):
        return min_proba
    return odds if known & set(BOOSTED) and len(model_classes(final)) == 2 else None


def _require_softmax(model: Foreign, final: Foreign) -> None:
    if not hasattr(model, "predict_proba"):
        raise UnsupportedModelError(f"{type(model).__name__} has no predict_proba for min_proba.")
    known = {name for _, name in lineage(type(final))}
    n_classes = len(model_classes(model))
    votes = getattr(final, "multi_class", None) == "ovr" or (
        getattr(final, "solver", None) == "liblinear"
    )
    if not known & set(SOFTMAX) or (votes and n_classes > 2):
        short = ", ".join(name.rsplit(".", 1)[-1] for name in SOFTMAX)
        raise UnsupportedModelError(
            f"The probabilities of {type(final).__name__} are no softmax of its scores. min_proba "
            f"is supported for {short} (the curved ones with two classes), for "
            "CalibratedClassifierCV(method='sigmoid') over one binary linear model, and for "
            "forests, and boosted trees of two classes, of scikit-learn."
        )


def _shifted(cell: Cell, odds: float) -> Cell:
    """Return the cell whose rows are asked for with the logarithm of the odds."""
    rows = tuple(row.raised(odds) for row in cell.quadratics)
    return replace(cell, h=cell.h - odds, quadratics=rows)


def _softmax(cell: Cell, odds: float, final: Foreign) -> Cell:
    if not cell.is_linear:
        raise UnsupportedModelError(
            f"min_proba for {type(final).__name__} is supported with two classes only: with more, "
            "the region is not convex."
        )
    # sum_k exp(G_k x - h_k) <= exp(-odds)
    return replace(cell, exponentials=(Exponential(cell.G, odds - cell.h),))
