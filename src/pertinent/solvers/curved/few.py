"""At most three features that move: all of the space is searched, so that no row is left open.

The convex-concave procedure may miss a point, or the best one, and a copositivity proof may not
close. With few features left to move, boxes of them can be halved until each is known to hold
nothing better. Where nothing is known yet, the whole space is looked at through homogeneous
coordinates: a step is ``s = z / tau`` with ``max(|z_i|, tau) = 1``, so that infinity is a face of a
cube like any other, on which every row is again a quadratic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.cone import ConeProgram
from pertinent.solvers.curved.convex_concave import convex_concave, polish
from pertinent.solvers.curved.lagrange import prove_nothing
from pertinent.solvers.curved.settle import settle
from pertinent.solvers.curved.shifted import Local, Shifted, shift
from pertinent.solvers.curved.stationary import shortened
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.stages import Part, Stage, spread

#: With more features than this free to move there are too many boxes.
MOST_FREE = 3
#: Open boxes at any time, and rounds of halving, after which the search gives up.
MOST_BOXES, MOST_ROUNDS = 4_000, 120
#: What the search and its proof leave open, relative to the best cost.
SHARE = 1 - 4e-5


def _has_few_free(task: Task) -> BoolArray:
    free = (task.upper > task.lower).sum(axis=1)
    return np.asarray((free >= 1) & (free <= MOST_FREE))


def _search_all(task: Task, so_far: Solved) -> Solved:
    """Return what a search of all space finds, one row at a time."""
    n = len(task)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    parts: list[Part] = []
    for i in range(n):
        one = np.array([i])
        known = so_far.points[i] if so_far.outcome[i] == SOLVED else None
        point, proofs = _search(shift(task.take(one)), known)
        if proofs is not None:
            parts.append((one, proofs))
            outcome[i] = EMPTY
        if point is not None:
            points[i], outcome[i] = point, SOLVED
    return Solved(points, outcome, spread(n, parts))


#: All of the space, where at most three features may move.
FEW_FREE = Stage(_search_all, _has_few_free)


def _search(shifted: Shifted, known: FloatArray | None) -> tuple[FloatArray | None, Proofs | None]:
    """Return the best point of one center and a proof, either of which may be missing."""
    task, whole = shifted.task, shifted.row(0)
    if known is None:
        nothing = prove_nothing(shifted, 0)
        if nothing is not None:
            return None, nothing
    free = np.flatnonzero((whole.up > 0) | (whole.down > 0))
    local = _restricted(whole, free)
    step = None if known is None else ((known - shifted.start[0]) * task.weights)[free]
    if step is None:
        step = find(local)
    if step is None:
        return None, None
    step = improve(local, step)
    full = np.zeros(whole.dim)
    full[free] = step
    point = settle(shifted, 0, full)
    if point is None:
        return known, None
    claim = HalvingProofs(distance(point[None], task.centers, task.weights) * SHARE)
    return point, claim


def _restricted(local: Local, free: IntArray) -> Local:
    """Return the problem of the free features; the others stay where they are."""
    return replace(
        local,
        forms=local.forms[:, free[:, None], free],
        plus=tuple(p[:, free] for p in local.plus),
        minus=tuple(m[:, free] for m in local.minus),
        slopes=local.slopes[:, free],
        up=local.up[free],
        down=local.down[free],
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows ``u'A_k u + g_k'u + c_k <= 0`` over boxes."""

    A: FloatArray
    g: FloatArray
    c: FloatArray

    def values(self, u: FloatArray) -> FloatArray:
        """Return every row at every point, shape (n, m)."""
        bent = np.einsum("ni,kij,nj->nk", u, self.A, u)
        return np.asarray(bent + u @ self.g.T + self.c)

    def least(self, u: FloatArray, half: FloatArray, slope: FloatArray) -> FloatArray:
        """Return lower bounds of ``slope_k't + t'A_k t`` for ``|t_i| <= half_i``, shape (n, m)."""
        diagonal = np.diagonal(self.A, axis1=1, axis2=2)
        pairs = np.abs(self.A).copy()
        pairs[:, np.arange(u.shape[1]), np.arange(u.shape[1])] = 0.0
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            vertex = np.where(diagonal > 0, np.abs(slope) / (2 * diagonal), np.inf)
        t = np.minimum(vertex, half[:, None])
        alone = (diagonal * t * t - np.abs(slope) * t).sum(axis=2)
        return np.asarray(alone - np.einsum("ni,kij,nj->nk", half, pairs, half))

    def slopes(self, u: FloatArray) -> FloatArray:
        """Return the gradient of every row at every point, shape (n, m, d)."""
        return np.asarray(self.g + 2 * np.einsum("kij,nj->nki", self.A, u))


def _rows_of(local: Local) -> _Rows:
    m, d = local.slopes.shape
    A = np.zeros((m, d, d))
    A[: len(local.forms)] = local.forms
    return _Rows(A, local.slopes, local.values)


def find(local: Local) -> FloatArray | None:
    """Return a step that satisfies every row and bound, from anywhere in space; None if none."""
    for rows, low, high, back in _faces(local):
        lows, highs = low[None], high[None]
        for _ in range(MOST_ROUNDS):
            middle, half = (lows + highs) / 2, (highs - lows) / 2
            values = rows.values(middle)
            for u in middle[(values <= 0).all(axis=1)]:
                step = back(u)
                if step is not None and local.within(step, 0.0):
                    return step
            lower = values + rows.least(middle, half, rows.slopes(middle))
            open_ = (lower <= 0).all(axis=1)
            lows, highs = _halves(lows[open_], highs[open_])
            if not len(lows) or len(lows) > MOST_BOXES:
                break
    return None


