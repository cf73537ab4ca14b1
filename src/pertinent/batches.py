"""Many rows: solved batch by batch, on one core or several, with the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from pertinent.explanation import Results, concatenate
from pertinent.features import Table

R = TypeVar("R", bound=Results)

#: Numbers in one batch: about 4 MB an array, so that a batch stays in the processor's cache.
BATCH_NUMBERS = 500_000

_threads: ThreadpoolController | None = None


def one_thread() -> ThreadpoolController:
    """Return the controller of the linear algebra threads, looked up once."""
    global _threads
    if _threads is None:
        _threads = ThreadpoolController()
    return _threads


def in_batches(
    solve: Callable[[Table, slice], R],
    table: Table,
    n_jobs: int | None = None,
    batch_size: int | None = None,
) -> R:
    """Return the results of all rows.

    Rows are independent of each other, and each is computed by operations that do not depend on
    its neighbours, so neither ``batch_size`` nor ``n_jobs`` changes a bit of the answer.
    """
    pieces = list(_slices(len(table), batch_size or _default_size(table)))
    if n_jobs in (None, 1) or len(pieces) == 1:
        parts = [_limited(solve, table.take(rows), rows) for rows in pieces]
    else:
        jobs = (delayed(_limited)(solve, table.take(rows), rows) for rows in pieces)
        parts = list(Parallel(n_jobs=n_jobs)(jobs))
    return concatenate(parts, table)


def _limited(solve: Callable[[Table, slice], R], table: Table, rows: slice) -> R:
    # One thread: the products here are small, and their rounding must not depend on the machine.
    with one_thread().limit(limits=1):
        return solve(table, rows)


def _default_size(table: Table) -> int:
    return max(1, BATCH_NUMBERS // max(1, table.values.shape[1]))


def _slices(n: int, size: int) -> Iterator[slice]:
    if n == 0:
        yield slice(0, 0)
    for start in range(0, n, int(size)):
        yield slice(start, min(n, start + int(size)))


def rows_of(rows: slice) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the numbers of the rows of a batch."""
    return np.arange(rows.start, rows.stop)
