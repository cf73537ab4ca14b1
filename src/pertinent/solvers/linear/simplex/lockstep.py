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

from collections.abc import Sequence

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.solvers.linear.simplex.bases import (
    Bases,
    Batch,
    add_multiple,
    combine,
    join,
    tree_sum,
)
from pertinent.solvers.linear.simplex.pivot import (
    Leaving,
    choose_entering,
    choose_leaving,
    exchange,
    follow_ray,
)
from pertinent.solvers.linear.simplex.scaled import (
    Asked,
    Steps,
    chunk_rows,
    default_limit,
    demanding_rows,
    demote_untrue,
    empty_steps,
    scale_rows,
    stack_rows,
)
from pertinent.solvers.problem import CUT, EMPTY, TROUBLE
from pertinent.solvers.tolerances import FEASIBILITY, PIVOT


def solve_lockstep(asked: Asked, max_pivots: int | None = None) -> Steps:
    """Return the cheapest steps that satisfy ``-G s >= demand`` within their rooms.

    Rows that need more pivots than ``max_pivots`` (``100 + 10 min(m, d)``) end as ``TROUBLE``.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.solvers.linear.simplex.scaled import Asked
    >>> G = np.array([[-1.0, -2.0]])  # x0 + 2 x1 >= 4, from the origin
    >>> solve_lockstep(Asked.of(G, np.ones(2), np.array([[4.0]]))).step
    array([[0., 2.]])
    >>> solve_lockstep(Asked.of(G, np.ones(2), np.array([[4.0]]), up=1.5)).step
    array([[1. , 1.5]])
    """
    return solve_cells([asked], max_pivots)[0]


def solve_cells(cells: Sequence[Asked], max_pivots: int | None = None) -> list[Steps]:
    """Return the same for several cells of as many rows each: small batches cost as much as one.

    Each start point is answered as it would be alone.
    """
    sizes, (m, d) = [len(asked) for asked in cells], cells[0].G.shape
    n, scaled = sum(sizes), [scale_rows(asked.G, asked.weights) for asked in cells]
    whole = cells[0] if len(cells) == 1 else _joined(cells)
    batch = Batch(
        stack_rows(scaled),
        None if len(cells) == 1 else np.repeat(np.arange(len(cells)), sizes),
        whole,
        bool(np.isinf(whole.up).all() and np.isinf(whole.down).all()),
        bool(np.isfinite(whole.cutoff).any()),
        empty_steps(n, m, d),
    )
    ends = np.cumsum(sizes).tolist()
    parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    answers = [batch.steps[part] for part in parts]
    every = list(zip(scaled, cells, answers, strict=True))
    demanding = [
        part.start + demanding_rows(rows, asked.demand, own)
        for part, (rows, asked, own) in zip(parts, every, strict=True)
    ]
    _run(batch, np.concatenate(demanding), max_pivots)
    for rows, asked, own in every:
        demote_untrue(rows, asked, own)
    return answers


def _joined(cells: Sequence[Asked]) -> Asked:
    names = ("demand", "up", "down", "cutoff")
    rows = (np.concatenate([getattr(asked, name) for asked in cells]) for name in names)
    return Asked(cells[0].G, cells[0].weights, *rows)


