"""Hard cases of the search: HiGHS proposes a support, one multiplier vector bounds its size.

The linear relaxation ``min sum z, gain z >= need, 0 <= z <= 1`` has multipliers y >= 0, and the
row ``y'gain`` with the need ``y'need`` is one more row that every support must meet. By itself it
already proves the relaxation's value, rounded up: nothing of HiGHS has to be believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.running import until
from pertinent.questions.supports.subsets import (
    Accept,
    Budget,
    Gains,
    Outcome,
    find_supports,
    smallest_size,
)
from pertinent.questions.tolerances import MIP_NODES, MIP_WORK
from pertinent.solvers.problem import SOLVED
from pertinent.solvers.programs.linear import LinearProgram


@dataclass(frozen=True, eq=False)
class Cover:
    """A small support, and how small it can be.

    Attributes
    ----------
    mask : ndarray of bool, shape (n_features,), or None
    bound : float
        No support has fewer features, ``inf`` if there is none.
    multipliers : ndarray of shape (p, n_rows)
        Rows that the proof needs beside those of the problem.
    """

    mask: BoolArray | None
    bound: float
    multipliers: FloatArray


def hard_cover(gains: Gains, budget: Budget) -> Cover:
    """Return the smallest support of a single problem.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.questions.supports.cover import hard_cover
    >>> from pertinent.questions.supports.subsets import Gains, Budget
    >>> gains = Gains(np.array([[[3.0, 2.0, 1.0], [0.0, 2.0, 3.0]]]), np.array([[3.0, 3.0]]))
    >>> cover = hard_cover(gains, Budget())
    >>> int(cover.mask.sum()), cover.bound
    (2, 2.0)
    """
    program = _relaxation(gains)
    relaxed = program.solve()
    y = np.maximum(relaxed.prices, 0.0)
    if relaxed.outcome != SOLVED or not len(y):
        y = np.zeros(gains.gain.shape[1])
    multipliers = y[None] if y.any() else np.zeros((0, len(y)))
    wide = with_rows(gains, multipliers)
    least = int(smallest_size(wide)[0][0])
    if least > gains.usable.sum():
        return Cover(None, np.inf, multipliers)
    mask = None if budget.expired() else _support(program, gains, budget)
    # Search the sizes from the bound up to what HiGHS proposed.
    most = gains.n_features + 1 if mask is None else int(mask.sum())
    smaller, size = deepen(lambda _: wide, range(least, most), budget)
    if mask is not None:
        size = min(size, float(max(least, most)))
    return Cover(mask if smaller is None else smaller, size, multipliers)


def with_rows(gains: Gains, multipliers: FloatArray) -> Gains:
    """Return the gains with weighted sums of rows as further rows."""
    if not len(multipliers):
        return gains
    gain = np.concatenate([gains.gain, multipliers @ gains.gain], axis=1)
    need = np.concatenate([gains.need, gains.need @ multipliers.T], axis=1)
    return Gains(gain, need, gains.usable)


def deepen(
    gains: Callable[[int], Gains], sizes: range, budget: Budget, accept: Accept | None = None
) -> tuple[BoolArray | None, float]:
    """Return the first support of a single problem, and the size that is not ruled out.

    Parameters
    ----------
    gains : callable
        The rows that a support of a given size must meet.
    sizes : range
        The sizes to search. Without a support in any of them the size returned is ``inf``.
    budget : Budget
    accept : callable, optional
        See `pertinent.questions.supports.subsets.find_supports`.
    """
    for size in sizes:
        rows = gains(size)
        result = find_supports(rows, size, budget, accept)
        if result.outcome[0] == Outcome.FOUND:
            return result.first(rows.n_features)[1][0], float(size)
        if result.outcome[0] == Outcome.STOPPED:
            return None, float(size)
    return None, np.inf


def _support(program: LinearProgram, gains: Gains, budget: Budget) -> BoolArray | None:
    """Return the support that HiGHS finds for whole z, checked against every row."""
    d = gains.n_features
    program.ask_for_whole_numbers()
    nodes = min(MIP_NODES, MIP_WORK // gains.gain[0].size)
    program.set_options(mip_max_nodes=nodes, mip_abs_gap=0.99)
    with until(budget.deadline):
        z = program.solve().v
    if len(z) != d:
        return None
    mask = (z > 0.5) & gains.usable[0]
    met = gains.gain[0][:, mask].sum(axis=1) >= gains.slack_need()[0]
    return mask if met.all() else None


def _relaxation(gains: Gains) -> LinearProgram:
    """Return ``min sum z, gain z >= need, 0 <= z <= 1`` (0 where a feature may not be used)."""
    gain, need = gains.gain[0], gains.need[0]
    most = gains.usable[0].astype(float)
    return LinearProgram(np.ones(gains.n_features), gain, row_lower=need, upper=most)
