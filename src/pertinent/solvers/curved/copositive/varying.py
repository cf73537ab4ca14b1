"""Multipliers of rows that vary over a simplex: a linear program finds them.

No constant combination of rows may be positive on the whole of a simplex, where each is negative
somewhere. But with nonnegative vectors ``p_k``,

    sum_k (p_k'z) (z'M_k z)

is a cubic form in z, and positive on the simplex if all its coefficients are: then, at each z, some
row is positive. The coefficients are linear in the ``p_k``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.solvers.problem import SOLVED
from pertinent.solvers.programs.linear import LinearProgram
from pertinent.solvers.tolerances import POSITIVE

#: With more corners than this there are too many coefficients.
MOST_CORNERS = 45
#: Linear programs at most, and coefficients that enter from one to the next.
ROUNDS, AT_ONCE = 15, 150
#: Simplex steps for each variable and coefficient after which a program is given up: it cycles.
STEPS = 20


class Varying(NamedTuple):
    """What was found: multipliers, or the pairs of corners that are in the way."""

    multipliers: FloatArray | None
    pairs: FloatArray


def varying_multipliers(matrices: FloatArray, free: BoolArray) -> Varying:
    """Look for vectors ``p_k`` with which all coefficients are positive.

    Parameters
    ----------
    matrices : ndarray of shape (n_rows, n, n)
        Symmetric.
    free : ndarray of bool, shape (n, n)
        Pairs of which one weight is 0: terms with such a pair do not matter.

    Returns
    -------
    Varying
        ``multipliers`` of shape (n_rows, n), or None; then ``pairs``, of shape (n, n), weighs by
        the prices of coefficients how much each pair of corners is in the way.

    Examples
    --------
    Each of two rows is positive at one corner only, and no constant combination at both:

    >>> import numpy as np
    >>> M = np.array([[[3.0, 1.5], [1.5, -1.0]], [[-1.0, 1.5], [1.5, 0.3]]])
    >>> p = varying_multipliers(M, np.zeros((2, 2), dtype=bool)).multipliers
    >>> bool(p[0] @ [1, 0] * 3 - p[1] @ [1, 0] > 0 and p[1] @ [0, 1] * 0.3 - p[0] @ [0, 1] > 0)
    True
    """
    m, n = len(matrices), matrices.shape[1]
    if n > MOST_CORNERS:
        return Varying(None, np.zeros((n, n)))
    triples = _triples(n, free.tobytes())
    # z_i z_j z_k has the coefficient  sum_rows p_i M_jk + p_j M_ik + p_k M_ij.
    flat = matrices.reshape(m, n * n)
    terms = np.stack([flat.take(pair, axis=1) for pair in triples.opposite])
    size = np.abs(terms).max(axis=(0, 1))
    terms /= np.where(size > 0, size, 1.0)
    places = triples.corners[:, None] + n * np.arange(m)[:, None]
    # Few coefficients matter: those of the corners first, then whichever comes out too low.
    new = triples.single
    program, used = _VaryingProgram(m * n), new
    for _ in range(ROUNDS):
        p, lowest = program.with_more(terms[:, :, new], places[:, :, new])
        coefficients = (terms * p[places]).sum(axis=(0, 1))
        if lowest <= POSITIVE:
            break
        coefficients[used] = np.inf
        low = np.flatnonzero(coefficients < lowest / 2)
        if not len(low):
            return Varying(p.reshape(m, n), np.zeros((n, n)))
        new = low[np.argsort(coefficients[low], kind="stable")[:AT_ONCE]]
        used = np.append(used, new)
    # The prices of coefficients come in the order in which these entered.
    pairs, prices = np.zeros((n, n)), np.abs(program.answer.prices)
    for pair in triples.opposite:
        np.add.at(pairs.reshape(-1), pair[used], prices)
    return Varying(None, pairs + pairs.T)


class _VaryingProgram:
    """The p, at most 1, whose lowest coefficient is largest; coefficients enter one by one."""

    def __init__(self, n: int) -> None:
        self.n, self.count = n, 0
        ends = np.append(np.zeros(n), -np.inf)
        self.program = LinearProgram(-np.eye(n + 1)[n], np.zeros((0, n + 1)), lower=ends, upper=1.0)

    def with_more(self, terms: FloatArray, places: IntArray) -> tuple[FloatArray, float]:
        """Return the best p and its lowest coefficient, with these added to all before."""
        values, columns, kept = _merged(terms, places)
        count = len(values)
        values = np.append(values, np.full((count, 1), -1.0), axis=1)  # ... less the lowest
        columns = np.append(columns, np.full((count, 1), self.n), axis=1)
        kept = np.append(kept, np.ones((count, 1), dtype=bool), axis=1)
        starts = np.append(0, kept.sum(axis=1).cumsum())[:-1]
        self.program.add_rows(starts, columns[kept], values[kept])
        self.count += count
        self.program.set_options(simplex_iteration_limit=STEPS * (self.n + self.count))
        self.answer = answer = self.program.solve()
        if answer.outcome != SOLVED:
            return np.zeros(self.n), -np.inf
        return np.maximum(answer.v[:-1], 0.0), float(answer.v[-1])


def _merged(terms: FloatArray, places: IntArray) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return one line for each coefficient: values, places, and which of them are kept.

    Two of the three terms of ``z_i z_i z_k`` have the same place, and all of ``z_i^3``.
    """
    terms, count = terms.copy(), terms.shape[2]
    again = places[1:] == places[:-1]
    kept = np.concatenate([np.ones_like(again[:1]), ~again])
    terms[1] += np.where(again[1], terms[2], 0.0)
    terms[0] += np.where(again[0], terms[1], 0.0)
    order = (2, 0, 1)
    return (
        terms.transpose(order).reshape(count, -1),
        places.transpose(order).reshape(count, -1),
        kept.transpose(order).reshape(count, -1),
    )


class _Triples(NamedTuple):
    """All ``i <= j <= k`` whose coefficients matter.

    ``corners`` are i, j and k; ``opposite`` the pairs (j, k), (i, k) and (i, j), as places in a
    matrix; ``single`` are the triples with ``i = j = k``.
    """

    corners: IntArray
    opposite: IntArray
    single: IntArray


@lru_cache(maxsize=8)
def _triples(n: int, free: bytes) -> _Triples:
    nowhere = np.frombuffer(free, dtype=bool).reshape(n, n)
    i, j, k = np.nonzero(np.ones((n, n, n), dtype=bool))
    needed = (i <= j) & (j <= k) & ~(nowhere[i, j] | nowhere[j, k] | nowhere[i, k])
    i, j, k = i[needed], j[needed], k[needed]
    opposite = np.stack([j * n + k, i * n + k, i * n + j])
    return _Triples(np.stack([i, j, k]), opposite, np.flatnonzero(i == k))