def _run(batch: Batch, waiting: IntArray, max_pivots: int | None) -> None:
    """Answer the rows that demand something."""
    m, d = batch.scaled.n_rows, batch.scaled.rows.shape[1]
    limit = default_limit(m, d) if max_pivots is None else max_pivots
    chunk = chunk_rows(m, d)
    pool: list[Bases] = []
    while len(waiting):
        opened, waiting = _open(batch, waiting[:chunk], limit), waiting[chunk:]
        pool = [bases for bases in (*pool, opened) if len(bases)]
        # Finished rows make room for new ones, so that NumPy always has enough to do.
        while sum(map(len, pool)) > (chunk // 2 if len(waiting) else 0):
            pool = [_pivot(batch, join(pool), limit)]
    if batch.optimal:
        _record_points(batch, join(batch.optimal))
    if batch.cut:
        ended = join(batch.cut)
        _record_prices(batch, ended, ended.side)


def _open(batch: Batch, row: IntArray, limit: int) -> Bases:
    """Return the bases after the first pivot, which is a knapsack on the worst row alone.

    The features meet their breakpoints in the order of ``|A_ji|``: they go to their bounds one
    after the other until the row is satisfied, and the last one becomes basic.
    """
    scaled = batch.scaled
    batch.steps.pivots[row] = 1
    r = batch.right(row)
    tight = r.argmax(axis=1)
    scaled.sort(batch.rows_at(row, tight))
    rank = np.zeros(len(row), dtype=np.int64)
    if not batch.free:
        rank, found = _knapsack(batch, row, tight, r[np.arange(len(row)), tight])
        beyond = np.flatnonzero(~found)
        batch.steps.status[row[beyond]] = EMPTY
        batch.steps.multipliers[row[beyond], tight[beyond]] = 1.0
        longest_first = np.argsort(np.where(found, -rank, 1), kind="stable")[: found.sum()]
        row, tight, rank = row[longest_first], tight[longest_first], rank[longest_first]
        r = r[longest_first]
    slack = -r
    resting, rest = _fill(batch, row, tight, rank, slack)
    everyone, at = np.arange(len(row)), batch.rows_at(row, tight)
    feature = scaled.order[at, rank]
    inverse = 1.0 / scaled.rows[at, feature]
    side = np.sign(inverse)
    value = -inverse * slack[everyone, tight]
    add_multiple(slack, value, scaled.columns, batch.columns_at(row, feature))
    slack[everyone, tight] = 0.0
    bases = Bases(
        row=row,
        size=np.ones(len(row), dtype=np.int64),
        resting=resting,
        bound=resting + side * value,
        tight=tight[None],
        moving=feature[None],
        price=(side * inverse)[None],
        side=side[None],
        value=value[None],
        room=(batch.rooms(row, feature, side > 0.0) * scaled.weights[feature])[None],
        inverse=inverse[None, None],
        slack=slack,
        pull=slack[:, :0],
        high=slack[:, :0],
        low=slack[:, :0],
        rest=rest,
    )
    bases = bases.take(_retire(batch, bases, choose_leaving(bases), limit))
    if len(bases):
        _start_pulls(batch, bases)
    return bases


def _knapsack(
    batch: Batch, row: IntArray, tight: IntArray, need: FloatArray
) -> tuple[IntArray, BoolArray]:
    """Return how many features the worst row fills before the one that satisfies it, if any."""
    scaled = batch.scaled
    rank, found = np.zeros(len(row), dtype=np.int64), np.zeros(len(row), dtype=bool)
    at, filled, first, width = np.arange(len(row)), np.zeros(len(row)), 0, 4
    place = batch.rows_at(row, tight)
    while len(at) and first < scaled.rows.shape[1]:
        features = scaled.order[:, first : first + width].take(place[at], axis=0)
        along = scaled.rows[place[at, None], features]
        here = row[at, None]
        rooms = np.where(
            along > 0.0, batch.asked.up[here, features], batch.asked.down[here, features]
        )
        rooms[np.abs(along) < PIVOT] = 0.0
        reach = np.abs(along) * (rooms * scaled.weights[features])
        reach[:, 0] += filled
        np.cumsum(reach, axis=1, out=reach)
        reached = need[at, None] - reach <= FEASIBILITY * need[at, None]
        hit = reached[:, -1]
        rank[at[hit]], found[at[hit]] = first + reached[hit].argmax(axis=1), True
        at, filled = at[~hit], reach[~hit, -1]
        first, width = first + width, 2 * width
    return rank, found


def _fill(
    batch: Batch, row: IntArray, tight: IntArray, rank: IntArray, slack: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Send the first ``rank`` features of a row to their bounds; return their cost and steps.

    The ranks fall from row to row, so that those still filling come first.
    """
    scaled = batch.scaled
    resting = np.zeros(len(row))
    rest = np.zeros((len(row), 0 if batch.free else scaled.rows.shape[1]))
    tight = batch.rows_at(row, tight)
    for place in range(int(rank.max(initial=0))):
        at = slice(0, np.searchsorted(-rank, -place))  # those with rank > place
        feature = scaled.order[tight[at], place]
        upward = scaled.rows[tight[at], feature] > 0.0
        room = batch.rooms(row[at], feature, upward)
        cost = room * scaled.weights[feature]
        resting[at] += cost
        rest[np.arange(len(feature)), feature] = np.where(upward, room, -room) + 0.0
        columns = batch.columns_at(row[at], feature)
        add_multiple(slack[at], np.where(upward, cost, -cost), scaled.columns, columns)
    return resting, rest


def _start_pulls(batch: Batch, bases: Bases) -> None:
    """Fill in the pull of the one tight row, and the breakpoints it will meet."""
    everyone, feature = np.arange(len(bases)), bases.moving[0]
    bases.pull = batch.scaled.rows.take(batch.rows_at(bases.row, bases.tight[0]), axis=0)
    bases.pull *= bases.price[0][:, None]
    bases.high, bases.low = np.ones_like(bases.pull), np.full_like(bases.pull, -1.0)
    if not batch.free:
        bases.high[batch.asked.up[bases.row] == 0.0] = np.inf
        bases.low[batch.asked.down[bases.row] == 0.0] = -np.inf
        bases.high[bases.rest > 0.0], bases.low[bases.rest > 0.0] = np.inf, 1.0
        bases.high[bases.rest < 0.0], bases.low[bases.rest < 0.0] = -1.0, -np.inf
    bases.high[everyone, feature], bases.low[everyone, feature] = np.inf, -np.inf


def _pivot(batch: Batch, bases: Bases, limit: int) -> Bases:
    """Return the bases that are still at work after one more pivot."""
    leaving = choose_leaving(bases)
    rest = _retire(batch, bases, leaving, limit)
    if len(rest) < len(bases):
        bases, leaving = bases.take(rest), leaving.take(rest)
    if not len(bases):
        return bases
    batch.steps.pivots[bases.row] += 1
    bases.widen(int(bases.size.max()) + 1)
    ray = follow_ray(batch, bases, leaving)
    entering = choose_entering(batch, bases, leaving, ray)
    if entering.is_endless.any():
        endless, rest = np.flatnonzero(entering.is_endless), np.flatnonzero(~entering.is_endless)
        _record_rays(batch, bases.finished(endless), leaving.row[endless], ray.wanted[:, endless])
        bases, leaving = bases.take(rest), leaving.take(rest)
        entering, ray = entering.take(rest), ray.take(rest)
    if len(bases):
        exchange(batch, bases, leaving, entering, ray)
    return bases


def _retire(batch: Batch, bases: Bases, leaving: Leaving, limit: int) -> IntArray:
    """Record the rows that are optimal, cut or out of pivots; return which go on."""
    optimal = leaving.amount == 0.0
    if optimal.any():
        batch.optimal.append(bases.finished(np.flatnonzero(optimal)))
    spent = ~optimal & (batch.steps.pivots[bases.row] >= limit)
    batch.steps.status[bases.row[spent]] = TROUBLE
    done = optimal | spent
    if batch.stops:
        cut = ~done & (bases.bound >= batch.asked.cutoff[bases.row])
        batch.steps.status[bases.row[cut]] = CUT
        if cut.any():
            batch.cut.append(bases.finished(np.flatnonzero(cut)))
        done |= cut
    return np.flatnonzero(~done)


def _record_points(batch: Batch, bases: Bases) -> None:
    """Write down the points of ``A_TJ t_J = r_T - A_TN t_N``, solved afresh, with their prices."""
    scaled, step = batch.scaled, batch.steps.step
    right = batch.right(bases.row)[np.arange(len(bases)), bases.tight]
    tight = batch.rows_at(bases.row, bases.tight)
    if not batch.free:
        step[bases.row] = bases.rest
        resting = bases.rest * scaled.weights
        for s in range(len(right)):
            right[s] -= tree_sum(scaled.rows.take(tight[s], axis=0) * resting)
    basis = scaled.rows[tight[None], bases.moving[:, None]]
    inverse = bases.inverse.transpose(1, 0, 2)
    value = combine(right, inverse)
    value += combine(right - combine(value, basis), inverse)
    for p in range(len(value)):
        has = np.flatnonzero(bases.size > p)
        row, feature = bases.row[has], bases.moving[p, has]
        side = bases.side[p, has]
        amount = np.maximum(side * value[p, has] / scaled.weights[feature], 0.0)
        # What was found a rounding error beyond the end of its range stands exactly there.
        amount = np.minimum(amount, batch.rooms(row, feature, side > 0.0))
        step[row, feature] = side * amount + 0.0
    _record_prices(batch, bases, bases.side)


def _record_rays(batch: Batch, bases: Bases, row: IntArray, wanted: FloatArray) -> None:
    """Write down dual rays along which the dual objective grows for ever."""
    batch.steps.status[bases.row] = EMPTY
    _record_prices(batch, bases, wanted)
    by_row = row < batch.scaled.n_rows
    batch.steps.multipliers[bases.row[by_row], row[by_row]] = 1.0


def _record_prices(batch: Batch, bases: Bases, wanted: FloatArray) -> None:
    """Write down y >= 0 with ``y A_TJ = wanted``, solved afresh."""
    basis = batch.scaled.rows[batch.rows_at(bases.row, bases.tight)[:, None], bases.moving[None]]
    wanted = wanted[: len(basis)]
    price = combine(wanted, bases.inverse)
    price += combine(wanted - combine(price, basis), bases.inverse)
    for s in range(len(price)):
        has = np.flatnonzero(bases.size > s)
        paid = np.maximum(price[s, has], 0.0) + 0.0  # never -0
        batch.steps.multipliers[bases.row[has], bases.tight[s, has]] = paid
