"""Cells whose rows are sums over features (Gaussian naive Bayes): solved to proved optimality.

One row ``c + sum_i a_i s_i^2 + g_i s_i <= 0`` is a knapsack whose items gain concavely (a_i > 0)
or convexly (a_i <= 0) with what is spent on them. For a fixed multiplier every feature decides on
its own, so the Lagrangian bound of a box costs one pass over its features; a gap is left only by
items that jump from one end to the other, and splitting the box at such an item closes it. All
boxes of all centers are treated at once, level by level.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows
from pertinent.proofs import SeparableProofs
from pertinent.setting.options import Options
from pertinent.solvers.curved.separable.items import Curved, Ends, Side, meet
from pertinent.solvers.curved.shifted import Shifted, real_roots
from pertinent.solvers.search.engine import Limits, Problem, search
from pertinent.solvers.tolerances import (
    BOX_ROUNDING,
    CLAIMED_BY_BOXES,
    NO_WIDTH,
    PROGRESS,
    PROVED_BY_BOXES,
    ROOT_ROUNDING,
    ROW_ROUNDING,
    THIN,
    WHOLE_SEPARABLE,
)

LEVELS = 60
#: Boxes that one center may have open at the same time.
OPEN = 300
MULTIPLIER_STEPS = 40


@dataclass(eq=False)
class Aggregate(Rows):
    """One separable row for each center: ``c + sum_i a_i s_i^2 + g_i s_i <= 0``, and a box."""

    a: FloatArray
    g: FloatArray
    c: FloatArray
    up: FloatArray
    down: FloatArray
    shared: bool = False  #: whether ``a`` is the same for all centers
    size: FloatArray | None = None  #: of the terms of ``c``; None: rounding is left out of account


@dataclass(frozen=True, eq=False)
class Parts(Rows):
    """Boxes of steps, ``low <= s <= high``, each of one center.

    Parameters
    ----------
    owner : ndarray of int, shape (n,)
        The center.
    low, high : ndarray of shape (n, d)
    guess : ndarray of shape (n,)
        A multiplier to begin with, -1 for none.
    """

    owner: IntArray
    low: FloatArray
    high: FloatArray
    guess: FloatArray


@dataclass(eq=False)
class BoxSearch(Problem[Parts]):
    """Branch and bound over boxes, for all centers in lock step.

    Parameters
    ----------
    rows : list of Aggregate
        Combinations of the cell's rows; a box is closed by whichever does.
    mixes : list of ndarray of shape (n, n_rows)
        What each of them combines.
    best : ndarray of shape (n,)
        Cost of the best step known; improved on the way if ``single``.
    steps : ndarray of shape (n, d)
    single : bool
        Whether there is only one row, so that its points are points of the cell.
    limit : int
        Boxes that one center may have open at the same time.
    share : float
        The radius to prove, relative to the best cost.
    sizes : ndarray of shape (n,), optional
        Of the terms of the row at the start, if rounding is left out of account in the search: it
        may then prove less than it seems to.
    """

    rows: list[Aggregate]
    mixes: list[FloatArray]
    best: FloatArray
    steps: FloatArray
    single: bool
    limit: int = OPEN
    share: float = PROVED_BY_BOXES
    sizes: FloatArray | None = None
    feature: list[IntArray] = field(default_factory=list)
    threshold: list[FloatArray] = field(default_factory=list)
    multipliers: list[FloatArray] = field(default_factory=list)
    proved: FloatArray = field(init=False)
    sure: FloatArray = field(init=False)
    whole: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        row = self.rows[0]
        self.proved, self.sure = np.full((2, len(self.best)), np.inf)
        self.whole = np.maximum(row.up, row.down).sum(axis=1) * (1 + WHOLE_SEPARABLE)

    def run(self, options: Options) -> None:
        """Split boxes until every one is closed, or too many are open."""
        n = len(self.best)
        low, high = self._root()
        endless = ~(np.isfinite(low) & np.isfinite(high)).all(axis=1)
        low[endless], high[endless], self.proved[endless] = 0.0, 0.0, 0.0
        first = Parts(np.arange(n), low, high, np.full(n, -1.0))
        search(self, first, Limits.of(options, n))

    def advance(self, chosen: Parts) -> Parts:
        """Bound some boxes, and return the two parts of each that is to be split."""
        owner = chosen.owner
        node = Boxes(self.rows[0], chosen)
        node.solve(self._target(owner))
        multipliers = node.y[:, None] * self.mixes[0][owner]
        if self.single:
            self._improve(node)
        for row, mix in zip(self.rows[1:], self.mixes[1:], strict=True):
            self._try(node, row, mix, multipliers)
        split = ~(node.bound >= self._target(owner)) & (node.jump > 0)
        split &= ~self._crowded(owner, len(self.feature) == LEVELS - 1)
        np.minimum.at(self.proved, owner[~split], node.bound[~split])
        if self.sizes is not None:
            terms = self.sizes[owner] + node.terms()
            sure = node.bound - ROW_ROUNDING * node.low.shape[1] * node.y * terms
            np.minimum.at(self.sure, owner[~split], sure[~split])
        self._note(np.where(split, node.item, -1), node.at, multipliers)
        return _children(node, split)

    def leave(self, waiting: Parts) -> None:
        """Note boxes that were given up: nothing is proved of them."""
        n, m = len(waiting), self.mixes[0].shape[1]
        np.minimum.at(self.proved, waiting.owner, 0.0)
        self._note(np.full(n, -1), np.zeros(n), np.zeros((n, m)))

    def _note(self, feature: IntArray, threshold: FloatArray, multipliers: FloatArray) -> None:
        """Write down one level of the trees."""
        self.feature.append(feature)
        self.threshold.append(threshold)
        self.multipliers.append(multipliers)

    def _root(self) -> tuple[FloatArray, FloatArray]:
        row, cap = self.rows[0], self._cap()
        low, high = np.maximum(-row.down, -cap), np.minimum(row.up, cap)
        if not self.single:
            return low, high
        # The side that raises the row is never better than the other, if that has room.
        return (
            np.where((row.g <= 0) & (high >= -low), 0.0, low),
            np.where((row.g > 0) & (-low >= high), 0.0, high),
        )

    def _try(self, node: Boxes, row: Aggregate, mix: FloatArray, multipliers: FloatArray) -> None:
        """Use another combination where the boxes are still open and it says more."""
        left = np.flatnonzero(node.bound < self._target(node.owner))
        if not len(left):
            return
        owner, unknown = node.owner[left], np.full(len(left), -1.0)
        other = Boxes(row, Parts(owner, node.low[left], node.high[left], unknown))
        other.solve(self._target(owner))
        more = other.bound > node.bound[left]
        k = left[more]
        node.bound[k], multipliers[k] = other.bound[more], (other.y[:, None] * mix[owner])[more]
        jumps = more & (other.jump > 0)
        k = left[jumps]
        node.item[k], node.at[k], node.jump[k] = (
            other.item[jumps],
            other.at[jumps],
            other.jump[jumps],
        )

    def closed(self) -> BoolArray:
        """Return for which centers every box was closed."""
        return np.asarray(self.proved >= self._target(np.arange(len(self.best))))

    def proofs(self) -> SeparableProofs:
        """Return the trees in the checker's form; unfinished ones with the radius they prove."""
        radius = self._radius()
        return SeparableProofs(
            np.where(np.isinf(radius), self.whole, radius),
            np.concatenate(self.feature),
            np.concatenate(self.threshold),
            np.concatenate(self.multipliers),
        )

    def radius(self) -> FloatArray:
        """Return within which cost of the start there is nothing; ``inf``: in all of the box."""
        radius = self._radius()
        holds = self.sure >= np.minimum(radius, self.whole)
        return np.where(holds & np.isfinite(np.minimum(self.best, self.whole)), radius, 0.0)

    def _radius(self) -> FloatArray:
        radius = np.minimum(self.best * self.share, self.proved * CLAIMED_BY_BOXES)
        radius = np.where(np.isfinite(radius) | np.isfinite(self.whole), radius, 0.0)
        everything = (radius >= self.whole) & (self.whole > 0)
        return np.where(everything, np.inf, np.maximum(radius, 0.0))

    def _cap(self) -> FloatArray:
        """Return how far each feature may go: no farther than the best cost.

        Without a best step, a feature with concave gain is of no use beyond its vertex, one
        with convex gain has a bound (or else it alone would do), and one without gain stays.
        """
        if not self.single:
            return np.broadcast_to(self.best[:, None], self.steps.shape)
        a, g = self.rows[0].a, self.rows[0].g
        vertex = np.where(a > 0, np.abs(g) / np.where(a > 0, 2 * a, 1.0), np.inf)
        useless = (a == 0) & (g == 0)
        alone = np.where(useless, 0.0, vertex)
        return np.where(np.isfinite(self.best[:, None]), self.best[:, None], alone)

    def _target(self, owner: IntArray) -> FloatArray:
        """Return what to prove: just below the best cost, or all of the box without one."""
        best = self.best[owner]
        return np.where(np.isinf(best), self.whole[owner], best * self.share)

    def _crowded(self, owner: IntArray, last: bool) -> BoolArray:
        counts = np.bincount(owner, minlength=len(self.best))
        return np.asarray((counts[owner] > self.limit) | last)

    def _improve(self, node: Boxes) -> None:
        """Offer the feasible steps that the boxes found."""
        step, cost = node.feasible()
        order = np.argsort(-cost, kind="stable")
        order = order[cost[order] < self.best[node.owner[order]] * (1 - PROGRESS)]
        # Where several boxes of one center improve, the last written is the cheapest.
        owners = node.owner[order]
        self.best[owners], self.steps[owners] = cost[order], step[order]


