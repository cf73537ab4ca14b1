"""Why no smaller set of features suffices for a prediction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.certificate._cardinality import ROUNDING, refutes, weighted
from pertinent.certificate._proofs import Proofs
from pertinent.regions import Cell


@dataclass(frozen=True, eq=False)
class SufficientProofs(Proofs):
    """No set with fewer features holds the sample's class against what the others can do.

    Parameters
    ----------
    size : ndarray of shape (n,)
        What is claimed of each sample.
    rivals : tuple of ndarray of shape (r, n_features), or None
        Points of other classes: a sufficient set contains a feature in which each differs from
        the sample. None: the worst case of each row of the cell speaks for itself.
    extra : dict of int to ndarray of shape (p, n_rows)
        Multipliers >= 0 of weighted sums of rows, for the samples that need them.
    """

    size: FloatArray
    rivals: tuple[FloatArray, ...] | None = None
    extra: dict[int, FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.size)

    def take(self, rows: IntArray) -> SufficientProofs:
        """Return the proofs of the given rows."""
        some = None if self.rivals is None else tuple(self.rivals[int(i)] for i in rows)
        extra = {new: self.extra[int(i)] for new, i in enumerate(rows) if int(i) in self.extra}
        return replace(self, size=self.size[rows], rivals=some, extra=extra)

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the number of features proved necessary; the centers are the samples."""
        closed = np.zeros(len(centers), dtype=bool)
        if self.rivals is None:
            closed = _one_row_suffices(cell, centers, lower, upper, self.size)
        proved = np.where(closed, self.size, 0.0)
        for i in np.flatnonzero(~closed):
            x = centers[i]
            if self.rivals is None:
                gain, need = weighted(
                    *_worst_case(cell, x, lower[i], upper[i]), self.extra.get(int(i))
                )
            else:
                rivals = self.rivals[i]
                inside = ((rivals >= lower[i]) & (rivals <= upper[i])).all(axis=1)
                gain = (rivals[inside] != x).astype(float)
                need = np.ones(len(gain))
                if np.isinf(self.size[i]):
                    proved[i] = np.inf
                    continue
            fewer = int(min(self.size[i] - 1, len(x)))
            if fewer >= 0 and refutes(gain, need, fewer):
                proved[i] = self.size[i]
        return proved


def _one_row_suffices(
    cell: Cell, x: FloatArray, lower: FloatArray, upper: FloatArray, size: FloatArray
) -> BoolArray:
    """Return for which samples a single linear row refutes all sets of ``size - 1`` features."""
    count = np.minimum(size - 1, x.shape[1]).astype(np.int64)
    closed = np.zeros(len(x), dtype=bool)
    for g, h in zip(cell.G, cell.h, strict=True):
        gain = np.maximum(g * (lower - x), g * (upper - x))
        need = (g * x).sum(axis=1) - h + gain.sum(axis=1)
        reach = np.cumsum(-np.sort(-gain, axis=1), axis=1)
        most = np.where(count > 0, reach[np.arange(len(x)), np.maximum(count, 1) - 1], 0.0)
        closed |= most < need - ROUNDING * (np.abs(need) + gain.sum(axis=1))
    return np.asarray(closed & (count >= 0))


def _worst_case(
    cell: Cell, x: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how far each feature can push each row, and what must be taken back."""
    push = [np.maximum(cell.G * (lower - x), cell.G * (upper - x))]
    over = [cell.G @ x - cell.h]
    for row in cell.quadratics:
        a, slope = np.diag(row.A), row.q + 2 * np.diag(row.A) * x
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.where(a < 0, np.clip(-slope / (2 * a), lower - x, upper - x), 0.0)
        ends = [slope * t + a * t * t for t in (lower - x, upper - x, inner)]
        push.append(np.max(ends, axis=0)[None])
        over.append(row.value(x[None]))
    gain = np.maximum(np.concatenate(push), 0.0)
    return gain, np.concatenate(over) + gain.sum(axis=1)
