"""Quadratic inequalities, kept as factors, and the size of what a model adds up to decide one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pertinent.geometry.affine import AffineMap, preimage, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.gaps import SPLIT


@dataclass(frozen=True, eq=False)
class Squares:
    """The sum of squares ``sum_k (S |x - origin| + s)_k^2``, with S and s at least 0.

    Parameters
    ----------
    S : ndarray of shape (rank, n_features), or (n_features,) for a diagonal
    origin : ndarray of shape (n_features,)
    s : ndarray of shape (rank,)
    """

    S: FloatArray
    origin: FloatArray
    s: FloatArray

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the sum at each point, shape (n,)."""
        away = np.abs(points - self.origin)
        image = (away * self.S if self.S.ndim == 1 else row_products(away, self.S)) + self.s
        return np.asarray((image * image).sum(axis=1))

    def times(self, factor: float) -> Squares:
        """Return the sum of squares times a factor."""
        root = np.sqrt(factor)
        return Squares(root * self.S, self.origin, root * self.s)

    def moved(self, through: AffineMap, origin: FloatArray, beside: FloatArray) -> Squares:
        """Return the sum in ``z`` with ``|M| |z - origin| + beside`` for ``|x - origin|``."""
        shift = self.s + (self.S * beside if self.S.ndim == 1 else self.S @ beside)
        matrix = np.abs(through.matrix)
        if matrix.ndim == 1:
            return Squares(self.S * matrix, origin, shift)
        return Squares((np.diag(self.S) if self.S.ndim == 1 else self.S) @ matrix, origin, shift)


