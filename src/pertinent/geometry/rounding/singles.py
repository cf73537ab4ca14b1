"""Numbers in single precision: the decimals that they are written as, and their neighbours.

A column in single precision holds the float32 that is nearest to each decimal number. All numbers
here are doubles; those of such a column are doubles that a float32 can hold.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray

#: Digits after the point that are tried at once, before numbers are written one by one.
AT_ONCE = 5
#: From here on not every whole number is a float32.
WHOLE = 2.0**24


def as_singles(values: FloatArray) -> FloatArray:
    """Return the nearest float32 of each value."""
    return np.asarray(values).astype(np.float32).astype(float)


def as_decimals(values: FloatArray) -> FloatArray:
    """Return the decimal numbers that float32 are written as: the shortest that read back as them.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.rounding.singles import as_decimals, as_singles
    >>> as_singles(np.array([119.9])).tolist()
    [119.9000015258789]
    >>> as_decimals(np.array([119.9000015258789, np.float32(1 / 3)])).tolist()
    [119.9, 0.33333334]
    """
    flat = as_singles(values).ravel()
    out, left = flat.copy(), np.flatnonzero(flat != np.round(flat))
    left = np.union1d(left, np.flatnonzero(np.abs(flat) >= WHOLE))
    for digits in range(1, AT_ONCE + 1):
        if not len(left):
            break
        own = flat[left]
        # Below 2**24, a number of so many digits after the point has the fewest digits of all.
        tried = np.where(np.abs(own) < WHOLE, np.round(own * 10.0**digits) / 10.0**digits, np.nan)
        found = as_singles(tried) == own
        out[left[found]] = tried[found]
        left = left[~found]
    if len(left):
        own, back = np.unique(flat[left].astype(np.float32), return_inverse=True)
        out[left] = own.astype(str).astype(float)[back]
    return out.reshape(np.shape(values))


def single_spacing(values: FloatArray) -> FloatArray:
    """Return how far float32 of this size lie apart."""
    with np.errstate(invalid="ignore"):
        return np.spacing(np.abs(values).astype(np.float32)).astype(float)


def single_beside(values: FloatArray, *, up: bool) -> FloatArray:
    """Return the float32 that are next to values, not below or not above them."""
    near = np.asarray(values).astype(np.float32)
    wrong = near < values if up else near > values
    towards = np.float32(np.inf if up else -np.inf)
    return np.where(wrong, np.nextafter(near, towards), near).astype(float)


def bounds_as_singles(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds, given as decimal numbers, of a column in single precision.

    The first and the last float32 that are written as decimals between them: 0.3 for ``high=0.3``,
    which as a float32 is a little more.
    """
    ends = []
    for bound, up in ((low, True), (high, False)):
        near, beside = as_singles(bound), single_beside(bound, up=up)
        written = as_decimals(near)
        inside: BoolArray = written >= bound if up else written <= bound
        ends.append(np.where(inside, near, beside))
    return ends[0], ends[1]
