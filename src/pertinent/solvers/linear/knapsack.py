"""Bounds only, and one half-space with bounds: solved by looking, not by searching.

    min  sum_i w_i |x_i - c_i|   s.t.  g'x <= h,  lower <= x <= upper

is a fractional knapsack: the features that lower ``g'x`` most per unit of cost move first, each
as far as its bound allows, until the inequality holds. The order is the same for every row.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry import task as geometry
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import row_products
from pertinent.proofs import LinearProofs
from pertinent.solvers.problem import EMPTY, SOLVED, Solved, Task

#: Up to this many rows are filled one by one.
ROWS_ONE_BY_ONE = 8


def solve_bounds(task: Task) -> Solved:
    """Return the centers clipped into their bounds."""
    n = len(task)
    empty = np.asarray((task.lower > task.upper).any(axis=1))
    outcome = np.where(empty, EMPTY, SOLVED).astype(np.int8)
    points = task.start()
    points[empty] = np.nan
    return Solved(points, outcome, LinearProofs(np.zeros((n, 0)), empty))


def solve_halfspace(task: Task) -> Solved:
    """Return the fractional-knapsack optimum of every row."""
    cell, points = task.cell, task.start()
    demand = (row_products(points, cell.G) - cell.h)[:, 0]
    multiplier, empty = _fill(task, points, demand)
    outcome = np.zeros(len(points), dtype=np.int8)  # SOLVED
    contradictory = task.lower > task.upper
    if np.count_nonzero(empty) or np.count_nonzero(contradictory):
        # What no movement could satisfy proves itself: the row alone is a Farkas ray.
        multiplier[empty] = 1.0
        empty |= contradictory.any(axis=1)
        points[empty], outcome[empty] = np.nan, EMPTY
    return Solved(points, outcome, LinearProofs(multiplier[:, None], empty))


def look_at_halfspace(task: geometry.Task) -> tuple[FloatArray, float | None]:
    """Return the optimum of a single row and its multiplier; no multiplier where there is none."""
    cell, point = task.cell, task.start()
    demand = row_products(point, cell.G).item() - cell.h.item()
    if np.count_nonzero(task.lower > task.upper):
        return point, None
    if not demand > 0:
        return point, 0.0
    multiplier, unmet = _fill_one(task, 0, point[0], demand)
    return point, None if unmet else multiplier


def _fill(task: Task, points: FloatArray, demand: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Move features in order of gain per cost, in place; return multipliers and unmet rows."""
    multiplier, unmet = np.zeros(len(points)), np.zeros(len(points), dtype=bool)
    active = (demand > 0).nonzero()[0]
    if 0 < len(active) <= ROWS_ONE_BY_ONE:
        for k in active.tolist():
            multiplier[k], unmet[k] = _fill_one(task, k, points[k], demand.item(k))
    elif len(active):
        _fill_many(task, points, active, demand[active], multiplier, unmet)
    return multiplier, unmet


def _fill_many(
    task: Task,
    points: FloatArray,
    active: IntArray,
    need: FloatArray,
    multiplier: FloatArray,
    unmet: BoolArray,
) -> None:
    """Move features of the active rows, all rows at once."""
    g = task.cell.G[0]
    gain = np.abs(g)
    for i in task.cell.per_cost(task.weights).orders[0]:
        if not len(active):
            break
        here = points[active, i]
        # g_i > 0: going down helps, g_i < 0: going up helps.
        end = task.lower[active, i] if g[i] > 0 else task.upper[active, i]
        room = np.abs(end - here)
        move = np.minimum(room, need / gain[i])
        reached = move < room
        points[active, i] = np.where(reached, here - np.sign(g[i]) * move, end)
        multiplier[active[move > 0]] = task.weights[i] / gain[i]
        need = need - move * gain[i]
        going_on = ~reached & (need > 0)
        active, need = active[going_on], need[going_on]
    unmet[active] = True


def _fill_one(task: geometry.Task, k: int, point: FloatArray, need: float) -> tuple[float, bool]:
    """Do the same, to the bit, one number at a time: few rows pay for each array.

    Return the multiplier of row k, and whether it is not met.
    """
    slopes, weights, multiplier = task.cell.G[0], task.weights, 0.0
    ends = task.lower[k], task.upper[k]
    for i in task.cell.per_cost(weights).orders[0]:
        slope, x = slopes.item(i), point.item(i)
        end = ends[slope < 0].item(i)
        gain, room = abs(slope), abs(end - x)
        move = min(room, need / gain)
        if move > 0:
            multiplier = weights.item(i) / gain
        if move < room:
            point[i] = x - move if slope > 0 else x + move
            return multiplier, False
        point[i] = end
        need -= move * gain
        if not need > 0:
            return multiplier, False
    return multiplier, True
