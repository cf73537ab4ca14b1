"""What values a column may take at all: any number, a lattice of steps, one of a group.

Beside bounds, a column may be confined to whole numbers, decimals or the multiples of a step, a
changed value may have to keep away from the row's own, several columns may form a group of which
exactly one is 1 (the categories of one feature), and rules may speak of features that change or
stay. A purely continuous problem has no `Domain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits, read_only
from pertinent.geometry.rounding.singles import as_singles, single_beside, single_spacing

#: Where a number must change, it moves at least by this share of its scale (1 / weight).
SMALLEST_CHANGE = 1e-3

#: The row of each value, one row for all of them, or None: all rows, in their order.
Rows = IntArray | int | None
Columns = IntArray | int


@dataclass(frozen=True)
class Lattice:
    """The numbers ``(offset + k * multiple) / 10**decimals`` for whole k, each the nearest double.

    In single precision each is the nearest float32: what the decimal number becomes in such a
    column. Where steps are finer than that, every float32 is one.

    Parameters
    ----------
    decimals : int
        Digits after the point; negative ones are zeros before it.
    multiple : int
        Distance of neighbours, in units of the last digit.
    offset : int
        One of the numbers, in units of the last digit.
    single : bool
        Whether the numbers are those of a column in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> halves = Lattice(1, 5)
    >>> halves.ceil(np.array([0.2, 0.5, -0.7])).tolist(), halves.step
    ([0.5, 0.5, -0.5], 0.5)
    >>> Lattice(0, 10, 3).has(np.array([13.0, 10.0])).tolist()
    [True, False]
    >>> tenths = Lattice(1, single=True)
    >>> tenths.has(np.array([119.9, np.float32(119.9)])).tolist()
    [False, True]
    """

    decimals: int
    multiple: int = 1
    offset: int = 0
    single: bool = False

    @property
    def step(self) -> float:
        """The distance of neighbours."""
        return float(self._decimal(np.array(float(self.multiple))))

    def words(self) -> str:
        """Return what the numbers are, e.g. "steps of 0.5".

        Examples
        --------
        >>> Lattice(0).words(), Lattice(2).words(), Lattice(-1).words(), Lattice(1, 5, 2).words()
        ('0 decimals', '2 decimals', 'steps of 10', 'steps of 0.5 from 0.2')
        """
        if self.multiple == 1 and self.decimals >= 0:
            return f"{self.decimals} decimal{'' if self.decimals == 1 else 's'}"
        first = f" from {float(self._decimal(np.array(self.offset))):.12g}" if self.offset else ""
        return f"steps of {self.step:.12g}{first}"

    def at(self, count: FloatArray) -> FloatArray:
        """Return the numbers with whole numbers ``k = count``."""
        point = self._decimal(count * self.multiple + self.offset)
        return as_singles(point) if self.single else point

    def nearest(self, values: FloatArray) -> FloatArray:
        """Return the number next to each value."""
        return self.at(self._count(values))

    def ceil(self, values: FloatArray) -> FloatArray:
        """Return the smallest numbers that are not below the values."""
        count = self._count(values)
        point = self.at(count)
        # Compared as numbers, not as counts: multiplying by a power of ten has rounded.
        point = np.where(point >= values, point, self.at(count + 1.0))
        return self._or_any_single(point, values, up=True) if self.single else point

    def floor(self, values: FloatArray) -> FloatArray:
        """Return the largest numbers that are not above the values."""
        count = self._count(values)
        point = self.at(count)
        point = np.where(point <= values, point, self.at(count - 1.0))
        return self._or_any_single(point, values, up=False) if self.single else point

    def _or_any_single(self, points: FloatArray, values: FloatArray, *, up: bool) -> FloatArray:
        """Return the points; where steps are finer than single precision, the nearest float32."""
        finer = single_spacing(values) >= self.step
        return np.where(finer, single_beside(values, up=up), points)

    def has(self, values: FloatArray) -> BoolArray:
        """Return whether values are exactly numbers of the lattice."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.nearest(values) == values)

    def _count(self, values: FloatArray) -> FloatArray:
        digits = self.decimals
        units = values * 10.0**digits if digits >= 0 else values / 10.0**-digits
        return np.asarray(np.round((units - self.offset) / self.multiple))

    def _decimal(self, units: FloatArray) -> FloatArray:
        digits = self.decimals
        return np.asarray(units / 10.0**digits if digits >= 0 else units * 10.0**-digits)


