"""Why no smaller set of features suffices for a prediction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from pertinent.geometry.arrays import BY_KEY, BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import pieces_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.task import Task
from pertinent.proofs.cases.narrowing import Boxes, narrow
from pertinent.proofs.core import Proofs, RegionProofs
from pertinent.proofs.rounding import rounding_unit
from pertinent.proofs.supports.cardinality import fewer_than, refutes, weighted
from pertinent.proofs.supports.fewest_mixed import is_discrete
from pertinent.proofs.supports.reach import pushes, splits_by_feature
from pertinent.proofs.tolerances import SUMS


@record_as("sufficient", retired=("domain",))
@dataclass(frozen=True, eq=False)
class SufficientProofs(Proofs):
    """No set with fewer features holds every row of the class's one cell in its worst case.

    Parameters
    ----------
    size : ndarray of shape (n,)
        What is claimed of each sample.
    extra : dict of int to ndarray of shape (p, n_rows)
        Multipliers >= 0 of weighted sums of rows, for the samples that need them.
    """

    size: FloatArray
    extra: dict[int, FloatArray] = field(default_factory=dict, metadata=BY_KEY)

    @property
    def speaks_of_cost(self) -> bool:
        """Whether bounds are costs, rather than numbers of features."""
        return False

    @property
    def speaks_of_all(self) -> bool:
        """Whether bounds are costs of all points, rather than of those with few features."""
        return False

    def bounds(self, task: Task) -> FloatArray:
        """Return the number of features proved necessary; the centers are the samples."""
        cell, centers, lower, upper = task.cell, task.centers, task.lower, task.upper
        domain = task.domain if is_discrete(task.domain) else None
        closed = np.zeros(len(centers), dtype=bool)
        if domain is None:
            closed = _one_row_suffices(cell, centers, lower, upper, self.size)
        for i in np.flatnonzero(~closed) if splits_by_feature(cell, domain) else ():
            one, limits = None, (lower[i], upper[i])
            if domain is not None:
                one = domain.take(np.array([i]))
                limits = narrowed(one, *limits)
            gain, need = pushes(cell, centers[i], *limits, one)
            fewer = int(min(fewer_than(self.size[i]), gain.shape[1]))
            rows = weighted(gain, need, self.extra.get(int(i)))
            closed[i] = fewer >= 0 and refutes(*rows, fewer)
        return np.where(closed, self.size, 0.0)


@record_as("rival-sets", retired=("domain",))
@dataclass(frozen=True, eq=False)
class RivalSetProofs(RegionProofs):
    """No set with fewer features hits every rival; asked of the region of all other classes.

    A sufficient set contains a feature in which each rival differs from the sample. A rival
    counts only if it lies in the region and within the bounds, which is looked at again here.

    Parameters
    ----------
    size : ndarray of shape (n,)
        What is claimed of each sample; ``inf``: the sample itself is one of its rivals.
    rivals : tuple of ndarray of shape (r, n_features)
    extra : dict of int to ndarray of shape (p, r)
        Multipliers >= 0 of weighted sums of rows, for the samples that need them.
    """

    size: FloatArray
    rivals: tuple[FloatArray, ...]
    extra: dict[int, FloatArray] = field(default_factory=dict, metadata=BY_KEY)

    @property
    def speaks_of_all(self) -> bool:
        """Whether bounds are costs of all points, rather than of those with few features."""
        return False

    def piece_bounds(self, task: Task) -> FloatArray:
        """Return the number of features proved necessary, the same for every piece."""
        region, centers = cast(Region, task.region), task.centers
        lower, upper = task.lower, task.upper
        counts = [len(rivals) for rivals in self.rivals]
        every = np.concatenate([np.zeros((0, centers.shape[1])), *self.rivals])
        real = region.contains(every) if len(every) else np.zeros(0, dtype=bool)
        proved = np.zeros(len(centers))
        for i, good in enumerate(np.split(real, np.cumsum(counts)[:-1])):
            good &= ((self.rivals[i] >= lower[i]) & (self.rivals[i] <= upper[i])).all(axis=1)
            if task.domain is not None and len(good):
                same = np.full(len(good), i)
                good &= ~task.domain.take(same).violation(self.rivals[i])
            proved[i] = self._one(i, centers[i], good, task.domain)
        return np.repeat(proved[:, None], len(pieces_of(region)), axis=1)

    def _one(self, i: int, x: FloatArray, good: BoolArray, domain: Domain | None) -> float:
        differs = _features(self.rivals[i] != x, domain) & good[:, None]
        if np.isinf(self.size[i]):
            return np.inf if (good & ~differs.any(axis=1)).any() else 0.0
        # A rival that does not count asks for nothing.
        rows = weighted(differs.astype(float), good.astype(float), self.extra.get(i))
        fewer = int(min(fewer_than(self.size[i]), differs.shape[1]))
        return float(self.size[i]) if fewer >= 0 and refutes(*rows, fewer) else 0.0


def _features(columns: BoolArray, domain: Domain | None) -> BoolArray:
    """Return which features differ, from the columns that do."""
    if domain is None:
        return columns
    shown = np.flatnonzero(~domain.follows)
    out = np.zeros((len(columns), int(domain.owner.max()) + 1), dtype=bool)
    np.logical_or.at(out.T, domain.owner[shown], columns.T[shown])
    return out


def narrowed(domain: Domain, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of one sample, as tight as its domain says at once."""
    box = Boxes(np.zeros(1, dtype=np.int64), lower[None], upper[None], np.zeros((1, 0), np.int8))
    tight, _ = narrow(domain, box)
    return tight.lower[0], tight.upper[0]


def _one_row_suffices(
    cell: Cell, x: FloatArray, lower: FloatArray, upper: FloatArray, size: FloatArray
) -> BoolArray:
    """Return for which samples one linear row refutes all sets of fewer than ``size`` features."""
    count = np.minimum(fewer_than(size), x.shape[1]).astype(np.int64)
    closed = np.zeros(len(x), dtype=bool)
    for g, h in zip(cell.G, cell.h, strict=True):
        gain = np.maximum(g * (lower - x), g * (upper - x))
        off = rounding_unit(len(g), 1) * (np.abs(g * x).sum(axis=1) + abs(h))
        need = (g * x).sum(axis=1) - h - off + gain.sum(axis=1)
        reach = np.cumsum(-np.sort(-gain, axis=1), axis=1)
        most = np.where(count > 0, reach[np.arange(len(x)), np.maximum(count, 1) - 1], 0.0)
        closed |= most < need - SUMS * (np.abs(need) + gain.sum(axis=1))
    return np.asarray(closed & (count >= 0))
