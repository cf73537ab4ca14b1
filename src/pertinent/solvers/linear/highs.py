"""The same steps, row by row, by the HiGHS simplex: the fallback and the judge.

HiGHS sees the scaled problem of `simplex.scaled`, divided by the row's largest
demand, so that its absolute tolerances are relative ones:

    min  sum_i p_i + q_i    s.t.  A (p - q) >= r,   0 <= p <= up,   0 <= q <= down.

Every row starts from scratch: a warm start would let an answer depend on the row before.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import ArrayLike

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.solvers.linear.simplex.scaled import (
    INFEASIBLE,
    OPTIMAL,
    TROUBLE,
    Steps,
    empty_steps,
    scale_rows,
    settle,
)

_OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",  # only an unreduced model yields dual rays
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}
#: The objective is >= 0, so what is "unbounded or infeasible" is infeasible.
_STATUS = {
    highspy.HighsModelStatus.kOptimal: OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: INFEASIBLE,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: INFEASIBLE,
}


def solve_highs(
    G: FloatArray,
    weights: FloatArray,
    demand: FloatArray,
    room_up: ArrayLike,
    room_down: ArrayLike,
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

    Returns
    -------
    Steps

    Examples
    --------
    >>> import numpy as np
    >>> G = np.array([[-1.0, -2.0]])  # x0 + 2 x1 >= 4, from the origin
    >>> solve_highs(G, np.ones(2), np.array([[4.0]]), 1.5, np.inf).step
    array([[1. , 1.5]])
    """
    scaled = scale_rows(G, weights)
    n, (m, d) = len(demand), np.shape(G)
    up = np.broadcast_to(np.asarray(room_up, dtype=np.float64), (n, d))
    down = np.broadcast_to(np.asarray(room_down, dtype=np.float64), (n, d))
    r = scaled.demand(demand)[:, :-1]
    steps = empty_steps(n, m, d)
    columns = np.concatenate([scaled.rows[:-1], -scaled.rows[:-1]], axis=1)
    highs = _model(columns, np.ones(2 * d))
    unit = np.tile(scaled.weights, 2)
    for i in np.flatnonzero((r > 0.0).any(axis=1)):
        size = r[i].max()
        rooms = np.concatenate([up[i], down[i]])
        upper = rooms * unit / size
        _load(highs, r[i] / size, upper)
        status = _run(highs)
        steps.status[i] = status
        steps.pivots[i] = max(0, highs.getInfo().simplex_iteration_count)
        if status == OPTIMAL:
            solution = highs.getSolution()
            moved = np.array(solution.col_value)
            # What HiGHS leaves at a bound stands exactly there.
            moved = np.where(moved == upper, rooms, moved * size / unit)
            steps.step[i] = np.clip(moved[:d] - moved[d:], -down[i], up[i])
            steps.multipliers[i] = np.maximum(solution.row_dual, 0.0)
        else:  # also where HiGHS does not know: without a proof, the check makes it TROUBLE
            steps.status[i] = INFEASIBLE
            steps.multipliers[i] = np.maximum(_ray(highs, columns, r[i] / size, upper), 0.0)
    settle(scaled, demand, up, down, None, steps)
    return steps


def _model(columns: FloatArray, cost: FloatArray) -> Foreign:
    """Return a HiGHS object for ``min cost'v, columns v >= r, 0 <= v <= upper``."""
    m, n_columns = columns.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n_columns, m
    lp.col_cost_ = cost
    lp.col_lower_, lp.col_upper_ = np.zeros(n_columns), np.full(n_columns, np.inf)
    lp.row_lower_, lp.row_upper_ = np.zeros(m), np.full(m, np.inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(0, n_columns * m + 1, m, dtype=np.int32)
    lp.a_matrix_.index_ = np.tile(np.arange(m, dtype=np.int32), n_columns)
    lp.a_matrix_.value_ = columns.T.ravel()
    highs: Foreign = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in _OPTIONS.items():
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    return highs


def _load(highs: Foreign, r: FloatArray, upper: FloatArray) -> None:
    """Set demands and rooms, and forget the previous row's basis."""
    m, n_columns = len(r), len(upper)
    highs.clearSolver()
    highs.changeRowsBounds(m, np.arange(m, dtype=np.int32), r, np.full(m, np.inf))
    every = np.arange(n_columns, dtype=np.int32)
    highs.changeColsBounds(n_columns, every, np.zeros(n_columns), upper)


def _run(highs: Foreign) -> int:
    """Return the status code after a run."""
    highs.run()
    return _STATUS.get(highs.getModelStatus(), TROUBLE)


def _ray(highs: Foreign, columns: FloatArray, r: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a Farkas ray: HiGHS' own, or the multipliers of an elastic program.

    ``min sum_j e_j, columns v + e >= r`` is positive if no v satisfies ``columns v >= r``, and by
    duality its multipliers y then have ``y'r > y'columns v`` for every v within the rooms.
    """
    _, exists, ray = highs.getDualRay()
    if exists:
        ray = np.asarray(ray)
        return ray if ray @ r >= 0.0 else -ray
    m, n_columns = columns.shape
    elastic = _model(
        np.concatenate([columns, np.eye(m)], axis=1), np.repeat([0.0, 1.0], [n_columns, m])
    )
    _load(elastic, r, np.concatenate([upper, np.full(m, np.inf)]))
    return np.asarray(elastic.getSolution().row_dual) if _run(elastic) == OPTIMAL else np.zeros(m)
