"""Why no smaller set of features will do: a search in vain that anyone can repeat.

A proof about supports names rows that every support has to meet,

    sum_{i in S} gain[j, i] >= need[j],

recomputed here from the cell and from multipliers ``y >= 0``, and claims that no S with fewer
than ``size`` features meets them all. `refutes` repeats the argument: a row whose largest gains
do not add up to its need closes a branch; otherwise each feature in turn is taken in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import BY_KEY, SHARED, BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.pieces import outline_of
from pertinent.geometry.region import Cell, Quadratic, Region
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs
from pertinent.proofs.rounding import form_sizes, least_excess, quadratic_sizes, rounding_unit
from pertinent.proofs.supports.curves import switched_curves
from pertinent.proofs.tolerances import FIRST_BRANCHES, MOST_BRANCHES, NOTHING, SUMS

#: Branches looked at together.
AT_ONCE = 128


def refutes(
    gain: FloatArray,
    need: FloatArray,
    size: int,
    meets: Callable[[list[int]], bool] | None = None,
    nodes: int = MOST_BRANCHES,
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
    >>> from pertinent.proofs import refutes
    >>> gain, need = np.array([[3.0, 2.0, 1.0], [0.0, 2.0, 3.0]]), np.array([3.0, 3.0])
    >>> refutes(gain, need, 1), refutes(gain, need, 2)
    (True, False)
    """
    if size < 0:
        return True
    # A row with something else than numbers, perhaps from a file, asks for nothing.
    sound = np.isfinite(need) & np.isfinite(gain).all(axis=1)
    gain, need = gain[sound], need[sound]
    slack = SUMS * (np.abs(need) + np.abs(gain).sum(axis=1))
    useful = (gain / np.where(need > 0, need, np.inf)[:, None]).sum(axis=0)
    order = np.argsort(-useful, kind="stable")
    gain = gain[:, order]
    judge = None if meets is None else lambda places: meets(order[places].tolist())
    # Bounds over all features are made in no time and mostly enough; else over those to come.
    coarse = _most_of_all(gain, size)[None]
    verdict = _walk(gain, need - slack, size, coarse, judge, min(nodes, FIRST_BRANCHES))
    if verdict is None:
        verdict = _walk(gain, need - slack, size, _most_to_come(gain, size)[1:], judge, nodes)
    return bool(verdict)


def _walk(
    gain: FloatArray,
    need: FloatArray,
    size: int,
    most: FloatArray,
    meets: Callable[[IntArray], bool] | None,
    nodes: int,
) -> bool | None:
    """Return whether every support is ruled out, None if the nodes did not suffice to tell.

    ``most[i, j, q]`` is what q features after place i can add to row j at most; a single entry
    for all places will do.
    """
    stack = [(need[None], np.zeros((1, 0), dtype=np.int64))]
    while stack:
        unmet, chosen = stack.pop()
        if len(unmet) > AT_ONCE:
            stack.append((unmet[AT_ONCE:], chosen[AT_ONCE:]))
            unmet, chosen = unmet[:AT_ONCE], chosen[:AT_ONCE]
        nodes -= len(unmet)
        if nodes < 0 or is_over():
            return None
        for k in np.flatnonzero((unmet <= 0).all(axis=1)):
            if meets is None or meets(chosen[k]):
                return False
        left = size - chosen.shape[1]
        if left == 0:
            continue
        rest = unmet[:, :, None] - gain
        # With feature i taken in, left - 1 of those after it must be able to meet the rest.
        open_ = (rest <= most[:, :, left - 1].T).all(axis=1)
        if chosen.shape[1]:
            open_ &= np.arange(gain.shape[1]) > chosen[:, -1:]
        parent, place = np.nonzero(open_)
        if len(parent):
            taken = np.concatenate([chosen[parent], place[:, None]], axis=1)
            stack.append((rest[parent, :, place], taken))
    return True


def _most_of_all(gain: FloatArray, size: int) -> FloatArray:
    """Return ``most[j, q]``: the q largest gains of row j, added up."""
    largest = -np.sort(-np.maximum(gain, 0.0), axis=1)[:, :size]
    most = np.zeros((len(gain), size + 1))
    count = largest.shape[1]  # not more than there are features
    np.cumsum(largest, axis=1, out=most[:, 1 : count + 1])
    most[:, count + 1 :] = most[:, count : count + 1]
    return most


def _most_to_come(gain: FloatArray, size: int) -> FloatArray:
    """Return ``most[i, j, q]``: the q largest gains of row j from place i on, added up."""
    rows, d = gain.shape
    most, top = np.zeros((d + 1, rows, size + 1)), np.zeros((rows, size + 1))
    for i in range(d - 1, -1, -1):
        top[:, size] = np.maximum(gain[:, i], 0.0)
        top = -np.sort(-top, axis=1)
        np.cumsum(top[:, :size], axis=1, out=most[i, :, 1:])
    return most


