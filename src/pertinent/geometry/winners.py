"""Geometry of winner-takes-all: the item with the largest linear score decides.

Nearest prototypes are of this kind: ``|x - p|^2 = |x|^2 - (2 p'x - p'p)``, so the nearest one has
the largest score ``2 p'x - p'p``. The region of a class is a union over its items p:

    (W_j - W_p) x <= b_p - b_j - slack    for every item j of the other classes.

All right-hand sides follow from as many scores as there are items, not from their pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import (
    AffineMap,
    Cell,
    CellUnion,
    LazyCells,
    Quadratic,
    Region,
    row_products,
)

#: Items with equal coefficients cannot be told apart by moving: whether one wins the tie is for the
#: model to say. Up to this margin a tie counts as won; a larger one is asked for by the user, or
#: because the model said no, and leaves such items out.
TIES_COUNT = 1e-5
#: The slope that such rows count with then, as a share of the item's coefficients; never 0.
TIED_SLOPE, TINY = 1e-9, float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Scores:
    """Linear scores ``W x + b``, one for each item."""

    W: FloatArray
    b: FloatArray

    def __len__(self) -> int:
        return len(self.b)

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the scores of each point, shape (n, n_items)."""
        return row_products(points, self.W) + self.b

    def pull_back(self, through: AffineMap) -> Scores:
        """Return the scores as a function of ``z``, for ``x = M z + t``."""
        return Scores(through.rows(self.W), self.b + self.W @ through.shift)


