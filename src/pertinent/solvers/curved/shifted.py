"""A task moved to its start and measured in cost: the form in which quadratic cells are solved.

With ``s = weights * (x - start)``, where ``start`` is the center clipped into the bounds,

    min  base + |s|_1   s.t.   s'Q_k s + g_k's + c_k <= 0,   -down <= s <= up.

Clipping loses nothing: where the center lies outside the bounds, only one direction is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import row_products
from pertinent.geometry.task import distance
from pertinent.solvers.problem import Task


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
        x = self.start[i] + step / self.task.weights
        x = np.where(step == 0, self.start[i], x)
        x = np.where((step >= self.up[i]) & (step != 0), self.task.upper[i], x)
        x = np.where((step <= -self.down[i]) & (step < 0), self.task.lower[i], x)
        return np.asarray(np.clip(x, self.task.lower[i], self.task.upper[i]))


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
