"""The parts of a box that rows add up one by one: numbers, and groups of categories.

Each part has a list of candidates. A number's are some of its allowed values, with what they cost
and what they add to each row; more come where a search asks for them. A group's are its categories.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.affine import BentRows, Curve
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.solvers.tolerances import NEAREST

#: Candidates of a number at first: so many evenly between its ends, and so many on either side of
#: its center, each twice as far, the first `NEAREST`.
EVENLY, DOUBLED = 17, 24


@dataclass(eq=False)
class Candidates:
    """Some choices of one part.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Of a number, ascending; of a group, the places of its columns.
    cost : ndarray of shape (k,)
    adds : ndarray of shape (k, n_rows)
    """

    values: FloatArray
    cost: FloatArray
    adds: FloatArray


@dataclass(frozen=True, eq=False)
class Number:
    """A number, with the curves and the bins that it is seen through."""

    column: int
    slopes: FloatArray
    curves: tuple[Curve, ...]
    factors: FloatArray
    bins: tuple[tuple[Bins, FloatArray, FloatArray], ...]
    weight: float

    @property
    def is_simple(self) -> bool:
        """Whether its ends and its center are all that matters: nothing bends or jumps."""
        return not self.curves and not self.bins

    def adds(self, x: FloatArray) -> FloatArray:
        """Return what numbers add to each row, shape (n, n_rows); no number where undefined."""
        out = x[:, None] * self.slopes
        with np.errstate(invalid="ignore"):
            for curve, factor in zip(self.curves, self.factors, strict=True):
                out = out + np.where(factor == 0, 0.0, curve(x)[:, None] * factor)
            for bins, own, beyond in self.bins:
                out = out + own[bins.of(x)]
                if bins.excess is not None:
                    out = out + bins.beyond(x)[:, None] * beyond
        return np.asarray(out)

    def at(self, x: FloatArray, center: float) -> Candidates:
        """Return candidates at ascending numbers, without those at which a curve is undefined."""
        adds = self.adds(x)
        known = np.isfinite(adds).all(axis=1)
        x, adds = x[known], adds[known]
        return Candidates(x, self.weight * np.abs(x - center), adds)

    def first(self, low: float, high: float, center: float) -> FloatArray:
        """Return numbers to begin with."""
        near = min(max(center, low), high)
        if self.is_simple:
            return np.unique([low, near, high])
        scale = NEAREST / self.weight if self.weight else NEAREST * max(1.0, high - low)
        steps = scale * 2.0 ** np.arange(DOUBLED)
        knots = [b for bins, _, _ in self.bins for b in (*bins.low, *bins.high)]
        every = np.concatenate(
            [np.linspace(low, high, EVENLY), near + steps, near - steps, [near], knots]
        )
        return np.unique(np.clip(every, low, high))


@dataclass(frozen=True, eq=False)
class Group:
    """Columns of which exactly one is 1."""

    columns: IntArray
    adds: FloatArray
    weights: FloatArray

    def candidates(self, high: FloatArray, center: FloatArray) -> Candidates:
        """Return the categories that may be chosen."""
        can = np.flatnonzero(high[self.columns] >= 1.0)
        c = center[self.columns]
        whole = float((self.weights * np.abs(c)).sum())
        price = whole + self.weights * (np.abs(1.0 - c) - np.abs(c))
        return Candidates(can.astype(float), price[can], self.adds[can])


def parts_of(
    rows: BentRows, weights: FloatArray, domain: Domain
) -> tuple[list[Number], list[Group]]:
    """Return the parts that the rows add up."""
    numbers, binned = list[Number](), {j for bins in domain.bins for j in bins.columns.tolist()}
    for j in np.flatnonzero(~domain.in_group & ~domain.follows).tolist():
        places = [m for m, curve in enumerate(rows.curves) if curve.column == j]
        curves = tuple(rows.curves[m] for m in places)
        families = []
        for bins in domain.bins:
            if bins.column == j:
                beyond = np.zeros(len(rows)) if bins.excess is None else rows.G[:, bins.excess]
                families.append((bins, rows.G[:, bins.columns].T, beyond))
        own = rows.G[:, j], curves, rows.B[:, places].T
        numbers.append(Number(j, *own, tuple(families), float(weights[j])))
    groups = [
        Group(group, rows.G[:, group].T, weights[group])
        for group in domain.groups
        if not binned.intersection(group.tolist())
    ]
    return numbers, groups
