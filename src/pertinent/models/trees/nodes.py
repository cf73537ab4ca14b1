"""What readers of tree libraries share: cuts on the grid of a library, and nodes end to end."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign, IntArray
from pertinent.geometry.ensembles import Ensemble, Trees

#: How many ensembles are remembered: a model is asked for its region class by class.
REMEMBERED = 16
_KNOWN: OrderedDict[tuple[object, ...], Ensemble] = OrderedDict()


@dataclass(frozen=True, eq=False)
class OneTree:
    """One tree as a library holds it; the fields are those of `Trees`, its root is node 0."""

    column: IntArray
    cut: FloatArray
    lower: IntArray
    upper: IntArray
    value: FloatArray
    missing: BoolArray


def end_to_end(trees: Sequence[OneTree]) -> Trees:
    """Return all trees as one list of nodes."""
    start = np.cumsum([0, *(len(tree.column) for tree in trees)])[:-1]
    shifted = [
        replace(tree, lower=tree.lower + first, upper=tree.upper + first)
        for tree, first in zip(trees, start, strict=True)
    ]
    names = ("column", "cut", "lower", "upper", "value", "missing")
    return Trees(start, *(np.concatenate([getattr(t, name) for t in shifted]) for name in names))


def at_output(values: FloatArray, output: int, n_outputs: int) -> FloatArray:
    """Return values that a tree adds to one of the outputs, nothing to the others.

    Examples
    --------
    >>> import numpy as np
    >>> at_output(np.array([0.5, -2.0]), 1, 3)
    array([[ 0. ,  0.5,  0. ],
           [ 0. , -2. ,  0. ]])
    """
    out = np.zeros((len(values), n_outputs))
    out[:, output] = values
    return out


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


def of_scikit_learn(tree: Foreign, value: FloatArray) -> OneTree:
    """Return a ``tree_`` of scikit-learn: ``float32(x) <= threshold`` goes to the left.

    Parameters
    ----------
    tree : ``tree_``
    value : ndarray of shape (n_nodes, n_outputs)
        What each node adds.
    """
    left = np.asarray(tree.children_left, dtype=np.int64)
    right = np.asarray(tree.children_right, dtype=np.int64)
    return OneTree(
        np.where(left == right, -1, tree.feature).astype(np.int64),
        last_singles(tree.threshold),
        left,
        right,
        value,
        np.asarray(tree.missing_go_to_left).astype(bool),
    )


def with_runs(tree: OneTree, runs: dict[int, tuple[list[float], list[bool]]]) -> OneTree:
    """Return a tree with nodes that send several runs of numbers to the lower side.

    Parameters
    ----------
    tree : OneTree
    runs : dict of node to (cuts, low)
        Ascending cuts, and whether the numbers up to each of them, and those above the last, go
        to the lower side. The node becomes a chain of nodes on its column.

    Examples
    --------
    A node that sends 1 to the lower side, among the numbers 0, 1 and 2:

    >>> import numpy as np
    >>> at, no = np.array, np.zeros(3, dtype=bool)
    >>> tree = OneTree(at([0, -1, -1]), no * 1.0, at([1, 0, 0]), at([2, 0, 0]), no[:, None], no)
    >>> chain = with_runs(tree, {0: ([0.5, 1.5], [False, True, False])})
    >>> chain.column, chain.cut, chain.lower, chain.upper
    (array([ 0, -1, -1,  0]), array([0.5, 0. , 0. , 1.5]), array([2, 0, 0, 1]), array([3, 0, 0, 2]))
    """
    column, cut, lower, upper, missing = (
        list(part) for part in (tree.column, tree.cut, tree.lower, tree.upper, tree.missing)
    )
    extra = 0
    for node, (ends, low) in runs.items():
        below = (int(tree.upper[node]), int(tree.lower[node]))
        sides = [below[goes] for goes in low]
        # Of runs beside each other that go to the same side only the last end divides.
        chain = [k for k in range(len(ends)) if sides[k] != sides[k + 1]]
        steps = [(ends[k], sides[k]) for k in chain] or [(np.inf, sides[-1])]
        last = sides[-1] if chain else below[0] + below[1] - sides[-1]
        start = len(column)
        places, extra = [node, *range(start, start + len(steps) - 1)], extra + len(steps) - 1
        for part in (column, cut, lower, upper, missing):
            part += [part[node]] * (len(steps) - 1)
        for place, after, (end, side) in zip(places, [*places[1:], last], steps, strict=True):
            cut[place], lower[place], upper[place] = end, side, after
            missing[place] = side == below[int(tree.missing[node])]
    value = np.concatenate([tree.value, np.zeros((extra, tree.value.shape[1]))])
    return OneTree(
        np.array(column),
        np.array(cut),
        np.array(lower),
        np.array(upper),
        value,
        np.array(missing, dtype=bool),
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


def tree_bytes(trees: Sequence[Foreign]) -> Iterable[bytes]:
    """Yield all numbers of scikit-learn's ``tree_`` objects."""
    names = ("feature", "threshold", "children_left", "value", "missing_go_to_left")
    for tree in trees:
        for name in names:
            yield np.ascontiguousarray(getattr(tree, name)).tobytes()


def once(
    parts: Iterable[bytes], also: tuple[object, ...], build: Callable[[], Ensemble]
) -> Ensemble:
    """Return what is built from a model, or was built from one with the same bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    key = (digest.digest(), *also)
    if key not in _KNOWN:
        _KNOWN[key] = build()
        while len(_KNOWN) > REMEMBERED:
            _KNOWN.popitem(last=False)
    return _KNOWN[key]
