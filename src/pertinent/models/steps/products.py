"""Products of columns: what `PolynomialFeatures` of degree 2 adds to an affine map.

A column is ``affine(z) + sum_k matrix[., k] u_i(k) u_j(k)`` with factors ``u = base(z)``, so a
linear inequality on the columns is a quadratic one on z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.geometry.region import AffineMap, Cell, Quadratic


@dataclass(frozen=True, eq=False)
class Products:
    """The part of some columns that is a combination of products of factors.

    Parameters
    ----------
    base : AffineMap
        The factors ``u`` as functions of the raw columns.
    pairs : ndarray of int, shape (n_pairs, 2)
    matrix : sparse matrix of shape (n_columns, n_pairs)
    """

    base: AffineMap
    pairs: IntArray
    matrix: Foreign

    def take(self, places: IntArray) -> Products:
        """Return the part of some of the columns."""
        return replace(self, matrix=self.matrix[places])

    def through(self, step: AffineMap) -> Products:
        """Return the part after an affine step."""
        linear = sp.diags_array(step.matrix) if step.is_diagonal else sp.csr_array(step.matrix)
        return replace(self, matrix=sp.csr_array(linear @ self.matrix))

    @classmethod
    def joined(cls, parts: Sequence[tuple[Products | None, int]]) -> Products | None:
        """Return the products of columns put side by side; None if there are none."""
        present = [p for p, _ in parts if p is not None]
        if not present:
            return None
        factors = np.cumsum([0] + [p.base.dim_out for p in present])
        base = AffineMap(
            np.vstack([p.base.dense() for p in present]),
            np.concatenate([p.base.shift for p in present]),
        )
        pairs = np.vstack([p.pairs + s for p, s in zip(present, factors, strict=False)])
        blocks, place = [], 0
        for part, n in parts:
            width = 0 if part is None else len(part.pairs)
            row = sp.csr_array((n, len(pairs)))
            if part is not None:
                left = sp.csr_array((n, place))
                right = sp.csr_array((n, len(pairs) - place - width))
                row = sp.hstack([left, part.matrix, right], format="csr")
            place += width
            blocks.append(row)
        return cls(base, pairs, sp.csr_array(sp.vstack(blocks, format="csr")))

    def pull_back(self, cell: Cell, affine: AffineMap) -> Cell:
        """Return the cell of the z whose columns lie in a cell of linear rows.

        ``g'(Mz + t + sum_k P_k u_i u_j) <= h`` with ``u = Bz + s`` is
        ``z'B'SB z + (g'M + 2 s'SB) z + g't + s'Ss - h <= 0``, S the symmetric matrix of g'P.
        """
        if not cell.is_linear or cell.has_bounds:
            raise UnsupportedModelError(
                "PolynomialFeatures(degree=2) is supported before linear models only."
            )
        linear, rows, sides, quadratics = affine.rows(cell.G), [], [], []
        offsets = cell.h - cell.G @ affine.shift
        weights = np.asarray(cell.G @ self.matrix)
        B, s = self.base.dense(), self.base.shift
        for g, side, weight in zip(linear, offsets, weights, strict=True):
            S = np.zeros((len(B), len(B)))
            np.add.at(S, (self.pairs[:, 0], self.pairs[:, 1]), weight / 2)
            S = S + S.T
            if not np.any(S):
                rows.append(g)
                sides.append(side)
                continue
            slope = g + 2 * (s @ S) @ B
            quadratics.append(Quadratic.from_matrix(B.T @ S @ B, slope, float(s @ S @ s - side)))
        G = np.array(rows).reshape(len(rows), affine.dim_in)
        return Cell(G, np.array(sides), tuple(quadratics))


def polynomial_pairs(powers: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the linear part, the factors and the columns of the products of ``powers_``.

    Row r of ``powers`` holds the exponents of output r: all 0 is the bias, a single 1 a column,
    anything else with sum 2 a product.
    """
    pairs, places = [], []
    for r in np.flatnonzero(powers.sum(axis=1) == 2):
        inputs = np.repeat(np.flatnonzero(powers[r]), powers[r][powers[r] > 0].astype(int))
        pairs.append((int(inputs[0]), int(inputs[1])))
        places.append(int(r))
    linear = np.where((powers.sum(axis=1) == 1)[:, None], powers, 0).astype(float)
    return linear, np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(places, dtype=np.int64)
