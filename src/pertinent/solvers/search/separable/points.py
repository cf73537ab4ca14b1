"""Allowed points near where a sum is least: pulled back as far as the rows let them."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.region import Cell
from pertinent.solvers.search.separable.sums import Cases
from pertinent.solvers.tolerances import CHOICE_GROWTHS, ROOT_ROUNDING

#: Numbers of one point that are pulled back, one after the other.
PULLED = 3


def pulled_back(cases: Cases, steps: FloatArray, first: IntArray, cell: Cell) -> FloatArray:
    """Return points of the cell and its domain, NaN where none was found.

    Parameters
    ----------
    cases : Cases
    steps : ndarray of shape (m, d)
        From the starts, in cost.
    first : ndarray of int, shape (m,)
        The columns that are pulled back first.
    cell : Cell
    """
    steps = steps.copy()
    every = np.arange(len(steps))
    number = ~cases.rows.domain.in_group
    size = np.where(number, np.abs(steps), 0.0)
    size[every, first] = np.where(number[first], np.inf, 0.0)
    order = np.argsort(-size, axis=1, kind="stable")
    _pull(cases, steps, order[:, 0])
    _choose_again(cases, steps)
    for k in range(1, min(PULLED, steps.shape[1])):
        _pull(cases, steps, order[:, k])
    return _allowed(cases, steps, cell)


def _pull(cases: Cases, steps: FloatArray, column: IntArray) -> None:
    """Move one number of each point towards its start, up to the edge of its rows; in place."""
    rows, every = cases.rows, np.arange(len(steps))
    row, here = cases.boxes.row, steps[every, column]
    low, high = cases.low[every, column], cases.high[every, column]
    near = np.minimum(np.maximum(0.0, low), high)
    a, g = rows.square[:, column].T, rows.slope[row, :, column]
    rest = rows.values(row, steps) - (a * here[:, None] ** 2 + g * here[:, None])
    farthest = near.copy()
    for k in range(a.shape[1]):
        root = _nearest_root(a[:, k], g[:, k], rest[:, k], near, here)
        farthest = np.where(np.abs(root - near) > np.abs(farthest - near), root, farthest)
    at = farthest[:, None]
    size = np.abs(rest) + np.abs(a) * at**2 + np.abs(g * at)
    good = ((a * at**2 + g * at + rest) <= ROOT_ROUNDING * size).all(axis=1)
    good &= ~rows.domain.in_group[column]
    steps[every[good], column[good]] = farthest[good]


def _nearest_root(
    a: FloatArray, g: FloatArray, c: FloatArray, near: FloatArray, far: FloatArray
) -> FloatArray:
    """Return where ``a t^2 + g t + c`` is 0, from near to far; near where it is at most 0 there."""
    with np.errstate(all="ignore"):
        spread = np.sqrt(np.maximum(g * g - 4 * a * c, 0.0))
        tail = -(g + np.where(g >= 0, spread, -spread)) / 2
        roots = np.stack([tail / a, c / tail])
    low, high = np.minimum(near, far), np.maximum(near, far)
    roots = np.where(np.isfinite(roots) & (roots >= low) & (roots <= high), roots, far)
    best = np.abs(roots - near).argmin(axis=0)[None]
    root = np.take_along_axis(roots, best, axis=0)[0]
    return np.where(a * near * near + g * near + c <= 0, near, root)


def _choose_again(cases: Cases, steps: FloatArray) -> None:
    """Take the cheapest category of each group that the rows let points take, in place."""
    rows, row = cases.rows, cases.boxes.row
    for group in rows.domain.groups:
        slope, chosen = rows.slope[row][:, :, group], steps[:, group] == 1.0
        others = rows.values(row, steps) - (slope * steps[:, None, group]).sum(axis=2)
        fits = (others[:, :, None] + slope <= 0).all(axis=1) & (cases.boxes.upper[:, group] >= 1.0)
        cost = np.where(fits | chosen, rows.choice[row][:, group], np.inf)
        steps[:, group] = np.arange(len(group)) == cost.argmin(axis=1)[:, None]


def _allowed(cases: Cases, steps: FloatArray, cell: Cell) -> FloatArray:
    """Return allowed points of steps, numbers on steps rounded away from the start."""
    row, domain = cases.boxes.row, cases.rows.domain
    points, own = np.full(steps.shape, np.nan), domain.take(row)
    left = np.arange(len(steps))
    for growth in CHOICE_GROWTHS:
        some = _at(cases.take(left), steps[left] * (1.0 + growth))
        good = cell.contains(some) & ~own.take(left).violation(some)
        points[left[good]] = some[good]
        left = left[~good]
        if not len(left):
            break
    return points


def _at(cases: Cases, steps: FloatArray) -> FloatArray:
    """Return the points of steps; a number that is confined takes the next allowed value."""
    rows, boxes, domain = cases.rows, cases.boxes, cases.rows.domain
    start, j = rows.start[boxes.row], domain.confined
    points = np.clip(rows.points(boxes.row, steps), boxes.lower, boxes.upper)
    if len(j):
        value = points[:, j]
        up, down = domain.ceil(j, value, boxes.row), domain.floor(j, value, boxes.row)
        points[:, j] = np.where(value > start[:, j], up, np.where(value < start[:, j], down, value))
        points[:, j] = np.clip(points[:, j], boxes.lower[:, j], boxes.upper[:, j])
    return np.where(domain.in_group, np.round(points), points)
