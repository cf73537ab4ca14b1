"""Several linear rows: the bounded dual simplex, with HiGHS for the rows it cannot solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.region import row_products
from pertinent.geometry.task import distance
from pertinent.proofs import LinearProofs
from pertinent.solvers.linear.highs import solve_highs
from pertinent.solvers.linear.simplex import lockstep
from pertinent.solvers.linear.simplex.scaled import Asked, Steps
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task

#: Coefficients (cells times rows times features) that are looked at together.
STACKED = 1_000_000


def _asked(task: Task) -> Asked:
    """Return the task in the words of the simplex: steps from the start, in their rooms."""
    start = task.start()
    return Asked(
        task.cell.G,
        task.weights,
        row_products(start, task.cell.G) - task.cell.h,
        np.maximum(task.upper - start, 0.0),
        np.maximum(start - task.lower, 0.0),
        # What was already spent to enter the bounds counts against the cutoff.
        task.cutoff - distance(start, task.centers, task.weights),
    )


def solve_polyhedron(task: Task) -> Solved:
    """Return the optimum of every row, with multipliers or Farkas rays."""
    asked = _asked(task)
    return _answer(task, asked, _engine(task.options.engine)(asked))


def solve_polyhedra(tasks: Sequence[Task]) -> list[Solved]:
    """Return the optima of several cells: in lock step, small batches cost as much as one."""
    if tasks[0].options.engine != "numpy":
        return [solve_polyhedron(task) for task in tasks]
    answers: list[Solved] = []
    for some in _stacks(tasks):
        if len(some) == 1:
            answers.append(solve_polyhedron(some[0]))
        else:
            answers += _solve_stack(some)
    return answers


def _stacks(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Yield runs of tasks whose cells have as many rows, and are not too large together."""
    stack: list[Task] = []
    for task in tasks:
        shape = task.cell.G.shape
        fits = (len(stack) + 1) * shape[0] * shape[1] <= STACKED
        if stack and not (fits and shape == stack[0].cell.G.shape):
            yield stack
            stack = []
        stack.append(task)
    yield stack


def _solve_stack(tasks: Sequence[Task]) -> list[Solved]:
    asked = [_asked(task) for task in tasks]
    answers = zip(tasks, asked, lockstep.solve_cells(asked), strict=True)
    return [_answer(task, own, steps) for task, own, steps in answers]


def _answer(task: Task, asked: Asked, steps: Steps) -> Solved:
    """Return points and proofs; what the simplex could not solve, HiGHS does."""
    possible = ~(task.lower > task.upper).any(axis=1)
    outcome = steps.status.copy()
    moved, multipliers = steps.step.copy(), steps.multipliers.copy()
    trouble = np.flatnonzero((outcome == TROUBLE) & possible)
    if len(trouble):
        again = solve_highs(asked[trouble])
        moved[trouble], multipliers[trouble] = again.step, again.multipliers
        outcome[trouble] = again.status
    outcome[~possible] = EMPTY
    points = np.clip(task.start() + moved, task.lower, task.upper)
    points[outcome != SOLVED] = np.nan
    return Solved(points, outcome, LinearProofs(multipliers, outcome == EMPTY))


def _engine(name: str) -> Callable[[Asked], Steps]:
    if name == "numpy":
        return lockstep.solve_lockstep
    if name == "compiled":
        from pertinent.solvers.linear.simplex.compiled import solve_compiled

        return solve_compiled
    if name == "highs":
        return solve_highs
    raise InputError(f"engine must be 'numpy', 'compiled' or 'highs'. Got {name!r} instead.")
