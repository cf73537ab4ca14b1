"""When a bound meets an objective: relative gaps, and what counts as rounding.

The table of the tolerances of regions; what must hold between them, and with those of other
packages, is tested (``tests/setting/test_tolerances.py``).
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray

#: Relative gap below which an answer of a linear or convex cell counts as optimal.
GAP_CONVEX = 1e-6
#: The same for non-convex and integer cells.
GAP_NONCONVEX = 1e-4
#: Differences this small, relative to the coordinates, never open a gap: rounding in double
#: precision, and of points handed out in single precision.
ROUNDING, ROUNDING_SINGLE = 1e-12, 2.5e-7
#: Items with equal coefficients cannot be told apart by moving: whether one wins the tie is for the
#: model to say. Up to this margin a tie counts as won; a larger one is asked for by the user, or
#: because the model said no, and leaves such items out.
TIES_COUNT = 1e-5
#: The slope that such rows count with then, as a share of the item's coefficients; never 0.
TIED_SLOPE, TINY = 1e-9, float(np.finfo(float).tiny)
#: Eigenvalues of a form below this share of the largest one are rounding.
SPLIT = 1e-13
#: What is added up for a typical item is at least this share of the mean of all.
OF_THE_MEAN = 1e-6
#: A bound on a sum of sizes is taken larger by this: it is rounded, too.
GENEROUS = 1 + 1e-9


def rounding_unit(single: bool, dim: int) -> float:
    """Return the share of the coordinates that counts as rounding, in the precision handed out.

    In single precision the margin that predict needs is as large as what it must cover: a sum of
    d terms is off by up to about ``(d + 4)`` unit roundoffs of ``2**-24``.
    """
    return max(ROUNDING_SINGLE, 8 * (dim + 4) * 2.0**-24) if single else ROUNDING


def is_closed(
    objective: FloatArray,
    bound: FloatArray,
    points: FloatArray,
    centers: FloatArray,
    weights: FloatArray,
    gap: float | FloatArray,
    unit: float = ROUNDING,
) -> BoolArray:
    """Return whether the bound meets the objective within the relative gap.

    Differences of at most ``unit`` times the coordinates count as rounding. A negative gap is met
    by no bound.
    """
    closed = np.asarray(objective - bound <= gap * objective)
    if np.count_nonzero(closed) < len(closed):
        open_ = (~closed).nonzero()[0]
        size = (weights * (np.abs(points[open_]) + np.abs(centers[open_]))).sum(axis=1)
        excess = (objective - bound - gap * objective)[open_]
        closed[open_] = excess <= unit * size
    return closed if isinstance(gap, float) else closed & (gap >= 0)
