"""The results of many batches written into one, each batch as it is done.

The arrays of the whole are allocated when the first batch comes, so that no more than a few
batches are ever held beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, TypeVar

from pertinent.setting.results import Results
from pertinent.tables.table import Table

R = TypeVar("R", bound=Results)


class Gathering(Generic[R]):
    """Results of a whole table, filled batch by batch in the order of its rows.

    Parameters
    ----------
    table : Table
        All samples.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._done = 0
        self._whole: R | None = None

    def add(self, part: R) -> None:
        """Take the results of the next batch; their proofs need remember no batch any more."""
        part.forget()
        if self._whole is None:
            everything = len(part) == len(self._table)
            self._whole = part if everything else part.room(len(self._table))
        if self._whole is not part:
            self._whole.fill(self._done, part)
            if self._done + len(part) == len(self._table):
                self._whole.close()
        self._done += len(part)

    def whole(self) -> R:
        """Return the results of all batches as one."""
        if self._whole is None:
            raise ValueError("No batch was added.")
        whole = self._whole
        return whole if whole.table is self._table else replace(whole, table=self._table)


def gather(parts: Iterable[R], table: Table) -> R:
    """Return the results of all batches as one, for the whole table."""
    gathering: Gathering[R] = Gathering(table)
    for part in parts:
        gathering.add(part)
    return gathering.whole()
