"""Proofs of a kind that is not known here: they prove nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pertinent.geometry import codec
from pertinent.geometry.arrays import BoolArray, FloatArray, RowIndex
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs


@dataclass(frozen=True, eq=False)
class UnknownProofs(codec.Unknown, Proofs):
    """A proof of a kind that is not known here."""

    n: int = 1

    def __len__(self) -> int:
        return self.n

    def take(self, rows: RowIndex) -> Self:
        """Return as many of the same."""
        return replace(self, n=len(np.arange(self.n)[rows]))

    def bounds(self, task: Task) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(task))

    def piece_bounds(self, task: Task) -> FloatArray:
        """Return zeros, for every piece."""
        return np.zeros((len(task), 1))

    def trusted(self) -> BoolArray:
        """Return that none is."""
        return np.zeros(self.n, dtype=bool)


def decode(record: Any) -> Any:
    """Return what `encode` was given, `UnknownProofs` for kinds that are not known here."""
    return codec.decode(record, UnknownProofs)