class Boxes:
    """Lagrangian bounds of many boxes at once."""

    def __init__(self, row: Aggregate, parts: Parts) -> None:
        owner, low, high = parts.owner, parts.low, parts.high
        self.row, self.owner, self.low, self.high = row, owner, low, high
        self.a, self.g, self.c = row.a[owner], row.g[owner], row.c[owner]
        n, d = low.shape
        if row.size is not None:
            self.c = self.c - BOX_ROUNDING * d * (row.size[owner] + self.terms())
        self.bound, self.y = np.full(n, -np.inf), np.zeros(n)
        self.short, self.enough = np.clip(0.0, low, high), np.full((n, d), np.nan)
        self.guess = parts.guess
        # Only if all centers share the row is it the same for each whoever else is there.
        curved = self.a[0] > 0 if row.shared else np.zeros(d, dtype=bool)
        self.curved = Curved(self, np.flatnonzero(curved))
        self.ends = Ends(self, np.flatnonzero(~curved))

    def terms(self) -> FloatArray:
        """Return the size of the terms of the row that depend on the step, at most."""
        far = np.maximum(np.abs(self.low), np.abs(self.high))
        return np.asarray(((np.abs(self.a) * far + np.abs(self.g)) * far).sum(axis=1))

    def solve(self, target: FloatArray) -> None:
        """Find, for each box, a multiplier whose bound reaches the target, or see that none does.

        The bound is concave in the multiplier, with the row's excess as its slope: tangents at
        a multiplier that is too small and at one that is too large meet above the maximum.
        """
        n = len(self.owner)
        steepest = np.abs(self.g).max(axis=1)
        first = 1.0 / np.where(steepest > 0, steepest, np.abs(self.a).max(axis=1) + 1.0)
        y = np.where(self.guess > 0, self.guess, np.minimum(first, 1e12))
        small, large = Side(n, 0.0), Side(n, np.inf)
        active = np.arange(n)
        for _ in range(MULTIPLIER_STEPS):
            s, bound, excess = self._at(active, y[active])
            better = bound > self.bound[active]
            self.bound[active[better]], self.y[active[better]] = bound[better], y[active[better]]
            short = excess > 0
            self.short[active[short]] = s[short]
            self.enough[active[~short]] = s[~short]
            small.put(active[short], y, bound[short], excess[short])
            large.put(active[~short], y, bound[~short], excess[~short])
            y[active], top = meet(small, large, active)
            done = (self.bound[active] >= target[active]) | (small.y[active] > 1e15)
            # No use: the maximum is known well enough, and falls short.
            short_of = np.maximum(np.minimum(target[active], 1e300) - np.minimum(top, 1e300), 0.0)
            done |= top <= self.bound[active] + 1e-3 * short_of
            active = active[~done]
            if not len(active):
                break
        self._jumps(target)

    def _at(self, k: IntArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the minimisers of the Lagrangian, its value, and the row's excess there."""
        whole = len(k) == len(self.owner)
        s = np.empty((len(k), self.low.shape[1]))
        bound, excess = y * self.c[k], self.c[k].copy()
        for items in (self.curved, self.ends):
            s[:, items.columns], value, gain = items.least(slice(None) if whole else k, y)
            bound += value
            excess += gain
        return s, bound, excess

    def _jumps(self, target: FloatArray) -> None:
        """Choose where to split: the item that jumps most between too little and enough."""
        apart = np.abs(np.nan_to_num(self.enough - self.short))
        if self.row.size is not None:
            # Next to where a row is 0, it would have its boxes split thinner for ever.
            apart[self.high - self.low <= THIN * np.minimum(target, 1e300)[:, None]] = 0.0
        # Only items without curvature, or with the wrong one, can jump.
        rows = np.arange(len(apart))
        self.item = apart.argmax(axis=1)
        self.jump = apart[rows, self.item]
        low, high = self.low[rows, self.item], self.high[rows, self.item]
        one, other = self.short[rows, self.item], self.enough[rows, self.item]
        a, g = self.a[rows, self.item], self.g[rows, self.item]
        rest = self.c + (self.a * self.short**2 + self.g * self.short).sum(axis=1)
        gain = (a * one * one + g * one) - (a * other * other + g * other)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.clip(np.where(gain > 0, rest / gain, 0.5), 0.02, 0.98)
        at = one + share * (np.nan_to_num(other) - one)
        width = high - low
        self.at = np.clip(at, low + 0.02 * width, high - 0.02 * width)
        self.jump = np.where(width > NO_WIDTH * (np.abs(low) + np.abs(high)), self.jump, 0.0)

    def feasible(self) -> tuple[FloatArray, FloatArray]:
        """Return, for each box, a step that satisfies the row, and its cost (``inf``: none).

        All items stay where they are too short together; the one that jumps moves just far
        enough. Then the moving concave-gain items share the work evenly (closed form).
        """
        rows = np.arange(len(self.owner))
        step = self.short.copy()
        one, other = step[rows, self.item], self.enough[rows, self.item]
        a, g = self.a[rows, self.item], self.g[rows, self.item]
        excess = self.c + (self.a * step * step + self.g * step).sum(axis=1)
        rest = excess - (a * one * one + g * one)
        roots = np.stack(real_roots(a, g, rest), axis=1)
        lo, hi = np.minimum(one, other), np.maximum(one, other)
        fits = (roots >= lo[:, None]) & (roots <= hi[:, None])
        cost = np.where(fits, np.abs(roots), np.inf)
        pick = cost.argmin(axis=1)
        found = np.isfinite(cost[rows, pick])
        step[rows, self.item] = np.where(found, roots[rows, pick], one)
        step = np.where((found | (excess <= 0))[:, None], step, self.enough)
        evened = evenly(self.row, self.owner, step)
        better = np.abs(evened).sum(axis=1) < np.abs(step).sum(axis=1)
        step = np.where(better[:, None], evened, step)
        total = np.abs(step).sum(axis=1)
        return step, np.where(np.isnan(total), np.inf, total)


def evenly(row: Aggregate, owner: IntArray, step: FloatArray) -> FloatArray:
    """Return the stationary step with the same moving features; NaN where there is none.

    At a stationary point ``sign_i + y (2 a_i s_i + g_i) = 0`` for each moving feature, so with
    u = 1/y it spends ``s_i = -(sign_i u + g_i) / (2 a_i)`` and gains ``(u^2 - g_i^2) / (4 a_i)``;
    the gains of all must add up to what the row asks for, which gives u.
    """
    a, g = row.a[owner], row.g[owner]
    up, down = row.up[owner], row.down[owner]
    moving = (step != 0) & (step < up) & (step > -down) & (a != 0)
    still = np.where(moving, 0.0, step)
    rest = row.c[owner] + (a * still * still + g * still).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        weight = np.where(moving, 1.0 / (4 * a), 0.0)
        u = np.sqrt(((weight * g * g).sum(axis=1) - rest) / weight.sum(axis=1))
        sign = np.sign(step)
        moved = -(sign * u[:, None] + g) / (2 * a)
        result = np.where(moving, moved, step)
        good = (np.sign(result) == sign).all(axis=1) & (result <= up).all(axis=1)
        good &= (result >= -down).all(axis=1)
        excess = row.c[owner] + (a * result * result + g * result).sum(axis=1)
        size = np.abs(row.c[owner]) + (np.abs(a) * result**2 + np.abs(g * result)).sum(axis=1)
        good &= excess <= ROOT_ROUNDING * size
    return np.where(good[:, None], result, np.nan)


def _children(node: Boxes, split: BoolArray) -> Parts:
    """Return the boxes below and above the thresholds, in the order of the checker."""
    k = np.repeat(np.flatnonzero(split), 2)
    lows, highs = node.low[k], node.high[k]
    rows = np.arange(0, len(k), 2)
    item, at = node.item[k[rows]], node.at[k[rows]]
    highs[rows, item], lows[rows + 1, item] = at, at
    return Parts(node.owner[k], lows, highs, node.y[k])


def aggregate(shifted: Shifted, mix: FloatArray, sizes: FloatArray | None = None) -> Aggregate:
    """Return the combination of all rows by nonnegative ``mix``, shape (n, m).

    ``sizes`` are those of the terms of each row at the start, of the same shape.
    """
    n, d = shifted.start.shape
    squares = [np.diagonal(Q) for Q in shifted.forms]
    a, g, c = np.zeros((n, d)), np.zeros((n, d)), np.zeros(n)
    for k in range(mix.shape[1]):
        if k < len(squares):
            a += mix[:, k, None] * squares[k]
        g += mix[:, k, None] * shifted.slopes[:, k]
        c += mix[:, k] * shifted.values[:, k]
    size = None if sizes is None else (mix * sizes).sum(axis=1)
    return Aggregate(a, g, c, shifted.up, shifted.down, mix.shape[1] == 1, size)