class WinnerRegion(CellUnion):
    """Where one of the ``own`` items has a larger score than every rival.

    It stays implicit under every operation: cells, one for each own item, are made on demand.

    Parameters
    ----------
    own, rivals : Scores
    margin : float
        By how many slopes of a pair's row an own item must win.
    slopes : tuple of two ndarray, optional
        The coefficients of own items and rivals in the space of the model itself, where slopes
        are measured; those of the scores by default.
    common : Cell, optional
        What every point must satisfy besides, e.g. relations between features.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.winners import Scores, WinnerRegion
    >>> one = Scores(np.array([[1.0]]), np.array([0.0]))
    >>> zero = Scores(np.array([[0.0]]), np.array([2.0]))
    >>> WinnerRegion(one, zero).contains(np.array([[1.0], [3.0]]))
    array([False,  True])
    """

    def __init__(
        self,
        own: Scores,
        rivals: Scores,
        margin: float = 0.0,
        slopes: tuple[FloatArray, FloatArray] | None = None,
        common: Cell | None = None,
    ) -> None:
        super().__init__(LazyCells(len(own), self._cell), own.W.shape[1])
        self.own, self.rivals, self.margin, self.common = own, rivals, margin, common
        self.slopes = (own.W, rivals.W) if slopes is None else slopes

    def _cell(self, piece: int) -> Cell:
        return _within(Cell(*self.row(piece, slice(None))), self.common)

    def slack(self, piece: int | IntArray, rivals: IntArray | slice) -> FloatArray | float:
        """Return what the margin asks of the rows of one piece (or one for each) against rivals."""
        if self.margin == 0:
            return 0.0
        own, others = self.slopes
        slope = np.abs(others[rivals] - own[piece]).max(axis=1)
        floor = TIED_SLOPE * np.abs(own[piece]).max(axis=-1, initial=0.0) + TINY
        if self.margin <= TIES_COUNT:
            floor = np.where(slope == 0, 0.0, floor)
        return np.asarray(self.margin * np.maximum(slope, floor))

    def tighten(self, margin: float) -> WinnerRegion:
        """Return the region with every row asked for by ``margin`` times its slope."""
        common = None if self.common is None else self.common.tighten(margin)
        return WinnerRegion(self.own, self.rivals, self.margin + margin, self.slopes, common)

    def pull_back(self, through: AffineMap) -> WinnerRegion:
        """Return the region of the points whose image lies in this one."""
        own, rivals = self.own.pull_back(through), self.rivals.pull_back(through)
        common = None if self.common is None else self.common.pull_back(through)
        return WinnerRegion(own, rivals, self.margin, self.slopes, common)

    def intersect(self, other: CellUnion | Cell) -> CellUnion:
        """Return the region of the points that lie in both."""
        if not isinstance(other, Cell):
            return super().intersect(other)
        common = other if self.common is None else self.common.intersect(other)
        return WinnerRegion(self.own, self.rivals, self.margin, self.slopes, common)

    def complement(self) -> WinnerRegion | None:
        """Return where a rival wins against every own item; None with ``common`` inequalities."""
        if self.common is not None:
            return None
        return WinnerRegion(self.rivals, self.own, -self.margin, self.slopes[::-1])

    def row(self, piece: int | IntArray, rivals: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return the rows (coefficients, right-hand sides) of one piece against some rivals.

        With an array of pieces: one row for each pair of piece and rival.
        """
        g = self.rivals.W[rivals] - self.own.W[piece]
        return g, self.own.b[piece] - self.rivals.b[rivals] - self.slack(piece, rivals)

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return whether an own item beats every rival by the margin."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        inside = self._wins(points, tol)
        return inside if self.common is None else inside & self.common.contains(points, tol)

    def _wins(self, points: FloatArray, tol: float) -> BoolArray:
        if not len(self.own):
            return np.zeros(len(points), dtype=bool)
        own, rivals = self.own(points), self.rivals(points)
        ahead = own.max(axis=1) - rivals.max(axis=1, initial=-np.inf)
        if self.margin == 0:
            return np.asarray(ahead >= -tol)
        # Every pair asks for something between 0 and the largest slack: few points are unclear.
        least, most = sorted((0.0, self.margin * self._largest_slope()))
        inside = np.asarray(ahead >= most - tol)
        unclear = np.flatnonzero(~inside & (ahead >= least - tol))
        for p in range(len(self.own)):
            behind = rivals[unclear] - own[unclear, p : p + 1] + self.slack(p, slice(None))
            inside[unclear] |= behind.max(axis=1, initial=-np.inf) <= tol
        return inside

    def _largest_slope(self) -> float:
        own, others = self.slopes
        if not len(own) or not len(others):
            return 0.0
        up, down = others.max(axis=0) - own.min(axis=0), own.max(axis=0) - others.min(axis=0)
        floor = TIED_SLOPE * np.abs(own).max(initial=0.0) + TINY
        return float(max(np.maximum(up, down).max(initial=0.0), floor))


#: An item with a metric of its own: its squared distance is ``|F x - s|^2``.
Item = tuple[FloatArray, FloatArray]


class MetricRegion(CellUnion):
    """Where an own item is nearer than every rival, each in its own metric.

    Parameters
    ----------
    own, rivals : tuple of Item
    places : tuple of two ndarray
        Where own items and rivals themselves lie.
    slack : float
        By how much the squared distance of an own item must be smaller.
    common : Cell, optional
        What every point must satisfy besides, e.g. relations between features.
    """

    def __init__(
        self,
        own: tuple[Item, ...],
        rivals: tuple[Item, ...],
        places: tuple[FloatArray, FloatArray],
        slack: float = 0.0,
        common: Cell | None = None,
    ) -> None:
        duels = (_duels(item, rivals, at, slack) for item, at in zip(own, places[0], strict=True))
        super().__init__(tuple(_within(cell, common) for cell in duels), places[0].shape[1])
        self.own, self.rivals, self.places = own, rivals, places
        self.slack, self.common = slack, common

    def tighten(self, margin: float) -> MetricRegion:
        """Return the region with every row asked for by ``margin`` times the largest slope."""
        slopes = [np.abs(cell.G).max(initial=0.0) for cell in self.cells]
        slopes += [row.scale() for cell in self.cells for row in cell.quadratics]
        slack = self.slack + margin * float(max(slopes, default=0.0))
        common = None if self.common is None else self.common.tighten(margin)
        return MetricRegion(self.own, self.rivals, self.places, slack, common)

    def intersect(self, other: CellUnion | Cell) -> CellUnion:
        """Return the region of the points that lie in both."""
        if not isinstance(other, Cell):
            return super().intersect(other)
        common = other if self.common is None else self.common.intersect(other)
        return MetricRegion(self.own, self.rivals, self.places, self.slack, common)

    def complement(self) -> MetricRegion | None:
        """Return where a rival is nearer than every own item; None with ``common`` inequalities."""
        if self.common is not None:
            return None
        return MetricRegion(self.rivals, self.own, self.places[::-1], -self.slack)

    def pull_back(self, through: AffineMap) -> CellUnion:
        """Return the region of the points whose image lies in this one."""
        if not through.is_diagonal or (through.matrix == 0).any():
            return super().pull_back(through)
        own, rivals = (
            tuple((through.rows(F), s - F @ through.shift) for F, s in items)
            for items in (self.own, self.rivals)
        )
        there, here = ((p - through.shift) / through.matrix for p in self.places)
        common = None if self.common is None else self.common.pull_back(through)
        return MetricRegion(own, rivals, (there, here), self.slack, common)

    # As the model tightens it: items know what lies outside, cells do not.
    with_margin = Region.with_margin


def _within(cell: Cell, common: Cell | None) -> Cell:
    return cell if common is None else cell.intersect(common)


def _duels(item: Item, rivals: tuple[Item, ...], place: FloatArray, slack: float) -> Cell:
    """Return the cell where one item is nearer than every rival.

    ``|F x - s|^2 - |F_j x - s_j|^2 + slack <= 0`` has the slope ``2 (F_j's_j - F's)`` at 0.
    """
    F, s = item
    G, h, rows = [], [], []
    for F_j, s_j in rivals:
        q, c = 2 * (s_j @ F_j - s @ F), float(s @ s - s_j @ s_j) + slack
        if F_j.shape == F.shape and (F_j == F).all():
            G.append(q)
            h.append(-c)
        else:
            rows.append(Quadratic(F, F_j, q, c))
    dim = F.shape[1]
    return Cell(np.array(G).reshape(-1, dim), np.array(h), tuple(rows), anchors=place[None])
