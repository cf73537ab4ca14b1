"""One separable row, solved in closed form for all centers at once, with a sweep as its proof.

At an optimum every moving feature has the same marginal gain v, at most one feature of convex
gain moves, and those of concave gain that move are the ones with the steepest slopes. So for each
choice of that one feature (or none) and of how many others move, v^2 solves a linear equation:

    sum_i (g_i^2 - v^2) / (4 a_i)  +  (v^2 - g_j^2) / (4 |a_j|)  =  c.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs import SweepProofs
from pertinent.solvers.curved.separable.boxes import Aggregate
from pertinent.solvers.tolerances import ROW_ROUNDING, SAME_SLOPE

#: Numbers looked at together, features times lines of some centers: few enough for the cache.
AT_ONCE = 200_000
#: Points at which the concave part is touched, around the optimum's own share of the budget:
#: distances from it relative to the budget, and multiples of it. A few suffice for most rows.
FEW_TOUCHES = (np.array([0.0, *(0.004 * 6.0 ** np.arange(4))]), np.zeros(0))
MANY_TOUCHES = (
    np.array([0.0, *(0.004 * 2.0 ** np.arange(9))]),
    np.array(
        [
            *(1 + 0.01 * 2.0 ** np.arange(6)),
            *(1 - 0.01 * 2.0 ** np.arange(6)),
            *(2.0 ** np.arange(-8, 9)),
        ]
    ),
)


def closed_form(row: Aggregate) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return optimal steps, their costs and marginal gains, as if no bound mattered.

    The cost is ``inf`` where there is no such step, or where it leaves the bounds.
    """
    n = len(row.g)
    a, steep = row.a[0], np.abs(row.g)
    concave, convex = np.flatnonzero(a > 0), np.flatnonzero(a < 0)
    order = np.argsort(-steep[:, concave], axis=1, kind="stable")
    ranked, curve = steep[np.arange(n)[:, None], concave[order]], a[concave[order]]
    gained, spent = _sums(ranked**2 / (4 * curve)), _sums(ranked / (2 * curve))
    gain_loss, spend_loss = _sums(1 / (4 * curve)), _sums(1 / (2 * curve))
    # With k of them moving, v lies between the slopes of the k-th and of the next.
    high = np.hstack([np.full((n, 1), np.inf), ranked * (1 + SAME_SLOPE)])
    low = np.hstack([ranked * (1 - SAME_SLOPE), np.zeros((n, 1))])
    # One line for each center and each choice of the one feature of convex gain, -1 for none.
    who, j = _choices(a, steep, convex)
    none = j < 0
    own = np.where(none, 0.0, 1 / np.where(none, 1.0, -4 * a[j]))[:, None]
    slope = np.where(none, 0.0, steep[who, j])[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        need = (row.c[who, None] + own * slope**2) - gained[who]
        v = np.sqrt(need / (own - gain_loss[who]))
        cost = spent[who] - 2 * own * slope + (2 * own - spend_loss[who]) * v
        fits = (v >= low[who]) & (v <= high[who]) & (v >= slope)
    cost = np.where(fits & (cost < np.inf), cost, np.inf)
    k = cost.argmin(axis=1)
    value = cost[np.arange(len(who)), k]
    # The cheapest line of each center, the first of them where several are.
    first = np.flatnonzero(np.diff(who, prepend=-1))
    best = np.minimum.reduceat(value, first) if len(first) else np.zeros(0)
    wins = np.flatnonzero(value == best[who])
    wins = wins[np.diff(who[wins], prepend=-1) > 0]
    level = v[wins, k[wins]]
    chosen = np.where(np.isfinite(best), j[wins], -1)
    level = np.where(np.isfinite(best), level, 0.0)
    return _steps(row, best, chosen, level)


def _choices(a: FloatArray, steep: FloatArray, convex: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of a center and the one feature of convex gain that may move, -1 for none.

    Spending u on it gains ``|g_j| u + |a_j| u^2``: a feature that another one matches in both
    slope and curvature is of no use.
    """
    order = convex[np.argsort(a[convex], kind="stable")]  # the most curved first
    slope = np.hstack([np.full((len(steep), 1), -1.0), steep[:, order]])
    steepest = np.maximum.accumulate(slope, axis=1)
    useful = np.hstack([slope[:, :1] < 0, slope[:, 1:] > steepest[:, :-1]])
    who, place = np.nonzero(useful)
    return who, np.append(-1, order)[place]


def _sums(terms: FloatArray) -> FloatArray:
    sums = np.zeros((len(terms), terms.shape[1] + 1))
    np.cumsum(terms, axis=1, out=sums[:, 1:])
    return sums


def _steps(
    row: Aggregate, best: FloatArray, chosen: FloatArray, level: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the steps of the chosen combinations, where they stay within the bounds."""
    a, steep = row.a[0], np.abs(row.g)
    spend = np.where(a > 0, np.maximum(steep - level[:, None], 0.0), 0.0)
    spend = spend / np.where(a > 0, 2 * a, 1.0)
    rows = np.flatnonzero(chosen >= 0)
    j = chosen[rows]
    spend[rows, j] = (level[rows] - steep[rows, j]) / (2 * -a[j])
    steps = np.where(row.g > 0, -spend, spend)
    inside = ((steps <= row.up) & (steps >= -row.down)).all(axis=1) & np.isfinite(best)
    # A feature without curvature is a case of its own, left to the boxes.
    plain = ((a == 0) & (row.g != 0)).any(axis=1)
    good = inside & ~plain
    cost = np.where(good, spend.sum(axis=1), np.inf)
    return np.where(good[:, None], steps, 0.0), cost, level


def sweep_proofs(
    row: Aggregate,
    steps: FloatArray,
    radius: FloatArray,
    where: tuple[FloatArray, FloatArray],
) -> SweepProofs:
    """Return slopes that touch the concave part densely near the optimum, sparsely elsewhere.

    ``where`` is FEW_TOUCHES or MANY_TOUCHES.
    """
    a, steep = row.a[0], np.abs(row.g)
    concave = a > 0
    own = np.abs(steps[:, concave]).sum(axis=1)[:, None]
    spread = radius[:, None] * where[0]
    shares = np.hstack([own + spread, own - spread[:, 1:], own * where[1]])
    shares = np.sort(np.clip(shares, 0.0, radius[:, None]), axis=1)
    return SweepProofs(radius, _levels(a[concave], steep[:, concave], shares))


def sweeps_hold(row: Aggregate, sizes: FloatArray, sweeps: SweepProofs) -> BoolArray:
    """Return for which centers the slopes show that nothing is within the radius.

    Within a budget t at most ``max_u alone(t - u) + C(u)`` is gained, u going to features of
    concave gain: a line of slope v lies above C by what each of them gains beyond v. Between two
    points the sum is convex, so its largest value is at a point where two lines meet.

    Parameters
    ----------
    row : Aggregate
        The same squares for all centers.
    sizes : ndarray of shape (n,)
        Of the terms of the row at the start.
    sweeps : SweepProofs
    """
    holds = np.zeros(len(sweeps), dtype=bool)
    size = max(1, AT_ONCE // max(1, row.a.shape[1] * sweeps.slopes.shape[1]))
    for first in range(0, len(sweeps), size):
        k = np.arange(first, min(first + size, len(sweeps)))
        most, terms, usable = _most(row.take(k), sweeps.radius[k, None], sweeps.slopes[k])
        rounding = ROW_ROUNDING * row.a.shape[1] * (sizes[k] + terms)
        holds[k] = usable & (most + rounding < row.c[k])
    return holds & (row.c > 0) & (sweeps.radius > 0)


def _most(row: Aggregate, t: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the most that a budget can gain, the size of its terms, and if bounds allow for it."""
    a, steep = row.a[0], np.abs(row.g)
    here, there = np.where(row.g > 0, row.down, row.up), np.where(row.g > 0, row.up, row.down)
    concave, room = a > 0, np.minimum(here, t)
    usable = ((here >= t) | (np.maximum(here, there) <= 0))[:, ~concave].all(axis=1)
    # max_s (|g_i| - v) s - a_i s^2 within the room, features first, in as little memory
    curve = a[concave][:, None, None]
    over = steep[:, concave].T[:, :, None] - v
    s = over * (0.5 / curve)
    np.clip(s, 0.0, room[:, concave].T[:, :, None], out=s)
    over -= curve * s
    over *= s
    height = over.sum(axis=0)
    drop = v[:, :-1] - v[:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.where(drop > 0, (height[:, 1:] - height[:, :-1]) / drop, 0.0)
    meet = np.maximum.accumulate(np.fmin(np.fmax(meet, 0.0), t), axis=1)
    ends = np.hstack([np.zeros_like(t), meet, t])
    # One feature of convex gain, or none, makes the most of what is left.
    who, j = _choices(a, np.where(room > 0, steep, -2.0), np.flatnonzero(~concave))
    rest = (t - ends)[who]
    gain = np.where(j[:, None] < 0, 0.0, (steep[who, j, None] - a[j, None] * rest) * rest)
    alone = np.maximum.reduceat(gain, np.flatnonzero(np.diff(who, prepend=-1)), axis=0)
    last = height + v * ends[:, 1:]
    most = np.maximum(alone[:, :-1] + height + v * ends[:, :-1], alone[:, 1:] + last).max(axis=1)
    return most, alone.max(axis=1) + np.abs(last).max(axis=1), np.asarray(usable)


def _levels(a: FloatArray, steep: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the marginal gain at which the concave features together spend each share.

    Spending is ``sum_i max(|g_i| - v, 0) / (2 a_i)``, linear in v between the slopes.
    """
    order = np.argsort(-steep, axis=1, kind="stable")
    rows = np.arange(len(steep))[:, None]
    ranked = steep[rows, order]
    per, linear = _sums(1 / (2 * a)[order]), _sums(ranked / (2 * a[order]))
    # With k + 1 of them moving, starting where v reaches the slope of the (k + 1)-th.
    begins = linear[:, :-1] - per[:, :-1] * ranked
    moving = np.zeros(shares.shape, dtype=np.int64)
    for k in range(len(a)):
        moving += shares >= begins[:, k, None]
    rate, spent = per[rows, moving], linear[rows, moving]
    top = ranked[:, :1] if len(a) else np.zeros((len(steep), 1))
    level = np.where(rate > 0, (spent - shares) / np.where(rate > 0, rate, 1.0), top)
    return np.maximum(level, 0.0)
