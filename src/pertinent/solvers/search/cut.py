"""Numbers that a model cuts off at two edges: how far out an answer need go.

The model sees ``min(max(x, e_0), e_1)`` only. Whoever lies beyond an edge can come back to it, or
to the center if that is beyond as well, and the model does not notice: so the nearest answer lies
between the two, unless something else speaks of x too. This narrows the search; what is proved,
the proof's own bounds prove without it.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from pertinent.solvers.problem import Task
from pertinent.solvers.tolerances import NO_COEFFICIENT


def is_only_cut(cell: Cell, domain: Domain, bins: Bins) -> bool:
    """Return whether nothing but the part of a number between the edges matters.

    A row ``g_x x + g_e e`` with the excess ``e`` reads ``g_x (x - e)`` where ``g_e = -g_x``.
    """
    if bins.excess is None:
        return False
    rest = np.abs(cell.G[:, bins.column] + cell.G[:, bins.excess])
    if (rest > NO_COEFFICIENT * np.abs(cell.G).max(axis=1, initial=0.0)).any():
        return False
    if any(other is not bins and other.column == bins.column for other in domain.bins):
        return False
    return not any(domain.owner[bins.column] in group for group in domain.together)


def useful_reach(task: Task, domain: Domain, bins: Bins) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value that an answer can need."""
    j = bins.column
    near = np.clip(task.centers[:, j], task.lower[:, j], task.upper[:, j])
    first, last = (np.full(len(task), edge) for edge in bins.edges[[0, -1]])
    if np.isfinite(domain.decimals[j]):  # an edge between two allowed values: the outer one
        own = None if domain.own is None else domain.own[:, j]
        first, last = domain.floor(j, first, own), domain.ceil(j, last, own)
    return np.minimum(near, first), np.maximum(near, last)


def within_reach(task: Task, domain: Domain) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of the search: what lies farther out than it need be is left out."""
    cut = [bins for bins in domain.bins if is_only_cut(task.cell, domain, bins)]
    if not cut:
        return task.lower, task.upper
    lower, upper = task.lower.copy(), task.upper.copy()
    for bins in cut:
        j, (first, last) = bins.column, useful_reach(task, domain, bins)
        # Where the bounds begin beyond, they stay as they are: coming back is not allowed.
        lower[:, j], upper[:, j] = np.maximum(lower[:, j], first), np.minimum(upper[:, j], last)
        # Strictly inside, so that a value on an edge keeps the bin it is in.
        below, above = bins.columns[[0, -1]]
        near = np.clip(task.centers[:, j], task.lower[:, j], task.upper[:, j])
        upper[(first >= bins.edges[0]) & (near > bins.edges[0]), below] = 0.0
        upper[(last <= bins.edges[-1]) & (near < bins.edges[-1]), above] = 0.0
    return lower, upper
