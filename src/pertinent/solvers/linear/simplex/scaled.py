"""What the polyhedral solvers share: the answer, the scaled problem, and a last look at both.

All solvers of this folder that speak of *steps* solve, for many rows at once,

    min  sum_i w_i |s_i|    s.t.  -G s >= demand,   -room_down <= s <= room_up.

The dual simplex works in scaled units: with ``t_i = w_i s_i`` every feature costs 1, and each row
of ``A = -G / w`` is divided by its largest entry, so that ``A t >= r`` with ``max_i |A_ji| = 1``.
The right-hand side ``r_j`` then is the distance that row j alone demands (without bounds).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE
from pertinent.solvers.tolerances import ACCEPT, BIAS, BIAS_OF_ALL, BREAKPOINT, FEASIBILITY

#: Working memory, roughly: rows are worked on in chunks of this many bytes.
CHUNK_BYTES = 8_000_000


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked, for n start points b of one cell.

    Parameters
    ----------
    G : ndarray of shape (m, d)
        Rows of the cell ``G x <= h``.
    weights : ndarray of shape (d,)
        Cost of one unit of each feature, > 0.
    demand : ndarray of shape (n, m)
        ``G b - h``: positive where the start point violates the row.
    up, down : ndarray of shape (n, d)
        How far each feature may rise and fall, >= 0, possibly ``inf``.
    cutoff : ndarray of shape (n,)
        A row may stop (``CUT``) once its optimum is proved to be no less than this.
    """

    G: FloatArray
    weights: FloatArray
    demand: FloatArray
    up: FloatArray
    down: FloatArray
    cutoff: FloatArray

    @classmethod
    def of(
        cls, G: FloatArray, weights: FloatArray, demand: FloatArray, up: ArrayLike = np.inf,
        down: ArrayLike = np.inf, cutoff: ArrayLike | None = None,
    ) -> Asked:  # fmt: skip
        """Return the question with rooms and cutoffs broadcast to all rows."""
        n, d = len(demand), len(weights)
        up, down = (np.broadcast_to(np.asarray(r, dtype=float), (n, d)) for r in (up, down))
        stop = np.broadcast_to(np.asarray(np.inf if cutoff is None else cutoff, dtype=float), n)
        return cls(np.asarray(G, dtype=float), weights, demand, up, down, stop)

    def __len__(self) -> int:
        return len(self.demand)

    def __getitem__(self, part: slice | IntArray) -> Asked:
        """Return what some rows ask."""
        rows = (self.demand[part], self.up[part], self.down[part], self.cutoff[part])
        return Asked(self.G, self.weights, *rows)


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps from the start points, with the multipliers that prove them.

    Parameters
    ----------
    step : ndarray of shape (n, d)
        The optimal step; NaN unless the status is ``SOLVED``.
    multipliers : ndarray of shape (n, m)
        Multipliers >= 0 of ``G x <= h``. They prove optimality (``SOLVED``), that the optimum is
        no less than the cutoff (``CUT``), or are a Farkas ray (``EMPTY``); 0 for ``TROUBLE``.
    status : ndarray of int8, shape (n,)
        ``SOLVED``, ``EMPTY``, ``TROUBLE`` (numerical trouble or too many pivots: ask
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


def chunk_rows(m: int, d: int) -> int:
    """Return how many rows to work on at a time."""
    return max(1, CHUNK_BYTES // (8 * (3 * m + 5 * d)))


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
    bias: FloatArray  # just below 1, falling: breaks ties by feature order
    order: IntArray  # features by falling |A_ji|, where `is_sorted`
    is_sorted: BoolArray

    @property
    def n_rows(self) -> int:
        """Return the number m of true rows (of each cell, in a stack)."""
        return int(self.sigma.shape[-1])

    def demand(self, demand: FloatArray, cell: IntArray | None = None) -> FloatArray:
        """Return the scaled right-hand sides, with a 0 for the zero row."""
        scaled = np.zeros((len(demand), self.n_rows + 1))
        np.divide(demand, self.sigma if cell is None else self.sigma[cell], out=scaled[:, :-1])
        return scaled

    def sort(self, rows: IntArray) -> None:
        """Fill in the order in which features meet their breakpoints as y_j leaves 0."""
        new = np.unique(rows[~self.is_sorted[rows]])
        keys = -np.abs(self.rows[new]) * self.bias
        self.order[new], self.is_sorted[new] = np.argsort(keys, axis=1, kind="stable"), True


def scale_rows(G: FloatArray, weights: FloatArray) -> ScaledRows:
    """Return the rows of ``-G s >= demand`` in units of cost, each with sup-norm 1."""
    weights = np.array(weights, dtype=np.float64)
    in_cost = np.ascontiguousarray(-np.asarray(G, dtype=np.float64) / weights)
    largest = np.abs(in_cost).max(axis=1, initial=0.0)
    empty = largest == 0.0
    sigma = np.where(empty, 1.0, largest)
    rows = np.vstack([in_cost / sigma[:, None], np.zeros((1, in_cost.shape[1]))])
    d = rows.shape[1]
    bias = 1.0 - np.arange(d) * min(BIAS, BIAS_OF_ALL / max(d, 1))
    return ScaledRows(
        rows,
        np.ascontiguousarray(rows.T),
        sigma,
        weights,
        empty,
        bias,
        np.zeros(rows.shape, dtype=np.int64),
        np.zeros(len(rows), dtype=bool),
    )


def stack_rows(cells: Sequence[ScaledRows]) -> ScaledRows:
    """Return the rows of several cells, of as many rows each, one below the other."""
    if len(cells) == 1:
        return cells[0]
    rows = np.concatenate([cell.rows for cell in cells])
    return ScaledRows(
        rows,
        np.concatenate([cell.columns for cell in cells]),
        np.stack([cell.sigma for cell in cells]),
        cells[0].weights,
        np.stack([cell.empty for cell in cells]),
        cells[0].bias,
        np.zeros(rows.shape, dtype=np.int64),
        np.zeros(len(rows), dtype=bool),
    )


def demanding_rows(scaled: ScaledRows, demand: FloatArray, steps: Steps) -> IntArray:
    """Return the rows that demand something possible, and answer those that do not.

    Where no row is violated, the step is 0; where ``0 <= h`` is violated, there is none.
    """
    violated = demand > 0.0
    impossible = violated[:, scaled.empty]
    hopeless = np.flatnonzero(impossible.any(axis=1))
    steps.status[hopeless] = EMPTY
    if len(hopeless):
        zero_row = np.flatnonzero(scaled.empty)[impossible[hopeless].argmax(axis=1)]
        steps.multipliers[hopeless, zero_row] = 1.0
    return np.flatnonzero(violated.any(axis=1) & (steps.status == SOLVED))


def demote_untrue(scaled: ScaledRows, asked: Asked, steps: Steps) -> None:
    """Demote answers that fail a fresh check, and bring multipliers back to the units of G."""
    n, d = steps.step.shape
    size = max(1, chunk_rows(scaled.n_rows, d) // 4)  # many passes: let them stay in the cache
    for first in range(0, n, size):
        part = slice(first, first + size)
        here = steps[part]
        here.status[~_trustworthy(scaled, asked[part], here)] = TROUBLE
        here.step[here.status != SOLVED] = np.nan
        here.multipliers[here.status == TROUBLE] = 0.0
        here.multipliers[:] /= scaled.sigma


def _trustworthy(scaled: ScaledRows, asked: Asked, steps: Steps) -> BoolArray:
    """Return which answers pass, computed from nothing but the scaled problem.

    Notes
    -----
    With ``z = y A`` the dual value is ``y'r - sum_i max(|z_i| - 1, 0) room_i``, where the room is
    the one on z's side; a ray proves emptiness by ``y'r - sum_i |z_i| room_i > 0``.
    """
    rows, y = scaled.rows[:-1], steps.multipliers
    r, t = asked.demand / scaled.sigma, steps.step * scaled.weights
    ray = steps.status == EMPTY
    paid = _paid_at_bounds(y @ rows, ray, asked) @ scaled.weights
    demanded = y * r
    bound = demanded.sum(axis=1) - paid
    magnitude = np.abs(demanded).sum(axis=1)
    value = np.abs(t).sum(axis=1)
    # A violation v of row j makes the value too small by as much as y_j v.
    feasible = ((1.0 + y) * (r - t @ rows.T) <= ACCEPT * value[:, None]).all(axis=1)
    proved = value - bound <= ACCEPT * value
    good: BoolArray = np.where(ray, bound > FEASIBILITY * magnitude, feasible & proved)
    return np.where(steps.status == CUT, bound >= asked.cutoff * (1.0 - ACCEPT), good)


def _paid_at_bounds(z: FloatArray, ray: BoolArray, asked: Asked) -> FloatArray:
    """Return what each feature takes from the dual value by running into its bound.

    Where there is no bound, a pull that exceeds the cost by more than rounding proves nothing
    (here: costs 1e300 times the excess).
    """
    paid = np.zeros_like(z)
    covered = np.where(ray, 0.0, 1.0)
    size = np.abs(z)
    largest = size[np.arange(len(z)), size.argmax(axis=1)]
    over = np.flatnonzero(largest > covered + BREAKPOINT)
    if len(over):
        excess = np.maximum(size[over] - covered[over, None], 0.0)
        room = np.where(z[over] > 0.0, asked.up[over], asked.down[over])
        excess[np.isinf(room) & (excess <= ACCEPT)] = 0.0
        paid[over] = excess * np.minimum(room, 1e300)
    return paid
