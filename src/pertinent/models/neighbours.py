"""The rule of the nearest neighbour, where training points may coincide.

Coinciding training points are equally far from everywhere: which of them counts as the nearest is
a matter of the order in which the model meets them. Three cases:

* a brute-force search in double precision keeps the first of the training data;
* a tree keeps the first of the leaf that it enters first, which may differ from sample to sample
  where copies of a point fell into several leaves;
* a brute-force search over other numbers (integers, single precision) keeps any of them.

A point that never comes first has no cell. Where several classes may come first, the cell belongs
to each of them, and the model's own ``predict`` tells which it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign, IntArray
from pertinent.geometry.region import Region
from pertinent.models.prototype import AddsUp, nearest_region
from pertinent.models.registry import class_index, dense, register_model

#: How each search adds up distances; all of them in double precision.
_ADDS_UP = {
    "brute": AddsUp.EXPANDED,
    "kd_tree": AddsUp.DIFFERENCES,
    "ball_tree": AddsUp.BALLS,
}


@register_model("sklearn.neighbors.KNeighborsClassifier", subclasses=False)
def nearest_neighbour_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a class of the 1-nearest-neighbour rule, one cell a training point."""
    codes: IntArray = np.asarray(model._y)
    return nearest_own(model, codes, codes == class_index(model, label), margin)


def nearest_own(model: Foreign, codes: IntArray, own: BoolArray, margin: float) -> Region:
    """Return where the nearest training point is one of those marked as own.

    Points of the same code are alike: of those that coincide one is enough.
    """
    name = type(model).__name__
    if model.n_neighbors != 1:
        raise UnsupportedModelError(
            f"{name}(n_neighbors={model.n_neighbors}): votes of several neighbours "
            "have too many cells; supported is n_neighbors=1."
        )
    if model.effective_metric_ != "euclidean":
        raise UnsupportedModelError(
            f"{name} with metric {model.effective_metric_!r}: supported is the "
            "Euclidean metric (the default, minkowski with p=2)."
        )
    # Adding 0 turns -0.0 into 0.0: the two coincide.
    points = np.ascontiguousarray(dense(model._fit_X)) + 0.0
    kept = possible_winners(model, points, codes)
    return nearest_region(points[kept], own[kept], margin, adds_up=_ADDS_UP[model._fit_method])


def possible_winners(model: Foreign, points: FloatArray, codes: IntArray) -> IntArray:
    """Return the training points that may count as the nearest, one for each place and class."""
    places = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
    if places.max(initial=-1) + 1 == len(places):
        return np.arange(len(places))
    kept = _firsts(model, places)
    return np.sort(kept[_first_of_each(places[kept], codes[kept])])


def _firsts(model: Foreign, places: IntArray) -> IntArray:
    """Return the points that come first among those of their place, in the model's own order."""
    if model._tree is None:
        # scikit-learn picks the first minimum if samples and training data are both in doubles;
        # otherwise NumPy's partition picks any.
        if model._fit_X.dtype == np.float64:
            return np.flatnonzero(_first_of_each(places))
        return np.arange(len(places))
    _, order, nodes, _ = (np.asarray(array) for array in model._tree.get_arrays())
    leaves = nodes[nodes["is_leaf"] == 1]
    leaf = np.empty(len(order), dtype=np.int64)
    for k, (start, end) in enumerate(zip(leaves["idx_start"], leaves["idx_end"], strict=True)):
        leaf[start:end] = k
    return np.asarray(order[_first_of_each(places[order], leaf)])


def _first_of_each(*keys: IntArray) -> BoolArray:
    """Return a mask of the first entry for each combination of keys.

    Examples
    --------
    >>> import numpy as np
    >>> _first_of_each(np.array([2, 1, 2, 2]), np.array([0, 0, 0, 1])).tolist()
    [True, True, False, True]
    """
    _, first = np.unique(np.column_stack(keys), axis=0, return_index=True)
    mask = np.zeros(len(keys[0]), dtype=bool)
    mask[first] = True
    return mask
