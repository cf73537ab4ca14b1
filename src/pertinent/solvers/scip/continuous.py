"""Global optimisation by SCIP, for ``exact=True`` where our own proofs do not close.

The L1 ball of the best point known bounds every variable.

SCIP's lower bound cannot be replayed, so it is kept apart as `SolverBounds`; that no point exists
at all counts only with a proof of our own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs, SeveralProofs, SolverBounds
from pertinent.proofs.verdict import GAP_NONCONVEX
from pertinent.solvers.curved.convex_concave import polish
from pertinent.solvers.curved.lagrange import prove_empty
from pertinent.solvers.curved.quadratic import prove_row
from pertinent.solvers.curved.settle import settle
from pertinent.solvers.curved.shifted import Local, Shifted, shift
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, Solved, Solver, Task
from pertinent.solvers.programs.scip import ScipAnswer, ScipProgram

#: SCIP looks at a ball this much larger than that of the best point known.
LARGER = 1 + 1e-5


def exact_if_asked(solver: Solver) -> Solver:
    """Return the solver followed by SCIP on the rows left open, if ``options.exact`` is set."""

    def solve(task: Task) -> Solved:
        answer = solver(task)
        return close_gaps(task, answer) if task.options.exact else answer

    return solve


def close_gaps(task: Task, answer: Solved) -> Solved:
    """Return the answer with open rows solved by SCIP; proofs of our own come first."""
    cost = distance(answer.points, task.centers, task.weights)
    cost = np.where(answer.outcome == SOLVED, cost, np.inf)
    bound = answer.proofs.bounds(task)
    gap = min(task.options.gap, GAP_NONCONVEX)
    open_ = (bound < cost * (1 - gap)) & np.isfinite(np.minimum(cost, bound))
    # What was cut off is proved to lose against another piece: nothing is open about it.
    rows = np.flatnonzero(open_ & (answer.outcome != CUT))
    if not len(rows):
        return answer
    points, outcome = answer.points.copy(), answer.outcome.copy()
    parts: list[tuple[IntArray, Proofs]] = [(np.arange(len(task)), answer.proofs)]
    claimed = np.zeros(len(rows))
    shifted = shift(task)
    for k, i in enumerate(rows):
        step = (points[i] - shifted.start[i]) * task.weights if np.isfinite(cost[i]) else None
        found = solve_scip(shifted.row(int(i)), step, task.options.gap, task.options.time_limit)
        better, claimed[k] = found.values, shifted.base[i] + found.bound
        if np.isinf(found.bound):
            # That nothing exists is said only with a proof of our own: SCIP's word is dropped.
            claimed[k] = 0.0
            proof = prove_empty(shifted, int(i))
            if proof is not None:
                outcome[i] = EMPTY
                parts.append((np.array([i]), proof))
        if better is not None and (step is None or np.abs(better).sum() < np.abs(step).sum()):
            point = _settled(shifted, int(i), better)
            if (
                point is not None
                and distance(point[None], task.centers[i : i + 1], task.weights)[0] < cost[i]
            ):
                points[i], outcome[i] = point, SOLVED
                own = prove_row(shifted, int(i), (point - shifted.start[i]) * task.weights)
                parts.append((np.array([i]), own))
    ours = SeveralProofs(len(task), tuple(parts))
    known = ours.bounds(task)
    more = np.flatnonzero(claimed > known[rows])  # a claim that adds nothing would only be doubted
    parts.append((rows[more], SolverBounds(claimed[more], "SCIP")))
    return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)))


def _settled(shifted: Shifted, i: int, step: FloatArray) -> FloatArray | None:
    """Return the point of SCIP's step, which may violate rows by its tolerance, made exact."""
    exact = polish(shifted.row(i), step)
    return settle(shifted, i, step if exact is None else exact.step)


def solve_scip(
    local: Local, incumbent: FloatArray | None, gap: float, time_limit: float
) -> ScipAnswer:
    """Return SCIP's answer to one problem: the best step and a bound on its cost."""
    program = ScipProgram("exact=True on quadratic cells", gap, time_limit)
    known = np.inf if incumbent is None else float(np.abs(incumbent).sum())
    radius = known * LARGER
    steps, costs = [], []
    for up, down in zip(local.up, local.down, strict=True):
        steps.append(program.variable(-min(float(down), radius), min(float(up), radius)))
        costs.append(program.distance(steps[-1], 0.0, 1.0))
    if np.isfinite(radius):
        program.add(program.total(costs) <= radius)
    for k, (slope, value) in enumerate(zip(local.slopes, local.values, strict=True)):
        form = local.forms[k] if k < len(local.forms) else None
        size = max(float(np.abs(slope).max()), abs(float(value)), 1e-12)
        program.add_quadratic(form, slope, value, size, steps, radius)
    if incumbent is not None:
        program.suggest(zip([*steps, *costs], [*incumbent, *np.abs(incumbent)], strict=True))
    answer = program.solve(steps)
    # With an incumbent "infeasible" says that nothing lies within its own (slightly larger) ball.
    return replace(answer, bound=min(answer.bound, known))
