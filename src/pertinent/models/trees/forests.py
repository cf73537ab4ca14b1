"""Random forests and extremely randomised trees of scikit-learn.

Each tree casts x to single precision and gives the shares of the classes in the leaf that
``float32(x[j]) <= threshold`` leads to. The shares are added up in double precision, one tree after
the other, and divided by the number of trees; the first class with the largest mean is predicted.
With ``n_jobs`` threads add up in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, Trees, summation_error
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, register_model
from pertinent.models.trees.nodes import adds_up_exactly, last_singles, of_scikit_learn, once


@register_model("sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.ExtraTreesClassifier")
def forest_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a forest predicts a label, ``margin`` away from every cut."""
    return EnsembleRegion.of(forest_of(model), class_index(model, label), margin)


def forest_of(model: Foreign) -> Ensemble:
    """Return a forest in the one form of all ensembles."""
    trees = [one.tree_ for one in model.estimators_]
    threads = model.n_jobs not in (None, 1)
    dim = int(model.n_features_in_)

    def build() -> Ensemble:
        nodes = of_scikit_learn(trees, last_singles, shares)
        tally = Tally(np.zeros(nodes.value.shape[1]), divisor=float(len(trees)))
        return Ensemble(nodes, dim, in_any_order(nodes, dim, tally) if threads else tally)

    return once(trees, (threads, dim), build)


def in_any_order(nodes: Trees, dim: int, tally: Tally) -> Tally:
    """Return the tally of a library whose threads add up in any order.

    Sums that are exact, such as whole votes, do not depend on it.
    """
    leaves = Ensemble(nodes, dim, tally).leaves
    if adds_up_exactly(leaves.value, len(nodes)):
        return tally
    doubt = summation_error(leaves.value, leaves.tree, tally)
    return Tally(tally.base, tally.dtype, tally.divisor, tally.threshold, doubt)


def shares(tree: Foreign) -> FloatArray:
    """Return what each node of a classification tree adds: the shares of the classes."""
    return np.asarray(tree.value)[:, 0]
