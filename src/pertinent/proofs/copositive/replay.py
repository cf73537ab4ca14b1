"""Copositivity: why no point of a non-convex cell lies within a given distance.

Measured in cost, with ``s = weights * (x - start)``, every s with ``|s|_1 <= t`` is
``s_i = t (y_i - y_{d+i})`` for a y of the simplex over 2d + 1 corners (up or down for each
feature, and the start itself), with ``y_i y_{d+i} = 0``. A row ``s'Qs + g's + c`` is then y'My,

    M_ij = c + t (g_i + g_j) / 2 + t^2 Q_ij,

and so is every nonnegative combination of rows. If y'My > 0 on the whole simplex (M is strictly
copositive), then no s with ``|s|_1 <= t`` satisfies the rows. Bounds ``t y_i <= cap_i`` help:
both ``t y_i - cap_i`` and ``t y_i (t y_i - cap_i)`` are at most 0 inside and may be added.

M is copositive on a simplex if, after rows without a negative entry are deleted, it is positive
definite; or if it is after a nonnegative matrix N was taken away, y'Ny being nonnegative (where
``y_i y_{d+i} = 0``, N may have any sign). Several rows may be combined by multipliers that vary
over a part instead: with ``p_k >= 0`` and z the weights of its corners, ``sum_k (p_k'z) (z'M_k z)``
is positive if its coefficients are, and then some row is. Otherwise an edge is split and both
halves are looked at. The proof holds the splits, and for each part what closes it; here they are
replayed with plain NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.task import Task, distance
from pertinent.proofs.cases.near import Near
from pertinent.proofs.copositive.cone import Cone, undeleted
from pertinent.proofs.copositive.corner_rows import CornerRows, rows_at, sizes_at
from pertinent.proofs.copositive.simplices import Simplices
from pertinent.proofs.core import RaisingProofs
from pertinent.proofs.tolerances import DEFINITE, ENTRY, MOST_CORNERS, SMALLEST, SUMS


@record_as("copositive")
@dataclass(frozen=True, eq=False)
class CopositiveProofs(RaisingProofs):
    """For each center a `Simplices`, or None where nothing was proved."""

    proofs: tuple[Simplices | None, ...]

    def _raised(self, task: Task, start: FloatArray, known: FloatArray) -> FloatArray:
        cell, weights, proved = task.cell, task.weights, known.copy()
        if not (weights > 0).all():
            return proved  # what costs nothing is in no ball
        rows, sizes = rows_at(cell, start, weights), sizes_at(cell, start, weights)
        room = np.hstack([task.upper - start, start - task.lower]) * np.hstack([weights, weights])
        for i, proof in enumerate(self.proofs[: len(start)]):
            if not isinstance(proof, Simplices):
                continue
            if _Replay(proof, rows.of(i), sizes.of(i), np.maximum(room[i], 0.0)).holds():
                # A ball that holds all of the box leaves no point at all.
                d = cell.dim
                whole = np.maximum(room[i, :d], room[i, d:]).clip(0.0).sum() <= proof.radius
                proved[i] += np.inf if whole else proof.radius
        return proved

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return whether, with the answer's cost for the radius, parts leave its box alone."""
        cell, weights, start = task.cell, task.weights, task.start()
        shown, known = np.zeros(len(near), dtype=bool), distance(start, task.centers, weights)
        if not (weights > 0).all():
            return shown
        rows, sizes = rows_at(cell, start, weights), sizes_at(cell, start, weights)
        room = np.hstack([task.upper - start, start - task.lower]) * np.hstack([weights, weights])
        low, high = (near.lower - start) * weights, (near.upper - start) * weights
        for i, proof in enumerate(self.proofs[: len(start)]):
            if isinstance(proof, Simplices):
                proof = replace(proof, radius=float(near.cost[i] - known[i] * (1 - SUMS)))
                replay = _Replay(proof, rows.of(i), sizes.of(i), np.maximum(room[i], 0.0))
                replay.box = low[i], high[i]
                shown[i] = replay.holds()
        return shown


