"""The bounded dual simplex, row by row, compiled by numba; import it only where numba is.

The arithmetic is that of the lock-step version, operation by operation and in the same order, so
that both give the same bytes; names and formulas are explained there. It is one long file for the
reason that `pertinent.solvers.jit` gives; tolerances are handed in, in `Work`. Its functions are
inlined, because a call that passes twenty arrays spends its time on counting references.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import CodeArray, FloatArray, IntArray
from pertinent.solvers import tolerances
from pertinent.solvers.jit import entry, inlined
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE


class Rows(NamedTuple):
    """The scaled rows, as in `pertinent.solvers.linear.simplex.scaled.ScaledRows`."""

    rows: FloatArray
    columns: FloatArray
    sigma: FloatArray
    weights: FloatArray
    order: IntArray
    bias: FloatArray


class Work(NamedTuple):
    """One row's basis and solutions, as in `pertinent.solvers.linear.simplex.bases.Bases`."""

    tight: IntArray
    moving: IntArray
    price: FloatArray
    side: FloatArray
    value: FloatArray
    room: FloatArray
    inverse: FloatArray
    slack: FloatArray
    pull: FloatArray
    high: FloatArray
    low: FloatArray
    rest: FloatArray
    # The row's demand and rooms.
    r: FloatArray
    up: FloatArray
    down: FloatArray
    # Scratch: over positions, and over features.
    wanted: FloatArray
    change: FloatArray
    u: FloatArray
    error: FloatArray
    along: FloatArray
    rates: FloatArray
    # Tolerances.
    feasibility: float
    pivot: float
    breakpoint: float
    tie: float


def make_work(m: int, d: int) -> Work:
    """Return room for one basis, which never has more than min(m, d) pairs."""
    width = min(m, d) + 1
    over = np.zeros((8, width))
    by_row, by_feature = np.zeros((2, m + 1)), np.zeros((8, d))
    return Work(
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        over[0],
        over[1],
        over[2],
        over[3],
        np.zeros((width, width)),
        by_row[0],
        by_feature[0],
        by_feature[1],
        by_feature[2],
        by_feature[3],
        by_row[1],
        by_feature[4],
        by_feature[5],
        over[4],
        over[5],
        over[6],
        over[7],
        by_feature[6],
        by_feature[7],
        tolerances.FEASIBILITY,
        tolerances.PIVOT,
        tolerances.BREAKPOINT,
        tolerances.RATIO_TIE,
    )


@entry
def solve_rows(
    problem: Rows,
    work: Work,
    which: IntArray,
    demand: FloatArray,
    room_up: FloatArray,
    room_down: FloatArray,
    cutoff: FloatArray,
    limit: int,
    step: FloatArray,
    multipliers: FloatArray,
    status: CodeArray,
    pivots: IntArray,
) -> None:
    """Write the answers of the given rows; rooms and cutoff may have one row for all."""
    for i in which:
        stop = cutoff[i if len(cutoff) > 1 else 0]
        up, down = (i if len(room_up) > 1 else 0), (i if len(room_down) > 1 else 0)
        for j in range(len(problem.weights)):
            work.up[j], work.down[j] = room_up[up, j], room_down[down, j]
        for j in range(len(problem.sigma)):
            work.r[j] = demand[i, j] / problem.sigma[j]
        status[i], pivots[i] = solve_row(problem, work, stop, limit, step[i], multipliers[i])


