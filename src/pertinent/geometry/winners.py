"""Geometry of winner-takes-all: the item with the largest linear score decides.

Nearest prototypes are of this kind: ``|x - p|^2 = |x|^2 - (2 p'x - p'p)``, so the nearest one has
the largest score ``2 p'x - p'p``. The region of a class is a union over its items p:

    (W_j - W_p) x <= b_p - b_j - slack    for every item j of the other classes.

All right-hand sides follow from as many scores as there are items, not from their pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pertinent.geometry.affine import Scores
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.gaps import OF_THE_MEAN, TIED_SLOPE, TIES_COUNT, TINY
from pertinent.geometry.quadratic import Sums
from pertinent.geometry.region import (
    AffineMap,
    Cell,
    CellUnion,
    LazyCells,
    Quadratic,
    Region,
    Tightened,
)
from pertinent.geometry.rounding import Rounding, WinnerRounding

#: A margin for rounding is kept by slopes and, up to this share, by the sizes of the sums: points
#: in single precision need more of the first, and nothing of the second.
MOST_OF_SUMS = 2.0**-40


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
    sums : Sums, optional
        What a model adds up for each item at a point, besides the ``sizes`` of the scores; not
        known by default.
    clear : float
        A margin that only rounding needs: see `with_margin`.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.affine import Scores
    >>> from pertinent.geometry.winners import WinnerRegion
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
        sums: Sums | None = None,
        clear: float = 0.0,
    ) -> None:
        super().__init__((), own.W.shape[1])
        self.own, self.rivals, self.margin, self.common = own, rivals, margin, common
        self.slopes = (own.W, rivals.W) if slopes is None else slopes
        self.sums, self.clear = sums, clear

    def _changed(self, **changes: Any) -> WinnerRegion:
        names = ("own", "rivals", "margin", "slopes", "common", "sums", "clear")
        return WinnerRegion(**{name: getattr(self, name) for name in names} | changes)

    @property
    def cells(self) -> Sequence[Cell]:
        """One for each own item; not kept, for they refer to the region."""
        return LazyCells(len(self.own), self._cell)

    def __len__(self) -> int:
        return len(self.own)

    def _cell(self, piece: int) -> Cell:
        return _within(Cell(*self.row(piece, slice(None))), self.common)

    def slack(self, piece: int | IntArray, rivals: IntArray | slice) -> FloatArray | float:
        """Return what the margin asks of the rows of one piece (or one for each) against rivals."""
        if self.margin == 0 and self.clear == 0:
            return 0.0
        own, others = self.slopes
        return self._slack(piece, rivals, others[rivals] - own[piece])

    def _slack(self, piece: int | IntArray, rivals: IntArray | slice, g: FloatArray) -> FloatArray:
        """Return the same, given the slopes of the rows."""
        slope, asked = np.abs(g).max(axis=1), np.zeros(len(g))
        if self.margin != 0:
            floor = TIED_SLOPE * np.abs(self.slopes[0][piece]).max(axis=-1, initial=0.0) + TINY
            if self.margin <= TIES_COUNT:
                floor = np.where(slope == 0, 0.0, floor)
            asked = self.margin * np.maximum(slope, floor)
        if self.clear == 0:
            return np.asarray(asked)
        sizes = self._typical + self.own.sizes[piece] + self.rivals.sizes[rivals]
        needed = self.clear * self._length * slope + self._of_sums * sizes
        if self.clear <= TIES_COUNT:
            needed[slope == 0] = 0.0
        return np.asarray(asked + needed)

    @cached_property
    def _typical(self) -> float:
        """What is added up for a typical item: the unit of what is added up for a point."""
        sizes = np.sort(np.concatenate([self.own.sizes, self.rivals.sizes]))
        if not sizes.any():
            return 1.0
        # The lower quartile: points next to small items need no margin made for items far out.
        return float(max(sizes[(len(sizes) - 1) // 4], OF_THE_MEAN * sizes.mean()))

    @cached_property
    def _length(self) -> float:
        """A step along the largest slope that changes scores by about what is typical."""
        return self._typical / max(self._largest_slope(), TINY)

    @property
    def _of_sums(self) -> float:
        return max(-MOST_OF_SUMS, min(self.clear, MOST_OF_SUMS))

    def tighten(self, margin: float) -> WinnerRegion:
        """Return the region with every row asked for by ``margin`` times its slope."""
        common = None if self.common is None else self.common.tighten(margin)
        return self._changed(margin=self.margin + margin, common=common)

    def with_margin(self, margin: float, tightened: Tightened) -> Region:
        """Return the region with a margin in units of what is added up, where that is known.

        Every pair is asked for by ``margin`` times the sizes of its two items and of a typical
        point. In units of its slope, two items next to each other would need a margin that leaves
        nothing of all others.
        """
        if margin == 0 or self.sums is None:
            return super().with_margin(margin, tightened)
        return self._changed(clear=self.clear + margin)

    def rounding(self, tight: Region) -> Rounding | None:
        """Return what rounds in the scores; None where it is not known how they are added up."""
        if self.sums is None or not isinstance(tight, WinnerRegion):
            return None
        return WinnerRounding(self.own, self.rivals, self.common, self.sums, self._typical)

    def pull_back(self, through: AffineMap) -> WinnerRegion:
        """Return the region of the points whose image lies in this one."""
        own, rivals, sums = self.own, self.rivals, None
        if self.sums is not None:
            sums, factor = self.sums.pull_back(through, self._typical)
            own, rivals = (replace(s, sizes=factor * s.sizes) for s in (own, rivals))
        own, rivals = own.pull_back(through), rivals.pull_back(through)
        common = None if self.common is None else self.common.pull_back(through)
        return self._changed(own=own, rivals=rivals, common=common, sums=sums)

    def intersect(self, other: CellUnion | Cell) -> CellUnion:
        """Return the region of the points that lie in both."""
        if not isinstance(other, Cell):
            return super().intersect(other)
        common = other if self.common is None else self.common.intersect(other)
        return self._changed(common=common)

    def complement(self) -> WinnerRegion | None:
        """Return where a rival wins against every own item; None with ``common`` inequalities."""
        if self.common is not None:
            return None
        return self._changed(
            own=self.rivals,
            rivals=self.own,
            margin=-self.margin,
            slopes=self.slopes[::-1],
            clear=-self.clear,
        )

    def row(self, piece: int | IntArray, rivals: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return the rows (coefficients, right-hand sides) of one piece against some rivals.

        With an array of pieces: one row for each pair of piece and rival.
        """
        g, h = self.rivals.W[rivals] - self.own.W[piece], self.own.b[piece] - self.rivals.b[rivals]
        if self.margin == 0 and self.clear == 0:
            return g, h
        in_own_units = self.slopes[0] is self.own.W and self.slopes[1] is self.rivals.W
        return g, h - (self._slack(piece, rivals, g) if in_own_units else self.slack(piece, rivals))

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
        if self.margin == 0 and self.clear == 0:
            return np.asarray(ahead >= -tol)
        # Every pair asks for something between two numbers: few points are unclear.
        least, most = self._slacks()
        inside = np.asarray(ahead >= most - tol)
        unclear = np.flatnonzero(~inside & (ahead >= least - tol))
        for p in range(len(self.own)):
            behind = rivals[unclear] - own[unclear, p : p + 1] + self.slack(p, slice(None))
            inside[unclear] |= behind.max(axis=1, initial=-np.inf) <= tol
        return inside

    def _slacks(self) -> tuple[float, float]:
        """Return at most the least, and at least the most, that any pair asks for, 0 included."""
        asked = [self.margin * self._largest_slope()]
        if self.clear != 0:
            sizes = sum(s.sizes.max(initial=0.0) for s in (self.own, self.rivals))
            asked += [self.clear * self._typical, self._of_sums * (self._typical + sizes)]
        return sum(min(0.0, part) for part in asked), sum(max(0.0, part) for part in asked)

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
    sums : tuple of two tuples of Sums, optional
        What the model adds up for each own item and each rival.
    """

    def __init__(
        self,
        own: tuple[Item, ...],
        rivals: tuple[Item, ...],
        places: tuple[FloatArray, FloatArray],
        slack: float = 0.0,
        common: Cell | None = None,
        sums: tuple[tuple[Sums, ...], tuple[Sums, ...]] | None = None,
    ) -> None:
        duels = (
            _duels(
                item, rivals, at, slack, None if sums is None else [sums[0][i] + s for s in sums[1]]
            )
            for i, (item, at) in enumerate(zip(own, places[0], strict=True))
        )
        super().__init__(tuple(_within(cell, common) for cell in duels), places[0].shape[1])
        self.own, self.rivals, self.places = own, rivals, places
        self.slack, self.common, self.sums = slack, common, sums

    def tighten(self, margin: float) -> MetricRegion:
        """Return the region with every row asked for by ``margin`` times the largest slope."""
        slopes = [np.abs(cell.G).max(initial=0.0) for cell in self.cells]
        slopes += [row.scale() for cell in self.cells for row in cell.quadratics]
        slack = self.slack + margin * float(max(slopes, default=0.0))
        common = None if self.common is None else self.common.tighten(margin)
        return MetricRegion(self.own, self.rivals, self.places, slack, common, self.sums)

    def intersect(self, other: CellUnion | Cell) -> CellUnion:
        """Return the region of the points that lie in both."""
        if not isinstance(other, Cell):
            return super().intersect(other)
        common = other if self.common is None else self.common.intersect(other)
        return MetricRegion(self.own, self.rivals, self.places, self.slack, common, self.sums)

    def complement(self) -> MetricRegion | None:
        """Return where a rival is nearer than every own item; None with ``common`` inequalities."""
        if self.common is not None:
            return None
        sums = None if self.sums is None else self.sums[::-1]
        return MetricRegion(self.rivals, self.own, self.places[::-1], -self.slack, None, sums)

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
        sums = None
        if self.sums is not None:
            ours, theirs = (
                tuple(s.pull_back(through, s.constant)[0] for s in some) for some in self.sums
            )
            sums = ours, theirs
        return MetricRegion(own, rivals, (there, here), self.slack, common, sums)

    # As the model tightens it: items know what lies outside, cells do not.
    with_margin = Region.with_margin


def _within(cell: Cell, common: Cell | None) -> Cell:
    return cell if common is None else cell.intersect(common)


def _duels(
    item: Item,
    rivals: tuple[Item, ...],
    place: FloatArray,
    slack: float,
    sums: Sequence[Sums] | None,
) -> Cell:
    """Return the cell where one item is nearer than every rival.

    ``|F x - s|^2 - |F_j x - s_j|^2 + slack <= 0`` has the slope ``2 (F_j's_j - F's)`` at 0.
    """
    F, s = item
    G, h, rows = [], [], []
    added: Sums | None = None
    for j, (F_j, s_j) in enumerate(rivals):
        q, c = 2 * (s_j @ F_j - s @ F), float(s @ s - s_j @ s_j) + slack
        if F_j.shape == F.shape and (F_j == F).all():
            G.append(q)
            h.append(-c)
            if sums is not None:
                added = sums[j] if added is None else added + sums[j]
        else:
            rows.append(Quadratic(F, F_j, q, c, sums=None if sums is None else sums[j]))
    dim = F.shape[1]
    G_rows = np.array(G).reshape(-1, dim)
    return Cell(G_rows, np.array(h), tuple(rows), anchors=place[None], sums=added)
