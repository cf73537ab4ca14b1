"""Projections onto one linear cell, by SciPy's linear programs: an independent judge."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def nearest(region, center, lower, upper):
    """An independent LP: min sum t, |x - c| <= t, G x <= h."""
    cell = region.cells[0]
    d, eye = cell.dim, np.eye(cell.dim)
    A = np.vstack([np.c_[cell.G, 0 * cell.G], np.c_[eye, -eye], np.c_[-eye, -eye]])
    bounds = [*zip(lower, upper, strict=True), *[(0, None)] * d]
    found = linprog(
        np.r_[np.zeros(d), np.ones(d)], A_ub=A, b_ub=np.r_[cell.h, center, -center], bounds=bounds
    )
    return found.fun
