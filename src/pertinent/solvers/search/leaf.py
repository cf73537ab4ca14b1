"""One case under curved rows as a task in which nothing is discrete, for the cell's own method.

Its bound holds for the case: the nearest of all points of a box costs no more than the nearest
allowed one. Columns that cost nothing, such as bins, must cost something for the methods. A fixed
one is moved to where the center has it. One that is not fixed pays a little, and what all of these
can pay together is the toll: it is taken off the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Bins
from pertinent.geometry.region import AffineMap
from pertinent.setting.options import Options
from pertinent.solvers.problem import Solved, Task
from pertinent.solvers.search.narrow import Boxes
from pertinent.solvers.tolerances import LITTLE


@dataclass(frozen=True, eq=False)
class Leaf:
    """What is left to solve in one box.

    Parameters
    ----------
    task : Task
        Of one row, without a domain, with positive weights.
    toll : float
        By how much the cost in the task may exceed that of the row.
    cut : tuple of Bins
        Numbers that are cut off, in a known bin: the cell no longer speaks of what is cut off.
    """

    task: Task
    toll: float = 0.0
    cut: tuple[Bins, ...] = field(default=())

    @classmethod
    def of(cls, task: Task, boxes: Boxes, k: int, options: Options) -> Leaf:
        """Return the leaf of the k-th narrowed box."""
        assert task.domain is not None
        lower, upper, center = boxes.lower[[k]], boxes.upper[[k]], task.centers[boxes.row[[k]]]
        endless, free = np.full(1, np.inf), task.weights <= 0
        if not free.any():
            return cls(Task(task.cell, center, task.weights, lower, upper, endless, options))
        cut = {
            bins: int(lower[0, bins.columns].argmax())
            for bins in task.domain.bins
            if bins.excess is not None and (lower[0, bins.columns] == 1.0).any()
        }
        gone = [bins.excess for bins in cut if bins.excess is not None]
        lower[:, gone] = upper[:, gone] = 0.0
        least = float(task.weights[~free].min(initial=np.inf))
        weights = np.where(free, LITTLE * (least if np.isfinite(least) else 1.0), task.weights)
        fixed = lower == upper
        center = np.where(free & fixed, lower, center)
        far = np.maximum(np.abs(lower - center), np.abs(upper - center))[0]
        toll = float((weights * far)[free & ~fixed[0]].sum())
        cell = _without_excess(task.cell, cut)
        return cls(Task(cell, center, weights, lower, upper, endless, options), toll, tuple(cut))

    def completed(self, points: FloatArray) -> FloatArray:
        """Return points of the leaf with what is cut off of their numbers filled in."""
        points = points.copy()
        for bins in self.cut:
            points[:, bins.excess] = bins.beyond(points[:, bins.column])
        return points

    def bound(self, answer: Solved) -> float:
        """Return what an answer says of the row's cost."""
        return max(0.0, float(answer.believed(self.task)[0]) - self.toll)


def _without_excess(cell: Cell, cut: dict[Bins, int]) -> Cell:
    """Return the cell with what is cut off of each number put in: ``a_k x + b_k`` in bin k."""
    if not cut:
        return cell
    matrix, shift = np.eye(cell.dim), np.zeros(cell.dim)
    for bins, k in cut.items():
        matrix[bins.excess] = 0.0
        matrix[bins.excess, bins.column] = bins.beyond_slope[k]
        shift[bins.excess] = bins.beyond_shift[k]
    return cell.pull_back(AffineMap(matrix, shift))
