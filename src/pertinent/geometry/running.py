"""How a call runs: on one thread, and until its time is over, or its work.

Both limits are kept for the call, not passed on: every loop that may take long, in searches as in
checks, looks at `is_over`. A limit makes a search find less and a check show less, never more.
A limit of time depends on the machine and on what else it does; a limit of work, which counts these
looks, does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

#: Seconds that a program of another solver gets when the time is over: it may hold the only point.
LEAST_TIME = 0.01
#: When the time of the question that is being answered is over, on the clock of `time.monotonic`.
_END: ContextVar[float] = ContextVar("end of the time limit", default=np.inf)


@dataclass(eq=False)
class Work:
    """So many looks of loops at `is_over` that are left."""

    left: int

    def is_over(self) -> bool:
        """Count a look, and return whether none was left."""
        self.left -= 1
        return self.left < 0


_WORK: ContextVar[Work | None] = ContextVar("work that is left", default=None)


#: The seconds that were asked for, of which `_END` is the end.
_LIMIT: ContextVar[float | None] = ContextVar("seconds asked for", default=None)


@dataclass(eq=False)
class Ended:
    """Whether the time was over before a search was done.

    Attributes
    ----------
    by_time : bool
    limit : float, optional
        The seconds that were asked for.
    """

    by_time: bool = False
    limit: float | None = None


_ENDED: ContextVar[Ended | None] = ContextVar("whether time ended the search", default=None)


class _OneThread:
    """One thread for linear algebra, as long as any batch is being solved in this process.

    The products here are small, and their rounding must not depend on the machine; and jobs side
    by side must not start threads of their own. Batches that overlap share one limit: the last
    one to end restores what was before the first.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._libraries: list[Any] | None = None
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                if self._libraries is None:
                    self._libraries = ThreadpoolController().lib_controllers
                # A limit of threadpoolctl's own describes every library first: 50 microseconds,
                # which a single row would feel.
                counts = [(one, one.get_num_threads()) for one in self._libraries]
                self._before = [(one, count) for one, count in counts if count != 1]
                for one, _ in self._before:
                    one.set_num_threads(1)
            self._inside += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for one, count in self._before:
                    one.set_num_threads(count)


one_thread = _OneThread()


def deadline() -> float:
    """Return the moment at which every search has to end; ``inf`` without a time limit."""
    return _END.get()


def is_over(own: float = np.inf) -> bool:
    """Return whether time or work is over: loops that may take long end, with what they have.

    A loop may have a moment of its ``own`` at which it has to end, before that of the question.
    """
    end, work = min(own, _END.get()), _WORK.get()
    if end < np.inf and monotonic() > end:
        note_end()
        return True
    return work is not None and work.is_over()


def note_end() -> None:
    """Note that the time ended a search, or did not let it begin."""
    ended = _ENDED.get()
    if ended is not None:
        ended.by_time = True


def is_late() -> bool:
    """Return whether the time is over, as `is_over` does, but count no work."""
    end = _END.get()
    return end < np.inf and monotonic() > end


def time_left(most: float = np.inf) -> float:
    """Return the seconds that are left, at least `LEAST_TIME` and at most so many."""
    end = _END.get()
    return most if end == np.inf else min(most, max(end - monotonic(), LEAST_TIME))


@contextmanager
def working(looks: int) -> Iterator[Work]:
    """Let everything inside end after so many looks at `is_over`, the same on every machine."""
    work = Work(looks)
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)


@contextmanager
def noting_end() -> Iterator[Ended]:
    """Note whether the time ends what is done inside before it is done."""
    ended = Ended(limit=_LIMIT.get())
    token = _ENDED.set(ended)
    try:
        yield ended
        ended.by_time |= is_late()
    finally:
        _ENDED.reset(token)


@contextmanager
def until(end: float, limit: float | None = None) -> Iterator[None]:
    """Let everything inside end at a moment, or at one that was set before if that is earlier.

    With the seconds that were asked for, if the user did.
    """
    token = _END.set(min(end, _END.get()))
    asked = _LIMIT.set(_LIMIT.get() if limit is None else limit)
    try:
        yield
    finally:
        _LIMIT.reset(asked)
        _END.reset(token)


def share_of_time(share: float) -> AbstractContextManager[None]:
    """Let everything inside end after a share of the time that is left; without a limit, never."""
    end = _END.get()
    if end == np.inf:
        return nullcontext()
    now = monotonic()
    return until(now + share * max(0.0, end - now))
