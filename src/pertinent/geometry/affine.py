"""Affine maps and scores, rows over bent columns, and products that do not depend on the batch.

Rows ``G x + B f(x) <= h`` add up columns seen through rising functions: they are what linear rows
become behind a logarithm, a power or quantiles of single columns. Each ``f_m`` is a *curve*: a
function of one column, known by its values alone, that rises (or falls) wherever it is defined.
Nothing else is asked of it: it may have corners, steps and flat parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as


def row_products(points: FloatArray, rows: FloatArray) -> FloatArray:
    """Return ``points @ rows.T``, each point on its own.

    One large matrix product rounds a row differently depending on how many rows are multiplied
    at once. Here every point is a product of its own, so results do not depend on the batch.
    """
    n, d = points.shape
    if n == 1 < d and points.flags.forc and rows.flags.forc:
        # The product that `matmul` makes of numbers that lie side by side, in half the time.
        product: FloatArray = points.dot(rows.T)
        return product
    if d == 1 == rows.shape[1]:
        return np.asarray(points * rows[:, 0])
    if len(rows) == 0 or len(points) == 0:
        return np.zeros((len(points), len(rows)))
    return np.asarray(np.matmul(points[:, None, :], rows.T)[:, 0, :])


@record_as("affine")
@dataclass(frozen=True, eq=False)
class AffineMap:
    """The map ``z -> M z + shift``; a diagonal ``M`` is kept as the vector of its entries.

    Parameters
    ----------
    matrix : ndarray of shape (n_out, n_in) or (n,)
        Two dimensions: the matrix. One dimension: the diagonal of a square one.
    shift : ndarray of shape (n_out,)

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import AffineMap
    >>> AffineMap(np.array([2.0, 1.0]), np.array([0.0, 1.0]))(np.array([[3.0, 4.0]]))
    array([[6., 5.]])
    """

    matrix: FloatArray
    shift: FloatArray

    @classmethod
    def identity(cls, dim: int) -> AffineMap:
        """Return the map that changes nothing."""
        return cls(np.ones(dim), np.zeros(dim))

    @property
    def is_diagonal(self) -> bool:
        """Whether each output depends on the input of the same place only."""
        return self.matrix.ndim == 1

    @property
    def dim_in(self) -> int:
        """Number of inputs."""
        return int(self.matrix.shape[-1])

    @property
    def dim_out(self) -> int:
        """Number of outputs."""
        return int(self.matrix.shape[0])

    def dense(self) -> FloatArray:
        """Return the matrix, written out."""
        return np.diag(self.matrix) if self.is_diagonal else self.matrix

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the images of the points."""
        if self.is_diagonal:
            return points * self.matrix + self.shift
        return row_products(points, self.matrix) + self.shift

    def rows(self, rows: FloatArray) -> FloatArray:
        """Return ``rows @ M``."""
        return rows * self.matrix if self.is_diagonal else rows @ self.matrix

    def after(self, first: AffineMap) -> AffineMap:
        """Return the map that applies ``first``, then this one."""
        if self.is_diagonal and first.is_diagonal:
            return AffineMap(self.matrix * first.matrix, self.matrix * first.shift + self.shift)
        shift = self.dense() @ first.shift + self.shift
        if self.is_diagonal:
            return AffineMap(self.matrix[:, None] * first.matrix, shift)
        return AffineMap(first.rows(self.matrix), shift)


def preimage(through: AffineMap, point: FloatArray) -> FloatArray:
    """Return a point whose image comes closest to a given one."""
    away = point - through.shift
    if through.is_diagonal:
        return np.where(
            through.matrix == 0, 0.0, away / np.where(through.matrix == 0, 1.0, through.matrix)
        )
    return np.asarray(np.linalg.lstsq(through.matrix, away, rcond=None)[0])


