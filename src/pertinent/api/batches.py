"""Many rows: solved batch by batch, on one core or several, with the same answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from joblib import effective_n_jobs, parallel_config

from pertinent.api.parallel import in_parallel
from pertinent.exceptions import InputError
from pertinent.geometry.running import one_thread
from pertinent.tables.numbers import is_whole, require_whole
from pertinent.tables.progress import PARTS, Progress, told
from pertinent.tables.table import Table

P = TypeVar("P")

#: Numbers in one batch: half a megabyte an array, so that a batch stays in the processor's cache.
BATCH_NUMBERS = 120_000
#: Batches are at most this many times larger where rows spread over pieces: 15 megabytes.
MOST_PIECES = 16
#: Rows of a batch at least; and of one that takes long, where somebody looks on.
MANY_ROWS, FEW_ROWS = 64, 8


def in_batches(
    solve: Callable[[Table, slice], P],
    table: Table,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: Progress | bool | None = False,
    pieces: int = 1,
    *,
    slow: bool = False,
) -> Iterator[P]:
    """Yield what ``solve`` gives for each batch of rows, in order, as it is done.

    Rows are independent of each other, and each is computed by operations that do not depend on
    its neighbours, so neither ``batch_size`` nor ``n_jobs`` changes a bit of the answer.
    ``n_jobs`` and ``joblib.parallel_config`` mean what they mean to joblib. Rows spread over the
    ``pieces`` of a class, so that batches are as many times larger by default. Where rows are
    ``slow``, those that a bar shows are smaller.
    """
    if batch_size is not None:
        require_whole("batch_size", batch_size, 1)
    if n_jobs is not None and not (is_whole(n_jobs) and n_jobs != 0):
        raise InputError(
            f"n_jobs must be a whole number other than 0: 1 is one process, -1 is one for each "
            f"core. Got {n_jobs!r}."
        )
    if len(table) == 1 and n_jobs in (None, 1):
        part = _limited(solve, table, slice(0, 1))
        if callable(progress):
            progress(1, 1)
        yield part
        return
    with told(progress, "Explaining") as tell:
        least = FEW_ROWS if slow else MANY_ROWS
        yield from _told(solve, table, n_jobs, batch_size, tell, pieces, least)


def _told(
    solve: Callable[[Table, slice], P],
    table: Table,
    n_jobs: int | None,
    batch_size: int | None,
    tell: Progress | None,
    pieces: int,
    least: int,
) -> Iterator[P]:
    side_by_side = effective_n_jobs(n_jobs) if n_jobs != 1 and len(table) > 1 else 1
    size = batch_size or _default_size(table, pieces, side_by_side)
    if tell is not None and batch_size is None:  # small enough to see something move
        size = min(size, max(least, -(-len(table) // PARTS)))
    slices = list(_slices(len(table), size))
    jobs = ((table.take(rows), rows) for rows in slices)
    parts: Iterator[P]
    if len(slices) == 1:
        # One batch: the pieces of a class may be solved in parallel instead.
        parts = (_among_pieces(n_jobs, solve, *job) for job in jobs)
    elif side_by_side == 1:
        parts = (_limited(solve, *job) for job in jobs)
    else:
        # Few batches wait at a time: the generator hands them out as others are done.
        parts = in_parallel(partial(_limited, solve), jobs, n_jobs)
    for rows, part in zip(slices, parts, strict=True):
        if tell is not None:
            tell(rows.stop, len(table))
        yield part


def _limited(solve: Callable[[Table, slice], P], table: Table, rows: slice) -> P:
    with one_thread:
        return solve(table, rows)


def _among_pieces(
    n_jobs: int | None, solve: Callable[[Table, slice], P], table: Table, rows: slice
) -> P:
    with nullcontext() if n_jobs in (None, 1) else parallel_config(n_jobs=n_jobs):
        return _limited(solve, table, rows)


def _default_size(table: Table, pieces: int, side_by_side: int) -> int:
    numbers = BATCH_NUMBERS * min(pieces, MOST_PIECES)
    size = max(MANY_ROWS, numbers // max(1, int(table.values.shape[1])))
    return max(1, min(size, -(-len(table) // side_by_side)))


def _slices(n: int, size: int) -> Iterator[slice]:
    if n == 0:
        yield slice(0, 0)
    for start in range(0, n, int(size)):
        yield slice(start, min(n, start + int(size)))
