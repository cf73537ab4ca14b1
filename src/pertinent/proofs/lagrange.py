"""Lagrange multipliers for curved rows: what a convex combination of non-convex rows proves.

For multipliers ``y >= 0`` of all rows, convex or not, and ``z >= 0`` of ``(x_i - l_i)(x_i - u_i)``,
which is at most 0 between two finite bounds, every point of the cell has

    f(x) = sum_k y_k row_k(x) + sum_i z_i (x_i - l_i)(x_i - u_i) <= 0.

If the matrix of f is positive definite over the features that may move, then f lies above its
tangent at any point p, and that tangent is a linear row. It proves a bound, or emptiness, as the
linear rows of a polyhedron do. For one ellipsoid and one other row nothing is lost (S-lemma).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs
from pertinent.proofs.linear import row_bounds
from pertinent.proofs.rounding import Terms, form_sizes, quadratic_sizes
from pertinent.proofs.tolerances import CURVED, DEFINITE


@record_as("lagrange")
@dataclass(frozen=True, eq=False)
class LagrangeProofs(Proofs):
    """Multipliers of all rows, and where their sum is touched; a ray proves emptiness.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        Where the tangent touches; features that cannot move count as held.
    multipliers : ndarray of shape (n, n_quadratics + n_rows)
        Quadratic rows first.
    cuts : ndarray of shape (n, n_features)
        Multipliers of ``(x_i - l_i)(x_i - u_i)``; 0 where a bound is missing.
    ray : ndarray of bool, shape (n,)
    """

    points: FloatArray
    multipliers: FloatArray
    cuts: FloatArray
    ray: BoolArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual values; ``inf`` where the ray proves the cell empty."""
        start = task.start()
        slopes, excess, terms, convex = self._tangents(task.cell, start, task.lower, task.upper)
        # A sum that is not convex may lie below its tangent: nothing is known of it.
        slopes, excess = np.where(convex[:, None], slopes, 0.0), np.where(convex, excess, 0.0)
        at_start = np.where(convex, terms.at_start, 0.0)
        terms = replace(
            terms, slopes=np.where(convex[:, None], terms.slopes, 0.0), at_start=at_start
        )
        return row_bounds(task, start, slopes, excess, self.ray, terms)

    def combined(self, cell: Cell, start: FloatArray) -> tuple[FloatArray, FloatArray, Terms]:
        """Return slope, value at the start and size of the terms of all rows, cuts left out."""
        free = np.full(start.shape, np.inf)
        slopes, excess, terms, _ = self._tangents(cell, start, -free, free)
        return slopes, excess, terms

    def _tangents(
        self, cell: Cell, start: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, Terms, BoolArray]:
        """Return slope and value at the start of each tangent, its terms, and if it is valid."""
        y, held = np.maximum(self.multipliers, 0.0), lower >= upper
        p = np.where(held, start, self.points)
        boxed = np.isfinite(lower) & np.isfinite(upper)
        z = np.where(boxed, np.maximum(self.cuts, 0.0), 0.0)
        low, high = np.where(boxed, lower, 0.0), np.where(boxed, upper, 0.0)
        slopes = z * (2 * p - low - high)
        terms = z * (2 * np.abs(p) + np.abs(low) + np.abs(high))
        value = (z * (p - low) * (p - high)).sum(axis=1)
        size = (z * (np.abs(p) + np.abs(low)) * (np.abs(p) + np.abs(high))).sum(axis=1)
        n_curved = len(cell.quadratics)
        for k, row in enumerate(cell.quadratics):
            slopes = slopes + y[:, k, None] * row.gradient(p)
            gradient, added = quadratic_sizes(row, p)
            terms = terms + y[:, k, None] * gradient
            value = value + y[:, k] * row.value(p)
            size = size + y[:, k] * added
        for k in range(len(cell.h)):
            multiplier = y[:, n_curved + k]
            slopes = slopes + multiplier[:, None] * cell.G[k]
            terms = terms + multiplier[:, None] * np.abs(cell.G[k])
            value = value + multiplier * (p @ cell.G[k] - cell.h[k])
            size = size + multiplier * (np.abs(p) @ np.abs(cell.G[k]) + abs(cell.h[k]))
        move = start - p
        size = size + (terms * np.abs(move)).sum(axis=1)
        excess = value + (slopes * move).sum(axis=1) - CURVED * cell.dim * size
        # What cannot move has no say: its part of the tangent is its value at the start.
        slopes, terms = np.where(held, 0.0, slopes), np.where(held, 0.0, terms)
        sizes = Terms(terms, size, self.multipliers.shape[1] + cell.dim)
        return slopes, excess, sizes, self._convex(cell, y, z, ~held)

    def _convex(self, cell: Cell, y: FloatArray, z: FloatArray, free: BoolArray) -> BoolArray:
        forms = [row.A for row in cell.quadratics]
        sizes = [form_sizes(row) for row in cell.quadratics]
        out = np.ones(len(y), dtype=bool)
        for i in range(len(y)):
            form, size = np.diag(z[i]), np.diag(z[i])
            for k in np.flatnonzero(y[i, : len(forms)]):
                form, size = form + y[i, k] * forms[k], size + y[i, k] * sizes[k]
            # A feature that no row bends has a straight tangent: nothing to ask.
            bent = free[i] & (size != 0).any(axis=1)
            out[i] = _definite(form[np.ix_(bent, bent)], size[np.ix_(bent, bent)])
        return out


def _definite(form: FloatArray, size: FloatArray) -> bool:
    """Return whether a matrix is positive definite, whatever rounding did to its entries."""
    if not len(form):
        return True
    scale = np.diagonal(size)
    if not np.isfinite(form).all() or (scale <= 0).any():
        return False
    # Scaling rows and columns by positive numbers changes nothing.
    scaled = form / np.sqrt(np.outer(scale, scale))
    return bool(np.linalg.eigvalsh(scaled)[0] > DEFINITE * len(form) ** 2)
