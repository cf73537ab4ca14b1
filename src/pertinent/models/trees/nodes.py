"""What readers of tree libraries share: cuts on the grid of a library, and nodes end to end."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, Trees

#: How many ensembles are remembered: a model is asked for its region class by class.
REMEMBERED = 16
_KNOWN: OrderedDict[tuple[object, ...], Ensemble] = OrderedDict()


def last_singles(thresholds: FloatArray) -> FloatArray:
    """Return the largest doubles whose rounding to single precision is ``<= t``.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models.trees.nodes import last_singles
    >>> edge = last_singles(np.array([0.1]))[0]
    >>> [float(np.float32(x)) <= 0.1 for x in (edge, np.nextafter(edge, 1.0))]
    [True, False]
    """
    thresholds = np.asarray(thresholds, dtype=float)
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
        below = np.nextafter(single, np.float32(-np.inf))
        single = np.where(single.astype(float) > thresholds, below, single)
        above = np.nextafter(single, np.float32(np.inf)).astype(float)
        # Halfway to the next single, a double, rounding goes to the one of the two that is even.
        middle = (single.astype(float) + above) / 2
        lower = middle.astype(np.float32) == single
    ends = np.where(lower, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isfinite(above), ends, np.inf)


def of_scikit_learn(
    trees: Sequence[Foreign],
    cuts: Callable[[FloatArray], FloatArray],
    values: Callable[[Foreign], FloatArray],
) -> Trees:
    """Return the nodes of scikit-learn's ``tree_`` objects end to end.

    Parameters
    ----------
    trees : sequence of ``tree_``
    cuts : callable
        Gives the last double of the lower side of each threshold, e.g. `last_singles`.
    values : callable
        Gives what each node of a tree adds, shape (n_nodes, n_outputs).
    """
    start = np.cumsum([0, *(int(tree.node_count) for tree in trees)])
    left = [np.asarray(tree.children_left, dtype=np.int64) for tree in trees]
    right = [np.asarray(tree.children_right, dtype=np.int64) for tree in trees]
    leaf = [one == two for one, two in zip(left, right, strict=True)]
    shifted = [
        [side + first for side, first in zip(sides, start, strict=False)] for sides in (left, right)
    ]
    column = [np.where(end, -1, tree.feature) for tree, end in zip(trees, leaf, strict=True)]
    thresholds = np.concatenate([np.asarray(tree.threshold, dtype=float) for tree in trees])
    return Trees(
        start[:-1],
        np.concatenate(column).astype(np.int64),
        cuts(thresholds),
        np.concatenate(shifted[0]),
        np.concatenate(shifted[1]),
        np.concatenate([values(tree) for tree in trees]),
    )


def adds_up_exactly(values: FloatArray, terms: int) -> bool:
    """Return whether so many of the values add up without rounding in double precision.

    So it is where all are multiples of one power of two, and small against 2^53 of them.

    Examples
    --------
    >>> import numpy as np
    >>> [adds_up_exactly(np.array([0.0, share]), 100) for share in (0.75, 1 / 3)]
    [True, False]
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return True
    unit = 2.0 ** (np.ceil(np.log2(largest * max(terms, 1))) - 52)
    return bool((np.round(values / unit) * unit == values).all())


def once(
    trees: Sequence[Foreign], also: tuple[object, ...], build: Callable[[], Ensemble]
) -> Ensemble:
    """Return what is built from scikit-learn's ``tree_`` objects, or was of the same numbers."""
    digest = hashlib.blake2b(digest_size=16)
    for tree in trees:
        for array in (tree.feature, tree.threshold, tree.children_left, tree.value):
            digest.update(np.ascontiguousarray(array).tobytes())
    key = (digest.digest(), len(trees), *also)
    if key not in _KNOWN:
        _KNOWN[key] = build()
        while len(_KNOWN) > REMEMBERED:
            _KNOWN.popitem(last=False)
    return _KNOWN[key]
