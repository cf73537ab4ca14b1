"""Moves from points that are predicted as asked to closer ones, as points to be asked about.

Every function returns points, shape (m, n_columns), and which of the points it was given each of
them comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from pertinent.answering.anything.space import Space
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray

#: Points of each kind of move from one point at most.
MOST_MOVES = 1_500
#: A pair of moves: the share of its way that one value goes back, and the share of what that saves
#: that the other one may cost.
TRADES = ((1.0, 0.95), (0.25, 0.9))

Moved = tuple[FloatArray, IntArray]


def _joined(space: Space, parts: Iterable[tuple[FloatArray, int]]) -> Moved:
    """Return parts one below the other, with the number of the point that each comes from."""
    known = [(points, i) for points, i in parts if len(points)]
    if not known:
        return np.zeros((0, len(space.center))), np.zeros(0, dtype=np.int64)
    points = np.concatenate([points for points, _ in known])
    return points, np.repeat([i for _, i in known], [len(points) for points, _ in known])


def singles(space: Space, seeds: FloatArray) -> FloatArray:
    """Return the sample with one number as in a seed, or in one other category."""
    found = []
    for j in space.numbers.tolist():
        values = np.unique(seeds[:, j])
        base = np.repeat(space.center[None], len(values), axis=0)
        found.append(space.with_number(base, j, values))
    found += [_in_categories(space, space.center, own) for own in space.categories]
    return np.concatenate([space.center[None], *found])


def pairs(space: Space, seeds: FloatArray) -> FloatArray:
    """Return the sample with two units as in a seed."""
    two = [np.concatenate(own) for own in combinations(space.units, 2)]
    seeds = seeds[: max(1, MOST_MOVES // max(1, len(two)))]
    points = np.repeat(space.center[None], len(two) * len(seeds), axis=0)
    for k, own in enumerate(two):
        here = slice(k * len(seeds), (k + 1) * len(seeds))
        points[here, own] = seeds[:, own]
    return points[:MOST_MOVES]


def _in_categories(space: Space, point: FloatArray, columns: IntArray) -> FloatArray:
    """Return a point in each category that is allowed."""
    allowed = columns[space.high[columns] >= 1]
    points = np.repeat(point[None], len(allowed), axis=0)
    points[:, columns] = 0.0
    points[np.arange(len(allowed)), allowed] = 1.0
    return points


def changed_units(space: Space, point: FloatArray) -> list[IntArray]:
    """Return the units in which a point differs from the sample, the most expensive first."""
    apart = space.weights * np.abs(point - space.center)
    changed = [own for own in space.units if (point[own] != space.center[own]).any()]
    return sorted(changed, key=lambda own: (-apart[own].sum(), int(own[0])))


def resets(space: Space, points: FloatArray) -> Moved:
    """Return each point with one of its changed units as in the sample."""
    return _joined(
        space,
        (
            (space.reset(point[None], own), i)
            for i, point in enumerate(points)
            for own in changed_units(space, point)
        ),
    )


def pulls(space: Space, points: FloatArray, open_: BoolArray, shares: Sequence[float]) -> Moved:
    """Return each open point with one changed unit as in the sample, or a number so far back."""
    parts = []
    for i in np.flatnonzero(open_).tolist():
        one = points[i][None]
        for own in changed_units(space, points[i]):
            parts.append((space.reset(one, own), i))
            for column in np.intersect1d(own, space.numbers).tolist():
                way = space.center[column] - one[0, column]
                values = one[0, column] + np.array(shares) * way
                base = np.repeat(one, len(values), axis=0)
                parts.append((space.with_number(base, column, values), i))
    moved, of = _joined(space, parts)
    moved = space.fitted(moved)
    closer = space.cost(moved) < space.cost(points)[of]
    return moved[closer], of[closer]


def trades(space: Space, point: FloatArray) -> FloatArray:
    """Return a point after pairs of moves: one value goes back, another one pays with less."""
    apart, found = space.weights * np.abs(point - space.center), []
    for own in changed_units(space, point):
        numbers = np.isin(own, space.numbers).all()
        for share, spend in TRADES:
            if share < 1.0 and not numbers:
                continue
            back = space.reset(point[None], own)
            if share < 1.0:
                back[:, own] = point[own] + share * (space.center[own] - point[own])
            budget = spend * share * float(apart[own].sum())
            found += _spent(space, back, own, budget)
    if not found:
        return np.zeros((0, len(point)))
    points = space.fitted(np.concatenate(found))
    points = points[space.cost(points) < space.cost(point[None])]
    return points[:: -(-len(points) // MOST_MOVES)] if len(points) > MOST_MOVES else points


def _spent(space: Space, back: FloatArray, own: IntArray, budget: float) -> list[FloatArray]:
    """Return a point with each other number so much farther, either way, or another category."""
    numbers = np.setdiff1d(space.numbers, own)
    weights = space.weights[numbers]
    reach = np.where(weights > 0, budget / np.where(weights > 0, weights, 1.0), 0.0)
    found = []
    for sign in (1.0, -1.0):
        many = np.repeat(back, len(numbers), axis=0)
        rows = np.arange(len(numbers))
        many[rows, numbers] += sign * reach
        for number, mark in space.features.marks.items():
            here = numbers == number
            many[np.ix_(rows[here], [mark])] = 0.0
        found.append(many)
    found += [
        _in_categories(space, back[0], columns)
        for columns in space.categories
        if not np.isin(columns, own).any()
    ]
    return found