@dataclass(frozen=True, eq=False)
class Sums:
    """The size of what a model adds up to decide a row: squares, products and a constant.

    A sum of n terms is off by at most about n roundings of the sum of their absolute values,
    whatever their order. This is that sum: ``squares(x) + slopes'|x| + constant``.

    Parameters
    ----------
    squares : tuple of Squares
    slopes : ndarray of shape (n_features,)
    constant : float
    """

    squares: tuple[Squares, ...]
    slopes: FloatArray
    constant: float

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the size at each point, shape (n,)."""
        total = row_products(np.abs(points), self.slopes[None])[:, 0] + self.constant
        for square in self.squares:
            total += square(points)
        return np.asarray(total)

    def __add__(self, other: Sums) -> Sums:
        """Return the size of what is added up for both."""
        squares = self.squares + other.squares
        return Sums(squares, self.slopes + other.slopes, self.constant + other.constant)

    def pull_back(self, through: AffineMap, typical: float) -> tuple[Sums, float]:
        """Return the size in ``z`` for ``x = M z + t``, and what its squares were multiplied by.

        The model rounds x by about ``B = |M| |z| + |t|`` units. A square ``A^2`` is then off by
        ``2 A S B <= f A^2 + (S B)^2 / f``, with f such that both parts are alike where ``A^2`` is
        ``typical``.
        """
        shift, squares, factor = np.abs(through.shift), [], 1.0
        rounds = _rounds(through)
        rough = AffineMap((through.matrix.T * rounds).T, through.shift * rounds)
        for square in self.squares:
            at = preimage(through, square.origin)
            beside = np.abs(through(at[None])[0] - square.origin)
            rounded = square.moved(rough, np.zeros(through.dim_in), np.abs(rough.shift))
            if typical > 0:
                factor = max(factor, float(np.sqrt(rounded(at[None])[0] / typical)))
            squares.append((square.moved(through, at, beside), True))
            if rounds.any():
                squares.append((rounded, False))
        scaled = tuple(s.times(factor if own else 1 / factor) for s, own in squares)
        slopes = AffineMap(np.abs(through.matrix), shift).rows(self.slopes[None])[0]
        constant = self.constant + float(self.slopes @ shift)
        return Sums(scaled, slopes, constant), factor


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The inequality ``|plus u|^2 - |minus u|^2 + q'u + c <= 0`` with ``u = x - origin``.

    The matrix ``A = plus'plus - minus'minus`` is kept as its two factors: they are what a cone
    solver and a convex-concave split need, and they survive changes of coordinates exactly.

    Parameters
    ----------
    plus, minus : ndarray of shape (rank, n_features)
        Factors of the convex and of the concave part; no rows where there is none.
    q : ndarray of shape (n_features,)
    c : float
    origin : ndarray of shape (n_features,), optional
        Where slope and value are q and c; 0 by default. Near the points of interest (the mean of
        a class) no digits are lost in differences of large numbers.
    sums : Sums, optional
        What a model really adds up to decide the row, where that is known.
    """

    plus: FloatArray
    minus: FloatArray
    q: FloatArray
    c: float
    origin: FloatArray | None = None
    sums: Sums | None = None

    @classmethod
    def from_matrix(
        cls,
        A: FloatArray,
        q: FloatArray,
        c: float,
        rtol: float = SPLIT,
        scale: FloatArray | None = None,
    ) -> Quadratic:
        """Return the row for a symmetric matrix, split by its eigenvectors.

        Features in very different units need a ``scale`` for each: eigenvalues are then those of
        ``A_ij / (scale_i scale_j)``, so that what is small only in its units is not lost.
        """
        scale = np.ones(len(A)) if scale is None else scale
        values, vectors = np.linalg.eigh((A + A.T) / 2 / np.outer(scale, scale))
        size = float(np.abs(values).max(initial=0.0)) * rtol
        up, down = values > size, values < -size
        return cls(
            np.sqrt(values[up])[:, None] * vectors[:, up].T * scale,
            np.sqrt(-values[down])[:, None] * vectors[:, down].T * scale,
            q,
            float(c),
        )

    @property
    def at(self) -> FloatArray:
        """The origin, written out."""
        return np.zeros(len(self.q)) if self.origin is None else self.origin

    @cached_property
    def A(self) -> FloatArray:
        """The symmetric matrix of the quadratic form."""
        return np.asarray(self.plus.T @ self.plus - self.minus.T @ self.minus)

    @property
    def is_convex(self) -> bool:
        """Whether the inequality describes a convex set by its form."""
        return len(self.minus) == 0

    def raised(self, by: float) -> Quadratic:
        """Return the inequality with ``by`` added to its left-hand side."""
        other = replace(self, c=self.c + by)
        # What was worked out from the factors holds for both.
        other.__dict__.update((k, v) for k, v in self.__dict__.items() if k in ("A", "_axes"))
        return other

    def value(self, points: FloatArray) -> FloatArray:
        """Return the left-hand side at each point."""
        u, up, down = self._squared(points)
        return np.asarray(up - down + row_products(u, self.q[None])[:, 0] + self.c)

    def seen(self, points: FloatArray) -> FloatArray:
        """Return the points as seen from the origin of the row."""
        return points if self.origin is None else points - self.origin

    def image(self, points: FloatArray) -> FloatArray:
        """Return ``plus u`` of each point."""
        return _images(self.plus, self._axes[0], self.seen(points))

    def _images(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``plus u`` and ``minus u`` of each point, as seen from the origin."""
        return _images(self.plus, self._axes[0], points), _images(self.minus, self._axes[1], points)

    @cached_property
    def _axes(self) -> tuple[FloatArray | None, FloatArray | None]:
        """The diagonals of the factors, where these are diagonal (naive Bayes)."""
        return _axis(self.plus), _axis(self.minus)

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return the size of the terms that `value` adds up: the unit of its rounding."""
        return self.value_and_sizes(points)[1]

    def value_and_sizes(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `value` and `sizes` of each point, for little more than one of them."""
        u, up, down = self._squared(points)
        linear = row_products(u, self.q[None])[:, 0]
        terms = row_products(np.abs(u), np.abs(self.q)[None])[:, 0]
        return up - down + linear + self.c, up + down + terms + abs(self.c)

    def _squared(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ``u``, ``|plus u|^2`` and ``|minus u|^2`` of each point."""
        u = self.seen(points)
        up, down = self._images(u)
        return u, (up * up).sum(1), (down * down).sum(1)

    def added_up(self, points: FloatArray) -> FloatArray:
        """Return `sizes` and what the model adds up to decide the row, shape (n,)."""
        return self.sizes(points) + self.model_sizes(points)

    def model_sizes(self, points: FloatArray) -> FloatArray:
        """Return the size of what the model adds up to decide the row, shape (n,)."""
        sums = self.sums
        if sums is None:  # all that is known are the factors: their products may cancel
            none = np.zeros(max(len(self.plus), len(self.minus)))
            factors = [f for f in (self.plus, self.minus) if len(f)]
            squares = tuple(Squares(np.abs(f), self.at, none[: len(f)]) for f in factors)
            sums = Sums(squares, np.zeros(len(self.q)), 0.0)
        return sums(points)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradient at each point, shape (n, n_features)."""
        up, down = self._images(self.seen(points))
        up = _images(self.plus.T, self._axes[0], up)
        down = _images(self.minus.T, self._axes[1], down)
        return np.asarray(2 * (up - down) + self.q)

    def scale(self) -> float:
        """Return the size of the slope near the row's origin, the unit of a margin."""
        return float(np.abs(self.q).max(initial=0.0) + np.abs(self.A).max(initial=0.0))

    def reversed(self) -> Quadratic:
        """Return the inequality that holds where this one is violated (or tight)."""
        return Quadratic(self.minus, self.plus, -self.q, -self.c, self.origin, self.sums)

    def pull_back(self, through: AffineMap) -> Quadratic:
        """Return the inequality on ``z`` that says the same of ``x = M z + t``."""
        origin = None if self.origin is None else preimage(through, self.origin)
        # u = M (z - origin) + e, and |P(Mv+e)|^2 = |PMv|^2 + 2 (Pe)'PM v + |Pe|^2.
        e = through.shift if origin is None else self.seen(through(origin[None])[0])
        up, down = self.plus @ e, self.minus @ e
        slope = self.q + 2 * (up @ self.plus - down @ self.minus)
        constant = self.c + self.q @ e + up @ up - down @ down
        sums = None
        if self.sums is not None:
            sums = self.sums.pull_back(through, self.sums.constant)[0]
        return Quadratic(
            through.rows(self.plus),
            through.rows(self.minus),
            through.rows(slope[None])[0],
            float(constant),
            origin,
            sums,
        )


def _rounds(through: AffineMap) -> BoolArray:
    """Return which outputs are rounded: all but copies of an input, up to the sign."""
    size = np.abs(through.matrix)
    if size.ndim == 1:
        return np.asarray((size != 1) | (through.shift != 0))
    copies = (np.count_nonzero(size, axis=1) <= 1) & ((size == 0) | (size == 1)).all(axis=1)
    return np.asarray(~copies | (through.shift != 0))


def _axis(factor: FloatArray) -> FloatArray | None:
    square = len(factor) == factor.shape[1]
    diagonal = np.diagonal(factor)
    return diagonal.copy() if square and (np.diag(diagonal) == factor).all() else None


def _images(factor: FloatArray, axis: FloatArray | None, points: FloatArray) -> FloatArray:
    return row_products(points, factor) if axis is None else points * axis
