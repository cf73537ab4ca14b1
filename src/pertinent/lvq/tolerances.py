"""Numbers that training works with, in one table."""

from __future__ import annotations

#: The ε of the cost, in units of the total variance of the training data.
DEGENERACY = 1e-9
#: Squares of larger or smaller numbers leave the range of float64.
LARGEST, SMALLEST = 1e150, 1e-150
