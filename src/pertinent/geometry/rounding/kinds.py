"""What rounds in a region: of cells, of several regions, of the winners of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, overload, runtime_checkable

import numpy as np

from pertinent.geometry.affine import Scores, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.quadratic import Quadratic, Sums
from pertinent.geometry.rounding.sums import (
    ROUNDOFF,
    ROUNDOFF_SINGLE,
    MarginRows,
    exceed,
    lead,
)


class Rounding(Protocol):
    """What rounds in a region."""

    @property
    def knows_precision(self) -> bool:
        """Whether sizes are in units of double precision, whatever samples are given in."""
        return False

    def row_sizes(self, points: FloatArray) -> FloatArray:
        """Return the largest ``|g|'|x| + |h|`` of any row at each point, in units of margin."""
        ...

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return the same with the terms that a model adds up, which may cancel in a row."""
        ...

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return which points no rounding can put elsewhere, sums in single precision or not."""
        ...

    def decided(self, points: FloatArray) -> BoolArray:
        """Return which points no rounding can put into another class, whichever is theirs.

        What one region alone can tell: False where it would take those of other classes.
        """
        return np.zeros(len(points), dtype=bool)

    @property
    def pieces(self) -> Sequence[MarginRows]:
        """The region piece by piece: what lies surely in one of them is sure. None: not known."""
        return ()


@dataclass(frozen=True, eq=False)
class CellRounding(Rounding):
    """What rounds in cells: the rows of each that a margin is kept from."""

    cells: tuple[MarginRows, ...]
    dim: int

    @property
    def pieces(self) -> Sequence[MarginRows]:
        """The cells."""
        return self.cells

    @classmethod
    def of(cls, plain: Sequence[Cell], tight: Sequence[Cell], dim: int) -> CellRounding:
        """Return what rounds, from cells and the same cells tightened by `STEP`."""
        pairs = zip(plain, tight, strict=True)
        return cls(tuple(MarginRows.of(*pair) for pair in pairs), dim)

    @cached_property
    def _rows(self) -> tuple[FloatArray, FloatArray]:
        """``|G|`` and ``|h|`` of all rows, each in units of its margin."""
        linear = [np.abs(cell.G) / cell.unit[:, None] for cell in self.cells]
        constant = [np.abs(cell.h) / cell.unit for cell in self.cells]
        return np.vstack([np.zeros((0, self.dim)), *linear]), np.concatenate([[], *constant])

    @cached_property
    def _scores(self) -> tuple[FloatArray, FloatArray]:
        """The terms of all rows (see `Cell.terms`), each in units of its margin."""
        parts = [cell.terms / cell.unit[:, None] for cell in self.cells]
        terms = np.vstack([np.zeros((0, self.dim + 1)), *parts])
        return np.ascontiguousarray(terms[:, :-1]), terms[:, -1].copy()

    @cached_property
    def _together(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray] | None:
        """``G``, ``h`` and terms of all cells, and where those of each begin; None if not linear.

        Bounds of cells, and cells without rows, are looked at one by one.
        """
        cells = self.cells
        if not cells or any(c.curved or c.ends is not None or not len(c.G) for c in cells):
            return None
        if any(cell.bent for cell in cells):
            return None
        if any(cell.sums is not None for cell in cells):
            return None
        terms = np.vstack([cell.terms for cell in cells])
        starts = np.cumsum([0, *(len(cell.G) for cell in cells[:-1])])
        G, h = np.vstack([cell.G for cell in cells]), np.concatenate([cell.h for cell in cells])
        return G, h, np.ascontiguousarray(terms[:, :-1]), terms[:, -1].copy(), starts

    @cached_property
    def _curved(self) -> tuple[tuple[Quadratic, float], ...]:
        """Each row once, in its least unit: hundreds of cells may share that of a density."""
        least: dict[Quadratic, float] = {}
        for cell in self.cells:
            for row, unit in cell.curved:
                least[row] = min(unit, least.get(row, unit))
        return tuple(least.items())

    def row_sizes(self, points: FloatArray) -> FloatArray:
        """Return the largest ``|g|'|x| + |h|`` of any row at each point, in units of margin."""
        return self._largest(points, *self._rows)

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return the same with the terms that a model adds up, which may cancel in a row."""
        largest = self._largest(points, *self._scores)
        for cell in self.cells:
            if cell.sums is not None and len(cell.G):
                most = row_products(np.abs(points), cell.terms[:, :-1]) + cell.terms[:, -1]
                most += 2 * cell.sums(points)[:, None]
                np.maximum(largest, (most / cell.unit).max(axis=1), out=largest)
        return largest

    def _largest(self, points: FloatArray, slopes: FloatArray, constant: FloatArray) -> FloatArray:
        sums = row_products(np.abs(points), slopes) + constant
        worst = sums[:, 0] if sums.shape[1] == 1 else sums.max(axis=1, initial=0.0)
        for row, unit in self._curved:
            np.maximum(worst, row.added_up(points) / unit, out=worst)
        for cell in self.cells:
            for block, units in cell.bent:
                used = units > 0
                if used.any():
                    most = 2 * block.sizes(points)[:, used] / units[used]
                    np.maximum(worst, most.max(axis=1), out=worst)
        return np.asarray(worst)

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return which points no rounding can put elsewhere, sums in single precision or not."""
        unit = (points.shape[1] + 4) * (ROUNDOFF_SINGLE if single else ROUNDOFF)
        if self._together is not None:
            G, h, slopes, constant, starts = self._together
            slack = h - row_products(points, G)
            clear = exceed(slack, unit, points, slopes, constant)
            if len(starts) == 1:
                return np.asarray(clear[:, 0] if len(G) == 1 else clear.all(axis=1))
            return np.asarray(np.logical_and.reduceat(clear, starts, axis=1).any(axis=1))
        sizes = np.column_stack([np.abs(points), np.ones(len(points))])
        sure = np.zeros(len(points), dtype=bool)
        for cell in self.cells:
            sure |= cell.hold(points, sizes, unit)
        return sure


