"""Projection onto blends of real points: a linear program in the shares, solved by HiGHS.

    min  sum_i w_i t_i   s.t.   -t <= Q'l - c <= t,   G Q'l <= h,   lower <= Q'l <= upper,
                                l >= 0,  sum_j l_j = 1,

where the rows of Q are the points that may be blended. Whether there is a solution at all is
asked first where HiGHS says no: the smallest violation tau, whose multipliers are a Farkas ray.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.gaps import GAP_CONVEX, is_closed
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, Region
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL, Block, Certificate
from pertinent.proofs.tangent import HullProofs
from pertinent.solvers.cheap import cheap_bounds
from pertinent.solvers.problem import SOLVED, Method, Projections, Solved, Task
from pertinent.solvers.programs.linear import LinearAnswer, LinearProgram

#: Coordinates closer to the center than this, relatively, are at the center.
DUST = 1e-10
#: A blend may leave the cell by this much of a row's terms before it counts as trouble.
LEFT_OVER = 1e-9

#: Gives, for a row and a piece, the points that may be blended.
Corners = Callable[[int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class BlendAnswer:
    """One linear program: the point with its shares (None if there is none), and the duals."""

    point: FloatArray | None
    shares: FloatArray | None
    multipliers: FloatArray
    pull: FloatArray
    ray: bool


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
    n = len(centers)
    everyone = np.arange(n)
    cheap = np.zeros((n, len(cells)))
    blocks: list[Block] = []
    for p, cell in enumerate(cells):
        cheap[:, p], proofs = cheap_bounds(cell, centers, weights)
        blocks.append(Block(p, everyone, proofs))
    best, points = np.full(n, np.inf), np.full(centers.shape, np.nan)
    piece, shares, solved = np.full(n, -1), {}, 0
    for i in range(n):
        for p in np.argsort(cheap[i], kind="stable"):
            if cheap[i, p] > best[i]:
                break
            own = corners(i, int(p))
            found = nearest_blend(cells[p], own, centers[i], weights, low[i], high[i])
            solved += 1
            proofs = HullProofs(
                own[None], found.multipliers[None], found.pull[None], np.array([found.ray])
            )
            blocks.append(Block(int(p), np.array([i]), proofs))
            if found.point is None or found.shares is None:
                continue
            value = float((weights * np.abs(found.point - centers[i])).sum())
            if value < best[i]:
                best[i], points[i], piece[i], shares[i] = value, found.point, p, found.shares
    certificate = Certificate(n, tuple(blocks))
    bound = certificate.bounds(Task.of(region, centers, weights, low, high))
    known = piece >= 0
    closed = is_closed(
        np.where(known, best, 0.0),
        np.where(known, bound, 0.0),
        points,
        centers,
        weights,
        GAP_CONVEX,
    )
    status = np.where(known, np.where(closed, OPTIMAL, FEASIBLE), FAILED)
    status = np.where(~known & np.isinf(bound), INFEASIBLE, status).astype(np.int8)
    method = Method("blend", "a linear program in the shares of real points", _no_solver)
    return (
        Projections(
            points=points,
            objective=np.where(known, best, np.nan),
            bound=np.where(known, np.minimum(bound, best), bound),
            status=status,
            piece=piece,
            unique=np.full(n, -1, dtype=np.int8),
            second={},
            certificate=certificate,
            methods=(method,) * len(cells),
            solved=solved,
        ),
        shares,
    )


def _no_solver(task: Task) -> Solved:
    raise NotImplementedError("Blends depend on the sample; see project_blends.")


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
    size = DUST * (1 + np.abs(point))
    held = np.where(np.abs(point - center) <= size, center, point)
    return np.clip(held, low, high)
