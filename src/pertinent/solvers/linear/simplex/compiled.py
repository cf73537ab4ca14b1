"""The bounded dual simplex compiled by numba: the lock-step answers, to the bit, but faster.

numba is an optional extra and slow to import, so that nothing here touches it before a call.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.solvers.linear.simplex.scaled import (
    Asked,
    Steps,
    default_limit,
    demanding_rows,
    demote_untrue,
    empty_steps,
    scale_rows,
)


def solve_compiled(asked: Asked, max_pivots: int | None = None) -> Steps:
    """Return what `lockstep.solve_lockstep` returns.

    The first call ever compiles (some seconds); later ones read numba's cache.

    Raises
    ------
    ImportError
        If numba is not installed.
    """
    kernel = _load_kernel()
    scaled = scale_rows(asked.G, asked.weights)
    n, (m, d) = len(asked), asked.G.shape
    steps, demand = empty_steps(n, m, d), _plain(asked.demand)
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
        _plain(asked.up),
        _plain(asked.down),
        _plain(asked.cutoff),
        default_limit(m, d) if max_pivots is None else max_pivots,
        steps.step,
        steps.multipliers,
        steps.status,
        steps.pivots,
    )
    demote_untrue(scaled, asked, steps)
    return steps


def _plain(values: FloatArray) -> FloatArray:
    """Return a writable C-ordered array: one compiled signature."""
    return np.require(values, dtype=np.float64, requirements=["C", "W"])


def _load_kernel() -> Foreign:
    try:
        from pertinent.solvers.linear.simplex import kernel as _kernel
    except ImportError as error:
        raise ImportError(
            "engine='compiled' needs numba, which is not installed. "
            'Install it with: pip install "pertinent[fast]", or use engine="numpy".'
        ) from error
    return _kernel
