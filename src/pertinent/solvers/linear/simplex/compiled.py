"""The bounded dual simplex compiled by numba: the lock-step answers, to the bit, but faster.

numba is an optional extra and slow to import, so that nothing here touches it before a call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.solvers.linear.simplex.scaled import (
    Steps,
    default_limit,
    demanding_rows,
    demote_untrue,
    empty_steps,
    scale_rows,
)


def solve_compiled(
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

    Parameters and answers are those of `lockstep.solve_lockstep`. The first
    call ever compiles (some seconds); later ones read numba's cache.

    Raises
    ------
    ImportError
        If numba is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> G = np.array([[-1.0, -2.0]])  # x0 + 2 x1 >= 4, from the origin
    >>> solve_compiled(G, np.ones(2), np.array([[4.0]]), 1.5, np.inf).step
    array([[1. , 1.5]])
    """
    kernel = _load_kernel()
    scaled = scale_rows(G, weights)
    n, (m, d) = len(demand), np.shape(G)
    steps = empty_steps(n, m, d)
    up, down = _plain(room_up, d), _plain(room_down, d)
    demand = _plain(demand, m)
    waiting = demanding_rows(scaled, demand, steps)
    if len(waiting):
        scaled.sort((demand[waiting] / scaled.sigma).argmax(axis=1))
    kernel.solve_rows(
        kernel.Rows(
            scaled.rows, scaled.columns, scaled.sigma, scaled.weights, scaled.order, scaled.bias
        ),
        kernel.make_work(m, d),
        waiting,
        demand,
        up,
        down,
        np.array([np.inf]) if cutoff is None else _plain(cutoff[:, None], 1)[:, 0],
        default_limit(m, d) if max_pivots is None else max_pivots,
        steps.step,
        steps.multipliers,
        steps.status,
        steps.pivots,
    )
    demote_untrue(scaled, demand, up, down, cutoff, steps)
    return steps


def _plain(values: ArrayLike, width: int) -> FloatArray:
    """Return a writable C-ordered array of shape (n or 1, width): one compiled signature."""
    array = np.atleast_2d(np.asarray(values, dtype=np.float64))
    array = np.broadcast_to(array, (len(array), width))
    return np.require(array, requirements=["C", "W"])


def _load_kernel() -> Foreign:
    try:
        from pertinent.solvers.linear.simplex import kernel as _kernel
    except ImportError as error:
        raise ImportError(
            "engine='compiled' needs numba, which is not installed. "
            'Install it with: pip install "pertinent[fast]", or use engine="numpy".'
        ) from error
    return _kernel
