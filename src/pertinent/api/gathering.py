"""The results of many batches written into one, each batch as it is done.

The arrays of the whole are allocated when the first batch comes, so that no more than a few
batches are ever held beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar

import numpy as np

from pertinent.setting.results import Results
from pertinent.tables.table import Table

R = TypeVar("R", bound=Results)

#: The same for every batch.
_SHARED = frozenset({"classes", "baseline", "method", "norm"})
_CERTIFICATES = ("certificates", "closeness_certificates", "avoiding_certificates")


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
        self._first: R | None = None
        self._parts: dict[str, Any] = {}

    def add(self, part: R) -> None:
        """Take the results of the next batch; their proofs need remember no batch any more."""
        for name in _CERTIFICATES:
            for certified in getattr(part, name, ()):
                certified.certificate.forget()
        if self._first is None:
            self._first = part
            if len(part) == len(self._table):
                return
        for f in fields(part):
            self._take(f.name, getattr(part, f.name), len(part))
        self._done += len(part)

    def _take(self, name: str, value: Any, rows: int) -> None:
        if name == "table" or name in _SHARED or value is None:
            return
        start = self._done
        if name == "second":
            self._parts.setdefault(name, {}).update({i + start: p for i, p in value.items()})
        elif name.endswith("certificates"):
            moved = [replace(c, rows=c.rows + start) for c in value]
            self._parts.setdefault(name, []).extend(moved)
        elif name == "alternatives":
            self._parts.setdefault(name, []).extend(value if any(value) else ((),) * rows)
        else:
            if name not in self._parts:
                shape = (len(self._table), *value.shape[1:])
                self._parts[name] = np.empty(shape, dtype=value.dtype)
            self._parts[name][start : start + rows] = value

    def whole(self) -> R:
        """Return the results of all batches as one."""
        if self._first is None:
            raise ValueError("No batch was added.")
        if self._first.table is self._table:
            return self._first
        if not self._parts:
            return replace(self._first, table=self._table)
        lists = {name: tuple(v) for name, v in self._parts.items() if isinstance(v, list)}
        return replace(self._first, table=self._table, **(self._parts | lists))


def gather(parts: Iterable[R], table: Table) -> R:
    """Return the results of all batches as one, for the whole table."""
    gathering: Gathering[R] = Gathering(table)
    for part in parts:
        gathering.add(part)
    return gathering.whole()
