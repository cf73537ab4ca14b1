"""Projection onto blends of real points: a linear program in the shares, solved by HiGHS.

    min  sum_i w_i t_i   s.t.   -t <= Q'l - c <= t,   G Q'l <= h,   lower <= Q'l <= upper,
                                l >= 0,  sum_j l_j = 1,

where the rows of Q are the points that may be blended. Whether there is a solution at all is
asked first where HiGHS says no: the smallest violation tau, whose multipliers are a Farkas ray.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, Region
from pertinent.proofs.tangent import HullProofs
from pertinent.setting.options import Options
from pertinent.solvers.best_piece import PieceSearch
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Method, Projections, Solved, Task
from pertinent.solvers.programs.linear import LinearAnswer, LinearProgram
from pertinent.solvers.tolerances import AT_CENTER, LEFT_OVER

#: Gives, for a row and a piece, the points that may be blended: as many for each row of a piece.
Corners = Callable[[int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class BlendAnswer:
    """One linear program: the point with its shares (None if there is none), and the duals."""

    point: FloatArray | None
    shares: FloatArray | None
    multipliers: FloatArray
    pull: FloatArray
    ray: bool

    @property
    def outcome(self) -> int:
        """See `Outcome`: only a ray says that there is no blend."""
        if self.point is not None:
            return SOLVED
        return EMPTY if self.ray else TROUBLE


@dataclass(eq=False)
class BlendTask(Task):
    """A task whose rows know their place, so that each is given the points of its own sample."""

    row: IntArray = field(kw_only=True)


@dataclass(eq=False)
class BlendSolved(Solved):
    """Answers with the shares of each row's blend; None where there is none."""

    shares: tuple[FloatArray | None, ...] = field(kw_only=True)


def project_blends(
    centers: FloatArray,
    region: Region,
    corners: Corners,
    weights: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[Projections, dict[int, FloatArray]]:
    """Return the nearest blends within a region, and the shares of each row's blend.

    Parameters
    ----------
    centers : ndarray of shape (n, n_features)
    region : Region
        Linear cells only.
    corners : callable of (row, piece)
    weights : ndarray of shape (n_features,)
    low, high : ndarray of shape (n, n_features)
    """
    cells = require_cells(region, "A blend of training points")
    if not all(cell.is_linear for cell in cells):
        raise UnsupportedModelError(
            "Blends of training points are solved for models with linear regions, and this model "
            "has curved ones. Use Plausibility(method='mixture')."
        )
    why = "a linear program in the shares of real points"
    methods = tuple(
        Method("blend", why, partial(_solve, corners, piece)) for piece in range(len(cells))
    )
    every, rows = np.full(len(centers), np.inf), np.arange(len(centers))
    options = Options(unique=False)
    task = BlendTask(region, centers, weights, low, high, every, options, row=rows)
    search = PieceSearch.begin(task, methods=methods)
    search.run()
    shares = {}
    for piece, mine, _, answer in search.answers:
        for k in np.flatnonzero(search.piece[mine] == piece).tolist():
            shares[int(mine[k])] = cast(BlendSolved, answer).shares[k]
    return search.finish(region), {i: own for i, own in shares.items() if own is not None}


def _solve(corners: Corners, piece: int, task: Task) -> BlendSolved:
    """Return the nearest blends within one piece, row by row."""
    own = [corners(row, piece) for row in cast(BlendTask, task).row.tolist()]
    low, high = task.lower, task.upper
    found = [
        nearest_blend(task.cell, some, task.centers[i], task.weights, low[i], high[i])
        for i, some in enumerate(own)
    ]
    nowhere = np.full(task.cell.dim, np.nan)
    return BlendSolved(
        np.array([nowhere if one.point is None else one.point for one in found]),
        np.array([one.outcome for one in found], dtype=np.int8),
        HullProofs(
            np.stack(own),
            np.array([one.multipliers for one in found]),
            np.array([one.pull for one in found]),
            np.array([one.ray for one in found]),
        ),
        shares=tuple(one.shares for one in found),
    )


def nearest_blend(
    cell: Cell,
    corners: FloatArray,
    center: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> BlendAnswer:
    """Return the blend of the corners nearest to a center, within a cell and bounds."""
    low, high = np.maximum(lower, cell.lower), np.minimum(upper, cell.upper)
    rows = _Rows.of(cell, low, high)
    k, d = corners.shape
    A = corners.T  # x = A l
    ones = np.eye(d)
    lines = rows.matrix @ A
    answer = _cheapest(
        np.concatenate([np.zeros(k), weights]),
        np.block([[A, -ones], [-A, -ones], [lines, np.zeros((len(lines), d))]]),
        np.concatenate([center, -center, rows.side]),
        k,
    )
    if answer.outcome != SOLVED:
        return _least_violation(cell, rows, corners)
    duals = -answer.prices[:-1]
    gain = duals[:d] - duals[d : 2 * d]
    push = gain + rows.matrix.T @ duals[2 * d :]
    shares = np.maximum(answer.v[:k], 0.0)
    shares /= shares.sum()
    point = _without_dust(shares @ corners, center, low, high)
    inside = cell.violation(point[None])[0] <= LEFT_OVER * (1 + np.abs(cell.h).max(initial=0.0))
    return BlendAnswer(
        point if inside else None, shares, duals[2 * d :][: len(cell.h)], -push, ray=False
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of the cell, then finite upper bounds, then finite lower ones: ``matrix x <= side``."""

    matrix: FloatArray
    side: FloatArray

    @classmethod
    def of(cls, cell: Cell, low: FloatArray, high: FloatArray) -> _Rows:
        ones = np.eye(cell.dim)
        up, down = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
        return cls(
            np.vstack([cell.G, ones[up], -ones[down]]),
            np.concatenate([cell.h, high[up], -low[down]]),
        )


def _cheapest(cost: FloatArray, rows: FloatArray, side: FloatArray, k: int) -> LinearAnswer:
    """Return the optimum of ``min cost'v, rows v <= side, v >= 0``, the first k of v shares."""
    shares = (np.arange(len(cost)) < k).astype(float)  # they sum to 1
    return LinearProgram(
        cost,
        np.vstack([rows, shares]),
        row_lower=np.append(np.full(len(side), -np.inf), 1.0),
        row_upper=np.append(side, 1.0),
        options={"solver": "simplex"},
    ).solve()


def _least_violation(cell: Cell, rows: _Rows, corners: FloatArray) -> BlendAnswer:
    """Return multipliers that prove that no blend obeys all rows: min tau, rows - side <= tau."""
    k, m = len(corners), len(rows.side)
    size = np.maximum(np.abs(rows.matrix).max(axis=1, initial=0.0), 1e-300)
    nothing = BlendAnswer(None, None, np.zeros(len(cell.h)), np.zeros(cell.dim), ray=False)
    if not m:
        return nothing
    violations = np.c_[rows.matrix / size[:, None] @ corners.T, -np.ones(m)]
    answer = _cheapest(np.eye(k + 1)[k], violations, rows.side / size, k)
    if answer.outcome != SOLVED or answer.v[k] <= 0:
        return nothing
    duals = -answer.prices[:-1] / size
    # For every blend: duals'(rows x - side) >= tau > 0.
    return BlendAnswer(None, None, duals[: len(cell.h)], -(rows.matrix.T @ duals), ray=True)


def _without_dust(
    point: FloatArray, center: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the point without dust: exactly at the center or at a bound where it is close."""
    size = AT_CENTER * (1 + np.abs(point))
    held = np.where(np.abs(point - center) <= size, center, point)
    return np.clip(held, low, high)
