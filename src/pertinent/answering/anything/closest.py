"""The closest point that ``predict`` puts where it is asked for, by search.

A search begins at real points of the class: those of the training data that are nearest once the
rules are obeyed, and the sample with one value of theirs. From a few of them it goes back to the
sample as far as ``predict`` allows: value by value at first, then number by number. Then one value
goes back and another one pays for it with less, until no such move helps.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pertinent.answering.anything.asking import Asking, Search
from pertinent.answering.anything.moves import pairs, pulls, resets, singles, trades
from pertinent.answering.anything.space import Space
from pertinent.answering.anything.tolerances import BEYOND, SAVED
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.setting.answers import Ask
from pertinent.setting.setting import Setting

#: Seeds that are asked about first, and then; those whose single values are tried.
SEEDS = (24, 200, 2_000)
#: Points of which units go back, and those that are pulled back.
SPARSE, STARTS = 12, 5

#: Shares of its way that a number is taken back by, while looking and at the end.
LOOKING, AT_LAST = [0.5**k for k in range(5)], [0.7**k for k in range(40)]
#: Numbers that go back one after the other at most, and after each pair of moves.
OFTEN, BRIEFLY = 12, 2
#: Rounds in which units go back together, and of pair moves, at most; and those of one round that
#: are looked at closely.
RESETS, ROUNDS, CLOSELY = 3, 15, 4

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
        starts = yield from self._sparse(self._best(starts, SPARSE))
        starts = yield from self._pulled(self._best(starts, STARTS), LOOKING)
        best = self._best(starts, 1)
        for _ in range(ROUNDS):
            before, best = best, (yield from self._traded(best))
            if self.space.cost(best)[0] >= self.space.cost(before)[0] * (1 - SAVED):
                break
        yield from self._pulled(best, AT_LAST)

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
        known = [own and self._known[key] for own, key in zip(good, keys, strict=True)]
        return np.array(known, dtype=bool)

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
        """Return points with most units as in the sample that one can go back to together."""
        points, open_ = points.copy(), np.ones(len(points), dtype=bool)
        for _ in range(RESETS):
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

    def _pulled(self, points: FloatArray, shares: Sequence[float], times: int = OFTEN) -> Points:
        """Return points with each unit back as far as one can go, what saves most first."""
        points, open_ = points.copy(), np.ones(len(points), dtype=bool)
        for _ in range(times):
            moved, of = pulls(self.space, points, open_, shares)
            good = yield from self._ask(moved)
            open_[:] = False
            for i in np.unique(of[good]).tolist():
                own = moved[good & (of == i)]
                points[i], open_[i] = own[self.space.cost(own).argmin()], True
        return points

    def _traded(self, best: FloatArray) -> Points:
        """Return a point with the pair of moves that helps most, pulled back again."""
        moved = trades(self.space, best[0])
        good = yield from self._ask(moved)
        if not good.any():
            return best
        better = self._best(moved[good], CLOSELY)
        better = yield from self._pulled(better, LOOKING, BRIEFLY)
        return self._best(better, 1)


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