@inlined
def solve_row(
    problem: Rows, work: Work, stop: float, limit: int, step: FloatArray, multipliers: FloatArray
) -> tuple[int, int]:
    """Return status and pivots of one row."""
    tight = first_largest(work.r)
    rank = knapsack(problem, work, tight)
    if rank < 0:
        multipliers[tight] = 1.0
        return EMPTY, 1
    size, pivots = 1, 1
    resting, bound = open_basis(problem, work, tight, rank)
    while True:
        row, position, amount = choose_leaving(work, size, bound)
        if amount == 0.0:
            record_point(problem, work, size, step)
            record_prices(problem, work, size, work.side, multipliers)
            return SOLVED, pivots
        if pivots >= limit:
            return TROUBLE, pivots
        if bound >= stop:
            record_prices(problem, work, size, work.side, multipliers)
            return CUT, pivots
        if pivots == 1:
            start_pulls(problem, work)
        pivots += 1
        resting += follow_ray(problem, work, size, row, position)
        feature, place, resting = choose_entering(problem, work, size, bound, amount, resting)
        if feature < 0 and place < 0:
            record_prices(problem, work, size, work.wanted, multipliers)
            if position < 0:
                multipliers[row] = 1.0
            return EMPTY, pivots
        size, released = exchange(problem, work, size, row, position, feature, place)
        resting += released
        bound = resolve(problem, work, size, resting)


@inlined
def first_largest(values: FloatArray) -> int:
    """Return the position of the largest value, the first of equals."""
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
    return best


@inlined
def knapsack(problem: Rows, work: Work, tight: int) -> int:
    """Return how many features the worst row fills before one satisfies it; -1: none does."""
    need, reach = work.r[tight], 0.0
    for rank in range(len(problem.weights)):
        feature = problem.order[tight, rank]
        along = problem.rows[tight, feature]
        room = work.up[feature] if along > 0.0 else work.down[feature]
        if abs(along) < work.pivot:
            room = 0.0
        reach += abs(along) * (room * problem.weights[feature])
        if need - reach <= work.feasibility * need:
            return rank
    return -1


@inlined
def add_column(problem: Rows, work: Work, feature: int, amount: float) -> None:
    """Move a feature by the amount: ``slack += amount A_feature``."""
    column = problem.columns[feature]
    for j in range(len(column)):
        work.slack[j] += amount * column[j]


@inlined
def open_basis(problem: Rows, work: Work, tight: int, rank: int) -> tuple[float, float]:
    """Fill the first features and let the next one in; return resting cost and bound."""
    for j in range(len(work.r)):
        work.slack[j] = -work.r[j]
    for i in range(len(work.rest)):
        work.rest[i] = 0.0
    resting = 0.0
    for place in range(rank):
        feature = problem.order[tight, place]
        upward = problem.rows[tight, feature] > 0.0
        room = work.up[feature] if upward else work.down[feature]
        if room > 0.0:
            cost = room * problem.weights[feature]
            resting += cost
            work.rest[feature] = room if upward else -room
            add_column(problem, work, feature, cost if upward else -cost)
    feature = problem.order[tight, rank]
    inverse = 1.0 / problem.rows[tight, feature]
    side = 1.0 if inverse > 0.0 else -1.0
    value = -inverse * work.slack[tight]
    add_column(problem, work, feature, value)
    work.slack[tight] = 0.0
    work.tight[0], work.moving[0] = tight, feature
    work.price[0], work.side[0], work.value[0] = side * inverse, side, value
    work.room[0] = (work.up[feature] if side > 0.0 else work.down[feature]) * problem.weights[
        feature
    ]
    work.inverse[0, 0] = inverse
    return resting, resting + side * value


@inlined
def start_pulls(problem: Rows, work: Work) -> None:
    """Fill in the pull of the one tight row, and the breakpoints it will meet."""
    row = problem.rows[work.tight[0]]
    for i in range(len(row)):
        work.pull[i] = row[i] * work.price[0]
        work.high[i] = 1.0 if work.up[i] > 0.0 else np.inf
        work.low[i] = -1.0 if work.down[i] > 0.0 else -np.inf
        if work.rest[i] > 0.0:
            work.high[i], work.low[i] = np.inf, 1.0
        elif work.rest[i] < 0.0:
            work.high[i], work.low[i] = -1.0, -np.inf
    work.high[work.moving[0]], work.low[work.moving[0]] = np.inf, -np.inf


