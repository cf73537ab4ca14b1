"""Features by name, and the columns of an array that each of them is.

A number is one column of the array. A feature that holds categories is a group of columns, one
for each category, of which exactly one is 1. A number that may be missing has a second column, its
*mark*, which is 1 where it is: no column ever holds NaN.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError, unknown_name
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.tables.numbers import is_missing

#: Ends below this stand for 0: the least numbers whose logarithm, or reciprocal, is a number.
NEXT_TO_0 = 2.0**-100


@dataclass(frozen=True)
class Binned:
    """A number that the model sees by the bin it falls in, or cut off at two edges (clipped)."""

    feature: int
    edges: tuple[float, ...]
    left_closed: bool = True
    guard: float = 0.0
    clipped: bool = False

    @property
    def width(self) -> int:
        """How many hidden columns it has: one for each bin, and what is cut off."""
        return len(self.edges) + 1 + self.clipped


@dataclass(frozen=True, eq=False)
class Features:
    """The features a model was fitted on.

    Parameters
    ----------
    names : tuple of str
    named : bool
        Whether the model itself knows these names (it then takes DataFrames by column).
    levels : tuple
        For each feature its categories, or None for a number. Empty: all are numbers.
    others : frozenset of int
        Categorical features for which the model also takes categories it does not know: a
        sample may keep such a category, and no other sample can get it.
    binned : tuple of Binned
    fills : mapping of int to value, optional
        What the model's own imputer puts in place of a missing value; None: missing values are
        refused.
    unused : frozenset of int
        Features that the model does not look at: they may hold anything, and what is no number
        is carried along as it is.
    absent : mapping of int to float
        Numbers that may be missing, since the model itself takes missing values: where the number
        stands while it is. To fill it in costs the distance from there, and that of its mark.
    may_lose : bool
        Whether such a number may become missing as well; else it can only stay missing.
    ends : tuple of (int, float, float)
        Numbers of which the model takes the logarithm, the root and the like, each with the
        smallest and the largest one that it can do that with.
    parts : frozenset of int
        Those among them that the model takes beyond these ends, too (1 / x below 0): that they stay
        within them is a rule, and is said.
    lost : frozenset of int
        Categorical features that may be missing: to the model a missing one is like any category
        that it does not know.
    """

    names: tuple[str, ...]
    named: bool = False
    levels: tuple[tuple[Any, ...] | None, ...] = ()
    others: frozenset[int] = frozenset()
    binned: tuple[Binned, ...] = ()
    fills: Mapping[int, Any] | None = field(default=None, hash=False)
    unused: frozenset[int] = frozenset()
    absent: Mapping[int, float] = field(default_factory=dict, hash=False)
    may_lose: bool = False
    ends: tuple[tuple[int, float, float], ...] = ()
    parts: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def key(self) -> Hashable:
        """What tells columns apart: the same for the features of two calls about one model."""
        known = self.names, self.named, self.levels, self.others, self.binned, self.unused
        return *known, tuple(self.absent.items()), self.may_lose, self.ends, self.lost

    @property
    def is_plain(self) -> bool:
        """Whether every feature is a number and a column of its own."""
        return not self.levels and not self.binned and not self.absent

    def takes(self, points: FloatArray) -> BoolArray:
        """Return which points the model can be asked about: those within `ends`."""
        out = np.ones(len(points), dtype=bool)
        for j, least, most in self.ends:
            column = points[:, self.first[j]]
            out &= (column >= least) & (column <= most)
        return out

    def ends_words(self, feature: int) -> str:
        """Return between which numbers a feature stays that has `ends`: "above 0"."""
        least = max(low for j, low, _ in self.ends if j == feature)
        most = min(high for j, _, high in self.ends if j == feature)
        below = f"{most:.6g} or less" if most < np.inf else ""
        if least == -np.inf:
            return below
        above = "above 0" if 0 < least < NEXT_TO_0 else f"{least:.6g} or more"
        return f"{above} and {below}" if below else above

    def within_ends(self, points: FloatArray) -> FloatArray:
        """Return points of which the model can be asked: moved to `ends` where they lie beyond."""
        out = points.copy()
        for j, least, most in self.ends:
            column = self.first[j]
            out[:, column] = np.clip(out[:, column], least, most)
        return out

    def is_category(self, j: int) -> bool:
        """Whether a feature holds categories."""
        return bool(self.levels) and self.levels[j] is not None

    def has_other(self, j: int) -> bool:
        """Whether a sample may have a category the model does not know."""
        return j in self.others

    @cached_property
    def known_levels(self) -> dict[int, NDArray[np.object_]]:
        """Of each feature that holds categories: these, and None at last."""
        found = {}
        for j, levels in enumerate(self.levels):
            if levels is not None:
                found[j] = np.empty(len(levels) + 1, dtype=object)
                found[j][:-1] = list(levels)
        return found

    @cached_property
    def numbers(self) -> IntArray:
        """The features that hold numbers, of which none may be missing."""
        found = [j for j in range(len(self)) if not self.is_category(j) and j not in self.absent]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _widths(self) -> IntArray:
        widths = np.ones(len(self), dtype=np.int64)
        for j, levels in enumerate(self.levels):
            if levels is not None:
                widths[j] = len(levels) + (j in self.others)
        widths[list(self.absent)] = 2
        return widths

    @cached_property
    def first(self) -> IntArray:
        """The first column of each feature."""
        return np.concatenate([[0], np.cumsum(self._widths)[:-1]]).astype(np.int64)

    @cached_property
    def dim(self) -> int:
        """Number of columns."""
        return int(self._widths.sum()) + sum(b.width for b in self.binned)

    @cached_property
    def owner(self) -> IntArray:
        """The feature that each column belongs to; the columns of bins come last."""
        visible = np.repeat(np.arange(len(self)), self._widths)
        hidden = [np.full(b.width, b.feature) for b in self.binned]
        return np.concatenate([visible, *hidden]).astype(np.int64)

    @cached_property
    def hidden(self) -> BoolArray:
        """Columns that cost nothing: which bin a number falls in."""
        mask = np.zeros(self.dim, dtype=bool)
        mask[int(self._widths.sum()) :] = True
        return mask

    @cached_property
    def marks(self) -> dict[int, int]:
        """For each number that may be missing, its column and the one that is 1 where it is."""
        return {int(self.first[j]): int(self.first[j]) + 1 for j in sorted(self.absent)}

    def columns_of(self, j: int) -> IntArray:
        """Return the columns of one feature, bins aside."""
        return np.arange(self.first[j], self.first[j] + self._widths[j])

    @cached_property
    def bins(self) -> tuple[Bins, ...]:
        """The binned columns with their indicators."""
        found, start = [], int(self._widths.sum())
        for b in self.binned:
            columns = np.arange(start, start + len(b.edges) + 1)
            excess = int(columns[-1]) + 1 if b.clipped else None
            start += b.width
            column = int(self.first[b.feature])
            found.append(Bins(column, columns, np.array(b.edges), b.left_closed, b.guard, excess))
        return tuple(found)

    @cached_property
    def groups(self) -> tuple[IntArray, ...]:
        """Columns of which exactly one is 1."""
        own = [self.columns_of(j) for j in range(len(self)) if self.is_category(j)]
        return tuple(g for g in own if len(g)) + tuple(b.columns for b in self.bins)

    def domain(self) -> Domain | None:
        """Return what the model's categories and bins allow; None if all are numbers."""
        if self.is_plain:
            return None
        decimals = np.full(self.dim, np.nan)
        decimals[list(self.marks.values())] = 0
        return Domain(decimals, self.groups, self.owner, self.bins)

    def by_feature(self, mask: BoolArray) -> BoolArray:
        """Return, from a mask of columns, whether any column of each feature is set."""
        if self.is_plain:
            return mask
        out = np.zeros((len(mask), len(self)), dtype=bool)
        shown = np.flatnonzero(~self.hidden)
        np.logical_or.at(out.T, self.owner[shown], mask.T[shown])
        return out

    def by_column(self, mask: BoolArray) -> BoolArray:
        """Return a mask of features as a mask of their columns, bins included."""
        return mask if self.is_plain else np.asarray(mask[..., self.owner])

    def between(self, one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest values between two, column by column.

        Bins are free: between a number in the first and one in the last bin lie all others.
        """
        low, high = np.minimum(one, other), np.maximum(one, other)
        if self.binned:
            low[..., self.hidden], high[..., self.hidden] = -np.inf, np.inf
        return low, high

    def index(self, feature: str | int) -> int:
        """Return the place of a feature given by name or by position.

        Examples
        --------
        >>> from pertinent.tables.features import Features
        >>> Features(("age", "income")).index("income")
        1
        """
        if isinstance(feature, str):
            if feature not in self.names:
                raise unknown_name("feature", feature, self.names)
            return self.names.index(feature)
        if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
            raise InputError(
                f"A feature is named by its column name or its position, got {feature!r}."
            )
        place = int(feature)
        if not -len(self) <= place < len(self):
            raise InputError(f"There is no feature {place}: the model has {len(self)} features.")
        return place % len(self)

    def indices(self, features: Sequence[str | int]) -> IntArray:
        """Return the places of several features."""
        if isinstance(features, str):
            raise InputError(f"Expected a list of features, got the text {features!r}.")
        return np.array([self.index(feature) for feature in features], dtype=np.int64)

    def column(self, feature: str | int, rule: str) -> int:
        """Return the column of a feature that must be a number for a rule to make sense."""
        j = self.index(feature)
        if self.is_category(j):
            raise InputError(
                f"{self.names[j]!r} holds categories, and {rule!r} speaks of numbers. Use "
                "'frozen', 'categories' or 'transitions' for it."
            )
        return int(self.first[j])

    def level(self, j: int, value: Any) -> int:
        """Return the place of a category of a feature."""
        levels = self.levels[j] or ()
        for place, known in enumerate(levels):
            if known == value or (is_missing([known])[0] and is_missing([value])[0]):
                return place
        raise unknown_name(f"category of {self.names[j]!r}", value, levels)
