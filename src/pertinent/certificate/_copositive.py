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
``y_i y_{d+i} = 0``, N may have any sign). Several rows may be
combined by multipliers that vary over a part instead: with ``p_k >= 0`` and z the weights of its
corners, ``sum_k (p_k'z) (z'M_k z)`` is positive if its coefficients are, and then some row is.
Otherwise an edge is split and both halves are looked at. The proof holds the splits, and for each
part what closes it; here they are replayed with plain NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.certificate._proofs import Proofs
from pertinent.regions import Cell, row_products

#: Each entry of M may be off by this share of the terms it is made of, for each corner; and by a
#: tenth of it for each row that may be added up, and for each split of an edge.
ENTRY_ERROR = 1e-14
#: What radii, multipliers and the values of rows must lie between: far from where numbers become
#: so small that rounding is no longer relative to them.
RADII, MULTIPLIERS, SMALLEST = (1e-60, 1e60), (1e-100, 1e100), 1e-150
#: With more corners than this there are too many coefficients of varying multipliers.
MOST_CORNERS = 128


@dataclass(frozen=True, eq=False)
class Simplices:
    """A partition of the simplex, node by node in depth-first order, and what closes each part.

    Parameters
    ----------
    radius : float
        The t that is proved: no point of the cell costs less than the start plus t.
    rows : ndarray of shape (n_options, n_rows)
        Multipliers of the rows: the quadratic ones first, then the linear ones.
    caps, cuts : ndarray of shape (n_options, 2 * n_features)
        Multipliers of ``t y_i - cap_i`` and of ``t y_i (t y_i - cap_i)``.
    option : ndarray of int, shape (n_nodes,)
        The combination that closes a part; -1 where another thing does, or the part is split.
    first, second : ndarray of int, shape (n_nodes,)
        Corners whose edge is split.
    share : ndarray of shape (n_nodes,)
        The new corner is ``share * first + (1 - share) * second``; it replaces ``first`` in the
        part that comes next, and ``second`` in the other.
    products : ndarray of shape (n_products, n * (n + 1) / 2) or None
        What is taken away, as multipliers of the products of two corners' weights: lower triangles
        of symmetric matrices, row by row, over the ``n = 2 * n_features + 1`` corners of a part.
    product : ndarray of int, shape (n_nodes,), or None
        Which of them helps to close a part; -1 where none is needed.
    varying : ndarray of shape (n_varying, n_rows + 2 * n_features, n) or None
        Multipliers of the rows, and of ``t y_i - cap_i``, at the corners of a part.
    variation : ndarray of int, shape (n_nodes,), or None
        Which of them closes a part; -1 where none does.
    """

    radius: float
    rows: FloatArray
    caps: FloatArray
    cuts: FloatArray
    option: IntArray
    first: IntArray
    second: IntArray
    share: FloatArray
    products: FloatArray | None = None
    product: IntArray | None = None
    varying: FloatArray | None = None
    variation: IntArray | None = None


