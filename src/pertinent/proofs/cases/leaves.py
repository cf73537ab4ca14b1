"""The bound of one case: weak duality over whole numbers, groups of categories and bins."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell, row_products
from pertinent.proofs.tolerances import REACH, SCALED, SUMS


def leaf_bounds(
    y: FloatArray,
    ray: BoolArray,
    cell: Cell,
    centers: FloatArray,
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    domain: Domain,
) -> FloatArray:
    """Return what multipliers prove about narrowed boxes; ``inf`` for a ray that holds."""
    y = np.maximum(y, 0.0)
    start = domain_start(domain, centers, lower, upper)
    slopes = row_products(y, np.ascontiguousarray(cell.G.T))
    # A slope beyond the weight of an unbounded number: shrink all multipliers until it holds.
    outer = _outer_slopes(domain, slopes)
    end = np.where(outer > 0, lower, upper)
    endless = (np.abs(outer) > weights) & np.isinf(end) & (weights > 0)
    if endless.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(endless, np.abs(outer) / weights, 1.0).max(axis=1)
        shrink = np.where((ratio > 1.0) & ~ray, (1.0 - SCALED) / ratio, 1.0)
        y, slopes = y * shrink[:, None], slopes * shrink[:, None]
    excess = (y * (row_products(start, cell.G) - cell.h)).sum(axis=1)
    cost = (weights * np.abs(start - centers)).sum(axis=1)
    proved = cost + excess + _least(domain, slopes, weights, centers, start, lower, upper)
    if ray.any():
        r = np.flatnonzero(ray)
        reach = REACH * (1.0 + np.abs(start[r]))
        low, high = np.maximum(lower[r], start[r] - reach), np.minimum(upper[r], start[r] + reach)
        free = np.zeros_like(weights)
        fall = _least(domain, slopes[r], free, centers[r], start[r], low, high)
        size = np.abs(slopes[r]).sum(axis=1) + np.abs(excess[r])
        proved[r] = np.where(excess[r] + fall > SUMS * size, np.inf, np.maximum(proved[r], 0.0))
    return np.asarray(proved)


def _outer_slopes(domain: Domain, slopes: FloatArray) -> FloatArray:
    """Return the slopes far out, where what is cut off of a number grows with it."""
    cut = [bins for bins in domain.bins if bins.excess is not None]
    if not cut:
        return slopes
    outer = slopes.copy()
    for bins in cut:
        outer[:, bins.column] += slopes[:, bins.excess]
    return outer


def domain_start(
    domain: Domain, centers: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return a point of each narrowed box: near the center, one of each group."""
    start = np.clip(centers, lower, upper)
    for group in domain.groups:
        can = upper[:, group] >= 1.0
        chosen = np.where(can, centers[:, group], -1.0).argmax(axis=1)
        start[:, group] = 0.0
        start[np.arange(len(start)), group[chosen]] = 1.0
    return start


def _least(
    domain: Domain,
    slopes: FloatArray,
    weights: FloatArray,
    centers: FloatArray,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return ``min w|x - c| - w|start - c| + slopes'(x - start)`` over the boxes' domains."""
    numeric = ~domain.in_group
    # One family of bins for each number is looked at together with it: one that cuts it off first.
    joint = {b.column: b for b in sorted(domain.bins[::-1], key=lambda b: b.excess is not None)}
    numeric[list(joint)] = False
    numeric[[b.excess for b in joint.values() if b.excess is not None]] = False
    end = np.where(slopes > 0, lower, upper)
    steep = (np.abs(slopes) > weights) & numeric & np.isfinite(end)
    at = np.where(steep, end, start)
    moved = weights * (np.abs(at - centers) - np.abs(start - centers)) + slopes * (at - start)
    total = np.where(steep, moved, 0.0).sum(axis=1)
    shared = {id(b.columns) for b in joint.values()}
    for group in domain.groups:
        if id(group) not in shared:
            total += _least_of_group(group, slopes, weights, centers, start, upper)
    for bins in joint.values():
        total += _least_of_bins(bins, slopes, weights, centers, start, lower, upper)
    return np.asarray(total)


def _least_of_group(
    group: IntArray,
    slopes: FloatArray,
    weights: FloatArray,
    centers: FloatArray,
    start: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    c, w = centers[:, group], weights[group]
    price = w * (np.abs(1.0 - c) - np.abs(c)) + slopes[:, group]
    now = (price * start[:, group]).sum(axis=1)
    return np.asarray(np.where(upper[:, group] >= 1.0, price, np.inf).min(axis=1) - now)


def _least_of_bins(
    bins: Bins,
    slopes: FloatArray,
    weights: FloatArray,
    centers: FloatArray,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return the least over all bins of the number's own part plus the bin's slope.

    In bin k what is cut off is ``a_k x + b_k``: its slope adds to the number's.
    """
    j = bins.column
    s, c, w = slopes[:, [j]], centers[:, [j]], weights[j]
    fixed, now = slopes[:, bins.columns], s[:, 0] * start[:, j]
    if bins.excess is not None:
        of_excess = slopes[:, [bins.excess]]
        now = now + of_excess[:, 0] * start[:, bins.excess]
        s, fixed = s + of_excess * bins.beyond_slope, fixed + of_excess * bins.beyond_shift
    low = np.maximum(lower[:, [j]], bins.low)
    high = np.minimum(upper[:, [j]], bins.high)
    near = np.clip(c, low, np.maximum(low, high))
    end = np.where(s > 0, low, high)
    at = np.where((np.abs(s) > w) & np.isfinite(end), end, near)
    price = w * np.abs(at - c) + s * at + fixed
    can = (upper[:, bins.columns] >= 1.0) & (low <= high)
    now = now + w * np.abs(start[:, [j]] - c)[:, 0]
    now += (slopes[:, bins.columns] * start[:, bins.columns]).sum(axis=1)
    return np.asarray(np.where(can, price, np.inf).min(axis=1) - now)
