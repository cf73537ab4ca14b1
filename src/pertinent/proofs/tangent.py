"""Tangents and supporting planes: weak duality for convex rows, softmax probabilities and blends.

Tangent cuts: weak duality for convex quadratic rows.

For any vector p, ``|P u|^2 >= 2 p'P u - |p|^2``, because ``|P u - p|^2 >= 0``. So every point of
the cell, seen from the origin of the row as ``u``, satisfies the linear row

    2 p'P u - |p|^2 + q'u + c <= 0,

and multipliers of such rows prove bounds, or emptiness, just as those of linear rows do.

Proofs for softmax probabilities: tangents, and a proof about the polyhedron they bound.

The set ``log sum_k exp(W_k x + b_k) <= 0`` is convex, so it lies within the tangent half-space at
any point whatever. A bound over the cell with tangents in place of its exponential rows therefore
holds for the cell itself. Only the points of tangency are stored.

Weak duality for blends: points of a cell that are convex combinations of given ones.

Let ``q_1 .. q_k`` be the points that may be blended. For multipliers ``y >= 0`` of ``G x <= h``
and any vector u, every blend ``x = sum_j share_j q_j`` of the cell has

    sum_i w_i |x_i - c_i|  >=  sum_i w_i |x_i - c_i| + y'(G x - h) + u'x - max_j u'q_j,

because ``u'x <= max_j u'q_j``. The right-hand side, minimised over the bounds, splits into one
small problem a feature, as it does for linear rows. Without the distance it proves emptiness.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pertinent.geometry.arrays import OF_EACH, BoolArray, FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell, row_products
from pertinent.geometry.task import Task
from pertinent.proofs.cases.near import Near, Tangent, lies_near
from pertinent.proofs.core import Proofs
from pertinent.proofs.linear import row_bounds
from pertinent.proofs.rounding import RowTerms, Terms, rounding_unit


@record_as("tangent")
@dataclass(frozen=True, eq=False)
class TangentProofs(Proofs):
    """One tangent for each quadratic row, with multipliers; a Farkas ray where ``ray`` is true.

    Parameters
    ----------
    tangents : tuple of ndarray of shape (n, rank_k)
        The vectors p, one array for each quadratic row of the cell.
    multipliers : ndarray of shape (n, n_quadratics + n_rows)
        Quadratic rows first. A row that is not convex must have multiplier 0: it counts as 0.
    ray : ndarray of bool, shape (n,)
    """

    tangents: tuple[FloatArray, ...] = field(metadata=OF_EACH)
    multipliers: FloatArray
    ray: BoolArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual values; ``inf`` where the ray proves the cell empty."""
        if not self._fit(task.cell):
            return np.zeros(len(task))
        start = task.start()
        slopes, excess, terms = self.combined(task.cell, start)
        return row_bounds(task, start, slopes, excess, self.ray, terms)

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return whether the tangents, and what rows lie above them, leave the box alone."""
        cell, shown = task.cell, np.zeros(len(near), dtype=bool)
        if not self._fit(cell):
            return shown
        slopes, _, terms = self.combined(cell, task.start())
        bounds, y = self.bounds(task), np.maximum(self.multipliers, 0.0)
        for i in np.flatnonzero(~self.ray):
            factors, images = [np.zeros((0, cell.dim))], [np.zeros(0)]
            for k, row in enumerate(cell.quadratics):
                if row.is_convex:
                    root = np.sqrt(y[i, k])
                    factors.append(root * row.plus)
                    images.append(root * (self.tangents[k][i] + row.plus @ row.at))
            straight = y[i, len(cell.quadratics) :]
            factor, image = np.vstack(factors), np.concatenate(images)
            tangent = Tangent(slopes[i], terms.slopes[i], straight, factor, image)
            one = np.array([i])
            shown[i] = lies_near(task.take(one), near.take(one), tangent, float(bounds[i]))
        return shown

    def _fit(self, cell: Cell) -> bool:
        """Return whether there is one multiplier for each row; else nothing is known of any."""
        return self.multipliers.shape[1:] == (len(cell.quadratics) + len(cell.h),)

    def combined(self, cell: Cell, start: FloatArray) -> tuple[FloatArray, FloatArray, Terms]:
        """Return slope, value at the start and size of the terms of all rows together."""
        y = np.maximum(self.multipliers, 0.0)
        straight = y[:, len(cell.quadratics) :]
        slopes = row_products(straight, np.ascontiguousarray(cell.G.T))
        linear = RowTerms(straight, cell, start).full
        terms, at_start = linear.slopes, linear.at_start
        excess = (straight * (row_products(start, cell.G) - cell.h)).sum(axis=1)
        for k, row in enumerate(cell.quadratics):
            if not row.is_convex:
                continue
            p, multiplier = self.tangents[k], y[:, k]
            slope = 2 * row_products(p, np.ascontiguousarray(row.plus.T)) + row.q
            seen, square = row.seen(start), (p * p).sum(axis=1)
            value = (slope * seen).sum(axis=1) - square + row.c
            slopes = slopes + multiplier[:, None] * slope
            # The slope itself is what is left of 2 P'p + q: a tangent across an open direction.
            size = 2 * row_products(np.abs(p), np.ascontiguousarray(np.abs(row.plus).T))
            size += np.abs(row.q)
            terms = terms + multiplier[:, None] * size
            here = (size * np.abs(seen)).sum(axis=1) + square + abs(row.c)
            at_start = at_start + multiplier * here
            excess = excess + multiplier * value
        ranks = sum(len(row.plus) for row in cell.quadratics)
        return slopes, excess, Terms(terms, at_start, len(cell.h) + ranks)


@record_as("cuts")
@dataclass(frozen=True, eq=False)
class CutProofs(Proofs):
    """For each row, points of tangency and a proof about the cell that the tangents give.

    Parameters
    ----------
    touched : tuple of ndarray of shape (n_tangents, n_features)
    inner : tuple of Proofs, each of length 1
    """

    touched: tuple[FloatArray, ...]
    inner: tuple[Proofs, ...]

    def trusted(self) -> BoolArray:
        """Return whether each inner proof is recomputed."""
        return np.array([bool(proof.trusted()[0]) for proof in self.inner], dtype=bool)

    def bounds(self, task: Task) -> FloatArray:
        """Return the bounds over the cells that the tangents give."""
        proved = np.zeros(len(self))
        for i, (touched, proof) in enumerate(zip(self.touched, self.inner, strict=True)):
            one = replace(task.take(np.array([i])), region=with_tangents(task.cell, touched))
            proved[i] = proof.bounds(one)[0]
        return proved

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return of which rows the inner proofs show it."""
        shown = np.zeros(len(self), dtype=bool)
        for i, (touched, proof) in enumerate(zip(self.touched, self.inner, strict=True)):
            own = np.array([i])
            one = replace(task.take(own), region=with_tangents(task.cell, touched))
            shown[i] = proof.only_near(one, near.take(own))[0]
        return shown