def are_on_steps(values: FloatArray, lattice: Mapping[int, Lattice]) -> bool:
    """Return whether all values of the columns with a lattice are numbers of it.

    Columns of like steps are looked at together.
    """
    alike: dict[Lattice, list[int]] = {}
    for j, steps in lattice.items():
        alike.setdefault(steps, []).append(j)
    return all(steps.has(values[:, columns]).all() for steps, columns in alike.items())


@dataclass(frozen=True, eq=False)
class Bins:
    """A column whose effect depends on the bin it falls in.

    Bin k holds ``edges[k - 1] <= x < edges[k]`` (open at both ends), and column ``columns[k]``
    is 1 in bin k, else 0.

    Parameters
    ----------
    column : int
        The binned column.
    columns : ndarray of int, shape (n_bins,)
        The indicators; they form a group.
    edges : ndarray of shape (n_bins - 1,)
    left_closed : bool
        Whether an edge belongs to the bin above it (True) or below it.
    guard : float
        How far answers keep from an edge, where the model computes it with rounding.
    excess : int, optional
        The column of ``x - min(max(x, edges[0]), edges[1])``, for a model that cuts x off at two
        edges: 0 between them, beyond them x minus the edge. Both bins then own their edge.
    """

    column: int
    columns: IntArray
    edges: FloatArray
    left_closed: bool = True
    guard: float = 0.0
    excess: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", read_only(np.asarray(self.edges, dtype=float)))

    def of(self, values: FloatArray) -> IntArray:
        """Return the bin of each value."""
        side: Literal["left", "right"] = "right" if self.left_closed else "left"
        return np.asarray(np.searchsorted(self.edges, values, side=side))

    def between(self, low: float, high: float) -> BoolArray:
        """Return which bins numbers of a range may fall in."""
        first, last = self.of(np.array([low - self.guard, high + self.guard]))
        places = np.arange(len(self.columns))
        return np.asarray((first <= places) & (places <= last))

    def fill(self, points: FloatArray) -> None:
        """Write the columns that follow from the binned one, in place."""
        values = points[:, self.column]
        points[:, self.columns] = 0.0
        points[np.arange(len(points)), self.columns[self.of(values)]] = 1.0
        if self.excess is not None:
            points[:, self.excess] = self.beyond(values)

    def beyond(self, values: FloatArray) -> FloatArray:
        """Return by how much values lie beyond the two edges they are cut off at."""
        return np.asarray(values - np.clip(values, self.edges[0], self.edges[-1]))

    @cached_property
    def beyond_slope(self) -> FloatArray:
        """For each bin, the slope of ``beyond``: 1 outside the edges, 0 between them."""
        return read_only(np.array([1.0, 0.0, 1.0]))

    @cached_property
    def beyond_shift(self) -> FloatArray:
        """For each bin, the constant of ``beyond``: minus the edge outside, 0 between."""
        return read_only(np.array([-self.edges[0], 0.0, -self.edges[-1]]))

    @cached_property
    def low(self) -> FloatArray:
        """The smallest number of each bin."""
        if self.excess is not None:
            return read_only(np.concatenate([[-np.inf], self.edges]))
        edges = self.edges + self.guard
        first = edges if self.left_closed else np.nextafter(edges, np.inf)
        return read_only(np.concatenate([[-np.inf], first]))

    @cached_property
    def high(self) -> FloatArray:
        """The largest number of each bin."""
        if self.excess is not None:
            return read_only(np.concatenate([self.edges, [np.inf]]))
        edges = self.edges - self.guard
        last = np.nextafter(edges, -np.inf) if self.left_closed else edges
        return read_only(np.concatenate([last, [np.inf]]))


