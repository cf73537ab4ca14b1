"""The region of a class of a model of which nothing is known but what ``predict`` says."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.affine import AffineMap
from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.region import Region


@dataclass(frozen=True, eq=False)
class Opaque(Region):
    """Points of which ``predict`` alone tells whether they lie inside.

    Parameters
    ----------
    columns : int
        Number of columns.
    common : Cell, optional
        What else is asked of every point: relations between features.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.opaque import Opaque
    >>> Opaque(2).contains(np.zeros((1, 2)))
    array([ True])
    """

    columns: int
    common: Cell | None = None

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.columns

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return which points are not known to lie outside: those that obey the relations."""
        if self.common is None:
            return np.ones(len(points), dtype=bool)
        return self.common.contains(points, tol)

    def tighten(self, margin: float) -> Opaque:
        """Return the region: how far inside a point lies is not known."""
        return self

    def pull_back(self, through: AffineMap) -> Opaque:
        """Refuse: ``predict`` reads raw values itself."""
        raise UnsupportedModelError("A model that is searched cannot be a step of another one.")

    def intersect(self, other: Cell) -> Opaque:
        """Return the points that also lie in a cell."""
        return replace(self, common=other if self.common is None else self.common.intersect(other))

    def complement(self) -> Opaque:
        """Return where other classes are predicted: as little is known of it."""
        return replace(self, common=None)
