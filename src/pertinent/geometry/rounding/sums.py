"""The sums that decide one cell, or the winner of scores: which points rounding cannot move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.affine import BentRows, row_products
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
    bent : tuple of (BentRows, ndarray)
        Rows over bent columns, with what one unit of margin adds to each.
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
    bent: tuple[tuple[BentRows, FloatArray], ...] = ()

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
            bent=tuple(
                (block, (block.h - other.h) / STEP)
                for block, other in zip(plain.bent, tight.bent, strict=True)
            ),
        )

    @classmethod
    def as_written(cls, cell: Cell) -> MarginRows:
        """Return all rows of a cell, each with the terms that it is written with."""
        curved = tuple((row, 1.0) for row in cell.quadratics)
        ends = (cell.lower, cell.upper) if cell.has_bounds else None
        unit = np.ones(len(cell.h))
        bent = tuple((block, np.ones(len(block))) for block in cell.bent)
        return cls(cell.G, cell.h, cell.terms, unit, curved, ends, cell.exponentials, bent=bent)

    def hold(self, points: FloatArray, sizes: FloatArray, unit: float) -> BoolArray:
        """Return which points satisfy every row by more than ``unit`` times its terms."""
        slack = self.h - row_products(points, self.G)
        clear = (slack >= unit * self._linear_sizes(points, sizes)).all(axis=1)
        for row, _ in self.curved:
            value, size = row.value_and_sizes(points)
            clear &= -value >= unit * (size + row.model_sizes(points))
        for block, _ in self.bent:
            # Twice: curves are sums of their own.
            clear &= (-block.value(points) >= 2 * unit * block.sizes(points)).all(axis=1)
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
        for block, _ in self.bent:
            np.maximum(most, block.sizes(points).max(axis=1, initial=0.0), out=most)
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
    sure = lead(scores, unit * _at_most(points, W, b), places)
    left = (~sure).nonzero()[0]
    if len(left):
        off = unit * (row_products(np.abs(points[left]), np.abs(W)) + np.abs(b))
        sure[left] = lead(scores[left], off, places[left])
    return sure


def lead(
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


def exceed(
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
