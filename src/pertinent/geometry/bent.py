"""Rows that add up columns seen through rising functions: ``G x + B f(x) <= h``.

They are what linear rows become behind a logarithm, a power or quantiles of single columns. Each
``f_m`` is a *curve*: a function of one column, known by its values alone, that rises (or falls)
wherever it is defined. Nothing else is asked of it: it may have corners, steps and flat parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.affine import AffineMap, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray


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
    >>> from pertinent.geometry.bent import BentRows
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
        bent = self.image(points)
        unknown = ~np.isfinite(bent).all(axis=1)
        bent[unknown] = 0.0
        out = row_products(points, self.G) + row_products(bent, self.B) - self.h
        out[unknown] = np.inf
        return np.asarray(out)

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
