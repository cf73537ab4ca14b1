"""The features of many boxes: where each minimises the Lagrangian, and the search for multipliers.

For a multiplier y every feature minimises ``|s| + y (a s^2 + g s)`` over its interval on its own.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray


class Boxes(Protocol):
    """Boxes of steps ``low <= s <= high`` and their rows ``a s^2 + g s``, each (n, n_features)."""

    low: FloatArray
    high: FloatArray
    a: FloatArray
    g: FloatArray


class Side:
    """Multipliers on one side of the best, with the bound and its slope there."""

    def __init__(self, n: int, y: float) -> None:
        self.y, self.bound, self.slope = np.full(n, y), np.zeros(n), np.zeros(n)

    def put(self, k: IntArray, y: FloatArray, bound: FloatArray, slope: FloatArray) -> None:
        """Write what is known of the items ``k``."""
        self.y[k], self.bound[k], self.slope[k] = y[k], bound, slope


def meet(small: Side, large: Side, k: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the next multipliers to try, and what no multiplier can exceed."""
    a, b = small.y[k], large.y[k]
    slope_a, slope_b = small.slope[k], large.slope[k]
    known = np.isfinite(b) & (a > 0) & (slope_a > slope_b)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        y = (large.bound[k] - small.bound[k] + slope_a * a - slope_b * b) / (slope_a - slope_b)
        top = small.bound[k] + slope_a * (y - a)
    # Keep off the ends, so that both sides close in.
    width = np.where(known, b - a, 0.0)
    y = np.clip(y, a + 0.02 * width, b - 0.02 * width)
    y = np.where(known, y, np.where(np.isinf(b), 4 * np.minimum(a, 1e300), b / 4))
    return y, np.where(known, top, np.inf)


class Curved:
    """Features with a > 0 in every box: the minimiser is a vertex, clipped into the box."""

    def __init__(self, boxes: Boxes, columns: IntArray) -> None:
        self.columns = columns
        self.a, self.g = boxes.a[:, columns], boxes.g[:, columns]
        self.low, self.high = boxes.low[:, columns], boxes.high[:, columns]
        self.steep, self.coefficient = np.abs(self.g), -np.sign(self.g) / (2 * self.a)

    def least(
        self, k: IntArray | slice, y: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return minimisers, and the sums of the values and of the gains there."""
        # d/ds (|s| + y (a s^2 + g s)) = 0  <=>  s = -sign(g) max(|g| - 1/y, 0) / (2 a)
        s = self.coefficient[k] * np.maximum(self.steep[k] - (1.0 / y)[:, None], 0.0)
        s = np.minimum(np.maximum(s, self.low[k]), self.high[k])
        gain = (s * (self.a[k] * s + self.g[k])).sum(axis=1)
        return s, np.abs(s).sum(axis=1) + y * gain, gain


class Ends:
    """All other features: the minimum is at an end, at 0, or at the vertex where there is one."""

    def __init__(self, boxes: Boxes, columns: IntArray) -> None:
        self.columns = columns
        a, g = boxes.a[:, columns], boxes.g[:, columns]
        low, high = boxes.low[:, columns], boxes.high[:, columns]
        self.candidates = [np.clip(0.0, low, high), low, high]
        self.costs = [np.abs(s) for s in self.candidates]
        self.gains = [s * (a * s + g) for s in self.candidates]
        self.some_convex = bool((a > 0).any())
        if self.some_convex:
            self.a, self.g, self.low, self.high = a, g, low, high

    def least(
        self, k: IntArray | slice, y: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return minimisers, and the sums of the values and of the gains there."""
        s, gain = self.candidates[0][k], self.gains[0][k]
        value = self.costs[0][k] + y[:, None] * gain
        others = [(self.candidates[e][k], self.costs[e][k], self.gains[e][k]) for e in (1, 2)]
        if self.some_convex:
            others.append(self._vertex(k, y))
        for end, cost, end_gain in others:
            at = cost + y[:, None] * end_gain
            lower = at < value
            s, gain = np.where(lower, end, s), np.where(lower, end_gain, gain)
            value = np.minimum(value, at)
        return s, value.sum(axis=1), gain.sum(axis=1)

    def _vertex(
        self, k: IntArray | slice, y: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        a, g = self.a[k], self.g[k]
        soft = -np.sign(g) * np.maximum(np.abs(g) - (1.0 / y)[:, None], 0.0)
        convex = a > 0
        s = np.where(convex, soft / np.where(convex, 2 * a, 1.0), 0.0)
        s = np.minimum(np.maximum(s, self.low[k]), self.high[k])
        return s, np.abs(s), s * (a * s + g)
