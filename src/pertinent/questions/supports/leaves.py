"""Supports of unions of boxes, as trees have them: no search is needed.

A point lies in a box iff each feature does by itself. So the features whose rest value is outside
the box must be on, and no others need to be: each box has one smallest support, its cost is the
distance of those features to the box, and the best box is the answer.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Region
from pertinent.questions.supports.gains import Choices


def is_boxes(region: Region) -> bool:
    """Whether every cell has bounds only."""
    return all(cell.is_linear and not len(cell.G) for cell in require_cells(region))


def leaf_costs(
    region: Region, choices: Choices, centers: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the size and the cost of each box's smallest support, shape (n, n_boxes) each.

    ``inf`` where the bounds leave nothing of the box.
    """
    cells = require_cells(region)
    size = np.full((len(choices), len(cells)), np.inf)
    cost = size.copy()
    for piece, cell in enumerate(cells):
        own = choices.within(cell)
        away = np.maximum(np.maximum(own.low - centers, centers - own.high), 0.0)
        possible = ~own.impossible
        size[possible, piece] = own.forced.sum(axis=1)[possible]
        cost[possible, piece] = np.where(own.forced, weights * away, 0.0).sum(axis=1)[possible]
    return size, cost


def best_leaves(
    region: Region,
    choices: Choices,
    centers: FloatArray,
    weights: FloatArray,
    at_most: int | None = None,
) -> tuple[BoolArray, BoolArray]:
    """Return the support of the best box of each sample, and where there is one.

    The best has the fewest features, then the least cost; or, with ``at_most``, the least cost
    of those with no more features than that.
    """
    n, d = choices.rest.shape
    mask, found = np.zeros((n, d), dtype=bool), np.zeros(n, dtype=bool)
    if region.is_empty:
        return mask, found
    size, cost = leaf_costs(region, choices, centers, weights)
    if at_most is None:
        cost = np.where(size == size.min(axis=1, keepdims=True), cost, np.inf)
    else:
        cost = np.where(size <= at_most, cost, np.inf)
    best = cost.argmin(axis=1)
    found = np.isfinite(cost[np.arange(n), best])
    for piece in np.unique(best[found]):
        rows = np.flatnonzero(found & (best == piece))
        mask[rows] = choices.take(rows).within(require_cells(region)[piece]).forced
    return mask, found


def further_leaves(
    region: Region,
    choices: Choices,
    center: FloatArray,
    weights: FloatArray,
    first: BoolArray,
    count: int,
    at_most: int | None = None,
) -> list[tuple[BoolArray, float]]:
    """Return the next-best supports of one sample after its first, with their costs.

    A support that contains one listed before says nothing new and is left out.
    """
    size, cost = (part[0] for part in leaf_costs(region, choices, center[None], weights))
    keys: tuple[FloatArray, ...] = (cost, size) if at_most is None else (cost,)
    order: IntArray = np.lexsort(keys)
    listed, out = [first], list[tuple[BoolArray, float]]()
    for piece in order:
        if len(out) == count or not np.isfinite(cost[piece]):
            break
        if at_most is not None and size[piece] > at_most:
            continue
        mask = choices.within(require_cells(region)[piece]).forced[0]
        if not any((other <= mask).all() for other in listed):
            listed.append(mask)
            out.append((mask, float(cost[piece])))
    return out
