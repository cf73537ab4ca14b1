"""Weak duality for blends: points of a cell that are convex combinations of given ones.

Let ``q_1 .. q_k`` be the points that may be blended. For multipliers ``y >= 0`` of ``G x <= h``
and any vector u, every blend ``x = sum_j share_j q_j`` of the cell has

    sum_i w_i |x_i - c_i|  >=  sum_i w_i |x_i - c_i| + y'(G x - h) + u'x - max_j u'q_j,

because ``u'x <= max_j u'q_j``. The right-hand side, minimised over the bounds, splits into one
small problem a feature, as it does for linear rows. Without the distance it proves emptiness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import row_products
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs
from pertinent.proofs.linear import dual_values, is_empty


@record_as("hull")
@dataclass(frozen=True, eq=False)
class HullProofs(Proofs):
    """Multipliers of the rows and of the blend; a Farkas ray where ``ray`` is true.

    Parameters
    ----------
    corners : ndarray of shape (n, k, n_features)
        The points that may be blended.
    multipliers : ndarray of shape (n, n_rows)
    pull : ndarray of shape (n, n_features)
        The vector u.
    ray : ndarray of bool, shape (n,)
    """

    corners: FloatArray
    multipliers: FloatArray
    pull: FloatArray
    ray: BoolArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual values; ``inf`` where the ray proves that no blend is in the cell."""
        cell, centers, weights = task.cell, task.centers, task.weights
        lower, upper = task.lower, task.upper
        start = np.clip(centers, lower, upper)
        y = np.maximum(self.multipliers, 0.0)
        slopes = row_products(y, np.ascontiguousarray(cell.G.T)) + self.pull
        excess = (y * (row_products(start, cell.G) - cell.h)).sum(axis=1)
        furthest = np.matmul(self.corners, self.pull[:, :, None])[:, :, 0].max(axis=1)
        excess = excess + (self.pull * start).sum(axis=1) - furthest
        proved = dual_values(slopes, excess, start, centers, weights, lower, upper)
        where = np.flatnonzero(self.ray)
        terms = row_products(y, np.ascontiguousarray(np.abs(cell.G).T)) + np.abs(self.pull)
        empty = is_empty(
            slopes[where], excess[where], start[where], lower[where], upper[where], terms[where]
        )
        proved[where[empty]] = np.inf
        proved[(lower > upper).any(axis=1)] = np.inf
        return proved