def fewer_than(size: FloatArray) -> FloatArray:
    """Return how many features a set of fewer than ``size`` may have.

    A claim is a number from a file or from a search, and may be none that counts anything: fewer
    than 3.4 features are 3 at most, not 2.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.proofs.supports.cardinality import fewer_than
    >>> fewer_than(np.array([3.0, 3.4, 0.0, np.inf]))
    array([ 2.,  3., -1., inf])
    """
    return np.asarray(np.ceil(size) - 1.0)


def weighted(
    gain: FloatArray, need: FloatArray, multipliers: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the rows, and sums of them with weights >= 0, which every support meets as well."""
    if multipliers is None or not len(multipliers):
        return gain, need
    y = np.maximum(multipliers, 0.0)
    unit = rounding_unit(0, len(need))
    more, less = y @ gain + unit * (y @ np.abs(gain)), y @ need - unit * (y @ np.abs(need))
    return np.concatenate([gain, more]), np.concatenate([need, less])


def without_infinity(gain: FloatArray, need: FloatArray) -> FloatArray:
    """Return gains of which each endless one is as much as its row can ask for."""
    endless = np.isposinf(gain)
    finite = np.where(endless, 0.0, gain)
    enough = np.abs(need) + np.abs(finite).sum(axis=1) + 1.0
    return np.where(endless, enough[:, None], finite)


def not_all_of(
    gain: FloatArray, need: FloatArray, listed: Sequence[BoolArray], open_: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the rows with each listed support T, and all around it, ruled out.

    Not all of T may be on:  sum_{i in T} -1  >=  -(|T| - 1), of those that are not on already.
    """
    if not listed:
        return gain, need
    masks = np.array(listed) & open_
    rows = np.concatenate([gain, -masks.astype(float)])
    return rows, np.concatenate([need, 1.0 - masks.sum(axis=1)])


@record_as("strict")
@dataclass(frozen=True, eq=False)
class StrictProofs(Proofs):
    """No point made of sample values and baseline values has fewer sample values in the cell.

    Parameters
    ----------
    baseline : ndarray of shape (n_features,)
    size : ndarray of shape (n,)
        What is claimed of each sample: no support with fewer features; ``inf``: none at all.
    off_tol : float
    extra : dict of int to ndarray of shape (p, n_rows)
        Multipliers >= 0 of weighted sums of rows, for the samples that need them.
    listed : tuple of ndarray of bool
        Supports that are known: they, and what contains them, are not spoken of.
    owner : ndarray of int, shape (n_columns,), optional
        The feature of each column, where features have several: they are on or off as a whole.
    """

    baseline: FloatArray = field(metadata=SHARED)
    size: FloatArray
    off_tol: float = 0.0
    extra: dict[int, FloatArray] = field(default_factory=dict, metadata=BY_KEY)
    listed: tuple[BoolArray, ...] = field(default=(), metadata=SHARED)
    owner: IntArray | None = field(default=None, metadata=SHARED)

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
        cell, centers, lower, upper = outline_of(task.region), task.centers, task.lower, task.upper
        is_cell = cell is task.region
        if self.owner is not None:
            return self._folded(cell, centers, lower, upper) if is_cell else np.zeros(len(task))
        rest = np.clip(self.baseline, lower, upper)
        forced = np.abs(rest - self.baseline) > self.off_tol
        rest = np.where(forced, self.baseline, rest)
        barred = (np.abs(centers - rest) <= self.off_tol) | (centers < lower) | (centers > upper)
        free, granted = ~(forced | barred), forced.sum(axis=1)
        start = np.where(forced, centers, rest)
        # What is to be refuted: supports with this many free features.
        fewer = np.minimum(fewer_than(self.size) - granted, free.sum(axis=1)).astype(np.int64)
        plain = is_cell and not cell.exponentials
        plain = plain and all(_is_diagonal(row) for row in cell.quadratics)
        closed = fewer < 0
        if plain:
            closed |= _one_row_suffices(cell, start, centers, free, fewer)
        for i in np.flatnonzero(~closed):
            gain, need = switch_gains(cell, start[i], centers[i], free[i], int(fewer[i]))
            meets = None if plain else _Meets(task.region, start[i], centers[i])
            gain, need = weighted(gain, need, self.extra.get(int(i)))
            gain, need = not_all_of(gain, need, self.listed, ~forced[i])
            closed[i] = refutes(gain, need, int(fewer[i]), meets)
        proved = np.where(closed, np.maximum(self.size, granted), granted)
        proved[(forced & barred).any(axis=1)] = np.inf
        return np.asarray(proved, dtype=float)

    def _folded(
        self, cell: Cell, x: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return the bounds where columns go together, by the linear rows alone."""
        owner = np.asarray(self.owner)
        fold = np.eye(int(owner.max()) + 1)[owner]
        rest = np.clip(self.baseline, lower, upper)
        away = np.abs(rest - self.baseline) > self.off_tol
        rest = np.where(away, self.baseline, rest)
        forced = away @ fold > 0
        # The tolerance is one of numbers: columns of 0 and 1 differ, or they do not.
        choice = np.isin(x, (0.0, 1.0)) & np.isin(rest, (0.0, 1.0)) & (fold.sum(axis=0) > 1)[owner]
        same = ((np.abs(x - rest) > self.off_tol) | (choice & (x != rest))) @ fold == 0
        barred = same | (((x < lower) | (x > upper)) @ fold > 0)
        free, granted = ~(forced | barred), forced.sum(axis=1)
        proved = granted.astype(float)
        for i in np.flatnonzero(self.size > granted):
            start = np.where(forced[i][owner], x[i], rest[i])
            gain = np.where(free[i], (-cell.G * (x[i] - start)) @ fold, 0.0)
            need = least_excess(cell, start[None])[0]
            for block in cell.bent:
                most, short = switched_curves(block, start[None], x[i][None])
                gain = np.vstack([gain, np.where(free[i], most[0] @ fold, 0.0)])
                need = np.concatenate([need, short[0]])
            rows = weighted(gain, need, self.extra.get(int(i)))
            fewer = int(min(fewer_than(self.size[i]) - granted[i], free[i].sum()))
            if refutes(*not_all_of(*rows, self.listed, ~forced[i]), fewer):
                proved[i] = self.size[i]
        proved[(forced & barred).any(axis=1)] = np.inf
        return np.asarray(proved)


@dataclass(frozen=True, eq=False)
class _Meets:
    """Whether the point with the given features switched on lies in the piece."""

    piece: Cell | Region
    start: FloatArray
    x: FloatArray

    def __call__(self, features: list[int]) -> bool:
        point = self.start.copy()
        point[features] = self.x[features]
        return bool(self.piece.contains(point[None])[0])


def _one_row_suffices(
    cell: Cell, start: FloatArray, x: FloatArray, free: BoolArray, count: IntArray
) -> BoolArray:
    """Return for which samples a single row refutes all supports of ``count`` features."""
    closed = np.zeros(len(x), dtype=bool)
    here, top = np.arange(len(x)), int(count.max(initial=1))
    for gain, need in _separable_rows(cell, start, np.where(free, x, start)):
        largest = np.sort(np.maximum(gain, 0.0), axis=1)[:, ::-1]
        reach = np.cumsum(largest[:, :top], axis=1)
        most = np.where(count > 0, reach[here, np.maximum(count, 1) - 1], 0.0)
        closed |= most < need - SUMS * (np.abs(need) + np.abs(gain).sum(axis=1))
    return closed


def _separable_rows(
    cell: Cell, start: FloatArray, x: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    step = x - start
    for g, need in zip(cell.G, least_excess(cell, start).T, strict=True):
        yield -g * step, need
    for block in cell.bent:
        gain, short = switched_curves(block, start, x)
        for k in range(len(block)):
            yield gain[:, k], short[:, k]
    unit = rounding_unit(cell.dim, cell.dim)
    for row in cell.quadratics:
        a, size = np.diag(row.A), np.diag(form_sizes(row))
        slopes, values = quadratic_sizes(row, start)
        off = unit * (slopes + size * np.abs(step)) * np.abs(step)
        yield off - (row.gradient(start) + a * step) * step, row.value(start) - unit * values


def switch_gains(
    cell: Cell, start: FloatArray, x: FloatArray, free: BoolArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return what switching single features from ``start`` to ``x`` takes off each row's excess.

    A quadratic row also gains from pairs: each feature is credited half of its best
    ``size - 1`` pairs, which no support of that size can exceed.
    """
    step = np.where(free, x - start, 0.0)
    gain = [-cell.G * step]
    need = [least_excess(cell, start[None])[0]]
    for block in cell.bent:
        most, short = switched_curves(block, start[None], np.where(free, x, start)[None])
        gain.append(most[0])
        need.append(short[0])
    unit = rounding_unit(cell.dim, cell.dim)
    for row in cell.quadratics:
        alone, pairs = _switched(row, start, step)
        best = -np.sort(-np.maximum(pairs, 0.0), axis=1)[:, : max(size - 1, 0)]
        slopes, values = quadratic_sizes(row, start[None])
        off = unit * (slopes[0] + form_sizes(row) @ np.abs(step)) * np.abs(step)
        gain.append((alone + best.sum(axis=1) / 2 + off)[None])
        need.append(row.value(start[None]) - unit * values)
    return np.concatenate(gain), np.concatenate(need)


def _switched(row: Quadratic, start: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``-(slope_i t_i + A_ii t_i^2)`` and ``-2 A_ij t_i t_j`` (0 on the diagonal)."""
    A = row.A
    alone = -row.gradient(start[None])[0] * step - np.diag(A) * step * step
    pairs = -2 * A * step[:, None] * step[None, :]
    np.fill_diagonal(pairs, 0.0)
    return alone, np.zeros_like(pairs) if _is_diagonal(row) else pairs


def _is_diagonal(row: Quadratic) -> bool:
    """Whether entries off the diagonal are rounding errors at most."""
    off = row.A - np.diag(np.diag(row.A))
    return bool(np.abs(off).max(initial=0.0) <= NOTHING * np.abs(row.A).max(initial=0.0))
