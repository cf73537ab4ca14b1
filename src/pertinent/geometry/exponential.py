"""Inequalities on sums of exponentials: what a least probability asks of softmax scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.affine import AffineMap, row_products
from pertinent.geometry.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Exponential:
    """The convex inequality ``log sum_k exp(W_k x + b_k) <= 0``.

    It says that a softmax gives a class at least some probability.
    """

    W: FloatArray  # (n_terms, n_features)
    b: FloatArray  # (n_terms,)

    def value(self, points: FloatArray) -> FloatArray:
        """Return the left-hand side at each point."""
        terms = row_products(points, self.W) + self.b
        top = terms.max(axis=1, keepdims=True)
        return np.asarray(top[:, 0] + np.log(np.exp(terms - top).sum(axis=1)))

    def tangents(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``G x <= h`` that every point of the set satisfies, tight at each point."""
        terms = row_products(points, self.W) + self.b
        share = np.exp(terms - terms.max(axis=1, keepdims=True))
        G = row_products(share / share.sum(axis=1, keepdims=True), self.W.T)
        return G, (G * points).sum(axis=1) - self.value(points)

    def tighten(self, margin: float) -> Exponential:
        """Return the inequality asked for strictly, by ``margin`` times its slope."""
        return replace(self, b=self.b + margin * np.abs(self.W).max(initial=0.0))

    def pull_back(self, through: AffineMap) -> Exponential:
        """Return the inequality on ``z`` that says the same of ``x = M z + t``."""
        return Exponential(through.rows(self.W), self.b + self.W @ through.shift)
