"""Multipliers whose combination of rows is convex: a semidefinite program in its dual form.

With ``M_k = [[c_k, g_k'/2], [g_k/2, Q_k]]`` for each row ``s'Q_k s + g_k's + c_k <= 0``, every
point of the cell costs at least

    max  v   s.t.   sum_k y_k M_k + [[-v, r'/2], [r/2, 0]]  positive semidefinite,  y >= 0,

where ``|r_i| <= 1`` stands for the cost ``|s_i|``, and bounds are rows like all others, together
with ``(s_i - up_i)(s_i + down_i) <= 0``. Without r, and with y of a fixed size, v > 0 says that
there is no point at all. Clarabel finds y; `pertinent.proofs.LagrangeProofs` writes it down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.region import Quadratic
from pertinent.proofs import LagrangeProofs, Proofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.halving import closes
from pertinent.solvers.curved.shifted import Local, Shifted, is_nowhere, least_costs, shift
from pertinent.solvers.programs.conic import Block, Cone, solve_conic
from pertinent.solvers.tolerances import COMBINED_ROUNDING, CONVEX_ROUNDING, SAFER

#: With more features than this free to move the program takes too long, for emptiness and for a
#: bound (which needs a number for each feature).
MOST_FREE, MOST_FREE_BOUND = 32, 16
#: With no more features than this free to move, boxes are halved.
MOST_HALVED = 4


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What the program found: for rows, for cuts between bounds, and for bounds and costs.

    ``tilt`` is the slope, over all features, of what bounds and the cost of moving add up to.
    """

    rows: FloatArray
    cuts: FloatArray
    tilt: FloatArray


def prove_empty(shifted: Shifted, i: int) -> LagrangeProofs | None:
    """Return a proof that one center has no point at all; None if none was found."""
    found = _first_that_holds(shifted, i, ray=True)
    return None if found is None else found[0]


def prove_nothing(shifted: Shifted, i: int) -> Proofs | None:
    """Return a proof that one center has no point: by a combination of rows, or by halving."""
    proofs: Proofs | None = prove_empty(shifted, i)
    if proofs is None and closes(shifted.task.take(np.array([i])), np.inf, MOST_HALVED):
        proofs = HalvingProofs(np.array([np.inf]))
    return proofs


def prove_bound(shifted: Shifted, i: int) -> tuple[LagrangeProofs, float] | None:
    """Return a proof of a lower bound on one center's cost, and the bound; None without one."""
    return _first_that_holds(shifted, i, ray=False)


def _first_that_holds(shifted: Shifted, i: int, ray: bool) -> tuple[LagrangeProofs, float] | None:
    one = shift(shifted.task.take(np.array([i])))
    local = one.row(0)
    free = np.flatnonzero((local.up > 0) | (local.down > 0))
    if not 0 < len(free) <= (MOST_FREE if ray else MOST_FREE_BOUND):
        return None
    found = _LagrangeProgram(local, free, ray).solve()
    if found is None:
        return None
    for safer in SAFER:
        proofs, bound = _touched(one, free, _safer(local, found, safer), ray)
        if bound > one.base[0] and (np.isinf(bound) or not ray):
            return proofs, bound
    return None


def _safer(local: Local, found: Multipliers, share: float) -> Multipliers:
    """Return the multipliers with a little more of what is convex."""
    rows, cuts = found.rows.copy(), found.cuts.copy()
    for k in range(len(local.forms)):
        if not len(local.minus[k]):
            rows[k] += share * rows.max()
    cuts[cuts > 0] += share * cuts.max(initial=0.0)
    return Multipliers(rows, cuts, found.tilt)


