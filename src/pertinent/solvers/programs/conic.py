"""Cone programs by Clarabel: the one place that builds them and reads their answers.

min  cost'v    s.t.   side_k - matrix_k v  in  cone_k    for every block k of rows
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.running import time_left
from pertinent.solvers.problem import Outcome

#: What each of Clarabel's answers means; any other is TROUBLE.
STATUS = {
    "Solved": Outcome.SOLVED,
    "AlmostSolved": Outcome.SOLVED,
    "PrimalInfeasible": Outcome.EMPTY,
    "AlmostPrimalInfeasible": Outcome.EMPTY,
}
#: From this many nonzeros on, the supernodal factorisation is the faster one.
SUPERNODAL_FROM = 20_000


class Cone(Enum):
    """Where the rows of a block must lie."""

    ZERO = "every row is 0"
    NONNEGATIVE = "every row is at least 0"
    SECOND_ORDER = "the first row is at least the length of the others"
    EXPONENTIAL = "three rows (x, y, z) with y exp(x / y) <= z"
    SEMIDEFINITE = "a symmetric matrix, its upper triangle by columns, off the diagonal by sqrt(2)"


_CONES: dict[Cone, Callable[[int], object]] = {
    Cone.ZERO: clarabel.ZeroConeT,
    Cone.NONNEGATIVE: clarabel.NonnegativeConeT,
    Cone.SECOND_ORDER: clarabel.SecondOrderConeT,
    Cone.EXPONENTIAL: lambda rows: clarabel.ExponentialConeT(),
    # A triangle of order n has n (n + 1) / 2 entries.
    Cone.SEMIDEFINITE: lambda rows: clarabel.PSDTriangleConeT((isqrt(8 * rows + 1) - 1) // 2),
}


class Block(NamedTuple):
    """Rows ``side - matrix v`` that lie in one cone."""

    cone: Cone
    matrix: FloatArray
    side: FloatArray


@dataclass(frozen=True, eq=False)
class ConicAnswer:
    """What came back: the last point, and the dual vector of all blocks one after the other."""

    outcome: Outcome
    v: FloatArray
    dual: FloatArray
    status: str


def solve_conic(
    cost: FloatArray, blocks: Sequence[Block], *, presolve: bool = True, most: int = 200
) -> ConicAnswer:
    """Return the optimum of ``min cost'v`` over all blocks, in at most so many iterations.

    Examples
    --------
    >>> import numpy as np
    >>> at_least_two = Block(Cone.NONNEGATIVE, -np.ones((1, 1)), -np.full(1, 2.0))
    >>> solve_conic(np.ones(1), [at_least_two]).v.round(6)
    array([2.])
    """
    A = _columns(np.vstack([block.matrix for block in blocks]))
    solution = clarabel.DefaultSolver(
        _no_form(len(cost)),
        cost,
        A,
        np.concatenate([block.side for block in blocks]),
        [_CONES[block.cone](len(block.side)) for block in blocks],
        _settings(A.nnz, presolve, most),
    ).solve()
    status = str(solution.status)
    return ConicAnswer(
        STATUS.get(status, Outcome.TROUBLE), np.asarray(solution.x), np.asarray(solution.z), status
    )


def _columns(dense: FloatArray) -> sparse.csc_matrix:
    """Return a matrix by its columns, without the detours that scipy takes for small ones."""
    across = np.ascontiguousarray(dense.T)
    column, row = np.nonzero(across)
    starts = np.searchsorted(column, np.arange(len(across) + 1))
    return sparse.csc_matrix((across[column, row], row, starts), shape=dense.shape)


@lru_cache(maxsize=64)
def _no_form(n: int) -> sparse.csc_matrix:
    """Return the quadratic part of a linear cost."""
    return sparse.csc_matrix((n, n))


def _settings(nonzeros: int, presolve: bool, most: int) -> object:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.presolve_enable = presolve
    settings.max_threads = 1
    settings.max_iter = most
    settings.time_limit = time_left()
    if nonzeros > SUPERNODAL_FROM:
        settings.direct_solve_method = "faer"
    return settings
