"""The size of what rounds where a model decides: one policy for all kinds of regions.

A model decides a row by a sum. In whichever order its terms are added, alone or in any batch, the
sum is off by at most ``(d + 4) u S(x)``: d features, u the unit roundoff of the precision that the
model adds up in, and S(x) the sum of the absolute values of all terms, those included that cancel.
A point is *sure* where every row holds by more than that. S depends on how the model adds up, and
whoever reads the model says it, since it cannot be seen in the row:

=============================  =======================================  ======================
the model adds up              S(x) of a row                            said by
=============================  =======================================  ======================
scores ``W x + b``             ``|W_t||x| + |b_t| + |W_k||x| + |b_k|``  `Cell.magnitudes`
``|x|^2 - 2 x'p + |p|^2``      ``2 |x|^2 + 2 |p|^2`` of both items      `Sums`, origin 0
``|x - p|^2`` by differences   ``2 |x - m|^2 + 2 |p - m|^2``, m any     `Sums`, origin m
``|F (x - m)|^2`` of items      ``||F| |x - m||^2`` of both              `Quadratic.sums`
Gaussian scores                2 times that, and ``|log s|`` of all s    `Quadratic.sums`
... whose squares cancel        the same, for linear rows                `Cell.sums`
steps before, ``x = M z + t``  the same with ``|M| |z| + |t|`` for |x|  their ``pull_back``
=============================  =======================================  ======================

To each is added what our own arithmetic rounds, so that "sure" holds for the model and not only
for the region that we made of it. Models that add up in single precision whatever they are given
have S times `COARSER`.

*Units of a margin.* A margin m lowers the right-hand side of a row by m times the row's unit. What
a unit is, is measured at the margin `STEP`. For a margin that the user asks for it is the row's
slope; for one that only rounding needs, `Region.with_margin` may take a unit that does not change
with the units of the features, e.g. the row's own S. ``Rounding.sizes`` is S in these units, so
that ``(d + 4) u sizes(x)`` is the margin that a point x needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, overload, runtime_checkable

import numpy as np

from pertinent.geometry.affine import Scores, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.cell import Cell, Exponential
from pertinent.geometry.gaps import GENEROUS
from pertinent.geometry.quadratic import Quadratic, Sums

#: Unit roundoff in double and in single precision.
ROUNDOFF, ROUNDOFF_SINGLE = 2.0**-53, 2.0**-24
COARSER = ROUNDOFF_SINGLE / ROUNDOFF
#: From this many rows on, only those near a point are looked at closely; so many pairs at once.
MANY_ROWS, AT_ONCE = 16, 1_024
#: A region is measured at this margin to see what one unit of margin means for its rows: so large
#: that a row's own constant does not hide it, with slopes of 1e-30 neither (features of 1e30).
STEP = 2.0**200
#: To see which rows have a margin at all, with ever larger ones: slopes may be tiny.
PROBES = (2.0**-10, 1e15, 1e45, 1e120)


@dataclass(frozen=True, eq=False)
class MarginRows:
    """The rows of one cell that a margin is kept from, and the cell's bounds.

    Parameters
    ----------
    G, h, terms : ndarray
        ``G x <= h``, and what a model adds up to decide each row (see `Cell.terms`).
    unit : ndarray of shape (n_rows,)
        By how much one unit of margin lowers ``h``.
    curved : tuple of (Quadratic, float)
        Quadratic rows, with what one unit of margin adds to each.
    ends : tuple of ndarray, optional
        ``lower`` and ``upper``; None where there are none.
    bends : tuple of Exponential
        Exponential rows; `hold` leaves them to the model's own probabilities.
    origin : ndarray of shape (n_features,), optional
        Linear rows are ``G (x - origin) <= h``; 0 by default.
    sums : Sums, optional
        What is added up twice at a point, whatever the linear row, beside its terms.
    """

    G: FloatArray
    h: FloatArray
    terms: FloatArray
    unit: FloatArray
    curved: tuple[tuple[Quadratic, float], ...]
    ends: Limits | None
    bends: tuple[Exponential, ...] = ()
    origin: FloatArray | None = None
    sums: Sums | None = None

    @classmethod
    def of(cls, plain: Cell, tight: Cell) -> MarginRows:
        """Return the rows, from a cell and the same cell tightened by `STEP`."""
        unit = (plain.h - tight.h) / STEP
        used = unit > 0  # relations and other rules have no margin
        steps = (
            (row, (other.c - row.c) / STEP)
            for row, other in zip(plain.quadratics, tight.quadratics, strict=True)
        )
        return cls(
            plain.G[used],
            plain.h[used],
            plain.terms[used],
            unit[used],
            tuple((row, float(step)) for row, step in steps if step > 0),
            (plain.lower, plain.upper) if plain.has_bounds else None,
            plain.exponentials,
            sums=plain.sums,
        )

    @classmethod
    def as_written(cls, cell: Cell) -> MarginRows:
        """Return all rows of a cell, each with the terms that it is written with."""
        curved = tuple((row, 1.0) for row in cell.quadratics)
        ends = (cell.lower, cell.upper) if cell.has_bounds else None
        unit = np.ones(len(cell.h))
        return cls(cell.G, cell.h, cell.terms, unit, curved, ends, cell.exponentials)

    def hold(self, points: FloatArray, sizes: FloatArray, unit: float) -> BoolArray:
        """Return which points satisfy every row by more than ``unit`` times its terms."""
        slack = self.h - row_products(points, self.G)
        clear = (slack >= unit * self._linear_sizes(points, sizes)).all(axis=1)
        for row, _ in self.curved:
            value, size = row.value_and_sizes(points)
            clear &= -value >= unit * (size + row.model_sizes(points))
        if self.ends is not None:
            clear &= ((points >= self.ends[0]) & (points <= self.ends[1])).all(axis=1)
        return np.asarray(clear)

    def _linear_sizes(self, points: FloatArray, sizes: FloatArray) -> FloatArray:
        """Return what is added up for each linear row at each point; ``sizes`` are ``|x|, 1``."""
        added = row_products(sizes, self.terms)
        return added if self.sums is None else added + 2 * self.sums(points)[:, None]

    def added_up(self, points: FloatArray) -> FloatArray:
        """Return the most that is added up for any row at each point."""
        sizes = np.column_stack([np.abs(points), np.ones(len(points))])
        most = self._linear_sizes(points, sizes).max(axis=1, initial=0.0)
        for row, _ in self.curved:
            np.maximum(most, row.added_up(points), out=most)
        return np.asarray(most)


def surely_win(
    W: FloatArray, b: FloatArray, places: IntArray, points: FloatArray, single: bool
) -> BoolArray:
    """Return of which points the score ``W x + b`` at a place is the largest however it is rounded.

    Each score is off by at most ``unit`` times its own terms: the largest of the others must stay
    below, both at their worst. The region of the class says the same of such points: it adds up
    differences of coefficients, so either sum may be off by its terms, and asks for a third.
    """
    unit = 3 * (points.shape[1] + 4) * (ROUNDOFF_SINGLE if single else ROUNDOFF)
    scores = row_products(points, W) + b
    sure = _lead(scores, unit * _at_most(points, W, b), places)
    left = (~sure).nonzero()[0]
    if len(left):
        off = unit * (row_products(np.abs(points[left]), np.abs(W)) + np.abs(b))
        sure[left] = _lead(scores[left], off, places[left])
    return sure


def _lead(
    scores: FloatArray, off: FloatArray, places: IntArray, needed: FloatArray | float = 0.0
) -> BoolArray:
    """Return where the score at a place stays ahead of all others, each ``off`` at its worst."""
    rows, rivals = np.arange(len(scores)), scores + off
    own_off = np.broadcast_to(off, scores.shape)[rows, places]
    ahead = scores[rows, places] - own_off - needed
    rivals[rows, places] = -np.inf
    return np.asarray(ahead > rivals.max(axis=1))


def _at_most(points: FloatArray, W: FloatArray, b: FloatArray) -> FloatArray:
    """Return at least ``|W| |x| + |b|`` in no time: ``|w|'|x| <= max |w| sum |x|``."""
    largest, sizes = np.abs(W).max(axis=1, initial=0.0), np.abs(points).sum(axis=1)
    return np.asarray(GENEROUS * (np.outer(sizes, largest) + np.abs(b)))


