"""The nearest point of a sum of trees by trying every cell: the judge of both searches."""

from dataclasses import replace
from itertools import product

import numpy as np

from pertinent.geometry.task import distance


def every_cell(region, center, lower, upper, domain=None):
    """Return the allowed value next to the center in every product of cells, one point each."""
    values = []
    for j, (low, high) in enumerate(region.ends):
        if domain is not None and domain.in_group[j]:
            options = np.array([0.0, 1.0])
            values.append(options[(options >= lower[j]) & (options <= upper[j])])
            continue
        least, most = np.maximum(low, lower[j]), np.minimum(high, upper[j])
        keep = least <= most
        value = np.clip(center[j], least[keep], most[keep])
        if domain is not None and np.isfinite(domain.decimals[j]):
            own = domain.own[0, j]
            near = []
            for v, a, b in zip(value, least[keep], most[keep], strict=True):
                whole = np.array([np.floor(v), np.ceil(v), own])
                whole = whole[(whole >= a) & (whole <= b)]
                near += [whole[np.abs(whole - center[j]).argmin()]] if len(whole) else []
            value = np.array(near)
        values.append(value)
    points = np.array(list(product(*values)))
    if domain is not None:
        points = points[
            ~replace(domain, own=np.repeat(domain.own, len(points), 0)).violation(points)
        ]
    return points


def least_cost(region, task, row):
    """Return what the nearest point of one row costs; inf if there is none."""
    domain = None if task.domain is None else task.domain.take(np.array([row]))
    points = every_cell(region, task.centers[row], task.lower[row], task.upper[row], domain)
    if not len(points):
        return np.inf
    inside = region.contains(points)
    cost = distance(points, task.centers[[row]], task.weights)
    return cost[inside].min(initial=np.inf)