@dataclass(frozen=True, eq=False)
class CopositiveProofs(Proofs):
    """For each center a `Simplices`, or None where nothing was proved."""

    proofs: tuple[Simplices | None, ...]

    def __len__(self) -> int:
        return len(self.proofs)

    def take(self, rows: IntArray) -> CopositiveProofs:
        """Return the proofs of the given rows."""
        return CopositiveProofs(tuple(self.proofs[int(i)] for i in rows))

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the distance within which the replay shows that there is no point."""
        start = np.clip(centers, lower, upper)
        proved = (weights * np.abs(start - centers)).sum(axis=1)
        if not (weights > 0).all():
            return np.asarray(proved)  # what costs nothing is in no ball
        rows, sizes = _rows_at(cell, start, weights), _sizes_at(cell, start, weights)
        room = np.hstack([upper - start, start - lower]) * np.hstack([weights, weights])
        for i, proof in enumerate(self.proofs[: len(start)]):
            if not isinstance(proof, Simplices):
                continue
            if _Replay(proof, rows.of(i), sizes.of(i), np.maximum(room[i], 0.0)).holds():
                # A ball that holds all of the box leaves no point at all.
                d = cell.dim
                whole = np.maximum(room[i, :d], room[i, d:]).clip(0.0).sum() <= proof.radius
                proved[i] = np.inf if whole else proved[i] + proof.radius
        proved[(lower > upper).any(axis=1)] = np.inf
        return np.asarray(proved)


class _Rows(NamedTuple):
    """Values (n, m), slopes per cost (n, m, d) and forms of rows at the starts, or their sizes.

    The forms of quadratic rows are over the 2d + 1 corners: up, down, and the start. ``of`` gives
    those of one start, with its slopes, too, over the corners.
    """

    values: FloatArray
    slopes: FloatArray
    forms: FloatArray
    down: float  # the sign of a slope downwards; sizes have none

    def of(self, i: int) -> _Rows:
        slopes = self.slopes[i]
        corners = np.hstack([slopes, self.down * slopes, np.zeros((len(slopes), 1))])
        return self._replace(values=self.values[i], slopes=corners)


def _rows_at(cell: Cell, start: FloatArray, weights: FloatArray) -> _Rows:
    """Return every row at the starts: the quadratic ones first, then the linear ones."""
    curved = [(row.value(start), row.gradient(start), row.A) for row in cell.quadratics]
    linear = row_products(start, cell.G) - cell.h
    return _stacked(curved, linear, cell.G, weights, -1.0)


def _sizes_at(cell: Cell, start: FloatArray, weights: FloatArray) -> _Rows:
    """Return the sizes of the terms that each number of `_rows_at` was added up from.

    Terms of A may be much larger than A is: those of its two factors may cancel, and so may those
    of ``plus u``, where it is nearly singular.
    """
    curved = []
    for row in cell.quadratics:
        u = row.seen(start)
        value = row_products(np.abs(u), np.abs(row.q)[None])[:, 0] + abs(row.c)
        gradient = np.abs(row.q)
        A = np.zeros((cell.dim, cell.dim))
        for factor in (row.plus, row.minus):
            size = row_products(np.abs(u), np.abs(factor))
            image = np.abs(row_products(u, factor)) + ENTRY_ERROR * size
            value = value + (image * size).sum(axis=1)
            gradient = gradient + 2 * row_products(size, np.abs(factor).T)
            A += np.abs(factor).T @ np.abs(factor)
        curved.append((value, np.broadcast_to(gradient, start.shape), A))
    linear = row_products(np.abs(start), np.abs(cell.G)) + np.abs(cell.h)
    return _stacked(curved, linear, np.abs(cell.G), weights, 1.0)


def _stacked(
    curved: list[tuple[FloatArray, FloatArray, FloatArray]],
    linear: FloatArray,
    G: FloatArray,
    weights: FloatArray,
    down: float,
) -> _Rows:
    d, count = len(weights), len(curved)
    values = np.column_stack([*(value for value, _, _ in curved), linear])
    slopes, forms = np.empty((*values.shape, d)), np.zeros((count, 2 * d + 1, 2 * d + 1))
    slopes[:, count:] = G / weights
    for k, (_, gradient, A) in enumerate(curved):
        slopes[:, k] = gradient / weights
        Q = A / np.outer(weights, weights)
        forms[k, : 2 * d, : 2 * d] = np.block([[Q, down * Q], [down * Q, Q]])
    return _Rows(values, slopes, forms, down)


class _Replay:
    """Walk through one proof and check every part."""

    def __init__(self, proof: Simplices, rows: _Rows, sizes: _Rows, room: FloatArray) -> None:
        self.proof, self.rows, self.sizes, self.room = proof, rows, sizes, room
        # A corner without room cannot be used: its y is 0.
        self.usable = np.append(room > 0, True)
        self.matrices: dict[int, FloatArray] = {}
        self.error = 0.0

    def holds(self) -> bool:
        proof = self.proof
        if not self._wellformed():
            return False
        n, m = len(self.usable), len(self.rows.values)
        self.error = ENTRY_ERROR * (n + (m + self._depth()) / 10)
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
                if matrix is None or not _is_copositive(matrix, self._alive(corners)):
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

    def _wellformed(self) -> bool:
        proof, m, k = self.proof, len(self.rows.values), len(self.room)
        if not isinstance(proof.radius, float) or not RADII[0] <= proof.radius <= RADII[1]:
            return False
        if not (_is_array(proof.option, "i", 1) and _is_array(proof.rows, "f", 2)):
            return False
        options, nodes = len(proof.rows), proof.option.shape
        endless = ~np.isfinite(self.room)
        return bool(
            _are_multipliers(proof.rows, (options, m))
            and _are_multipliers(proof.caps, (options, k))
            and _are_multipliers(proof.cuts, (options, k))
            and (proof.caps[:, endless] == 0).all()
            and (proof.cuts[:, endless] == 0).all()
            and (proof.option < options).all()
            and _are_places(proof.first, nodes, k + 1)
            and _are_places(proof.second, nodes, k + 1)
            and _is_array(proof.share, "f", 1)
            and proof.share.shape == nodes
            and self._products_wellformed()
            and self._varying_wellformed()
        )

    def _products_wellformed(self) -> bool:
        products, product, n = self.proof.products, self.proof.product, len(self.usable)
        if products is None or product is None:
            return products is None and product is None
        return bool(
            _is_array(products, "f", 2)
            and products.shape[1:] == (n * (n + 1) // 2,)
            and np.isfinite(products).all()
            and _is_array(product, "i", 1)
            and product.shape == self.proof.option.shape
            and (product < len(products)).all()
        )

    def _varying_wellformed(self) -> bool:
        varying, variation, n = self.proof.varying, self.proof.variation, len(self.usable)
        if varying is None or variation is None:
            return varying is None and variation is None
        m = len(self.rows.values)
        return bool(
            _is_array(varying, "f", 3)
            and _are_multipliers(varying, (len(varying), m + len(self.room), n))
            and (varying[:, m:][:, ~np.isfinite(self.room)] == 0).all()
            and _is_array(variation, "i", 1)
            and variation.shape == self.proof.option.shape
            and (variation < len(varying)).all()
        )

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
        return np.asarray(matrix - less - ENTRY_ERROR * np.abs(less))

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
        c, g, Q = _sum_of(self.rows, rows)
        # The same sums over absolute values: the size of what was added up.
        c_size, g_size, Q_size = _sum_of(self.sizes, rows)
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


def _sum_of(rows: _Rows, multipliers: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return value, slope and form of a combination of rows."""
    forms = np.tensordot(multipliers[: len(rows.forms)], rows.forms, axes=1)
    return float(multipliers @ rows.values), multipliers @ rows.slopes, forms


