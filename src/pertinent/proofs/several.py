"""Different proofs for different centers of the same cell, and bounds on a solver's word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, RowIndex
from pertinent.geometry.codec import record_as
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs


@record_as("several")
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

    def take(self, rows: RowIndex) -> Self:
        """Return the proofs of the given rows."""
        parts, wanted = [], np.arange(self.n)[rows]
        for own, proofs in self.parts:
            place = {int(row): k for k, row in enumerate(own)}
            here = [(new, place[int(row)]) for new, row in enumerate(wanted) if int(row) in place]
            if here:
                new, old = (np.array(column) for column in zip(*here, strict=True))
                parts.append((new, proofs.take(old)))
        return replace(self, n=len(wanted), parts=tuple(parts))

    def bounds(self, task: Task) -> FloatArray:
        """Return the largest bound that any part proves for each row."""
        best = np.zeros(self.n)
        for rows, proofs in self.parts:
            found = proofs.bounds(task.take(rows))
            best[rows] = np.maximum(best[rows], found)
        return best

    def trusted(self) -> BoolArray:
        """Return False where any part rests on a solver's word."""
        trusted = np.ones(self.n, dtype=bool)
        for rows, proofs in self.parts:
            trusted[rows] &= proofs.trusted()
        return trusted


@record_as("solver-bounds")
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

    def bounds(self, task: Task) -> FloatArray:
        """Return what the solver claims."""
        return self.claimed.copy()

    def trusted(self) -> BoolArray:
        """Return False for every claim that says more than that a distance is not negative."""
        return np.asarray(self.claimed <= 0)
