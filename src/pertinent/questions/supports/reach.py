"""How far one feature by itself can move the rows of a cell, whatever kind of feature it is.

A feature is a number, possibly on a lattice or with bins that follow from it, or a category with a
column for each of its values. Over one bin a linear row is linear in the number, so its extremes
lie at the ends of bins; a category has finitely many values. `corners` lists these places, and the
most that a sum of functions of one feature each can reach is found among them.

The searches use this module. The checker (`pertinent.proofs.supports`) has code of its own, so a
mistake made here costs an answer or its proof, but makes no false claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.questions.tolerances import REACH
from pertinent.solvers.tolerances import NEARLY_DIAGONAL


@dataclass(frozen=True, eq=False)
class Corners:
    """Places where a feature's effect may be largest: values of its columns, one row a place."""

    columns: IntArray
    values: FloatArray


def feature_count(domain: Domain) -> int:
    """Return the number of features."""
    return int(domain.owner.max(initial=-1)) + 1


def corners(
    domain: Domain, low: FloatArray, high: FloatArray, inner: FloatArray | None = None
) -> list[Corners]:
    """Return the corners of every feature within narrowed bounds of one row.

    Parameters
    ----------
    domain : Domain
        Of one row.
    low, high : ndarray of shape (n_columns,)
    inner : ndarray of shape (k, n_columns), optional
        Further places of numbers, such as the vertex of a parabola.
    """
    more = np.zeros((0, domain.dim)) if inner is None else inner
    out = []
    for feature in range(feature_count(domain)):
        columns = np.flatnonzero(domain.owner == feature)
        shown = columns[~domain.follows[columns]]
        if len(shown) and domain.in_group[shown[0]]:
            allowed = np.flatnonzero(high[shown] >= 1.0)
            sure = np.flatnonzero(low[shown] >= 1.0)
            out.append(Corners(columns, np.eye(len(shown))[sure if len(sure) else allowed]))
            continue
        values = np.zeros((0, len(columns)))
        for j in shown:
            values = _of_number(domain, int(j), columns, low, high, more[:, j])
        out.append(Corners(columns, values))
    return out


def _of_number(
    domain: Domain,
    j: int,
    columns: IntArray,
    low: FloatArray,
    high: FloatArray,
    inner: FloatArray,
) -> FloatArray:
    """Return the ends of every bin of a number, with the columns that follow from it."""
    bins = [b for b in domain.bins if b.column == j]
    cuts = np.unique(np.concatenate([[low[j], high[j]], *(b.edges for b in bins)]))
    cuts = cuts[(cuts >= low[j]) & (cuts <= high[j])]
    on_lattice = j in domain.lattice
    # An edge is of one bin only, and a range may end there.
    alone = cuts if not on_lattice else cuts[domain.floor(j, cuts, 0) == cuts]
    places = [_followed(bins, j, columns, np.array([c]), float(c)) for c in alone]
    for first, last in pairwise(cuts):
        ends = np.array([first, last, *inner[(inner > first) & (inner < last)]])
        if on_lattice:
            ends = _on_lattice(domain, j, ends, first, last)
        places.append(_followed(bins, j, columns, ends, _between(first, last)))
    return np.concatenate([np.zeros((0, len(columns))), *places])


def _on_lattice(domain: Domain, j: int, ends: FloatArray, first: float, last: float) -> FloatArray:
    """Return the allowed neighbours of places, strictly between two cuts."""
    ends = np.clip(ends, np.nextafter(first, np.inf), np.nextafter(last, -np.inf))
    near = np.concatenate([domain.floor(j, ends, 0), domain.ceil(j, ends, 0)])
    return np.asarray(near[(near > first) & (near < last)])


def _between(first: float, last: float) -> float:
    """Return a number strictly between two, where there is one."""
    if np.isfinite(first) and np.isfinite(last):
        return (first + last) / 2
    if np.isfinite(first):
        return first + 1.0
    return last - 1.0 if np.isfinite(last) else 0.0


