"""What plausibility says about points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pertinent.density.hull import Blend, Hulls
from pertinent.density.mixture import Densities
from pertinent.density.tolerances import BLEND, BLEND_SINGLE
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray

Measured = tuple[FloatArray, FloatArray, FloatArray]


def measure(
    within: Densities | Hulls | None, places: IntArray, points: FloatArray
) -> Measured | tuple[None, None, None]:
    """Return log-density, threshold and percentile of points of the classes given.

    NaN where there is no point or no class; None without mixtures.
    """
    if not isinstance(within, Densities):
        return None, None, None
    found, asked, percentile = np.full((3, len(points)), np.nan)
    for k in np.unique(places[places >= 0]):
        mixture = within.mixtures[k]
        asked[places == k] = mixture.threshold
        rows = np.flatnonzero((places == k) & np.isfinite(points).all(axis=1))
        found[rows] = mixture.log_density(within.into(points[rows]))
        percentile[rows] = mixture.percentile(found[rows])
    return found, asked, percentile


def by_sample(within: Densities | Hulls | None) -> bool:
    """Return whether what is plausible depends on the sample."""
    return isinstance(within, Hulls)


def are_plausible(
    within: Densities | Hulls,
    places: IntArray,
    points: FloatArray,
    blends: NDArray[np.object_] | None,
    samples: FloatArray | None,
    weights: FloatArray,
    single: bool = False,
) -> BoolArray:
    """Return which points are dense enough, or the blends of training points they are said to be.

    Parameters
    ----------
    within : Densities or Hulls
    places : ndarray of int, shape (n,)
        The class of each point.
    points : ndarray of shape (n, n_features)
    blends : ndarray of object, shape (n,), optional
        The `Blend` of each; without it, no point is one.
    samples : ndarray of shape (n, n_features), optional
        The sample that each point answers: only its nearest training points may be blended. Without
        it, no point is a blend.
    weights : ndarray of shape (n_features,)
        How far each feature counts in "nearest".
    single : bool
        Whether points are handed out in single precision.
    """
    if isinstance(within, Densities):
        return _are_dense(within, places, points)
    if blends is None or samples is None:
        return np.zeros(len(points), dtype=bool)
    known = zip(places.tolist(), points, blends, samples, strict=True)
    return np.array([_is_blend(within, *one, weights, single) for one in known], dtype=bool)


def _are_dense(within: Densities, places: IntArray, points: FloatArray) -> BoolArray:
    """Return whether scikit-learn's own log-density of each point reaches the threshold."""
    dense = np.zeros(len(points), dtype=bool)
    for k in np.unique(places):
        own = places == k
        dense[own] = within.log_density(int(k), points[own]) >= within.mixtures[k].threshold
    return dense


def _is_blend(
    within: Hulls,
    place: int,
    point: FloatArray,
    blend: Blend | None,
    sample: FloatArray,
    weights: FloatArray,
    single: bool,
) -> bool:
    """Return whether a point is the blend it is said to be, of the sample's nearest neighbours."""
    if blend is None or (blend.shares < 0).any() or not np.isclose(blend.shares.sum(), 1.0):
        return False
    near = within.nearest(place, sample, weights)
    known = dict(zip(within.rows[place][near].tolist(), near.tolist(), strict=True))
    if not all(int(row) in known for row in blend.rows):
        return False
    corners = within.points[place][[known[int(row)] for row in blend.rows]]
    size = 1.0 + np.abs(corners).max()
    nearly = BLEND_SINGLE if single else BLEND
    return bool(np.abs(blend.shares @ corners - point).max() <= nearly * size)
