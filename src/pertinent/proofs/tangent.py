"""Tangent cuts: weak duality for convex quadratic rows.

For any vector p, ``|P u|^2 >= 2 p'P u - |p|^2``, because ``|P u - p|^2 >= 0``. So every point of
the cell, seen from the origin of the row as ``u``, satisfies the linear row

    2 p'P u - |p|^2 + q'u + c <= 0,

and multipliers of such rows prove bounds, or emptiness, just as those of linear rows do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import OF_EACH, BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell, row_products
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs
from pertinent.proofs.linear import dual_values, is_empty

#: Each value may be off by this share of its terms.
ROUNDING = 1e-15


@record_as("tangent")
@dataclass(frozen=True, eq=False)
class TangentProofs(Proofs):
    """One tangent for each quadratic row, with multipliers; a Farkas ray where ``ray`` is true.

    Parameters
    ----------
    tangents : tuple of ndarray of shape (n, rank_k)
        The vectors p, one array for each quadratic row of the cell.
    multipliers : ndarray of shape (n, n_quadratics + n_rows)
        Quadratic rows first. A row that is not convex must have multiplier 0: it counts as 0.
    ray : ndarray of bool, shape (n,)
    """

    tangents: tuple[FloatArray, ...] = field(metadata=OF_EACH)
    multipliers: FloatArray
    ray: BoolArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual values; ``inf`` where the ray proves the cell empty."""
        cell, centers, weights = task.cell, task.centers, task.weights
        lower, upper = task.lower, task.upper
        start = np.clip(centers, lower, upper)
        slopes, excess, terms = self.combined(cell, start)
        proved = dual_values(slopes, excess, start, centers, weights, lower, upper)
        where = np.flatnonzero(self.ray)
        empty = is_empty(
            slopes[where], excess[where], start[where], lower[where], upper[where], terms[where]
        )
        proved[where[empty]] = np.inf
        proved[(lower > upper).any(axis=1)] = np.inf
        return proved

    def combined(self, cell: Cell, start: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return slope, value at the start and size of the terms of all rows together."""
        y = np.maximum(self.multipliers, 0.0)
        straight = y[:, len(cell.quadratics) :]
        slopes = row_products(straight, np.ascontiguousarray(cell.G.T))
        terms = row_products(straight, np.ascontiguousarray(np.abs(cell.G).T))
        excess = (straight * (row_products(start, cell.G) - cell.h)).sum(axis=1)
        for k, row in enumerate(cell.quadratics):
            if not row.is_convex:
                continue
            p, multiplier = self.tangents[k], y[:, k]
            slope = 2 * row_products(p, np.ascontiguousarray(row.plus.T)) + row.q
            seen, square = row.seen(start), (p * p).sum(axis=1)
            value = (slope * seen).sum(axis=1) - square + row.c
            # Lowered by what rounding may have added to it.
            value -= ROUNDING * (np.abs(slope * seen).sum(axis=1) + square + abs(row.c))
            slopes = slopes + multiplier[:, None] * slope
            # The slope itself is what is left of 2 P'p + q: a tangent across an open direction.
            size = 2 * row_products(np.abs(p), np.ascontiguousarray(np.abs(row.plus).T))
            terms = terms + multiplier[:, None] * (size + np.abs(row.q))
            excess = excess + multiplier * value
        return slopes, excess, terms
