"""A task moved to its start and measured in cost: the form in which quadratic cells are solved.

With ``s = weights * (x - start)``, where ``start`` is the center clipped into the bounds,

    min  base + |s|_1   s.t.   s'Q_k s + g_k's + c_k <= 0,   -down <= s <= up.

Clipping loses nothing: where the center lies outside the bounds, only one direction is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import row_products
from pertinent.geometry.task import distance
from pertinent.solvers.problem import Task
from pertinent.solvers.tolerances import CANCELLED, FAR, RAY_ROUNDING, SHRUNK


@dataclass(frozen=True, eq=False)
class Local:
    """One center's problem; quadratic rows come first, linear rows after them.

    Parameters
    ----------
    forms : ndarray of shape (n_quadratic, d, d)
    plus, minus : tuple of ndarray of shape (rank, d)
        Factors of the forms: ``Q_k = plus_k'plus_k - minus_k'minus_k``.
    slopes : ndarray of shape (m, d)
    values : ndarray of shape (m,)
    up, down : ndarray of shape (d,)
    """

    forms: FloatArray
    plus: tuple[FloatArray, ...]
    minus: tuple[FloatArray, ...]
    slopes: FloatArray
    values: FloatArray
    up: FloatArray
    down: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows, quadratic and linear."""
        return len(self.values)

    @property
    def dim(self) -> int:
        """Number of features."""
        return len(self.up)

    def excess(self, s: FloatArray) -> FloatArray:
        """Return the left-hand side of every row."""
        excess = self.values + self.slopes @ s
        excess[: len(self.forms)] += (self.forms @ s) @ s
        return np.asarray(excess)

    def gradients(self, s: FloatArray) -> FloatArray:
        """Return the gradient of every row, shape (m, d)."""
        gradients = self.slopes.copy()
        gradients[: len(self.forms)] += 2 * self.forms @ s
        return gradients

    def scales(self, s: FloatArray) -> FloatArray:
        """Return the size of the terms that make up each row at ``s``: its unit of rounding."""
        scales = np.abs(self.values) + np.abs(self.slopes) @ np.abs(s)
        scales[: len(self.forms)] += np.abs((self.forms @ s) * s).sum(axis=1)
        return np.asarray(scales)

    def within(self, s: FloatArray, rtol: float) -> bool:
        """Return whether ``s`` satisfies rows and bounds, rows up to ``rtol`` of their terms."""
        inside = bool((s <= self.up).all() and (s >= -self.down).all())
        return inside and bool((self.excess(s) <= rtol * self.scales(s)).all())


