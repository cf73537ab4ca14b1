"""The fewest values of a sample that keep its class, the rest at the baseline, by search.

Small sets are tried one by one. Else values are taken away in several orders, each as long as
``predict`` keeps the class; and from the smallest set two are taken away and one is put back, until
no such swap helps.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import combinations, islice

import numpy as np

from pertinent.answering.anything.asking import Search
from pertinent.answering.anything.space import Space
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray

#: Sets of two features, and swaps of one round, that are tried at most.
MOST_SETS = 1_000

Sets = Generator[FloatArray, BoolArray, BoolArray]


@dataclass(eq=False)
class Kept:
    """The search for the values of one sample that are enough.

    Parameters
    ----------
    space : Space
        Its center is the sample.
    rest : ndarray of shape (n_columns,)
        Where columns stand that are not kept.
    forced, barred : ndarray of bool, shape (n_features,)
        Features that must be kept, and that cannot be.

    Attributes
    ----------
    found : list of ndarray of bool, shape (n_features,)
        Sets that were enough, each smaller than the one before.
    """

    space: Space
    rest: FloatArray
    forced: BoolArray
    barred: BoolArray
    found: list[BoolArray] = field(default_factory=list)

    def search(self) -> Search:
        """Look for small sets; they are kept in ``found``."""
        free = np.flatnonzero(~self.forced & ~self.barred)
        for size in (0, 1, 2):
            many = islice(combinations(free.tolist(), size), MOST_SETS)
            good = yield from self._ask(self._sets([list(one) for one in many]))
            if good.any():
                return
        yield from self._removed(free)
        while self.found and (yield from self._swapped(free)):
            pass

    def points(self, sets: BoolArray) -> FloatArray:
        """Return the points that keep the features of each set."""
        on = self.space.features.by_column(sets)
        points = np.where(on, self.space.center, self.rest)
        domain = self.space.features.domain()
        return points if domain is None else domain.completed(points)

    def _sets(self, features: list[list[int]]) -> BoolArray:
        sets = np.repeat(self.forced[None], len(features), axis=0)
        for one, own in zip(sets, features, strict=True):
            one[own] = True
        return sets

    def _ask(self, sets: BoolArray) -> Sets:
        """Ask which sets are enough; the first of the smallest is noted."""
        points, good = self.points(sets), np.zeros(len(sets), dtype=bool)
        allowed = self.space.allows(points) if len(points) else good
        if allowed.any():
            good[allowed] = yield points[allowed]
        if good.any():
            sizes = np.where(good, sets.sum(axis=1), sets.shape[1] + 1)
            best = int(sizes.argmin())
            if not self.found or sizes[best] < self.found[-1].sum():
                self.found.append(sets[best].copy())
        return good

    def _removed(self, free: IntArray) -> Sets:
        """Take values away in several orders, all orders side by side."""
        orders = self._orders(free)
        kept: list[list[int]] = [[] for _ in orders]
        while any(orders):
            parts = [self._shorter(own, order) for own, order in zip(kept, orders, strict=True)]
            good = yield from self._ask(np.concatenate(parts))
            ends = np.cumsum([len(part) for part in parts])[:-1]
            for k, yes in enumerate(np.split(good, ends)):
                # As many as can go do, and the next one stays.
                gone = int(np.flatnonzero(yes)[-1]) if yes.any() else 0
                kept[k] += orders[k][gone : gone + 1]
                orders[k] = orders[k][gone + 1 :]
        return (yield from self._ask(self._sets(kept)))

    def _shorter(self, kept: list[int], order: list[int]) -> BoolArray:
        """Return the sets without the first 0, 1, 2, ... features of an order."""
        return self._sets([kept + order[gone:] for gone in range(len(order) + 1)])

    def _orders(self, free: IntArray) -> list[list[int]]:
        """Return orders of the features: by their distance from rest, both ways, and mixed."""
        space = self.space
        apart = np.zeros(len(space.features))
        np.add.at(apart, space.features.owner, space.weights * np.abs(space.center - self.rest))
        near = free[np.argsort(apart[free], kind="stable")].tolist()
        mixed = [near[0::2] + near[1::2], near[1::2] + near[0::2]]
        third = len(near) // 3
        return [
            near,
            near[::-1],
            *mixed,
            near[third:] + near[:third],
            near[2 * third :] + near[: 2 * third],
        ]

    def _swapped(self, free: IntArray) -> Generator[FloatArray, BoolArray, bool]:
        """Take two values away and put one back; return whether a set is enough."""
        own = self.found[-1]
        inside = [j for j in free.tolist() if own[j]]
        outside = [j for j in free.tolist() if not own[j]]
        fewer = [[j for j in inside if j not in pair] for pair in combinations(inside, 2)]
        swaps = [[*left, new] for left in fewer for new in outside]
        ones = [[j for j in inside if j != gone] for gone in inside]
        good = yield from self._ask(self._sets((ones + swaps)[:MOST_SETS]))
        return bool(good.any())
