"""Steps before an ensemble, folded into its cuts.

A step that makes each column from at most one raw column by a monotone function leaves trees over
the raw columns: ``f(z) <= cut`` is ``z <= c`` or ``z > c``, with c the last double on that side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.affine import AffineMap
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.ensembles.form import Trees

#: The sign bit of a double, seen as an integer.
_SIGN = np.int64(-(2**63))


@dataclass(frozen=True, eq=False)
class Inputs:
    """For each column of the trees: ``x = slope * z[column] + shift``; slope 0: constant."""

    column: IntArray
    slope: FloatArray
    shift: FloatArray


def single_inputs(through: AffineMap) -> Inputs | None:
    """Return the one raw column behind each column; None where there are several."""
    if through.is_diagonal:
        return Inputs(np.arange(through.dim_in), through.matrix, through.shift)
    used = through.matrix != 0
    if (used.sum(axis=1) > 1).any():
        return None
    column = used.argmax(axis=1)
    return Inputs(column, through.matrix[np.arange(len(column)), column], through.shift)


def folded(trees: Trees, keep: FloatArray, inputs: Inputs) -> tuple[Trees, FloatArray]:
    """Return the trees over the raw columns, and the margins of their cuts."""
    inner = np.flatnonzero((trees.column >= 0) & np.isfinite(trees.cut))
    own = trees.column[inner]
    slope, shift, cut = inputs.slope[own], inputs.shift[own], trees.cut[inner]
    lower, upper, new_cut = trees.lower.copy(), trees.upper.copy(), trees.cut.copy()
    # Rising: z <= c  <=>  f(z) <= cut. Falling: z <= c  <=>  f(z) > cut, and the sides change.
    sign = np.where(slope < 0, -1.0, 1.0)
    z = last_at_most(
        lambda z: sign * (slope * z + shift),
        np.where(slope < 0, -np.nextafter(cut, np.inf), cut),
    )
    falls = inner[slope < 0]
    lower[falls], upper[falls] = trees.upper[falls], trees.lower[falls]
    new_cut[inner] = z
    # Constant: every point goes to one side.
    flat = slope == 0
    new_cut[inner[flat]] = np.where(shift[flat] <= cut[flat], np.inf, -np.inf)
    column = trees.column.copy()
    column[column >= 0] = inputs.column[column[column >= 0]]
    margins = keep.copy()
    margins[inner[~flat]] /= np.abs(slope[~flat])
    missing = None if trees.missing is None else trees.missing.copy()
    if len(falls):  # a missing value stays on its side, which is now the other one
        missing = np.zeros(len(column), dtype=bool) if missing is None else missing
        missing[falls] = ~missing[falls]
    new = replace(trees, column=column, cut=new_cut, lower=lower, upper=upper, missing=missing)
    return new, margins


#: A column; of a rising function of it, the last numbers at which it is at most the given ones (see
#: `last_at_most`); and the sign by which the function is multiplied.
Bend = tuple[int, Callable[[FloatArray], FloatArray], float]


def bent(
    trees: Trees, keep: FloatArray, bends: Sequence[Bend], dim: int
) -> tuple[Trees, FloatArray]:
    """Return trees over the first ``dim`` columns, of which the others are functions.

    ``sign f(z) <= cut`` is ``z <= c`` where the sign is 1, with c the last double at which f is at
    most the cut, and ``z > c`` where it is -1, with c the last at which f is below minus the cut.
    """
    column, cut = trees.column.copy(), trees.cut.copy()
    lower, upper, margins = trees.lower.copy(), trees.upper.copy(), keep.copy()
    missing = None if trees.missing is None else trees.missing.copy()
    for b, (place, last_of, sign) in enumerate(bends):
        own = np.flatnonzero(trees.column == dim + b)
        some = own[np.isfinite(trees.cut[own])]
        above = np.nextafter(trees.cut[some], np.inf)
        # In terms of f: the last number on the lower side, and the first on the upper side.
        last, first = (trees.cut[some], above) if sign > 0 else (-above, -trees.cut[some])
        room = np.maximum(keep[some], 0.0)
        edges = np.array([last, last - room, np.nextafter(first + room, -np.inf)])
        at, low, above = last_of(edges)
        high = np.nextafter(above, np.inf)
        with np.errstate(invalid="ignore"):
            away = np.fmax(at - low, high - at)
        margins[some] = np.where(room > 0, away, keep[some])
        cut[some] = at
        if sign < 0:
            lower[own], upper[own] = trees.upper[own], trees.lower[own]
            cut[own[np.isinf(trees.cut[own])]] *= -1.0
            if missing is None:
                missing = np.zeros(len(column), dtype=bool)
            missing[own] = ~missing[own]
        column[own] = place
    new = replace(trees, column=column, cut=cut, lower=lower, upper=upper, missing=missing)
    return new, margins


def last_at_most(function: Callable[[FloatArray], FloatArray], most: FloatArray) -> FloatArray:
    """Return the largest finite doubles at which a rising function is at most ``most``.

    ``inf`` where it never exceeds it, ``-inf`` where it always does. The function is computed in
    floating point, so that a step is folded as it is computed, rounding included.

    Examples
    --------
    >>> import numpy as np
    >>> float(last_at_most(lambda z: 3.0 * z, np.array([0.3]))[0])
    0.09999999999999999
    """
    shape = most.shape
    low = _ordered(np.full(shape, -np.finfo(float).max))
    high = _ordered(np.full(shape, np.finfo(float).max))
    with np.errstate(over="ignore", invalid="ignore"):
        none = ~(function(_double(low)) <= most)
        every = function(_double(high)) <= most
        for _ in range(65):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            middle = np.where(middle == low, high, middle)
            right = function(_double(middle)) <= most
            low, high = np.where(right, middle, low), np.where(right, high, middle - 1)
            high = np.maximum(low, high)
    return np.where(every, np.inf, np.where(none, -np.inf, _double(low)))


def _ordered(values: FloatArray) -> IntArray:
    """Return integers that are ordered as the doubles are."""
    bits = values.view(np.int64)
    return np.asarray(np.where(bits < 0, _SIGN - bits, bits))


def _double(ordered: IntArray) -> FloatArray:
    """Return the doubles of integers made by `_ordered`."""
    return np.where(ordered < 0, _SIGN - ordered, ordered).view(np.float64)
