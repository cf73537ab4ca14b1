"""Global optimisation by SCIP, for ``exact=True`` where our own proofs do not close.

Each quadratic row is rotated to the eigenvectors of its form, ``z = V's``, where it is a sum of
squares ``sum_k lambda_k z_k^2``: SCIP closes such programs that it cannot close in the original
coordinates. The L1 ball of the best point known bounds every variable.

SCIP's lower bound cannot be replayed, so it is kept apart as `SolverBounds`; that no point exists
at all counts only with a proof of our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.exceptions import MissingExtraError
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.proofs import Proofs, SeveralProofs, SolverBounds
from pertinent.proofs.verdict import GAP_NONCONVEX
from pertinent.solvers.curved.convex_concave import polish
from pertinent.solvers.curved.lagrange import prove_empty
from pertinent.solvers.curved.quadratic import prove_row
from pertinent.solvers.curved.settle import settle
from pertinent.solvers.curved.shifted import Local, Shifted, shift
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, Solved, Solver, Task, distance

#: SCIP satisfies rows up to this, absolutely and relatively.
FEASIBILITY = 1e-6


@dataclass(frozen=True)
class GlobalAnswer:
    """The best step SCIP knows (None if it found none) and the bound it claims on its cost."""

    step: FloatArray | None
    bound: float
    status: str


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
    bound = answer.proofs.bounds(task.cell, task.centers, task.weights, task.lower, task.upper)
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
        better, claimed[k] = found.step, shifted.base[i] + found.bound
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
    known = ours.bounds(task.cell, task.centers, task.weights, task.lower, task.upper)
    more = np.flatnonzero(claimed > known[rows])  # a claim that adds nothing would only be doubted
    parts.append((rows[more], SolverBounds(claimed[more], "SCIP")))
    return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)))


def _settled(shifted: Shifted, i: int, step: FloatArray) -> FloatArray | None:
    """Return the point of SCIP's step, which may violate rows by its tolerance, made exact."""
    exact = polish(shifted.row(i), step)
    return settle(shifted, i, step if exact is None else exact.step)


def solve_scip(
    local: Local, incumbent: FloatArray | None, gap: float, time_limit: float
) -> GlobalAnswer:
    """Return SCIP's answer to one problem."""
    scip = _import()
    model = scip.Model()
    model.hideOutput()
    model.setParam("limits/time", float(time_limit))
    model.setParam("limits/gap", float(gap))
    model.setParam("parallel/maxnthreads", 1)
    model.setParam("randomization/randomseedshift", 0)
    radius = np.inf if incumbent is None else float(np.abs(incumbent).sum()) * (1 + 1e-5)
    steps, costs = _variables(model, local, radius)
    if np.isfinite(radius):
        model.addCons(scip.quicksum(costs) <= radius)
    for k in range(local.n_rows):
        _add_row(scip, model, local, k, steps, radius)
    if incumbent is not None:
        _suggest(model, steps, costs, incumbent)
    if not run_scip(model):
        return GlobalAnswer(None, 0.0, "error in the solver")
    status = str(model.getStatus())
    if status == "infeasible":
        # With an incumbent this says that nothing lies within its own (slightly larger) ball.
        return GlobalAnswer(None, np.inf if incumbent is None else radius / (1 + 1e-5), status)
    bound = max(float(model.getDualbound()), 0.0)
    if incumbent is not None:
        bound = min(bound, float(np.abs(incumbent).sum()))
    if not model.getNSols():
        return GlobalAnswer(None, bound, status)
    step = np.array([model.getVal(v) for v in steps])
    return GlobalAnswer(step, bound, status)


def run_scip(model: Any) -> bool:
    """Let SCIP solve; return False where it gives up with an error of its own.

    Its errors are bare exceptions that begin with its name. One row's numerical trouble must not
    take the other rows with it.
    """
    try:
        model.optimize()
    except Exception as error:
        if not str(error).startswith("SCIP"):
            raise
        return False
    return True


def _import() -> Any:
    try:
        import pyscipopt
    except ImportError as error:
        raise MissingExtraError("pyscipopt", "global", "exact=True on quadratic cells") from error
    return pyscipopt


def _variables(model: Any, local: Local, radius: float) -> tuple[list[Any], list[Any]]:
    """Add s with its bounds, and t >= |s| with cost 1."""
    steps, costs = [], []
    for up, down in zip(local.up, local.down, strict=True):
        low, high = -min(float(down), radius), min(float(up), radius)
        s = model.addVar(
            lb=low if np.isfinite(low) else None, ub=high if np.isfinite(high) else None
        )
        t = model.addVar(lb=0.0, obj=1.0)
        model.addCons(t >= s)
        model.addCons(t >= -s)
        steps.append(s)
        costs.append(t)
    return steps, costs


def _add_row(scip: Any, model: Any, local: Local, k: int, steps: list[Any], radius: float) -> None:
    """Add one row, rotated to its eigenvectors if it is quadratic."""
    size = max(float(np.abs(local.slopes[k]).max()), abs(float(local.values[k])), 1e-12)
    terms = [float(g / size) * s for g, s in zip(local.slopes[k], steps, strict=True) if g != 0]
    if k < len(local.forms):
        values, vectors = np.linalg.eigh(local.forms[k])
        for value, vector in zip(values, vectors.T, strict=True):
            if abs(value) <= 1e-14 * np.abs(values).max():
                continue
            # |v's| <= max|v_i| * |s|_1
            end = float(np.abs(vector).max()) * radius
            z = model.addVar(
                lb=-end if np.isfinite(end) else None, ub=end if np.isfinite(end) else None
            )
            rotated = [float(v) * s for v, s in zip(vector, steps, strict=True) if abs(v) > 1e-15]
            model.addCons(scip.quicksum(rotated) == z)
            terms.append(float(value / size) * z * z)
    model.addCons(scip.quicksum(terms) <= -float(local.values[k] / size))


def _suggest(model: Any, steps: list[Any], costs: list[Any], incumbent: FloatArray) -> None:
    solution = model.createPartialSol()
    for s, t, value in zip(steps, costs, incumbent, strict=True):
        model.setSolVal(solution, s, float(value))
        model.setSolVal(solution, t, float(abs(value)))
    model.addSol(solution)
