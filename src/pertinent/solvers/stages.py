"""What is still open, try this next: a solver made of several attempts, merged in one place.

A row is closed if its bound meets the cost of its point, if it is proved to have no point, or if
it was cut off. Each stage is asked only about the rows that those before it left open; it may find
a better point, a stronger proof, or both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.geometry.gaps import GAP_NONCONVEX
from pertinent.geometry.running import is_over
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs, SeveralProofs
from pertinent.solvers.problem import CUT, SOLVED, TROUBLE, Solved, Solver, Task

#: Given the task of some rows and what is known of them, returns what it finds for these rows.
Attempt = Callable[[Task, Solved], Solved]
Part = tuple[IntArray, Proofs]


def _every_row(task: Task) -> BoolArray:
    return np.ones(len(task), dtype=bool)


@dataclass(frozen=True)
class Stage:
    """One attempt at the rows that are still open.

    Parameters
    ----------
    attempt : callable of (Task, Solved)
        What it returns has TROUBLE where it found nothing.
    rows : callable of Task, optional
        Which rows the attempt is made for; by default every row.
    to_the_gap_asked : bool
        Whether a row counts as open until the gap of ``options`` is met, if that is the smaller.
    """

    attempt: Attempt
    rows: Callable[[Task], BoolArray] = _every_row
    to_the_gap_asked: bool = False


def anew(solver: Solver) -> Stage:
    """Return a stage that solves its rows as if nothing was known of them."""
    return Stage(lambda task, so_far: solver(task))


def staged(*stages: Stage) -> Solver:
    """Return the solver that asks each stage about the rows that are still open."""

    def solve(task: Task) -> Solved:
        progress = _Progress(task)
        for stage in stages:
            gap = min(GAP_NONCONVEX, task.options.gap) if stage.to_the_gap_asked else GAP_NONCONVEX
            rows = progress.open_rows(np.flatnonzero(stage.rows(task)), gap)
            if is_over():
                rows = rows[~progress.tried[rows]]  # each row is tried once, whatever the time
            if len(rows):
                some = task if len(rows) == len(task) else task.take(rows)
                progress.merge(rows, some, stage.attempt(some, progress.so_far(rows)))
        return progress.solved()

    return solve


def spread(n: int, parts: list[Part]) -> Proofs:
    """Return proofs of n rows, made of proofs of some of them."""
    if len(parts) == 1 and len(parts[0][0]) == n:
        return parts[0][1]
    return SeveralProofs(n, tuple(parts))


class _Progress:
    """What is known of each row of a task."""

    def __init__(self, task: Task) -> None:
        n = len(task)
        self.task = task
        self.points: FloatArray = np.full(task.centers.shape, np.nan)
        self.outcome: CodeArray = np.full(n, TROUBLE, dtype=np.int8)
        self.bound, self.tried = np.zeros(n), np.zeros(n, dtype=bool)
        self.parts: list[Part] = []

    def open_rows(self, rows: IntArray, gap: float) -> IntArray:
        """Return those of the rows about which something is open."""
        rows = rows[self.outcome[rows] != CUT]
        solved, bound = self.outcome[rows] == SOLVED, self.bound[rows]
        closed = np.where(solved, bound >= self._costs(rows) * (1 - gap), bound == np.inf)
        return rows[~closed]

    def so_far(self, rows: IntArray) -> Solved:
        """Return what is known of some rows."""
        proofs = spread(len(self.task), self.parts)
        part = proofs if len(rows) == len(self.task) else proofs.take(rows)
        return Solved(self.points[rows], self.outcome[rows], part, self.bound[rows])

    def merge(self, rows: IntArray, task: Task, found: Solved) -> None:
        """Keep the better point of each row, and every proof."""
        self.parts.append((rows, found.proofs))
        self.tried[rows] = True
        self.bound[rows] = np.maximum(self.bound[rows], found.believed(task))
        new = found.outcome == SOLVED
        known = self.outcome[rows] == SOLVED
        both = new & known
        if both.any():
            costs = distance(found.points, task.centers, task.weights)
            new &= ~known | (costs < self._costs(rows))
        changed = new | (~known & (found.outcome != TROUBLE))
        self.outcome[rows[changed]] = found.outcome[changed]
        self.points[rows[new]] = found.points[new]

    def solved(self) -> Solved:
        """Return points and proofs of all rows."""
        return Solved(self.points, self.outcome, spread(len(self.task), self.parts), self.bound)

    def _costs(self, rows: IntArray) -> FloatArray:
        return distance(self.points[rows], self.task.centers[rows], self.task.weights)
