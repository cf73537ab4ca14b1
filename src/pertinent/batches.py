"""Many rows: solved batch by batch, on one core or several, with the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from pertinent.features import Table

P = TypeVar("P")

#: Numbers in one batch: half a megabyte an array, so that a batch stays in the processor's cache.
BATCH_NUMBERS = 60_000

_threads: ThreadpoolController | None = None


def one_thread() -> ThreadpoolController:
    """Return the controller of the linear algebra threads, looked up once."""
    global _threads
    if _threads is None:
        _threads = ThreadpoolController()
    return _threads


def in_batches(
    solve: Callable[[Table, slice], P],
    table: Table,
    n_jobs: int | None = None,
    batch_size: int | None = None,
) -> list[P]:
    """Return what ``solve`` gives for each batch of rows, in order.

    Rows are independent of each other, and each is computed by operations that do not depend on
    its neighbours, so neither ``batch_size`` nor ``n_jobs`` changes a bit of the answer.
    """
    pieces = list(_slices(len(table), batch_size or _default_size(table)))
    if n_jobs in (None, 1) or len(pieces) == 1:
        return [_limited(solve, table.take(rows), rows) for rows in pieces]
    jobs = (delayed(_limited)(solve, table.take(rows), rows) for rows in pieces)
    return list(Parallel(n_jobs=n_jobs)(jobs))


def _limited(solve: Callable[[Table, slice], P], table: Table, rows: slice) -> P:
    # One thread: the products here are small, and their rounding must not depend on the machine.
    with one_thread().limit(limits=1):
        return solve(table, rows)


def _default_size(table: Table) -> int:
    return max(64, BATCH_NUMBERS // max(1, table.values.shape[1]))


def _slices(n: int, size: int) -> Iterator[slice]:
    if n == 0:
        yield slice(0, 0)
    for start in range(0, n, int(size)):
        yield slice(start, min(n, start + int(size)))
