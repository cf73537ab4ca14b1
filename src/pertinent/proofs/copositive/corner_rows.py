"""The rows of a cell as seen from a start, and the sizes of what their numbers are added up from.

Slopes and forms are over the corners of an L1 ball around the start, in units of cost: see
`pertinent.proofs.copositive.replay`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell, row_products
from pertinent.proofs.tolerances import ENTRY


class CornerRows(NamedTuple):
    """Values (n, m), slopes per cost (n, m, d) and forms of rows at the starts, or their sizes.

    The forms of quadratic rows are over the 2d + 1 corners: up, down, and the start. ``of`` gives
    those of one start, with its slopes, too, over the corners.
    """

    values: FloatArray
    slopes: FloatArray
    forms: FloatArray
    down: float  # the sign of a slope downwards; sizes have none

    def of(self, i: int) -> CornerRows:
        """Return those of one start."""
        slopes = self.slopes[i]
        corners = np.hstack([slopes, self.down * slopes, np.zeros((len(slopes), 1))])
        return self._replace(values=self.values[i], slopes=corners)

    def combined(self, multipliers: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return value, slope and form of a combination of the rows of one start."""
        forms = np.tensordot(multipliers[: len(self.forms)], self.forms, axes=1)
        return float(multipliers @ self.values), multipliers @ self.slopes, forms


def rows_at(cell: Cell, start: FloatArray, weights: FloatArray) -> CornerRows:
    """Return every row at the starts: the quadratic ones first, then the linear ones."""
    curved = [(row.value(start), row.gradient(start), row.A) for row in cell.quadratics]
    linear = row_products(start, cell.G) - cell.h
    return _stacked(curved, linear, cell.G, weights, -1.0)


def sizes_at(cell: Cell, start: FloatArray, weights: FloatArray) -> CornerRows:
    """Return the sizes of the terms that each number of `rows_at` was added up from.

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
            image = np.abs(row_products(u, factor)) + ENTRY * size
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
) -> CornerRows:
    d, count = len(weights), len(curved)
    values = np.column_stack([*(value for value, _, _ in curved), linear])
    slopes, forms = np.empty((*values.shape, d)), np.zeros((count, 2 * d + 1, 2 * d + 1))
    slopes[:, count:] = G / weights
    for k, (_, gradient, A) in enumerate(curved):
        slopes[:, k] = gradient / weights
        Q = A / np.outer(weights, weights)
        forms[k, : 2 * d, : 2 * d] = np.block([[Q, down * Q], [down * Q, Q]])
    return CornerRows(values, slopes, forms, down)
