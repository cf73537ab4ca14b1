"""What the polyhedral solvers share: the answer, the scaled problem, and a last look at both.

All solvers of this folder that speak of *steps* solve, for many rows at once,

    min  sum_i w_i |s_i|    s.t.  -G s >= demand,   -room_down <= s <= room_up.

The dual simplex works in scaled units: with ``t_i = w_i s_i`` every feature costs 1, and each row
of ``A = -G / w`` is divided by its largest entry, so that ``A t >= r`` with ``max_i |A_ji| = 1``.
The right-hand side ``r_j`` then is the distance that row j alone demands (without bounds).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent._typing import BoolArray, CodeArray, FloatArray, IntArray

#: Codes of `Steps.status`.
OPTIMAL, INFEASIBLE, TROUBLE, CUT = 0, 1, 2, 3

#: A row of ``A t >= r`` counts as violated beyond this many times ``max(|r|, objective)``.
FEASIBILITY = 1e-12
#: Pivots smaller than this (times the largest entry of the direction) are never taken.
PIVOT = 1e-9
#: Reduced costs closer to a breakpoint than this stand on it.
GAP = 1e-13
#: Ratios that agree to this relative precision are ties; the first feature wins.
TIE = 1e-12
#: An answer whose primal, dual or gap error is larger (scaled) is not handed out.
ACCEPT = 1e-9


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps from the start points, with the multipliers that prove them.

    Parameters
    ----------
    step : ndarray of shape (n, d)
        The optimal step; NaN unless the status is ``OPTIMAL``.
    multipliers : ndarray of shape (n, m)
        Multipliers >= 0 of ``G x <= h``. They prove optimality (``OPTIMAL``), that the optimum is
        no less than the cutoff (``CUT``), or are a Farkas ray (``INFEASIBLE``); 0 for ``TROUBLE``.
    status : ndarray of int8, shape (n,)
        ``OPTIMAL``, ``INFEASIBLE``, ``TROUBLE`` (numerical trouble or too many pivots: ask
        another solver) or ``CUT``.
    pivots : ndarray of int, shape (n,)
        Simplex iterations spent.
    """

    step: FloatArray
    multipliers: FloatArray
    status: CodeArray
    pivots: IntArray

    def __getitem__(self, part: slice) -> Steps:
        """Return a view of some rows."""
        return Steps(self.step[part], self.multipliers[part], self.status[part], self.pivots[part])


def empty_steps(n: int, m: int, d: int) -> Steps:
    """Return the answer of n rows that demand nothing."""
    codes, counts = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int64)
    return Steps(np.zeros((n, d)), np.zeros((n, m)), codes, counts)


def default_limit(m: int, d: int) -> int:
    """Return the number of pivots after which a row is handed on."""
    return 100 + 10 * min(m, d)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows ``A = -G / (w sigma)`` and their transpose, followed by an all-zero row.

    The zero row (number m, ``0 >= 0``) stands wherever a basis has no row to name.
    """

    rows: FloatArray
    columns: FloatArray
    sigma: FloatArray
    weights: FloatArray
    empty: BoolArray
    order: IntArray
    rank: IntArray

    @property
    def n_rows(self) -> int:
        """Return the number m of true rows."""
        return len(self.sigma)

    def demand(self, demand: FloatArray) -> FloatArray:
        """Return the scaled right-hand sides, with a 0 for the zero row."""
        scaled = np.zeros((len(demand), self.n_rows + 1))
        np.divide(demand, self.sigma, out=scaled[:, :-1])
        return scaled


def scale_rows(G: FloatArray, weights: FloatArray) -> ScaledRows:
    """Return the rows of ``-G s >= demand`` in units of cost, each with sup-norm 1."""
    in_cost = -np.asarray(G, dtype=np.float64) / weights
    largest = np.abs(in_cost).max(axis=1, initial=0.0)
    empty = largest == 0.0
    sigma = np.where(empty, 1.0, largest)
    rows = np.vstack([in_cost / sigma[:, None], np.zeros((1, in_cost.shape[1]))])
    # From t = 0 the features meet their breakpoints in the order of |A_ji|, whatever the row's r.
    order = np.argsort(-np.abs(rows), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return ScaledRows(rows, np.ascontiguousarray(rows.T), sigma, weights, empty, order, rank)


def settle(
    scaled: ScaledRows,
    r: FloatArray,
    room_up: FloatArray,
    room_down: FloatArray,
    steps: Steps,
    cutoff: FloatArray | None,
) -> None:
    """Bring the multipliers back to the units of G, and demote answers that fail a fresh check.

    Notes
    -----
    With ``z = y A`` the dual value is ``y'r - sum_i max(|z_i| - 1, 0) room_i``, where the room is
    the one on z's side; a ray proves emptiness by ``y'r - sum_i |z_i| room_i > 0``.
    """
    rows = scaled.rows[:-1]
    y, t = steps.multipliers, steps.step * scaled.weights
    z = y @ rows
    ray = steps.status == INFEASIBLE
    excess = np.abs(z) - np.where(ray, 0.0, 1.0)[:, None]
    noise = ACCEPT * np.where(ray, y.max(axis=1, initial=0.0), 1.0)[:, None]
    room = np.where(z > 0.0, room_up, room_down) * scaled.weights
    with np.errstate(invalid="ignore"):
        paid = np.where(excess > np.where(np.isinf(room), noise, 0.0), excess * room, 0.0)
    magnitude = (y * np.abs(r)).sum(axis=1)
    bound = (y * r).sum(axis=1) - paid.sum(axis=1)
    value = np.abs(t).sum(axis=1)
    violated = r - t @ rows.T > ACCEPT * np.maximum(np.abs(r), value[:, None])
    proved = value - bound <= ACCEPT * np.maximum(value, magnitude)
    good = np.where(ray, bound > FEASIBILITY * magnitude, proved & ~violated.any(axis=1))
    if cutoff is not None:
        reached = bound >= cutoff - ACCEPT * np.maximum(np.abs(cutoff), magnitude)
        good = np.where(steps.status == CUT, reached, good)
    steps.status[~good] = TROUBLE
    steps.step[steps.status != OPTIMAL] = np.nan
    steps.multipliers[steps.status == TROUBLE] = 0.0
    steps.multipliers[:] /= scaled.sigma
