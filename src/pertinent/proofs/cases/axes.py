"""Rows that are sums over features, ``c + sum_i a_i s_i^2 + g_i s_i``, and what rounding hides.

The step ``s = weights * (x - start)`` is measured in cost. Written as factors, ``a`` is a
difference of squares: ``(p - n)(p + n)`` loses no digits where ``p^2 - n^2`` does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell, Quadratic
from pertinent.proofs.rounding import form_sizes, quadratic_sizes, rounding_unit


class AxisRow(NamedTuple):
    """One row at n starts: squares (d,), slopes (n, d), values (n,), and how far off each is."""

    square: FloatArray
    slope: FloatArray
    value: FloatArray
    square_off: FloatArray
    slope_off: FloatArray
    value_off: FloatArray


def is_separable(cell: Cell) -> bool:
    """Return whether every row is a sum over features."""
    return all(_is_diagonal(row.A) for row in cell.quadratics)


def axis_row(row: Quadratic, start: FloatArray, weights: FloatArray) -> AxisRow:
    """Return a separable row as seen from the starts."""
    unit, u = rounding_unit(len(weights), 1), row.seen(start)
    a, size = squares(row)
    value = (a * u * u + row.q * u).sum(axis=1) + row.c
    terms = (size * u * u + np.abs(row.q * u)).sum(axis=1) + abs(row.c)
    slope, slopes = 2 * a * u + row.q, 2 * size * np.abs(u) + np.abs(row.q)
    off = unit * (slopes / weights)
    return AxisRow(
        a / weights**2, slope / weights, value, unit * size / weights**2, off, unit * terms
    )


class Seen(NamedTuple):
    """A row ``t'At + g't + c`` with t the step from a point, and the sizes of what made A, g, c."""

    A: FloatArray
    g: FloatArray
    c: float
    A_size: FloatArray
    g_size: FloatArray
    c_size: float


def seen_from(row: Quadratic, point: FloatArray) -> Seen:
    """Return a quadratic row as seen from a point; one that is a sum over features loses least."""
    if not (_has_axes(row.plus) and _has_axes(row.minus)):
        slopes, values = quadratic_sizes(row, point[None])
        here = row.gradient(point[None])[0], float(row.value(point[None])[0])
        return Seen(row.A, *here, form_sizes(row), slopes[0], float(values[0]))
    a, size = squares(row)
    one = axis_row(row, point[None], np.ones(len(a)))
    unit = rounding_unit(len(a), 1)
    sizes = one.slope_off[0] / unit, float(one.value_off[0] / unit)
    return Seen(np.diag(a), one.slope[0], float(one.value[0]), np.diag(size), *sizes)


def linear_rows(cell: Cell, start: FloatArray, weights: FloatArray) -> list[AxisRow]:
    """Return the linear rows as seen from the starts."""
    unit, none, out = rounding_unit(len(weights), 1), np.zeros(len(weights)), []
    for g, h in zip(cell.G, cell.h, strict=True):
        slope = np.broadcast_to(g / weights, start.shape)
        value, terms = (start * g).sum(axis=1) - h, np.abs(start * g).sum(axis=1) + abs(h)
        out.append(AxisRow(none, slope, value, none, unit * np.abs(slope), unit * terms))
    return out


def squares(row: Quadratic) -> tuple[FloatArray, FloatArray]:
    """Return the diagonal of a separable row's form, and the sizes of what it was added up from."""
    plus, minus = row.plus, row.minus
    if plus.shape == minus.shape:
        products = (plus - minus) * (plus + minus)
        return products.sum(axis=0), np.abs(products).sum(axis=0)
    up, down = (plus * plus).sum(axis=0), (minus * minus).sum(axis=0)
    return up - down, up + down


def _has_axes(factor: FloatArray) -> bool:
    """Return whether each row of a factor is about one feature."""
    return bool((np.count_nonzero(factor, axis=1) <= 1).all())


def _is_diagonal(matrix: FloatArray) -> bool:
    square = len(matrix) == matrix.shape[-1]
    return square and bool((np.diag(np.diagonal(matrix)) == matrix).all())
