"""Steps under curved rows without a search over cases: the nearest point of all, rounded.

The nearest point without steps costs no more than the nearest one on them, so its proof holds. Its
numbers are rounded away from the center, repaired where they left the region, and moved back step
by step as long as they stay inside. Where something is left between cost and bound, a search over
few cases follows (`pertinent.solvers.scip.mixed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import as_cell
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import is_over
from pertinent.geometry.task import distance
from pertinent.solvers.problem import SOLVED, TROUBLE, Solved, Solver, Task
from pertinent.solvers.tolerances import FREE, NO_WAY, ON_LATTICE

#: Moves that repair a point, and how many steps one of them may take.
REPAIRS, STRIDES = 60, (1, 8, 64)
#: Rounds over all columns, of moves back to the center.
ROUNDS = 4
#: Halvings of the way back to the center.
HALVINGS = 24


def without_steps(domain: Domain) -> Domain | None:
    """Return what is allowed if any number will do; None if that is everything."""
    loose = replace(domain, decimals=np.full(domain.dim, np.nan), gap=None)
    return loose if loose.confines else None


def solve_near(task: Task, solve: Solver) -> Solved:
    """Return points on steps near the nearest ones without, with the proofs of these.

    Parameters
    ----------
    task : Task
        With a domain.
    solve : callable
        Solves the task without steps.
    """
    assert task.domain is not None
    free = solve(replace(task, domain=without_steps(task.domain)))
    points, outcome = free.points.copy(), free.outcome.copy()
    rows = np.flatnonzero(outcome == SOLVED)
    if len(rows):
        some = task.take(rows)
        found = _rounded(some, free.points[rows], solve)
        good = ~np.isnan(found).any(axis=1)
        points[rows], outcome[rows[~good]] = found, TROUBLE
    return Solved(points, outcome, free.proofs, free.believed(task))


def _rounded(task: Task, near: FloatArray, solve: Solver) -> FloatArray:
    """Return points on steps, NaN where none was found."""
    domain = task.domain
    assert domain is not None
    points = _inside(task, near)
    for j in domain.confined.tolist():
        x, c = points[:, j], task.centers[:, j]
        away = np.where(x > c, domain.ceil(j, x), domain.floor(j, x))
        back = np.where(x > c, domain.floor(j, x), domain.ceil(j, x))
        within = (away >= task.lower[:, j]) & (away <= task.upper[:, j])
        points[:, j] = np.where(x == c, x, np.where(within, away, back))
    points = _rest_solved(task, domain.completed(points), solve)
    points = _repaired(task, domain.completed(points))
    good = _are_good(task, points)
    points[~good] = np.nan
    rows = np.flatnonzero(good)
    if len(rows):
        points[rows] = moved_back(task.take(rows), points[rows])
    return points


def _inside(task: Task, points: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(points, task.lower), task.upper)


def _are_good(task: Task, points: FloatArray) -> BoolArray:
    assert task.domain is not None
    within = ((points >= task.lower) & (points <= task.upper)).all(axis=1)
    return np.asarray(within & task.region.contains(points) & ~task.domain.violation(points))


def _rest_solved(task: Task, points: FloatArray, solve: Solver) -> FloatArray:
    """Solve for the numbers that have no steps, the others held."""
    domain = task.domain
    assert domain is not None
    held = np.zeros(domain.dim, dtype=bool)
    held[domain.lattice] = held[domain.in_group] = True
    held |= domain.follows
    if held.all() or not len(domain.lattice):
        return points
    low, high = np.where(held, points, task.lower), np.where(held, points, task.upper)
    found = solve(replace(task, lower=low, upper=high, domain=without_steps(domain)))
    best = np.where((found.outcome == SOLVED)[:, None], found.points, points)
    best = domain.completed(best)
    return np.where(domain.violation(best)[:, None], points, best)


def _repaired(task: Task, points: FloatArray) -> FloatArray:
    """Move points into the cell, each time by the step that gains most for its cost."""
    domain = task.domain
    assert domain is not None
    points, cell = points.copy(), as_cell(task.region)
    if cell is None:
        return points
    for _ in range(REPAIRS):
        over = cell.violation(points)
        rows = np.flatnonzero(over > 0)
        if not len(rows):
            break
        some, own = task.take(rows), points[rows]
        options = np.stack([own, *_neighbours(some, own)])
        many = options.reshape(-1, options.shape[2])
        wrong = np.stack([_is_out(some, one) for one in options])
        gain = over[rows] - cell.violation(many).reshape(len(options), -1)
        price = np.stack([distance(one, some.centers, some.weights) for one in options])
        extra = np.maximum(price - price[0], 0.0) + FREE
        worth = np.where(wrong | (gain <= 0), -np.inf, gain / extra)
        best = worth.argmax(axis=0)
        moves = np.isfinite(worth.max(axis=0))
        if not moves.any():
            break
        points[rows[moves]] = options[best, np.arange(len(rows))][moves]
    return points


def _is_out(task: Task, points: FloatArray) -> BoolArray:
    assert task.domain is not None
    out = ((points < task.lower) | (points > task.upper)).any(axis=1)
    return np.asarray(out | task.domain.violation(points))


def _neighbours(task: Task, points: FloatArray) -> Iterator[FloatArray]:
    """Yield the points with one number moved by some steps."""
    domain = task.domain
    assert domain is not None
    for j, grid in domain.steps.items():
        for stride in STRIDES:
            for sign in (-stride, stride):
                moved = points.copy()
                moved[:, j] = grid.nearest(points[:, j] + sign * grid.step)
                yield domain.completed(moved)


def moved_back(task: Task, points: FloatArray, region: Cell | Region | None = None) -> FloatArray:
    """Return points of a region moved back to their centers as far as they stay inside.

    No number of the result can move one step closer to its center by itself; one without steps,
    by no more than a share `NO_WAY` of its way. Unless the time is over before.
    """
    domain, region = task.domain, task.region if region is None else region
    assert domain is not None
    task, points = replace(task, region=region), points.copy()
    for _ in range(ROUNDS):
        moved = False
        order = np.argsort(-task.weights, kind="stable")
        for j in order[~(domain.in_group | domain.follows)[order]].tolist():
            if is_over():
                return points
            along = _back_along if j in domain.steps else _slid_back
            moved |= along(task, domain, points, j)
        if not moved:
            break
    return points


def _back_along(task: Task, domain: Domain, points: FloatArray, j: int) -> bool:
    """Move one column back, by less and less until one step; return whether anything moved."""
    grid, any_ = domain.steps[j], False
    rows = np.flatnonzero(points[:, j] != task.centers[:, j])
    share, center = 1.0, task.centers[:, j]
    for _ in range(HALVINGS):
        if not len(rows):
            break
        way = center[rows] - points[rows, j]
        count = np.maximum(1.0, np.floor(share * np.abs(way) / grid.step + ON_LATTICE))
        tried = points[rows].copy()
        near = grid.nearest(points[rows, j] + np.sign(way) * count * grid.step)
        beyond = np.abs(near - points[rows, j]) >= np.abs(way)
        tried[:, j] = np.where(beyond, center[rows], near)
        tried = domain.completed(tried)
        good = _are_good(_some(task, rows), tried)
        points[rows[good]] = tried[good]
        any_ |= bool(good.any())
        # One step was too far: this column is done.
        done = (~good & (count == 1)) | (points[rows, j] == center[rows])
        rows, share = rows[~done], share / 2
    return any_


def _slid_back(task: Task, domain: Domain, points: FloatArray, j: int) -> bool:
    """Move one column without steps back as far as halving finds; return whether any moved."""

    def good(rows: IntArray, values: FloatArray) -> BoolArray:
        tried = points[rows].copy()
        tried[:, j] = values
        return _are_good(_some(task, rows), domain.completed(tried))

    rows = np.flatnonzero(points[:, j] != task.centers[:, j])
    if len(rows):
        x, own = points[rows, j], task.centers[rows, j]
        rows = rows[good(rows, x + NO_WAY * (own - x))]
    if not len(rows):
        return False
    inside, far = points[rows, j], task.centers[rows, j]
    inside = np.where(good(rows, far), far, inside)
    for _ in range(HALVINGS):
        middle = inside + (far - inside) / 2
        ok = good(rows, middle)
        inside, far = np.where(ok, middle, inside), np.where(ok, far, middle)
    points[rows, j] = inside
    points[rows] = domain.completed(points[rows])
    return True


def _some(task: Task, rows: IntArray) -> Task:
    return task if len(rows) == len(task) else task.take(rows)
