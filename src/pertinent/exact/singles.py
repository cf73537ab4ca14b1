"""One feature at most: the closed form for linear cells, all samples at once.

With all others at rest, feature i satisfies ``G x <= h`` on an interval, whose ends follow from
one division a row. So supports of size 0 and 1 need no search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent._typing import BoolArray, FloatArray
from pertinent.exact.choices import Choices
from pertinent.regions import Cell, Region, row_products

#: Numbers held at once.
BATCH_NUMBERS = 2_000_000


@dataclass(frozen=True, eq=False)
class Singles:
    """Supports with at most one feature.

    Attributes
    ----------
    mask : ndarray of bool, shape (n, n_features)
    found : ndarray of bool, shape (n,)
    """

    mask: BoolArray
    found: BoolArray


def single_supports(
    region: Region, choices: Choices, centers: FloatArray, weights: FloatArray
) -> Singles:
    """Return the cheapest support of size 0 or 1 of each sample, where one exists.

    Samples with features that cannot rest are left to the search.
    """
    n, d = choices.rest.shape
    best, feature = np.full(n, np.inf), np.full(n, -1)
    for cell in region.cells:
        if cell.quadratics:
            continue
        step = max(1, BATCH_NUMBERS // max(1, len(cell.G) * d))
        for start in range(0, n, step):
            part = np.arange(start, min(start + step, n))
            cost = single_costs(cell, choices.take(part), centers[part], weights)
            here = cost.argmin(axis=1)
            least = cost[np.arange(len(part)), here]
            better = least < best[part]
            best[part[better]], feature[part[better]] = least[better], here[better]
    found = np.isfinite(best)
    mask = np.zeros((n, d + 1), dtype=bool)
    mask[np.flatnonzero(found), feature[found]] = True
    return Singles(mask[:, :d], found)


def single_costs(
    cell: Cell, choices: Choices, centers: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the cost of moving each feature alone into the cell; the last column moves none.

    ``inf`` where it cannot. Moving none, where it suffices, costs -1 and so comes first.
    """
    own = choices.within(cell)
    over = row_products(own.rest, cell.G) - cell.h
    low, high = own.low, own.high
    blocked = own.barred.copy()
    for g, need in zip(cell.G, over.T, strict=True):
        # g_i (x - rest_i) <= -need: an upper end where g_i > 0, a lower one where g_i < 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = own.rest - need[:, None] / g
        low = np.maximum(low, np.where(g < 0, edge, -np.inf))
        high = np.minimum(high, np.where(g > 0, edge, np.inf))
        blocked |= (g == 0) & (need > 0)[:, None]
    cost = weights * np.maximum(np.maximum(low - centers, centers - high), 0.0)
    cost = np.where(blocked | (low > high), np.inf, cost)
    none = np.where((over <= 0).all(axis=1), -1.0, np.inf)
    cost = np.column_stack([cost, none])
    cost[own.forced.any(axis=1)] = np.inf
    return cost
