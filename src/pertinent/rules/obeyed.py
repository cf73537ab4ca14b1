"""An independent look at every point: it must obey the rules value by value, in raw units.

Nothing here uses bounds, columns or domains, from which the points were computed: only the
samples and the points as they are handed out, and the rules as they were given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray
from pertinent.rules.inferred import CATEGORIES, RANGE, STEP
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.tolerances import CHANGE_SLACK
from pertinent.tables.numbers import is_missing

if TYPE_CHECKING:
    from pertinent.rules.constraints import Constraints
    from pertinent.rules.inferred import Inferred
    from pertinent.tables.features import Features

Rows = NDArray[Any]


def broken_rules(
    rules: Constraints,
    features: Features,
    points: Rows,
    samples: Rows | None = None,
    *,
    changes: bool = False,
    single: bool = False,
    held: Rows | None = None,
) -> list[tuple[RuleRef, BoolArray]]:
    """Return each rule that any point breaks, with the rows that break it.

    Parameters
    ----------
    rules : Constraints
    features : Features
    points : ndarray of shape (n, n_features)
        One value for each feature: a number or a category, as it is told (`Table.as_told`).
    samples : ndarray of shape (n, n_features), optional
        Needed for rules that compare with the sample.
    changes : bool
        Whether the rules of change (max_changes, together) apply.
    single : bool
        Whether numbers are handed out in single precision.
    held : ndarray of shape (n, n_features), optional
        The points as the columns of the samples hold them, which relations are about.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent import Constraints
    >>> from pertinent.tables.features import Features
    >>> features = Features(("debt", "income"))
    >>> rules = Constraints(relations=["debt <= 0.4 * income"])
    >>> [(rule, rows)] = broken_rules(rules, features, np.array([[50.0, 100.0]]))
    >>> print(rule, rows)
    debt <= 0.4 * income [ True]
    """
    check = _Check(rules, features, points, samples, single, points if held is None else held)
    found = [*check.numbers(), *check.categories(), *check.relations()]
    found += [pair for rule in rules.inferred for pair in check.inferred(rule, changes)]
    if samples is not None:
        found += check.against_sample()
        if changes:
            found += check.changes()
    return [(rule, wrong) for rule, wrong in found if wrong.any()]


@dataclass(frozen=True)
class _Check:
    rules: Constraints
    features: Features
    points: Rows
    samples: Rows | None
    single: bool
    held: Rows
    #: What `_same` found of each feature: several rules ask for it.
    known_same: dict[int, BoolArray] = field(default_factory=dict)

    def _rule(self, kind: RuleKind, *names: str | int, number: float | None = None) -> RuleRef:
        called = tuple(self.features.names[self.features.index(name)] for name in names)
        return RuleRef(kind, called, number)

    def _number(self, name: str | int) -> NDArray[np.float64]:
        return np.asarray(self.points[:, self.features.index(name)], dtype=float)

    def _own(self, name: str | int) -> NDArray[np.float64]:
        assert self.samples is not None
        return np.asarray(self.samples[:, self.features.index(name)], dtype=float)

    def _same(self, name: str | int) -> BoolArray:
        """Return whether a feature is as in the sample."""
        j = self.features.index(name)
        if j not in self.known_same:
            self.known_same[j] = self._is_same(j)
        return self.known_same[j]

    @cached_property
    def _same_numbers(self) -> BoolArray | None:
        """Where points are as their samples, shape (n, n_features); None if not all are numbers."""
        if self.samples is None:
            return np.zeros(self.points.shape, dtype=bool)
        if self.points.dtype.kind != "f" or self.samples.dtype.kind != "f":
            return None
        gone = np.isnan(self.points) & np.isnan(self.samples)
        return np.asarray((self.points == self.samples) | gone)

    def _is_same(self, j: int) -> BoolArray:
        if self._same_numbers is not None:
            return self._same_numbers[:, j]
        assert self.samples is not None
        point, sample = self.points[:, j], self.samples[:, j]
        same = np.array([a == b for a, b in zip(point, sample, strict=True)], dtype=bool)
        if np.count_nonzero(same) < len(same):
            same |= is_missing(point) & is_missing(sample)
        return same

    def numbers(self) -> list[tuple[RuleRef, BoolArray]]:
        """Return bounds and decimals."""
        found = []
        for name, (low, high) in self.rules.bounds.items():
            value = self._number(name)
            below = np.zeros(len(value), dtype=bool) if low is None else value < low
            above = np.zeros(len(value), dtype=bool) if high is None else value > high
            found.append((self._rule(RuleKind.BOUNDS, name), np.asarray(below | above)))
        digits = {**{n: 0 for n in self.rules.integer}, **self.rules.decimals}
        for name, count in digits.items():
            if count is None:
                continue
            rule = self._rule(RuleKind.DECIMALS, name, number=count)
            found.append((rule, self._off_steps(name, Fraction(10) ** -count, Fraction(0))))
        for name, given in self.rules.step.items():
            if given is None:
                continue
            step, first = given if isinstance(given, Sequence) else (given, 0.0)
            rule = self._rule(RuleKind.STEP, name, number=step)
            found.append((rule, self._off_steps(name, _written(step), _written(first))))
        return found

    def _off_steps(self, name: str | int, step: Fraction, first: Fraction) -> BoolArray:
        """Return where a changed number, as it is written, is not ``first`` plus some steps."""
        value = self._number(name)
        wrong = np.zeros(len(value), dtype=bool)
        changed = np.flatnonzero(~self._same(name) & np.isfinite(value))
        off: dict[float, bool] = {}
        for one in value[changed].tolist():
            if one not in off:
                number = _written(one)
                beyond = (number - first) % step
                slack = abs(number) / 1_000_000 if self.single else 0
                off[one] = min(beyond, step - beyond) > slack
        wrong[changed] = [off[one] for one in value[changed].tolist()]
        return wrong

    def categories(self) -> list[tuple[RuleRef, BoolArray]]:
        """Return the categories that may be changed to."""
        found = []
        for name, chosen in self.rules.categories.items():
            if chosen is None:
                continue
            values = self.points[:, self.features.index(name)]
            wrong = np.array([v not in list(chosen) for v in values], dtype=bool)
            found.append((self._rule(RuleKind.CATEGORIES, name), wrong))
        return found

    def inferred(self, rule: Inferred, changes: bool) -> list[tuple[RuleRef, BoolArray]]:
        """Return what the data suggest; a sample's own value is always allowed.

        A change ends where the data are, on their steps, and moves at least as far as is asked.
        What was enough is compared with the range only, and may lie between the sample's own value
        and the data.
        """
        if not changes and rule.kind not in (CATEGORIES, RANGE):
            return []
        name, same = rule.feature, self._same(rule.feature)
        if np.count_nonzero(same) == len(same):  # most often
            return []
        if rule.kind == CATEGORIES:
            values = self.points[:, self.features.index(name)]
            wrong = np.array([v in rule.categories for v in values], dtype=bool) & ~same
            return [(rule.refs()[0], wrong)] if wrong.any() else []
        value = self._number(name)
        if rule.kind == RANGE and rule.numbers[0] <= value.min() <= value.max() <= rule.numbers[1]:
            return []  # most often; never where a value is missing
        own = value if self.samples is None else self._own(name)
        if rule.kind == RANGE:
            least, most = rule.numbers
            below = value < (least if changes else np.minimum(least, own))
            above = value > (most if changes else np.maximum(most, own))
            if self.samples is None:
                below, above = value < least, value > most
            low, high = np.asarray(below & ~same), np.asarray(above & ~same)
            some = low.any() or high.any()
            return list(zip(rule.refs(), (low, high), strict=True)) if some else []
        least = rule.numbers[0]
        short = np.zeros(len(value), dtype=bool)
        if self.samples is not None:
            slack = CHANGE_SLACK * (np.abs(value) if self.single else least)
            short = ~same & (np.abs(value - own) < least - slack)
        if rule.kind == STEP:
            short |= self._off_steps(name, _written(least), Fraction(0))
        return [(rule.refs()[0], short)] if short.any() else []

    def relations(self) -> list[tuple[RuleRef, BoolArray]]:
        """Return linear relations."""
        found = []
        named = self.rules.named_relations(self.features)
        for rule, relation in zip(named, self.rules.read_relations, strict=True):
            places = {name: self.features.index(name) for name in relation.coefficients}
            columns = {name: self.held[:, j].astype(float) for name, j in places.items()}
            rows = (
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            )
            found.append((rule, np.array([not relation.holds(row) for row in rows], dtype=bool)))
        return found

    def against_sample(self) -> list[tuple[RuleRef, BoolArray]]:
        """Return what depends on the sample's own values."""
        assert self.samples is not None
        found = [
            (self._rule(RuleKind.FROZEN, name), ~self._same(name)) for name in self.rules.frozen
        ]
        for names, sign, kind in (
            (self.rules.increase_only, 1.0, RuleKind.INCREASE_ONLY),
            (self.rules.decrease_only, -1.0, RuleKind.DECREASE_ONLY),
        ):
            for name in names:
                moved = sign * (self._number(name) - self._own(name))
                found.append((self._rule(kind, name), np.asarray(moved < 0)))
        for name, rule in self.rules.transitions.items():
            j = self.features.index(name)
            pairs = zip(self.samples[:, j], self.points[:, j], strict=True)
            allowed = [
                (rule(old, new) if callable(rule) else new in rule.get(old, ()))
                for old, new in pairs
            ]
            wrong = ~np.array(allowed, dtype=bool) & ~self._same(name)
            found.append((self._rule(RuleKind.TRANSITIONS, name), wrong))
        return found

    def changes(self) -> list[tuple[RuleRef, BoolArray]]:
        """Return how many features change, and which together."""
        changed = np.stack([~self._same(j) for j in range(len(self.features))], axis=1)
        found, units = [], np.arange(len(self.features))
        for group in self.rules.together:
            places = self.features.indices(group)
            units[places] = places.min()
            some, every = changed[:, places].any(axis=1), changed[:, places].all(axis=1)
            found.append((self._rule(RuleKind.TOGETHER, *group), np.asarray(some & ~every)))
        if self.rules.max_changes is not None:
            count = np.stack([changed[:, units == u].any(axis=1) for u in np.unique(units)], axis=1)
            most = self.rules.max_changes
            found.append(
                (RuleRef(RuleKind.MAX_CHANGES, number=most), np.asarray(count.sum(axis=1) > most))
            )
        return found


def _written(number: float) -> Fraction:
    """Return the decimal number that a double is written as."""
    return Fraction(repr(float(number)))
