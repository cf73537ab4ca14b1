"""The one branch and bound of the package: cases wait, are bounded, and are split.

A problem says what a case is, what is known of it, into which cases it is split, and which of the
cases that wait are next: all at once (`Problem`), the last one (`LastFirst`), or the best of each
row (`BestFirst`). Limits are kept in `search` and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Sized
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray, Rows
from pertinent.geometry.running import is_over
from pertinent.setting.options import Options

C = TypeVar("C", bound=Sized)
T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """When a search ends before all is decided; the time limit of the question counts beside.

    Parameters
    ----------
    rounds : int
    waiting : int
        Cases that may wait at any time.
    deadline : float
        In seconds of `time.monotonic`.
    """

    rounds: int = sys.maxsize
    waiting: int = sys.maxsize
    deadline: float = np.inf

    @classmethod
    def of(cls, options: Options, n_rows: int) -> Limits:
        """Return the time limit of many rows, which counts where a proof is asked for."""
        seconds = options.time_limit * n_rows if options.exact else np.inf
        return cls(deadline=monotonic() + seconds)

    def ends(self, rounds: int, waiting: int) -> bool:
        """Return whether a limit is reached."""
        return rounds >= self.rounds or waiting > self.waiting or is_over(self.deadline)


NO_LIMITS = Limits()


class Problem(Generic[C]):
    """What is searched, level by level: all cases that wait are looked at together."""

    #: Rounds that are made whatever the limits: the first may find the only answer.
    at_least = 0

    def kept(self, waiting: C) -> C:
        """Return the cases that are still of interest."""
        return waiting

    def pick(self, waiting: C) -> tuple[C, C | None]:
        """Return the next cases, and the others."""
        return waiting, None

    def advance(self, chosen: C) -> C | None:
        """Look at some cases, and return the cases they are split into; None ends the search."""
        raise NotImplementedError

    def joined(self, others: C, fresh: C) -> C:
        """Return the cases that wait after a round."""
        raise NotImplementedError

    def leave(self, waiting: C) -> None:
        """Note that these cases were given up."""


def search(problem: Problem[C], waiting: C, limits: Limits = NO_LIMITS) -> bool:
    """Look at cases until none waits; return False if the search ended before."""
    rounds = 0
    while len(waiting := problem.kept(waiting)):
        if rounds >= problem.at_least and limits.ends(rounds, len(waiting)):
            problem.leave(waiting)
            return False
        chosen, others = problem.pick(waiting)
        fresh = problem.advance(chosen)
        if fresh is None:
            return False
        waiting = fresh if others is None else problem.joined(others, fresh)
        rounds += 1
    return True


class LastFirst(Problem[list[T]]):
    """A search depth first: the case that came last is next."""

    def pick(self, waiting: list[T]) -> tuple[list[T], list[T]]:
        """Return the last case, and the others."""
        return [waiting.pop()], waiting

    def joined(self, others: list[T], fresh: list[T]) -> list[T]:
        """Return the other cases, then the new ones."""
        return others + fresh


@dataclass(frozen=True, eq=False)
class Ranked(Rows):
    """Cases of many rows: the row that each belongs to, and what the next ones are chosen by."""

    row: IntArray
    rank: FloatArray


R = TypeVar("R", bound=Ranked)


class BestFirst(Problem[R]):
    """A search of many rows: the cases of least rank are next, of equal ones the older."""

    #: Cases of one row that are looked at in one round.
    width = 1

    def pick(self, waiting: R) -> tuple[R, R]:
        """Return the best cases of each row, and the others."""
        order = np.lexsort((waiting.rank, waiting.row))
        row = waiting.row[order]
        chosen = np.zeros(len(row), dtype=bool)
        chosen[order[np.arange(len(row)) - np.searchsorted(row, row) < self.width]] = True
        return waiting.take(chosen), waiting.take(~chosen)

    def joined(self, others: R, fresh: R) -> R:
        """Return all of them."""
        return type(others).stack([others, fresh]) if len(others) else fresh
