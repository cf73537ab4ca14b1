"""The one ladder: what is refused is solved again, each time with a larger margin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.running import is_over

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
    least: float = 0.0,
    slowly: int = 0,
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
    """
    for attempt in range(tries):
        if not len(refused) or is_over():
            return
        growth = GROWTH_SINGLE if attempt < slowly else GROWTH
        used[refused] = np.maximum(used[refused] * growth, least)
        refused = again(refused, used[refused])