def _faces(local: Local) -> Iterator[tuple[_Rows, FloatArray, FloatArray, _Back]]:
    """Yield each face of the cube of homogeneous coordinates, with its rows: the near one first."""
    d, rows, scale = local.dim, _rows_of(local), _scale(local)
    # (z, tau) M (z, tau) with s = scale z / tau; bounds that exist are rows like all others.
    bounds = [(i, 1.0, local.up[i]) for i in range(d)] + [
        (i, -1.0, local.down[i]) for i in range(d)
    ]
    bounds = [bound for bound in bounds if np.isfinite(bound[2])]
    M = np.zeros((local.n_rows + len(bounds), d + 1, d + 1))
    M[: local.n_rows, :d, :d] = rows.A * scale**2
    M[: local.n_rows, :d, d] = M[: local.n_rows, d, :d] = rows.g * scale / 2
    M[: local.n_rows, d, d] = rows.c
    for k, (i, sign, end) in enumerate(bounds, local.n_rows):
        M[k, i, d] = M[k, d, i] = sign * scale / 2
        M[k, d, d] = -end
    M /= np.maximum(np.abs(M).max(axis=(1, 2), keepdims=True), 1e-300)
    for fixed in (d, *range(d)):
        for sign in (1.0,) if fixed == d else (1.0, -1.0):
            rest = np.delete(np.arange(d + 1), fixed)
            face = _Rows(
                M[:, rest[:, None], rest], 2 * sign * M[:, rest, fixed], M[:, fixed, fixed]
            )
            low = np.where(rest == d, 0.0, -1.0)
            yield face, low, np.ones(d), _Back(fixed, sign, scale, d)


@dataclass(frozen=True)
class _Back:
    """From a point of a face to the step it stands for; None at infinity."""

    fixed: int
    sign: float
    scale: float
    dim: int

    def __call__(self, u: FloatArray) -> FloatArray | None:
        z = np.insert(u, self.fixed, self.sign)
        if z[self.dim] <= 0:
            return None
        step: FloatArray = self.scale * z[: self.dim] / z[self.dim]
        return step


def _scale(local: Local) -> float:
    """Return a step of the size at which rows change."""
    slope = np.abs(local.slopes).max(axis=1)
    bend = np.zeros(local.n_rows)
    bend[: len(local.forms)] = np.abs(local.forms).max(axis=(1, 2), initial=0.0)
    size = np.abs(local.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.fmax(size / slope, np.sqrt(size / bend))
    reach = reach[np.isfinite(reach) & (reach > 0)]
    return float(np.median(reach)) if len(reach) else 1.0


def improve(local: Local, step: FloatArray) -> FloatArray:
    """Return the best step, from one that satisfies every row, by halving the L1 ball's boxes."""
    rows, best = _rows_of(local), _polished(local, step)
    cost = np.abs(best).sum()
    low = np.maximum(-local.down, -cost)[None]
    high = np.minimum(local.up, cost)[None]
    for _ in range(MOST_ROUNDS):
        middle, half = (low + high) / 2, (high - low) / 2
        values = rows.values(middle)
        price = np.abs(middle).sum(axis=1)
        better = np.flatnonzero((values <= 0).all(axis=1) & (price < cost * (1 - 1e-9)))
        if len(better):
            best = _polished(local, middle[better[price[better].argmin()]])
            cost = np.abs(best).sum()
        open_ = _may_undercut(rows, middle, half, values, cost * SHARE)
        low, high = _halves(low[open_], high[open_], at_zero=True)
        if not len(low) or len(low) > MOST_BOXES:
            break
    return best


def _may_undercut(
    rows: _Rows, middle: FloatArray, half: FloatArray, values: FloatArray, target: float
) -> BoolArray:
    """Return the boxes that may hold a step of less than the target which satisfies every row."""
    nearest = np.maximum(np.abs(middle) - half, 0.0).sum(axis=1)
    slopes = rows.slopes(middle)
    open_ = (nearest < target) & (values + rows.least(middle, half, slopes) <= 0).all(axis=1)
    # The Lagrangian of one row, flattest in the middle of the box: cost + y row >= target.
    side = np.where(np.abs(middle) >= half, np.sign(middle), 0.0)
    paid = (side * middle).sum(axis=1)
    for k in range(values.shape[1]):
        slope = slopes[:, k]
        steep = (slope * slope).sum(axis=1)
        y = np.maximum(-(side * slope).sum(axis=1), 0.0) / np.where(steep > 0, steep, 1.0)
        one = _Rows(rows.A[k : k + 1], rows.g[k : k + 1], rows.c[k : k + 1])
        y = np.where(y > 0, y, 1e-300)
        rest = one.least(middle, half, (side / y[:, None] + slope)[:, None])[:, 0]
        open_ &= paid + y * (values[:, k] + rest) < target
    return np.asarray(open_)


def _polished(local: Local, step: FloatArray) -> FloatArray:
    """Return the best of a step that satisfies every row, shortened, and made stationary."""
    best = shortened(local, step)
    found = [polish(local, best), convex_concave(ConeProgram(local), best)]
    for one in found:
        if one is not None and one.cost < np.abs(best).sum():
            best = one.step
    return best


def _halves(
    low: FloatArray, high: FloatArray, at_zero: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return both halves of each box, cut across its longest side (at 0 first, if asked)."""
    if not len(low):
        return low, high
    here, width = np.arange(len(low)), high - low
    across = (low < 0) & (high > 0) & at_zero
    j = np.where(across, 1e6 * width, width).argmax(axis=1)
    cut = np.where(across[here, j], 0.0, (low[here, j] + high[here, j]) / 2)
    below, above = high.copy(), low.copy()
    below[here, j], above[here, j] = cut, cut
    return np.concatenate([low, above]), np.concatenate([below, high])
