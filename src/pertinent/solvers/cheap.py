"""Lower bounds that cost next to nothing: they order the pieces of a union and skip most.

`piece_bounds` is registered for each kind of region. A kind without a better way has none: its
bounds are 0, and every piece is solved.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.pieces import Joined, pieces_of
from pertinent.geometry.region import Cell, CellUnion, Region, row_products
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import Block, NoProofs, Proofs, RivalProofs, SingleRowProofs
from pertinent.proofs.core import WHOLE
from pertinent.solvers.curved.interior.ellipsoid import ball_bounds
from pertinent.solvers.problem import Task, onto
from pertinent.solvers.winners import winner_bounds

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
        cheap[:, p], proofs = cheap_bounds(cell, task.centers, task.weights)
        blocks.append(Block(p, everyone, proofs))
        here = onto(task, cell)
        tangent = ball_bounds(cell, here.centers, here.weights, here.lower, here.upper)
        if tangent is not None:
            np.maximum(cheap[:, p], tangent[0], out=cheap[:, p])
            blocks.append(Block(p, everyone, tangent[1]))
    return cheap, blocks


piece_bounds.register(WinnerRegion, winner_bounds)


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
