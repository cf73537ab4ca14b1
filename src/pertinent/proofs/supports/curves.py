"""What turning features on can do for rows over bent columns."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.affine import BentRows
from pertinent.geometry.arrays import FloatArray
from pertinent.proofs.rounding import rounding_unit


def switched_curves(
    block: BentRows, start: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what switching columns from ``start`` to ``x`` takes off rows over bent columns.

    At most, of shape (n, n_rows, n_columns); and by how much each row is exceeded at the start, at
    least. Where a curve is not defined at one of them nothing is known: the gain is endless.
    """
    unit = rounding_unit(block.dim + len(block.curves), 1)
    gain = -block.G * (x - start)[:, None, :]
    off = block.terms[:, : block.dim] * (np.abs(x) + np.abs(start))[:, None, :]
    for m, curve in enumerate(block.curves):
        j = curve.column
        here, there = curve(start[:, j]), curve(x[:, j])
        size = np.abs(there) + np.abs(here) + 2 * curve.beside
        known = (np.isfinite(here) & np.isfinite(there))[:, None]
        with np.errstate(invalid="ignore"):
            moved = there - here
            gain[:, :, j] -= np.where(known, moved[:, None] * block.B[:, m], -np.inf)
            off[:, :, j] += np.where(known, size[:, None] * block.terms[:, block.dim + m], 0.0)
    same = (x == start)[:, None, :]
    gain = np.where(same, 0.0, gain + unit * off)
    value = block.value(start)
    short = np.where(np.isfinite(value), value, 0.0) - unit * block.sizes(start)
    return gain, short


def most_of_curves(
    block: BentRows, rest: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the most that columns between two ends take off each row, and what it is short of.

    Shapes (n_rows, n_columns) and (n_rows,), of one sample. Each term is largest at an end: of
    several terms of one column each at its own, which is a bound.
    """
    unit, rows = rounding_unit(block.dim + len(block.curves), 1), np.arange(len(block))
    gain = np.zeros((len(block), block.dim))
    with np.errstate(invalid="ignore"):
        for end in (low, high):
            off = unit * block.terms[:, : block.dim] * (np.abs(end) + np.abs(rest))
            moved = np.where((block.G == 0) | (end == rest), 0.0, off - block.G * (end - rest))
            gain = np.fmax(gain, moved)
        for m, curve in enumerate(block.curves):
            j = curve.column
            own = rest[[j]]
            best = np.zeros(len(rows))
            for end in (low[[j]], high[[j]]):
                here, there = float(curve(own)[0]), float(curve(end)[0])
                size = abs(there) + abs(here) + 2 * curve.beside
                taken = unit * size * block.terms[:, block.dim + m] - block.B[:, m] * (there - here)
                taken = np.where(np.isnan(taken), np.inf, taken)
                best = np.maximum(best, 0.0 if end[0] == own[0] else taken)
            gain[:, j] += np.where(block.B[:, m] == 0, 0.0, best)
    value = block.value(rest[None])[0]
    short = np.where(np.isfinite(value), value, 0.0) - unit * block.sizes(rest[None])[0]
    return gain, short
