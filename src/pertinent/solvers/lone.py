"""Projection onto a region of a single cell: one solver, one proof, no search."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed
from pertinent.geometry.region import Cell
from pertinent.geometry.task import distance
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL, Block, Certificate
from pertinent.solvers.linear.uniqueness import Decision, decide_unique
from pertinent.solvers.problem import SOLVED, Method, Projections, Solved, Task


def project_onto_cell(task: Task, method: Method, proved_on: Cell) -> Projections:
    """Return the nearest points of the task's cell; the same as a search over one piece gives.

    Bounds speak of the cell ``proved_on``: the task's own, or the same without its margin.
    """
    n = len(task)
    answer = method.solve(task)
    points, objective = answer.points, distance(answer.points, task.centers, task.weights)
    found = (answer.outcome == SOLVED) & (objective < np.inf)
    everyone = np.count_nonzero(found) == n
    if not everyone:
        points = np.where(found[:, None], points, np.nan)
        objective = np.where(found, objective, np.nan)
    proved = answer.proofs.bounds(task.on(proved_on))
    proved = np.maximum(proved, 0.0)
    decision = _unique(task, None if everyone else found, points, answer)
    return Projections(
        points=points,
        objective=objective,
        bound=np.fmin(proved, objective),  # the objective is NaN where there is no point
        status=_status(task, None if everyone else found, points, objective, proved),
        piece=np.where(found, 0, -1),
        unique=decision.unique,
        second=decision.second,
        certificate=Certificate(n, (Block(0, np.arange(n), answer.proofs), *decision.block(0))),
        methods=(method,),
        solved=n,
    )


def _status(
    task: Task,
    found: BoolArray | None,
    points: FloatArray,
    objective: FloatArray,
    proved: FloatArray,
) -> CodeArray:
    """Return the status of each row; ``found`` says which have a point, None that all have."""
    gap = GAP_CONVEX if task.cell.is_convex and task.domain is None else GAP_NONCONVEX
    if found is None:
        closed = is_closed(objective, proved, points, task.centers, task.weights, gap)
        return np.where(closed, OPTIMAL, FEASIBLE).astype(np.int8)
    with np.errstate(invalid="ignore"):
        closed = is_closed(objective, proved, points, task.centers, task.weights, gap)
    without = np.where(np.isinf(proved), INFEASIBLE, FAILED)
    return np.where(found, np.where(closed, OPTIMAL, FEASIBLE), without).astype(np.int8)


def _unique(task: Task, found: BoolArray | None, points: FloatArray, answer: Solved) -> Decision:
    if found is None and task.options.unique:
        return decide_unique(task, points, answer.proofs)
    decision = Decision.none(len(task))
    if found is not None and found.any() and task.options.unique:
        rows = np.flatnonzero(found)
        decision.update(
            rows, decide_unique(task.take(rows), points[rows], answer.proofs.take(rows))
        )
    return decision
