"""Numbers that densities and blends are judged with, in one table.

What must hold between them is tested (``tests/density/test_tolerances.py``).
"""

from __future__ import annotations

# Fitting a mixture.
#: A component is degenerate if a direction has less than this share of the class's variance ...
SINGULAR = 1e-5
#: ... and every covariance then gets this share of it added to its diagonal.
ADDED = 1e-2
#: Scikit-learn's own default, for components that need no help.
REG_COVAR = 1e-6

# Judging points.
#: By how much more than the threshold is asked for, relative to its size: room for rounding.
TIGHTER = 1e-9
#: Shares of a blend below this are rounding.
DUST = 1e-9
#: A point is a blend up to this share of its size: features at a limit stand exactly there.
BLEND, BLEND_SINGLE = 1e-8, 1e-6
