"""A partition of a simplex, and what closes each part: the numbers of a copositivity proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.proofs.tolerances import MULTIPLIERS, RADII


@record_as("simplices")
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

    def is_wellformed(self, m: int, room: FloatArray) -> bool:
        """Return whether all numbers, perhaps from a file, can be what they are said to be.

        ``m`` is the number of rows, ``room`` how far each of the 2 * n_features corners may go.
        """
        k = len(room)
        if not isinstance(self.radius, float) or not RADII[0] <= self.radius <= RADII[1]:
            return False
        if not (_is_array(self.option, "i", 1) and _is_array(self.rows, "f", 2)):
            return False
        options, nodes = len(self.rows), self.option.shape
        endless = ~np.isfinite(room)
        return bool(
            _are_multipliers(self.rows, (options, m))
            and _are_multipliers(self.caps, (options, k))
            and _are_multipliers(self.cuts, (options, k))
            and (self.caps[:, endless] == 0).all()
            and (self.cuts[:, endless] == 0).all()
            and (self.option < options).all()
            and _are_places(self.first, nodes, k + 1)
            and _are_places(self.second, nodes, k + 1)
            and _is_array(self.share, "f", 1)
            and self.share.shape == nodes
            and self._products_wellformed(k + 1)
            and self._varying_wellformed(m, room)
        )

    def _products_wellformed(self, n: int) -> bool:
        products, product = self.products, self.product
        if products is None or product is None:
            return products is None and product is None
        return bool(
            _is_array(products, "f", 2)
            and products.shape[1:] == (n * (n + 1) // 2,)
            and np.isfinite(products).all()
            and _is_array(product, "i", 1)
            and product.shape == self.option.shape
            and (product < len(products)).all()
        )

    def _varying_wellformed(self, m: int, room: FloatArray) -> bool:
        varying, variation, n = self.varying, self.variation, len(room) + 1
        if varying is None or variation is None:
            return varying is None and variation is None
        return bool(
            _is_array(varying, "f", 3)
            and _are_multipliers(varying, (len(varying), m + len(room), n))
            and (varying[:, m:][:, ~np.isfinite(room)] == 0).all()
            and _is_array(variation, "i", 1)
            and variation.shape == self.option.shape
            and (variation < len(varying)).all()
        )


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
