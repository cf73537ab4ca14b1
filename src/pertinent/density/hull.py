"""Blends of real points: the convex hull of the nearest training points of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.density.tolerances import DUST
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.tables.notebook import Card


@record_as("blend")
@dataclass(frozen=True, eq=False)
class Blend(Card):
    """Of which training points an answer is made.

    Parameters
    ----------
    rows : ndarray of int
        Rows of the data given to `pertinent.Plausibility`, largest share first.
    shares : ndarray of float
        Their shares: positive, with sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> print(Blend(np.array([7, 2]), np.array([0.75, 0.25])))
    75% of row 7, 25% of row 2
    """

    rows: IntArray
    shares: FloatArray

    def require_sound(self) -> None:
        """Refuse what cannot be: places and shares are as many, and numbers."""
        for numbers, kinds in ((self.rows, "iu"), (self.shares, "f")):
            if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in kinds:
                raise InputError("A stored blend has places and shares that are no numbers.")
        if self.rows.ndim != 1 or self.rows.shape != self.shares.shape:
            raise InputError("A stored blend must have one share for each of its places.")

    def __str__(self) -> str:
        pairs = zip(self.rows.tolist(), self.shares.tolist(), strict=True)
        return ", ".join(f"{share:.0%} of row {row}" for row, share in pairs)

    @classmethod
    def of(cls, rows: IntArray, shares: FloatArray) -> Blend:
        """Return the blend without its dust, in the order of shares."""
        order = np.argsort(-shares, kind="stable")
        order = order[shares[order] > DUST]
        return cls(rows[order], shares[order] / shares[order].sum())


@record_as("hulls")
@dataclass(frozen=True, eq=False)
class Hulls:
    """The training points of each class.

    Parameters
    ----------
    points : tuple of ndarray of shape (n_k, n_features)
        In the order of the model's classes.
    rows : tuple of ndarray of int, shape (n_k,)
        Where they stand in the data.
    n_neighbors : int
    """

    points: tuple[FloatArray, ...]
    rows: tuple[IntArray, ...]
    n_neighbors: int

    def nearest(self, k: int, sample: FloatArray, weights: FloatArray) -> IntArray:
        """Return which points of class ``k`` lie nearest to a sample, in weighted L1."""
        away = (np.abs(self.points[k] - sample) * weights).sum(axis=1)
        return np.argsort(away, kind="stable")[: self.n_neighbors]

    def words(self) -> str:
        """Return what is asked for, in words."""
        return f"a blend of the {self.n_neighbors} nearest training points of its class"
