"""How far inside its class a point must lie for ``predict`` to agree, whatever the units.

A margin that was asked for is in units of each row's slope (see `Cell.tighten`), while the
rounding of a score grows with the size of its terms. For ``g'x <= h`` a sum of d products is off by
at most about ``(d + 4) u (|g|'|x| + |h|)``, with u the unit roundoff; the margin that covers it
differs from row to row, so that data of size 1e-6 are not asked for a margin made for data of size
1. Margins that only rounding needs count in units of the rows' own terms: see `evened`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import Cell, LazyCells, Region, row_products

#: Unit roundoff in double and in single precision.
ROUNDOFF, ROUNDOFF_SINGLE = 2.0**-53, 2.0**-24
#: The margin to begin with where nothing is rounded.
LEAST = 1e-18
#: What rounding may need in double precision, powers of 100, and the margins to begin with. Rows
#: over features in units of 1e-15 have slopes of 1e30: no margin is too small to be of use.
NEEDS = 10.0 ** np.arange(-120, -2, 2)
MARGINS = np.where(NEEDS[0] == NEEDS, LEAST, NEEDS)
#: A region is measured at this margin to see what one unit of margin means for its rows.
STEP = 2.0**-10
#: To see which rows have a margin at all, with ever larger ones: slopes may be tiny.
PROBES = (STEP, 1e15, 1e45, 1e120)


@dataclass(frozen=True, eq=False)
class TermSizes:
    """The size of each row's terms, in units of that row's margin.

    ``scores`` and ``offsets`` are the terms of the scores whose difference a row is (see
    `Cell.terms`).
    """

    linear: FloatArray
    constant: FloatArray
    scores: FloatArray
    offsets: FloatArray
    curved: tuple[tuple[Quadratic, float], ...]

    def of(self, centers: FloatArray) -> FloatArray:
        """Return the largest size over all rows, at each center."""
        worst = row_products(np.abs(centers), self.linear) + self.constant
        return self._with_curved(worst.max(axis=1, initial=0.0), centers)

    def of_scores(self, centers: FloatArray) -> FloatArray:
        """Return the same with the scores' own terms, which may cancel in a row."""
        worst = row_products(np.abs(centers), self.scores) + self.offsets
        return self._with_curved(worst.max(axis=1, initial=0.0), centers)

    def growth(self, weights: FloatArray) -> float:
        """Return by how much sizes grow at most for each unit of cost; no limit if curved."""
        if self.curved:
            return np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nan_to_num(self.scores / weights, nan=0.0).max(initial=0.0))

    def _with_curved(self, worst: FloatArray, centers: FloatArray) -> FloatArray:
        for row, unit in self.curved:
            np.maximum(worst, row.sizes(centers) / unit, out=worst)
        return np.asarray(worst)


def term_sizes(plain: Region, tight: Region) -> TermSizes | None:
    """Return the term sizes of a region from itself and itself tightened by `STEP`.

    None for regions whose cells are made on demand: there are too many rows to look at.
    """
    if isinstance(plain.cells, LazyCells) or len(plain) != len(tight):
        return None
    linear, constant, curved = [np.zeros((0, plain.dim))], [np.zeros(0)], []
    scores = [np.zeros((0, plain.dim + 1))]
    for one, two in zip(plain.cells, tight.cells, strict=True):
        unit = (one.h - two.h) / STEP
        used = unit > 0  # relations and other rules have no margin
        linear.append(np.abs(one.G[used]) / unit[used, None])
        constant.append(np.abs(one.h[used]) / unit[used])
        scores.append(one.terms[used] / unit[used, None])
        for row, other in zip(one.quadratics, two.quadratics, strict=True):
            step = (other.c - row.c) / STEP
            if step > 0:
                curved.append((row, float(step)))
    terms = np.vstack(scores)
    scored = np.ascontiguousarray(terms[:, :-1]), terms[:, -1].copy()
    return TermSizes(np.vstack(linear), np.concatenate(constant), *scored, tuple(curved))


