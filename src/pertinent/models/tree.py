"""Decision trees: the region of a class is the union of the boxes of its leaves.

A leaf is reached only if every split on its path holds:

    float32(x[j]) <= t    when the path goes left,
    float32(x[j]) >  t    when it goes right.

Rounding to single precision never changes the order of two numbers, so each condition is a
half-line in double precision too, with an end of its own: the largest double whose rounding is at
most t closes the left side, and the next double opens the right one. No point lies between them,
and none on an edge: boxes closed in double precision are the leaves themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.models.registry import class_index, register_model


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a tree: their boxes, and the place in ``classes_`` each predicts."""

    lower: FloatArray
    upper: FloatArray
    place: IntArray


def last_left(threshold: float) -> float:
    """Return the largest double that goes left: its rounding to single precision is ``<= t``.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models.tree import last_left
    >>> edge = last_left(0.1)  # not a single: the largest below it is 0.09999999403953552
    >>> [float(np.float32(x)) <= 0.1 for x in (edge, np.nextafter(edge, 1.0))]
    [True, False]
    """
    single = np.float32(threshold)
    if float(single) > threshold:
        single = np.nextafter(single, np.float32(-np.inf))
    above = np.nextafter(single, np.float32(np.inf))
    if not np.isfinite(above):
        return np.inf
    # Halfway to the next single, a double, rounding goes to the one of the two that is even.
    middle = (float(single) + float(above)) / 2
    goes_left = np.float32(middle) == single
    return middle if goes_left else float(np.nextafter(middle, -np.inf))


def leaves_of(tree: Foreign, n_features: int) -> Leaves:
    """Return the leaves of a fitted tree (its ``tree_``), depth first, left before right."""
    lower: list[FloatArray] = []
    upper: list[FloatArray] = []
    ends: list[int] = []
    stack = [(0, np.full(n_features, -np.inf), np.full(n_features, np.inf))]
    while stack:
        node, low, high = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            lower.append(low)
            upper.append(high)
            ends.append(node)
            continue
        j, edge = int(tree.feature[node]), last_left(float(tree.threshold[node]))
        low_right, high_left = low.copy(), high.copy()
        low_right[j] = max(low[j], np.nextafter(edge, np.inf))
        high_left[j] = min(high[j], edge)
        stack.append((right, low_right, high))
        stack.append((left, low, high_left))
    # A leaf predicts the class with the largest share, the first of those that tie.
    place = np.asarray(tree.value)[ends, 0, :].argmax(axis=1)
    return Leaves(np.array(lower), np.array(upper), place)


@register_model("sklearn.tree.DecisionTreeClassifier", "sklearn.tree.ExtraTreeClassifier")
def tree_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the boxes of the leaves that predict a label, each ``margin`` smaller all around."""
    dim = int(model.n_features_in_)
    leaves, t = leaves_of(model.tree_, dim), class_index(model, label)
    no_rows = np.zeros((0, dim)), np.zeros(0)
    cells = [
        Cell(*no_rows, lower=low + margin, upper=high - margin)
        for low, high, place in zip(leaves.lower, leaves.upper, leaves.place, strict=True)
        # Splits of the same single leave no room between them.
        if place == t and (low <= high).all()
    ]
    return CellUnion(tuple(cells), dim)
