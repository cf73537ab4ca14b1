"""Why no smaller set of features will do: a search in vain that anyone can repeat.

A proof about supports names rows that every support has to meet,

    sum_{i in S} gain[j, i] >= need[j],

recomputed here from the cell and from multipliers ``y >= 0``, and claims that no S with fewer
than ``size`` features meets them all. `refutes` repeats the argument: a row whose largest gains
do not add up to its need closes a branch; otherwise each feature in turn is taken in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.certificate._proofs import Proofs
from pertinent.regions import Cell, Quadratic

#: Rounding of sums: needs closer than this to what is reachable prove nothing.
ROUNDING = 1e-13


def refutes(
    gain: FloatArray,
    need: FloatArray,
    size: int,
    meets: Callable[[list[int]], bool] | None = None,
    nodes: int = 1_000_000,
) -> bool:
    """Return whether no support of at most ``size`` features meets every row.

    Parameters
    ----------
    gain : ndarray of shape (n_rows, n_features)
    need : ndarray of shape (n_rows,)
    size : int
    meets : callable, optional
        Whether a support that no row speaks against really will do; by default it will.
    nodes : int
        Branches after which the argument counts as not made.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.certificate import refutes
    >>> gain, need = np.array([[3.0, 2.0, 1.0], [0.0, 2.0, 3.0]]), np.array([3.0, 3.0])
    >>> refutes(gain, need, 1), refutes(gain, need, 2)
    (True, False)
    """
    most = np.zeros((len(gain), size + 1))  # most[j, q]: the q largest gains of row j, added up
    largest = -np.sort(-np.maximum(gain, 0.0), axis=1)[:, :size]
    np.cumsum(largest, axis=1, out=most[:, 1 : 1 + largest.shape[1]])
    most[:, 1 + largest.shape[1] :] = most[:, largest.shape[1], None]
    slack = ROUNDING * (np.abs(need) + np.abs(gain).sum(axis=1))
    useful = (gain / np.where(need > 0, need, np.inf)[:, None]).sum(axis=0)
    order = np.argsort(-useful, kind="stable")
    gain = gain[:, order]
    stack: list[tuple[FloatArray, list[int]]] = [(need - slack, [])]
    while stack:
        unmet, chosen = stack.pop()
        nodes -= 1
        if nodes < 0:
            return False
        if (unmet <= 0).all() and (meets is None or meets([int(order[c]) for c in chosen])):
            return False
        left, start = size - len(chosen), chosen[-1] + 1 if chosen else 0
        if left == 0 or (most[:, left] < unmet).any():
            continue
        rest = unmet[:, None] - gain[:, start:]
        # With feature i taken in, the left - 1 largest gains must be able to meet the rest.
        open_ = np.flatnonzero((rest <= most[:, left - 1, None]).all(axis=0))
        stack.extend((rest[:, i], [*chosen, start + int(i)]) for i in open_[::-1])
    return True


@dataclass(frozen=True, eq=False)
class StrictProofs(Proofs):
    """No point made of sample values and baseline values has fewer sample values in the cell.

    Parameters
    ----------
    baseline : ndarray of shape (n_features,)
    size : ndarray of shape (n,)
        What is claimed of each sample: no support with fewer features; ``inf``: none at all.
    off_tol : float
    """

    baseline: FloatArray
    size: FloatArray
    off_tol: float = 0.0

    def __len__(self) -> int:
        return len(self.size)

    def take(self, rows: IntArray) -> StrictProofs:
        """Return the proofs of the given rows."""
        return replace(self, size=self.size[rows])

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the number of features proved necessary; the centers are the samples."""
        rest = np.clip(self.baseline, lower, upper)
        forced = np.abs(rest - self.baseline) > self.off_tol
        rest = np.where(forced, self.baseline, rest)
        barred = (np.abs(centers - rest) <= self.off_tol) | (centers < lower) | (centers > upper)
        free, granted = ~(forced | barred), forced.sum(axis=1)
        start = np.where(forced, centers, rest)
        # What is to be refuted: supports with this many free features.
        fewer = np.minimum(self.size - 1 - granted, free.sum(axis=1)).astype(np.int64)
        plain = all(_is_diagonal(row) for row in cell.quadratics)
        closed = fewer < 0
        if plain:
            closed |= _one_row_suffices(cell, start, centers, free, fewer)
        for i in np.flatnonzero(~closed):
            gain, need = switch_gains(cell, start[i], centers[i], free[i], int(fewer[i]))
            meets = None if plain else _Meets(cell, start[i], centers[i])
            closed[i] = refutes(gain, need, int(fewer[i]), meets)
        proved = np.where(closed, np.maximum(self.size, granted), granted)
        proved[(forced & barred).any(axis=1)] = np.inf
        return np.asarray(proved, dtype=float)


