"""Answers that no worker is needed for, in threads of the server: few at a time, each in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Any

#: Threads that answer, and requests that may be asked of them at the same time.
THREADS, UNDER_WAY = 4, 64


class Crowded(Exception):
    """As many requests are under way as may be."""


class AtOnce:
    """Threads that answer what takes milliseconds.

    Nobody can end a thread. So a request that takes too long is given up, and holds its place
    until it ends by itself: however many come, no more than so many are under way.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._places = BoundedSemaphore(UNDER_WAY)
        self._threads = ThreadPoolExecutor(THREADS, "pertinent-at-once")

    async def answer(self, call: Callable[..., Any], *given: Any) -> Any:
        """Return what a call returns.

        Raises
        ------
        Crowded
            At once, where no place is left.
        TimeoutError
            After the limit, the time that was waited for a thread included.
        """
        if not self._places.acquire(blocking=False):
            raise Crowded
        future: Future[Any] = self._threads.submit(call, *given)
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wait_for(asyncio.wrap_future(future), self.limit)
