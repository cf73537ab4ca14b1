"""One feature at most: the closed form, all samples at once.

With all others at rest, feature i satisfies ``G x <= h`` on an interval, whose ends follow from
one division a row; with quadratic rows on a union of intervals, whose ends are roots. So supports
of size 0 and 1 need no search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, Region, row_products
from pertinent.questions.supports.gains import Choices
from pertinent.solvers.curved.shifted import real_roots

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

    A feature that cannot rest is the one that moves; samples with two are left to the search.
    """
    n, d = choices.rest.shape
    best, feature = np.full(n, np.inf), np.full(n, -1)
    if any(cell.exponentials for cell in require_cells(region)):
        return Singles(np.zeros((n, d), dtype=bool), np.zeros(n, dtype=bool))
    for cell in require_cells(region):
        rows = len(cell.G) + 2 * len(cell.quadratics) * (len(cell.G) + len(cell.quadratics) + 2)
        step = max(1, BATCH_NUMBERS // max(1, rows * d))
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
    if cell.quadratics:
        return _root_costs(cell, own, centers, weights)
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
    return _with_none(cost, np.asarray((over <= 0).all(axis=1)), own)


def _with_none(cost: FloatArray, inside: BoolArray, own: Choices) -> FloatArray:
    # One feature that cannot rest must be the one that moves; of two, neither can stay.
    count = own.forced.sum(axis=1)[:, None]
    cost = np.where((count == 0) | ((count == 1) & own.forced), cost, np.inf)
    return np.column_stack([cost, np.where(inside & (count[:, 0] == 0), -1.0, np.inf)])


def _root_costs(cell: Cell, own: Choices, centers: FloatArray, weights: FloatArray) -> FloatArray:
    """Try the sample's value, the ends of the range and every root: the nearest is one of them.

    Along feature i, with t = x_i - rest_i, row r reads ``a t^2 + s t + c <= 0``.
    """
    forms = [np.zeros_like(cell.G)] + [np.diag(row.A)[None] for row in cell.quadratics]
    a = np.concatenate(forms)
    linear = np.broadcast_to(cell.G, (len(own), *cell.G.shape))
    slopes = [row.gradient(own.rest) for row in cell.quadratics]
    s = np.concatenate([linear, *(slope[:, None, :] for slope in slopes)], axis=1)
    values = [row.value(own.rest)[:, None] for row in cell.quadratics]
    c = np.concatenate([row_products(own.rest, cell.G) - cell.h, *values], axis=1)[:, :, None]
    roots = np.concatenate(real_roots(a, s, c), axis=1)
    ends = np.stack([own.low, own.high, np.clip(centers, own.low, own.high)], axis=1)
    t = np.concatenate([roots, ends - own.rest[:, None, :]], axis=1)
    t = np.where(np.isfinite(t), t, 0.0)
    good = np.ones(t.shape, dtype=bool)
    for r in range(len(a)):
        square, slope, rest = a[r] * t * t, s[:, None, r] * t, c[:, None, r]
        size = np.abs(square) + np.abs(slope) + np.abs(rest)
        good &= square + slope + rest <= 1e-13 * size
    x = t + own.rest[:, None, :]
    x = np.where(np.abs(x - own.low[:, None]) <= 1e-15 * np.abs(x), own.low[:, None], x)
    good &= (x >= own.low[:, None]) & (x <= own.high[:, None]) & (t != 0) & ~own.barred[:, None]
    cost = np.where(good, weights * np.abs(x - centers[:, None]), np.inf).min(axis=1)
    return _with_none(cost, np.asarray((c[:, :, 0] <= 0).all(axis=1)), own)
