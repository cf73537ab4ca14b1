"""A bar for work that takes long, where somebody looks on: in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pertinent.exceptions import InputError, optional

#: Told how many rows are done, and out of how many, after each batch.
Progress = Callable[[int, int], object]

#: A bar that nobody asked for appears after so many seconds.
PATIENCE = 2.0
#: Work is cut into about so many parts where a bar shows them.
PARTS = 50


@contextmanager
def told(progress: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """Give the function to be told of each part that is done; None where nobody wants to know.

    Parameters
    ----------
    progress : callable, bool or None
        A function of ours or of the user's; True for a bar, False for none. None: a bar by itself,
        in a terminal or a notebook, where the work takes long.
    what : str
        What is done, such as "Explaining".

    Examples
    --------
    >>> from pertinent.tables.progress import told
    >>> with told(print, "Explaining") as tell:
    ...     tell(1, 2)
    1 2
    """
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InputError(f"progress must be True, False or a function. Got {progress!r:.60}.")
    if callable(progress):
        yield progress
    elif progress or (progress is None and _somebody_looks_on()):
        bar = _Bar(what, 0.0 if progress else PATIENCE)
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield None


def _somebody_looks_on() -> bool:
    """Return whether standard error is a terminal or this is a notebook, and a bar is at hand."""
    if "ipykernel" not in sys.modules and not sys.stderr.isatty():
        return False
    from importlib.util import find_spec

    return find_spec("rich") is not None


class _Bar:
    """A bar that appears after some seconds."""

    def __init__(self, what: str, patience: float) -> None:
        self.what, self.begins = what, time.monotonic() + patience
        self.shown: Any = None
        if not patience:
            optional("rich", "cli", "A progress bar")

    def __call__(self, done: int, total: int) -> None:
        if self.shown is None and done < total and time.monotonic() >= self.begins:
            self.shown = _begun(self.what)
        if self.shown is not None:
            self.shown.update(self.shown.task_ids[0], completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self.shown is not None:
            self.shown.stop()


def _begun(what: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    bar = Bar(*columns, console=console, transient=console.is_terminal)  # a log keeps its last line
    bar.add_task("", total=None)
    bar.start()
    return bar
