"""How far numbers that are told may be from those that are recomputed, in one table.

What must hold between them, and with the gaps of claims, is tested
(``tests/checking/test_tolerances.py``).
"""

from __future__ import annotations

#: Numbers closer than this, relatively, are the same: both are sums of many terms.
SAME = 1e-9
#: The model's own probabilities in single precision, where it is not known what is added up.
SAME_IN_SINGLE = 1e-4
#: Sizes closer than this are the same, however small they are.
SAME_SIZE = 1e-12
