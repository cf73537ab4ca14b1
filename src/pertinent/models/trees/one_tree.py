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

from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.models.registry import class_index, register_model
from pertinent.models.trees.nodes import last_singles


def last_left(threshold: float) -> float:
    """Return the largest double that goes left: its rounding to single precision is ``<= t``.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models.trees.one_tree import last_left
    >>> edge = last_left(0.1)  # not a single: the largest below it is 0.09999999403953552
    >>> [float(np.float32(x)) <= 0.1 for x in (edge, np.nextafter(edge, 1.0))]
    [True, False]
    """
    return float(last_singles(np.array([threshold]))[0])


def leaves_of(tree: Foreign, n_features: int) -> list[tuple[FloatArray, FloatArray, int]]:
    """Return lower ends, upper ends and number of each leaf of a ``tree_``.

    Depth first, left before right.
    """
    leaves = []
    stack = [(0, np.full(n_features, -np.inf), np.full(n_features, np.inf))]
    while stack:
        node, low, high = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            leaves.append((low, high, node))
            continue
        j, edge = int(tree.feature[node]), last_left(float(tree.threshold[node]))
        low_right, high_left = low.copy(), high.copy()
        low_right[j] = max(low[j], np.nextafter(edge, np.inf))
        high_left[j] = min(high[j], edge)
        stack.append((right, low_right, high))
        stack.append((left, low, high_left))
    return leaves


@register_model("sklearn.tree.DecisionTreeClassifier", "sklearn.tree.ExtraTreeClassifier")
def tree_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the boxes of the leaves that predict a label, each ``margin`` smaller all around."""
    # A leaf predicts the class with the largest share, the first of those that tie.
    places = np.asarray(model.tree_.value)[:, 0].argmax(axis=1)
    own = places == class_index(model, label)
    return boxes_of(model.tree_, int(model.n_features_in_), own, margin)


def boxes_of(tree: Foreign, dim: int, own: BoolArray, margin: float) -> Region:
    """Return the boxes of some leaves of a ``tree_``, each ``margin`` smaller all around.

    ``own`` says for each node of the tree whether it is one of them, if it is a leaf.
    """
    no_rows = np.zeros((0, dim)), np.zeros(0)
    cells = [
        Cell(*no_rows, lower=low + margin, upper=high - margin)
        for low, high, node in leaves_of(tree, dim)
        # Splits of the same single leave no room between them.
        if own[node] and (low <= high).all()
    ]
    return CellUnion(tuple(cells), dim)
