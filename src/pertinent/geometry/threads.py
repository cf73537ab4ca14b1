"""One thread for linear algebra while anything is being solved."""

from __future__ import annotations

from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


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
                counts = [(one, one.num_threads) for one in self._libraries]
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
