"""The size of what rounds where a model decides: one policy for all kinds of regions.

A model decides a row by a sum. In whichever order its terms are added, alone or in any batch, the
sum is off by at most ``(d + 4) u S(x)``: d features, u the unit roundoff of the precision that the
model adds up in, and S(x) the sum of the absolute values of all terms, those included that cancel.
A point is *sure* where every row holds by more than that. S depends on how the model adds up, and
whoever reads the model says it, since it cannot be seen in the row:

=============================  =======================================  ======================
the model adds up              S(x) of a row                            said by
=============================  =======================================  ======================
scores ``W x + b``             ``|W_t||x| + |b_t| + |W_k||x| + |b_k|``  `Cell.magnitudes`
``|x|^2 - 2 x'p + |p|^2``      ``2 |x|^2 + 2 |p|^2`` of both items      `Sums`, origin 0
``|x - p|^2`` by differences   ``2 |x - m|^2 + 2 |p - m|^2``, m any     `Sums`, origin m
``|F (x - m)|^2`` of items      ``||F| |x - m||^2`` of both              `Quadratic.sums`
Gaussian scores                2 times that, and ``|log s|`` of all s    `Quadratic.sums`
... whose squares cancel        the same, for linear rows                `Cell.sums`
steps before, ``x = M z + t``  the same with ``|M| |z| + |t|`` for |x|  their ``pull_back``
=============================  =======================================  ======================

To each is added what our own arithmetic rounds, so that "sure" holds for the model and not only
for the region that we made of it. Models that add up in single precision whatever they are given
have S times `COARSER`.

*Units of a margin.* A margin m lowers the right-hand side of a row by m times the row's unit. What
a unit is, is measured at the margin `STEP`. For a margin that the user asks for it is the row's
slope; for one that only rounding needs, `Region.with_margin` may take a unit that does not change
with the units of the features, e.g. the row's own S. ``Rounding.sizes`` is S in these units, so
that ``(d + 4) u sizes(x)`` is the margin that a point x needs.
"""

from pertinent.geometry.rounding.kinds import (
    CellRounding,
    JoinedRounding,
    Leading,
    Rounding,
    WinnerRounding,
)
from pertinent.geometry.rounding.sums import (
    COARSER,
    PROBES,
    ROUNDOFF,
    ROUNDOFF_SINGLE,
    STEP,
    MarginRows,
    surely_win,
)
from pertinent.geometry.rounding.units import (
    clearly_inside,
    has_own_units,
    in_own_units,
    shows_margin,
)

__all__ = [
    "COARSER",
    "PROBES",
    "ROUNDOFF",
    "ROUNDOFF_SINGLE",
    "STEP",
    "CellRounding",
    "JoinedRounding",
    "Leading",
    "MarginRows",
    "Rounding",
    "WinnerRounding",
    "clearly_inside",
    "has_own_units",
    "in_own_units",
    "shows_margin",
    "surely_win",
]
