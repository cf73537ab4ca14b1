"""Few features that move: boxes halved until each holds no cheaper point.

With most features held, a cell has few variables left. A box of them is closed as soon as

    its cost          sum_i w_i |x_i - c_i|          is at least the claim everywhere,
    a row             f(x) <= 0                      holds nowhere, or
    a Lagrangian      cost(x) + y f(x), with y >= 0  is at least the claim everywhere,

since cost is at least the Lagrangian where the row holds. With the middle m of a box and its half
widths r, and ``t = x - m``, a quadratic ``f(m) + g't + t'At`` is bounded below by the least of
``g_i t_i + A_ii t_i^2`` for each feature alone, less ``|A_ij| r_i r_j`` for each pair. Boxes that
stay open are halved. Where a range has no end, a row that grows without end puts one to it. The
proof is the claim; checking it repeats the halving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.cases.axes import seen_from
from pertinent.proofs.cases.near import Near
from pertinent.proofs.core import RaisingProofs
from pertinent.proofs.tolerances import (
    ELLIPSOID,
    LOWERED,
    MIDDLE,
    MOST_BOXES,
    MOST_HALVED,
    MOST_ROUNDS,
    NEAR_BOXES,
    NEAR_ROUNDS,
)


@record_as("halving")
@dataclass(frozen=True, eq=False)
class HalvingProofs(RaisingProofs):
    """Claims that no point of the cell within the bounds costs less.

    Parameters
    ----------
    claimed : ndarray of shape (n,)
        ``inf``: there is no point at all.
    """

    claimed: FloatArray

    def _raised(self, task: Task, start: FloatArray, known: FloatArray) -> FloatArray:
        """Return the claims, or a little less, that the halving confirms; else the bounds' cost.

        A claim made for a point a margin inside the cell is a little too much for the cell itself.
        """
        cell, centers, weights, proved = task.cell, task.centers, task.weights, known.copy()
        lower, upper = task.lower, task.upper
        for i in np.flatnonzero(self.claimed > proved):
            free = upper[i] > lower[i]
            if free.sum() <= MOST_HALVED:
                few = _Few.of(cell, free, start[i], centers[i], weights)
                spent = float((weights * np.abs(start[i] - centers[i]))[~free].sum())
                for claim in _claims(float(proved[i]), float(self.claimed[i])):
                    if few.closes(lower[i][free], upper[i][free], claim - spent):
                        proved[i] = claim
                        break
        return proved

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return whether halving closes every box that is not within the answer's."""
        cell, weights, start = task.cell, task.weights, task.start()
        shown = np.zeros(len(near), dtype=bool)
        for i in range(len(near)):
            low, high = task.lower[i], task.upper[i]
            free = high > low
            if free.sum() > MOST_HALVED:
                continue
            few = _Few.of(cell, free, start[i], task.centers[i], weights)
            spent = float((weights * np.abs(start[i] - task.centers[i]))[~free].sum())
            box = near.lower[i][free] - few.center, near.upper[i][free] - few.center
            shown[i] = few.closes(low[free], high[free], float(near.cost[i]) - spent, box)
        return shown


def _claims(known: float, claimed: float) -> list[float]:
    """Return the claim, and lesser ones."""
    if not np.isfinite(claimed):
        return [claimed]
    return [claimed - share * (claimed - known) for share in LOWERED]