@dataclass(frozen=True, eq=False)
class Scores:
    """Linear scores ``W x + b``, one for each item.

    ``sizes`` is what a model adds up for each item, whatever the point (see `Sums`), and ``seen``
    the same scores with less rounding: an origin amid the items, and their scores there.
    """

    W: FloatArray
    b: FloatArray
    sizes: FloatArray = field(default=None)  # type: ignore[arg-type]
    seen: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        if self.sizes is None:
            object.__setattr__(self, "sizes", np.zeros(len(self.b)))

    def closely(self, points: FloatArray) -> FloatArray:
        """Return the scores of each point as seen from the origin amid the items."""
        origin, there = (0.0, self.b) if self.seen is None else self.seen
        return row_products(points - origin, self.W) + there

    def __len__(self) -> int:
        return len(self.b)

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the scores of each point, shape (n, n_items)."""
        return row_products(points, self.W) + self.b

    def pull_back(self, through: AffineMap) -> Scores:
        """Return the scores as a function of ``z``, for ``x = M z + t``."""
        seen = None
        if self.seen is not None:
            origin = preimage(through, self.seen[0])
            beside = through(origin[None])[0] - self.seen[0]
            seen = origin, self.seen[1] + self.W @ beside
        return Scores(through.rows(self.W), self.b + self.W @ through.shift, self.sizes, seen)


# -- Rows over bent columns ----------------------------------------------------------------------


class Curve(Protocol):
    """A function of one column that rises, or falls, wherever it is defined."""

    @property
    def column(self) -> int:
        """The column."""
        ...

    @property
    def beside(self) -> float:
        """The size of what is added up beside its value, which may cancel in it."""
        ...

    def __call__(self, z: FloatArray) -> FloatArray:
        """Return its values at numbers of the column; infinite where it is not defined."""
        ...


@dataclass(frozen=True, eq=False)
class Moved:
    """A curve of ``slope z + shift`` as a curve of z."""

    inner: Curve
    column: int
    slope: float
    shift: float

    @property
    def beside(self) -> float:
        """The size of what is added up beside its value."""
        return self.inner.beside

    def __call__(self, z: FloatArray) -> FloatArray:
        """Return its values."""
        return self.inner(z if self.slope == 1 and not self.shift else self.slope * z + self.shift)


@dataclass(frozen=True, eq=False)
class BentRows:
    """The rows ``G x + B f(x) <= h``.

    Parameters
    ----------
    curves : tuple of Curve
    G : ndarray of shape (n_rows, n_features)
    B : ndarray of shape (n_rows, n_curves)
    h : ndarray of shape (n_rows,)
    terms : ndarray of shape (n_rows, n_features + n_curves + 1)
        What a model adds up to decide each row: ``terms (|x|, |f(x)|, 1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.affine import BentRows
    >>> class Root:
    ...     column, beside = 0, 0.0
    ...
    ...     def __call__(self, z):
    ...         return np.sqrt(z)
    >>> rows = BentRows.of((Root(),), np.zeros((1, 2)), np.ones((1, 1)), np.array([2.0]))
    >>> rows.value(np.array([[4.0, 9.0], [9.0, 0.0]])).tolist()  # sqrt(x0) <= 2
    [[0.0], [1.0]]
    """

    curves: tuple[Curve, ...]
    G: FloatArray
    B: FloatArray
    h: FloatArray
    terms: FloatArray

    @classmethod
    def of(
        cls,
        curves: tuple[Curve, ...],
        G: FloatArray,
        B: FloatArray,
        h: FloatArray,
        terms: FloatArray | None = None,
    ) -> BentRows:
        """Return the rows; what they add up is what is seen, unless more is said."""
        return cls(
            curves, G, B, h, np.abs(np.hstack([G, B, h[:, None]])) if terms is None else terms
        )

    def __len__(self) -> int:
        return len(self.h)

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.G.shape[1])

    def image(self, points: FloatArray) -> FloatArray:
        """Return the curves at each point, shape (n, n_curves)."""
        out = np.empty((len(points), len(self.curves)))
        for m, curve in enumerate(self.curves):
            out[:, m] = curve(points[:, curve.column])
        return out

    def value(self, points: FloatArray) -> FloatArray:
        """Return ``G x + B f(x) - h``, shape (n, n_rows); infinite where a curve is not defined."""
        return self.value_of(points, self.image(points))

    def value_of(self, points: FloatArray, image: FloatArray) -> FloatArray:
        """Return `value` where the curves at each point are known."""
        known = np.isfinite(image).all(axis=1, keepdims=True)
        bent = np.where(known, image, 0.0)
        out = row_products(points, self.G) + row_products(bent, self.B) - self.h
        return np.where(known, out, np.inf)

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return what is added up to decide each row at each point."""
        bent = np.abs(self.image(points))
        for m, curve in enumerate(self.curves):
            bent[:, m] += curve.beside
        sizes = np.hstack([np.abs(points), bent, np.ones((len(points), 1))])
        return row_products(np.where(np.isfinite(sizes), sizes, 0.0), self.terms)

    def tighten(self, margin: float) -> BentRows:
        """Return the rows asked for strictly, by ``margin`` times the slope of each."""
        slope = np.abs(np.hstack([self.G, self.B])).max(axis=1, initial=0.0)
        return replace(self, h=self.h - margin * slope)

    def reversed(self) -> list[BentRows]:
        """Return, for each row, the one that holds where it is violated (or tight)."""
        return [
            BentRows(self.curves, -self.G[[k]], -self.B[[k]], -self.h[[k]], self.terms[[k]])
            for k in range(len(self))
        ]

    def used_columns(self) -> BoolArray:
        """Return which columns any row depends on."""
        used = (self.G != 0).any(axis=0)
        for m, curve in enumerate(self.curves):
            used[curve.column] |= bool(self.B[:, m].any())
        return np.asarray(used)

    def pull_back(self, through: AffineMap) -> BentRows:
        """Return the rows on ``z`` that say the same of ``x = M z + t``, with f of one input each.

        A curve whose column has no input is a constant from then on.
        """
        matrix, shift, dim = through.dense(), through.shift, self.dim
        curves, kept, h = list[Curve](), list[int](), self.h - self.G @ shift
        size = self.terms[:, -1] + self.terms[:, :dim] @ np.abs(shift)
        for m, curve in enumerate(self.curves):
            inputs = np.flatnonzero(matrix[curve.column])
            if len(inputs) > 1:
                raise UnsupportedModelError(
                    "A column that is bent by a function (a logarithm, a power, quantiles) cannot "
                    "be a mix of several features."
                )
            if len(inputs):
                j = int(inputs[0])
                slope = float(matrix[curve.column, j])
                curves.append(Moved(curve, j, slope, float(shift[curve.column])))
                kept.append(m)
                continue
            there = float(curve(shift[[curve.column]])[0])
            if not np.isfinite(there):  # not defined: nothing is left, 0 <= -inf
                h, there = np.where(self.B[:, m] != 0, -np.inf, h), 0.0
            h = h - self.B[:, m] * there
            size = size + self.terms[:, dim + m] * abs(there)
        rough = AffineMap(np.abs(through.matrix), np.zeros(len(shift)))
        terms = np.hstack(
            [rough.rows(self.terms[:, :dim]), self.terms[:, [dim + m for m in kept]], size[:, None]]
        )
        return BentRows(tuple(curves), through.rows(self.G), self.B[:, kept], h, terms)


def joined(blocks: Sequence[BentRows], G: FloatArray, h: FloatArray, terms: FloatArray) -> BentRows:
    """Return linear rows ``G x <= h``, then those of several blocks, as one block."""
    curves = tuple(dict.fromkeys(curve for block in blocks for curve in block.curves))
    place = {curve: m for m, curve in enumerate(curves)}
    wide = [np.zeros((len(G), len(curves)))]
    sizes = [np.hstack([terms[:, :-1], wide[0], terms[:, -1:]])]
    for block in blocks:
        some, own = np.zeros((len(block), len(curves))), np.zeros((len(block), len(curves)))
        for m, curve in enumerate(block.curves):
            some[:, place[curve]] = block.B[:, m]
            own[:, place[curve]] = block.terms[:, block.dim + m]
        wide.append(some)
        sizes.append(np.hstack([block.terms[:, : block.dim], own, block.terms[:, -1:]]))
    return BentRows(
        curves,
        np.vstack([G, *(block.G for block in blocks)]),
        np.vstack(wide),
        np.concatenate([h, *(block.h for block in blocks)]),
        np.vstack(sizes),
    )
