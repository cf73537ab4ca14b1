"""The nearest blends of training points to a batch of samples."""

from __future__ import annotations

import numpy as np

from pertinent.density.hull import Blend, Hulls
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.region import Region
from pertinent.solvers.linear.blend import project_blends
from pertinent.solvers.problem import Projections


def nearest_blends(
    hulls: Hulls,
    samples: FloatArray,
    region: Region,
    owner: IntArray,
    weights: FloatArray,
    args: tuple[FloatArray, FloatArray, FloatArray],
) -> tuple[Projections, dict[int, Blend]]:
    """Return the projections onto blends of each sample's neighbours, and what they are made of.

    Parameters
    ----------
    hulls : Hulls
    samples : ndarray of shape (n, n_features)
        Whose neighbours may be blended.
    region : Region
    owner : ndarray of int
        The class of each cell.
    weights : ndarray of shape (n_features,)
    args : centers and their lower and upper limits, each of shape (n, n_features)
    """
    known: dict[tuple[int, int], IntArray] = {}

    def near(i: int, k: int) -> IntArray:
        if (i, k) not in known:
            known[i, k] = hulls.nearest(k, samples[i], weights)
        return known[i, k]

    def corners(i: int, p: int) -> FloatArray:
        k = int(owner[p])
        return np.asarray(hulls.points[k][near(i, k)])

    found, shares = project_blends(args[0], region, corners, weights, args[1], args[2])
    blends = {}
    for i, own in shares.items():
        k = int(owner[found.piece[i]])
        blends[i] = Blend.of(hulls.rows[k][near(i, k)], own)
    return found, blends
