"""Work side by side on whatever backend joblib was told to use, answers in order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed, wrap_non_picklable_objects
from joblib.parallel import get_active_backend

P = TypeVar("P")

#: Jobs that are handed out at a time to a backend that gives no answer before it has them all.
WINDOW = 16


def in_parallel(
    function: Callable[..., P], jobs: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> Iterator[P]:
    """Yield ``function(*job)`` of each job, in order; few jobs wait at a time.

    Backends that cannot hand out answers one by one, such as "multiprocessing", get the jobs in
    windows of `WINDOW`, so that neither all jobs nor all answers are held at once.
    """
    backend, _ = get_active_backend()
    if getattr(backend, "supports_return_generator", False):
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(function)(*job) for job in jobs
        )
        return
    # Plain pickle knows no closures; joblib's wrapper carries them, as "loky" does by itself.
    carried = wrap_non_picklable_objects(function)
    rest = iter(jobs)
    with Parallel(n_jobs=n_jobs) as parallel:
        while window := list(itertools.islice(rest, WINDOW)):
            yield from parallel(delayed(carried)(*job) for job in window)