def _exceed(
    slack: FloatArray, unit: float, points: FloatArray, slopes: FloatArray, constant: FloatArray
) -> BoolArray:
    """Return which of many rows are kept by at least ``unit`` times ``slopes'|x| + constant``."""
    if len(slopes) < MANY_ROWS:
        return np.asarray(slack >= unit * (row_products(np.abs(points), slopes) + constant))
    # Few rows are near a point: only these are looked at closely.
    clear = slack >= unit * _at_most(points, slopes, constant)
    near, row = (~clear).nonzero()
    for first in range(0, len(near), AT_ONCE):
        i, k = near[first : first + AT_ONCE], row[first : first + AT_ONCE]
        sizes = np.einsum("nd,nd->n", np.abs(points[i]), slopes[k]) + constant[k]
        clear[i, k] = slack[i, k] >= unit * sizes
    return clear


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
        if any(cell.sums is not None for cell in cells):
            return None
        terms = np.vstack([cell.terms for cell in cells])
        starts = np.cumsum([0, *(len(cell.G) for cell in cells[:-1])])
        G, h = np.vstack([cell.G for cell in cells]), np.concatenate([cell.h for cell in cells])
        return G, h, np.ascontiguousarray(terms[:, :-1]), terms[:, -1].copy(), starts

    @cached_property
    def _curved(self) -> tuple[tuple[Quadratic, float], ...]:
        return tuple(pair for cell in self.cells for pair in cell.curved)

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
        return np.asarray(worst)

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return which points no rounding can put elsewhere, sums in single precision or not."""
        unit = (points.shape[1] + 4) * (ROUNDOFF_SINGLE if single else ROUNDOFF)
        if self._together is not None:
            G, h, slopes, constant, starts = self._together
            slack = h - row_products(points, G)
            clear = _exceed(slack, unit, points, slopes, constant)
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
        return _lead(scores, off, scores.argmax(axis=1), 2 * unit * self.sums(points))

    @property
    def pieces(self) -> Sequence[MarginRows]:
        """One piece for each own item, made when it is asked for.

        ``(W_j - W_p) (x - origin) <= s_p - s_j`` with the scores at the origin, and rivals with
        equal coefficients left to the model, as in `hold`.
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
        told = (own.W[index] != rivals.W).any(axis=1)
        origin, there = (np.zeros(dim), own.b) if own.seen is None else own.seen
        theirs = rivals.closely(np.broadcast_to(origin, (1, dim)))[0]
        G, h = rivals.W[told] - own.W[index], there[index] - theirs[told]
        terms = np.zeros((len(h), dim + 1))
        terms[:, -1] = own.sizes[index] + rivals.sizes[told]
        bounded = common is not None and common.has_bounds
        ends = (common.lower, common.upper) if common is not None and bounded else None
        return MarginRows(
            G, h, terms, np.ones(len(h)), (), ends, origin=np.asarray(origin), sums=self._of.sums
        )


