"""Quadratic inequalities, kept as factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pertinent._affine import AffineMap, row_products
from pertinent._typing import FloatArray


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The inequality ``|plus x|^2 - |minus x|^2 + q'x + c <= 0``.

    The matrix ``A = plus'plus - minus'minus`` is kept as its two factors: they are what a cone
    solver and a convex-concave split need, and they survive changes of coordinates exactly.

    Parameters
    ----------
    plus, minus : ndarray of shape (rank, n_features)
        Factors of the convex and of the concave part; no rows where there is none.
    q : ndarray of shape (n_features,)
    c : float
    """

    plus: FloatArray
    minus: FloatArray
    q: FloatArray
    c: float

    @classmethod
    def from_matrix(cls, A: FloatArray, q: FloatArray, c: float, rtol: float = 1e-13) -> Quadratic:
        """Return the row for a symmetric matrix, split by its eigenvectors."""
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        size = float(np.abs(values).max(initial=0.0)) * rtol
        up, down = values > size, values < -size
        return cls(
            np.sqrt(values[up])[:, None] * vectors[:, up].T,
            np.sqrt(-values[down])[:, None] * vectors[:, down].T,
            q,
            float(c),
        )

    @cached_property
    def A(self) -> FloatArray:
        """The symmetric matrix of the quadratic form."""
        return np.asarray(self.plus.T @ self.plus - self.minus.T @ self.minus)

    @property
    def is_convex(self) -> bool:
        """Whether the inequality describes a convex set by its form."""
        return len(self.minus) == 0

    def value(self, points: FloatArray) -> FloatArray:
        """Return the left-hand side at each point."""
        up, down = row_products(points, self.plus), row_products(points, self.minus)
        linear = row_products(points, self.q[None])[:, 0]
        return np.asarray((up * up).sum(1) - (down * down).sum(1) + linear + self.c)

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return the size of the terms that `value` adds up: the unit of its rounding."""
        up, down = row_products(points, self.plus), row_products(points, self.minus)
        linear = row_products(np.abs(points), np.abs(self.q)[None])[:, 0]
        return np.asarray((up * up).sum(1) + (down * down).sum(1) + linear + abs(self.c))

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradient at each point, shape (n, n_features)."""
        up, down = row_products(points, self.plus), row_products(points, self.minus)
        return 2 * (row_products(up, self.plus.T) - row_products(down, self.minus.T)) + self.q

    def scale(self) -> float:
        """Return the size of the slope near the origin, the unit of a margin."""
        return float(np.abs(self.q).max(initial=0.0) + np.abs(self.A).max(initial=0.0))

    def reversed(self) -> Quadratic:
        """Return the inequality that holds where this one is violated (or tight)."""
        return Quadratic(self.minus, self.plus, -self.q, -self.c)

    def pull_back(self, through: AffineMap) -> Quadratic:
        """Return the inequality on ``z`` that says the same of ``x = M z + t``."""
        up, down = self.plus @ through.shift, self.minus @ through.shift
        # |P(Mz+t)|^2 = |PMz|^2 + 2 (Pt)'PM z + |Pt|^2, and likewise for the concave part.
        slope = self.q + 2 * (up @ self.plus - down @ self.minus)
        constant = self.c + self.q @ through.shift + up @ up - down @ down
        return Quadratic(
            through.rows(self.plus),
            through.rows(self.minus),
            through.rows(slope[None])[0],
            float(constant),
        )
