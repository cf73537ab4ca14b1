"""Proofs for softmax probabilities: tangents, and a proof about the polyhedron they bound.

The set ``log sum_k exp(W_k x + b_k) <= 0`` is convex, so it lies within the tangent half-space at
any point whatever. A bound over the cell with tangents in place of its exponential rows therefore
holds for the cell itself. Only the points of tangency are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs


@record_as("cuts")
@dataclass(frozen=True, eq=False)
class CutProofs(Proofs):
    """For each row, points of tangency and a proof about the cell that the tangents give.

    Parameters
    ----------
    touched : tuple of ndarray of shape (n_tangents, n_features)
    inner : tuple of Proofs, each of length 1
    """

    touched: tuple[FloatArray, ...]
    inner: tuple[Proofs, ...]

    def trusted(self) -> BoolArray:
        """Return whether each inner proof is recomputed."""
        return np.array([bool(proof.trusted()[0]) for proof in self.inner], dtype=bool)

    def bounds(self, task: Task) -> FloatArray:
        """Return the bounds over the cells that the tangents give."""
        proved = np.zeros(len(self))
        for i, (touched, proof) in enumerate(zip(self.touched, self.inner, strict=True)):
            one = replace(task.take(np.array([i])), region=with_tangents(task.cell, touched))
            proved[i] = proof.bounds(one)[0]
        return proved


def with_tangents(cell: Cell, points: FloatArray) -> Cell:
    """Return the cell with tangents at the points in place of its exponential rows."""
    G, h = [cell.G], [cell.h]
    for bend in cell.exponentials:
        rows, sides = bend.tangents(points)
        G.append(rows)
        h.append(sides)
    bare = replace(cell, exponentials=(), magnitudes=None)
    return replace(bare, G=np.vstack(G), h=np.concatenate(h))
