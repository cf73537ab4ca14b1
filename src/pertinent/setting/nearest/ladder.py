"""The one ladder: what is refused is solved again with a larger margin.

Margins are those beyond the one asked for: no point that keeps less than that is looked for.

Where no point is found at all, a larger margin cannot help: the region with it is a part of the
region without it. First margins are up to 400 times what rounds at the center, so there may be a
point with a smaller one. The next margin lies between the largest that was too small and the
smallest that was too large. Where none of these helps either, margins larger than the first are
tried: a search may also have lost its way on a tie.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.running import is_over
from pertinent.setting.margins import CLOSE, LEAST_SHARE

#: A point that is refused is solved again with a margin this many times larger ...
GROWTH = 10.0
#: ... and at first only this many times in single precision, where margins cost what one sees.
GROWTH_SINGLE, TRIES_SINGLE = 2.0, 4
#: How often, from a margin for all rows.
RETRIES = 7


def climb(
    refused: IntArray,
    used: FloatArray,
    again: Callable[[IntArray, FloatArray], IntArray],
    tries: int = RETRIES,
    *,
    least: float | FloatArray = 0.0,
    slowly: int = 0,
    nothing: Callable[[IntArray], BoolArray] | None = None,
) -> None:
    """Call ``again(rows, margins)`` with the rows still refused, until none is or time ends.

    Parameters
    ----------
    refused : ndarray of int
        Rows to begin with.
    used : ndarray of shape (n,)
        The margin that each row was solved with; kept up to date.
    again : callable
        Solves rows with margins, and returns those of them that are still refused.
    tries : int
    least : float, or ndarray of shape (n,)
        The margin after one of 0.
    slowly : int
        How many of the tries grow by `GROWTH_SINGLE` only.
    nothing : callable, optional
        ``nothing(rows)`` says of each whether no point was found: its margin is too large.
    """
    first, floor, least = used.copy(), LEAST_SHARE * used, np.broadcast_to(least, used.shape)
    small, large = np.zeros(len(used)), np.full(len(used), np.inf)
    helps = np.ones(len(used), dtype=bool)  # whether a smaller margin may
    larger = np.zeros(len(used), dtype=np.int64)  # how many larger ones were tried
    while len(refused) and not is_over():
        none = np.zeros(len(refused), dtype=bool) if nothing is None else nothing(refused)
        none &= helps[refused]
        large[refused[none]], small[refused[~none]] = used[refused[none]], used[refused[~none]]
        margins = _between(small[refused], large[refused])
        spent = (margins <= floor[refused]) | (large[refused] <= CLOSE * small[refused])
        turned = refused[spent]
        helps[turned], small[turned], large[turned] = False, first[turned], np.inf
        up = np.isinf(large[refused])
        growth = np.where(larger[refused] < slowly, GROWTH_SINGLE, GROWTH)
        margins = np.where(up, np.maximum(small[refused] * growth, least[refused]), margins)
        larger[refused[up]] += 1
        left = larger[refused] <= tries
        refused, margins = refused[left], margins[left]
        if len(refused):
            used[refused] = margins
            refused = again(refused, margins)


def _between(small: FloatArray, large: FloatArray) -> FloatArray:
    """Return margins between those that were too small, and those too large; inf without these."""
    with np.errstate(invalid="ignore"):  # 0 and inf: not read
        between = np.sqrt(small) * np.sqrt(large)
    return np.asarray(np.where(np.isinf(large) | (small == 0), large / GROWTH, between))
