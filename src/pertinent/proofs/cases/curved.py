"""Proofs for whole numbers, categories and rules of change under curved rows: a tree of cases.

The tree is that of `pertinent.proofs.cases.branch`, replayed in the same way. A leaf is a box, and
its proof one of the proofs for boxes without anything discrete (copositivity, halving, ...): the
nearest of all points in the box costs no more than the nearest allowed one.

Bins cost nothing, and proofs of distances need a cost: an indicator that is fixed is moved to where
the center has it, and one that is not pays a little, which is taken off the bound again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pertinent.geometry.arrays import SHARED, BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import AffineMap, Cell
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.cases.branch import TreeProofs
from pertinent.proofs.cases.narrowing import Boxes
from pertinent.proofs.core import Proofs
from pertinent.proofs.tolerances import LITTLE


@record_as("curved-branch", retired=("domain",))
@dataclass(frozen=True, eq=False)
class CurvedBranchProofs(TreeProofs):
    """Trees of cases, one for each row, with a proof for each leaf.

    Parameters
    ----------
    roots, tree
        As in `TreeProofs`.
    leaves_by : tuple of Proofs
        Proofs of one box each.
    """

    leaves_by: tuple[Proofs, ...] = field(metadata=SHARED)

    def _kept(self, used: IntArray) -> dict[str, Any]:
        return {"leaves_by": tuple(self.leaves_by[int(k)] for k in used)}

    def leaf_bounds(self, used: IntArray, task: Task, domain: Domain, boxes: Boxes) -> FloatArray:
        """Return what the proofs of leaves show."""
        out = np.zeros(len(used))
        for k, leaf in enumerate(used):
            if k and is_over():
                break
            box, center = boxes.take(np.array([k])), task.centers[boxes.row[[k]]]
            alone = Leaf.of(task.cell, domain, center, task.weights, box)
            out[k] = alone.bound(self.leaves_by[int(leaf)])
        return out

    def trusted(self) -> BoolArray:
        """Return whether no proof repeats a solver's word."""
        return np.full(len(self), all(p.trusted().all() for p in self.leaves_by))


@dataclass(frozen=True, eq=False)
class Leaf:
    """A box of the tree without anything discrete: what is left to project onto, and from where.

    Attributes
    ----------
    cell : Cell
    center : ndarray of shape (1, n_columns)
    weights : ndarray of shape (n_columns,)
        All positive.
    lower, upper : ndarray of shape (1, n_columns)
    toll : float
        By how much the distance here may exceed the cost.
    cut : tuple of Bins
        Numbers of which the cell knows what is cut off: it no longer speaks of that column.
    """

    cell: Cell
    center: FloatArray
    weights: FloatArray
    lower: FloatArray
    upper: FloatArray
    toll: float
    cut: tuple[Bins, ...] = ()

    @classmethod
    def of(
        cls, cell: Cell, domain: Domain, center: FloatArray, weights: FloatArray, box: Boxes
    ) -> Leaf:
        """Return the leaf of one narrowed box."""
        free = weights <= 0
        if not free.any():
            return cls(cell, center, weights, box.lower, box.upper, 0.0)
        known = tuple(bins for bins in domain.bins if _is_cut(bins, box))
        gone = [bins.excess for bins in known if bins.excess is not None]
        lower, upper = box.lower.copy(), box.upper.copy()
        lower[:, gone] = upper[:, gone] = 0.0  # the cell no longer speaks of them
        least = float(weights[~free].min(initial=np.inf))
        paid = np.where(free, LITTLE * (least if np.isfinite(least) else 1.0), weights)
        fixed = lower == upper
        moved = np.where(free & fixed, lower, center)
        far = np.maximum(np.abs(lower - moved), np.abs(upper - moved))[0]
        toll = float((paid * far)[free].sum())  # what is fixed is where it was moved to
        return cls(without_excess(cell, known, box), moved, paid, lower, upper, toll, known)

    def completed(self, points: FloatArray) -> FloatArray:
        """Return points of the leaf with what is cut off of their numbers filled in."""
        points = points.copy()
        for bins in self.cut:
            points[:, bins.excess] = bins.beyond(points[:, bins.column])
        return points

    def bound(self, proofs: Proofs) -> float:
        """Return what proofs of this box show of its cost."""
        task = Task(self.cell, self.center, self.weights, self.lower, self.upper)
        proved = float(proofs.bounds(task)[0])
        return proved if np.isinf(proved) else max(0.0, proved - self.toll)


def _is_cut(bins: Bins, box: Boxes) -> bool:
    """Return whether a number is cut off, and its bin is known."""
    return bins.excess is not None and bool((box.lower[0, bins.columns] == 1.0).any())


def without_excess(cell: Cell, known: Sequence[Bins], box: Boxes) -> Cell:
    """Return the cell with what is cut off of each number put in: ``a_k x + b_k`` in bin k."""
    if not known:
        return cell
    matrix, shift = np.eye(cell.dim), np.zeros(cell.dim)
    for bins in known:
        k = int(box.lower[0, bins.columns].argmax())
        matrix[bins.excess] = 0.0
        matrix[bins.excess, bins.column] = bins.beyond_slope[k]
        shift[bins.excess] = bins.beyond_shift[k]
    return cell.pull_back(AffineMap(matrix, shift))
