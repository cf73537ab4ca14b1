"""One thread for linear algebra while anything is being solved."""

from __future__ import annotations

from threading import Lock
from types import TracebackType

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
        self._controller: ThreadpoolController | None = None
        self._limit: object = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                if self._controller is None:
                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1)
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()  # type: ignore[attr-defined]


one_thread = _OneThread()
