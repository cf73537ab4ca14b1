"""The one ladder: what is refused is solved again with a larger margin.

Where no point is found at all, a larger margin cannot help: the region with it is a part of the
region without it. First margins are up to 400 times what rounds at the center, so there may be a
point with a smaller one. The next margin lies between the largest that was too small and the
smallest that was too large.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.running import is_over

#: A point that is refused is solved again with a margin this many times larger ...
GROWTH = 10.0
#: ... and at first only this many times in single precision, where margins cost what one sees.
GROWTH_SINGLE, TRIES_SINGLE = 2.0, 4
#: How often, from a margin for all rows.
RETRIES = 7
#: Margins down to this share of the first are tried where no point is found, ...
LEAST_SHARE = 5e-4
#: ... and margins in between until they are this close.
CLOSE = 1.5


def climb(
    refused: IntArray,
    used: FloatArray,
    again: Callable[[IntArray, FloatArray], IntArray],
    tries: int = RETRIES,
    *,
    least: float = 0.0,
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
    least : float
        The margin after one of 0.
    slowly : int
        How many of the tries grow by `GROWTH_SINGLE` only.
    nothing : callable, optional
        ``nothing(rows)`` says of each whether no point was found: its margin is too large.
    """
    small, large = np.zeros(len(used)), np.full(len(used), np.inf)
    floor = LEAST_SHARE * used
    for attempt in range(tries):
        none = np.zeros(len(refused), dtype=bool) if nothing is None else nothing(refused)
        large[refused[none]], small[refused[~none]] = used[refused[none]], used[refused[~none]]
        growth = GROWTH_SINGLE if attempt < slowly else GROWTH
        margins = _next(small[refused], large[refused], growth, least)
        left = (margins > floor[refused]) & (large[refused] > CLOSE * small[refused])
        refused, margins = refused[left], margins[left]
        if not len(refused) or is_over():
            return
        used[refused] = margins
        refused = again(refused, margins)


def _next(small: FloatArray, large: FloatArray, growth: float, least: float) -> FloatArray:
    """Return the margins to try after those that were too small, and those too large."""
    with np.errstate(invalid="ignore"):  # 0 and inf: not read
        between = np.sqrt(small) * np.sqrt(large)
    up, down = np.maximum(small * growth, least), large / GROWTH
    return np.asarray(np.where(np.isinf(large), up, np.where(small == 0, down, between)))
