"""One pivot of the dual simplex, in lock step over a working set.

The worst infeasibility leaves the basis: a violated row becomes tight, or a feature beyond its
range goes to the end of it. This opens a dual ray ``y + theta dy`` along which the pull moves as
``z + theta alpha``. Features whose z meets a breakpoint flip from end to end as long as the dual
objective still grows; what stops the growth enters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows
from pertinent.solvers.linear.simplex.bases import Bases, Batch, add_multiple, combine
from pertinent.solvers.tolerances import BREAKPOINT, FEASIBILITY, PIVOT, RATIO_TIE


@dataclass(frozen=True, eq=False)
class Leaving(Rows):
    """What leaves: the slack of ``row``, or (row m) the moving feature at ``position``."""

    row: IntArray
    position: IntArray
    is_feature: BoolArray
    amount: FloatArray  # its infeasibility: the slope of the dual objective along the ray


@dataclass(frozen=True, eq=False)
class Ray:
    """The dual ray: y_T changes by dy (and the new row's y by 1), the pull by ``along``."""

    wanted: FloatArray  # (K, a) dy A_TJ
    change: FloatArray  # (K, a) dy
    along: FloatArray  # (a, d) alpha

    def take(self, keep: IntArray) -> Ray:
        """Return the same for some of the rows, which lie last in two of the arrays."""
        return Ray(self.wanted[:, keep], self.change[:, keep], self.along.take(keep, axis=0))


@dataclass(frozen=True, eq=False)
class Entering(Rows):
    """What enters: a feature, or the slack of the tight row at ``position``."""

    feature: IntArray
    position: IntArray
    is_feature: BoolArray
    is_endless: BoolArray  # nothing enters: the ray proves that no point exists


def choose_leaving(bases: Bases) -> Leaving:
    """Return the largest infeasibility of each basis; amount 0 where it is optimal.

    Row j lacks ``r_j - A_j t``, a moving feature its distance to ``[0, room]``: both are lengths
    in units of cost.
    """
    everyone = np.arange(len(bases))
    tolerance = FEASIBILITY * bases.bound
    row = bases.slack.argmin(axis=1)
    lacking = -bases.slack[everyone, row]
    lacking[lacking <= tolerance] = 0.0
    position, outside = np.zeros(len(bases), dtype=np.int64), tolerance
    for p in range(len(bases.value)):
        inside = bases.value[p] * bases.side[p]
        distance = np.maximum(-inside, inside - bases.room[p])
        farther = distance > outside
        position[farther] = p
        outside = np.maximum(outside, distance)
    is_feature = (outside > tolerance) & (outside > lacking)
    no_row = bases.slack.shape[1] - 1
    amount = np.where(is_feature, outside, lacking)
    return Leaving(np.where(is_feature, no_row, row), position, is_feature, amount)


def follow_ray(batch: Batch, bases: Bases, leaving: Leaving) -> Ray:
    """Return the dual ray that the leaving row or feature opens.

    A new tight row r gets y_r = theta, and ``dy_T = -A_rJ inverse`` keeps z_J at its side. A
    leaving feature moves its own z off the side: outwards, or back towards 0.
    """
    rows = batch.scaled.rows
    at = batch.rows_at(bases.row, leaving.row)
    wanted = -rows[at, bases.moving]
    out = np.flatnonzero(leaving.is_feature)
    if len(out):
        position = leaving.position[out]
        side, room = bases.side[position, out], bases.room[position, out]
        above = bases.value[position, out] * side > room
        wanted[position, out] = np.where(above, side, -side)
    change = combine(wanted, bases.inverse)
    along = rows.take(at, axis=0)
    tight = batch.rows_at(bases.row, bases.tight)
    for s in range(len(change)):
        add_multiple(along, change[s], rows, tight[s])
    if len(out):
        feature = bases.moving[position, out]
        along[out, feature] = wanted[position, out]
        bases.pull[out, feature] = side
        _send_to_end(batch, bases, out, position, above)
    return Ray(wanted, change, along)


def _send_to_end(
    batch: Batch, bases: Bases, out: IntArray, position: IntArray, above: BoolArray
) -> None:
    """Put leaving features to the bound they passed (``above``) or back to 0."""
    row, feature = bases.row[out], bases.moving[position, out]
    side, room = bases.side[position, out], bases.room[position, out]
    end = np.where(above, room, 0.0)
    moved = side * end - bases.value[position, out]
    columns = batch.scaled.columns.take(batch.columns_at(row, feature), axis=0)
    bases.slack[out] += moved[:, None] * columns
    bases.resting[out] += end
    upper, every = side > 0.0, np.ones(len(out), dtype=bool)
    can_rise = batch.rooms(row, feature, every) > 0.0
    can_fall = batch.rooms(row, feature, ~every) > 0.0
    bases.high[out, feature] = np.where(
        above, np.where(upper, np.inf, -1.0), np.where(can_rise, 1.0, np.inf)
    )
    bases.low[out, feature] = np.where(
        above, np.where(upper, 1.0, -np.inf), np.where(can_fall, -1.0, -np.inf)
    )
    if not batch.free:
        bases.rest[out, feature] = np.where(above, side * batch.rooms(row, feature, upper), 0.0)


def choose_entering(batch: Batch, bases: Bases, leaving: Leaving, ray: Ray) -> Entering:
    """Return what enters, after flipping the features that the dual objective outgrows.

    Breakpoints are compared by ``rate = |alpha| / distance``, the inverse of theta. Passing that
    of feature i lowers the slope of the dual objective by ``|alpha_i| room_i``.
    """
    count, scaled = len(bases), batch.scaled
    floor = PIVOT * np.maximum(1.0, np.abs(ray.change).max(axis=0))
    position, slack_rate = _first_price_to_vanish(bases, ray, floor)
    entering = Entering(np.zeros(count, dtype=np.int64), position, *np.zeros((2, count), bool))
    slope = leaving.amount.copy()
    tolerance = FEASIBILITY * np.maximum(bases.bound, leaving.amount)
    rates = _rates(batch, bases, ray)
    at = np.arange(count)
    while True:
        feature, rate = _fastest(rates, ray.along, at, floor)
        by_slack = slack_rate[at] >= rate * (1.0 - RATIO_TIE)
        entering.feature[at] = feature
        entering.is_feature[at] = ~by_slack
        entering.is_endless[at] = by_slack & (slack_rate[at] == 0.0)
        if batch.free:
            break
        speed = ray.along[at, feature]
        limit = np.where(speed > 0.0, bases.high[at, feature], bases.low[at, feature])
        room = batch.rooms(bases.row[at], feature, limit > 0.0)
        drop = np.where(by_slack, np.inf, room * scaled.weights[feature])
        drop *= np.where(by_slack, 1.0, np.abs(speed))
        go_on = np.flatnonzero(slope[at] - drop > tolerance[at])
        if not len(go_on):
            break
        at, feature, speed, rates = at[go_on], feature[go_on], speed[go_on], rates[go_on]
        slope[at] -= drop[go_on]
        following = _flip(batch, bases, at, feature, speed > 0.0, limit[go_on], room[go_on])
        distance = np.maximum(np.abs(following - bases.pull[at, feature]), BREAKPOINT)
        rates[np.arange(len(at)), feature] = np.abs(speed) * scaled.bias[feature] / distance
    return entering


def _first_price_to_vanish(
    bases: Bases, ray: Ray, floor: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the position s whose ``y_s + theta dy_s`` meets 0 first, and its rate (0: none)."""
    position, fastest = np.zeros(len(bases), dtype=np.int64), np.zeros(len(bases))
    for s, change in enumerate(ray.change):
        rate = np.where(change < -floor, -change, 0.0) / np.maximum(bases.price[s], BREAKPOINT)
        position[rate > fastest] = s
        fastest = np.maximum(rate, fastest)
    return position, fastest


def _rates(batch: Batch, bases: Bases, ray: Ray) -> FloatArray:
    """Return ``alpha / (limit - z)`` of every feature, > 0 where it moves to a breakpoint.

    The limit is ``high`` for alpha > 0 and ``low`` for alpha < 0; the quotient by the other one
    is negative. A bias far below the tolerances makes the first of equal features the best.
    """
    biased = ray.along * batch.scaled.bias
    rising = bases.high - bases.pull
    np.maximum(rising, BREAKPOINT, out=rising)
    np.divide(biased, rising, out=rising)
    falling = bases.low - bases.pull
    np.minimum(falling, -BREAKPOINT, out=falling)
    np.divide(biased, falling, out=falling)
    return np.maximum(rising, falling, out=rising)


def _fastest(
    rates: FloatArray, along: FloatArray, at: IntArray, floor: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the feature with the best rate among those that move faster than the floor."""
    own = np.arange(len(at))
    feature = rates.argmax(axis=1)
    weak = np.flatnonzero(np.abs(along[at, feature]) < floor[at])
    if len(weak):
        rates[weak] *= np.abs(along[at[weak]]) >= floor[at[weak], None]
        feature[weak] = rates[weak].argmax(axis=1)
    return feature, np.maximum(rates[own, feature], 0.0)


def _flip(
    batch: Batch,
    bases: Bases,
    at: IntArray,
    feature: IntArray,
    upward: BoolArray,
    limit: FloatArray,
    room: FloatArray,
) -> FloatArray:
    """Send features whose z passes ``limit`` to the other end; return their next breakpoint."""
    cost = room * batch.scaled.weights[feature]
    outward = upward == (limit > 0.0)
    columns = batch.scaled.columns[batch.columns_at(bases.row[at], feature)]
    bases.slack[at] += np.where(upward, cost, -cost)[:, None] * columns
    bases.resting[at] += np.where(outward, cost, -cost)
    bases.rest[at, feature] = np.where(outward, np.where(upward, room, -room), 0.0)
    onward = ~outward & (batch.rooms(bases.row[at], feature, upward) > 0.0)
    following = np.where(onward, 1.0, np.inf) * np.where(upward, 1.0, -1.0)
    bases.high[at, feature] = np.where(upward, following, limit)
    bases.low[at, feature] = np.where(upward, limit, following)
    return following


def exchange(batch: Batch, bases: Bases, leaving: Leaving, entering: Entering, ray: Ray) -> None:
    """Swap what leaves for what enters, in the bases and in both solutions.

    With u the entering column in terms of the old basis and p the pivot, the inverse loses
    ``u dy / p``; a new tight row brings the column ``-u / p``, a new feature the row ``dy / p``.
    """
    everyone = np.arange(len(bases))
    feature, position = entering.feature, entering.position
    column = batch.scaled.rows[batch.rows_at(bases.row, bases.tight), feature]
    by_slack = np.flatnonzero(~entering.is_feature)
    if len(by_slack):
        column[:, by_slack] = 0.0
        column[position[by_slack], by_slack] = 1.0
    speed = ray.along[everyone, feature]
    limit = np.where(speed > 0.0, bases.high[everyone, feature], bases.low[everyone, feature])
    distance = np.abs(limit - bases.pull[everyone, feature])
    left = np.where(entering.is_feature, distance, np.maximum(bases.price[position, everyone], 0.0))
    pivot = np.where(entering.is_feature, speed, ray.change[position, everyone])
    bases.pull += (left / np.abs(pivot))[:, None] * ray.along
    u = combine(column, bases.inverse.transpose(1, 0, 2)) / pivot
    bases.inverse -= u[:, None] * ray.change
    _take_in_row(bases, leaving, entering, u)
    _take_in_feature(batch, bases, leaving, entering, ray.change / pivot, limit, speed > 0.0)
    both = np.flatnonzero(entering.is_feature & ~leaving.is_feature)
    bases.inverse[bases.size[both], bases.size[both], both] = 1.0 / pivot[both]
    bases.size[both] += 1
    _drop_pair(bases, leaving, entering)
    _solve(batch, bases)


def _take_in_row(bases: Bases, leaving: Leaving, entering: Entering, u: FloatArray) -> None:
    """Name the new tight rows in the bases."""
    new = np.flatnonzero(~leaving.is_feature)
    place = np.where(entering.is_feature, bases.size, entering.position)[new]
    bases.inverse[:, place, new] = -u[:, new]
    bases.tight[place, new] = leaving.row[new]


def _take_in_feature(
    batch: Batch,
    bases: Bases,
    leaving: Leaving,
    entering: Entering,
    row: FloatArray,
    limit: FloatArray,
    upward: BoolArray,
) -> None:
    """Name the new moving features in the bases; each starts from where it rested."""
    new = np.flatnonzero(entering.is_feature)
    place = np.where(leaving.is_feature, leaving.position, bases.size)[new]
    feature, side = entering.feature[new], limit[new]
    room = batch.rooms(bases.row[new], feature, side > 0.0) * batch.scaled.weights[feature]
    from_bound = upward[new] != (side > 0.0)
    start = np.where(from_bound, room, 0.0)
    bases.inverse[place, :, new] = row[:, new].T
    bases.moving[place, new] = feature
    bases.side[place, new] = side
    bases.room[place, new] = room
    bases.value[place, new] = side * start
    bases.resting[new] -= start
    bases.high[new, feature], bases.low[new, feature] = np.inf, -np.inf
    if not batch.free:
        bases.rest[new, feature] = 0.0


def _drop_pair(bases: Bases, leaving: Leaving, entering: Entering) -> None:
    """Where a feature left for a slack, the basis shrinks: its last pair fills the holes."""
    shrunk = np.flatnonzero(leaving.is_feature & ~entering.is_feature)
    if not len(shrunk):
        return
    bases.size[shrunk] -= 1
    last, hole, column = bases.size[shrunk], leaving.position[shrunk], entering.position[shrunk]
    padding = {"tight": bases.slack.shape[1] - 1, "room": np.inf}
    for name in ("tight", "moving", "side", "value", "room"):
        array = getattr(bases, name)
        array[column if name == "tight" else hole, shrunk] = array[last, shrunk]
        array[last, shrunk] = padding.get(name, 0)
    bases.inverse[hole, :, shrunk] = bases.inverse[last, :, shrunk]
    bases.inverse[:, column, shrunk] = bases.inverse[:, last, shrunk]
    bases.inverse[last, :, shrunk], bases.inverse[:, last, shrunk] = 0.0, 0.0


def _solve(batch: Batch, bases: Bases) -> None:
    """Solve for y_T and t_J: ``y A_TJ = side``, and t_J closes the slack of T."""
    everyone = np.arange(len(bases))
    bases.price = combine(bases.side, bases.inverse)
    lacking = -bases.slack[everyone, bases.tight]
    step = combine(lacking, bases.inverse.transpose(1, 0, 2))
    bases.value += step
    moving = batch.columns_at(bases.row, bases.moving)
    for p in range(len(step)):
        add_multiple(bases.slack, step[p], batch.scaled.columns, moving[p])
    bases.slack[everyone, bases.tight] = 0.0
    bases.bound = combine(bases.side, bases.value) + bases.resting
