"""The bounded dual simplex for many rows in lock step, with NumPy alone.

Each row starts at ``t = 0``, which is dual feasible since every cost is positive: there is no
phase 1. A basis is small: k tight rows T, k moving features J, and the inverse of ``A_TJ``; all
other slacks are basic, all other features sit at 0 or at a bound. The dual side is ``y_T >= 0``
and the *pull* ``z = y A`` on every feature, with

    z_i in [-1, 1] at t_i = 0,    z_i >= 1 at the upper bound,    z_i <= -1 at the lower bound,
    z_i = side_i = +-1 while t_i moves between 0 and the bound of that side.

One pivot makes the worst violated row tight (or sends a basic feature that left its range to the
end of the range), follows the dual ray this opens, flips features from end to end as long as the
dual objective still grows (long-step rule), and lets in what stops the growth. No row's arithmetic
looks at another row or calls BLAS, so an answer is the same to the bit in any batch.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.projection._steps import (
    CUT,
    FEASIBILITY,
    GAP,
    INFEASIBLE,
    OPTIMAL,
    PIVOT,
    TIE,
    TROUBLE,
    ScaledRows,
    Steps,
    default_limit,
    empty_steps,
    scale_rows,
    settle,
)

__all__ = ["CUT", "INFEASIBLE", "OPTIMAL", "TROUBLE", "Steps", "solve_lockstep"]

#: Working memory of one chunk of rows.
_CHUNK_BYTES = 8_000_000


def solve_lockstep(
    G: FloatArray,
    weights: FloatArray,
    demand: FloatArray,
    room_up: ArrayLike,
    room_down: ArrayLike,
    *,
    cutoff: FloatArray | None = None,
    max_pivots: int | None = None,
) -> Steps:
    """Return the cheapest steps that satisfy ``-G s >= demand`` within their rooms.

    Parameters
    ----------
    G : ndarray of shape (m, d)
        Rows of the cell ``G x <= h``, shared by all start points b.
    weights : ndarray of shape (d,)
        Cost of one unit of each feature, > 0.
    demand : ndarray of shape (n, m)
        ``G b - h``: positive where the start point violates the row.
    room_up, room_down : array_like broadcastable to (n, d)
        How far each feature may rise and fall, >= 0, possibly ``inf``.
    cutoff : ndarray of shape (n,), optional
        A row stops (``CUT``) once its optimum is proved to be no less than this.
    max_pivots : int, optional
        Rows that need more end as ``TROUBLE``. Default: ``100 + 10 min(m, d)``.

    Returns
    -------
    Steps

    Examples
    --------
    >>> import numpy as np
    >>> G = np.array([[-1.0, -2.0]])  # x0 + 2 x1 >= 4, from the origin
    >>> solve_lockstep(G, np.ones(2), np.array([[4.0]]), np.inf, np.inf).step
    array([[0., 2.]])
    >>> solve_lockstep(G, np.ones(2), np.array([[4.0]]), 1.5, np.inf).step
    array([[1. , 1.5]])
    """
    scaled = scale_rows(G, weights)
    n, (m, d) = len(demand), np.shape(G)
    up = np.broadcast_to(np.asarray(room_up, dtype=np.float64), (n, d))
    down = np.broadcast_to(np.asarray(room_down, dtype=np.float64), (n, d))
    limit = default_limit(m, d) if max_pivots is None else max_pivots
    steps = empty_steps(n, m, d)
    size = max(1, _CHUNK_BYTES // (8 * (3 * m + 8 * d)))
    for first in range(0, n, size):
        part = slice(first, first + size)
        stop = None if cutoff is None else cutoff[part]
        chunk = _Chunk(scaled, scaled.demand(demand[part]), up[part], down[part], stop)
        _solve_chunk(chunk, limit, steps[part])
    return steps


@dataclass(frozen=True, eq=False)
class _Chunk:
    """The rows solved together."""

    scaled: ScaledRows
    r: FloatArray
    room_up: FloatArray
    room_down: FloatArray
    cutoff: FloatArray | None

    @cached_property
    def free(self) -> bool:
        """Whether no feature has a bound."""
        return bool(np.isinf(self.room_up).all() and np.isinf(self.room_down).all())

    def room(self, row: IntArray, feature: IntArray, upward: BoolArray) -> FloatArray:
        """Return the room of one feature per row on the given side, in units of cost."""
        room = np.where(upward, self.room_up[row, feature], self.room_down[row, feature])
        return room * self.scaled.weights[feature]


@dataclass(eq=False)
class _Active:
    """The bases of the rows still at work; positions beyond ``size`` name row m, feature 0."""

    row: IntArray  # (a,) position in the chunk
    size: IntArray  # (a,) k
    tight: IntArray  # (a, K) T
    moving: IntArray  # (a, K) J
    inverse: FloatArray  # (a, K, K) of A_TJ: rows as J, columns as T
    price: FloatArray  # (a, K) y_T
    side: FloatArray  # (a, K) z_J = +-1
    value: FloatArray  # (a, K) t_J
    room: FloatArray  # (a, K) on the side of t_J
    slack: FloatArray  # (a, m + 1) A t - r
    pull: FloatArray  # (a, d) z = y A
    high: FloatArray  # (a, d) the next breakpoint of z_i when it rises; inf: none
    low: FloatArray  # (a, d) the same when it falls
    resting: FloatArray  # (a,) cost of the features at a bound
    bound: FloatArray  # (a,) dual objective

    def take(self, keep: BoolArray) -> _Active:
        """Return the rows to keep."""
        return _Active(*(getattr(self, field.name)[keep] for field in fields(self)))

    def widen(self) -> None:
        """Leave one free position behind the largest basis."""
        grow = int(self.size.max()) + 1 - self.tight.shape[1]
        if grow > 0:
            pads = {"tight": self.slack.shape[1] - 1, "room": np.inf}
            for name in ("tight", "moving", "price", "side", "value", "room"):
                pad = ((0, 0), (0, grow))
                padded = np.pad(getattr(self, name), pad, constant_values=pads.get(name, 0))
                setattr(self, name, padded)
            self.inverse = np.pad(self.inverse, ((0, 0), (0, grow), (0, grow)))


@dataclass(frozen=True, eq=False)
class _Leaving:
    """What leaves: the slack of ``row``, or (row m) the feature at ``position``."""

    row: IntArray
    position: IntArray
    is_feature: BoolArray
    amount: FloatArray  # by how much it is infeasible: the first slope of the dual objective

    def take(self, keep: BoolArray) -> _Leaving:
        """Return the rows to keep."""
        return _Leaving(*(getattr(self, field.name)[keep] for field in fields(self)))


@dataclass(eq=False)
class _Entering:
    """What enters: a feature, or the slack of the tight row at ``position``; neither: a ray."""

    feature: IntArray
    position: IntArray
    is_feature: BoolArray
    is_ray: BoolArray

    def take(self, keep: BoolArray) -> _Entering:
        """Return the rows to keep."""
        return _Entering(*(getattr(self, field.name)[keep] for field in fields(self)))


def _solve_chunk(chunk: _Chunk, limit: int, steps: Steps) -> None:
    """Write the answers of one chunk into its steps."""
    demanding = (chunk.r > 0.0).any(axis=1)
    impossible = (chunk.r[:, :-1] > 0.0) & chunk.scaled.empty  # 0 >= r > 0
    hopeless = np.flatnonzero(impossible.any(axis=1))
    steps.status[hopeless] = INFEASIBLE
    steps.multipliers[hopeless, impossible[hopeless].argmax(axis=1)] = 1.0
    demanding[hopeless] = False
    active = _open(chunk, np.flatnonzero(demanding), steps)
    active, leaving = _retire(chunk, active, steps)
    for _ in range(limit):
        if not len(active.row):
            break
        active = _pivot(chunk, active, leaving, steps)
        active, leaving = _retire(chunk, active, steps)
    steps.status[active.row] = TROUBLE
    settle(chunk.scaled, chunk.r[:, :-1], chunk.room_up, chunk.room_down, steps, chunk.cutoff)


def _combine(coefficients: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return ``sum_a coefficients[:, a] vectors[:, a, :]``, added one after the other."""
    total = np.zeros((len(vectors), vectors.shape[2]))
    for a in range(vectors.shape[1]):
        total += coefficients[:, a, None] * vectors[:, a]
    return total