@dataclass(frozen=True, eq=False)
class _Meets:
    """Whether the point with the given features switched on lies in the cell."""

    cell: Cell
    start: FloatArray
    x: FloatArray

    def __call__(self, features: list[int]) -> bool:
        point = self.start.copy()
        point[features] = self.x[features]
        return bool(self.cell.contains(point[None])[0])


def _one_row_suffices(
    cell: Cell, start: FloatArray, x: FloatArray, free: BoolArray, count: IntArray
) -> BoolArray:
    """Return for which samples a single row refutes all supports of ``count`` features."""
    step = np.where(free, x - start, 0.0)
    closed = np.zeros(len(x), dtype=bool)
    here = np.arange(len(x))
    for gain, need in _separable_rows(cell, start, step):
        reach = np.cumsum(-np.sort(-np.maximum(gain, 0.0), axis=1), axis=1)
        most = np.where(count > 0, reach[here, np.maximum(count, 1) - 1], 0.0)
        closed |= most < need - ROUNDING * (np.abs(need) + np.abs(gain).sum(axis=1))
    return closed


def _separable_rows(
    cell: Cell, start: FloatArray, step: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    for g, h in zip(cell.G, cell.h, strict=True):
        yield -g * step, (g * start).sum(axis=1) - h
    for row in cell.quadratics:
        a = np.diag(row.A)
        yield -(row.q + 2 * a * start + a * step) * step, row.value(start)


def switch_gains(
    cell: Cell, start: FloatArray, x: FloatArray, free: BoolArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return what switching single features from ``start`` to ``x`` takes off each row's excess.

    A quadratic row also gains from pairs: each feature is credited half of its best
    ``size - 1`` pairs, which no support of that size can exceed.
    """
    step = np.where(free, x - start, 0.0)
    gain = [-cell.G * step]
    need = [cell.G @ start - cell.h]
    for row in cell.quadratics:
        alone, pairs = _switched(row, start, step)
        best = -np.sort(-np.maximum(pairs, 0.0), axis=1)[:, : max(size - 1, 0)]
        gain.append((alone + best.sum(axis=1) / 2)[None])
        need.append(row.value(start[None]))
    return np.concatenate(gain), np.concatenate(need)


def _switched(
    row: Quadratic, start: FloatArray, step: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ``-(slope_i t_i + A_ii t_i^2)`` and ``-2 A_ij t_i t_j`` (0 on the diagonal)."""
    A = row.A
    alone = -(row.q + 2 * A @ start) * step - np.diag(A) * step * step
    pairs = -2 * A * step[:, None] * step[None, :]
    np.fill_diagonal(pairs, 0.0)
    return alone, np.zeros_like(pairs) if _is_diagonal(row) else pairs


def _is_diagonal(row: Quadratic) -> bool:
    """Whether entries off the diagonal are rounding errors at most."""
    off = row.A - np.diag(np.diag(row.A))
    return bool(np.abs(off).max(initial=0.0) <= 1e-12 * np.abs(row.A).max(initial=0.0))
