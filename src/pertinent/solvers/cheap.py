"""Lower bounds that cost next to nothing: they order the pieces of a union and skip most.

`piece_bounds` is registered for each kind of region. A kind without a better way has none: its
bounds are 0, and every piece is solved.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import Joined, pieces_of
from pertinent.geometry.region import Cell, CellUnion, Region, row_products
from pertinent.geometry.running import is_late
from pertinent.geometry.task import distance
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import Block, NoProofs, Proofs, RivalProofs, SingleRowProofs
from pertinent.proofs.core import WHOLE
from pertinent.solvers.curved.interior.ellipsoid import ball_bounds
from pertinent.solvers.problem import Task, onto

#: Pairs of items times features up to which all rivals are looked at; above, the best few.
ALL_PAIRS = 20_000_000
#: Numbers (centers times rivals) looked at together: they fit in the cache.
AT_ONCE = 32_768
#: How many of the best rivals are looked at otherwise.
RIVALS_LOOKED_AT = 32
#: A lower bound for each center and piece, shape (n, n_pieces), and the proofs behind it.
Cheap = tuple[FloatArray, list[Block]]


@singledispatch
def piece_bounds(region: Cell | Region, task: Task) -> Cheap:
    """Return a lower bound for each center and piece of a region, with its proofs.

    ``region`` is the task's, or a part of it: its kind decides which function is called.
    """
    return np.zeros((len(task), len(pieces_of(region)))), []


@piece_bounds.register
def _bounds_of_cells(region: CellUnion, task: Task) -> Cheap:
    cheap, blocks, everyone = np.zeros((len(task), len(region))), [], np.arange(len(task))
    for p, cell in enumerate(region):
        if is_late():  # of the others nothing is known
            break
        cheap[:, p], proofs = cheap_bounds(cell, task.centers, task.weights)
        blocks.append(Block(p, everyone, proofs))
        tangent = ball_bounds(onto(task, cell))
        if tangent is not None:
            np.maximum(cheap[:, p], tangent[0], out=cheap[:, p])
            blocks.append(Block(p, everyone, tangent[1]))
    return cheap, blocks


@piece_bounds.register
def _bounds_of_parts(region: Joined, task: Task) -> Cheap:
    """Return the bounds of all parts; proofs about the whole of a part are put side by side."""
    found = [piece_bounds(part, task) for part in region.parts]
    cheap = np.hstack([np.zeros((len(task), 0)), *(bounds for bounds, _ in found)])
    rivals = [block.proofs for _, blocks in found for block in blocks if block.piece == WHOLE]
    if len(rivals) == len(found) > 0:
        together = RivalProofs(np.hstack([proofs.rival for proofs in rivals]))
        return cheap, [Block(WHOLE, np.arange(len(task)), together)]
    blocks, first = [], 0
    for bounds, own in found:
        if any(block.piece == WHOLE for block in own):
            cheap[:, first : first + bounds.shape[1]] = 0.0  # what is not proved skips nothing
        else:
            blocks += [replace(block, piece=block.piece + first) for block in own]
        first += bounds.shape[1]
    return cheap, blocks


def cheap_bounds(cell: Cell, centers: FloatArray, weights: FloatArray) -> tuple[FloatArray, Proofs]:
    """Return, for each center, the distance to the cell's most demanding linear row, with proof.

    To satisfy ``g'x <= h`` alone, bounds aside, it is cheapest to move the one feature with the
    largest ``|g_i| / w_i``: the cost is ``(g'c - h) / max_i(|g_i| / w_i)``.
    """
    steepest = np.abs(cell.G / weights).max(axis=1, initial=0.0)
    usable = np.flatnonzero(steepest > 0)
    if not len(usable):
        return np.zeros(len(centers)), NoProofs(len(centers))
    G, h, steep = cell.G[usable], cell.h[usable], steepest[usable]
    costs = (row_products(centers, G) - h) / steep
    worst = costs.argmax(axis=1)
    bound = np.maximum(costs[np.arange(len(centers)), worst], 0.0)
    return bound, SingleRowProofs(usable[worst], np.where(bound > 0, 1.0 / steep[worst], 0.0))


@piece_bounds.register
def winner_bounds(region: WinnerRegion, task: Task) -> Cheap:
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
    order = np.argsort(-rivals, kind="stable")[:RIVALS_LOOKED_AT]
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