def _is_array(value: object, kind: str, dims: int) -> bool:
    """Return whether a value, perhaps from a file, is an array of such numbers."""
    return isinstance(value, np.ndarray) and value.dtype.kind == kind and value.ndim == dims


def _are_places(value: IntArray, shape: tuple[int, ...], n: int) -> bool:
    if not (_is_array(value, "i", len(shape)) and value.shape == shape):
        return False
    return bool((value >= 0).all() and (value < n).all())


def _are_multipliers(value: FloatArray, shape: tuple[int, ...]) -> bool:
    """Return whether these are numbers that rows may be multiplied by: 0, or clearly positive."""
    if not (_is_array(value, "f", len(shape)) and value.shape == shape):
        return False
    least, most = MULTIPLIERS
    return bool(((value == 0) | ((value >= least) & (value <= most))).all())


def _symmetric(triangle: FloatArray, n: int) -> FloatArray:
    """Return the symmetric matrix whose lower triangle, row by row, is given."""
    lower = np.zeros((n, n))
    lower[np.tril_indices(n)] = triangle
    return np.asarray(lower + np.tril(lower, -1).T)


def _is_copositive(M: FloatArray, alive: BoolArray) -> bool:
    """Return whether M is copositive by row deletion and positive definiteness."""
    if not np.isfinite(M).all():
        return False
    while alive.any():
        part = M[alive][:, alive]
        negative = (part < 0).any(axis=1)
        if negative.all():
            break
        alive = alive.copy()
        alive[np.flatnonzero(alive)[~negative]] = False
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
    return bool(np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled)[0] > 1e-14 * len(part))