@inlined
def choose_leaving(work: Work, size: int, bound: float) -> tuple[int, int, float]:
    """Return the leaving row (or m), the leaving position (or -1), and the infeasibility."""
    tolerance = work.feasibility * bound
    row = 0
    for j in range(len(work.slack)):
        if work.slack[j] < work.slack[row]:
            row = j
    lacking = -work.slack[row]
    if lacking <= tolerance:
        lacking = 0.0
    position, outside = -1, tolerance
    for p in range(size):
        inside = work.value[p] * work.side[p]
        distance = max(-inside, inside - work.room[p])
        if distance > outside:
            position, outside = p, distance
    if position >= 0 and outside > lacking:
        return len(work.slack) - 1, position, outside
    return row, -1, lacking


@inlined
def follow_ray(problem: Rows, work: Work, size: int, row: int, position: int) -> float:
    """Fill ``wanted``, ``change`` and ``along``; return what the leaving feature pays to rest."""
    for p in range(size):
        work.wanted[p] = -problem.rows[row, work.moving[p]]
    side, above = 0.0, False
    if position >= 0:
        side = work.side[position]
        above = work.value[position] * side > work.room[position]
        work.wanted[position] = side if above else -side
    multiply_left(work.wanted, work, size, work.change)
    along = work.along
    for i in range(len(along)):
        along[i] = problem.rows[row, i]
    for s in range(size):
        factor, tight = work.change[s], problem.rows[work.tight[s]]
        for i in range(len(along)):
            along[i] += factor * tight[i]
    if position < 0:
        return 0.0
    feature = work.moving[position]
    along[feature], work.pull[feature] = work.wanted[position], side
    end = work.room[position] if above else 0.0
    add_column(problem, work, feature, side * end - work.value[position])
    if above:
        work.high[feature] = np.inf if side > 0.0 else -1.0
        work.low[feature] = 1.0 if side > 0.0 else -np.inf
        work.rest[feature] = work.up[feature] if side > 0.0 else -work.down[feature]
    else:
        work.high[feature] = 1.0 if work.up[feature] > 0.0 else np.inf
        work.low[feature] = -1.0 if work.down[feature] > 0.0 else -np.inf
        work.rest[feature] = 0.0
    return end


@inlined
def multiply_left(left: FloatArray, work: Work, size: int, out: FloatArray) -> None:
    """Fill ``out = left inverse``."""
    for s in range(size):
        total = left[0] * work.inverse[0, s]
        for p in range(1, size):
            total += left[p] * work.inverse[p, s]
        out[s] = total


@inlined
def multiply_right(work: Work, right: FloatArray, size: int, out: FloatArray) -> None:
    """Fill ``out = inverse right``."""
    for p in range(size):
        total = right[0] * work.inverse[p, 0]
        for s in range(1, size):
            total += right[s] * work.inverse[p, s]
        out[p] = total


@inlined
def choose_entering(
    problem: Rows, work: Work, size: int, bound: float, amount: float, resting: float
) -> tuple[int, int, float]:
    """Return the entering feature or the position of the slack, else -1, and the resting cost."""
    largest = 1.0
    for s in range(size):
        largest = max(largest, abs(work.change[s]))
    floor = work.pivot * largest
    place, slack_rate = first_price_to_vanish(work, size, floor)
    fill_rates(problem, work, floor)
    slope = amount
    tolerance = work.feasibility * max(bound, amount)
    while True:
        feature = first_largest(work.rates)
        rate = max(work.rates[feature], 0.0)
        if slack_rate >= rate * (1.0 - work.tie):
            return -1, (place if slack_rate > 0.0 else -1), resting
        upward = work.along[feature] > 0.0
        edge = work.high[feature] if upward else work.low[feature]
        room = work.up[feature] if edge > 0.0 else work.down[feature]
        cost = room * problem.weights[feature]
        drop = cost * abs(work.along[feature])
        if not slope - drop > tolerance:
            return feature, -1, resting
        slope -= drop
        resting += flip(problem, work, feature, upward, edge, room)


