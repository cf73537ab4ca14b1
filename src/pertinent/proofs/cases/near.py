"""Where points lie that cost no more than an answer: all of them near it, or perhaps not.

A proof of a bound d says more than that. With multipliers ``y >= 0``, every point x of the cell
within the bounds has

    cost(x) - d  =  sum_i slack_i(x_i)  +  sum_k y_k (h_k - g_k'x)  +  |F x - f|^2,

and no term is negative: what leaving the best value of feature i costs, what row k is left by, and
what the sum of curved rows lies above its tangent. So a point that costs at most d + gap has them
all at most the gap, and ``u^2 <= u`` for shares u of it: with ``s_i`` the least slope of the slack,

    sum_i (s_i (x_i - e_i) / gap)^2 + sum_k (y_k (h_k - g_k'x) / gap)^2 + |F x - f|^2 / gap <= 1.

This is an ellipsoid ``|R x - r| <= 1``. All such points lie in it, and so within
``(1 + |R p - r|) |R^+_i|`` of any point p, with the rows of the pseudo-inverse of R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, Rows
from pertinent.geometry.task import Task
from pertinent.proofs.tolerances import DETERMINED, EQUAL


@dataclass(frozen=True, eq=False)
class Near(Rows):
    """Around each answer a box, and the cost up to which no point shall lie beside it.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        The answers.
    cost : ndarray of shape (n,)
        A little more than what they cost.
    lower, upper : ndarray of shape (n, n_features)
    """

    points: FloatArray
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, eq=False)
class Tangent:
    """What one center's multipliers add up to: ``slopes'x + |F x - f|^2 + constant <= 0``.

    Parameters
    ----------
    slopes : ndarray of shape (n_features,)
    terms : ndarray of shape (n_features,)
        The sizes of what was added up to the slopes.
    straight : ndarray of shape (n_rows,)
        The multipliers of the linear rows, not negative.
    factor : ndarray of shape (rank, n_features)
        F: what the sum lies above its tangent by.
    image : ndarray of shape (rank,)
        f: where the tangent touches.
    """

    slopes: FloatArray
    terms: FloatArray
    straight: FloatArray
    factor: FloatArray
    image: FloatArray

    def shrunk(self, share: float) -> Tangent:
        """Return the same with all multipliers times a share."""
        root = np.sqrt(share)
        straight = self.slopes * share, self.terms * share, self.straight * share
        return Tangent(*straight, self.factor * root, self.image * root)


def lies_near(task: Task, near: Near, tangent: Tangent, bound: float) -> bool:
    """Return whether all that one center's multipliers leave lies in its box.

    Parameters
    ----------
    task : Task
        Of one center, and a single cell.
    near : Near
        Of the same center.
    tangent : Tangent
    bound : float
        What these multipliers prove.
    """
    low, high, start = task.lower[0], task.upper[0], task.start()[0]
    weights, point, gap = task.weights, near.points[0], float(near.cost[0]) - bound
    if not gap > 0 or not (weights > 0).all():
        return False
    end = np.where(tangent.slopes > 0, low, high)
    # As in `dual_values`: towards an open end no slope may exceed its weight.
    ratio = np.where(np.isinf(end), np.abs(tangent.slopes) / weights, 0.0).max(initial=1.0)
    tangent = tangent.shrunk(1.0 / ratio)
    size, rounded = np.abs(tangent.slopes), EQUAL * (weights + tangent.terms)
    slack = np.maximum(np.abs(weights - size) - rounded, 0.0) / gap
    best = np.where((size > weights) & np.isfinite(end), end, start)
    straight, root = tangent.straight / gap, np.sqrt(gap)
    rows = np.vstack([np.diag(slack), straight[:, None] * task.cell.G, tangent.factor / root])
    right = np.concatenate([slack * best, straight * task.cell.h, tangent.image / root])
    far, free = np.zeros(len(start)), low < high
    far[free] = (1.0 + np.linalg.norm(rows @ point - right)) * _widths(rows[:, free])
    return bool(((point - far >= near.lower[0]) & (point + far <= near.upper[0])).all())


def _widths(rows: FloatArray) -> FloatArray:
    """Return how far each coordinate of v can be from 0 if ``|rows v| <= 1``; ``inf`` if anywhere.

    Columns are scaled to a length of 1: units do not matter.
    """
    scale = np.linalg.norm(rows, axis=0)
    if not len(scale) or not ((scale > 0) & (scale < np.inf)).all():
        return np.full(len(scale), np.inf)
    _, values, vectors = np.linalg.svd(rows / scale, full_matrices=False)
    if len(values) < len(scale) or values[-1] <= DETERMINED:
        return np.full(len(scale), np.inf)
    return np.asarray(np.linalg.norm(vectors.T / values, axis=1) / scale)
