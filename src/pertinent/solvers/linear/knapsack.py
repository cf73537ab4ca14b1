"""Bounds only, and one half-space with bounds: solved by looking, not by searching.

    min  sum_i w_i |x_i - c_i|   s.t.  g'x <= h,  lower <= x <= upper

is a fractional knapsack: the features that lower ``g'x`` most per unit of cost move first, each
as far as its bound allows, until the inequality holds. The order is the same for every row.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import row_products
from pertinent.proofs import LinearProofs
from pertinent.solvers.problem import EMPTY, SOLVED, Solved, Task

#: Up to this many rows are filled one by one.
FEW = 8


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
    g, h = task.cell.G[0], task.cell.h[0]
    points = task.start()
    demand = row_products(points, task.cell.G)[:, 0] - h
    multiplier, empty = _fill(task, g, points, demand)
    outcome = np.zeros(len(task), dtype=np.int8)  # SOLVED
    contradictory = task.lower > task.upper
    if np.count_nonzero(empty) or np.count_nonzero(contradictory):
        # What no movement could satisfy proves itself: the row alone is a Farkas ray.
        multiplier[empty] = 1.0
        empty |= contradictory.any(axis=1)
        points[empty], outcome[empty] = np.nan, EMPTY
    return Solved(points, outcome, LinearProofs(multiplier[:, None], empty))


def _fill(
    task: Task, g: FloatArray, points: FloatArray, demand: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Move features in order of gain per cost, in place; return multipliers and unmet rows."""
    multiplier, unmet = np.zeros(len(task)), np.zeros(len(task), dtype=bool)
    active = (demand > 0).nonzero()[0]
    if not len(active):
        return multiplier, unmet
    gain, need = np.abs(g), demand[active]
    order = np.argsort(-gain / task.weights, kind="stable")[: np.count_nonzero(g)]
    if len(task) <= FEW:
        return _fill_few(task, g, order, points, demand)
    for i in order:
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
    return multiplier, unmet


def _fill_few(
    task: Task, g: FloatArray, order: IntArray, points: FloatArray, demand: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Do the same, to the bit, one row and one number at a time: few rows pay for each array."""
    multiplier, unmet = np.zeros(len(task)), np.zeros(len(task), dtype=bool)
    slopes, weights, features = g.tolist(), task.weights.tolist(), order.tolist()
    for k in (demand > 0).nonzero()[0].tolist():
        need, unmet[k] = demand.item(k), True
        here, lower, upper = points[k].tolist(), task.lower[k].tolist(), task.upper[k].tolist()
        for i in features:
            slope, x = slopes[i], here[i]
            end = lower[i] if slope > 0 else upper[i]
            gain, room = abs(slope), abs(end - x)
            move = min(room, need / gain)
            if move > 0:
                multiplier[k] = weights[i] / gain
            if move < room:
                points[k, i] = x - move if slope > 0 else x + move
                unmet[k] = False
                break
            points[k, i] = end
            need -= move * gain
            if not need > 0:
                unmet[k] = False
                break
    return multiplier, unmet
