"""Tolerances that several solvers share; those of one module alone stand in it.

Each has a name for what it means. `tests/solvers/test_tolerances.py` holds the inequalities between
them, and between them and those of the proofs.
"""

from __future__ import annotations

#: A row of a curved cell counts as closed at this relative gap between its cost and its bound.
CLOSED_GAP = 1e-4
#: Entries of a form off its diagonal, up to this share of the largest, are rounding.
NEARLY_DIAGONAL = 1e-12
