"""Round what is shown without making it wrong.

A proved smallest change ends on the decision boundary, and rounding it to a nice number would
land on the wrong side about every third time. So each row takes the coarsest step at which
``predict`` and the rules still accept the point *as printed*.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

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
#: A number of more digits is said about.
LONG = 10


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
    """
    shown = points.copy()
    if by_sample(setting.within):  # a blend of neighbours stays one only as it is
        return shown
    low, high = (np.broadcast_to(side, points.shape) for side in limits)
    tight, every = bool(setting.constraints.inferred), moved
    quoted = np.full(points.shape, np.nan)
    if tight and changes:
        # Steps of the data, and ends of their range, are quoted.
        quoted = _quoted_steps(setting, points, moved & ((points == low) | (points == high)))
        moved = moved & np.isnan(quoted)
    waiting = np.flatnonzero(~np.isnan(points).any(axis=1) & moved.any(axis=1))
    start = np.broadcast_to(origin, points.shape)
    # A printed 440,000 is not read as 440,271: whole numbers are told to the last digit.
    coarsest = 1.0 if tight and changes else np.inf
    finer = [np.minimum(steps / 10.0**k, coarsest) for k in range(REFINEMENTS + 3 * tight)]
    for candidate, step in _candidates(points, start, finer):
        if not len(waiting):
            break
        tried = np.where(moved[waiting], candidate[waiting], points[waiting])
        limits = low[waiting], high[waiting]
        some, own = table.take(waiting), labels[waiting]
        ask = Ask(some, tried, Kind.IS, own, *limits, RowRules(None, changes))
        size = distance(tried, start[waiting], setting.weights)
        close = size <= (1 + SLACK) * distance(points[waiting], start[waiting], setting.weights)
        good = close & judge(setting, ask, tried).passes
        if tight and changes:
            fine = np.where(np.isnan(quoted[waiting]), step, quoted[waiting])
            look = every[waiting] & good[:, None] & (fine > 0)
            good &= _is_least(setting, some, tried, look, start[waiting], own, fine)
        shown[waiting[good]] = tried[good]
        waiting = waiting[~good]
    return shown


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
    """Return whether no value, one step of what is shown closer to its origin, would do as well."""
    least = np.ones(len(points), dtype=bool)
    for j in np.flatnonzero(moved.any(axis=0)).tolist():
        rows = np.flatnonzero(moved[:, j] & least)
        if not len(rows):
            continue
        closer, way = points[rows].copy(), origin[rows, j] - points[rows, j]
        next_ = _as_written(points[rows, j] + np.sign(way) * step[rows, j])
        closer[:, j] = np.where(np.abs(way) > step[rows, j], next_, origin[rows, j])
        least[rows] = setting.predict(table.take(rows), closer) != labels[rows]
    return least


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


def _on_grid(counts: FloatArray, step: FloatArray) -> FloatArray:
    """Return ``counts * step`` as the doubles nearest to those decimal numbers."""
    places = np.round(-np.log10(step)).astype(int)
    out = np.empty_like(counts)
    for j, digits in enumerate(places):
        power = 10.0 ** abs(int(digits))
        out[:, j] = counts[:, j] / power if digits > 0 else counts[:, j] * power
    return out
