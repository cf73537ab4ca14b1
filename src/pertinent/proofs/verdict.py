"""One answer, checked by itself: from the cell, the point and the proof, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs

#: Relative gap below which an answer of a linear or convex cell counts as optimal.
GAP_CONVEX = 1e-6
#: The same for non-convex and integer cells.
GAP_NONCONVEX = 1e-4
#: Differences this small, relative to the coordinates, never open a gap: rounding in double
#: precision, and of points handed out in single precision.
ROUNDING, ROUNDING_SINGLE = 1e-12, 2.5e-7


@dataclass(frozen=True)
class Verdict:
    """What a certificate shows about one answer.

    Attributes
    ----------
    objective : float
        Weighted distance of the point, recomputed; ``inf`` if there is no point.
    bound : float
        What no point of the cell can undercut; ``inf`` if the cell is proved empty.
    violation : float
        Largest violation of any inequality or bound by the point.
    feasible, optimal, infeasible : bool
    trusted : bool
        False where the bound repeats a solver's word (``exact=True``): it was not recomputed.
    """

    objective: float
    bound: float
    violation: float
    feasible: bool
    optimal: bool
    infeasible: bool
    trusted: bool = True

    @property
    def gap(self) -> float:
        """Objective minus bound."""
        return self.objective - self.bound


def check(
    cell: Cell,
    center: FloatArray,
    weights: FloatArray,
    point: FloatArray | None,
    proof: Proofs,
    *,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
    tol: float = 1e-9,
    domain: Domain | None = None,
) -> Verdict:
    """Return what the proof and the point show, recomputed from the cell in plain NumPy.

    Parameters
    ----------
    cell : Cell
    center : ndarray of shape (n_features,)
    weights : ndarray of shape (n_features,)
    point : ndarray of shape (n_features,) or None
        The answer; None where the claim is that none exists.
    proof : Proofs of length 1
    lower, upper : ndarray of shape (n_features,), optional
        The sample's own bounds, beyond those of the cell.
    tol : float
        Violation accepted, in the units of each inequality.
    domain : Domain, optional
        Whole numbers, categories and the like, where the proof speaks of them.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.proofs import LinearProofs, check
    >>> from pertinent.geometry.region import Cell
    >>> cell = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))  # x1 + 2 x2 >= 2
    >>> proof = LinearProofs(np.array([[0.5]]), np.array([False]))
    >>> check(cell, np.zeros(2), np.ones(2), np.array([0.0, 1.0]), proof).optimal
    True
    """
    low = np.maximum(cell.lower, -np.inf if lower is None else lower)[None]
    high = np.minimum(cell.upper, np.inf if upper is None else upper)[None]
    centers = np.asarray(center, dtype=float)[None]
    bound = max(0.0, float(proof.bounds(Task(cell, centers, weights, low, high, domain=domain))[0]))
    trusted = bool(proof.trusted()[0])
    if point is None:
        return Verdict(np.inf, bound, np.inf, False, False, bound == np.inf, trusted)
    points = np.asarray(point, dtype=float)[None]
    objective = float((weights * np.abs(points - centers)).sum())
    outside = float(np.maximum(low - points, points - high).max(initial=0.0))
    violation = max(float(cell.violation(points)[0]), outside)
    feasible = violation <= tol
    gap = GAP_CONVEX if cell.is_convex else GAP_NONCONVEX
    close = is_closed(np.array([objective]), np.array([bound]), points, centers, weights, gap)
    optimal = feasible and bool(close[0])
    return Verdict(objective, bound, violation, feasible, optimal, False, trusted)


def rounding_unit(single: bool, dim: int) -> float:
    """Return the share of the coordinates that counts as rounding, in the precision handed out.

    In single precision the margin that predict needs is as large as what it must cover: a sum of
    d terms is off by up to about ``(d + 4)`` unit roundoffs of ``2**-24``.
    """
    return max(ROUNDING_SINGLE, 8 * (dim + 4) * 2.0**-24) if single else ROUNDING


def is_closed(
    objective: FloatArray,
    bound: FloatArray,
    points: FloatArray,
    centers: FloatArray,
    weights: FloatArray,
    gap: float | FloatArray,
    unit: float = ROUNDING,
) -> BoolArray:
    """Return whether the bound meets the objective within the relative gap.

    Differences of at most ``unit`` times the coordinates count as rounding.
    """
    closed = np.asarray(objective - bound <= gap * objective)
    open_ = (~closed).nonzero()[0]
    if len(open_):
        size = (weights * (np.abs(points[open_]) + np.abs(centers[open_]))).sum(axis=1)
        excess = (objective - bound - gap * objective)[open_]
        closed[open_] = excess <= unit * size
    return closed
