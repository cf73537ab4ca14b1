"""What is asked: the nearest points of a region to many centers, and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pertinent.geometry.affine import row_products
from pertinent.geometry.arrays import SHARED, BoolArray, FloatArray, IntArray, Limits, Rows, alike
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Region


@dataclass(eq=False)
class Task(Rows):
    """Many projections onto one region: all that a proof needs to recompute its bounds.

    Parameters
    ----------
    region : Cell or Region
    centers : ndarray of shape (n, n_features)
    weights : ndarray of shape (n_features,)
    lower, upper : ndarray of shape (n, n_features)
        The samples' own bounds; those of a single cell are included.
    domain : Domain, optional
        Whole numbers, categories and the like; None where any number will do.
    rest : ndarray of shape (n, n_features), optional
        Where features stand that are off, if features are counted; None: at the center.
    off_tol : float
        A feature this close to where it rests is off.
    """

    region: Cell | Region = field(metadata=SHARED)
    centers: FloatArray
    weights: FloatArray = field(metadata=SHARED)
    lower: FloatArray
    upper: FloatArray
    domain: Domain | None = field(default=None, kw_only=True)
    rest: FloatArray | None = field(default=None, kw_only=True)
    off_tol: float = field(default=0.0, kw_only=True)

    def __len__(self) -> int:
        return len(self.centers)

    @classmethod
    def of(
        cls,
        region: Cell | Region,
        centers: FloatArray,
        weights: FloatArray,
        lower: Any = None,
        upper: Any = None,
        domain: Domain | None = None,
    ) -> Task:
        """Return the task with bounds broadcast to the shape of the centers; None: unbounded."""
        low = as_bounds(lower, centers.shape, -np.inf)
        high = as_bounds(upper, centers.shape, np.inf)
        return Task(region, centers, weights, low, high, domain=domain)

    @property
    def cell(self) -> Cell:
        """The region, where it is a single cell."""
        return self.region  # type: ignore[return-value]

    def is_same(self, other: Task) -> bool:
        """Return whether the same is asked, number by number."""
        asked = ("region", "weights", "centers", "lower", "upper", "domain", "rest", "off_tol")
        return all(alike(getattr(self, name), getattr(other, name)) for name in asked)

    def start(self) -> FloatArray:
        """Return the point of the bounds nearest to each center."""
        start = np.maximum(self.centers, self.lower)
        return np.minimum(start, self.upper, out=start)

    def on(self, piece: Cell | Region, rows: IntArray | None = None) -> Task:
        """Return the same asked of one piece, for some of the rows (None: all)."""
        some = self if rows is None else self.take(rows)
        low, high = limits_within(piece, some.lower, some.upper)
        task = Task(piece, some.centers, self.weights, low, high, domain=some.domain)
        task.rest, task.off_tol = some.rest, some.off_tol
        return task


def limits_within(piece: Cell | Region, lower: FloatArray, upper: FloatArray) -> Limits:
    """Return limits of each row, with the bounds of a piece included."""
    if isinstance(piece, Cell) and piece.has_bounds:
        return np.maximum(lower, piece.lower), np.minimum(upper, piece.upper)
    return lower, upper


def distance(
    points: FloatArray, centers: FloatArray, weights: FloatArray, only: BoolArray | None = None
) -> FloatArray:
    """Return the weighted L1 distance between rows, over all columns or ``only`` some of each."""
    apart = np.subtract(points, centers)  # in place from here: new memory costs more than sums
    np.abs(apart, out=apart)
    if only is not None:
        np.copyto(apart, 0.0, where=~only)
    return row_products(apart, weights[None])[:, 0]


def as_bounds(value: Any, shape: tuple[int, ...], default: float) -> FloatArray:
    """Return bounds broadcast to ``shape``; None means unbounded."""
    if isinstance(value, np.ndarray) and value.shape == shape and value.dtype == float:
        return value
    return np.broadcast_to(np.asarray(default if value is None else value, dtype=float), shape)
