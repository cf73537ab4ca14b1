"""How far numbers may miss a rule by rounding alone, in one table.

What must hold between them is tested (``tests/setting/test_tolerances.py``).
"""

from __future__ import annotations

#: Moving by a step may round: a change this much smaller than the smallest, relatively, will do.
SLACK = 1e-9
#: A relation counts as satisfied within this share of the size of its terms.
SATISFIED = 1e-9
#: A change may be this share of the smallest one short of it, in single precision of the value.
CHANGE_SLACK = 1e-6
