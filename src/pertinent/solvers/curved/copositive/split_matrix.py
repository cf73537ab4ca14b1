"""A matrix as a positive definite one plus a nonnegative one: then it is strictly copositive.

Both sets are convex and easy to project on (by eigenvalues, by entries), so the Douglas-Rachford
method finds a matrix in both: reflect at one, reflect at the other, go part of the way. It takes
a few hundred eigenvalue decompositions where there is such a matrix. Where there is none, what
keeps the two sets apart is nearly ``y y'`` for a nonnegative y at which the matrix is not positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.solvers.tolerances import CHOSEN_DEFINITE

#: How far to go: 1 is the plain method, below 2 it still converges.
RELAXATION = 1.8
#: Steps between two looks at the result, and what counts as no change from one to the next.
LOOK, STRAIGHT = 10, 0.05
#: The units of the corners decide how fast it goes: powers of the diagonal, and steps for each.
UNITS = ((0.5, 1200), (0.25, 800), (0.0, 1500))


class Split(NamedTuple):
    """What was found: a nonnegative part that leaves a definite rest, or what is in the way."""

    nonnegative: FloatArray | None
    between: FloatArray
    y: FloatArray
    steps: int


def split(M: FloatArray, free: BoolArray, steps: int) -> Split:
    """Look for a nonnegative N with ``M - N`` positive definite.

    Parameters
    ----------
    M : ndarray of shape (n, n)
        Symmetric, its diagonal positive.
    free : ndarray of bool, shape (n, n)
        Entries of N that may have any sign; those of M count as 0.
    steps : int
        How many eigenvalue decompositions to spend at most.

    Returns
    -------
    Split
        ``nonnegative`` is None where no N was found. Then ``between`` is positive semidefinite
        and nonnegative, nearly, and ``sum(M * between)`` not positive; of the nonnegative y met,
        of sum 1, it is the one of lowest ``y'My``. ``steps`` were taken.

    Examples
    --------
    >>> import numpy as np
    >>> M = np.array([[1.0, 3.0], [3.0, 1.0]])  # not definite, but has no negative entry
    >>> N = split(M, np.zeros((2, 2), dtype=bool), 100).nonnegative
    >>> bool((N >= 0).all() and np.linalg.eigvalsh(M - N)[0] > 0)
    True
    """
    diagonal = np.diagonal(M)
    size, known = float(np.median(diagonal)), np.where(free, 0.0, M)
    taken, lowest, y = 0, np.inf, np.zeros(len(M))
    for power, most in UNITS:
        scale = np.sqrt(size) * (diagonal / size) ** power
        units = np.outer(scale, scale)
        found = _in_these_units(M / units, free, min(most, steps - taken))
        taken += found.steps
        if found.nonnegative is not None:
            lower = np.tril(found.nonnegative * units)  # the half that eigenvalues were taken from
            return Split(lower + np.tril(lower, -1).T, found.between, y, taken)
        between = found.between / units
        met = _direction(between)
        if _value(known, met) < lowest:
            lowest, y = _value(known, met), met
        if lowest <= 0 or taken >= steps:
            break
    return Split(None, between, y, taken)


class _Try(NamedTuple):
    nonnegative: FloatArray | None
    between: FloatArray
    steps: int


def _in_these_units(M: FloatArray, free: BoolArray, steps: int) -> _Try:
    known = np.where(free, 0.0, M)
    highest = np.where(free, np.inf, M)
    Z, before, leap = known, np.zeros_like(M), 1.0
    for step in range(1, steps + 1):
        low = np.minimum(Z, highest)
        between = _raised(2 * low - Z) - low
        Z = Z + RELAXATION * between
        if step % LOOK:
            continue
        low = np.minimum(Z, highest)
        if np.linalg.eigvalsh(low)[0] > CHOSEN_DEFINITE:
            return _Try(np.where(free, -low, np.maximum(known - low, 0.0)), between, step)
        if step % (10 * LOOK) == 0 and _value(known, _direction(between)) <= 0:
            return _Try(None, between, step)
        # Between two corners of the sets the way is straight, and may be long.
        straight = np.linalg.norm(between - before) < STRAIGHT * np.linalg.norm(between)
        leap = 2 * leap if straight else 1.0
        if straight:
            Z = Z + leap * LOOK * between
        before = between
    return _Try(None, between, steps)


def _direction(between: FloatArray) -> FloatArray:
    """Return the nonnegative y of sum 1 for which ``y y'`` is most like what is between."""
    y = np.linalg.eigh(between)[1][:, -1]
    y = np.maximum(y * np.sign(y.sum()), 0.0)
    return np.asarray(y / y.sum())


def _raised(M: FloatArray) -> FloatArray:
    """Return the nearest matrix whose eigenvalues are large enough."""
    values, vectors = np.linalg.eigh(M)
    small = values < 3 * CHOSEN_DEFINITE
    V = vectors[:, small]
    return np.asarray(M + (V * (3 * CHOSEN_DEFINITE - values[small])) @ V.T)


def _value(M: FloatArray, y: FloatArray) -> float:
    return float(y @ M @ y)