@dataclass(frozen=True, eq=False)
class Domain:
    """Which points are allowed, beyond the inequalities of a cell.

    Parameters
    ----------
    decimals : ndarray of shape (n_columns,)
        Digits after the point: 0 for whole numbers, NaN where any number is allowed. A row's
        own value (see ``own``) is always allowed.
    groups : tuple of ndarray of int
        Columns of which exactly one is 1, the others 0.
    owner : ndarray of int, shape (n_columns,)
        The feature that each column belongs to.
    bins : tuple of Bins
    max_changes : int, optional
        How many features (or groups of ``together``) may differ from ``own``.
    together : tuple of ndarray of int
        Features that all keep their own value, or all change.
    own : ndarray of shape (n, n_columns), optional
        Each row's own values: needed for the three rules above.
    scale : ndarray of shape (n_columns,), optional
        1 / weight: the unit of a smallest change.
    multiple, offset : ndarray of shape (n_columns,), optional
        Of columns with decimals: see `Lattice`. 1 and 0 by default.
    single : ndarray of bool, shape (n_columns,), optional
        Of columns with decimals: whether they are in single precision. None is by default.
    gap : tuple of two ndarray of shape (n, n_columns), optional
        ``(below, above)``: a value is ``<= below``, the row's own, or ``>= above``. Both are the
        own value where any change will do.
    """

    decimals: FloatArray
    groups: tuple[IntArray, ...] = ()
    owner: IntArray = field(default=None)  # type: ignore[arg-type]
    bins: tuple[Bins, ...] = ()
    max_changes: int | None = None
    together: tuple[IntArray, ...] = ()
    own: FloatArray | None = None
    scale: FloatArray | None = None
    multiple: FloatArray | None = None
    offset: FloatArray | None = None
    gap: Limits | None = None
    single: BoolArray | None = None

    def __post_init__(self) -> None:
        if self.owner is None:
            object.__setattr__(self, "owner", np.arange(len(self.decimals)))
        cut = [bins.column for bins in self.bins if bins.excess is not None]
        if len(cut) > len(set(cut)):
            raise ValueError("A column can be cut off at one pair of edges only.")

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self.decimals)

    @cached_property
    def in_group(self) -> BoolArray:
        """Whether each column is one of a group."""
        mask = np.zeros(self.dim, dtype=bool)
        for group in self.groups:
            mask[group] = True
        return mask

    @cached_property
    def grouped(self) -> tuple[IntArray, IntArray, IntArray]:
        """The columns of all groups, where those of each begin, and the group of each column."""
        sizes = [len(group) for group in self.groups]
        starts = np.cumsum([0, *sizes[:-1]])
        return np.concatenate(self.groups), starts, np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def follows(self) -> BoolArray:
        """Whether each column only follows from another: bins, and what is cut off."""
        mask = np.zeros(self.dim, dtype=bool)
        for bins in self.bins:
            mask[bins.columns] = True
            if bins.excess is not None:
                mask[bins.excess] = True
        return mask

    @cached_property
    def lattice(self) -> IntArray:
        """The columns confined to steps, groups aside."""
        return np.flatnonzero(np.isfinite(self.decimals) & ~self.in_group)

    @cached_property
    def steps(self) -> dict[int, Lattice]:
        """The lattice of each column that has one."""
        every = np.ones(self.dim) if self.multiple is None else self.multiple
        first = np.zeros(self.dim) if self.offset is None else self.offset
        single = np.zeros(self.dim, dtype=bool) if self.single is None else self.single
        return {
            j: Lattice(int(self.decimals[j]), int(every[j]), int(first[j]), bool(single[j]))
            for j in self.lattice.tolist()
        }

    @cached_property
    def confined(self) -> IntArray:
        """The columns that do not take every number: on a lattice, or with a gap around the own."""
        if self.gap is None or self.own is None:
            return self.lattice
        below, above = self.gap
        open_ = ((below < self.own) | (above > self.own)).any(axis=0) & ~self.in_group
        return np.union1d(self.lattice, np.flatnonzero(open_ & ~self.follows))

    def is_single(self, columns: BoolArray) -> bool:
        """Return whether these columns, groups aside, hold numbers in single precision only."""
        if self.single is None:
            return False
        stepped = np.zeros(self.dim, dtype=bool)
        stepped[self.lattice] = self.single[self.lattice]
        return bool((stepped | self.in_group | self.follows | ~columns).all())

    @property
    def confines(self) -> bool:
        """Whether more is asked of a point than to keep out of gaps."""
        return bool(len(self.lattice) or self.groups or self.bins or self.counts_changes)

    @cached_property
    def units(self) -> IntArray:
        """For each feature, the unit of change it belongs to: its own, or a group's."""
        unit = np.arange(int(self.owner.max(initial=-1)) + 1)
        for group in self.together:
            unit[group] = group.min()
        return unit

    @cached_property
    def unit_of_column(self) -> IntArray:
        """For each column, its unit of change; hidden columns follow their feature."""
        return np.asarray(self.units[self.owner])

    @property
    def has_lone_columns(self) -> bool:
        """Whether every column is a unit of change by itself: no category, no mark beside it."""
        return len(np.unique(self.unit_of_column)) == self.dim

    @property
    def counts_changes(self) -> bool:
        """Whether any rule speaks of features that change or stay."""
        return self.max_changes is not None or bool(self.together)

    def take(self, rows: IntArray) -> Domain:
        """Return the domain of some of the rows."""
        if self.own is None:
            return self
        some = copy(self)  # what was found out of all rows holds for some
        gap = None if self.gap is None else (self.gap[0][rows], self.gap[1][rows])
        object.__setattr__(some, "own", self.own[rows])
        object.__setattr__(some, "gap", gap)
        return some

    @cached_property
    def _grids(self) -> tuple[FloatArray, ...]:
        """Of each column: its lattice's factor and divisor, multiple and offset; ones without."""
        digits = np.where(np.isfinite(self.decimals), self.decimals, 0.0)
        factor, divisor = 10.0 ** np.maximum(digits, 0.0), 10.0 ** np.maximum(-digits, 0.0)
        every = np.ones(self.dim) if self.multiple is None else np.asarray(self.multiple, float)
        first = np.zeros(self.dim) if self.offset is None else np.asarray(self.offset, float)
        return factor, divisor, every, first

    @cached_property
    def _confined_grids(self) -> tuple[BoolArray, tuple[FloatArray, ...]]:
        """Which of the confined columns have a lattice, and the grids of all of them."""
        grids = tuple([part[self.confined] for part in self._grids])
        return np.isfinite(self.decimals[self.confined]), grids

    def on_steps(self, columns: Columns, values: FloatArray, *, up: bool) -> FloatArray:
        """Return the numbers of the columns' lattices next to values, not below or not above them.

        As `Lattice.ceil` and `Lattice.floor`, for many columns; without a lattice the values.
        """
        if columns is self.confined:
            is_grid, (factor, divisor, every, first) = self._confined_grids
        else:
            factor, divisor, every, first = (part[columns] for part in self._grids)
            is_grid = np.isfinite(self.decimals[columns])
        single = None if self.single is None else self.single[columns]
        count = np.round((values * factor / divisor - first) / every)
        point = _as_single((count * every + first) / factor * divisor, single)
        wrong = point < values if up else point > values
        if np.count_nonzero(wrong):
            other = ((count + (1.0 if up else -1.0)) * every + first) / factor * divisor
            point = np.where(wrong, _as_single(other, single), point)
        if single is not None:
            finer = single & (single_spacing(values) >= every / factor * divisor)
            point = np.where(finer, single_beside(values, up=up), point)
        return np.where(is_grid, point, values)

    def floor(self, columns: Columns, values: FloatArray, rows: Rows = None) -> FloatArray:
        """Return the largest allowed values of columns that are not above the given.

        One column and a value for each of ``rows``, or several and a row of values for each.
        """
        point = self.on_steps(columns, values, up=False)
        if self.own is None:
            return point
        own = _at(self.own, rows, columns)
        if self.gap is not None:
            below, above = (_at(side, rows, columns) for side in self.gap)
            inside = (point < own) & (point > below)
            if np.count_nonzero(inside):
                point = np.where(inside, self.on_steps(columns, below, up=False), point)
            point = np.where((point > own) & (point < above), own, point)
        return np.where(own <= values, np.maximum(point, own), point)

    def ceil(self, columns: Columns, values: FloatArray, rows: Rows = None) -> FloatArray:
        """Return the smallest allowed values of columns that are not below the given."""
        point = self.on_steps(columns, values, up=True)
        if self.own is None:
            return point
        own = _at(self.own, rows, columns)
        if self.gap is not None:
            below, above = (_at(side, rows, columns) for side in self.gap)
            inside = (point > own) & (point < above)
            if np.count_nonzero(inside):
                point = np.where(inside, self.on_steps(columns, above, up=True), point)
            point = np.where((point < own) & (point > below), own, point)
        return np.where(own >= values, np.minimum(point, own), point)

    def next_to_own(self, column: int, own: FloatArray) -> Limits:
        """Return the values next to own ones, below and above, that count as changed.

        On a lattice its own numbers: ``own - step`` rounds, and an own value may lie off it.
        """
        if np.isfinite(self.decimals[column]):
            below = self.on_steps(column, np.nextafter(own, -np.inf), up=False)
            return below, self.on_steps(column, np.nextafter(own, np.inf), up=True)
        least = SMALLEST_CHANGE * (1.0 if self.scale is None else float(self.scale[column]))
        return own - least, own + least

    def violation(self, points: FloatArray) -> BoolArray:
        """Return which points (one for each row of ``own``) are not allowed."""
        wrong = np.zeros(len(points), dtype=bool)
        j = self.confined
        if len(j):
            x = points[:, j]
            good = self.on_steps(j, x, up=True) == x
            if self.own is not None and self.gap is not None:
                good &= (x <= self.gap[0][:, j]) | (x >= self.gap[1][:, j])
            if self.own is not None:
                good |= x == self.own[:, j]
            wrong |= ~good.all(axis=1)
        for group in self.groups:
            block = points[:, group]
            wrong |= ~(((block == 0) | (block == 1)).all(axis=1) & (block.sum(axis=1) == 1))
        for bins in self.bins:
            values = points[:, bins.column]
            wrong |= points[np.arange(len(points)), bins.columns[bins.of(values)]] != 1
            if bins.excess is not None:
                wrong |= points[:, bins.excess] != bins.beyond(values)
        if self.counts_changes and self.own is not None:
            wrong |= self._breaks_change_rules(points)
        return wrong

    def completed(self, points: FloatArray) -> FloatArray:
        """Return points whose bins follow from their numbers."""
        if not self.bins:
            return points
        points = points.copy()
        for bins in self.bins:
            bins.fill(points)
        return points

    def changed_features(self, points: FloatArray) -> BoolArray:
        """Return which features differ from each row's own values, shape (n, n_features)."""
        if self.own is None:
            raise ValueError("This domain does not know the rows' own values.")
        different = (points != self.own) & ~self.follows
        out = np.zeros((len(points), len(self.units)), dtype=bool)
        np.logical_or.at(out.T, self.owner, different.T)
        return out

    def _breaks_change_rules(self, points: FloatArray) -> BoolArray:
        changed = self.changed_features(points)
        wrong = np.zeros(len(points), dtype=bool)
        for group in self.together:
            some, every = changed[:, group].any(axis=1), changed[:, group].all(axis=1)
            wrong |= some & ~every
        if self.max_changes is not None:
            units = np.zeros_like(changed)
            np.logical_or.at(units.T, self.units, changed.T)
            wrong |= units.sum(axis=1) > self.max_changes
        return wrong


def _as_single(points: FloatArray, single: BoolArray | None) -> FloatArray:
    """Return numbers in the precision of their columns."""
    if single is None:
        return points
    return np.where(single, as_singles(points), points)


def _at(values: FloatArray, rows: Rows, columns: Columns) -> FloatArray:
    """Return values of rows and columns: of one column, or the block of several."""
    if rows is None:
        return values[:, columns]
    if isinstance(columns, int | np.integer) or isinstance(rows, int):
        return np.asarray(values[rows, columns])
    return values[rows[:, None], columns]
