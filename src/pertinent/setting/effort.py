"""How far a search goes before it hands out the best answer with its gap."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import monotonic

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.gaps import GAP_CONVEX
from pertinent.geometry.running import deadline, is_over, share_of_time, until
from pertinent.tables.numbers import is_number, require_number


@dataclass(frozen=True)
class Budget:
    """When a search gives up.

    Parameters
    ----------
    nodes : int
        Branches looked at, for each problem and size: the same on every machine.
    deadline : float
        Moment on the clock of ``time.monotonic``; ``inf`` for none.
    seconds : float
        What a hard problem may take when it is looked at by itself.
    """

    nodes: int = 200_000
    deadline: float = np.inf
    seconds: float = np.inf

    def alone(self) -> Budget:
        """Return the limits of a single problem that is begun now."""
        if self.seconds == np.inf:
            return self
        return Budget(self.nodes, min(self.deadline, monotonic() + self.seconds), self.seconds)

    def expired(self) -> bool:
        """Whether the time is over."""
        return is_over(self.deadline)


@dataclass(frozen=True)
class Effort:
    """How far an exact search goes before it hands out the best answer with its gap.

    Parameters
    ----------
    nodes : int
        Branches of the search, for each sample. The same on every machine, so answers are too.
    time_limit : float or None
        Seconds for each sample. What a slower machine leaves unproved comes as "feasible".
    gap : float
        Relative gap of the second objective at which it counts as optimal.
    """

    nodes: int = 50_000
    time_limit: float | None = None
    gap: float = GAP_CONVEX

    def __post_init__(self) -> None:
        limit = self.time_limit
        if limit is not None and not (is_number(limit) and limit > 0):
            raise InputError(f"time_limit must be a number above 0. Got {limit!r} instead.")
        require_number("gap", self.gap)

    def budget(self, samples: int = 1) -> Budget:
        """Return the limits of a search over so many samples that starts now."""
        if self.time_limit is None:
            return Budget(self.nodes)
        end = min(monotonic() + self.time_limit * max(1, samples), deadline())
        return Budget(self.nodes, end, self.time_limit)

    def limiting(self, samples: int, share: float = 1.0) -> AbstractContextManager[None]:
        """Let what starts now end after this share of the time for so many samples.

        A share of the time that an earlier limit leaves counts as well.
        """
        if self.time_limit is None:
            return share_of_time(share) if share < 1 else nullcontext()
        now = monotonic()
        end = now + share * self.time_limit * max(1, samples)
        left = max(0.0, deadline() - now)
        return until(min(end, now + share * left), self.time_limit)


#: The effort where none is asked for.
USUAL = Effort()
#: The share of the time for a search whose proofs are checked when it has ended.
SEARCHING = 0.6
