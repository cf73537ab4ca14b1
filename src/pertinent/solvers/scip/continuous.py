"""Global optimisation by SCIP, for ``exact=True`` where our own proofs do not close.

The L1 ball of the best point known bounds every variable.

SCIP's lower bound cannot be replayed, so it is kept apart as `SolverBounds`; that no point exists
at all counts only with a proof of our own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.running import is_over
from pertinent.proofs import SolverBounds
from pertinent.solvers.curved.convex_concave import polish
from pertinent.solvers.curved.copositive.quadratic import prove_row
from pertinent.solvers.curved.lagrange import prove_empty
from pertinent.solvers.curved.shifted import Local, Shifted, shift
from pertinent.solvers.curved.stationary import point_inside
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.programs.scip import ScipAnswer, ScipProgram
from pertinent.solvers.stages import Part, Stage, spread
from pertinent.solvers.tolerances import LEAST_SIZE, SCIP_LARGER


def _if_asked(task: Task) -> BoolArray:
    return np.full(len(task), task.options.exact)


def _close_gaps(task: Task, so_far: Solved) -> Solved:
    """Return what SCIP finds and claims, row by row; proofs of our own come first."""
    n, shifted = len(task), shift(task)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    parts: list[Part] = []
    claimed, bound = np.zeros(n), so_far.believed(task).copy()
    for i in range(n):
        if is_over():
            break
        known = so_far.outcome[i] == SOLVED
        step = (so_far.points[i] - shifted.start[i]) * task.weights if known else None
        found = solve_scip(shifted.row(i), step, task.options.gap, task.options.time_limit)
        claimed[i] = shifted.base[i] + found.bound
        if np.isinf(found.bound):
            # That nothing exists is said only with a proof of our own: SCIP's word is dropped.
            claimed[i] = 0.0
            proof = prove_empty(shifted, i)
            if proof is not None:
                outcome[i], bound[i] = EMPTY, np.inf
                parts.append((np.array([i]), proof))
        point = _better(shifted, i, found.values, step)
        if point is not None:
            points[i], outcome[i] = point, SOLVED
            step = (point - shifted.start[i]) * task.weights
            own, proved = prove_row(shifted, i, step, thoroughly=True)
            parts.append((np.array([i]), own))
            bound[i] = max(bound[i], proved)
    more = np.flatnonzero(claimed > bound)  # a claim that adds nothing would only be doubted
    parts.append((more, SolverBounds(claimed[more], "SCIP")))
    return Solved(points, outcome, spread(n, parts), np.maximum(bound, claimed))


#: SCIP, for the rows that are still open if ``options.exact`` is set.
EXACT_IF_ASKED = Stage(_close_gaps, _if_asked, to_the_gap_asked=True)


def _better(
    shifted: Shifted, i: int, step: FloatArray | None, known: FloatArray | None
) -> FloatArray | None:
    """Return the point of SCIP's step, made exact; None if it is no better than the known one."""
    if step is None or (known is not None and np.abs(step).sum() >= np.abs(known).sum()):
        return None
    # It may violate rows by SCIP's tolerance.
    exact = polish(shifted.row(i), step)
    return point_inside(shifted, i, step if exact is None else exact.step)


def solve_scip(
    local: Local, incumbent: FloatArray | None, gap: float, time_limit: float
) -> ScipAnswer:
    """Return SCIP's answer to one problem: the best step and a bound on its cost."""
    program = ScipProgram("exact=True on quadratic cells", gap, time_limit)
    known = np.inf if incumbent is None else float(np.abs(incumbent).sum())
    radius = known * SCIP_LARGER
    steps, costs = [], []
    for up, down in zip(local.up, local.down, strict=True):
        steps.append(program.variable(-min(float(down), radius), min(float(up), radius)))
        costs.append(program.distance(steps[-1], 0.0, 1.0))
    if np.isfinite(radius):
        program.add(program.total(costs) <= radius)
    for k, (slope, value) in enumerate(zip(local.slopes, local.values, strict=True)):
        form = local.forms[k] if k < len(local.forms) else None
        size = max(float(np.abs(slope).max()), abs(float(value)), LEAST_SIZE)
        program.add_quadratic(form, slope, value, size, steps, radius)
    if incumbent is not None:
        program.suggest(zip([*steps, *costs], [*incumbent, *np.abs(incumbent)], strict=True))
    answer = program.solve(steps)
    # With an incumbent "infeasible" says that nothing lies within its own (slightly larger) ball.
    return replace(answer, bound=min(answer.bound, known))