@dataclass(frozen=True, eq=False)
class _Few:
    """What is left of a cell when all but a few features are held: rows ``t'At + g't + c <= 0``.

    ``t`` is the step from the center. Exponential rows are left out: fewer rows prove no more.
    """

    A: FloatArray
    g: FloatArray
    c: FloatArray
    sizes: tuple[FloatArray, FloatArray, FloatArray]  # of what A, g and c were added up from
    weights: FloatArray
    center: FloatArray

    @classmethod
    def of(
        cls,
        cell: Cell,
        free: BoolArray,
        held: FloatArray,
        center: FloatArray,
        weights: FloatArray,
    ) -> _Few:
        origin = np.where(free, center, held)
        count = int(free.sum())
        rows = [seen_from(row, origin) for row in cell.quadratics]
        block, straight = np.ix_(free, free), np.zeros((len(cell.G), count, count))
        A = np.concatenate([straight, *(row.A[block][None] for row in rows)])
        g = np.concatenate([cell.G[:, free], *(row.g[None, free] for row in rows)])
        c = np.concatenate([cell.G @ origin - cell.h, [row.c for row in rows]])
        A_size = np.concatenate([straight, *(row.A_size[block][None] for row in rows)])
        size = np.abs(cell.G)
        g_size = np.concatenate([size[:, free], *(row.g_size[None, free] for row in rows)])
        here = size @ np.abs(origin) + np.abs(cell.h)
        c_size = np.concatenate([here, [row.c_size for row in rows]])
        return cls(A, g, c, (A_size, g_size, c_size), weights[free], center[free])

    def closes(
        self,
        lower: FloatArray,
        upper: FloatArray,
        claim: float,
        but: tuple[FloatArray, FloatArray] | None = None,
    ) -> bool:
        """Return whether no point of the box costs less than the claim, but for some of a box.

        ``but`` are the ends of that box, as steps from the center; None: but for none.
        """
        if not len(self.weights):
            return bool((self.c > MIDDLE * self.sizes[2]).any())
        with np.errstate(divide="ignore"):
            reach = claim / self.weights
        low = np.maximum(lower - self.center, -reach)[None]
        high = np.minimum(upper - self.center, reach)[None]
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            down, up = self._ends()
            low, high = np.maximum(low, -down), np.minimum(high, up)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return False
        rounds, most = (MOST_ROUNDS, MOST_BOXES) if but is None else (NEAR_ROUNDS, NEAR_BOXES)
        for _ in range(rounds):
            if not len(low):
                return True
            if is_over():
                return False
            open_ = self._open(low, high, claim)
            if but is not None:
                open_ &= ~((low >= but[0]) & (high <= but[1])).all(axis=1)
            low, high = _halved(low[open_], high[open_], self.weights)
            if len(low) > most:
                return False
        return False

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Return how far down and up points of the cell can lie; ``inf`` where no row tells."""
        count = len(self.weights)
        down, up = np.full(count, np.inf), np.full(count, np.inf)
        for A, g, c in zip(self.A, self.g, self.c, strict=True):
            if count == 1:
                down[0] = min(down[0], _end(A[0, 0], -g[0], c))
                up[0] = min(up[0], _end(A[0, 0], g[0], c))
            else:
                far = _extent(A, g, c)
                down, up = np.minimum(down, far), np.minimum(up, far)
        return down, up

    def _open(self, low: FloatArray, high: FloatArray, claim: float) -> BoolArray:
        """Return the boxes that none of the three arguments closes."""
        nearest = np.maximum(np.maximum(low, -high), 0.0)
        cost = nearest @ self.weights
        middle, half = (low + high) / 2, (high - low) / 2
        # On one side of the center the cost is linear; across it, at least 0.
        side = np.where(low >= 0, 1.0, np.where(high <= 0, -1.0, 0.0)) * self.weights
        paid = (side * middle).sum(axis=1)
        # A number must close a box: those so large that there is none stay open.
        open_ = ~(cost >= claim)
        far = np.abs(middle) + half
        rows = zip(self.A, self.g, self.c, *self.sizes, strict=True)
        for A, g, c, A_size, g_size, c_size in rows:
            slope = g + 2 * middle @ A
            value = ((middle @ A) * middle + middle * g).sum(axis=1) + c
            size = ((far @ A_size) * far).sum(axis=1) + far @ g_size + c_size
            off = np.abs(A - np.diag(np.diag(A)))
            pairs = ((half @ off) * half).sum(axis=1)
            rounding = MIDDLE * size
            open_ &= ~(value + _least_alone(slope, np.diag(A), half) - pairs > rounding)
            if np.isfinite(claim):
                # The multiplier that makes the Lagrangian flattest in the middle of the box.
                steep = (slope * slope).sum(axis=1)
                y = np.maximum(-(side * slope).sum(axis=1), 0.0) / np.where(steep > 0, steep, 1.0)
                bent = _least_alone(side + y[:, None] * slope, y[:, None] * np.diag(A), half)
                open_ &= ~(paid + y * (value - pairs - rounding) + bent >= claim)
        return open_


def _end(a: float, g: float, c: float) -> float:
    """Return a number beyond which ``a t^2 + g t + c`` is positive; ``inf`` without any.

    At twice the largest of ``|g| / a`` and ``sqrt(|c| / a)`` the square outweighs the rest.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if a > 0:
            end = 2 * max(abs(g) / a, float(np.sqrt(abs(c) / a)))
        else:
            end = 2 * abs(c) / g if a == 0 and g > 0 else np.inf
    return float(end) if np.isfinite(end) else np.inf


def _extent(A: FloatArray, g: FloatArray, c: float) -> FloatArray:
    """Return how far from 0 each feature of an ellipsoid can lie, generously; else ``inf``."""
    none, scale = np.full(len(g), np.inf), np.diag(A)
    if not (np.isfinite(A).all() and (scale > 0).all()):
        return none
    root = np.sqrt(scale)
    scaled = A / np.outer(root, root)
    if np.linalg.eigvalsh(scaled)[0] <= ELLIPSOID:
        return none
    inverse = np.linalg.inv(scaled) / np.outer(root, root)
    middle = inverse @ g / 2
    room = abs(float(g @ middle)) / 2 + abs(c)
    far = 2 * (np.abs(middle) + np.sqrt(room * np.diag(inverse)))
    return np.asarray(np.where(np.isfinite(far), far, np.inf))


def _least_alone(slope: FloatArray, bend: FloatArray, half: FloatArray) -> FloatArray:
    """Return the sum of ``min slope_i t + bend_i t^2`` over ``|t| <= half_i``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(bend > 0, np.minimum(np.abs(slope) / (2 * bend), half), half)
    inner = np.where(np.isfinite(inner), inner, half)
    return np.asarray((bend * inner * inner - np.abs(slope) * inner).sum(axis=1))


def _halved(
    low: FloatArray, high: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return both halves of each box, cut where it costs most to cross it; first at the center."""
    if not len(low):
        return low, high
    here = np.arange(len(low))
    across = (low < 0) & (high > 0)
    width = np.where(across, 1e6, 1.0) * weights * (high - low)
    j = width.argmax(axis=1)
    cut = np.where(across[here, j], 0.0, (low[here, j] + high[here, j]) / 2)
    below, above = high.copy(), low.copy()
    below[here, j], above[here, j] = cut, cut
    return np.concatenate([low, above]), np.concatenate([below, high])
