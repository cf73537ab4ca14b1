"""Random tables of samples, in the units that strangers bring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


def clusters(rng: np.random.Generator, n: int, d: int, k: int) -> tuple[Array, Array]:
    """Return n samples of k classes in clusters, every class with at least one sample."""
    centers = rng.normal(size=(k, d)) * rng.choice([0.3, 1.0, 3.0])
    y = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    X = centers[y] + rng.normal(size=(n, d)) * rng.choice([0.1, 1.0])
    return X, y


def _raw_units(rng: np.random.Generator, X: Array) -> Array:
    """Each column in units of its own, far from 0: weights in grams beside years."""
    size = 10.0 ** rng.uniform(-3, 4, X.shape[1])
    return (X + rng.choice([0.0, 5.0, 100.0], X.shape[1])) * size


def _wide_units(rng: np.random.Generator, X: Array) -> Array:
    return X * 10.0 ** rng.uniform(-8, 8, X.shape[1])


def _huge(rng: np.random.Generator, X: Array) -> Array:
    return X * 10.0 ** rng.choice([6, 10, 14, 20, 60])


def _tiny(rng: np.random.Generator, X: Array) -> Array:
    return X * 10.0 ** -rng.choice([4, 8, 12, 30])


def _far(rng: np.random.Generator, X: Array) -> Array:
    """All samples far from 0 beside their spread: years, or seconds since 1970."""
    return X + 10.0 ** rng.choice([3, 6, 9])


def _duplicated(rng: np.random.Generator, X: Array) -> Array:
    """Return columns of which some are copies of others."""
    return X[:, rng.integers(X.shape[1], size=X.shape[1])]


def _nearly_parallel(rng: np.random.Generator, X: Array) -> Array:
    copies = X[:, rng.integers(X.shape[1], size=X.shape[1])]
    return copies + 10.0 ** -rng.choice([4, 7, 10]) * rng.normal(size=X.shape)


def _constant(rng: np.random.Generator, X: Array) -> Array:
    out = X.copy()
    out[:, rng.random(X.shape[1]) < 0.4] = rng.choice([0.0, 1.0, 1e6])
    return out


def _whole(rng: np.random.Generator, X: Array) -> Array:
    """Return counts: samples with many ties between them."""
    return np.round(X * rng.choice([1, 3, 100]))


def _few_values(rng: np.random.Generator, X: Array) -> Array:
    return (X > 0).astype(float)


#: What may be odd about a table; plain ones are drawn as often as all others together.
ODD: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "raw units": _raw_units,
    "wide units": _wide_units,
    "huge": _huge,
    "tiny": _tiny,
    "far from 0": _far,
    "duplicated columns": _duplicated,
    "nearly parallel columns": _nearly_parallel,
    "constant columns": _constant,
    "whole numbers": _whole,
    "zeros and ones": _few_values,
}


def table(rng: np.random.Generator, n: int, d: int, k: int, odd: str | None) -> tuple[Array, Array]:
    """Return samples and their classes; what is odd about the samples is named."""
    X, y = clusters(rng, max(n, k), d, k)
    return (X if odd is None else ODD[odd](rng, X)), y