def has_own_units(cell: Cell) -> bool:
    """Return whether a cell's rows have a unit of margin that the features' units do not change.

    Slopes tell little of quadratic rows over features in unlike units: where one row holds a
    feature in units of 1e-9 and the next one does not, their slopes differ by 1e18, and what one of
    them needs leaves nothing of the other. The terms at the cell's anchors, e.g. one standard
    deviation from the mean of a class, do not change with the units.
    """
    return bool(len(cell.anchors) and cell.quadratics)


def in_own_units(plain: Cell, tight: Cell, margin: float) -> Cell:
    """Return a cell with each row lowered by ``margin`` times its terms at the anchors.

    ``tight`` is the cell with any margin: it tells which rows have one, and it is what comes back
    where the cell has no units of its own.
    """
    if not has_own_units(plain):
        return tight
    sizes = np.column_stack([np.abs(plain.anchors), np.ones(len(plain.anchors))])
    terms = row_products(sizes, plain.terms).max(axis=0, initial=0.0)
    h = np.where(tight.h != plain.h, plain.h - margin * terms, plain.h)
    curved = tuple(
        row.raised(margin * row.sizes(plain.anchors).max()) if row.c != other.c else row
        for row, other in zip(plain.quadratics, tight.quadratics, strict=True)
    )
    return replace(tight, h=h, quadratics=curved)


def shows_margin(plain: Cell, tight: Cell) -> bool:
    """Return whether every row of a cell is seen to be tightened.

    Features in units of 1e13 have slopes of 1e-13, and a margin of so many slopes may be lost in
    the rounding of a row's constant.
    """
    pairs = zip(plain.quadratics, tight.quadratics, strict=True)
    return bool((plain.h != tight.h).all()) and all(row.c != other.c for row, other in pairs)


def clearly_inside(cell: Cell, points: FloatArray) -> BoolArray:
    """Return which points lie in a cell by more than the rounding of its linear rows as written."""
    terms = row_products(np.abs(points), np.abs(cell.G)) + np.abs(cell.h)
    slack = cell.h - row_products(points, cell.G)
    far = (slack >= (cell.dim + 4) * ROUNDOFF * terms).all(axis=1)
    return np.asarray(cell.contains(points) & far)
