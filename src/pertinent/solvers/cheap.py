"""Lower bounds that cost next to nothing: they order the pieces of a union and skip most."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell, row_products
from pertinent.proofs import NoProofs, Proofs, SingleRowProofs


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
