"""Forests of scikit-learn: random forests, extremely randomised trees, and bagged trees.

Each tree casts x to single precision and gives the shares of the classes in the leaf that
``float32(x[j]) <= threshold`` leads to. The shares are added up in double precision, one tree after
the other, and divided by the number of trees; the first class with the largest mean is predicted.
With ``n_jobs`` threads add up in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, Trees, summation_error
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, lineage, register_model
from pertinent.models.trees.nodes import (
    OneTree,
    adds_up_exactly,
    end_to_end,
    of_scikit_learn,
    once,
    tree_bytes,
)

#: A single tree of scikit-learn: what ensembles of any models must be made of.
TREE = "sklearn.tree.DecisionTreeClassifier"


@register_model("sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.ExtraTreesClassifier")
def forest_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a forest predicts a label, ``margin`` away from every cut."""
    return EnsembleRegion.of(forest_of(model), class_index(model, label), margin)


@register_model("sklearn.ensemble.BaggingClassifier")
def bagging_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where bagged trees predict a label, ``margin`` away from every cut."""
    return EnsembleRegion.of(bagging_of(model), class_index(model, label), margin)


def forest_of(model: Foreign) -> Ensemble:
    """Return a forest in the one form of all ensembles."""
    trees = [one.tree_ for one in model.estimators_]

    def nodes() -> list[OneTree]:
        return [of_scikit_learn(tree, shares(tree)) for tree in trees]

    return _mean(model, tree_bytes(trees), nodes)


def bagging_of(model: Foreign) -> Ensemble:
    """Return bagged trees in the one form: each sees some of the columns, and some classes."""
    require_trees(model)
    trees = [one.tree_ for one in model.estimators_]
    columns = [np.asarray(some, dtype=np.int64) for some in model.estimators_features_]
    # Trees are trained on the places of the labels, and know those of their sample.
    labels = [np.asarray(one.classes_, dtype=np.int64) for one in model.estimators_]

    def nodes() -> list[OneTree]:
        return [
            _in_columns(of_scikit_learn(tree, _in_classes(shares(tree), own, model)), some)
            for tree, some, own in zip(trees, columns, labels, strict=True)
        ]

    parts = (array.tobytes() for array in [*columns, *labels])
    return _mean(model, (*tree_bytes(trees), *parts), nodes)


def require_trees(model: Foreign) -> None:
    """Refuse an ensemble of other models than trees."""
    for one in model.estimators_:
        if not any(name == TREE for _, name in lineage(type(one))):
            raise UnsupportedModelError(
                f"{type(model).__name__} is supported if it is made of decision trees. This one is "
                f"made of {type(one).__name__}."
            )


def _in_columns(tree: OneTree, columns: IntArray) -> OneTree:
    inner = tree.column >= 0
    return replace(tree, column=np.where(inner, columns[np.where(inner, tree.column, 0)], -1))


def _in_classes(values: FloatArray, labels: IntArray, model: Foreign) -> FloatArray:
    out = np.zeros((len(values), len(model.classes_)))
    out[:, labels] = values
    return out


def _mean(model: Foreign, parts: Iterable[bytes], nodes: Callable[[], list[OneTree]]) -> Ensemble:
    """Return the mean of trees."""
    threads, dim = model.n_jobs not in (None, 1), int(model.n_features_in_)

    def build() -> Ensemble:
        trees = end_to_end(nodes())
        tally = Tally(np.zeros(trees.value.shape[1]), divisor=float(len(trees)))
        return Ensemble(trees, dim, in_any_order(trees, dim, tally) if threads else tally)

    return once(parts, (type(model).__name__, threads, dim), build)


def in_any_order(nodes: Trees, dim: int, tally: Tally) -> Tally:
    """Return the tally of a library whose threads add up in any order.

    Sums that are exact, such as whole votes, do not depend on it.
    """
    leaves = Ensemble(nodes, dim, tally).leaves
    if adds_up_exactly(leaves.value, len(nodes)):
        return tally
    return replace(tally, doubt=summation_error(leaves.value, leaves.tree, tally))


def shares(tree: Foreign) -> FloatArray:
    """Return what each node of a classification tree adds: the shares of the classes."""
    return np.asarray(tree.value)[:, 0]
