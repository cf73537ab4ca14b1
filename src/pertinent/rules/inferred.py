"""Rules that the data suggest: which values a column has, and what they mean for its limits.

They are rules like those of a user, with two differences: a sample's own value is always allowed,
and a rule that the user gives for the same feature takes their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, IntArray, Limits
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Lattice
from pertinent.rules.form import lattice_of
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.tolerances import SLACK
from pertinent.tables.features import Features
from pertinent.tables.notebook import Card
from pertinent.tables.numbers import is_missing, is_number
from pertinent.tables.table import Table
from pertinent.tables.words import few, label_text


class InferredKind(StrEnum):
    """What a rule that the data suggest is about, by its name in files."""

    RANGE = "range"
    STEP = "step"
    CHANGE = "change"
    CATEGORIES = "categories"


RANGE, STEP, CHANGE, CATEGORIES = InferredKind
#: How many numbers each kind has.
NUMBERS: dict[str, int] = {RANGE: 2, STEP: 1, CHANGE: 1, CATEGORIES: 0}


@record_as("inferred")
@dataclass(frozen=True)
class Inferred(Card):
    """One rule that the data suggest.

    Parameters
    ----------
    kind : {"range", "step", "change", "categories"}
    feature : str
    numbers : tuple of float
        Of a range its ends, infinite where a side is open; of a step the step; of a change how
        far a value that changes moves at least.
    categories : tuple
        Those that no sample is changed to.

    Examples
    --------
    >>> from pertinent.rules.inferred import Inferred
    >>> print(Inferred("range", "age", (18.0, 68.0)))
    age stays between 18 and 68
    """

    kind: str
    feature: str
    numbers: tuple[float, ...] = ()
    categories: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not self.is_known:
            raise InputError(f"{self.kind!r} with {self.numbers!r} is no rule that data suggest.")

    @property
    def is_known(self) -> bool:
        """Whether kind, feature and numbers are such as are known here."""
        low, high = (*self.numbers, 0.0, 0.0)[:2]
        return (
            NUMBERS.get(self.kind) == len(self.numbers)
            and isinstance(self.feature, str)
            and all(is_number(one) and not np.isnan(one) for one in self.numbers)
            and (low <= high if self.kind == RANGE else not self.numbers or low > 0)
            and isinstance(self.categories, tuple)
        )

    @property
    def lattice(self) -> Lattice:
        """The numbers of a step."""
        return lattice_of(self.feature, self.numbers[0])

    def __str__(self) -> str:
        return f"{self.feature} {self.words()}"

    def words(self) -> str:
        """Return what is said of the feature."""
        if self.kind == RANGE:
            low, high = self.numbers
            if np.isinf(high):
                return f"stays at least {low:g}"
            return f"stays between {low:g} and {high:g}"
        if self.kind == STEP:
            whole = self.numbers[0] == 1
            return "stays whole" if whole else f"keeps {self.lattice.words()}"
        if self.kind == CHANGE:
            return f"changes by at least {self.numbers[0]:.3g}"
        return f"is not changed to {' or '.join(map(str, self.categories))}"

    def said(self) -> tuple[str, str]:
        """Return what kind of rule it is, and what is said of the feature beside that."""
        if self.kind == RANGE:
            low, high = self.numbers
            return "ranges", f" from {low:g}" if np.isinf(high) else f" {low:g} to {high:g}"
        if self.kind == STEP:
            return ("whole numbers" if self.numbers[0] == 1 else self.lattice.words()), ""
        if self.kind == CHANGE:
            return "smallest changes", f" {self.numbers[0]:.2g}"
        return "not suggested", f" {few(self._called())}"

    def _called(self) -> list[str]:
        """Return what the categories are called: one of a table may stand for what is missing."""
        missing = is_missing(self.categories)
        return [
            "a missing value" if gone else label_text(one)
            for one, gone in zip(self.categories, missing, strict=True)
        ]

    def refs(self) -> list[RuleRef]:
        """Return the rule by reference; a range is two rules."""
        name = (self.feature,)
        if self.kind == RANGE:
            kinds = (RuleKind.DATA_AT_LEAST, RuleKind.DATA_AT_MOST)
            return [RuleRef(kind, name, end) for kind, end in zip(kinds, self.numbers, strict=True)]
        if self.kind == CATEGORIES:
            named = few(self._called(), "or")
            return [RuleRef(RuleKind.DATA_CATEGORIES, name, text=named)]
        kind = RuleKind.DATA_STEP if self.kind == STEP else RuleKind.DATA_CHANGE
        return [RuleRef(kind, name, self.numbers[0])]


@dataclass(frozen=True, eq=False)
class FromData:
    """The rules that the data suggest, column by column.

    Parameters
    ----------
    limits : tuple of ndarray, shape (n_columns,)
        Lowest and highest value of each column, infinite where there is none.
    steps : dict of int to Lattice
        The lattice of each column that has one.
    least : ndarray of shape (n_columns,)
        How far a value that changes moves at least, 0 where any change will do.
    unwanted : ndarray of int
        The columns of categories that no sample is changed to.
    """

    limits: Limits
    steps: dict[int, Lattice]
    least: FloatArray
    unwanted: IntArray

    @classmethod
    def of(cls, rules: Sequence[Inferred], features: Features) -> FromData:
        """Return the rules for the columns of some features, which are not kept."""
        low, high = np.full(features.dim, -np.inf), np.full(features.dim, np.inf)
        steps, least, unwanted = dict[int, Lattice](), np.zeros(features.dim), list[int]()
        for rule in rules:
            if rule.kind == CATEGORIES:
                j = features.index(rule.feature)
                columns = features.columns_of(j)
                unwanted += [int(columns[features.level(j, v)]) for v in rule.categories]
                continue
            j = features.column(rule.feature, rule.kind)
            if rule.kind == RANGE:
                low[j], high[j] = rule.numbers
                continue
            least[j] = max(least[j], rule.numbers[0])
            if rule.kind == STEP:
                steps[j] = rule.lattice
        return cls((low, high), steps, least, np.array(unwanted, dtype=np.int64))

    def held(self, table: Table) -> FromData:
        """Return the rules, as numbers that the columns of a table can hold."""
        if not table.single_precision:
            return self
        limits, steps = table.limits_held(self.limits), table.steps_held(self.steps)
        return replace(self, limits=limits, steps=steps)

    def widened(self, samples: FloatArray) -> Limits:
        """Return the limits of each sample, with its own values within."""
        low, high = self.limits
        return np.minimum(low, samples), np.maximum(high, samples)

    def gap(self, samples: FloatArray) -> Limits | None:
        """Return the values next to each sample's own that a change may have, below and above it.

        A change is at least the smallest one, and ends in the range of the data. None where that
        goes without saying: on a lattice, from within the range.
        """
        low, high = self.limits
        off = np.zeros(samples.shape, dtype=bool)
        off[:, self.least > 0] = True
        for j, steps in self.steps.items():
            if self.least[j] <= steps.step:
                off[:, j] = ~steps.has(samples[:, j])
        beyond = (samples < low) | (samples > high)
        if not (off | beyond).any():
            return None
        least = np.where(off, self.least * (1.0 - SLACK), 0.0)
        below, above = samples - least, samples + least
        return np.where(beyond, np.minimum(below, high), below), np.where(
            beyond, np.maximum(above, low), above
        )