@dataclass(frozen=True, eq=False)
class Shifted:
    """All centers' problems: what they share, and arrays of what they do not."""

    task: Task
    start: FloatArray
    base: FloatArray
    forms: FloatArray
    plus: tuple[FloatArray, ...]
    minus: tuple[FloatArray, ...]
    slopes: FloatArray
    values: FloatArray
    up: FloatArray
    down: FloatArray
    contradictory: BoolArray

    def row(self, i: int) -> Local:
        """Return one center's problem."""
        return Local(
            self.forms,
            self.plus,
            self.minus,
            self.slopes[i],
            self.values[i],
            self.up[i],
            self.down[i],
        )

    def sizes(self) -> FloatArray:
        """Return the size of the terms that each of ``values`` was added up from."""
        cell = self.task.cell
        curved = [row.sizes(self.start) for row in cell.quadratics]
        straight = row_products(np.abs(self.start), np.abs(cell.G)) + np.abs(cell.h)
        return np.column_stack([*curved, straight])

    def points(self, steps: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """Return ``x`` for steps of all centers, or of some; exact at the start and at bounds."""
        some = slice(None) if rows is None else rows
        start, lower, upper = self.start[some], self.task.lower[some], self.task.upper[some]
        x = np.where(steps == 0, start, start + steps / self.task.weights)
        x = np.where(steps >= self.up[some], upper, x)
        x = np.where((steps <= -self.down[some]) & (steps < 0), lower, x)
        return np.clip(x, lower, upper)

    def point(self, i: int, step: FloatArray) -> FloatArray:
        """Return ``x`` for one center's step."""
        return np.asarray(self.points(step[None], np.array([i]))[0])


def real_roots(a: FloatArray, b: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return both roots of ``a t^2 + b t + c``, entry by entry; NaN or infinite where it has none.

    No difference of nearly equal numbers is taken: the root farther from 0 comes first, the other
    one from their product.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        half = -0.5 * (b + np.where(b >= 0, 1.0, -1.0) * np.sqrt(b * b - 4 * a * c))
        return half / a, c / half


def shift(task: Task) -> Shifted:
    """Return the task in shifted form."""
    cell, w, start = task.cell, task.weights, task.start()
    n, d = start.shape
    rows = cell.quadratics
    forms = np.array([row.A for row in rows]).reshape(len(rows), d, d) / np.outer(w, w)
    slopes = np.empty((n, len(rows) + len(cell.G), d))
    values = np.empty((n, len(rows) + len(cell.G)))
    for k, row in enumerate(rows):
        slopes[:, k], values[:, k] = row.gradient(start) / w, row.value(start)
    slopes[:, len(rows) :] = cell.G / w
    values[:, len(rows) :] = row_products(start, cell.G) - cell.h
    return Shifted(
        task,
        start,
        distance(start, task.centers, w),
        forms,
        tuple(row.plus / w for row in rows),
        tuple(row.minus / w for row in rows),
        slopes,
        values,
        np.maximum(task.upper - start, 0.0) * w,
        np.maximum(start - task.lower, 0.0) * w,
        np.asarray((task.lower > task.upper).any(axis=1)),
    )


def least_costs(
    slopes: FloatArray, excess: FloatArray, up: FloatArray, down: FloatArray
) -> FloatArray:
    """Return ``min_s |s|_1 + slopes's + excess`` over ``-down <= s <= up``, row by row.

    Where a step has no end its slope must not exceed its cost 1: slopes and excess of such a row
    are shrunk by the same factor until it holds, as multipliers may be.
    """
    size, end = np.abs(slopes), np.where(slopes > 0, -down, up)
    endless = np.isinf(end)
    ratio = np.where(endless, size, 1.0).max(axis=1, initial=1.0)
    shrink = np.where(ratio > 1.0, SHRUNK / ratio, 1.0)
    at = np.where((size * shrink[:, None] > 1.0) & ~endless, end, 0.0)
    return np.asarray(excess * shrink + (np.abs(at) + slopes * shrink[:, None] * at).sum(axis=1))


def is_nowhere(
    shifted: Shifted, slopes: FloatArray, excess: FloatArray, terms: FloatArray
) -> BoolArray:
    """Return for which centers ``excess + slopes's > 0`` all over the bounds: there is no point.

    A slope towards an open side shows nothing, unless it is what cancellation leaves of its
    ``terms``: then it counts up to a distance.
    """
    size, w = np.abs(slopes), shifted.task.weights
    end = np.where(slopes > 0, shifted.down, shifted.up)
    far = np.where(size <= CANCELLED * terms, FAR * (1.0 + np.abs(shifted.start)) * w, np.inf)
    reach = np.where(np.isinf(end), far, end)
    with np.errstate(invalid="ignore"):
        fall = np.where(size > 0, size * reach, 0.0).sum(axis=1)
    return np.asarray(excess - fall > RAY_ROUNDING * ((size * w).sum(axis=1) + np.abs(excess)))


def tangent_bounds(
    shifted: Shifted, tangents: Sequence[FloatArray], multipliers: FloatArray, ray: BoolArray
) -> FloatArray:
    """Return what multipliers of linear rows and of tangents to convex ones say of each center.

    The tangent to ``|P u|^2 + q'u + c`` where ``P u = p`` lies ``|P u - p|^2`` below the row, and
    its slope is that of the row less ``2 P'(P u - p)``.

    Parameters
    ----------
    shifted : Shifted
    tangents : sequence of ndarray of shape (n, rank_k)
        p, for each quadratic row; of those that are not convex nothing is read.
    multipliers : ndarray of shape (n, m)
    ray : ndarray of bool, shape (n,)
        Where the multipliers are to show that there is no point.
    """
    y = np.maximum(multipliers, 0.0)
    slopes, terms = np.zeros_like(shifted.start), np.zeros_like(shifted.start)
    excess = np.zeros_like(shifted.base)
    for k in range(y.shape[1]):
        slope, value = shifted.slopes[:, k], shifted.values[:, k]
        size = np.abs(slope)
        if k < len(shifted.plus):
            if len(shifted.minus[k]):
                continue
            away = shifted.task.cell.quadratics[k].image(shifted.start) - tangents[k]
            slope = slope - 2 * row_products(away, np.ascontiguousarray(shifted.plus[k].T))
            size = size + 2 * np.abs(away) @ np.abs(shifted.plus[k])
            value = value - (away * away).sum(axis=1)
        slopes, terms = slopes + y[:, k, None] * slope, terms + y[:, k, None] * size
        excess = excess + y[:, k] * value
    bound = shifted.base + least_costs(slopes, excess, shifted.up, shifted.down)
    bound[(ray & is_nowhere(shifted, slopes, excess, terms)) | shifted.contradictory] = np.inf
    return bound
