"""Naive Bayes for counts, truth values and categories: linear in what each of them sees.

========================  ======================================================================
MultinomialNB             ``score_k = sum_j x_j log p_kj + log prior_k``
ComplementNB              ``score_k = sum_j x_j w_kj``, plus the prior where there is one class only
BernoulliNB               ``sum_j (v_j log p_kj + (1 - v_j) log(1 - p_kj)) + log prior_k``, with
                          ``v_j = [x_j > binarize]``: linear in v, a step function of each column
CategoricalNB             ``sum_j log p_kj[c_j] + log prior_k``, c_j the code of a category: linear
                          in columns of 0 and 1, one for each code
========================  ======================================================================

The first class with the largest score is predicted. The last two are read as pipelines: a step that
makes 0 and 1 of each column, and linear scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import AffineMap, Region
from pertinent.models.linear import linear_region
from pertinent.models.registry import decision_region, model_classes, register_model
from pertinent.models.steps.clip import group_of
from pertinent.models.steps.pipeline import columns_of, final_step, pull_back, register_own_steps
from pertinent.models.steps.walk import Columns, Walk, register_symbolic

BERNOULLI = "sklearn.naive_bayes.BernoulliNB"
CATEGORICAL = "sklearn.naive_bayes.CategoricalNB"


@register_model("sklearn.naive_bayes.MultinomialNB", "sklearn.naive_bayes.ComplementNB")
def counts_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where naive Bayes of counts predicts a label."""
    W = np.asarray(model.feature_log_prob_, dtype=float)
    b = np.asarray(model.class_log_prior_, dtype=float)
    if type(model).__name__ == "ComplementNB" and len(model_classes(model)) > 1:
        b = np.zeros(len(W))
    _require_finite(model, W, b)
    return linear_region(W, b, model, label, margin)


@register_model(BERNOULLI, CATEGORICAL)
def stepped_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where naive Bayes of truth values or of categories predicts a label."""
    return pull_back(decision_region(final_step(model), label, margin), columns_of(model))


@register_own_steps(BERNOULLI)
def bernoulli_steps(model: Foreign) -> Pipeline:
    """Return BernoulliNB as a step that compares, and linear scores of truth values."""
    likely = np.asarray(model.feature_log_prob_, dtype=float)
    with np.errstate(divide="ignore"):
        unlikely = np.log(1 - np.exp(likely))
    # sum_j v_j (log p - log(1 - p)) + log prior + sum_j log(1 - p): as the model adds up.
    W = likely - unlikely
    b = np.asarray(model.class_log_prior_, dtype=float) + unlikely.sum(axis=1)
    scores = ("scores", _scores(model, W, b))
    if model.binarize is None:
        return Pipeline([scores])
    compare = Binarizer(threshold=float(model.binarize))
    compare.n_features_in_ = W.shape[1]
    return Pipeline([("binarize", compare), scores])


@register_own_steps(CATEGORICAL)
def categorical_steps(model: Foreign) -> Pipeline:
    """Return CategoricalNB as a column of 0 and 1 for each code, and linear scores of these."""
    W = np.hstack([np.asarray(part, dtype=float) for part in model.feature_log_prob_])
    b = np.asarray(model.class_log_prior_, dtype=float)
    codes = Codes([np.shape(part)[1] for part in model.feature_log_prob_])
    return Pipeline([("codes", codes), ("scores", _scores(model, W, b))])


def _scores(model: Foreign, W: FloatArray, b: FloatArray) -> MultinomialNB:
    """Return the linear scores ``W x + b`` as the model that computes just these."""
    _require_finite(model, W, b)
    scores = MultinomialNB()
    scores.feature_log_prob_, scores.class_log_prior_ = W, b
    scores.classes_, scores.n_features_in_ = model.classes_, W.shape[1]
    return scores


def _require_finite(model: Foreign, W: FloatArray, b: FloatArray) -> None:
    """Refuse scores of minus infinity, which alpha=0 and priors of 0 give."""
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise UnsupportedModelError(
            f"{type(model).__name__} has a probability of exactly 0 or 1, whose logarithm is no "
            "number: its scores are no linear function. Fit it with alpha > 0 (and priors above "
            "0), as by default."
        )


class Codes:
    """A step that makes a column of 0 and 1 for each code of each column: what CategoricalNB sees.

    Parameters
    ----------
    counts : list of int
        How many codes each column has: 0, 1, ..., count - 1.
    """

    def __init__(self, counts: list[int]) -> None:
        self.counts, self.n_features_in_ = counts, len(counts)


@register_symbolic("pertinent.models.bayes.discrete.Codes", hidden=True)
def code_columns(step: Codes, columns: Columns, walk: Walk) -> Columns:
    """Return a column of 0 and 1 for each code; raw columns are read as categories."""
    width = sum(step.counts)
    columns.require_unbent(walk, step)
    if walk.recording:
        for j, count in zip(columns.raw.tolist(), step.counts, strict=True):
            if j >= 0:
                walk.declare(j, range(count), takes_others=False)
        return columns.constant(np.zeros(width))
    matrix, shift, first = np.zeros((width, columns.features.dim)), np.zeros(width), 0
    for k, count in enumerate(step.counts):
        group, values = _codes_of(step, columns, k, walk)
        codes = _within(step, values, count, walk)
        rows = slice(first, first + count)
        first += count
        is_code = (codes == np.arange(count)[:, None]).astype(float)
        if group is None:
            shift[rows] = is_code[:, 0]
        else:
            matrix[rows, group] = is_code
    return Columns(columns.features, AffineMap(matrix, shift), np.full(width, -1), ())


def _codes_of(step: Codes, columns: Columns, k: int, walk: Walk) -> tuple[Any, FloatArray]:
    """Return the columns of 0 and 1 that a column follows, and its number for each of them."""
    row, shift = columns.map.dense()[k], float(columns.map.shift[k])
    inputs = np.flatnonzero(row)
    if not len(inputs):
        return None, np.array([shift])
    group = group_of(columns, inputs)
    if group is None or columns.products is not None:
        raise walk.refuse(
            step, "is CategoricalNB's own: it needs categories, as they are in the data or from an "
            "OrdinalEncoder or a KBinsDiscretizer(encode='ordinal') before it.",
        )  # fmt: skip
    return group, row[group] + shift


def _within(step: Codes, values: FloatArray, count: int, walk: Walk) -> FloatArray:
    """Return codes as the model reads them: cut to whole numbers; others than it knows are refused.

    Of these predict itself says that they are out of bounds.
    """
    codes = np.trunc(values)
    if not ((codes >= 0) & (codes < count)).all():  # NaN is not within, either
        raise walk.refuse(
            step, f"is CategoricalNB's own: a category has a code that is not in 0..{count - 1}, "
            "of which its predict raises an error. Encode with handle_unknown='error', and fit "
            "CategoricalNB with min_categories.",
        )  # fmt: skip
    return codes
