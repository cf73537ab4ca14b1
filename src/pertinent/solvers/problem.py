"""What a solver is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TypeVar

import numpy as np

from pertinent.geometry import task
from pertinent.geometry.arrays import CodeArray, FloatArray, IntArray, Rows
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.task import distance, limits_within
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL, Certificate, Proofs
from pertinent.setting.options import Options


class Outcome(IntEnum):
    """What a solver says of one row; the proofs decide."""

    SOLVED = 0  #: a point, believed optimal
    EMPTY = 1  #: there is no point
    TROUBLE = 2  #: no answer
    CUT = 3  #: stopped: this piece cannot beat the cutoff


#: The same as plain integers: NumPy takes thrice as long to compare an array with an enum's member.
SOLVED, EMPTY, TROUBLE, CUT = (outcome.value for outcome in Outcome)


@dataclass(eq=False)
class Task(task.Task):
    """Many projections onto one cell, and how to solve them.

    Parameters
    ----------
    region, centers, weights, lower, upper, domain
        As in `pertinent.geometry.task.Task`; the region is a cell.
    cutoff : ndarray of shape (n,)
        Answers at least this costly are of no interest; ``inf`` where every answer is.
    options : Options
    """

    cutoff: FloatArray
    options: Options = field(default_factory=Options)


T = TypeVar("T", bound=Task)


def onto(task: T, piece: Cell | Region, cutoff: FloatArray | None = None) -> T:
    """Return the task onto one piece of its region, with the bounds of the piece included."""
    part = object.__new__(type(task))
    part.__dict__.update(task.__dict__)
    part.region = piece
    part.lower, part.upper = limits_within(piece, task.lower, task.upper)
    if cutoff is not None:
        part.cutoff = cutoff
    return part


@dataclass(eq=False)
class Solved(Rows):
    """A solver's answer to a `Task`: points, what it believes, and the numbers that prove it.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
    outcome : ndarray of int8, shape (n,)
        See `Outcome`.
    proofs : Proofs
    bound : ndarray of shape (n,), optional
        What the solver believes that no point costs less than, ``inf`` where it believes that
        there is none; see `believed`. Only `pertinent.setting` evaluates the proofs.
    """

    points: FloatArray
    outcome: CodeArray
    proofs: Proofs
    bound: FloatArray | None = None

    def believed(self, task: Task) -> FloatArray:
        """Return the bound; without one the cost of a point, ``inf`` for none, or the cutoff."""
        if self.bound is not None:
            return self.bound
        cost = distance(self.points, task.centers, task.weights)
        outcome = self.outcome[None] == np.array([SOLVED, EMPTY, CUT])[:, None]
        return np.select(list(outcome), [cost, np.full(len(cost), np.inf), task.cutoff])


Solver = Callable[[Task], Solved]


@dataclass(frozen=True)
class Method:
    """Which solver takes a cell, and why."""

    name: str
    why: str
    solve: Solver = field(repr=False, compare=False)
    #: Several cells solved at once, for methods to which many small batches are a burden.
    together: Callable[[Sequence[Task]], list[Solved]] | None = field(
        default=None, repr=False, compare=False
    )
    #: Whether many rows cost little more than one.
    in_lock_step: bool = field(default=False, repr=False, compare=False)


@dataclass(eq=False)
class Projections:
    """The nearest points of a region to many centers.

    Attributes
    ----------
    points : ndarray of shape (n, n_features)
        NaN where there is none.
    piece : ndarray of int, shape (n,)
        Cell that holds the point, -1 where there is none.
    unique : ndarray of int8, shape (n,)
        1 unique, 0 not unique (a second optimum is in ``second``), -1 not decided.
    second : dict of int to ndarray
        Another optimal point, for the rows that have one.
    certificate : Certificate
    methods : tuple of Method
        One for each cell.
    asked : Task
        What bounds and statuses speak of: the task, or the same without its margin.
    believe : callable
        Returns what the solver believes that no point of each row costs less than.
    solved : int
        How many (row, piece) pairs were solved; the others were skipped by their bound.
    """

    points: FloatArray
    piece: IntArray
    unique: CodeArray
    second: dict[int, FloatArray]
    certificate: Certificate
    methods: tuple[Method, ...]
    asked: task.Task
    believe: Callable[[], FloatArray]
    solved: int = 0

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def objective(self) -> FloatArray:
        """Weighted L1 distance of each point, NaN where there is none; shape (n,)."""
        return distance(self.points, self.asked.centers, self.asked.weights)

    @cached_property
    def believed(self) -> FloatArray:
        """What the solver believes that no point costs less than, ``inf`` for none; shape (n,).

        Searches go by this; `bound` and `status` evaluate the certificate, for those who want it.
        """
        return np.fmin(self.believe(), self.objective)  # the objective is NaN without a point

    @cached_property
    def _proved(self) -> FloatArray:
        return self.certificate.bounds(self.asked)

    @cached_property
    def bound(self) -> FloatArray:
        """Proved lower bound, ``inf`` where proved that no point exists; shape (n,)."""
        return np.fmin(self._proved, self.objective)

    @cached_property
    def status(self) -> CodeArray:
        """Status of each row, decided by the certificate: see `pertinent.proofs.status_names`."""
        asked, found = self.asked, self.piece >= 0
        gap = GAP_CONVEX if asked.region.is_convex and asked.domain is None else GAP_NONCONVEX
        with np.errstate(invalid="ignore"):
            closed = is_closed(
                self.objective, self._proved, self.points, asked.centers, asked.weights, gap
            )
        without = np.where(np.isinf(self._proved), INFEASIBLE, FAILED)
        return np.where(found, np.where(closed, OPTIMAL, FEASIBLE), without).astype(np.int8)
