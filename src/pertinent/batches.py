"""Many rows: solved batch by batch, on one core or several, with the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from types import TracebackType
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

from pertinent.exceptions import InputError
from pertinent.features import Table

P = TypeVar("P")

#: Told how many rows are done, and out of how many, after each batch.
Progress = Callable[[int, int], object]

#: Numbers in one batch: half a megabyte an array, so that a batch stays in the processor's cache.
BATCH_NUMBERS = 120_000
#: Batches are at most this many times larger where rows spread over pieces: 15 megabytes.
MOST_PIECES = 16


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


def in_batches(
    solve: Callable[[Table, slice], P],
    table: Table,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: Progress | None = None,
    pieces: int = 1,
) -> Iterator[P]:
    """Yield what ``solve`` gives for each batch of rows, in order, as it is done.

    Rows are independent of each other, and each is computed by operations that do not depend on
    its neighbours, so neither ``batch_size`` nor ``n_jobs`` changes a bit of the answer.
    ``n_jobs`` and ``joblib.parallel_config`` mean what they mean to joblib. Rows spread over the
    ``pieces`` of a class, so that batches are as many times larger by default.
    """
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size must be a whole number of at least 1. Got {batch_size!r}.")
    if n_jobs == 0:
        raise InputError("n_jobs must not be 0: 1 is one process, -1 is one for each core.")
    slices = list(_slices(len(table), batch_size or _default_size(table, pieces)))
    jobs = ((solve, table.take(rows), rows) for rows in slices)
    if len(slices) == 1 or effective_n_jobs(n_jobs) == 1:
        parts = (_limited(*job) for job in jobs)
    else:
        # Few batches wait at a time: the generator hands them out as others are done.
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        parts = parallel(delayed(_limited)(*job) for job in jobs)
    for rows, part in zip(slices, parts, strict=True):
        if progress is not None:
            progress(rows.stop, len(table))
        yield part


def _limited(solve: Callable[[Table, slice], P], table: Table, rows: slice) -> P:
    with one_thread:
        return solve(table, rows)


def _default_size(table: Table, pieces: int) -> int:
    numbers = BATCH_NUMBERS * min(pieces, MOST_PIECES)
    return max(64, numbers // max(1, int(table.values.shape[1])))


def _slices(n: int, size: int) -> Iterator[slice]:
    if n == 0:
        yield slice(0, 0)
    for start in range(0, n, int(size)):
        yield slice(start, min(n, start + int(size)))