@inlined
def first_price_to_vanish(work: Work, size: int, floor: float) -> tuple[int, float]:
    """Return the position whose price meets 0 first, and its rate (0: none)."""
    place, fastest = 0, 0.0
    for s in range(size):
        rate = (-work.change[s] if work.change[s] < -floor else 0.0) / max(
            work.price[s], work.breakpoint
        )
        if rate > fastest:
            place, fastest = s, rate
    return place, fastest


@inlined
def fill_rates(problem: Rows, work: Work, floor: float) -> None:
    """Fill ``|alpha| / |limit - z|``, 0 where the pull moves slower than the floor."""
    along, bias, pull, high, low = work.along, problem.bias, work.pull, work.high, work.low
    for i in range(len(along)):  # without branches, since signs are hard to predict
        sign = 1.0 if along[i] > 0.0 else -1.0
        distance = sign * ((high[i] if along[i] > 0.0 else low[i]) - pull[i])
        speed = sign * along[i]
        rate = speed * bias[i] / (distance if distance > work.breakpoint else work.breakpoint)
        work.rates[i] = rate if speed >= floor else 0.0


@inlined
def flip(problem: Rows, work: Work, feature: int, upward: bool, edge: float, room: float) -> float:
    """Send a feature whose z passes the edge to its other end; return the change of cost."""
    cost: float = room * problem.weights[feature]
    outward = upward == (edge > 0.0)
    add_column(problem, work, feature, cost if upward else -cost)
    work.rest[feature] = (room if upward else -room) if outward else 0.0
    onward = not outward and (work.up[feature] if upward else work.down[feature]) > 0.0
    if upward:
        work.high[feature], work.low[feature] = (1.0 if onward else np.inf), edge
        following = work.high[feature]
    else:
        work.high[feature], work.low[feature] = edge, (-1.0 if onward else -np.inf)
        following = work.low[feature]
    distance = max(abs(following - work.pull[feature]), work.breakpoint)
    work.rates[feature] = abs(work.along[feature]) * problem.bias[feature] / distance
    return cost if outward else -cost


@inlined
def exchange(
    problem: Rows, work: Work, size: int, row: int, position: int, feature: int, place: int
) -> tuple[int, float]:
    """Swap what leaves for what enters; return the new size and the change of resting cost."""
    column, change, inverse = work.error, work.change, work.inverse
    edge = 0.0
    if feature >= 0:
        for s in range(size):
            column[s] = problem.rows[work.tight[s], feature]
        pivot = work.along[feature]
        edge = work.high[feature] if pivot > 0.0 else work.low[feature]
        left = abs(edge - work.pull[feature])
    else:
        for s in range(size):
            column[s] = 0.0
        column[place] = 1.0
        pivot = change[place]
        left = max(work.price[place], 0.0)
    theta = left / abs(pivot)
    for i in range(len(work.pull)):
        work.pull[i] += theta * work.along[i]
    multiply_right(work, column, size, work.u)
    for p in range(size):
        work.u[p] /= pivot
        for s in range(size):
            inverse[p, s] -= work.u[p] * change[s]
    if position < 0:  # a new tight row
        target = size if feature >= 0 else place
        for p in range(size):
            inverse[p, target] = -work.u[p]
        work.tight[target] = row
    released = 0.0
    if feature >= 0:
        target = position if position >= 0 else size
        for s in range(size):
            inverse[target, s] = change[s] / pivot
        released = take_in_feature(problem, work, target, feature, edge, pivot > 0.0)
    if position < 0 and feature >= 0:
        inverse[size, size] = 1.0 / pivot
        size += 1
    if position >= 0 and feature < 0:
        size -= 1
        drop_pair(work, size, position, place)
    return size, released


