"""How far inside its class a point must lie for ``predict`` to agree, whatever the units.

The policy:

1. A margin that the user asks for is in units of each row's slope (see `Cell.tighten`). Points,
   bounds and statuses speak of the region with that margin; by default it is 0. A point that keeps
   less is refused: see `Setting.keep_margin`.
2. Points are solved for with the margin of 1 and, where that is less than rounding needs or a point
   is refused, with what rounding needs beyond it. What rounds is said in
   `pertinent.geometry.rounding`: ``(d + 4) u sizes(x)`` in units of each row's margin, so that data
   of size 1e-6 are not asked for a margin made for data of size 1. In double precision the first
   margin covers 4 times what rounds at the center, in steps of 100; in single precision, where
   terms do not grow in proportion to the distance, and where a margin of more than 1e-8 is needed,
   1.25 times, in small steps.
3. Of a region that does not know what rounds, the first margin is a constant, 1e-12 or 1e-6.
4. A margin that only rounding needs is kept in units of the rows' own terms, where the region
   knows them: `Region.with_margin`.
5. A point that is found is judged by what rounds at the point itself, not at the center: one that
   is not sure, or that ``predict`` refuses all the same, is solved again with a larger margin;
   where a margin leaves no point, with a smaller one (see `pertinent.setting.nearest.ladder`).

Beside margins, every other tolerance of the package stands here, in one table;
``tests/setting/test_tolerances.py`` holds what must be true between them.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE, Rounding

#: The margin to begin with where nothing is rounded.
LEAST = 1e-18
#: What rounding may need in double precision, powers of 100, and the margins to begin with. Rows
#: over features in units of 1e-15 have slopes of 1e30, those over features in units of 1e30 have
#: slopes of 1e-30: no margin is too small or too large to be of use.
NEEDS = 10.0 ** np.arange(-120, 122, 2)
MARGINS = np.where(NEEDS[0] == NEEDS, LEAST, NEEDS)
#: The margins to begin with where it is not known what rounds, in double and single precision.
UNKNOWN, UNKNOWN_SINGLE = 1e-12, 1e-6

#: Margins down to this share of the first are tried where no point is found, ...
LEAST_SHARE = 5e-4
#: ... and margins in between until one is at most so many times the other.
CLOSE = 1.5

#: A margin that rounding needs and that may be seen in an answer: it is met in small steps. First
#: where squared distances of large numbers lose many digits, then of any sum.
SEEN, SEEN_OF_ANY = 1e-11, 1e-8

#: A point that keeps all of the margin asked for but this share of it keeps the margin, in double
#: and in single precision: bounds of boxes are rounded with the point (see `Setting.keep_margin`).
KEPT, KEPT_SINGLE = 1e-12, 1e-4

# What is claimed of answers: gaps, ties, and what only rounding explains.
#: The weight of a feature that may move at no cost, as a share of its own: positive, since solvers
#: ask for that, and so small that it outweighs no feature that counts.
NEARLY_FREE = 1e-9
#: A proof excludes a set of features whose cost it puts this close to the best; for quadratic rows
#: it is coarser; 4 times this is the gap of 1e-4 at which a non-convex answer is optimal.
CLOSED, CLOSED_QUADRATIC = 1e-7, 2.5e-5
#: Two costs closer than this, relatively, are a tie.
TIE = 1e-9
#: Bounds and costs are sums of many terms: what is closer than this, relatively, is the same.
ROUNDED = 1e-12
#: The only answer: any other point that costs no more differs from it, in every feature, by no more
#: than this share of the cost.
NEAR = 1e-2
#: One step farther is this share of a column's scale (1 / weight), and at least a few roundings.
STEP_FARTHER, ROUNDINGS = 1e-6, 8
#: Values so many scales away from the answer's are as good as endless.
FAR = 1e4
#: Slopes of a proof below this share of the largest are rounding.
FLAT = 1e-7
#: Default margins: enough for ``predict`` to agree in double and in single precision.
MARGIN, MARGIN_SINGLE = 1e-9, 1e-5


def _small_steps(need: FloatArray) -> FloatArray:
    """Return the next power of sqrt(2) of each need."""
    least = np.where(need > 0, need, LEAST)
    return np.asarray(2.0 ** (np.ceil(2 * np.log2(least)) / 2))


def first_margins(
    rounding: Rounding | None,
    centers: FloatArray,
    single: bool,
    sums_in_single: bool,
    as_found: bool = False,
) -> FloatArray:
    """Return the margin to begin with for each center: a power of 100, or of sqrt(2).

    Few different margins mean few different regions; what a margin of up to 100 times the
    rounding costs is far below the gap at which an answer counts as optimal. Where it is not, in
    single precision and where much is rounded, the steps are small.

    Parameters
    ----------
    rounding : Rounding or None
        What rounds in the region; None where that is not known.
    centers : ndarray of shape (n, n_features)
    single : bool
        Whether points are handed out in single precision.
    sums_in_single : bool
        Whether the model adds up their scores in single precision, too.
    as_found : bool
        Whether points are taken to be numbers in single precision as they are found. One that is
        not, and that leaves its class when it is rounded, is refused and solved again.
    """
    if rounding is None:
        return np.full(len(centers), UNKNOWN_SINGLE if single else UNKNOWN)
    # The same center for everyone (a baseline, the sample of a menu) is looked at once.
    some = centers[:1] if _is_one(centers) else centers
    sums = centers.shape[1] + 4
    sums_in_single = sums_in_single and not rounding.knows_precision
    if single:
        # What `Rounding.hold` asks; the answer's terms may be a little larger than the center's.
        unit = ROUNDOFF_SINGLE if sums_in_single else ROUNDOFF
        need = 1.25 * sums * unit * rounding.sizes(some)
        if not (sums_in_single or as_found):
            # The point itself is rounded: x_i by u |x_i|, a row by u |g|'|x|.
            need += 1.25 * ROUNDOFF_SINGLE * rounding.row_sizes(some)
        margins = _small_steps(need)
    else:
        need = 4 * sums * ROUNDOFF * rounding.sizes(some)
        margins = MARGINS.take(NEEDS.searchsorted(need), mode="clip")
        seen = SEEN if rounding.knows_precision else SEEN_OF_ANY
        much = need > seen
        if np.count_nonzero(much):
            margins[much] = _small_steps(1.25 / 4 * need[much])
    return margins if len(some) == len(centers) else np.repeat(margins, len(centers))


def _is_one(centers: FloatArray) -> bool:
    """Return whether all centers, one or more, are the same."""
    if not len(centers) or centers.strides[0] == 0:
        return len(centers) > 0
    return bool((centers[-1] == centers[0]).all() and (centers == centers[0]).all())
