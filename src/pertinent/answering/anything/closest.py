"""The closest point that ``predict`` puts where it is asked for, by search.

A search begins at real points of the class: those of the training data that are nearest once the
rules are obeyed, and the sample with one value of theirs. From a few of them it goes back to the
sample as far as ``predict`` allows: value by value at first, then number by number. Then one value
goes back and another one pays for it with less, until no such move helps.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from pertinent.answering.anything.asking import Asking, Search
from pertinent.answering.anything.moves import (
    TRADES,
    Columns,
    Moved,
    Pairs,
    pairs,
    pulls,
    resets,
    singles,
    trades,
)
from pertinent.answering.anything.space import Space
from pertinent.answering.anything.tolerances import BEYOND, SAVED
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.setting.answers import Ask
from pertinent.setting.setting import Setting

#: Seeds that are asked about first, and then; those whose single values are tried.
SEEDS = (24, 200, 2_000)
#: Points that are pulled back, and those of them that are improved.
STARTS, IMPROVED = 8, 2
#: Steps of one call on the way of a number, and how often while looking and at the end.
STEPS, LOOKING, AT_LAST = 16, 1, 5
#: Rounds of pair moves at most; and those of one round that are looked at closely.
ROUNDS, CLOSELY = 40, 3

Points = Generator[FloatArray, BoolArray, FloatArray]
Said = Generator[FloatArray, BoolArray, BoolArray]


@dataclass(eq=False)
class Row:
    """The search of one sample.

    Attributes
    ----------
    found : list of (float, ndarray)
        The best points so far, each closer than the one before.
    """

    space: Space
    seeds: FloatArray
    found: list[tuple[float, FloatArray]] = field(default_factory=list)
    _known: dict[bytes, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rules = self.space

    def search(self) -> Search:
        """Look for close points; the best ones are kept in ``found``."""
        starts = yield from self._starts()
        if not len(starts):
            return
        starts = yield from self._sparse(starts)
        starts = yield from self._pulled(self._best(starts, STARTS), LOOKING)
        best = self._best(starts, IMPROVED)
        for _ in range(ROUNDS):
            for kinds in (TRADES[:1], TRADES[1:]):  # what helps most often, then the rest
                before, best = best, (yield from self._traded(best, kinds))
                if self._is_closer(best, before):
                    break
            else:
                break
        yield from self._pulled(best[:1], AT_LAST)

    def _is_closer(self, points: FloatArray, before: FloatArray) -> bool:
        """Return whether the best of points cost less than as many of those before."""
        count = min(len(points), len(before))
        new, old = (float(self.space.cost(some[:count]).sum()) for some in (points, before))
        return new < old * (1 - SAVED)

    def _ask(self, points: FloatArray) -> Said:
        """Ask which points are allowed and predicted as asked; what is known is not asked again."""
        good = self.space.allows(points)
        keys = [point.tobytes() for point in points]
        ask = [i for i in np.flatnonzero(good).tolist() if keys[i] not in self._known]
        new = list({keys[i]: i for i in ask}.values())
        if new:
            told = yield points[new]
            self._known |= {keys[i]: bool(own) for i, own in zip(new, told, strict=True)}
            self._note(points[new][told])
        return np.array([own and self._known[key] for own, key in zip(good, keys, strict=True)])

    def _note(self, points: FloatArray) -> None:
        points = points[self.rules.allows(points)] if self.rules is not self.space else points
        if not len(points):
            return
        cost = self.space.cost(points)
        best = int(cost.argmin())
        if not self.found or cost[best] < self.found[-1][0]:
            self.found.append((float(cost[best]), points[best].copy()))

    def _starts(self) -> Points:
        """Return points that are predicted as asked: seeds, and the sample with a value of one."""
        space, start = self.space, self.space.fitted(self.seeds)
        order = np.argsort(space.cost(start), kind="stable")
        start, found, before = start[order], [], 0
        single = space.fitted(singles(space, start[: SEEDS[0]]))
        good = yield from self._ask(single)
        found.append(self._best(single[good], STARTS))
        for last in SEEDS:
            some = start[before:last]
            good = yield from self._ask(some)
            found.append(self._best(some[good], 2 * STARTS))
            if good.any() or last >= len(start):
                break
            before = last
        if space.any_number is not None:
            found.append((yield from self._few(start[: SEEDS[0]])))
        return np.concatenate(found)

    def _few(self, seeds: FloatArray) -> Points:
        """Return points with few changes: two units as in a seed, or what is left of seeds."""
        rules, free = self.space, self.space.any_number
        assert free is not None
        two = rules.fitted(pairs(rules, seeds))
        good = yield from self._ask(two)
        found = self._best(two[good], STARTS)
        self.space = free
        good = yield from self._ask(seeds)
        left = yield from self._sparse(seeds[good])
        self.space = rules
        self._known.clear()  # by other rules
        return np.concatenate([found, left[rules.allows(left)]])

    def _best(self, points: FloatArray, count: int) -> FloatArray:
        """Return the closest of points, each once."""
        unique = np.unique(points, axis=0)
        return unique[np.argsort(self.space.cost(unique), kind="stable")[:count]]

    def _sparse(self, points: FloatArray) -> Points:
        """Return points with as many units as in the sample as one can go back to."""
        points, open_ = points.copy(), np.ones(len(points), dtype=bool)
        while open_.any():
            rows = np.flatnonzero(open_)
            moved, of = resets(self.space, points[rows])
            good = yield from self._ask(moved)
            open_[:] = False
            open_[rows[np.unique(of[good])]] = True
            parts = [
                self._together(points[row], moved[good & (of == k)])
                for k, row in enumerate(rows.tolist())
                if open_[row]
            ]
            if not parts:
                break
            good = yield from self._ask(np.concatenate(parts))
            ends = np.cumsum([len(part) for part in parts])[:-1]
            for row, part, yes in zip(
                np.flatnonzero(open_), parts, np.split(good, ends), strict=True
            ):
                points[row] = part[np.flatnonzero(yes)[-1]]
        return points

    def _together(self, point: FloatArray, moved: FloatArray) -> FloatArray:
        """Return a point with the first of single moves, with the first two, ..., with all."""
        order = np.argsort(self.space.cost(moved), kind="stable")
        stay = np.logical_and.accumulate(moved[order] == point, axis=0)
        return np.where(stay, point, self.space.center)

    def _pulled(self, points: FloatArray, times: int) -> Points:
        """Return points with each number back as far as one can go, the most expensive first."""
        points = points.copy()
        order = [self._columns(point) for point in points]
        for k in range(max(map(len, order), default=0)):
            columns = [own[k] if k < len(own) else None for own in order]
            low = np.zeros(len(points))
            for _ in range(times):
                moved, of = pulls(self.space, points, columns, low, STEPS)
                moved = self.space.fitted(moved)
                good = yield from self._ask(moved)
                low = self._taken(points, columns, low, (moved, of), good)
        return points

    def _columns(self, point: FloatArray) -> list[int]:
        """Return the numbers that a point changes, by what they cost."""
        apart = self.space.weights * np.abs(point - self.space.center)
        numbers = self.space.numbers[apart[self.space.numbers] > 0]
        return [int(j) for j in numbers[np.argsort(-apart[numbers], kind="stable")]]

    def _taken(
        self, points: FloatArray, columns: Columns, low: FloatArray, moved: Moved, good: BoolArray
    ) -> FloatArray:
        """Take the closest step of each point; return how far back is then known not to do."""
        out = low.copy()
        for i, column in enumerate(columns):
            here = np.flatnonzero(moved[1] == i)
            if column is None or not len(here):
                continue
            yes = here[good[here]]
            first = yes[self.space.cost(moved[0][yes]).argmin()] if len(yes) else None
            before = here[-1] if first is None else first - 1
            way = points[i, column] - self.space.center[column]
            if first is not None:
                points[i] = moved[0][first]
            left = points[i, column] - self.space.center[column]
            if left == 0 or way == 0:
                continue
            below = moved[0][before, column] if before >= here[0] else None
            share = low[i] * way if below is None else below - self.space.center[column]
            out[i] = float(np.clip(share / left, 0.0, 1.0))
        return out

    def _traded(self, points: FloatArray, kinds: Pairs) -> Points:
        """Return points with the pair of moves that helps most, pulled back again."""
        moved, of = trades(self.space, points, kinds)
        good = yield from self._ask(moved)
        out = [points]
        for i in range(len(points)):
            own = self._best(moved[good & (of == i)], CLOSELY)
            if len(own):
                out.append(own)
        if len(out) == 1:
            return points
        better = yield from self._sparse(np.concatenate(out))
        better = yield from self._pulled(self._best(better, CLOSELY), LOOKING)
        return self._best(better, IMPROVED)


def closest(setting: Setting, ask: Ask) -> FloatArray:
    """Return the closest points found for each row of a question; NaN where none was found."""
    out = np.full(ask.centers.shape, np.nan)
    if setting.seeds is None or not len(ask):
        return out
    places = setting.kept("seeds", _places)
    asking = Asking(setting, ask.table, ask.kind, ask.labels)
    rows = []
    for i in range(len(ask)):
        right = ask.kind.holds(places, np.broadcast_to(ask.labels[i], places.shape))
        rows.append(Row(Space.of(setting, ask, i), setting.seeds.values[right]))
    asking.run([row.search() for row in rows])
    for i, row in enumerate(rows):
        point = _firm(asking, i, row)
        if point is not None:
            out[i] = point
    return out


def _places(setting: Setting) -> IntArray:
    """Return the class of each seed."""
    seeds = setting.seeds
    assert seeds is not None
    return setting.predict(seeds, seeds.values)


def _firm(asking: Asking, i: int, row: Row) -> FloatArray | None:
    """Return the best point that holds by itself, too; one a little farther on if need be."""
    if not row.found:
        return None
    best, space = row.found[-1][1], row.space
    if asking.holds(i, best):
        return best
    way = best - space.center
    farther = space.fitted(np.array([best + share * way for share in BEYOND]))
    farther = farther[space.allows(farther)]
    earlier = [point for _, point in reversed(row.found[:-1])]
    others: list[FloatArray] = [*farther, *earlier]
    for point in others:
        if asking.ask(np.array([i]), point[None])[0] and asking.holds(i, point):
            return point
    return None
