"""The same steps, row by row, by the HiGHS simplex: the fallback and the judge.

HiGHS sees the scaled problem of `simplex.scaled`, divided by the row's largest
demand, so that its absolute tolerances are relative ones:

    min  sum_i p_i + q_i    s.t.  A (p - q) >= r,   0 <= p <= up,   0 <= q <= down.

Every row starts from scratch: a warm start would let an answer depend on the row before.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.solvers.linear.simplex.scaled import (
    Asked,
    Steps,
    demote_untrue,
    empty_steps,
    scale_rows,
)
from pertinent.solvers.problem import EMPTY, SOLVED
from pertinent.solvers.programs.linear import SIMPLEX, LinearProgram


def solve_highs(asked: Asked) -> Steps:
    """Return the cheapest steps that satisfy ``-G s >= demand`` within their rooms.

    No row stops at its cutoff.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.solvers.linear.simplex.scaled import Asked
    >>> G = np.array([[-1.0, -2.0]])  # x0 + 2 x1 >= 4, from the origin
    >>> solve_highs(Asked.of(G, np.ones(2), np.array([[4.0]]), up=1.5)).step
    array([[1. , 1.5]])
    """
    scaled, up, down = scale_rows(asked.G, asked.weights), asked.up, asked.down
    n, (m, d) = len(asked), asked.G.shape
    r = scaled.demand(asked.demand)[:, :-1]
    steps = empty_steps(n, m, d)
    columns = np.concatenate([scaled.rows[:-1], -scaled.rows[:-1]], axis=1)
    program = LinearProgram(np.ones(2 * d), columns, row_lower=0.0, options=SIMPLEX)
    unit = np.tile(scaled.weights, 2)
    for i in np.flatnonzero((r > 0.0).any(axis=1)):
        size = r[i].max()
        rooms = np.concatenate([up[i], down[i]])
        upper = rooms * unit / size
        program.set_limits(r[i] / size, upper)
        answer = program.solve()
        steps.pivots[i] = answer.pivots
        if answer.outcome == SOLVED:
            # What HiGHS leaves at a bound stands exactly there.
            moved = np.where(answer.v == upper, rooms, answer.v * size / unit)
            steps.step[i] = np.clip(moved[:d] - moved[d:], -down[i], up[i])
            steps.multipliers[i] = np.maximum(answer.prices, 0.0)
        else:  # also where HiGHS does not know: without a proof, the check makes it TROUBLE
            steps.status[i] = EMPTY
            steps.multipliers[i] = np.maximum(_ray(program, columns, r[i] / size, upper), 0.0)
    demote_untrue(scaled, asked, steps)
    return steps


def _ray(
    program: LinearProgram, columns: FloatArray, r: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return a Farkas ray: HiGHS' own, or the multipliers of an elastic program.

    ``min sum_j e_j, columns v + e >= r`` is positive if no v satisfies ``columns v >= r``, and by
    duality its multipliers y then have ``y'r > y'columns v`` for every v within the rooms.
    """
    ray = program.ray()
    if ray is not None:
        return ray if ray @ r >= 0.0 else -ray
    m, n = columns.shape
    cost, wider = np.repeat([0.0, 1.0], [n, m]), np.concatenate([columns, np.eye(m)], axis=1)
    ends = np.concatenate([upper, np.full(m, np.inf)])
    answer = LinearProgram(cost, wider, row_lower=r, upper=ends, options=SIMPLEX).solve()
    return answer.prices if answer.outcome == SOLVED else np.zeros(m)
