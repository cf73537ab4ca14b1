"""Why no fewer features will do when values may move, and why no other set comes closer.

Let off features rest at ``r``, and let a feature that is on take any value of its range at the
cost ``w_i |x_i - c_i|``. For multipliers ``y >= 0`` of ``G x <= h`` and slopes ``s = y'G``, a
support S that holds a point of cost at most v satisfies

    feasibility:  sum_{i in S} max_x -s_i (x - r_i)                 >=  y'(G r - h)
    cost:         sum_{i in S} max_x -s_i (x - r_i) - w_i |x - c_i|  >=  y'(G r - h) - v

Rows of this kind add up over the features of S, so `refutes` can show that no S meets them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.pieces import outline_of
from pertinent.geometry.region import Cell, Quadratic, Region
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.core import Certificate, Proofs
from pertinent.proofs.rounding import form_sizes, least_excess, quadratic_sizes, rounding_unit
from pertinent.proofs.supports.cardinality import (
    _is_diagonal,
    fewer_than,
    not_all_of,
    refutes,
    without_infinity,
)
from pertinent.proofs.supports.curves import most_of_curves
from pertinent.proofs.supports.fewest_mixed import (
    Argument,
    FeatureRows,
    Held,
    MixedSample,
    excluded,
    is_discrete,
)
from pertinent.proofs.tolerances import CANCELLED, END, EQUAL, REACH, ROOT, SMALLER


class Goal(StrEnum):
    """What a proof about supports bounds; files have the word."""

    SIZE = "size"  #: the number of features
    COST = "cost"  #: the cost of supports of that number


@record_as("fewest", retired=("domain", "rest", "off_tol"))
@dataclass(frozen=True, eq=False)
class FewestProofs(Proofs):
    """No support has fewer features (`Goal.SIZE`), or none of that size costs less (`Goal.COST`).

    Where features rest is part of the question: the task says it.

    Parameters
    ----------
    size : ndarray of shape (n,)
        Claimed of each sample: no support has fewer features.
    value : ndarray of shape (n,)
        Claimed of each sample: no support of at most ``size`` features costs less.
    arguments : tuple of Argument
        One for each sample.
    goal : Goal
    """

    size: FloatArray
    value: FloatArray
    arguments: tuple[Argument, ...]
    goal: Goal = Goal.SIZE

    @property
    def speaks_of_cost(self) -> bool:
        """Whether bounds are costs, rather than numbers of features."""
        return self.goal == Goal.COST

    @property
    def speaks_of_all(self) -> bool:
        """Whether bounds are costs of all points, rather than of those with few features."""
        return False

    def bounds(self, task: Task) -> FloatArray:
        """Return the number of features, or the cost, proved necessary in this cell."""
        piece, centers, weights = task.region, task.centers, task.weights
        cell = outline_of(piece)
        lower, upper, tol = task.lower, task.upper, task.off_tol
        rest = centers if task.rest is None else task.rest
        mixed = is_discrete(task.domain)
        boxed = cell is piece and cell.is_linear and not len(cell.G)
        if boxed and not mixed and not any(a.listed for a in self.arguments):
            return self._in_box(task, rest)
        proved = np.zeros(len(centers))
        for i in range(len(centers)):
            if is_over():
                break
            one: _Sample | MixedSample
            if mixed and task.domain is not None:
                domain = task.domain.take(np.array([i]))
                rows = FeatureRows.of(cell, rest[i], lower[i], upper[i], tol, domain)
                one = MixedSample(piece, centers[i], weights, domain, rows)
            else:
                one = _Sample.of(piece, rest[i], centers[i], weights, lower[i], upper[i], tol)
            proved[i] = np.inf if one.stuck else self._one(one, i)
        return proved

    def _in_box(self, task: Task, rest: FloatArray) -> FloatArray:
        """Return the bounds in a box: only features whose rest value lies outside must be on."""
        centers, weights, lower, upper = task.centers, task.weights, task.lower, task.upper
        away = np.maximum(np.maximum(lower - rest, rest - upper), 0.0) > task.off_tol
        size, empty = away.sum(axis=1).astype(float), (lower > upper).any(axis=1)
        if self.goal == Goal.SIZE:
            return np.where(empty, np.inf, size)
        spent = weights * np.maximum(np.maximum(lower - centers, centers - upper), 0.0)
        cost = np.where(away, spent, 0.0).sum(axis=1)
        # More features than are claimed to be enough: no support of that size is in the box.
        return np.where(empty | (size > self.size), np.inf, cost)

    def _one(self, one: _Sample | MixedSample, i: int) -> float:
        argument, claim = self.arguments[i], self.size[i]
        granted = int(one.forced.sum())
        if self.goal == Goal.SIZE:
            if claim <= granted:
                return float(granted)
            fewer = int(min(fewer_than(claim), granted + one.free.sum()))
            return float(claim) if one.refuted(argument, fewer, np.inf) else float(granted)
        most = int(min(claim, granted + one.free.sum()))
        if one.has_closed_form and most == 1 and granted <= 1 and not argument.listed:
            return one.closest_single()
        # Whatever costs less than the claim, by more than rounding, must be refuted.
        value = self.value[i]
        if one.toll() >= value:
            return one.toll()
        return float(value) if one.refuted(argument, most, value) else 0.0


@dataclass(frozen=True, eq=False)
class _Sample:
    """One sample, one piece: where its features may stand."""

    piece: Cell | Region
    cell: Cell
    rest: FloatArray
    center: FloatArray
    weights: FloatArray
    low: FloatArray
    high: FloatArray
    forced: BoolArray
    free: BoolArray
    stuck: bool

    @property
    def has_closed_form(self) -> bool:
        """Whether the cost of a single feature has a closed form."""
        return self.cell is self.piece

    @classmethod
    def of(
        cls,
        piece: Cell | Region,
        wanted: FloatArray,
        center: FloatArray,
        weights: FloatArray,
        low: FloatArray,
        high: FloatArray,
        tol: float,
    ) -> _Sample:
        rest = np.clip(wanted, low, high)
        forced = np.abs(rest - wanted) > tol
        rest = np.where(forced, wanted, rest)
        fixed = (low >= rest) & (high <= rest)
        free = ~forced & ~fixed & (low <= high)
        stuck = bool((forced & (low > high)).any())
        cell = outline_of(piece)
        return cls(piece, cell, rest, center, weights, low, high, forced, free, stuck)

    def toll(self) -> float:
        """Return what the features that cannot rest cost in any case."""
        away = np.maximum(np.maximum(self.low - self.center, self.center - self.high), 0.0)
        return float((self.weights * away)[self.forced].sum())

    def refuted(self, argument: Argument, size: int, value: float) -> bool:
        """Return whether no support of at most ``size`` features costs less than ``value``."""
        rows = [self._feasibility(np.eye(len(self.cell.G)))]
        y = np.maximum(argument.multipliers, 0.0)
        if argument.ray.any():
            rows.append(self._feasibility(y[argument.ray]))
        if np.isfinite(value) and not argument.ray.all():
            rows.append(self._cost(y[~argument.ray], value))
        rows += [self._quadratic(row, size) for row in self.cell.quadratics]
        rows += [most_of_curves(b, self.rest, self.low, self.high) for b in self.cell.bent]
        rows += [self._exclusion(*pair, value) for pair in argument.excluded]
        gain, need = np.concatenate([r[0] for r in rows]), np.concatenate([r[1] for r in rows])
        gain = without_infinity(gain, need)
        need = need - (gain * self.forced).sum(axis=1)
        gain, need = not_all_of(gain, need, argument.listed, ~self.forced)
        more = size - int(self.forced.sum())
        return refutes(np.where(self.free, gain, 0.0), need, more)

    def _feasibility(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each feature's largest ``-s (x - r)``; without an end, of what cancellation leaves."""
        slopes, sizes = y @ self.cell.G, y @ np.abs(self.cell.G)
        room = np.where(slopes > 0, self.rest - self.low, self.high - self.rest)
        left_over = np.isinf(room) & (np.abs(slopes) <= CANCELLED * sizes)
        room = np.where(left_over, REACH * (1.0 + np.abs(self.rest)), room)
        size = np.abs(slopes) + rounding_unit(0, y.shape[1]) * sizes
        with np.errstate(invalid="ignore"):
            gain = np.where((slopes == 0) & np.isinf(room) | (size == 0), 0.0, size * room)
        return gain, self._needs(y)

    def _needs(self, y: FloatArray) -> FloatArray:
        """Return ``y'(G r - h)``, less what rounding may have added."""
        needs = least_excess(self.cell, self.rest[None])[0]
        return np.asarray(y @ needs - rounding_unit(0, len(needs)) * (y @ np.abs(needs)))

    def _cost(self, y: FloatArray, value: float) -> tuple[FloatArray, FloatArray]:
        y = y * self._shrunk(y @ self.cell.G)[:, None]
        slopes, sizes = y @ self.cell.G, y @ np.abs(self.cell.G)
        unit = rounding_unit(self.cell.dim, y.shape[1])
        need = self._needs(y) - value * (1.0 + unit)
        best = np.full(slopes.shape, -np.inf)
        for x in (self.low, self.high, np.clip(self.center, self.low, self.high)):
            with np.errstate(invalid="ignore"):
                spent = self.weights * np.abs(x - self.center) * (1.0 - unit)
                off = unit * sizes * np.abs(x - self.rest)
                here = np.where(np.isinf(x), -np.inf, off - slopes * (x - self.rest) - spent)
            best = np.maximum(best, here)
        # Without an end the gain is endless where it grows faster than the cost.
        endless = ((slopes > self.weights) & np.isinf(self.low)) | (
            (-slopes > self.weights) & np.isinf(self.high)
        )
        return np.where(endless, np.inf, best), need

    def _shrunk(self, slopes: FloatArray) -> FloatArray:
        """Return factors for multipliers whose slopes exceed a weight by rounding alone.

        Where a feature has an open side the slope must not exceed its weight, and at a vertex it
        equals it. Any multipliers that are not negative make an argument, smaller ones as well.
        """
        open_ = np.where(slopes > 0, np.isinf(self.low), np.isinf(self.high))
        ratio = np.where(open_ & (self.weights > 0), np.abs(slopes), 0.0) / np.where(
            self.weights > 0, self.weights, 1.0
        )
        ratio = np.where(ratio <= 1.0 + EQUAL, ratio, 0.0)  # the others are endless in earnest
        most = ratio.max(axis=1, initial=0.0)
        return np.where(most > 1.0 - EQUAL, (1.0 - SMALLER) / np.maximum(most, 1.0), 1.0)

    def _quadratic(self, row: Quadratic, size: int) -> tuple[FloatArray, FloatArray]:
        """Each feature's best gain on its own, and half of its best pairs."""
        A, down, up = row.A, self.low - self.rest, self.high - self.rest
        slope, a = row.gradient(self.rest[None])[0], np.diag(row.A)
        unit, form = rounding_unit(len(a), len(a)), form_sizes(row)
        slopes, values = quadratic_sizes(row, self.rest[None])
        with np.errstate(invalid="ignore", divide="ignore"):
            inner = np.clip(np.where(a > 0, -slope / (2 * a), 0.0), down, up)
            ends = [-(slope * t + a * t * t) for t in (down, up, inner)]
            terms = [slopes[0] * np.abs(t) + np.diag(form) * t * t for t in (down, up, inner)]
            pairs_of = zip(ends, terms, strict=True)
            ends = [e + unit * np.where(np.isfinite(off), off, 0.0) for e, off in pairs_of]
            # Without an end, what bends upwards loses without end: its best is inside.
            ends = [np.where(np.isnan(e), np.where(a > 0, -np.inf, np.inf), e) for e in ends]
            pairs = [-2 * A * s[:, None] * t for s in (down, up) for t in (down, up)]
            far = np.where(np.isfinite(down) & np.isfinite(up), np.maximum(-down, up), 0.0)
        gain = np.max(ends, axis=0)
        if not _is_diagonal(row):
            pair = np.nan_to_num(
                np.max(np.nan_to_num(pairs, nan=0.0, posinf=np.inf), axis=0), posinf=np.inf
            )
            np.fill_diagonal(pair, 0.0)
            best = -np.sort(-np.maximum(pair, 0.0), axis=1)[:, : max(size - 1, 0)]
            gain = gain + best.sum(axis=1) / 2 + unit * (form @ far) * far
        return gain[None], row.value(self.rest[None]) - unit * values

    def _exclusion(
        self, support: BoolArray, certificate: Certificate, value: float
    ) -> tuple[FloatArray, FloatArray]:
        """Demand a feature outside the support, where the support's own certificate holds."""
        box = Held(self.low, self.high, self.rest, support)
        return excluded(support, certificate, value, box, self.piece, self.center, self.weights)

    def closest_single(self) -> float:
        """Return the least cost of moving a single feature: the forced one, if there is one."""
        movable = self.forced if self.forced.any() else self.free
        if self.cell.quadratics:
            costs = [self._nearest_root(int(i)) for i in np.flatnonzero(movable)]
            return min(costs, default=np.inf)
        G, over = self.cell.G, least_excess(self.cell, self.rest[None])[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = self.rest - over[:, None] / G
        low = np.maximum(self.low, np.where(G < 0, edge, -np.inf).max(axis=0, initial=-np.inf))
        high = np.minimum(self.high, np.where(G > 0, edge, np.inf).min(axis=0, initial=np.inf))
        blocked = ((G == 0) & (over > 0)[:, None]).any(axis=0)
        # A point costs at least its distance to each end by itself, whatever rounding did to both.
        unit, size = rounding_unit(1, 1), np.abs(self.rest) + np.abs(self.center)
        away = np.maximum(np.maximum(low - self.center, self.center - high), 0.0)
        cost = self.weights * np.maximum(away - unit * (size + away), 0.0)
        slack = END * (np.abs(low) + np.abs(high))
        empty = blocked | ~movable | (low > high + np.where(np.isfinite(slack), slack, 0.0))
        return float(np.where(empty, np.inf, cost).min(initial=np.inf))

    def _nearest_root(self, i: int) -> float:
        """Return how far feature i alone is from where every row holds.

        The nearest such value is the center's own, an end of the range, or a root of some row
        ``a t^2 + s t + c``, with t the step from the rest value.
        """
        cell, rest = self.cell, self.rest
        a = np.array([0.0] * len(cell.G) + [row.A[i, i] for row in cell.quadratics])
        curved = [row.gradient(rest[None])[0, i] for row in cell.quadratics]
        s = np.array([*cell.G[:, i], *curved])
        values = [float(row.value(rest[None])[0]) for row in cell.quadratics]
        c = np.array([*(cell.G @ rest - cell.h), *values])
        roots = [np.roots(row) for row in zip(a, s, c, strict=True) if row[0] or row[1]]
        ends = np.array(
            [self.low[i], self.high[i], np.clip(self.center[i], self.low[i], self.high[i])]
        )
        real = [np.real(r[np.abs(np.imag(r)) <= ROOT * (1 + np.abs(r))]) for r in roots]
        t = np.concatenate([*real, ends[np.isfinite(ends)] - rest[i]])
        parts = np.stack(
            [a[:, None] * t * t, s[:, None] * t, np.repeat(c[:, None], len(t), axis=1)]
        )
        holds = (parts.sum(axis=0) <= ROOT * np.abs(parts).sum(axis=0)).all(axis=0)
        slack = ROOT * (1 + np.abs(t))
        holds &= (t + rest[i] >= self.low[i] - slack) & (t + rest[i] <= self.high[i] + slack)
        off = ROOT * np.abs(t) + rounding_unit(1, 1) * (abs(rest[i]) + abs(self.center[i]))
        cost = self.weights[i] * np.maximum(np.abs(t + rest[i] - self.center[i]) - off, 0.0)
        return float(np.where(holds, cost, np.inf).min(initial=np.inf))
