"""The most that one feature can add to a row, whatever values it may take.

All columns of a feature follow from one number s, the step from where it stands: on a stretch
``low <= s <= high`` they move by ``start + s * slope``. A number has one stretch for each bin that
it meets, a category one of length 0 for each of its values. A linear or quadratic row is a parabola
``a + b s + c s^2`` along a stretch: it is largest at an end, or at its vertex if ``c < 0``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from pertinent.proofs.rounding import least_excess, quadratic_sizes, rounding_unit
from pertinent.proofs.tolerances import NOTHING


@dataclass(frozen=True, eq=False)
class Stretches:
    """All that one feature can do, in k stretches of its c columns.

    Parameters
    ----------
    columns : ndarray of int, shape (c,)
    start, slope : ndarray of shape (k, c)
        The columns move by ``start + s * slope``.
    low, high : ndarray of shape (k,)
        The least and the largest step s.
    number : int
        The column that s is a step of; -1 for a category.
    """

    columns: IntArray
    start: FloatArray
    slope: FloatArray
    low: FloatArray
    high: FloatArray
    number: int = -1

    def most(self, a: FloatArray, b: FloatArray, c: FloatArray, inner: list[FloatArray]) -> float:
        """Return the most of ``a + b s + c s^2`` over all stretches, at its ends and inner places.

        ``-inf`` if there is no stretch.
        """
        best = -np.inf
        for s in (self.low, self.high, *inner):
            there = np.flatnonzero((s >= self.low) & (s <= self.high))
            values = a[there] + _parabola(b[there], c[there], s[there])
            best = max(best, float(values.max(initial=-np.inf)))
        return best


def stretches(domain: Domain, at: FloatArray, low: FloatArray, high: FloatArray) -> list[Stretches]:
    """Return the stretches of every feature of one row, as steps from a point.

    Parameters
    ----------
    domain : Domain
        Of one row.
    at, low, high : ndarray of shape (n_columns,)
        The point, and bounds that are narrowed to the domain.
    """
    out = []
    for feature in range(int(domain.owner.max(initial=-1)) + 1):
        columns = np.flatnonzero(domain.owner == feature)
        shown = [int(j) for j in columns if not domain.follows[j]]
        if shown and domain.in_group[shown[0]]:
            out.append(_of_category(columns, at, low, high))
        elif shown:
            out.append(_of_number(domain, shown[-1], columns, at, low, high))
        else:
            none = np.zeros((0, len(columns)))
            out.append(Stretches(columns, none, none, np.zeros(0), np.zeros(0)))
    return out


def _of_category(columns: IntArray, at: FloatArray, low: FloatArray, high: FloatArray) -> Stretches:
    """Return the values that may be the one that is 1: all possible ones, or the one for sure."""
    values = [v for v, j in enumerate(columns) if low[j] >= 1.0]
    if not values:
        values = [v for v, j in enumerate(columns) if high[j] >= 1.0]
    start = np.eye(len(columns))[values] - at[columns]
    none = np.zeros(len(values))
    return Stretches(columns, start, np.zeros_like(start), none, none)


def _of_number(
    domain: Domain, j: int, columns: IntArray, at: FloatArray, low: FloatArray, high: FloatArray
) -> Stretches:
    """Return one stretch for each way in which the bins of a number meet its range.

    Every family of bins cuts the stretches so far.
    """
    families = [bins for bins in domain.bins if bins.column == j]
    ranges: list[tuple[float, float, tuple[int, ...]]] = [(float(low[j]), float(high[j]), ())]
    for bins in families:
        ranges = [
            (*ends, (*chosen, k))
            for first, last, chosen in ranges
            for k in range(len(bins.columns))
            if (ends := _meeting(bins, k, first, last)) is not None
        ]
    lows, highs = (np.array([r[side] for r in ranges], dtype=float) for side in (0, 1))
    if j in domain.lattice:
        lows, highs = domain.ceil(j, lows, 0), domain.floor(j, highs, 0)
    place = {int(column): c for c, column in enumerate(columns)}
    start, slope = (np.zeros((len(ranges), len(columns))) for _ in range(2))
    start[:] = -at[columns]
    start[:, place[j]], slope[:, place[j]] = 0.0, 1.0
    for r, (_, _, chosen) in enumerate(ranges):
        for bins, k in zip(families, chosen, strict=True):
            start[r, place[int(bins.columns[k])]] += 1.0
            if bins.excess is not None:
                # What is cut off is x minus the edge below the first bin and above the last.
                edge = {0: bins.edges[0], len(bins.edges): bins.edges[-1]}.get(k)
                if edge is not None:
                    start[r, place[bins.excess]] += at[j] - edge
                    slope[r, place[bins.excess]] = 1.0
    some = lows <= highs
    return Stretches(columns, start[some], slope[some], lows[some] - at[j], highs[some] - at[j], j)


def _meeting(bins: Bins, k: int, first: float, last: float) -> tuple[float, float] | None:
    """Return the least and the largest number of a range that are of bin k; None if there is none.

    An edge that is of the other bin is left out: the number next to it is the first or last.
    """
    if k > 0 and first <= (edge := bins.edges[k - 1]):
        first = float(edge if bins.of(edge) == k else np.nextafter(edge, np.inf))
    if k < len(bins.edges) and last >= (edge := bins.edges[k]):
        last = float(edge if bins.of(edge) == k else np.nextafter(edge, -np.inf))
    return (first, last) if first <= last else None


def _parabola(b: FloatArray, c: FloatArray, s: FloatArray) -> FloatArray:
    """Return ``b s + c s^2``; at an endless s what it tends to."""
    with np.errstate(invalid="ignore"):
        values = s * (b + c * s)
        tends = np.where(c != 0, c, b * np.sign(s))
        endless = np.where(tends == 0, 0.0, np.inf * np.sign(tends))
    return np.asarray(np.where(np.isinf(s), endless, values))


def _vertices(b: FloatArray, c: FloatArray) -> FloatArray:
    """Return where ``b s + c s^2`` is largest for ``c < 0``; NaN elsewhere."""
    downwards = c < 0
    return np.where(downwards, -b / np.where(downwards, 2 * c, 1.0), np.nan)


def most_by_feature(rows: FloatArray, features: list[Stretches]) -> FloatArray:
    """Return the most that each feature adds to each linear row, shape (n_rows, n_features).

    ``-inf`` where no value is allowed, ``inf`` where there is no end.
    """
    out = np.full((len(rows), len(features)), -np.inf)
    for f, one in enumerate(features):
        own = rows[:, one.columns]
        a, b = own @ one.start.T, own @ one.slope.T
        a = a + rounding_unit(own.shape[1], 1) * (np.abs(own) @ np.abs(one.start).T)
        for s in (one.low, one.high):
            values = a + _parabola(b, np.zeros_like(b), np.broadcast_to(s, b.shape))
            out[:, f] = np.maximum(out[:, f], values.max(axis=1, initial=-np.inf))
    return out


def most_of_quadratic(
    slope: FloatArray, A: FloatArray, features: list[Stretches], domain: Domain, at: FloatArray
) -> FloatArray:
    """Return the most that each feature adds to ``slope'd + d'A d`` for a step d from a point.

    A has no entries between columns of different features. Next to the vertex of a parabola a
    number on a lattice has one allowed value on each side.
    """
    out = np.full(len(features), -np.inf)
    for f, one in enumerate(features):
        g, own = slope[one.columns], A[np.ix_(one.columns, one.columns)]
        a = np.array([p @ g + p @ own @ p for p in one.start])
        b = np.array([q @ g + 2 * (p @ own @ q) for p, q in zip(one.start, one.slope, strict=True)])
        c = np.array([q @ own @ q for q in one.slope])
        vertex, j = _vertices(b, c), one.number
        inner = [vertex]
        if j in domain.lattice:
            near = at[j] + vertex
            inner = [domain.floor(j, near, 0) - at[j], domain.ceil(j, near, 0) - at[j]]
        out[f] = one.most(a, b, c, inner)
    return out


def splits_by_feature(cell: Cell, domain: Domain | None = None) -> bool:
    """Return whether every row is a sum of functions of one feature each, up to rounding."""
    if cell.has_other_rows or cell.has_bounds:
        return False
    owner = np.arange(cell.dim) if domain is None else domain.owner
    for row in cell.quadratics:
        between = np.where(owner[:, None] == owner, 0.0, np.abs(row.A))
        if between.max(initial=0.0) > NOTHING * np.abs(row.A).max(initial=0.0):
            return False
    return True


def pushes(
    cell: Cell, x: FloatArray, low: FloatArray, high: FloatArray, domain: Domain | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return how far each feature can push each row, and what must be taken back.

    The rows are sums over features (`splits_by_feature`), and the bounds narrowed to the domain
    of the one sample. A row f holds in the worst case if ``f(x) + sum_i push_i <= 0``. Shapes
    (n_rows, n_features) and (n_rows,).
    """
    curved = [(row.gradient(x[None])[0], row.A, row.value(x[None])) for row in cell.quadratics]
    if domain is None:
        down, up = low - x, high - x
        most = [_most_of_columns(g, np.zeros_like(g), down, up) for g in cell.G]
        most += [_most_of_columns(g, np.diag(A), down, up) for g, A, _ in curved]
    else:
        features = stretches(domain, x, low, high)
        most = [*most_by_feature(cell.G, features)]
        most += [most_of_quadratic(g, A, features, domain, x) for g, A, _ in curved]
    count = cell.dim if domain is None else int(domain.owner.max(initial=-1)) + 1
    push = np.maximum(np.array(most).reshape(-1, count), 0.0)
    # Less what rounding may have added to a value.
    unit = rounding_unit(cell.dim, cell.dim)
    offs = [unit * quadratic_sizes(row, x[None])[1] for row in cell.quadratics]
    values = [value - off for off, (_, _, value) in zip(offs, curved, strict=True)]
    over = np.concatenate([least_excess(cell, x[None])[0], *values])
    return push, over + push.sum(axis=1)


def _most_of_columns(
    slope: FloatArray, bend: FloatArray, down: FloatArray, up: FloatArray
) -> FloatArray:
    """Return the most of ``slope_i s + bend_i s^2`` over ``down_i <= s <= up_i``."""
    best = np.maximum(_parabola(slope, bend, down), _parabola(slope, bend, up))
    vertex = _vertices(slope, bend)
    inside = (vertex > down) & (vertex < up)
    return np.asarray(np.where(inside, np.fmax(best, slope * vertex / 2), best))
