"""Whether multipliers leave room for a second optimum: from the cell alone, no solver's word."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell

#: Slopes and multipliers within this share of a weight count as equal, or as zero.
EQUAL = 1e-9
#: Columns count as independent above this share of the largest entry.
INDEPENDENT = 1e-10


def leaves_one_point(
    cell: Cell,
    multipliers: FloatArray,
    center: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> bool:
    """Return whether optimal multipliers of a linear cell allow one optimal point only.

    Every optimum minimises ``w_i |x_i - c_i| + a_i x_i`` within the bounds, feature by feature,
    with ``a = G'y``: where ``|a_i| < w_i`` at the center, where ``|a_i| > w_i`` at a bound, and
    where they are equal anywhere between the two. Rows with ``y > 0`` are tight at every optimum;
    if they determine the features of the last kind, there is one optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import Cell
    >>> unbounded = np.full(2, -np.inf), np.full(2, np.inf)
    >>> steep = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))  # x1 + 2 x2 >= 2
    >>> leaves_one_point(steep, np.array([0.5]), np.zeros(2), np.ones(2), *unbounded)
    True
    >>> even = Cell(np.array([[-1.0, -1.0]]), np.array([-2.0]))  # either feature will do
    >>> leaves_one_point(even, np.array([1.0]), np.zeros(2), np.ones(2), *unbounded)
    False
    """
    if not (weights > 0).all():
        return False
    steepest = np.abs(cell.G / weights).max(axis=1, initial=0.0)
    tight = multipliers * steepest > EQUAL
    slopes = multipliers[tight] @ cell.G[tight]
    low, high = np.maximum(lower, cell.lower), np.minimum(upper, cell.upper)
    end = np.where(slopes > 0, low, high)
    equal = np.abs(np.abs(slopes) - weights) <= EQUAL * weights
    free = equal & (end != np.clip(center, low, high))
    block = cell.G[np.ix_(tight, free)]
    if not free.any():
        return True
    if block.shape[0] < block.shape[1]:
        return False
    size = np.abs(block).max()
    return bool(np.linalg.matrix_rank(block / size, tol=INDEPENDENT) == block.shape[1])