@dataclass(frozen=True, eq=False)
class JoinedRounding(Rounding):
    """What rounds in a union of regions."""

    parts: tuple[Rounding, ...]

    @property
    def pieces(self) -> Sequence[MarginRows]:
        """The pieces of all parts."""
        return tuple(piece for part in self.parts for piece in part.pieces)

    @property
    def knows_precision(self) -> bool:
        """Whether that is so of all parts."""
        return all(part.knows_precision for part in self.parts)

    def row_sizes(self, points: FloatArray) -> FloatArray:
        """Return the largest of any part."""
        sizes = (part.row_sizes(points) for part in self.parts)
        return np.asarray(np.max([np.zeros(len(points)), *sizes], axis=0))

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return the largest of any part."""
        sizes = (part.sizes(points) for part in self.parts)
        return np.asarray(np.max([np.zeros(len(points)), *sizes], axis=0))

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return which points are sure to lie in some part."""
        sure = np.zeros(len(points), dtype=bool)
        for part in self.parts:
            sure |= part.hold(points, single)
        return sure


@dataclass(frozen=True, eq=False)
class WinnerRounding(Rounding):
    """What rounds in the scores of items, in units of `WinnerRegion.with_margin`."""

    own: Scores
    rivals: Scores
    common: Cell | None
    sums: Sums
    typical: float

    @property
    def knows_precision(self) -> bool:
        """Whoever made the sums knew it."""
        return True

    def row_sizes(self, points: FloatArray) -> FloatArray:
        """Return the largest ``|g_i x_i|`` of any feature at each point, never 0.

        Most answers change one feature, and rounding the point itself concerns that one only.
        """
        slopes = np.abs(np.vstack([self.own.W, self.rivals.W]))
        terms = np.abs(points) * slopes.max(axis=0, initial=0.0)
        return np.asarray(
            terms.max(axis=1, initial=0.0) / self.typical + float(np.finfo(float).tiny)
        )

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return what is added up for two items at each point, in units of a typical one."""
        return np.maximum(1.0, 2 * self.sums(points) / self.typical)

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return where an own item is ahead of every rival by more than both may be rounded.

        ``s_p - s_j >= unit (2 sums(x) + sizes_p + sizes_j)``. The sums know their precision.
        """
        own, rivals, common = self.own, self.rivals, self.common
        inside = np.ones(len(points), dtype=bool) if common is None else common.contains(points)
        if not len(own):
            return np.zeros(len(points), dtype=bool)
        unit = (points.shape[1] + 4) * ROUNDOFF
        least = own.closely(points) - unit * own.sizes
        most = rivals.closely(points) + unit * rivals.sizes
        needed = 2 * unit * self.sums(points)
        best = least.argmax(axis=1)
        ahead = least[np.arange(len(points)), best] - needed
        sure = np.asarray(ahead >= most.max(axis=1, initial=-np.inf))
        for i in np.flatnonzero(~sure):
            # Rivals with equal coefficients cannot be told apart by moving: the model decides.
            told = (own.W[best[i]] != rivals.W).any(axis=1)
            sure[i] = ahead[i] >= most[i, told].max(initial=-np.inf)
        return np.asarray(sure & inside)

    def decided(self, points: FloatArray) -> BoolArray:
        """Return where one item is ahead of all others, own or not, by more than may be rounded."""
        if self.common is not None or len(self.own) + len(self.rivals) < 2:
            return super().decided(points)
        unit = (points.shape[1] + 4) * ROUNDOFF
        scores = np.hstack([self.own.closely(points), self.rivals.closely(points)])
        off = unit * np.concatenate([self.own.sizes, self.rivals.sizes])
        return lead(scores, off, scores.argmax(axis=1), 2 * unit * self.sums(points))

    @property
    def pieces(self) -> Sequence[MarginRows]:
        """One piece for each own item, made when it is asked for.

        ``(W_j - W_p) (x - origin) <= s_p - s_j`` with the scores at the origin. Rivals with equal
        coefficients count: whose score is larger everywhere, and where it is the same (training
        points that coincide) the model may say either, at each point anew.
        """
        return _Duels(self)


