"""Boxes of few features, halved until each holds nothing better.

In a box with the middle m and half widths r, a row ``f(m) + g't + t'At`` with ``t = x - m`` is at
least ``f(m)``, plus the least of ``g_i t_i + A_ii t_i^2`` of each feature alone, less
``|A_ij| r_i r_j`` of each pair. A box is closed if a row is positive in all of it, or if the cost,
or the Lagrangian of one row, is too high in all of it. Where nothing is known yet, all of space
is looked at through homogeneous coordinates: a step is ``s = z / tau``, ``max(|z_i|, tau) = 1``, so
that infinity is a face of a cube like any other, on which every row is again a quadratic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows
from pertinent.geometry.arrays import Limits as Ends
from pertinent.solvers.curved.cone import ConeProgram
from pertinent.solvers.curved.convex_concave import convex_concave, polish
from pertinent.solvers.curved.shifted import Local, shift
from pertinent.solvers.curved.stationary import shortened
from pertinent.solvers.problem import Task
from pertinent.solvers.search.engine import Limits, Problem, search
from pertinent.solvers.tolerances import BETTER, ELLIPSOID, MIDDLE_ROUNDING, PROVED, ROOM

#: Open boxes at any time, and rounds of halving, after which a search gives up: for a point, ...
LIMITS = Limits(waiting=4_000, rounds=120)
#: ... and for a proof, which the check repeats within the same limits.
PROOF_LIMITS = Limits(waiting=8_000, rounds=160)
#: With more features than this free to move, the check halves nothing.
MOST_FREE = 6


@dataclass(frozen=True, eq=False)
class Halves(Rows):
    """Boxes of steps, ``low <= s <= high``, both of shape (n, d)."""

    low: FloatArray
    high: FloatArray

    @property
    def middle(self) -> FloatArray:
        """The middle of each box."""
        return np.asarray((self.low + self.high) / 2)

    @property
    def half(self) -> FloatArray:
        """The half widths of each box."""
        return np.asarray((self.high - self.low) / 2)

    def halved(self, at_zero: bool) -> Halves:
        """Return both halves of each box, cut across its longest side (at 0 first, if asked)."""
        low, high = self.low, self.high
        if not len(low):
            return self
        here, width = np.arange(len(low)), high - low
        across = (low < 0) & (high > 0) & at_zero
        j = np.where(across, 1e6 * width, width).argmax(axis=1)
        cut = np.where(across[here, j], 0.0, (low[here, j] + high[here, j]) / 2)
        below, above = high.copy(), low.copy()
        below[here, j], above[here, j] = cut, cut
        return Halves(np.concatenate([low, above]), np.concatenate([below, high]))


@dataclass(frozen=True, eq=False)
class _RowsOver:
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

    def sizes(self, u: FloatArray) -> FloatArray:
        """Return the size of the terms that depend on ``u``, of every row at every point."""
        bent = np.abs(np.einsum("ni,kij->nkj", u, self.A) * u[:, None]).sum(axis=2)
        return np.asarray(bent + np.abs(u) @ np.abs(self.g).T)

    def slopes(self, u: FloatArray) -> FloatArray:
        """Return the gradient of every row at every point, shape (n, m, d)."""
        return np.asarray(self.g + 2 * np.einsum("kij,nj->nki", self.A, u))


def _rows_of(local: Local) -> _RowsOver:
    m, d = local.slopes.shape
    A = np.zeros((m, d, d))
    A[: len(local.forms)] = local.forms
    return _RowsOver(A, local.slopes, local.values)


def find(local: Local) -> FloatArray | None:
    """Return a step that satisfies every row and bound, from anywhere in space; None if none."""
    for rows, low, high, back in _faces(local):
        face = _Face(local, rows, back)
        search(face, Halves(low[None], high[None]), LIMITS)
        if face.step is not None:
            return face.step
    return None


def improve(local: Local, step: FloatArray) -> tuple[FloatArray, bool]:
    """Return the best step, from one that satisfies every row, by halving the L1 ball's boxes.

    Also whether every box was seen to hold nothing better.
    """
    better = _Better(local, step)
    finished = search(better, _ball(local, better.cost), LIMITS)
    return better.best, finished


def closes(task: Task, claim: float, most: int = MOST_FREE) -> bool:
    """Return whether halving shows that no point of a task of one row costs less than a claim.

    It is tried if at most ``most`` features are free to move.
    """
    free = np.flatnonzero(task.upper[0] > task.lower[0])
    if (task.lower > task.upper).any():
        return True
    if len(free) > most:
        return False
    shifted = shift(task)
    sizes, local = shifted.sizes()[0], restricted(shifted.row(0), free)
    if not len(free):
        return bool((local.values > MIDDLE_ROUNDING * sizes).any())
    target = claim - float(shifted.base[0])
    boxes = _ball(local, target)
    if not np.isfinite(boxes.half).all():
        down, up = _extent(local)
        boxes = Halves(np.maximum(boxes.low, -down), np.minimum(boxes.high, up))
    if not np.isfinite(boxes.half).all():
        return False
    return search(_Ball(local, target, sizes), boxes, PROOF_LIMITS)


def _ball(local: Local, radius: float) -> Halves:
    """Return the box around the L1 ball of a radius, within the bounds."""
    return Halves(np.maximum(-local.down, -radius)[None], np.minimum(local.up, radius)[None])


def _extent(local: Local) -> Ends:
    """Return how far down and up steps can be by the rows; ``inf`` where no row tells.

    A row ``s'As + g's + c <= 0`` with A positive definite is an ellipsoid around
    ``m = -A^-1 g / 2``: ``|s_i - m_i| <= sqrt(room * A^-1_ii)`` with ``room = m'Am - c``.
    """
    down, up = np.full(local.dim, np.inf), np.full(local.dim, np.inf)
    for k, (g, c) in enumerate(zip(local.slopes, local.values, strict=True)):
        A = local.forms[k] if k < len(local.forms) else np.zeros((local.dim, local.dim))
        if np.linalg.eigvalsh(A)[0] > ELLIPSOID * np.abs(A).max():
            inverse = np.linalg.inv(A)
            m = -inverse @ g / 2
            reach = np.sqrt((abs(m @ A @ m) + abs(c)) * np.diag(inverse)) + ROOM * np.abs(m)
            down, up = np.minimum(down, reach - m), np.minimum(up, reach + m)
        elif local.dim == 1 and A[0, 0] == 0 and g[0] != 0:
            end = abs(c / g[0]) * (1 + ROOM)  # g s + c <= 0
            (up if g[0] > 0 else down)[0] = min(end, (up if g[0] > 0 else down)[0])
    return down, up


class _Face(Problem[Halves]):
    """The search of one face of the cube of homogeneous coordinates for any step at all."""

    def __init__(self, local: Local, rows: _RowsOver, back: _Back) -> None:
        self.local, self.rows, self.back = local, rows, back
        self.step: FloatArray | None = None

    def advance(self, chosen: Halves) -> Halves | None:
        """Try the middles of boxes, and return the halves of those that rows leave open."""
        middle = chosen.middle
        values = self.rows.values(middle)
        for u in middle[(values <= 0).all(axis=1)]:
            step = self.back(u)
            if step is not None and self.local.within(step, 0.0):
                self.step = step
                return None
        lower = values + self.rows.least(middle, chosen.half, self.rows.slopes(middle))
        return chosen.take(np.asarray((lower <= 0).all(axis=1))).halved(at_zero=False)


class _Ball(Problem[Halves]):
    """The search of the L1 ball for a proof that no step costs less than a target.

    Parameters
    ----------
    local : Local
    target : float
    sizes : ndarray of shape (m,)
        Of the terms of the rows at the start: rounding is relative to them.
    """

    def __init__(self, local: Local, target: float, sizes: FloatArray) -> None:
        self.rows, self.target, self.sizes = _rows_of(local), target, sizes

    def advance(self, chosen: Halves) -> Halves:
        """Return the halves of the boxes that may hold a step of less than the target."""
        middle = chosen.middle
        values = self.rows.values(middle) - MIDDLE_ROUNDING * (self.sizes + self.rows.sizes(middle))
        open_ = _may_undercut(self.rows, middle, chosen.half, values, self.target)
        return chosen.take(open_).halved(at_zero=True)


class _Better(Problem[Halves]):
    """The search of the L1 ball for steps better than one that satisfies every row."""

    def __init__(self, local: Local, step: FloatArray) -> None:
        self.local, self.rows = local, _rows_of(local)
        self._take(step)

    def _take(self, step: FloatArray) -> None:
        self.best = _polished(self.local, step)
        self.cost = float(np.abs(self.best).sum())

    def advance(self, chosen: Halves) -> Halves:
        """Try the middles of boxes, and return the halves of those that may hold a better step."""
        middle = chosen.middle
        values, price = self.rows.values(middle), np.abs(middle).sum(axis=1)
        better = np.flatnonzero((values <= 0).all(axis=1) & (price < self.cost * (1 - BETTER)))
        if len(better):
            self._take(middle[better[price[better].argmin()]])
        open_ = _may_undercut(self.rows, middle, chosen.half, values, self.cost * PROVED)
        return chosen.take(open_).halved(at_zero=True)


def _faces(local: Local) -> Iterator[tuple[_RowsOver, FloatArray, FloatArray, _Back]]:
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
            face = _RowsOver(
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


def _may_undercut(
    rows: _RowsOver, middle: FloatArray, half: FloatArray, values: FloatArray, target: float
) -> BoolArray:
    """Return the boxes that may hold a step of less than the target which satisfies every row."""
    nearest = np.maximum(np.abs(middle) - half, 0.0).sum(axis=1)
    slopes = rows.slopes(middle)
    open_ = (nearest < target) & (values + rows.least(middle, half, slopes) <= 0).all(axis=1)
    # The Lagrangian of one row, flattest in the middle of the box: cost + y row >= target.
    side = np.where(np.abs(middle) >= half, np.sign(middle), 0.0)
    paid = (side * middle).sum(axis=1)
    for k in range(values.shape[1] if np.isfinite(target) else 0):
        slope = slopes[:, k]
        steep = (slope * slope).sum(axis=1)
        y = np.maximum(-(side * slope).sum(axis=1), 0.0) / np.where(steep > 0, steep, 1.0)
        one = _RowsOver(rows.A[k : k + 1], rows.g[k : k + 1], rows.c[k : k + 1])
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


def restricted(local: Local, free: IntArray) -> Local:
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