def _touched(
    one: Shifted, free: IntArray, found: Multipliers, ray: bool
) -> tuple[LagrangeProofs, float]:
    """Return the proof whose tangent touches where the combination is lowest, and its bound."""
    local, w = one.row(0), one.task.weights
    y, z = found.rows, found.cuts
    Q = np.tensordot(y[: len(local.forms)], local.forms, axes=1) + np.diag(z)
    g, value = y @ local.slopes, float(y @ local.values)
    boxed = z > 0
    up, down = local.up[boxed], local.down[boxed]
    g[boxed] += z[boxed] * (down - up)  # (s - up)(s + down)
    value -= float(z[boxed] @ (up * down))
    step, form = np.zeros(local.dim), Q[np.ix_(free, free)]
    if ray:
        step[free] = _lowest_within(form, g[free], -local.down[free], local.up[free])
    else:
        step[free] = _lowest(form, (g + found.tilt)[free])
    point = np.where(step == 0, one.start[0], one.start[0] + step / w)
    proofs = LagrangeProofs(point[None], y[None], (z * w * w)[None], np.array([ray]))
    if not _is_convex(local, Q, free, y, z):
        return proofs, float(one.base[0])
    # The tangent there; at the start it lies s'Qs below the combination.
    away, gradients, made_of = np.abs(step), local.slopes.copy(), np.abs(local.slopes)
    for k, row in enumerate(one.task.cell.quadratics):
        gradients[k] = row.gradient(point[None])[0] / w
        made_of[k] = _gradient_sizes(row, point) / w  # where a row is lowest, they cancel
    slopes, terms = np.zeros((2, 1, local.dim))
    slopes[0, free] = (y @ gradients)[free]
    terms[0, free] = (y @ made_of)[free]
    slopes[0, boxed] += z[boxed] * (2 * step[boxed] + down - up)
    terms[0, boxed] += z[boxed] * (2 * away[boxed] + down + up)
    size = y @ one.sizes()[0] + z[boxed] @ (up * down) + np.abs(g) @ away
    rounding = COMBINED_ROUNDING * local.dim * (size + 3 * away @ np.abs(Q) @ away)
    excess = np.array([value - step @ Q @ step - rounding])
    if ray and is_nowhere(one, slopes, excess, terms)[0]:
        return proofs, np.inf
    return proofs, float(one.base[0] + least_costs(slopes, excess, one.up, one.down)[0])


def _gradient_sizes(row: Quadratic, point: FloatArray) -> FloatArray:
    """Return the sizes of what is added up to a row's gradient."""
    away, out = np.abs(row.seen(point[None])[0]), np.abs(row.q)
    for factor in (np.abs(row.plus), np.abs(row.minus)):
        out = out + 2 * (factor @ away) @ factor
    return np.asarray(out)


def _lowest(Q: FloatArray, slope: FloatArray) -> FloatArray:
    """Return where ``s'Qs + slope's`` is lowest, whatever the units of the features.

    Scaled to a diagonal of 1, no feature bends too little to be seen beside the others.
    """
    bent = np.diagonal(Q)
    scale = np.sqrt(np.where(bent > 0, bent, 1.0))
    scaled = np.linalg.lstsq(2 * Q / np.outer(scale, scale), -slope / scale, rcond=None)[0]
    return np.asarray(scaled / scale)


