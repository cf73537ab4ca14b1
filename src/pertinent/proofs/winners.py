"""The proof behind pieces of a winner-takes-all region that were skipped.

Piece p asks for ``(W_j - W_p) x <= b_p - b_j - slack`` for every rival j. One rival alone already
proves a bound by weak duality, with the multiplier ``1 / max_i(|g_i| / w_i)`` on ``g = W_j - W_p``,
i over the features that can move; if none can, the row alone may prove the piece empty. So the
proof names one rival for each center and piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.pieces import parts_of, pieces_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import is_late
from pertinent.geometry.task import Task
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs.core import RegionProofs
from pertinent.proofs.linear import dual_values, is_empty
from pertinent.proofs.rounding import one_row_terms

#: Numbers (pairs of center and piece, times features) looked at together: they fit in the cache.
AT_ONCE = 32_768


@record_as("rivals")
@dataclass(frozen=True, eq=False)
class RivalProofs(RegionProofs):
    """One rival for each center and piece, shape (n, n_pieces)."""

    rival: NDArray[np.int32]

    def piece_bounds(self, task: Task) -> FloatArray:
        """Return the bound of each center and piece, recomputed from the rows of the parts."""
        out, first = [np.zeros((len(task), 0))], 0
        for part in parts_of(task.region):
            last = first + len(pieces_of(part))
            out.append(_rival_bounds(part, self.rival[:, first:last].astype(np.int64), task))
            first = last
        return np.hstack(out)


@singledispatch
def _rival_bounds(part: Cell | Region, rival: IntArray, task: Task) -> FloatArray:
    """Return what one rival for each center and piece, shape (n, n_pieces), proves of a part.

    Nothing, where the part knows no rivals.
    """
    return np.zeros((len(task), len(pieces_of(part))))


@_rival_bounds.register
def _(part: WinnerRegion, rival: IntArray, task: Task) -> FloatArray:
    if not len(part.rivals):
        return np.zeros(rival.shape)
    bounds = np.zeros(rival.size)
    size = max(1, AT_ONCE // part.dim)
    for first in range(0, len(bounds), size):
        if first and is_late():  # what is not looked at shows nothing
            break
        pairs = np.arange(first, min(first + size, len(bounds)))
        i, p = pairs // rival.shape[1], pairs % rival.shape[1]
        g, h = part.row(p, rival[i, p])
        some = Task(part, task.centers[i], task.weights, task.lower[i], task.upper[i])
        bounds[pairs] = _one_row_bounds(g, h, some)
    return bounds.reshape(rival.shape)


def _one_row_bounds(g: FloatArray, h: FloatArray, task: Task) -> FloatArray:
    """Return what one inequality ``g x <= h`` for each center proves."""
    start, lower, upper = task.start(), task.lower, task.upper
    steep = np.where(upper > lower, np.abs(g) / task.weights, 0.0).max(axis=1)
    excess = np.einsum("nd,nd->n", g, start) - h
    y = np.where(excess > 0, 1.0 / np.where(steep > 0, steep, 1.0), 0.0)
    slopes = y[:, None] * g
    terms = one_row_terms(slopes, y * np.abs(h), start)
    bounds = dual_values(task, start, slopes, y * excess, terms)
    stuck = np.flatnonzero((steep == 0) & (excess > 0))
    if len(stuck):
        sizes = one_row_terms(g[stuck], np.abs(h[stuck]), start[stuck])
        empty = is_empty(g[stuck], excess[stuck], start[stuck], lower[stuck], upper[stuck], sizes)
        bounds[stuck[empty]] = np.inf
    return bounds