@dataclass(frozen=True, eq=False)
class SureRows:
    """The rows of a region's cells, to tell which points no rounding can put elsewhere.

    A score is a sum of d products and an offset. In whichever order they are added, in a batch or
    alone, it is off by at most about ``(d + 4) u terms``: see `Cell.terms`.
    """

    linear: tuple[tuple[FloatArray, FloatArray, FloatArray], ...]
    curved: tuple[tuple[Quadratic, ...], ...]
    bounds: tuple[tuple[FloatArray, FloatArray] | None, ...]

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return which points lie in a cell by more than the rounding."""
        unit = (points.shape[1] + 4) * (ROUNDOFF_SINGLE if single else ROUNDOFF)
        sizes = np.column_stack([np.abs(points), np.ones(len(points))])
        sure = np.zeros(len(points), dtype=bool)
        cells = zip(self.linear, self.curved, self.bounds, strict=True)
        for (G, h, terms), rows, ends in cells:
            slack = h - row_products(points, G)
            clear = (slack >= unit * row_products(sizes, terms)).all(axis=1)
            for row in rows:
                clear &= -row.value(points) >= unit * row.sizes(points)
            if ends is not None:
                clear &= ((points >= ends[0]) & (points <= ends[1])).all(axis=1)
            sure |= clear
        return sure


def sure_rows(plain: Region, tight: Region) -> SureRows | None:
    """Return the rows of a region that a margin is kept from, from both as in `term_sizes`."""
    if isinstance(plain.cells, LazyCells) or len(plain) != len(tight):
        return None
    linear, curved = [], []
    for one, two in zip(plain.cells, tight.cells, strict=True):
        used = one.h > two.h  # relations and other rules have no margin
        linear.append((one.G[used], one.h[used], one.terms[used]))
        pairs = zip(one.quadratics, two.quadratics, strict=True)
        curved.append(tuple(row for row, other in pairs if other.c > row.c))
    bounds = tuple((c.lower, c.upper) if c.has_bounds else None for c in plain.cells)
    return SureRows(tuple(linear), tuple(curved), bounds)


def evened(plain: Region, tight: Region, margin: float) -> Region:
    """Return a tightened region with each row tightened in units of its own terms instead.

    Slopes tell little of quadratic rows over features in unlike units: where one row holds a
    feature in units of 1e-9 and the next one does not, their slopes differ by 1e18, and what one of
    them needs leaves nothing of the other. The terms at the cell's anchors, e.g. one standard
    deviation from the mean of a class, do not change with the units. Cells without quadratic rows
    or without anchors stay as they are.
    """
    if isinstance(plain.cells, LazyCells) or len(plain) != len(tight):
        return tight
    pairs = zip(plain.cells, tight.cells, strict=True)
    return Region(tuple(_evened(one, two, margin) for one, two in pairs), plain.dim)


def is_evened(plain: Region) -> bool:
    """Return whether `evened` asks of the tightened region only which rows a margin is kept from.

    That is the same for every margin.
    """
    if isinstance(plain.cells, LazyCells):
        return False
    return all(_in_own_terms(cell) and not cell.exponentials for cell in plain.cells)


def shows_margin(plain: Cell, tight: Cell) -> bool:
    """Return whether every row of a cell is seen to be tightened.

    Features in units of 1e13 have slopes of 1e-13, and a margin of so many slopes may be lost in
    the rounding of a row's constant.
    """
    pairs = zip(plain.quadratics, tight.quadratics, strict=True)
    return bool((plain.h != tight.h).all()) and all(row.c != other.c for row, other in pairs)


def _in_own_terms(plain: Cell) -> bool:
    return bool(len(plain.anchors) and plain.quadratics)


def _evened(plain: Cell, tight: Cell, margin: float) -> Cell:
    if not _in_own_terms(plain):
        return tight
    sizes = np.column_stack([np.abs(plain.anchors), np.ones(len(plain.anchors))])
    terms = row_products(sizes, plain.terms).max(axis=0, initial=0.0)
    h = np.where(tight.h != plain.h, plain.h - margin * terms, plain.h)
    curved = tuple(
        row.raised(margin * row.sizes(plain.anchors).max()) if row.c != other.c else row
        for row, other in zip(plain.quadratics, tight.quadratics, strict=True)
    )
    return replace(tight, h=h, quadratics=curved)


def first_margins(
    sizes: TermSizes | None, centers: FloatArray, single: bool, sums_in_single: bool
) -> FloatArray:
    """Return the margin to begin with for each center: a power of 100, or of sqrt(2).

    Few different margins mean few different regions; what a margin of up to 100 times the
    rounding costs is far below the gap at which an answer counts as optimal. In single precision
    it is not, and the steps are small.

    Parameters
    ----------
    sizes : TermSizes or None
    centers : ndarray of shape (n, n_features)
    single : bool
        Whether points are handed out in single precision.
    sums_in_single : bool
        Whether the model adds up their scores in single precision, too.
    """
    if sizes is None:
        return np.full(len(centers), 1e-6 if single else 1e-12)
    # Broadcast centers (a baseline for everyone) are looked at once.
    some = centers[:1] if len(centers) and centers.strides[0] == 0 else centers
    rounding = centers.shape[1] + 4
    if single:
        # What `SureRows` ask of the answer, whose terms may be a little larger than the center's.
        unit = ROUNDOFF_SINGLE if sums_in_single else ROUNDOFF
        need = 1.25 * rounding * unit * sizes.of_scores(some)
        if not sums_in_single:
            # The point itself is rounded: x_i by u |x_i|, a row by u |g|'|x|.
            need += 1.25 * ROUNDOFF_SINGLE * sizes.of(some)
        least = np.where(need > 0, need, LEAST)
        margins = 2.0 ** (np.ceil(2 * np.log2(least)) / 2)
    else:
        need = 4 * rounding * ROUNDOFF * sizes.of_scores(some)
        margins = MARGINS.take(NEEDS.searchsorted(need), mode="clip")
    return margins if len(some) == len(centers) else np.repeat(margins, len(centers))


def surely_inside(region: Region, points: FloatArray) -> BoolArray:
    """Return which points lie in a region by more than the rounding of its linear rows.

    `SureRows` ask what a model's own sums leave open, of rows that a margin is kept from. Here it
    is whether the region as written speaks of the points at all: every row counts, and cells that
    are made on demand are looked at one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import Cell, Region
    >>> region = Region((Cell(np.array([[1e17, -1e17]]), np.array([1.0])),))
    >>> surely_inside(region, np.array([[1.0, 1.0], [1.0, 2.0]]))
    array([False,  True])
    """
    sure = np.zeros(len(points), dtype=bool)
    for cell in region.cells:
        terms = row_products(np.abs(points), np.abs(cell.G)) + np.abs(cell.h)
        rounding = (cell.dim + 4) * ROUNDOFF * terms
        slack = cell.h - row_products(points, cell.G)
        sure |= cell.contains(points) & (slack >= rounding).all(axis=1)
    return sure