def with_tangents(cell: Cell, points: FloatArray) -> Cell:
    """Return the cell with tangents at the points in place of its exponential rows."""
    G, h = [cell.G], [cell.h]
    for bend in cell.exponentials:
        rows, sides = bend.tangents(points)
        # Moved outwards by what rounding may have moved a tangent inwards.
        terms = row_products(np.abs(points), np.abs(bend.W)) + np.abs(bend.b)
        size = np.abs(rows * points).sum(axis=1) + terms.max(axis=1) + len(bend.b)
        G.append(rows)
        h.append(sides + rounding_unit(cell.dim, len(bend.b)) * size)
    bare = replace(cell, exponentials=(), magnitudes=None)
    return replace(bare, G=np.vstack(G), h=np.concatenate(h))


@record_as("hull")
@dataclass(frozen=True, eq=False)
class HullProofs(Proofs):
    """Multipliers of the rows and of the blend; a Farkas ray where ``ray`` is true.

    Parameters
    ----------
    corners : ndarray of shape (n, k, n_features)
        The points that may be blended.
    multipliers : ndarray of shape (n, n_rows)
    pull : ndarray of shape (n, n_features)
        The vector u.
    ray : ndarray of bool, shape (n,)
    """

    corners: FloatArray
    multipliers: FloatArray
    pull: FloatArray
    ray: BoolArray

    @property
    def speaks_of_all(self) -> bool:
        """Whether bounds are costs of all points, rather than of blends."""
        return False

    def bounds(self, task: Task) -> FloatArray:
        """Return the dual values; ``inf`` where the ray proves that no blend is in the cell."""
        cell, start, y = task.cell, task.start(), np.maximum(self.multipliers, 0.0)
        if y.shape[1:] != cell.h.shape:
            return np.zeros(len(task))  # one for each row, or nothing is known of any
        slopes = row_products(y, np.ascontiguousarray(cell.G.T)) + self.pull
        excess = (y * (row_products(start, cell.G) - cell.h)).sum(axis=1)
        furthest = np.matmul(self.corners, self.pull[:, :, None])[:, :, 0].max(axis=1)
        excess = excess + (self.pull * start).sum(axis=1) - furthest
        linear, pull = RowTerms(y, cell, start).full, np.abs(self.pull)
        size = np.matmul(np.abs(self.corners), pull[:, :, None])[:, :, 0].max(axis=1, initial=0.0)
        at_start = linear.at_start + (pull * np.abs(start)).sum(axis=1) + size
        terms = Terms(linear.slopes + pull, at_start, linear.count + 1)
        return row_bounds(task, start, slopes, excess, self.ray, terms)
