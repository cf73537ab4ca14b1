"""Boosted trees of scikit-learn: AdaBoost, gradient boosting, and its fast kind on histograms.

All add up in double precision, one tree after the other:

============================  ==============================  ==================================
model                         a leaf adds                     class 1 of two is predicted where
============================  ==============================  ==================================
AdaBoost (SAMME)              its weight to the label it      the sum is above 0, so the tie goes
                              votes for, ``-weight/(K - 1)``  to class 0
                              to the others
GradientBoosting              ``learning_rate * value``       the sum is at least 0: the tie goes
                                                              to class 1
HistGradientBoosting          its value                       the sum is above 0
============================  ==============================  ==================================

Of more classes the first with the largest sum is predicted. The first two cast x to single
precision, the last one compares doubles, and sends missing values to the side it has learnt.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, lineage, register_model
from pertinent.models.steps.pipeline import columns_of, pull_back
from pertinent.models.trees.forests import require_trees
from pertinent.models.trees.nodes import (
    OneTree,
    at_output,
    end_to_end,
    of_scikit_learn,
    once,
    tree_bytes,
    with_runs,
)

#: The least double above 0: what "more than 0" needs.
ABOVE_ZERO = float(np.nextafter(0.0, 1.0))


@register_model("sklearn.ensemble.AdaBoostClassifier")
def ada_boost_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where boosted votes of trees predict a label."""
    return EnsembleRegion.of(ada_boost_of(model), class_index(model, label), margin)


@register_model("sklearn.ensemble.GradientBoostingClassifier")
def gradient_boosting_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where gradient boosting predicts a label."""
    return EnsembleRegion.of(gradient_boosting_of(model), class_index(model, label), margin)


@register_model("sklearn.ensemble.HistGradientBoostingClassifier")
def hist_boosting_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where gradient boosting on histograms predicts a label.

    With ``categorical_features`` in terms of the categories, of which each is a column of 0 and 1.
    """
    region = EnsembleRegion.of(hist_boosting_of(model), class_index(model, label), margin)
    return pull_back(region, columns_of(model))


def ada_boost_of(model: Foreign) -> Ensemble:
    """Return weighted votes in the one form of all ensembles."""
    require_trees(model)
    labels, trees = model.classes_.tolist(), [one.tree_ for one in model.estimators_]
    places = [[labels.index(own) for own in one.classes_.tolist()] for one in model.estimators_]
    weights = np.asarray(model.estimator_weights_, dtype=float)[: len(trees)]
    dim, count = int(model.n_features_in_), len(labels)

    def build() -> Ensemble:
        nodes = [
            of_scikit_learn(tree, _votes(tree, np.array(own), float(weight), count))
            for tree, own, weight in zip(trees, places, weights, strict=True)
        ]
        # The library divides by the sum of all weights as NumPy adds them up.
        divisor = float(np.asarray(model.estimator_weights_).sum())
        tally = Tally(np.zeros(count), divisor=divisor)
        if count == 2:
            # -s_0 + s_1 > 0, and s_0 = -s_1 to the bit: s_1 > 0.
            tally = Tally(np.zeros(1), divisor=divisor, threshold=ABOVE_ZERO)
        return Ensemble(end_to_end(nodes), dim, tally)

    return once((*tree_bytes(trees), weights.tobytes()), ("ada", dim, str(places)), build)


def _votes(tree: Foreign, places: Any, weight: float, count: int) -> FloatArray:
    """Return what each node of a tree of AdaBoost adds: its weight to the label of its leaf."""
    winner = places[np.asarray(tree.value)[:, 0].argmax(axis=1)]
    if count == 2:
        return np.where(winner == 1, weight, -weight)[:, None]
    votes = np.full((len(winner), count), -1 / (count - 1) * weight)
    votes[np.arange(len(winner)), winner] = weight
    return votes


def gradient_boosting_of(model: Foreign) -> Ensemble:
    """Return gradient boosting in the one form of all ensembles."""
    base, rate, dim = _start(model), float(model.learning_rate), int(model.n_features_in_)
    trees = [one.tree_ for one in model.estimators_.ravel()]

    def build() -> Ensemble:
        nodes = [
            of_scikit_learn(
                tree, at_output(rate * np.asarray(tree.value)[:, 0, 0], i % len(base), len(base))
            )
            for i, tree in enumerate(trees)
        ]
        threshold = 0.0 if len(base) == 1 else None
        return Ensemble(end_to_end(nodes), dim, Tally(base, threshold=threshold))

    return once((*tree_bytes(trees), base.tobytes()), ("gradient", rate, dim), build)


def _start(model: Foreign) -> FloatArray:
    """Return what the sums of gradient boosting start from: the same for every point."""
    init = model.init_
    names = ("sklearn.dummy.DummyClassifier", "sklearn.dummy.DummyRegressor")
    dummy = any(name in names for _, name in lineage(type(init)))
    if init != "zero" and not (dummy and init.strategy != "stratified"):
        raise UnsupportedModelError(
            f"{type(model).__name__} with init={type(init).__name__} adds its trees to another "
            "model. It is supported with init=None or init='zero'."
        )
    start = model._raw_predict_init(np.zeros((1, int(model.n_features_in_)), dtype=np.float32))
    return np.array(start[0], dtype=float)


def hist_boosting_of(model: Foreign) -> Ensemble:
    """Return gradient boosting on histograms in the one form of all ensembles."""
    base = np.ravel(np.asarray(model._baseline_prediction, dtype=float))
    trees = [tree for step in model._predictors for tree in step]
    dim = int(model.n_features_in_)

    def build() -> Ensemble:
        nodes = [_hist_tree(tree, i % len(base), len(base)) for i, tree in enumerate(trees)]
        threshold = ABOVE_ZERO if len(base) == 1 else None
        return Ensemble(end_to_end(nodes), dim, Tally(base, threshold=threshold))

    parts = (part.tobytes() for tree in trees for part in (tree.nodes, tree.raw_left_cat_bitsets))
    return once((base.tobytes(), *parts), ("hist", dim), build)


def _hist_tree(tree: Foreign, output: int, n_outputs: int) -> OneTree:
    nodes = tree.nodes
    leaf = nodes["is_leaf"].astype(bool)
    one = OneTree(
        np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
        nodes["num_threshold"].astype(float),
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        at_output(nodes["value"].astype(float), output, n_outputs),
        nodes["missing_go_to_left"].astype(bool),
    )
    sets = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf)
    words = np.asarray(tree.raw_left_cat_bitsets)[nodes["bitset_idx"][sets]]
    # Bit c of 8 words of 32 bits: whether code c goes to the left. Codes are whole numbers.
    bits = (words[:, :, None] >> np.arange(32, dtype=words.dtype)) & 1
    ends = (np.arange(255) + 0.5).tolist()
    return with_runs(
        one,
        {int(i): (ends, b.tolist()) for i, b in zip(sets, bits.reshape(-1, 256) > 0, strict=True)},
    )