class _Replay:
    """Walk through one proof and check every part."""

    def __init__(
        self, proof: Simplices, rows: CornerRows, sizes: CornerRows, room: FloatArray
    ) -> None:
        self.proof, self.rows, self.sizes, self.room = proof, rows, sizes, room
        # A corner without room cannot be used: its y is 0.
        self.usable = np.append(room > 0, True)
        self.matrices: dict[int, FloatArray] = {}
        self.error = 0.0
        #: What parts may leave open, as steps in cost; None: nothing.
        self.box: tuple[FloatArray, FloatArray] | None = None

    def holds(self) -> bool:
        proof = self.proof
        if not proof.is_wellformed(len(self.rows.values), self.room):
            return False
        n, m = len(self.usable), len(self.rows.values)
        self.error = ENTRY * (n + (m + self._depth()) / 10)
        open_parts = [np.eye(n)]
        for node in range(len(proof.option)):
            if not open_parts:
                return False
            corners = open_parts.pop()
            if proof.variation is not None and proof.variation[node] >= 0:
                if not self._is_positive(corners, int(proof.variation[node])):
                    return False
                continue
            if proof.option[node] >= 0:
                matrix = self._closing(node, corners)
                if matrix is None:
                    return False
                if not _is_copositive(matrix, self._alive(corners)) and not (
                    self._leaves_the_box(matrix, corners)
                ):
                    return False
                continue
            i, j, share = int(proof.first[node]), int(proof.second[node]), proof.share[node]
            if i == j or not 0.0 < share < 1.0:
                return False
            new = share * corners[:, i] + (1.0 - share) * corners[:, j]
            for replaced in (j, i):  # the part without `first` is on top: it comes next
                part = corners.copy()
                part[:, replaced] = new
                open_parts.append(part)
        return not open_parts

    def _leaves_the_box(self, matrix: FloatArray, corners: FloatArray) -> bool:
        """Return whether points of a part at which the form is not positive are all in the box."""
        if self.box is None or not np.isfinite(matrix).all():
            return False
        cone = Cone.of(matrix, self._alive(corners))
        if cone is None:
            return False
        d = len(self.room) // 2
        middle, far = cone.images(corners[:d] - corners[d : 2 * d])
        low, high = (end / self.proof.radius for end in self.box)
        return bool(((middle - far >= low) & (middle + far <= high)).all())

    def _depth(self) -> int:
        """Return how many splits the smallest part is made by; corners are rounded at each."""
        closed = self.proof.option >= 0
        if self.proof.variation is not None:
            closed |= self.proof.variation >= 0
        deepest, depths = 0, [0]
        for is_closed in closed:
            if not depths:
                break
            depth = depths.pop()
            deepest = max(deepest, depth)
            if not is_closed:
                depths += [depth + 1, depth + 1]
        return deepest

    def _is_positive(self, corners: FloatArray, which: int) -> bool:
        """Return whether the cubic form of varying multipliers has no negative coefficient."""
        assert self.proof.varying is not None
        alive = self._alive(corners)
        n, U = int(alive.sum()), corners[:, alive]
        if n > MOST_CORNERS:
            return False
        cubic = np.zeros((n, n, n))
        for k, p in enumerate(self.proof.varying[which][:, alive]):
            if p.any():
                form = p[:, None, None] * (U.T @ self._alone(k) @ U)
                cubic += form + form.transpose(1, 0, 2) + form.transpose(1, 2, 0)
        free = self._free(corners)[np.ix_(alive, alive)]
        skip = free[:, :, None] | free[:, None, :] | free
        own, inner = np.einsum("iii->i", cubic), cubic[~skip]
        return bool((own > 0).all() and (inner >= 0).all() and np.isfinite(inner).all())

    def _alone(self, k: int) -> FloatArray:
        """Return the matrix of one row, or of one cap."""
        rows, caps = np.zeros(len(self.rows.values)), np.zeros(len(self.room))
        if k < len(rows):
            rows[k] = 1.0
        else:
            caps[k - len(rows)] = 1.0
        return self._combined(rows, caps, np.zeros(len(self.room)))

    def _closing(self, node: int, corners: FloatArray) -> FloatArray | None:
        """Return the matrix that is to close a part; None if too much is taken away from it."""
        matrix = corners.T @ self._matrix(int(self.proof.option[node])) @ corners
        products, product = self.proof.products, self.proof.product
        if products is None or product is None or product[node] < 0:
            return np.asarray(matrix)
        less = _symmetric(products[product[node]], len(matrix))
        free = self._free(corners)
        if (less[~free] < 0).any():
            return None
        matrix[free] = 0.0
        return np.asarray(matrix - less - ENTRY * np.abs(less))

    def _free(self, corners: FloatArray) -> BoolArray:
        """Return the pairs of opposite corners, as long as both are whole: their product is 0."""
        whole = (np.diagonal(corners) == 1.0) & (np.count_nonzero(corners, axis=0) == 1)
        first, second = self._opposite()
        free = np.zeros(corners.shape, dtype=bool)
        free[first, second] = whole[first] & whole[second]
        return free

    def _opposite(self) -> tuple[IntArray, IntArray]:
        """Return the pairs of opposite corners, in both orders."""
        d = len(self.room) // 2
        pair = np.arange(2 * d)
        return pair, (pair + d) % (2 * d)

    def _alive(self, corners: FloatArray) -> BoolArray:
        """Return the corners of a part that use no forbidden direction, in whole or in part.

        A corner made partly of a forbidden one is never needed: y must not use it.
        """
        return np.asarray((corners[~self.usable] == 0).all(axis=0))

    def _matrix(self, option: int) -> FloatArray:
        """Return M of one combination, each entry lowered by what rounding may have added."""
        if option not in self.matrices:
            proof = self.proof
            self.matrices[option] = self._combined(
                proof.rows[option], proof.caps[option], proof.cuts[option]
            )
        return self.matrices[option]

    def _combined(self, rows: FloatArray, caps: FloatArray, cuts: FloatArray) -> FloatArray:
        t = self.proof.radius
        c, g, Q = self.rows.combined(rows)
        # The same sums over absolute values: the size of what was added up.
        c_size, g_size, Q_size = self.sizes.combined(rows)
        for i in np.flatnonzero(caps):  # k (t y_i - cap_i)
            k = caps[i]
            c, c_size = c - k * self.room[i], c_size + k * self.room[i]
            g[i] += k
            g_size[i] += k
        for i in np.flatnonzero(cuts):  # k t y_i (t y_i - cap_i)
            k = cuts[i]
            g[i] -= k * self.room[i]
            g_size[i] += k * self.room[i]
            Q[i, i] += k
            Q_size[i, i] += k
        M = c + t * (g[:, None] + g) / 2 + t * t * Q
        error = c_size + t * (g_size[:, None] + g_size) / 2 + t * t * Q_size
        lowered = M - self.error * error
        if not c_size >= SMALLEST:
            # Lowered by something positive, "not negative" means positive; otherwise not.
            return np.full_like(M, -1.0)
        # y_i y_{d+i} = 0: what stands there does not matter.
        lowered[self._opposite()] = np.abs(lowered).max()
        return np.asarray(lowered)


def _symmetric(triangle: FloatArray, n: int) -> FloatArray:
    """Return the symmetric matrix whose lower triangle, row by row, is given."""
    lower = np.zeros((n, n))
    lower[np.tril_indices(n)] = triangle
    return np.asarray(lower + np.tril(lower, -1).T)


def _is_copositive(M: FloatArray, alive: BoolArray) -> bool:
    """Return whether M is copositive by row deletion and positive definiteness."""
    if not np.isfinite(M).all():
        return False
    alive = undeleted(M, alive)
    if not alive.any():
        return True
    part = M[alive][:, alive]
    diagonal = np.diagonal(part)
    if (diagonal <= 0).any():
        return False
    # Scaling rows and columns by positive numbers changes nothing.
    root = np.sqrt(diagonal)
    with np.errstate(over="ignore"):
        scaled = part / root[:, None] / root
    return bool(np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled)[0] > DEFINITE * len(part))
