"""Many searches side by side: what they want to know goes to ``predict`` in common calls."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.running import deadline, is_over
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: What a search yields are points, shape (m, n_columns), and what it is sent is which of them are
#: predicted as asked.
Search = Generator[FloatArray, BoolArray, None]
#: Samples that are searched side by side; points of one call, and of the first one under a limit.
TOGETHER, MOST_POINTS, FIRST_POINTS = 64, 20_000, 64
#: Seconds that a call may take under a time limit.
CALL = 0.02
#: The share of the time for the search: each answer then goes to the model by itself.
SHARE = 0.8


class OverError(Exception):
    """The time is over."""


@dataclass(eq=False)
class Asking:
    """Calls of ``predict`` for the samples of a table.

    Parameters
    ----------
    setting : Setting
    table : Table
    kind : Kind
    labels : ndarray of int, shape (n,)
        What a point must be predicted as, or not as, sample by sample.
    """

    setting: Setting
    table: Table
    kind: Kind
    labels: IntArray
    end: float = np.inf
    _points: int = field(default=FIRST_POINTS, init=False)

    def run(self, searches: Sequence[Search]) -> None:
        """Run a search of each sample, until all have ended or their time is over."""
        start, limit = monotonic(), deadline()
        for first in range(0, len(searches), TOGETHER):
            last = min(first + TOGETHER, len(searches))
            if limit < np.inf:
                self.end = start + SHARE * (limit - start) * last / len(searches)
            self._run({i: searches[i] for i in range(first, last)})

    def _run(self, searches: dict[int, Search]) -> None:
        wanted = {
            i: points for i, one in searches.items() if (points := next(one, None)) is not None
        }
        while wanted:
            rows = np.repeat(list(wanted), [len(points) for points in wanted.values()])
            try:
                good = self.accepts(rows, np.concatenate(list(wanted.values())))
            except OverError:
                break
            ends = np.cumsum([len(points) for points in wanted.values()])[:-1]
            told = zip(wanted, np.split(good, ends), strict=True)
            wanted = {
                i: points for i, own in told if (points := _next(searches[i], own)) is not None
            }
        for one in searches.values():
            one.close()

    def accepts(self, rows: IntArray, points: FloatArray) -> BoolArray:
        """Return which points are predicted as asked of their samples, as far as time allows."""
        good = np.zeros(len(points), dtype=bool)
        start = 0
        while start < len(points):
            if is_over(self.end):
                raise OverError
            stop = start + (self._points if self.end < np.inf else MOST_POINTS)
            before = monotonic()
            good[start:stop] = self.ask(rows[start:stop], points[start:stop])
            each = (monotonic() - before) / (min(stop, len(points)) - start)
            self._points = int(np.clip(CALL / max(each, CALL / MOST_POINTS), 1, 2 * self._points))
            start = stop
        return good

    def ask(self, rows: IntArray, points: FloatArray) -> BoolArray:
        """Return which points are predicted as asked of their samples."""
        table = self.table if self.table.takes_any_points else self.table.take(rows)
        places = self.setting.predict(table, points)
        return self.kind.holds(places, self.labels[rows]) & self._likely(table, points, places)

    def _likely(self, table: Table, points: FloatArray, places: IntArray) -> BoolArray:
        """Return which points are as probable as asked for."""
        least = self.setting.min_proba
        if least is None:
            return np.ones(len(points), dtype=bool)
        chances = np.asarray(self.setting.model.predict_proba(table.for_model(points)))
        return np.asarray(chances[np.arange(len(points)), places] >= least)

    def holds(self, row: int, point: FloatArray) -> bool:
        """Return whether a point is predicted as asked by itself."""
        here = np.array([row])
        place = self.setting.alone(self.table.take(here), point[None])
        return bool(self.kind.holds(place, self.labels[here])[0])


def _next(search: Search, told: BoolArray) -> FloatArray | None:
    """Tell a search what it wanted to know; return what it wants to know next, None at its end."""
    try:
        return search.send(told)
    except StopIteration:
        return None
