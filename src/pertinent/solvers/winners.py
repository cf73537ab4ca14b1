"""Cheap lower bounds for winner-takes-all regions, from scores instead of pairs of items."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import Block, RivalProofs
from pertinent.proofs.core import WHOLE
from pertinent.solvers.problem import Task

#: Pairs of items times features up to which all rivals are looked at; above, the best few.
ALL_PAIRS = 20_000_000
#: Numbers (centers times rivals) looked at together: they fit in the cache.
AT_ONCE = 32_768
#: How many of the best rivals are looked at otherwise.
FEW = 32


def winner_bounds(region: WinnerRegion, task: Task) -> tuple[FloatArray, list[Block]]:
    """Return a lower bound for each center and piece, and the rival that proves it.

    From the point of the bounds nearest to the center, to let item p beat rival j costs at least
    ``(s_j - s_p + slack) / max_i(|W_j - W_p|_i / w_i)`` more, i over the features that can move.
    """
    start, weights = task.start(), task.weights
    chosen = np.zeros((len(task), len(region)), dtype=np.int32)
    bounds = np.zeros(chosen.shape)
    if len(region.rivals):
        own, rivals = region.own(start), region.rivals(start)
        movable = task.upper > task.lower
        held = movable.sum(axis=1) * 2 <= region.dim
        if len(region.own) * len(region.rivals) * region.dim > ALL_PAIRS:
            held[:] = True
        _against_all(region, weights, own, rivals, np.flatnonzero(~held), bounds, chosen)
        for i in np.flatnonzero(held):
            _against_few(region, weights, own[i], rivals[i], movable[i], bounds[i], chosen[i])
        bounds += distance(start, task.centers, weights)[:, None]
    return bounds, [Block(WHOLE, np.arange(len(task)), RivalProofs(chosen))]


def _against_all(
    region: WinnerRegion,
    weights: FloatArray,
    own: FloatArray,
    rivals: FloatArray,
    rows: IntArray,
    bounds: FloatArray,
    chosen: NDArray[np.int32],
) -> None:
    if not len(rows):
        return
    steep = _steepness(region, weights)
    slacks = [region.slack(p, slice(None)) for p in range(own.shape[1])]
    size = max(1, AT_ONCE // rivals.shape[1])
    for first in range(0, len(rows), size):
        some = rows[first : first + size]
        mine, theirs, everyone = own[some], rivals[some], np.arange(len(some))
        costs = np.empty(theirs.shape)
        for p, slack in enumerate(slacks):
            np.subtract(theirs, mine[:, p : p + 1], out=costs)
            costs += slack
            costs /= steep[p]
            worst = costs.argmax(axis=1)
            chosen[some, p] = worst
            bounds[some, p] = np.maximum(costs[everyone, worst], 0.0)


#: For each region, ``max_i |W_j - W_p|_i / w_i`` of each pair (p, j), by the bytes of the weights.
_STEEPNESS: WeakKeyDictionary[WinnerRegion, dict[bytes, FloatArray]] = WeakKeyDictionary()


def _steepness(region: WinnerRegion, weights: FloatArray) -> FloatArray:
    """Return ``max_i |W_j - W_p|_i / w_i`` for each pair (p, j), remembered for the region."""
    known = _STEEPNESS.setdefault(region, {})
    key = weights.tobytes()
    if key not in known:
        pairs = [np.abs((region.rivals.W - w) / weights).max(axis=1) for w in region.own.W]
        # Two items with the same coefficients: no movement tells them apart.
        steep = np.stack(pairs)
        known[key] = np.where(steep > 0, steep, np.inf)
    return known[key]


def _against_few(
    region: WinnerRegion,
    weights: FloatArray,
    own: FloatArray,
    rivals: FloatArray,
    movable: BoolArray,
    bounds: FloatArray,
    chosen: NDArray[np.int32],
) -> None:
    """Look at the rivals that score best: they are the ones in the way. Fills in place."""
    columns = np.flatnonzero(movable)
    order = np.argsort(-rivals, kind="stable")[:FEW]
    mine = region.own.W[:, columns] / weights[columns]
    theirs = region.rivals.W[np.ix_(order, columns)] / weights[columns]
    # Without the margin's slack the bound is a little lower, and holds all the more.
    excess = rivals[order] - own[:, None]
    steep = np.zeros(excess.shape)
    for k in range(len(columns)):
        np.maximum(steep, np.abs(theirs[:, k] - mine[:, k, None]), out=steep)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = np.where(excess > 0, excess / steep, 0.0)  # inf: nothing that can move helps
    best = costs.argmax(axis=1)
    chosen[:] = order[best]
    bounds[:] = costs[np.arange(len(costs)), best]
