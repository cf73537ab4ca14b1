"""How far points of a class of a sum of trees can go: from cell to cell, each added up.

What comes back is a proposal; `pertinent.proofs.ensembles.inside` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import is_over
from pertinent.questions.ranges.reach import Moves

#: Cells that are looked at together, at first; then four times as many, up to a number.
FEW_CELLS, MANY_CELLS = 16, 256
#: A box is grown while it meets at most so many products of cells.
MOST_CELLS = 1024


def ends_in_trees(region: EnsembleRegion, moves: Moves, share: float) -> FloatArray:
    """Return the last value of each point in its direction, before the class ends.

    ``share`` is how far ends keep off a cut, as a share of its column's largest one.
    """
    cells = region.ensemble.cells_of(moves.points)
    out = np.empty(len(moves.points))
    for k, (column, sign) in enumerate(zip(moves.columns.tolist(), moves.signs, strict=True)):
        own, point = cells[k], float(moves.points[k, column])
        cell = int(own[column])
        last = cell if _has_margin(region) else _last_cell(region, own, column, int(sign))
        end = end_of_cell(region, column, last, float(sign), share)
        out[k] = sign * max(sign * end, sign * point)
    return out


def _has_margin(region: EnsembleRegion) -> bool:
    """Return whether points keep off the cuts, so that none can be crossed."""
    return region.keep is not None and bool((region.keep > 0).any())


def _last_cell(region: EnsembleRegion, own: IntArray, column: int, sign: int) -> int:
    """Return the last cell of a column that is of the class, with all before it."""
    edge = int(region.ensemble.n_cells[column]) - 1 if sign > 0 else 0
    last, count = int(own[column]), FEW_CELLS
    while last != edge and not is_over():
        step = min(count, abs(edge - last))
        tried = np.repeat(own[None], step, axis=0)
        tried[:, column] = last + sign * np.arange(1, step + 1)
        lost = np.flatnonzero(~_wins(region, tried))
        if len(lost):
            return last + sign * int(lost[0])
        last, count = last + sign * step, min(4 * count, MANY_CELLS)
    return last


def _wins(region: EnsembleRegion, cells: IntArray) -> BoolArray:
    totals, tally = region.ensemble.totals_of(cells), region.ensemble.tally
    ahead = [tally.beats(totals, region.label, rival) for rival in region.rivals]
    return np.asarray(np.logical_and.reduce(ahead)) if ahead else np.ones(len(cells), dtype=bool)


def end_of_cell(region: EnsembleRegion, column: int, cell: int, sign: float, share: float) -> float:
    """Return the last number of a cell in a direction, a little before its cut."""
    end = float(region.ends[column][1 if sign > 0 else 0][cell])
    size = float(np.abs(region.ensemble.cuts[column]).max(initial=0.0))
    return end - sign * share * size if np.isfinite(end) else end


class TreeBox:
    """A box that grows side by side within a region of a sum of trees.

    Parameters
    ----------
    region : EnsembleRegion
    share : float
        How far its sides keep off a cut, as a share of its column's largest one.
    """

    def __init__(self, region: EnsembleRegion, share: float) -> None:
        self.region, self.share = region, share

    def end(
        self, extended: Callable[[float], tuple[FloatArray, FloatArray]], column: int, start: float,
        sign: float, farthest: float,
    ) -> float:  # fmt: skip
        """Return how far one side can move, the others as they are; halved over the cells.

        ``extended`` returns the box after a move of this side by a length.
        """
        cells = self.region.ensemble.cuts[column]
        first = int(np.searchsorted(cells, start))
        last = first if _has_margin(self.region) else int(np.searchsorted(cells, farthest))
        ends = [
            end_of_cell(self.region, column, c, sign, self.share)
            for c in range(first, last + int(sign), int(sign))
        ]
        lengths = [
            max(sign * (min(sign * end, sign * farthest) * sign - start), 0.0) for end in ends
        ]
        good, bad = -1, len(lengths)
        while bad - good > 1 and not is_over():
            middle = (good + bad) // 2
            holds = self._holds(*extended(lengths[middle]))
            good, bad = (middle, bad) if holds else (good, middle)
        return lengths[good] if good >= 0 else 0.0

    def _holds(self, low: FloatArray, high: FloatArray) -> bool:
        cells = self.region.ensemble.cells_of(np.stack([low, high]))
        wide = np.flatnonzero(cells[0] < cells[1])
        counts = (cells[1] - cells[0] + 1)[wide]
        if np.prod(counts.astype(float)) > MOST_CELLS:
            return False
        places = np.array(list(product(*map(range, counts))), dtype=np.int64)
        tried = np.repeat(cells[:1], len(places), axis=0)
        tried[:, wide] += places.reshape(len(places), len(wide))
        return bool(_wins(self.region, tried).all())
