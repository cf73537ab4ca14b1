"""Round what is shown without making it wrong.

A proved smallest change ends on the decision boundary, and rounding it to a nice number would
land on the wrong side about every third time. So each row takes the coarsest step at which
``predict`` and the rules still accept the point *as printed*.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import chain, islice

import numpy as np

from pertinent.density.measure import by_sample
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.setting.answers import Ask, RowRules
from pertinent.setting.judge import judge
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.summary.tolerances import ON_GRID, SLACK
from pertinent.tables.table import Table

#: Steps of a tenth each, before the exact number is shown.
REFINEMENTS = 6
#: What is left open by a proof of values that are told "about".
ROUNDING = "but for rounding in single precision"
#: A number of more digits is said about.
LONG = 10
#: Points that the model is asked about at once, where a row has several to be tried: one call for
#: twenty points costs little more than one for a single point.
TRIED_AT_ONCE = 32


def first_steps(samples: FloatArray, scale: FloatArray, baseline: FloatArray) -> FloatArray:
    """Return the coarsest step of each feature: a hundredth of its scale, or whole numbers.

    Parameters
    ----------
    samples : ndarray of shape (n, n_features)
    scale : ndarray of shape (n_features,)
        Usual spread of each feature.
    baseline : ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.summary.rounding import first_steps
    >>> samples = np.array([[3.0, 0.25], [7.0, 0.5]])
    >>> first_steps(samples, np.array([20.0, 3.0]), np.zeros(2)).tolist()
    [1.0, 0.01]
    """
    fine = 10.0 ** (np.floor(np.log10(scale)) - 2)
    known = np.vstack([samples, baseline])
    whole = (known == np.round(known)).all(axis=0)
    return np.asarray(np.where(whole, np.maximum(fine, 1.0), fine))


def round_valid(
    setting: Setting,
    table: Table,
    points: FloatArray,
    moved: BoolArray,
    origin: FloatArray,
    labels: IntArray,
    limits: tuple[FloatArray, FloatArray],
    steps: FloatArray,
    *,
    changes: bool = False,
) -> FloatArray:
    """Return the points rounded as coarsely as the model's ``predict`` and the rules allow.

    Parameters
    ----------
    setting : Setting
    table : Table
        The samples, one for each point.
    points : ndarray of shape (n, n_features)
        Rows of NaN are left alone.
    moved : ndarray of bool, shape (n, n_features)
        Values that may be rounded; the others are quoted from the data.
    origin : ndarray broadcastable to (n, n_features)
        Where the values moved away from; rounding goes further the same way first.
    labels : ndarray of int, shape (n,)
        Places of the classes that the points must keep.
    limits : tuple of ndarray
        Lowest and highest allowed values, broadcastable to the points.
    steps : ndarray of shape (n_features,)
    changes : bool
        Whether the rules about how many features change apply.

    Returns
    -------
    ndarray of shape (n, n_features)
        As they are told (see `Table.as_told`): numbers in single precision are decimal numbers.
    """
    told = table.as_told(points)
    shown = told.copy()
    if by_sample(setting.within):  # a blend of neighbours stays one only as it is
        return shown
    low, high = (np.broadcast_to(side, points.shape) for side in limits)
    tight, every = bool(setting.constraints.inferred), moved
    quoted = np.full(points.shape, np.nan)
    if tight and changes:
        # Steps of the data, and ends of their range, are quoted.
        ends = moved & ((points == low) | (points == high))
        quoted = _quoted_steps(setting, told, ends)
        moved = moved & np.isnan(quoted)
    waiting = np.flatnonzero(~np.isnan(points).any(axis=1) & moved.any(axis=1))
    start = np.broadcast_to(origin, points.shape)
    told_start, single = table.as_told(start), bool(table.decimal_columns.any())
    # A printed 440,000 is not read as 440,271: whole numbers are told to the last digit.
    coarsest = 1.0 if tight and changes else np.inf
    finer = [np.minimum(steps / 10.0**k, coarsest) for k in range(REFINEMENTS + 3 * tight)]
    named = np.zeros((len(points), 1), dtype=bool)  # the rows that have such a rounding
    candidates, most = _candidates(told, told_start, finer), 1  # most rows need one only
    if not changes:  # of a smallest change nothing is left out
        candidates = chain(candidates, _closer_ones(told, told_start, finer))
    while len(waiting) and (several := list(islice(candidates, most))):
        rows = np.tile(waiting, len(several))
        grids = np.concatenate([candidate[waiting] for candidate, _ in several])
        printed = np.where(moved[rows], grids, told[rows])
        some, own = table.take(rows), labels[rows]
        tried = table.as_held(printed)
        ask = Ask(some, tried, Kind.IS, own, low[rows], high[rows], RowRules(None, changes))
        size = distance(tried, start[rows], setting.weights)
        close = size <= (1 + SLACK) * distance(points[rows], start[rows], setting.weights)
        good = close & judge(setting, ask, tried).passes
        if single:  # where none is least: the coarsest that is valid, which `not_least` sees
            for k in np.flatnonzero(good).tolist()[::-1]:
                shown[rows[k]] = np.where(named[rows[k]], shown[rows[k]], printed[k])
            named[rows[good]] = True
        if tight and changes:
            step = np.repeat([step for _, step in several], len(waiting), axis=0)
            fine = np.where(np.isnan(quoted[rows]), step, quoted[rows])
            look = every[rows] & good[:, None] & (fine > 0)
            good &= _is_least(setting, some, printed, look, told_start[rows], own, fine)
        passes = good.reshape(len(several), len(waiting))
        done = np.flatnonzero(passes.any(axis=0))
        coarsest_good = passes[:, done].argmax(axis=0) * len(waiting) + done
        shown[waiting[done]] = printed[coarsest_good]
        waiting = np.delete(waiting, done)
        most = max(1, TRIED_AT_ONCE // max(1, len(waiting)))
    return shown


def not_least(
    setting: Setting, table: Table, shown: FloatArray, moved: BoolArray, labels: IntArray
) -> BoolArray:
    """Return which new values would do as well one step of what is shown closer to the own ones.

    Only in single precision: a model that adds up so rounds by more than its last digits, and an
    answer keeps away from what rounding may decide. Such a value is said to be about that.

    Parameters
    ----------
    setting : Setting
    table : Table
        The samples, one for each point.
    shown : ndarray of shape (n, n_features)
        See `round_valid`.
    moved : ndarray of bool, shape (n, n_features)
        The numbers that changed.
    labels : ndarray of int, shape (n,)
        Places of the classes that the points have.
    """
    found = np.zeros(shown.shape, dtype=bool)
    if not (table.decimal_columns.any() and setting.constraints.inferred):
        return found
    there = moved & ~np.isnan(shown)
    rows, columns = np.nonzero(there)
    if len(rows):
        steps = _quoted_steps(setting, shown, there)[rows, columns]
        own = table.as_told(table.values)
        does = _does_closer(setting, table, shown, own, (rows, columns), steps, labels)
        found[rows[does], columns[does]] = True
    return found


def _quoted_steps(setting: Setting, points: FloatArray, ends: BoolArray) -> FloatArray:
    """Return the steps of values that are shown as they are; NaN for those that are rounded.

    The step of their lattice, or their last digit; 0 for a number of more digits than are read.
    """
    steps = np.full(points.shape, np.nan)
    for i, j in np.argwhere(ends).tolist():
        digits = Decimal(repr(float(points[i, j]))).as_tuple()
        steps[i, j] = 10.0 ** int(digits.exponent) if len(digits.digits) <= LONG else 0.0
    for j, lattice in setting.constraints.lattice(setting.features).items():
        steps[:, j] = lattice.step
    return steps


def _is_least(
    setting: Setting,
    table: Table,
    points: FloatArray,
    moved: BoolArray,
    origin: FloatArray,
    labels: IntArray,
    step: FloatArray,
) -> BoolArray:
    """Return whether no value, one step of what is shown closer to its origin, would do as well.

    Points and origin are as they are told.
    """
    rows, columns = np.nonzero(moved)
    least = np.ones(len(points), dtype=bool)
    if len(rows):
        where, own = (rows, columns), step[rows, columns]
        does = _does_closer(setting, table, points, origin, where, own, labels)
        least[rows[does]] = False
    return least


def _does_closer(
    setting: Setting, table: Table, points: FloatArray, origin: FloatArray,
    where: tuple[IntArray, IntArray], step: FloatArray, labels: IntArray,
) -> BoolArray:  # fmt: skip
    """Return of some values whether the point keeps its class with that one a step closer.

    Closer than the smallest change that the rules allow is the own value alone.
    """
    rows, columns = where
    closer, here, home = points[rows], points[rows, columns], origin[rows, columns]
    next_ = _as_written(here + np.sign(home - here) * step)
    domain = setting.domain_of(table, changes=True)
    if domain is not None and domain.gap is not None:
        below, above = (side[rows, columns] for side in domain.gap)
        next_ = np.where((below < next_) & (next_ < above), home, next_)
    closer[np.arange(len(rows)), columns] = np.where(np.abs(home - here) > step, next_, home)
    held = table.take(rows).as_held(closer)
    return np.asarray(setting.predict(table.take(rows), held) == labels[rows])


def _as_written(values: FloatArray) -> FloatArray:
    """Return sums of printed numbers as they would be printed.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.summary.rounding import _as_written
    >>> 5.43 + 0.01, float(_as_written(np.array([5.43 + 0.01]))[0])
    (5.4399999999999995, 5.44)
    """
    return np.array([float(f"{value:.{LONG + 2}g}") for value in values.tolist()])


def _candidates(
    points: FloatArray, origin: FloatArray, steps: list[FloatArray]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the points on finer and finer grids: away from the origin, to the nearest, farther.

    Each with the steps of its grid. A value a rounding before a number of the grid is first shown
    as that number. Where that is an edge, and of another class, it goes on to the next one.
    """
    for step in steps:
        ratio = points / step
        up = points > origin
        # A value that lies on the grid but for rounding stays where it is.
        near = np.abs(ratio - np.round(ratio)) < ON_GRID * np.maximum(1.0, np.abs(ratio))
        away = np.where(near, np.round(ratio), np.where(up, np.ceil(ratio), np.floor(ratio)))
        shown = _on_grid(away, step)
        yield shown, step
        yield _on_grid(np.round(ratio), step), step
        before = np.where(up, shown < points, shown > points)
        if before.any():
            yield _on_grid(away + before * np.where(up, 1.0, -1.0), step), step


def _closer_ones(
    points: FloatArray, origin: FloatArray, steps: list[FloatArray]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the points on finer and finer grids, each a little closer to the origin than it is.

    A value next to an edge that belongs to another class has no other rounding: 4.499999999999999,
    below bins that begin at 4.5, is told as 4.49.
    """
    for step in steps:
        ratio = points / step
        near = np.abs(ratio - np.round(ratio)) < ON_GRID * np.maximum(1.0, np.abs(ratio))
        closer = np.where(points > origin, np.floor(ratio), np.ceil(ratio))
        before = np.round(ratio) + np.sign(origin - points)
        yield _on_grid(np.where(near, before, closer), step), step


def _on_grid(counts: FloatArray, step: FloatArray) -> FloatArray:
    """Return ``counts * step`` as the doubles nearest to those decimal numbers."""
    places = np.round(-np.log10(step)).astype(int)
    out = np.empty_like(counts)
    for j, digits in enumerate(places):
        power = 10.0 ** abs(int(digits))
        out[:, j] = counts[:, j] / power if digits > 0 else counts[:, j] * power
    return out
