"""Supports that need no search: of one feature at most, and of unions of boxes.

With all others at rest, feature i satisfies ``G x <= h`` on an interval, whose ends follow from
one division a row; with quadratic rows on a union of intervals, whose ends are roots. So supports
of size 0 and 1 have a closed form.

A point lies in a box iff each feature does by itself. So the features whose rest value is outside
the box must be on, and no others need to be: each box (leaf of a tree) has one smallest support,
its cost is the distance of those features to the box, and the best box is the answer.

Every column is a feature here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import as_cell, cells_of, forms_of
from pertinent.geometry.region import Cell, Region, row_products
from pertinent.geometry.running import is_over
from pertinent.questions.supports.gains import Choices
from pertinent.questions.tolerances import AT_BOUND, BATCH_NUMBERS, ROOT_ROUNDING
from pertinent.solvers.curved.shifted import real_roots


def one_at_most(
    cells: Sequence[Cell], choices: Choices, centers: FloatArray, weights: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return the cheapest support of size 0 or 1 of each sample, and where there is one.

    A feature that cannot rest is the one that moves; samples with two are left to the search.
    When the time is over, the best of the cells that were looked at is returned.
    """
    n, d = choices.rest.shape
    best, feature = np.full(n, np.inf), np.full(n, -1)
    for cell in cells:
        if cell.has_other_rows:
            return np.zeros((n, d), dtype=bool), np.zeros(n, dtype=bool)
        if is_over():
            break
        rows = len(cell.G) + 2 * len(cell.quadratics) * (len(cell.G) + len(cell.quadratics) + 2)
        step = max(1, BATCH_NUMBERS // max(1, rows * d))
        for start in range(0, n, step):
            part = np.arange(start, min(start + step, n))
            cost = one_feature_costs(cell, choices.take(part), centers[part], weights)
            here = cost.argmin(axis=1)
            least = cost[np.arange(len(part)), here]
            better = least < best[part]
            best[part[better]], feature[part[better]] = least[better], here[better]
    found = np.isfinite(best)
    mask = np.zeros((n, d + 1), dtype=bool)
    mask[np.flatnonzero(found), feature[found]] = True
    return mask[:, :d], found


def one_feature_costs(
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
    step = max(1, BATCH_NUMBERS // max(1, own.rest.size))
    for first in range(0, len(cell.G), step):
        G, need = cell.G[first : first + step], over[:, first : first + step]
        # g_i (x - rest_i) <= -need: an upper end where g_i > 0, a lower one where g_i < 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = own.rest[:, None] - need[:, :, None] / G
        low = np.maximum(low, np.where(G < 0, edge, -np.inf).max(axis=1))
        high = np.minimum(high, np.where(G > 0, edge, np.inf).min(axis=1))
        blocked |= (need > 0) @ (G == 0)
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
        good &= square + slope + rest <= ROOT_ROUNDING * size
    x = t + own.rest[:, None, :]
    x = np.where(np.abs(x - own.low[:, None]) <= AT_BOUND * np.abs(x), own.low[:, None], x)
    good &= (x >= own.low[:, None]) & (x <= own.high[:, None]) & (t != 0) & ~own.barred[:, None]
    cost = np.where(good, weights * np.abs(x - centers[:, None]), np.inf).min(axis=1)
    return _with_none(cost, np.asarray((c[:, :, 0] <= 0).all(axis=1)), own)


def boxes_of(region: Region) -> Sequence[Cell] | None:
    """Return the cells of a union of boxes; None where one is something else."""
    forms = [as_cell(piece) for piece, _ in forms_of(region)]
    are_boxes = all(cell is not None and cell.is_linear and not len(cell.G) for cell in forms)
    return cells_of(region) if are_boxes else None


def box_costs(
    cells: Sequence[Cell], choices: Choices, centers: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the size and the cost of each box's smallest support, shape (n, n_boxes) each.

    ``inf`` where the bounds leave nothing of the box.
    """
    size = np.full((len(choices), len(cells)), np.inf)
    cost = size.copy()
    for piece, cell in enumerate(cells):
        own = choices.within(cell)
        away = np.maximum(np.maximum(own.low - centers, centers - own.high), 0.0)
        possible = ~own.impossible
        size[possible, piece] = own.forced.sum(axis=1)[possible]
        cost[possible, piece] = np.where(own.forced, weights * away, 0.0).sum(axis=1)[possible]
    return size, cost


def best_boxes(
    cells: Sequence[Cell],
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
    if not len(cells):
        return mask, found
    size, cost = box_costs(cells, choices, centers, weights)
    if at_most is None:
        cost = np.where(size == size.min(axis=1, keepdims=True), cost, np.inf)
    else:
        cost = np.where(size <= at_most, cost, np.inf)
    best = cost.argmin(axis=1)
    found = np.isfinite(cost[np.arange(n), best])
    for piece in np.unique(best[found]):
        rows = np.flatnonzero(found & (best == piece))
        mask[rows] = choices.take(rows).within(cells[piece]).forced
    return mask, found


def further_boxes(
    cells: Sequence[Cell],
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
    size, cost = (part[0] for part in box_costs(cells, choices, center[None], weights))
    keys: tuple[FloatArray, ...] = (cost, size) if at_most is None else (cost,)
    order: IntArray = np.lexsort(keys)
    listed, out = [first], list[tuple[BoolArray, float]]()
    for piece in order:
        if len(out) == count or not np.isfinite(cost[piece]):
            break
        if at_most is not None and size[piece] > at_most:
            continue
        mask = choices.within(cells[piece]).forced[0]
        if not any((other <= mask).all() for other in listed):
            listed.append(mask)
            out.append((mask, float(cost[piece])))
    return out
