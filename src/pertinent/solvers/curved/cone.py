"""Convex subproblems by Clarabel, called directly.

    min  |s|_1   s.t.   |P_k s|^2 + h_k's + c_k <= 0,   -down <= s <= up

The L1 norm becomes its epigraph ``-t <= s <= t``. A quadratic row is split into a linear row and
a second-order cone, which rows with the same factor (all K - 1 rows of a class) share:

    v + h_k's + c_k <= 0,        |P s|^2 <= v   <=>   |(1 - v, 2 P s)| <= 1 + v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.solvers.curved.shifted import Local
from pertinent.solvers.problem import SOLVED, Outcome
from pertinent.solvers.programs.conic import Block, Cone, solve_conic
from pertinent.solvers.tolerances import WANTED

#: Sizes are squared, and must stay numbers then.
LARGEST = 1e150
#: Iterations after which a program counts as trouble.
ITERATIONS = 100
#: Problems with no more features than this are always solved whole.
ALWAYS_WHOLE = 8
#: Features whose reduced cost is at least this share of their cost are kept for the next solve.
KEPT_FROM = 0.6


@dataclass(frozen=True, eq=False)
class ConeAnswer:
    """What came back: the step, multipliers of the rows, and tangents of the cones.

    ``tangents[k]`` is the vector p for which ``|P_k s|^2 >= 2 p'P_k s - |p|^2`` is the cut that
    the dual solution uses; if ``outcome`` is EMPTY, multipliers and tangents prove that.
    """

    outcome: Outcome
    step: FloatArray
    multipliers: FloatArray
    tangents: tuple[FloatArray, ...]
    slack: float
    status: str


class ConeProgram:
    """The cone program of one `Local` problem; concave parts are linearised at each solve.

    Optima are sparse, so after the first solve only the features that moved, or nearly did, are
    kept; reduced costs tell when others must come back.
    """

    def __init__(self, local: Local) -> None:
        self.local = local
        self.all = np.flatnonzero((local.up > 0) | (local.down > 0))
        self.groups, self.group_of = _groups(local)
        self.kept: IntArray | None = None

    def solve(self, anchor: FloatArray | None = None, penalty: float | None = None) -> ConeAnswer:
        """Return the optimum with the concave parts linearised at ``anchor``.

        Parameters
        ----------
        anchor : ndarray of shape (d,), optional
            Needed if any row has a concave part.
        penalty : float, optional
            Allow rows to be violated at this cost (per unit of the row's slope).
        """
        slopes, values = self._linearised(anchor)
        kept = self.all if self.kept is None else self.kept
        while True:
            answer = _Restricted(self, kept, slopes, values).solve(penalty)
            if len(kept) == len(self.all):
                break
            left_out = np.ones(self.local.dim, dtype=bool)
            left_out[kept] = False
            missing = self.all[left_out[self.all]]
            if answer.outcome == SOLVED:
                reduced = np.abs(self._pull(answer, slopes))
                missing = missing[reduced[missing] > 1 + WANTED]
            if not len(missing):
                break
            kept = np.union1d(kept, missing)
        if answer.outcome == SOLVED and len(self.all) > ALWAYS_WHOLE:
            reduced = np.abs(self._pull(answer, slopes))
            near = reduced > KEPT_FROM
            self.kept = self.all[near[self.all]]
        return answer

    def _pull(self, answer: ConeAnswer, slopes: FloatArray) -> FloatArray:
        """Return the slope of all rows together, by their multipliers: at most 1 where s is 0."""
        y = answer.multipliers
        pull = y @ slopes
        for k, P in enumerate(self.local.plus):
            if y[k] > 0 and len(P):
                pull = pull + 2 * y[k] * (P @ answer.step) @ P
        return np.asarray(pull)

    def _linearised(self, anchor: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return slopes and values of the rows with -|N s|^2 <= -2 (N a)'N s + |N a|^2."""
        slopes, values = self.local.slopes.copy(), self.local.values.copy()
        if anchor is not None:
            for k, N in enumerate(self.local.minus):
                image = N @ anchor
                slopes[k] -= 2 * image @ N
                values[k] += image @ image
        return slopes, values


class _Restricted:
    """One cone program over some of the features; the others stay at 0."""

    def __init__(
        self, program: ConeProgram, free: IntArray, slopes: FloatArray, values: FloatArray
    ) -> None:
        self.local, self.group_of, self.free = program.local, program.group_of, free
        # The program is in s / unit, so that its numbers are neither huge nor tiny.
        self.unit = _unit(slopes[:, free], values)
        self.slopes, self.values = slopes[:, free] * self.unit, values
        # |P s| = |R s| with the triangular factor of P: no more rows than columns.
        self.groups = [_compressed(P[:, free] * self.unit) for P in program.groups]
        # Each cone is scaled to entries of size 1: |P s|^2 = size^2 |(P / size) s|^2.
        largest = (float(np.abs(P).max(initial=0.0)) for P, _ in self.groups)
        self.sizes = [min(max(size, 1e-300), LARGEST) for size in largest]

    def solve(self, penalty: float | None) -> ConeAnswer:
        slopes, values = self.slopes, self.values
        size = self._row_sizes(slopes)
        blocks, first_row = self._constraints(slopes, values, size, penalty is not None)
        f, n_cones, m = len(self.free), len(self.groups), len(values)
        cost = np.zeros(blocks[0].matrix.shape[1])
        cost[f : 2 * f] = 1.0
        if penalty is not None:
            cost[2 * f + n_cones :] = penalty
        answer = solve_conic(cost, blocks, presolve=False, most=ITERATIONS)
        x, z = answer.v, answer.dual
        step = np.zeros(self.local.dim)
        step[self.free] = x[:f] * self.unit
        # Costs are counted in units, so multipliers of the rows are too.
        y = np.maximum(z[first_row : first_row + m], 0.0) / size * self.unit
        slack = float(x[2 * f + n_cones :].max(initial=0.0)) if penalty is not None else 0.0
        return ConeAnswer(answer.outcome, step, y, self._tangents(z), slack, answer.status)

    def _row_sizes(self, slopes: FloatArray) -> FloatArray:
        size = np.abs(slopes).max(axis=1, initial=0.0)
        for k, group in enumerate(self.group_of):
            if group >= 0:
                size[k] = max(size[k], self.sizes[group] ** 2)
        return np.where(size > 0, size, 1.0)

    def _constraints(
        self, slopes: FloatArray, values: FloatArray, size: FloatArray, slack: bool
    ) -> tuple[list[Block], int]:
        """Return all rows by their cones, and where those of the cell begin."""
        f, n_cones, m = len(self.free), len(self.groups), len(values)
        n = 2 * f + n_cones + (m if slack else 0)
        up, down = self.local.up[self.free] / self.unit, self.local.down[self.free] / self.unit
        capped, floored = np.flatnonzero(np.isfinite(up)), np.flatnonzero(np.isfinite(down))
        first = 2 * f + len(capped) + len(floored)
        head = np.zeros((first + m + (m if slack else 0), n))
        b = np.zeros(len(head))
        i = np.arange(f)
        head[i, i], head[i, f + i] = 1.0, -1.0  # s <= t
        head[f + i, i], head[f + i, f + i] = -1.0, -1.0  # -s <= t
        _bound_rows(head, b, 2 * f, capped, 1.0, up)  # s <= up
        _bound_rows(head, b, 2 * f + len(capped), floored, -1.0, down)  # -s <= down
        rows = first + np.arange(m)
        head[rows, :f] = slopes / size[:, None]
        b[rows] = -values / size
        for k, group in enumerate(self.group_of):
            if group >= 0:
                head[first + k, 2 * f + group] = self.sizes[group] ** 2 / size[k]
        if slack:
            head[rows, 2 * f + n_cones + np.arange(m)] = -1.0
            head[rows + m, 2 * f + n_cones + np.arange(m)] = -1.0  # slack >= 0
        blocks = [Block(Cone.NONNEGATIVE, head, b)]
        for group, (P, _) in enumerate(self.groups):
            block = np.zeros((len(P) + 2, n))
            block[0, 2 * f + group], block[1, 2 * f + group] = -1.0, 1.0  # 1 + v, 1 - v
            block[2:, :f] = -2.0 / self.sizes[group] * P
            side = np.concatenate([[1.0, 1.0], np.zeros(len(P))])
            blocks.append(Block(Cone.SECOND_ORDER, block, side))
        return blocks, first

    def _tangents(self, z: FloatArray) -> tuple[FloatArray, ...]:
        """Return p for each quadratic row, from the dual vectors of the cones.

        With dual (z0, z1, z2) of the cone vector (1 + v, 1 - v, 2 P s) the Lagrangian holds
        ``(z0 - z1) |P s|^2 - ...  >=  (z0 - z1) (2 p'P s - |p|^2)`` for ``p = -z2 / (z0 - z1)``.
        """
        at = len(z) - sum(len(P) + 2 for P, _ in self.groups)
        found = []
        for (P, back), size in zip(self.groups, self.sizes, strict=True):
            total = z[at] - z[at + 1]
            p = -size * z[at + 2 : at + 2 + len(P)] / total if total > 0 else np.zeros(len(P))
            found.append(p if back is None else back @ p)
            at += len(P) + 2
        return tuple(
            found[group] if group >= 0 else np.zeros(len(self.local.plus[k]))
            for k, group in enumerate(self.group_of[: len(self.local.plus)])
        )


def _unit(slopes: FloatArray, values: FloatArray) -> float:
    """Return how far the start is, at least, from satisfying every row, by their slopes."""
    steep = np.abs(slopes).max(axis=1, initial=0.0)
    asks = (values > 0) & (steep > 0)
    far = float((values[asks] / steep[asks]).max(initial=0.0))
    return far if np.isfinite(far) and far > 0 else 1.0


def _compressed(P: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return R with ``|R s| = |P s|`` and the Q of ``P = Q R``; P itself if it is small."""
    if len(P) <= P.shape[1]:
        return P, None
    Q, R = np.linalg.qr(P)
    return R, Q


def _groups(local: Local) -> tuple[list[FloatArray], IntArray]:
    """Return the distinct convex factors, and which one each row uses (-1: none)."""
    groups: list[FloatArray] = []
    group_of = np.full(local.n_rows, -1)
    for k, P in enumerate(local.plus):
        if not len(P):
            continue
        same = [g for g, Q in enumerate(groups) if Q is P or np.array_equal(Q, P)]
        if not same:
            groups.append(P)
        group_of[k] = same[0] if same else len(groups) - 1
    return groups, group_of


def _bound_rows(
    head: FloatArray, b: FloatArray, at: int, which: IntArray, sign: float, ends: FloatArray
) -> None:
    rows = at + np.arange(len(which))
    head[rows, which] = sign
    b[rows] = ends[which]