def _followed(
    bins: list[Bins], j: int, columns: IntArray, ends: FloatArray, middle: float
) -> FloatArray:
    """Return places of a number within the bins that a number between them has."""
    place = {int(c): k for k, c in enumerate(columns)}
    out = np.zeros((len(ends), len(columns)))
    out[:, place[j]] = ends
    for b in bins:
        k = int(b.of(np.array(middle)))
        out[:, place[int(b.columns[k])]] = 1.0
        if b.excess is not None:
            out[:, place[b.excess]] = b.beyond_slope[k] * ends + b.beyond_shift[k]
    return out


def most_by_feature(
    rows: FloatArray, at: FloatArray, places: list[Corners], reach: float = REACH
) -> FloatArray:
    """Return the most that ``row'(v - at)`` can be for each row and feature.

    Shape (n_rows, n_features). Where a number has no end, so far as ``reach`` is looked at.
    """
    out = np.full((len(rows), len(places)), -np.inf)
    for f, corner in enumerate(places):
        here = at[corner.columns]
        far = reach * (1.0 + np.abs(here))
        steps = np.clip(corner.values - here, -far, far)
        if len(steps):
            out[:, f] = (rows[:, corner.columns] @ steps.T).max(axis=1)
    return out


def splits_by_feature(cell: Cell, domain: Domain) -> bool:
    """Return whether every row is a sum of functions of one feature each.

    A number must not be multiplied with the bins that follow from it either: its extremes would
    lie elsewhere in every bin.
    """
    if cell.has_other_rows or cell.has_bounds:
        return False
    same = domain.owner[:, None] == domain.owner[None, :]
    number = ~domain.in_group & ~domain.follows
    apart = ~same | (number[:, None] & ~np.eye(cell.dim, dtype=bool))
    for row in cell.quadratics:
        A = row.A
        if np.abs(A[apart]).max(initial=0.0) > NEARLY_DIAGONAL * np.abs(A).max(initial=0.0):
            return False
    return True


def most_of_squares(row: Quadratic, at: FloatArray, places: list[Corners]) -> FloatArray:
    """Return the most that each feature adds to ``f(v) - f(at)``, f a sum over features."""
    slope, A = row.gradient(at[None])[0], row.A
    out = np.full(len(places), -np.inf)
    for f, corner in enumerate(places):
        t = corner.values - at[corner.columns]
        if len(t):
            own = A[np.ix_(corner.columns, corner.columns)]
            out[f] = (t @ slope[corner.columns] + np.einsum("ki,ij,kj->k", t, own, t)).max()
    return out


def vertices(cell: Cell, at: FloatArray) -> FloatArray:
    """Return where each quadratic row is largest or least in each number by itself."""
    out = []
    for row in cell.quadratics:
        slope, bend = row.gradient(at[None])[0], np.diag(row.A)
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = at - slope / (2 * bend)
        out.append(np.where(np.isfinite(inner), inner, at))
    return np.array(out).reshape(len(out), cell.dim)


def worst_place(row: FloatArray, at: FloatArray, places: list[Corners]) -> FloatArray:
    """Return the values at which every feature adds the most to a linear row."""
    out = at.copy()
    for corner in places:
        if len(corner.values):
            best = (corner.values @ row[corner.columns]).argmax()
            out[corner.columns] = corner.values[best]
    return out


def pushes(
    cell: Cell, x: FloatArray, low: FloatArray, high: FloatArray, domain: Domain
) -> tuple[FloatArray, FloatArray]:
    """Return how far each feature can push each row, and what must be taken back.

    The rows are sums over features (`splits_by_feature`), and the bounds narrowed to the domain
    of the one sample.
    """
    places = corners(domain, low, high, vertices(cell, x))
    parts = [most_by_feature(cell.G, x, places)]
    over = [cell.G @ x - cell.h]
    for row in cell.quadratics:
        parts.append(most_of_squares(row, x, places)[None])
        over.append(row.value(x[None]))
    push = np.maximum(np.concatenate(parts), 0.0)
    return push, np.concatenate(over) + push.sum(axis=1)