@runtime_checkable
class Leading(Protocol):
    """Pieces so many that only those are looked at that lead somewhere."""

    def leading(self, points: FloatArray) -> IntArray:
        """Return the piece that leads at each point."""


class _Duels(Sequence[MarginRows]):
    """The rows of each own item against every rival."""

    def __init__(self, rounding: WinnerRounding) -> None:
        self._of = rounding

    def __len__(self) -> int:
        return len(self._of.own)

    def leading(self, points: FloatArray) -> IntArray:
        """Return the own item with the largest score at each point."""
        return np.asarray(self._of.own.closely(points).argmax(axis=1))

    @overload
    def __getitem__(self, index: int) -> MarginRows: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[MarginRows]: ...
    def __getitem__(self, index: int | slice) -> MarginRows | Sequence[MarginRows]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        own, rivals, common = self._of.own, self._of.rivals, self._of.common
        dim = own.W.shape[1]
        origin, there = (np.zeros(dim), own.b) if own.seen is None else own.seen
        theirs = rivals.closely(np.broadcast_to(origin, (1, dim)))[0]
        G, h = rivals.W - own.W[index], there[index] - theirs
        terms = np.zeros((len(h), dim + 1))
        terms[:, -1] = own.sizes[index] + rivals.sizes
        bounded = common is not None and common.has_bounds
        ends = (common.lower, common.upper) if common is not None and bounded else None
        return MarginRows(
            G, h, terms, np.ones(len(h)), (), ends, origin=np.asarray(origin), sums=self._of.sums
        )