def _lowest_within(
    Q: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return where ``s'Qs + slope's`` is lowest within bounds: there its tangent shows most.

    What lies beyond a bound is held there, until its slope leads back.
    """
    s, held = np.zeros(len(slope)), np.zeros(len(slope), dtype=bool)
    for _ in range(3 * len(slope)):
        rest = np.flatnonzero(~held)
        pulled = slope[rest] + 2 * Q[np.ix_(rest, np.flatnonzero(held))] @ s[held]
        s[rest] = _lowest(Q[np.ix_(rest, rest)], pulled)
        beyond, s = (s < low) | (s > high), np.clip(s, low, high)
        steep = slope + 2 * Q @ s
        back = held & np.where(s <= low, steep < 0, steep > 0)
        if not (beyond | back).any():
            break
        held = (held | beyond) & ~back
    return s


def _is_convex(local: Local, Q: FloatArray, free: IntArray, y: FloatArray, z: FloatArray) -> bool:
    """Return whether a combination of rows is safely convex in the features that may move."""
    sizes = z.copy()
    for k, (plus, minus) in enumerate(zip(local.plus, local.minus, strict=True)):
        sizes += y[k] * ((plus * plus).sum(axis=0) + (minus * minus).sum(axis=0))
    bent = free[sizes[free] > 0]
    scale = np.sqrt(sizes[bent])
    if not len(bent):
        return True
    scaled = Q[np.ix_(bent, bent)] / np.outer(scale, scale)
    finite = bool(np.isfinite(scaled).all())
    return finite and bool(np.linalg.eigvalsh(scaled)[0] > CONVEX_ROUNDING * len(bent) ** 2)


class _LagrangeProgram:
    """The semidefinite program of one center."""

    def __init__(self, local: Local, free: IntArray, ray: bool) -> None:
        self.local, self.free, self.ray = local, free, ray
        f = len(free)
        self.up, self.down = local.up[free], local.down[free]
        self.capped, self.floored = np.isfinite(self.up), np.isfinite(self.down)
        matrices = [self._row(k) for k in range(local.n_rows)]
        self.sizes = np.array([max(float(np.abs(M).max()), 1e-300) for M in matrices])
        matrices = [M / size for M, size in zip(matrices, self.sizes, strict=True)]
        # Between two bounds: (s - up)(s + down) <= 0, measured in the box's own width.
        self.boxed = np.flatnonzero(self.capped & self.floored)
        matrices += [self._cut(j) for j in self.boxed.tolist()]
        # Bounds, and at last the cost of moving: |s_i| >= r_i s_i for every |r_i| <= 1.
        lines = [(j, 1.0, -self.up[j]) for j in np.flatnonzero(self.capped).tolist()]
        lines += [(j, -1.0, -self.down[j]) for j in np.flatnonzero(self.floored).tolist()]
        self.n_signed = len(matrices) + len(lines)
        lines += [] if ray else [(j, 1.0, 0.0) for j in range(f)]
        self.lines = lines
        matrices += [self._line(*line) for line in lines]
        level = np.zeros((f + 1, f + 1))
        level[0, 0] = -1.0
        self.matrices = [*matrices, level]

    def _row(self, k: int) -> FloatArray:
        f = len(self.free)
        M = np.zeros((f + 1, f + 1))
        M[0, 0] = self.local.values[k]
        M[0, 1:] = M[1:, 0] = self.local.slopes[k, self.free] / 2
        if k < len(self.local.forms):
            M[1:, 1:] = self.local.forms[k][np.ix_(self.free, self.free)]
        return M

    def _line(self, j: int, slope: float, value: float) -> FloatArray:
        M = np.zeros((len(self.free) + 1, len(self.free) + 1))
        M[0, 0], M[0, j + 1], M[j + 1, 0] = value, slope / 2, slope / 2
        return M

    def _cut(self, j: int) -> FloatArray:
        M = self._line(j, self.down[j] - self.up[j], -self.up[j] * self.down[j])
        M[j + 1, j + 1] = 1.0
        return M

    def solve(self) -> Multipliers | None:
        n, order = len(self.matrices), len(self.free) + 1
        upper = np.tril_indices(order)  # the columns of the upper triangle, one after the other
        scale = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
        triangles = np.column_stack([-(M[upper] * scale) for M in self.matrices])
        every = np.eye(n)
        if self.ray:
            total = (np.arange(n) < self.local.n_rows).astype(float)[None]
            first = Block(Cone.ZERO, total, np.ones(1))
        else:
            tilts = every[self.n_signed : n - 1]
            first = Block(Cone.NONNEGATIVE, np.vstack([tilts, -tilts]), np.ones(2 * len(tilts)))
        signs = Block(Cone.NONNEGATIVE, -every[: self.n_signed], np.zeros(self.n_signed))
        convex = Block(Cone.SEMIDEFINITE, triangles, np.zeros(len(scale)))
        x = solve_conic(-every[-1], [first, signs, convex]).v
        if not np.isfinite(x).all() or x[-1] <= 0:
            return None
        # A little below 0, a bound's multiplier would tilt the sum towards the open side.
        x[: self.n_signed] = np.maximum(x[: self.n_signed], 0.0)
        rows = x[: self.local.n_rows] / self.sizes
        cuts = np.zeros(self.local.dim)
        at = self.local.n_rows + np.arange(len(self.boxed))
        cuts[self.free[self.boxed]] = x[at]
        tilt = np.zeros(self.local.dim)
        for (j, slope, _), multiplier in zip(self.lines, x[-1 - len(self.lines) : -1], strict=True):
            tilt[self.free[j]] += slope * multiplier
        return Multipliers(rows, cuts, tilt)
