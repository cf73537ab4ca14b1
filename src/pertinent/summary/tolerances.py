"""Numbers that values are rounded and shown with, in one table.

What must hold between them is tested (``tests/setting/test_tolerances.py``).
"""

from __future__ import annotations

#: A value whose count of steps is this close to a whole number, relatively, lies on the grid.
ON_GRID = 1e-9
#: Smaller ends of a range, and smaller costs, are 0 for whoever reads them.
LEAST_SHOWN = 1e-12
#: What is shown may be this much larger than what was proved smallest, relatively.
SLACK = 0.02