def _first_within_tie(rates: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the first position whose rate is as good as the best, and the best rate."""
    best = rates.max(axis=1)
    return (rates >= (best * (1.0 - TIE))[:, None]).argmax(axis=1), best


def _open(chunk: _Chunk, row: IntArray, steps: Steps) -> _Active:
    """Return the bases after the first pivot, which is a knapsack on the worst row alone.

    The features reach their breakpoints in the order of ``|A_ji|``; they go to their bounds one
    after the other until the row is satisfied, and the last one becomes basic.
    """
    scaled = chunk.scaled
    steps.pivots[row] = 1
    slack = -chunk.r[row]
    tight = slack.argmin(axis=1)
    along = scaled.rows[tight]
    high, low = np.ones_like(along), -np.ones_like(along)
    resting = np.zeros(len(row))
    feature = scaled.order[tight, 0]
    if not chunk.free:
        up, down = chunk.room_up[row] * scaled.weights, chunk.room_down[row] * scaled.weights
        rooms = np.where(along > 0.0, up, down)
        rooms[np.abs(along) < PIVOT] = 0.0
        order = scaled.order[tight]
        capacity = np.take_along_axis(rooms, order, axis=1)
        rises = np.take_along_axis(np.abs(along), order, axis=1)
        need = -np.take_along_axis(slack, tight[:, None], axis=1)
        reached = need - np.cumsum(rises * capacity, axis=1) <= FEASIBILITY * need
        flips = np.where(reached[:, -1], reached.argmax(axis=1), 0)
        feature = np.take_along_axis(order, flips[:, None], axis=1)[:, 0]
        signed = np.copysign(capacity, np.take_along_axis(along, order, axis=1))
        for f in range(int(flips.max(initial=0))):
            flip = np.flatnonzero((flips > f) & (capacity[:, f] > 0.0))
            slack[flip] += signed[flip, f, None] * scaled.columns[order[flip, f]]
            resting[flip] += capacity[flip, f]
        flipped = (scaled.rank[tight] < flips[:, None]) & (rooms > 0.0)
        rising, falling = flipped & (along > 0.0), flipped & (along < 0.0)
        high = np.where(falling, -1.0, np.where((up > 0.0) & ~rising, 1.0, np.inf))
        low = np.where(rising, 1.0, np.where((down > 0.0) & ~falling, -1.0, -np.inf))
        beyond = ~reached[:, -1]
        steps.status[row[beyond]] = INFEASIBLE
        steps.multipliers[row[beyond], tight[beyond]] = 1.0
    everyone = np.arange(len(row))
    inverse = 1.0 / along[everyone, feature]
    side = np.sign(inverse)
    price = side * inverse
    value = -inverse * slack[everyone, tight]
    slack += value[:, None] * scaled.columns[feature]
    slack[everyone, tight] = 0.0
    high[everyone, feature], low[everyone, feature] = np.inf, -np.inf
    active = _Active(
        row=row,
        size=np.ones(len(row), dtype=np.int64),
        tight=tight[:, None],
        moving=feature[:, None],
        inverse=inverse[:, None, None],
        price=price[:, None],
        side=side[:, None],
        value=value[:, None],
        room=chunk.room(row, feature, side > 0.0)[:, None],
        slack=slack,
        pull=price[:, None] * along,
        high=high,
        low=low,
        resting=resting,
        bound=resting + side * value,
    )
    return active if chunk.free else active.take(~beyond)


def _retire(chunk: _Chunk, active: _Active, steps: Steps) -> tuple[_Active, _Leaving]:
    """Record the rows that are optimal or cut; return the others and what leaves their bases.

    Infeasibility of row j is ``r_j - A_j t``, of a basic feature its distance to ``[0, room]``;
    both are lengths in units of cost, and the largest leaves.
    """
    tolerance = FEASIBILITY * active.bound[:, None]
    allowed = np.maximum(FEASIBILITY * np.abs(chunk.r[active.row]), tolerance)
    lacking = np.where(active.slack < -allowed, -active.slack, 0.0)
    inside = active.value * active.side
    outside = np.maximum(-inside, inside - active.room)
    outside = np.where(outside > tolerance, outside, 0.0)
    row, position = lacking.argmax(axis=1), outside.argmax(axis=1)
    everyone = np.arange(len(row))
    by_row, by_feature = lacking[everyone, row], outside[everyone, position]
    is_feature = by_feature > by_row
    amount = np.maximum(by_row, by_feature)
    leaving = _Leaving(np.where(is_feature, chunk.scaled.n_rows, row), position, is_feature, amount)
    optimal = amount == 0.0
    _record_points(chunk, active.take(optimal), steps)
    keep = ~optimal
    if chunk.cutoff is not None:
        cut = keep & (active.bound >= chunk.cutoff[active.row])
        steps.status[active.row[cut]] = CUT
        _record_prices(chunk, active.take(cut), steps)
        keep &= ~cut
    return active.take(keep), leaving.take(keep)


def _pivot(chunk: _Chunk, active: _Active, leaving: _Leaving, steps: Steps) -> _Active:
    """Return the bases after one pivot; rows that end in a dual ray are recorded and left out."""
    steps.pivots[active.row] += 1
    active.widen()
    change, along = _direction(chunk, active, leaving)
    entering = _ratio_test(chunk, active, leaving, change, along)
    if entering.is_ray.any():
        ray, keep = entering.is_ray, ~entering.is_ray
        _record_rays(chunk, active.take(ray), leaving.take(ray), change[ray], steps)
        active, leaving, entering = active.take(keep), leaving.take(keep), entering.take(keep)
        change, along = change[keep], along[keep]
    if len(active.row):
        _exchange(chunk, active, leaving, entering, change, along)
        _restore(chunk, active)
    return active


def _direction(chunk: _Chunk, active: _Active, leaving: _Leaving) -> tuple[FloatArray, FloatArray]:
    """Return the dual ray: the change of y_T, and the change ``alpha`` of the pull.

    A new tight row r gets y_r = theta, and ``dy_T = -A_rJ inverse`` keeps z_J at its side. A
    leaving feature moves its own z off the side instead, outwards or back towards 0.
    """
    rows, columns = chunk.scaled.rows, chunk.scaled.columns
    wanted = -rows[leaving.row[:, None], active.moving]
    out = np.flatnonzero(leaving.is_feature)
    at, position = active.row[out], leaving.position[out]
    feature, side = active.moving[out, position], active.side[out, position]
    value, room = active.value[out, position], active.room[out, position]
    above = value * side > room
    sign = np.where(above, side, -side)
    wanted[out, position] = sign
    change = _combine(wanted, active.inverse)
    along = rows[leaving.row]
    for s in range(change.shape[1]):
        along += change[:, s, None] * rows[active.tight[:, s]]
    if len(out):
        along[out, feature], active.pull[out, feature] = sign, side
        end = np.where(above, side * room, 0.0)
        active.slack[out] += (end - value)[:, None] * columns[feature]
        active.resting[out] += np.where(above, room, 0.0)
        up = chunk.room(at, feature, np.ones(len(out), dtype=bool))
        down = chunk.room(at, feature, np.zeros(len(out), dtype=bool))
        active.high[out, feature] = np.where(
            above, np.where(side > 0.0, np.inf, -1.0), np.where(up > 0.0, 1.0, np.inf)
        )
        active.low[out, feature] = np.where(
            above, np.where(side > 0.0, 1.0, -np.inf), np.where(down > 0.0, -1.0, -np.inf)
        )
    return change, along


def _ratio_test(
    chunk: _Chunk, active: _Active, leaving: _Leaving, change: FloatArray, along: FloatArray
) -> _Entering:
    """Return what enters, after flipping the features that the dual objective outgrows.

    Breakpoints are compared by ``rate = |alpha| / distance``, the inverse of the step length.
    Passing feature i's breakpoint lowers the slope of the dual objective by ``|alpha_i| room_i``.
    """
    floor = PIVOT * np.maximum(1.0, np.abs(change).max(axis=1))[:, None]
    speed = np.abs(along)
    speed[speed < floor] = 0.0
    distance = np.abs(np.where(along > 0.0, active.high, active.low) - active.pull)
    rates = speed / np.maximum(distance, GAP)
    shrinking = np.where(change < -floor, -change, 0.0)
    position, slack_rate = _first_within_tie(shrinking / np.maximum(active.price, GAP))
    count = len(rates)
    entering = _Entering(
        np.zeros(count, dtype=np.int64), position, np.zeros(count, bool), np.zeros(count, bool)
    )
    slope = leaving.amount.copy()
    tolerance = FEASIBILITY * np.maximum(active.bound, leaving.amount)
    at = np.arange(count)
    while len(at):
        feature, rate = _first_within_tie(rates)
        by_slack = slack_rate[at] >= rate * (1.0 - TIE)
        entering.feature[at] = feature
        entering.is_feature[at] = ~by_slack
        entering.is_ray[at] = by_slack & (slack_rate[at] == 0.0)
        upward = along[at, feature] > 0.0
        limit = np.where(upward, active.high[at, feature], active.low[at, feature])
        room = chunk.room(active.row[at], feature, limit > 0.0)
        drop = np.where(by_slack, np.inf, np.where(by_slack, 1.0, speed[at, feature]) * room)
        flip = slope[at] - drop > tolerance[at]
        at, feature, upward, limit, room = (x[flip] for x in (at, feature, upward, limit, room))
        slope[at] -= drop[flip]
        rates = rates[flip]
        if len(at):
            _flip(chunk, active, at, feature, upward, limit, room)
            following = np.where(upward, active.high[at, feature], active.low[at, feature])
            left = np.maximum(np.abs(following - active.pull[at, feature]), GAP)
            rates[np.arange(len(at)), feature] = speed[at, feature] / left
    return entering


def _flip(
    chunk: _Chunk,
    active: _Active,
    at: IntArray,
    feature: IntArray,
    upward: BoolArray,
    limit: FloatArray,
    room: FloatArray,
) -> None:
    """Send a feature from one end of its range, as z passes ``limit``, to the other end."""
    active.slack[at] += np.where(upward, room, -room)[:, None] * chunk.scaled.columns[feature]
    outward = upward == (limit > 0.0)
    active.resting[at] += np.where(outward, room, -room)
    onward = ~outward & (chunk.room(active.row[at], feature, upward) > 0.0)
    active.high[at, feature] = np.where(upward, np.where(onward, 1.0, np.inf), limit)
    active.low[at, feature] = np.where(upward, limit, np.where(onward, -1.0, -np.inf))


def _exchange(
    chunk: _Chunk,
    active: _Active,
    leaving: _Leaving,
    entering: _Entering,
    change: FloatArray,
    along: FloatArray,
) -> None:
    """Swap leaving for entering in the bases, the inverses, and the dual solution.

    With u the entering column in the old basis and pivot p, the inverse loses ``u dy / p``; a new
    tight row brings the column ``-u / p``, a new feature the row ``dy / p``.
    """
    everyone = np.arange(len(active.row))
    feature, position = entering.feature, entering.position
    column = chunk.scaled.rows[active.tight, feature[:, None]]
    by_slack = np.flatnonzero(~entering.is_feature)
    column[by_slack] = 0.0
    column[by_slack, position[by_slack]] = 1.0
    u = _combine(column, active.inverse.transpose(0, 2, 1))
    pivot = np.where(entering.is_feature, along[everyone, feature], change[everyone, position])
    upward = along[everyone, feature] > 0.0
    limit = np.where(upward, active.high[everyone, feature], active.low[everyone, feature])
    gap = np.where(
        entering.is_feature,
        np.abs(limit - active.pull[everyone, feature]),
        active.price[everyone, position],
    )
    theta = np.maximum(gap, 0.0) / np.abs(pivot)
    active.pull += theta[:, None] * along
    u, row = u / pivot[:, None], change / pivot[:, None]
    active.inverse -= u[:, :, None] * change[:, None, :]
    _take_in_row(active, leaving, entering, u)
    _take_in_feature(chunk, active, leaving, entering, row, limit, upward)
    both = np.flatnonzero(entering.is_feature & ~leaving.is_feature)
    active.inverse[both, active.size[both], active.size[both]] = 1.0 / pivot[both]
    active.size[both] += 1
    _drop_pair(active, leaving, entering)


def _take_in_row(active: _Active, leaving: _Leaving, entering: _Entering, u: FloatArray) -> None:
    """Name the new tight rows in the bases."""
    new = np.flatnonzero(~leaving.is_feature)
    column = np.where(entering.is_feature, active.size, entering.position)[new]
    active.inverse[new, :, column] = -u[new]
    active.tight[new, column] = leaving.row[new]


def _take_in_feature(
    chunk: _Chunk,
    active: _Active,
    leaving: _Leaving,
    entering: _Entering,
    row: FloatArray,
    limit: FloatArray,
    upward: BoolArray,
) -> None:
    """Name the new moving features in the bases; each starts from where it rested."""
    new = np.flatnonzero(entering.is_feature)
    place = np.where(leaving.is_feature, leaving.position, active.size)[new]
    feature, side, upward = entering.feature[new], limit[new], upward[new]
    room = chunk.room(active.row[new], feature, side > 0.0)
    at_bound = upward != (side > 0.0)
    active.inverse[new, place] = row[new]
    active.moving[new, place] = feature
    active.side[new, place] = side
    active.room[new, place] = room
    active.value[new, place] = np.where(at_bound, side * room, 0.0)
    active.resting[new] -= np.where(at_bound, room, 0.0)
    active.high[new, feature], active.low[new, feature] = np.inf, -np.inf


def _drop_pair(active: _Active, leaving: _Leaving, entering: _Entering) -> None:
    """Where a feature left for a slack, the basis shrinks: its last pair fills the holes."""
    shrunk = np.flatnonzero(leaving.is_feature & ~entering.is_feature)
    if not len(shrunk):
        return
    active.size[shrunk] -= 1
    last = active.size[shrunk]
    hole, column = leaving.position[shrunk], entering.position[shrunk]
    for array in (active.moving, active.side, active.room, active.value):
        array[shrunk, hole] = array[shrunk, last]
    active.tight[shrunk, column] = active.tight[shrunk, last]
    active.inverse[shrunk, hole] = active.inverse[shrunk, last]
    active.inverse[shrunk, :, column] = active.inverse[shrunk, :, last]
    active.inverse[shrunk, last], active.inverse[shrunk, :, last] = 0.0, 0.0
    active.tight[shrunk, last], active.moving[shrunk, last] = active.slack.shape[1] - 1, 0
    active.side[shrunk, last], active.value[shrunk, last] = 0.0, 0.0
    active.room[shrunk, last] = np.inf


def _restore(chunk: _Chunk, active: _Active) -> None:
    """Solve for y_T and t_J afresh: ``y A_TJ = side``, and t_J closes the slack of T."""
    active.price = _combine(active.side, active.inverse)
    open_slack = np.take_along_axis(active.slack, active.tight, axis=1)
    step = -_combine(open_slack, active.inverse.transpose(0, 2, 1))
    active.value += step
    for p in range(step.shape[1]):
        active.slack += step[:, p, None] * chunk.scaled.columns[active.moving[:, p]]
    np.put_along_axis(active.slack, active.tight, 0.0, axis=1)
    paid = np.zeros(len(step))
    for p in range(step.shape[1]):
        paid += active.side[:, p] * active.value[:, p]
    active.bound = active.resting + paid


def _basis(chunk: _Chunk, active: _Active) -> FloatArray:
    return chunk.scaled.rows[active.tight[:, :, None], active.moving[:, None, :]]


def _record_points(chunk: _Chunk, active: _Active, steps: Steps) -> None:
    """Write down the optimal points, from ``A_TJ t_J = r_T - A_TN t_N`` solved once more."""
    if not len(active.row):
        return
    row, weights = active.row, chunk.scaled.weights
    right = chunk.r[row[:, None], active.tight]
    if not chunk.free:
        up, down = chunk.room_up[row], chunk.room_down[row]
        resting = np.where(active.low == 1.0, up, np.where(active.high == -1.0, -down, 0.0))
        steps.step[row] = resting
        resting *= weights
        for s in range(right.shape[1]):
            products = chunk.scaled.rows[active.tight[:, s]] * resting
            right[:, s] -= np.cumsum(products, axis=1)[:, -1]
    basis = _basis(chunk, active).transpose(0, 2, 1)
    inverse = active.inverse.transpose(0, 2, 1)
    value = _combine(right, inverse)
    for _ in range(2):
        value += _combine(right - _combine(value, basis), inverse)
    for p in range(value.shape[1]):
        has = np.flatnonzero(active.size > p)
        at, feature = row[has], active.moving[has, p]
        up, down = chunk.room_up[at, feature], chunk.room_down[at, feature]
        step = np.clip(value[has, p] / weights[feature], -down, up)
        steps.step[at, feature] = step + 0.0
    _record_prices(chunk, active, steps)


def _record_prices(chunk: _Chunk, active: _Active, steps: Steps) -> None:
    """Write down the multipliers ``y A_TJ = side``."""
    price = _solve_left(chunk, active, active.side)
    _scatter(active, price, steps)


def _record_rays(
    chunk: _Chunk, active: _Active, leaving: _Leaving, change: FloatArray, steps: Steps
) -> None:
    """Write down the dual rays along which the dual objective grows for ever."""
    del change
    wanted = -chunk.scaled.rows[leaving.row[:, None], active.moving]
    out = np.flatnonzero(leaving.is_feature)
    position = leaving.position[out]
    inside = active.value[out, position] * active.side[out, position]
    sign = np.where(inside > active.room[out, position], 1.0, -1.0)
    wanted[out, position] = sign * active.side[out, position]
    steps.status[active.row] = INFEASIBLE
    _scatter(active, _solve_left(chunk, active, wanted), steps)
    by_row = ~leaving.is_feature
    steps.multipliers[active.row[by_row], leaving.row[by_row]] = 1.0


def _solve_left(chunk: _Chunk, active: _Active, wanted: FloatArray) -> FloatArray:
    """Return y with ``y A_TJ = wanted``, refined twice."""
    basis = _basis(chunk, active)
    price = _combine(wanted, active.inverse)
    for _ in range(2):
        price += _combine(wanted - _combine(price, basis), active.inverse)
    return price


def _scatter(active: _Active, price: FloatArray, steps: Steps) -> None:
    for s in range(price.shape[1]):
        has = np.flatnonzero(active.size > s)
        steps.multipliers[active.row[has], active.tight[has, s]] = np.maximum(price[has, s], 0.0)
