"""The smallest set of features that hits every one of given sets, with its proof.

A set S hits T if they share a feature: ``sum_{i in S} [i in T] >= 1``, a row of the search of
`pertinent.questions.supports.subsets`. Sets that contain another one are hit whenever that one is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.questions.supports.cover import EASY, hard_cover
from pertinent.questions.supports.subsets import FOUND, STOPPED, Gains, Limits, find_supports


@dataclass(frozen=True, eq=False)
class Hitting:
    """The smallest set found, and what is known about smaller ones.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_features,), or None
        None where the search was stopped before it found one.
    size : int
        No set of fewer features hits them all.
    multipliers : ndarray of shape (p, n_sets)
        Weights >= 0 of sums of rows that the proof needs beside the rows.
    """

    mask: BoolArray | None
    size: int
    multipliers: FloatArray


def minimal_sets(sets: BoolArray) -> IntArray:
    """Return the places of the sets that contain no other one, the first of equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.questions.supports.hitting import minimal_sets
    >>> minimal_sets(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)).tolist()
    [1, 3]
    """
    _, first = np.unique(sets, axis=0, return_index=True)
    first = np.sort(first)
    some = sets[first].astype(np.float32)
    count = np.asarray(some.sum(axis=1))
    # T_j lies in T_i and is smaller:  |T_i and T_j| = |T_j| < |T_i|.
    larger = np.any((some @ some.T == count) & (count < count[:, None]), axis=1)
    return np.asarray(first[np.logical_not(larger)])


def smallest_hitting(sets: BoolArray, start: int, limits: Limits) -> Hitting:
    """Return the smallest set that hits all sets; none of fewer than ``start`` features does."""
    n_sets, d = sets.shape
    gains = Gains(
        sets[None].astype(float), np.ones((1, n_sets)), np.asarray(sets.any(axis=0))[None]
    )
    none = np.zeros((0, n_sets))
    easy = Limits(min(EASY, limits.nodes), limits.deadline)
    for size in range(start, d + 1):
        found = find_supports(gains, size, easy)
        if found.outcome[0] == FOUND:
            return Hitting(found.first(d)[1][0], size, none)
        if found.outcome[0] == STOPPED:
            cover = hard_cover(gains, limits.alone())
            return Hitting(cover.mask, max(size, int(cover.bound)), cover.multipliers)
    raise ValueError("A set without features cannot be hit.")