@inlined
def take_in_feature(
    problem: Rows, work: Work, target: int, feature: int, side: float, upward: bool
) -> float:
    """Name a new moving feature, starting from where it rested; return the change of cost."""
    room = (work.up[feature] if side > 0.0 else work.down[feature]) * problem.weights[feature]
    start = room if upward != (side > 0.0) else 0.0
    work.moving[target], work.side[target], work.room[target] = feature, side, room
    work.value[target] = side * start
    work.high[feature], work.low[feature], work.rest[feature] = np.inf, -np.inf, 0.0
    return -start


@inlined
def drop_pair(work: Work, last: int, position: int, place: int) -> None:
    """Fill the holes that a leaving feature and an entering slack left with the last pair."""
    work.tight[place] = work.tight[last]
    work.moving[position], work.side[position] = work.moving[last], work.side[last]
    work.value[position], work.room[position] = work.value[last], work.room[last]
    for s in range(last + 1):
        work.inverse[position, s] = work.inverse[last, s]
    for p in range(last + 1):
        work.inverse[p, place] = work.inverse[p, last]


@inlined
def resolve(problem: Rows, work: Work, size: int, resting: float) -> float:
    """Solve for y_T and t_J, close the slack of T, and return the dual objective."""
    multiply_left(work.side, work, size, work.price)
    for s in range(size):
        work.error[s] = -work.slack[work.tight[s]]
    multiply_right(work, work.error, size, work.u)
    for p in range(size):
        work.value[p] += work.u[p]
        add_column(problem, work, work.moving[p], work.u[p])
    for s in range(size):
        work.slack[work.tight[s]] = 0.0
    total: float = work.side[0] * work.value[0]
    for p in range(1, size):
        total += work.side[p] * work.value[p]
    return total + resting


@inlined
def tree_sum(terms: FloatArray) -> float:
    """Return the sum, adding halves, as `pertinent.solvers.linear.simplex.bases.tree_sum` does."""
    width = len(terms)
    while width > 1:
        half = (width + 1) // 2
        for i in range(width - half):
            terms[i] += terms[half + i]
        width = half
    return float(terms[0])


@inlined
def record_point(problem: Rows, work: Work, size: int, step: FloatArray) -> None:
    """Write down the point of ``A_TJ t_J = r_T - A_TN t_N``, solved afresh."""
    right, value, terms = work.change, work.u, work.rates
    some_rest = False
    for i in range(len(step)):
        step[i] = work.rest[i]
        some_rest |= step[i] != 0.0
    for s in range(size):
        right[s] = work.r[work.tight[s]]
        if some_rest:
            row = problem.rows[work.tight[s]]
            for i in range(len(row)):
                terms[i] = row[i] * (work.rest[i] * problem.weights[i])
            right[s] -= tree_sum(terms)
    multiply_right(work, right, size, value)
    for s in range(size):
        row = problem.rows[work.tight[s]]
        total = value[0] * row[work.moving[0]]
        for p in range(1, size):
            total += value[p] * row[work.moving[p]]
        work.error[s] = right[s] - total
    multiply_right(work, work.error, size, work.wanted)
    for p in range(size):
        feature, side = work.moving[p], work.side[p]
        amount = max(side * (value[p] + work.wanted[p]) / problem.weights[feature], 0.0)
        room = work.up[feature] if side > 0.0 else work.down[feature]
        step[feature] = side * min(amount, room) + 0.0


@inlined
def record_prices(
    problem: Rows, work: Work, size: int, wanted: FloatArray, multipliers: FloatArray
) -> None:
    """Write down y >= 0 with ``y A_TJ = wanted``, solved afresh."""
    multiply_left(wanted, work, size, work.price)
    for p in range(size):
        total = work.price[0] * problem.rows[work.tight[0], work.moving[p]]
        for s in range(1, size):
            total += work.price[s] * problem.rows[work.tight[s], work.moving[p]]
        work.error[p] = wanted[p] - total
    multiply_left(work.error, work, size, work.u)
    for s in range(size):
        multipliers[work.tight[s]] = max(work.price[s] + work.u[s], 0.0) + 0.0
