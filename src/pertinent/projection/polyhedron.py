"""Several linear rows: the bounded dual simplex, with HiGHS for the rows it cannot settle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pertinent.certificate import LinearProofs
from pertinent.exceptions import InputError
from pertinent.projection import lockstep
from pertinent.projection.highs import solve_highs
from pertinent.projection.lockstep import Steps
from pertinent.projection.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task, distance
from pertinent.regions import row_products

_OUTCOMES = np.zeros(4, dtype=np.int8)
_OUTCOMES[lockstep.OPTIMAL] = SOLVED
_OUTCOMES[lockstep.INFEASIBLE] = EMPTY
_OUTCOMES[lockstep.TROUBLE] = TROUBLE
_OUTCOMES[lockstep.CUT] = CUT


def solve_polyhedron(task: Task) -> Solved:
    """Return the optimum of every row, with multipliers or Farkas rays."""
    cell, start = task.cell, task.start()
    possible = ~(task.lower > task.upper).any(axis=1)
    up = np.maximum(task.upper - start, 0.0)
    down = np.maximum(start - task.lower, 0.0)
    demand = row_products(start, cell.G) - cell.h
    # What was already spent to enter the bounds counts against the cutoff.
    cutoff = task.cutoff - distance(start, task.centers, task.weights)
    steps = _engine(task.options.engine)(
        cell.G, task.weights, demand, up, down, cutoff if np.isfinite(cutoff).any() else None
    )
    outcome = _OUTCOMES[steps.status]
    moved, multipliers = steps.step.copy(), steps.multipliers.copy()
    trouble = np.flatnonzero((outcome == TROUBLE) & possible)
    if len(trouble):
        again = solve_highs(cell.G, task.weights, demand[trouble], up[trouble], down[trouble])
        moved[trouble], multipliers[trouble] = again.step, again.multipliers
        outcome[trouble] = _OUTCOMES[again.status]
    outcome[~possible] = EMPTY
    points = np.clip(start + moved, task.lower, task.upper)
    points[outcome != SOLVED] = np.nan
    return Solved(points, outcome, LinearProofs(multipliers, outcome == EMPTY))


def _engine(name: str) -> Callable[..., Steps]:
    if name == "numpy":
        return lambda G, w, r, up, down, cutoff: lockstep.solve_lockstep(
            G, w, r, up, down, cutoff=cutoff
        )
    if name == "compiled":
        from pertinent.projection.compiled import solve_compiled

        return lambda G, w, r, up, down, cutoff: solve_compiled(G, w, r, up, down, cutoff=cutoff)
    if name == "highs":
        return lambda G, w, r, up, down, cutoff: solve_highs(G, w, r, up, down)
    raise InputError(f"engine must be 'numpy', 'compiled' or 'highs'. Got {name!r} instead.")
