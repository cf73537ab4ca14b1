"""Affine maps, and products that do not depend on the batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.codec import record_as


def row_products(points: FloatArray, rows: FloatArray) -> FloatArray:
    """Return ``points @ rows.T``, each point on its own.

    One large matrix product rounds a row differently depending on how many rows are multiplied
    at once. Here every point is a product of its own, so results do not depend on the batch.
    """
    if len(rows) == 0 or len(points) == 0:
        return np.zeros((len(points), len(rows)))
    if points.shape[1] == 1:
        return np.asarray(points * rows[:, 0])
    if len(points) == 1:
        return np.asarray(points @ rows.T)
    return np.asarray(np.matmul(points[:, None, :], rows.T)[:, 0, :])


@record_as("affine")
@dataclass(frozen=True, eq=False)
class AffineMap:
    """The map ``z -> M z + shift``; a diagonal ``M`` is kept as the vector of its entries.

    Parameters
    ----------
    matrix : ndarray of shape (n_out, n_in) or (n,)
        Two dimensions: the matrix. One dimension: the diagonal of a square one.
    shift : ndarray of shape (n_out,)

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import AffineMap
    >>> AffineMap(np.array([2.0, 1.0]), np.array([0.0, 1.0]))(np.array([[3.0, 4.0]]))
    array([[6., 5.]])
    """

    matrix: FloatArray
    shift: FloatArray

    @classmethod
    def identity(cls, dim: int) -> AffineMap:
        """Return the map that changes nothing."""
        return cls(np.ones(dim), np.zeros(dim))

    @property
    def is_diagonal(self) -> bool:
        """Whether each output depends on the input of the same place only."""
        return self.matrix.ndim == 1

    @property
    def dim_in(self) -> int:
        """Number of inputs."""
        return int(self.matrix.shape[-1])

    @property
    def dim_out(self) -> int:
        """Number of outputs."""
        return int(self.matrix.shape[0])

    def dense(self) -> FloatArray:
        """Return the matrix, written out."""
        return np.diag(self.matrix) if self.is_diagonal else self.matrix

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the images of the points."""
        if self.is_diagonal:
            return points * self.matrix + self.shift
        return row_products(points, self.matrix) + self.shift

    def rows(self, rows: FloatArray) -> FloatArray:
        """Return ``rows @ M``."""
        return rows * self.matrix if self.is_diagonal else rows @ self.matrix

    def after(self, first: AffineMap) -> AffineMap:
        """Return the map that applies ``first``, then this one."""
        if self.is_diagonal and first.is_diagonal:
            return AffineMap(self.matrix * first.matrix, self.matrix * first.shift + self.shift)
        shift = self.dense() @ first.shift + self.shift
        if self.is_diagonal:
            return AffineMap(self.matrix[:, None] * first.matrix, shift)
        return AffineMap(first.rows(self.matrix), shift)
