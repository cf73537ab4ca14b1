"""Affine maps and scores, and products that do not depend on the batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.codec import record_as


def row_products(points: FloatArray, rows: FloatArray) -> FloatArray:
    """Return ``points @ rows.T``, each point on its own.

    One large matrix product rounds a row differently depending on how many rows are multiplied
    at once. Here every point is a product of its own, so results do not depend on the batch.
    """
    n, d = points.shape
    if n == 1 < d and points.flags.forc and rows.flags.forc:
        # The product that `matmul` makes of numbers that lie side by side, in half the time.
        product: FloatArray = points.dot(rows.T)
        return product
    if d == 1 == rows.shape[1]:
        return np.asarray(points * rows[:, 0])
    if len(rows) == 0 or len(points) == 0:
        return np.zeros((len(points), len(rows)))
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


def preimage(through: AffineMap, point: FloatArray) -> FloatArray:
    """Return a point whose image comes closest to a given one."""
    away = point - through.shift
    if through.is_diagonal:
        return np.where(
            through.matrix == 0, 0.0, away / np.where(through.matrix == 0, 1.0, through.matrix)
        )
    return np.asarray(np.linalg.lstsq(through.matrix, away, rcond=None)[0])


@dataclass(frozen=True, eq=False)
class Scores:
    """Linear scores ``W x + b``, one for each item.

    ``sizes`` is what a model adds up for each item, whatever the point (see `Sums`), and ``seen``
    the same scores with less rounding: an origin amid the items, and their scores there.
    """

    W: FloatArray
    b: FloatArray
    sizes: FloatArray = field(default=None)  # type: ignore[arg-type]
    seen: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        if self.sizes is None:
            object.__setattr__(self, "sizes", np.zeros(len(self.b)))

    def closely(self, points: FloatArray) -> FloatArray:
        """Return the scores of each point as seen from the origin amid the items."""
        origin, there = (0.0, self.b) if self.seen is None else self.seen
        return row_products(points - origin, self.W) + there

    def __len__(self) -> int:
        return len(self.b)

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the scores of each point, shape (n, n_items)."""
        return row_products(points, self.W) + self.b

    def pull_back(self, through: AffineMap) -> Scores:
        """Return the scores as a function of ``z``, for ``x = M z + t``."""
        seen = None
        if self.seen is not None:
            origin = preimage(through, self.seen[0])
            beside = through(origin[None])[0] - self.seen[0]
            seen = origin, self.seen[1] + self.W @ beside
        return Scores(through.rows(self.W), self.b + self.W @ through.shift, self.sizes, seen)
