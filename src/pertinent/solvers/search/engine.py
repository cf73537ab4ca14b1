"""The one branch and bound of the package: cases wait, are bounded, and are split.

A `Problem` says what a case is, what is known of it, and into which cases it is split. An `Order`
says which of the cases that wait are next: all at once, the last one, or those of least bound.
`search` goes on until no case waits or a limit is reached: limits are kept here and nowhere else.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import monotonic
from typing import Generic, Protocol, TypeVar

import numpy as np

from pertinent.setting.options import Options


class Sized(Protocol):
    """Cases of any kind."""

    def __len__(self) -> int: ...


C = TypeVar("C", bound=Sized)
T = TypeVar("T")


class Problem(Generic[C]):
    """What is searched: cases of a type of its own."""

    def kept(self, waiting: C) -> C:
        """Return the cases that are still of interest."""
        return waiting

    def advance(self, chosen: C) -> C | None:
        """Look at some cases, and return the cases they are split into; None ends the search."""
        raise NotImplementedError

    def leave(self, waiting: C) -> None:
        """Note that these cases were given up."""


class Order(Protocol[C]):
    """Which cases are next."""

    def pick(self, waiting: C) -> tuple[C, C]:
        """Return the next cases and all others."""

    def joined(self, others: C, fresh: C) -> C:
        """Return the cases that wait after a round."""


@dataclass(frozen=True)
class Limits:
    """When a search ends before all is decided.

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
        return rounds >= self.rounds or waiting > self.waiting or monotonic() > self.deadline


def search(problem: Problem[C], cases: C, order: Order[C], limits: Limits) -> bool:
    """Look at cases until none waits; return False if the search ended before."""
    rounds = 0
    while len(cases := problem.kept(cases)):
        if limits.ends(rounds, len(cases)):
            problem.leave(cases)
            return False
        chosen, others = order.pick(cases)
        fresh = problem.advance(chosen)
        if fresh is None:
            return False
        cases, rounds = order.joined(others, fresh), rounds + 1
    return True


class AllAtOnce(Generic[C]):
    """Every case that waits is next: level by level."""

    def pick(self, waiting: C) -> tuple[C, C]:
        """Return all cases."""
        return waiting, waiting

    def joined(self, others: C, fresh: C) -> C:
        """Return the new cases; there are no others."""
        return fresh


class LastFirst(Generic[T]):
    """The case that came last is next: depth first, in lists."""

    def pick(self, waiting: list[T]) -> tuple[list[T], list[T]]:
        """Return the last case and all before it."""
        return [waiting.pop()], waiting

    def joined(self, others: list[T], fresh: list[T]) -> list[T]:
        """Return the other cases, then the new ones."""
        others.extend(fresh)
        return others
