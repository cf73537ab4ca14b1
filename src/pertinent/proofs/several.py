"""Different proofs for different centers of the same cell, and bounds on a solver's word."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import Cell
from pertinent.proofs.core import Proofs


@dataclass(frozen=True, eq=False)
class SeveralProofs(Proofs):
    """Proofs of some rows each; where two speak of the same row, the stronger one counts.

    Parameters
    ----------
    n : int
    parts : tuple of (ndarray of int, Proofs)
        Which rows, and their proofs in the same order.
    """

    n: int
    parts: tuple[tuple[IntArray, Proofs], ...]

    def __len__(self) -> int:
        return self.n

    def take(self, rows: IntArray) -> SeveralProofs:
        """Return the proofs of the given rows."""
        parts = []
        for own, proofs in self.parts:
            place = {int(row): k for k, row in enumerate(own)}
            here = [(new, place[int(row)]) for new, row in enumerate(rows) if int(row) in place]
            if here:
                new, old = (np.array(column) for column in zip(*here, strict=True))
                parts.append((new, proofs.take(old)))
        return replace(self, n=len(rows), parts=tuple(parts))

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the largest bound that any part proves for each row."""
        best = np.zeros(self.n)
        for rows, proofs in self.parts:
            found = proofs.bounds(cell, centers[rows], weights, lower[rows], upper[rows])
            best[rows] = np.maximum(best[rows], found)
        return best

    def trusted(self) -> BoolArray:
        """Return False where any part rests on a solver's word."""
        trusted = np.ones(self.n, dtype=bool)
        for rows, proofs in self.parts:
            trusted[rows] &= proofs.trusted()
        return trusted


@dataclass(frozen=True, eq=False)
class SolverBounds(Proofs):
    """Lower bounds that a global solver claims; nothing here can be replayed.

    Parameters
    ----------
    claimed : ndarray of shape (n,)
    solver : str
    """

    claimed: FloatArray
    solver: str

    def __len__(self) -> int:
        return len(self.claimed)

    def take(self, rows: IntArray) -> SolverBounds:
        """Return the claims about the given rows."""
        return SolverBounds(self.claimed[rows], self.solver)

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return what the solver claims."""
        return self.claimed.copy()

    def trusted(self) -> BoolArray:
        """Return False for every claim that says more than that a distance is not negative."""
        return np.asarray(self.claimed <= 0)
