"""Where a form that is not copositive, but for a narrow cone, is not positive.

Let ``z >= 0`` with ``z'Mz <= 0``. Rows of M without a negative entry are deleted, one after the
other: their part of the form, at least ``M_ii z_i^2`` each, is not negative, and nor is that of the
rest then positive. Scaled to entries of about 1, ``u = D z``, the rest P has a least eigenvalue of
at least ``-e`` with the eigenvector v, and all others are at least ``l > 0``. So

    -e (u'v)^2 + l |u - (u'v) v|^2  <=  u'Pu  <=  0,

and u lies in the cone ``|u - (u'v) v| <= sqrt(e / l) u'v`` around v, while ``M_ii z_i^2`` of a
deleted row is at most ``e (u'v)^2``. The weights z of a part's corners add up to 1, which says how
large ``u'v`` is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.proofs.tolerances import DEFINITE


def undeleted(M: FloatArray, alive: BoolArray) -> BoolArray:
    """Return the rows of M that are left when those without a negative entry are deleted."""
    while alive.any():
        negative = (M[alive][:, alive] < 0).any(axis=1)
        if negative.all():
            break
        alive = alive.copy()
        alive[np.flatnonzero(alive)[~negative]] = False
    return alive


class Cone(NamedTuple):
    """All z with ``z'Mz <= 0``, up to a factor: ``axis + spread r + beside``, with ``|r| <= 1``.

    Parameters
    ----------
    axis : ndarray of shape (n,)
    spread : ndarray of shape (n,)
        What each coordinate of r counts.
    beside : ndarray of shape (n,)
        What deleted rows may be at most.
    """

    axis: FloatArray
    spread: FloatArray
    beside: FloatArray

    @classmethod
    def of(cls, M: FloatArray, alive: BoolArray) -> Cone | None:
        """Return the cone; None where none is shown. Rows that are not alive have ``z_i = 0``."""
        left = undeleted(M, alive)
        deleted, diagonal = alive & ~left, np.diagonal(M)
        part = M[left][:, left]
        if not left.any() or (diagonal[deleted] <= 0).any():
            return None
        root = np.sqrt(np.abs(part).max(axis=1))
        values, vectors = np.linalg.eigh(part / root[:, None] / root)
        rounding = DEFINITE * len(root) * len(root)
        least = values[1] - rounding if len(values) > 1 else np.inf
        below = max(-values[0], 0.0) + rounding
        if not least > 0:
            return None
        v = vectors[:, 0] * np.sign(vectors[:, 0].sum())
        axis, spread, beside = np.zeros((3, len(M)))
        axis[left], spread[left] = v / root, np.sqrt(below / least) / root
        beside[deleted] = np.sqrt(below / diagonal[deleted])
        return cls(axis, spread, beside)

    def images(self, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where ``matrix z`` lies if the z add up to 1: a middle, and how far from it."""
        total = float(self.axis.sum())
        off = float(np.linalg.norm(self.spread) + self.beside.sum())
        middle = matrix @ self.axis
        far = np.linalg.norm(matrix * self.spread, axis=1) + np.abs(matrix) @ self.beside
        if not total > off:
            return middle, np.full(len(middle), np.inf)
        # z is divided by its sum, which lies between total - off and total + off.
        least = total - off
        return middle / total, far / least + np.abs(middle) * (1.0 / least - 1.0 / total)
