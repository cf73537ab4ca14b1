"""What the user allows: which features may change, in which direction, within which bounds."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pertinent.exceptions import InputError, visible
from pertinent.geometry.arrays import FloatArray, IntArray, Limits
from pertinent.geometry.domain import Domain, Lattice, are_on_steps
from pertinent.geometry.region import Cell
from pertinent.rules.form import RuleFields, ends_of, lattice_of, require_well_formed
from pertinent.rules.inferred import CATEGORIES, RANGE, FromData, Inferred
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.relations import Feature, relation_rows
from pertinent.rules.words import in_words, words_from_data
from pertinent.tables.features import Features
from pertinent.tables.notebook import card
from pertinent.tables.numbers import is_missing
from pertinent.tables.table import Table, values_of
from pertinent.tables.words import counted


@dataclass(frozen=True, eq=False)
class _Fixed:
    """The limits that hold for every sample, and the columns whose limits are the sample's own."""

    lower: FloatArray
    upper: FloatArray
    strange: IntArray
    keep_low: list[int]
    keep_high: list[int]
    lattice: dict[int, Lattice]
    given: dict[int, Lattice]
    data: FromData
    #: Of numbers that may only rise, or only fall: the column that is 1 where one is missing.
    marks: dict[int, int]
    #: Filled when it is asked for: see `Constraints.named_limits`.
    named: dict[tuple[int, str], list[RuleRef]] = field(default_factory=dict)

    def own(self, samples: FloatArray, j: int, free: float) -> FloatArray:
        """Return the samples' own values; ``free`` where there is none to rise or fall from."""
        mark = self.marks.get(j)
        return samples[:, j] if mark is None else np.where(samples[:, mark], free, samples[:, j])


@dataclass(frozen=True)
class Constraints(RuleFields):
    """Rules that every returned point obeys, in the units of the data.

    Parameters
    ----------
    frozen : sequence of features
        Keep the sample's own value.
    bounds : mapping of feature to (low, high)
        None leaves a side open.
    increase_only, decrease_only : sequence of features
        May not go below, or above, the sample's own value.
    integer : sequence of features
        Take whole numbers.
    decimals : mapping of feature to int or None
        Take numbers with that many digits after the point, so that the value shown is the value
        that was checked; negative digits round before the point. None: any number, whatever the
        data suggest.
    step : mapping of feature to number, (step, first) or None
        Take the multiples of a step, or ``first`` plus these; see ``decimals``.
    categories : mapping of feature to list or None
        The only categories that points may have. Like ``bounds``, this holds for every point: a
        sample whose own category is not listed must change it. None: all of them, whatever the
        data suggest.
    transitions : mapping of feature to (mapping of category to list, or callable)
        The categories that each category may be changed to; one that is not listed stays. A
        callable gets the old and the new category, and returns whether the change is allowed.
        The old one may be a category that the model does not know, where it takes such ones.
    relations : sequence of str or (mapping, number)
        Linear relations, e.g. ``"debt <= 0.4 * income"`` (see `pertinent.rules.relations`).
    max_changes : int, optional
        How many features of a negative may differ from the sample.
    costs : mapping of feature to float
        How many times dearer than usual a change of the feature is.
    together : sequence of sequences of features
        Features of a negative that all keep the sample's value, or all change (a number by at
        least a thousandth of its scale); they count as one change.
    inferred : sequence of Inferred
        What `Explainer` inferred from its data; no need to give it.

    Notes
    -----
    Features are named by column name, or by position. A sample's own value is always allowed by
    ``integer``, ``decimals`` and ``step``: what does not change stays exactly as it is. The rules
    hold for negatives and for positives alike (a frozen feature cannot be turned off), except for
    ``max_changes`` and ``together``, which speak of change.

    Examples
    --------
    >>> import pertinent
    >>> rules = pertinent.Constraints(frozen=["age"], bounds={"income": (0, None)})
    >>> print(rules)
    age frozen; income >= 0
    >>> print(pertinent.Constraints(relations=["debt <= 0.4 * income"], max_changes=2))
    debt <= 0.4 * income; at most 2 features change
    """

    inferred: Sequence[Inferred] = ()

    def __post_init__(self) -> None:
        require_well_formed(self)
        if not all(isinstance(rule, Inferred) for rule in self.inferred):
            raise InputError(f"inferred must be a list of rules, got {self.inferred!r:.60}.")
        self.read_relations  # noqa: B018 - a relation that cannot be read is refused here

    def __str__(self) -> str:
        return visible("; ".join([*in_words(self), *words_from_data(self.inferred)])) or "none"

    @property
    def single_rules(self) -> list[str]:
        """Every rule by itself, in words: each of them can be left out."""
        return [*in_words(self), *(f"{rule} (from the data)" for rule in self.inferred)]

    def _repr_html_(self) -> str:
        rules = self.single_rules
        return card(f"Constraints: {counted(len(rules), 'rule')}", [(rule,) for rule in rules])

    @cached_property
    def depends_on_sample(self) -> bool:
        """Whether the allowed range differs from sample to sample."""
        rules = (self.frozen, self.increase_only, self.decrease_only, self.transitions)
        return any(len(rule) for rule in rules)

    @cached_property
    def speaks_of_values(self) -> bool:
        """Whether any rule is more than a range of numbers, so that points are looked at again."""
        rules = (
            self.integer, self.decimals, self.step, self.categories, self.transitions,
            self.relations, self.together, self.inferred,
        )  # fmt: skip
        return self.max_changes is not None or any(len(rule) for rule in rules)

    def validate(self, features: Features) -> None:
        """Refuse names and categories that do not exist, before any work."""
        self.named_limits(features)
        self.relation_cell(features)
        self.lattice(features)
        features.indices([f for group in self.together for f in group])
        features.indices(list(self.costs))
        for name, chosen in self.categories.items():
            j = self._category(features, name, "categories")
            for value in chosen or ():
                features.level(j, value)
        for name, rule in self.transitions.items():
            j = self._category(features, name, "transitions")
            if not callable(rule):
                for old, many in rule.items():
                    self._require_origin(features, j, old)
                    for new in many:
                        features.level(j, new)

    @staticmethod
    def _require_origin(features: Features, j: int, old: Any) -> None:
        """Refuse a category that no sample can have, or that is nearly spelled like a known one."""
        close = difflib.get_close_matches(str(old), [str(v) for v in features.levels[j] or ()], 1)
        if close or not features.has_other(j):
            features.level(j, old)

    def _category(self, features: Features, name: Feature, rule: str) -> int:
        j = features.index(name)
        if not features.is_category(j):
            raise InputError(
                f"{features.names[j]!r} holds numbers, and {rule!r} speaks of categories. Use "
                "'bounds', 'increase_only' or 'decrease_only' for it."
            )
        return j

    def limits(self, features: Features, table: Table | FloatArray) -> Limits:
        """Return the lowest and highest allowed values for each sample.

        Shape (n, n_columns) where they depend on the sample, else (1, n_columns). A table knows
        which columns hold truth values, and the names of categories that the model does not:
        ``transitions`` may speak of them.
        """
        fixed, samples = self._fixed(features), values_of(table)
        strange, data, lattice = fixed.strange, fixed.data, fixed.lattice
        least, most = fixed.lower, fixed.upper
        if isinstance(table, Table):
            data, lattice = data.held(table), table.steps_held(lattice)
            least, most = table.limits_held((least, most))
        first, last = data.limits
        theirs = bool(len(strange) and samples[:, strange].any())
        theirs |= not are_on_steps(samples, lattice)
        theirs |= bool(self.inferred) and bool(((samples < first) | (samples > last)).any())
        rows = len(samples) if self.depends_on_sample or theirs else 1
        lower, upper = np.empty((rows, features.dim)), np.empty((rows, features.dim))
        lower[:], upper[:] = least, most
        if self.inferred:
            low, high = data.widened(samples) if rows > 1 or theirs else (first, last)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        # A category that the model does not know, or the data hardly do, can be kept, not taken.
        if theirs and len(strange):
            upper[:, strange] = samples[:, strange]
        low, high = lower.T, upper.T
        for j in fixed.keep_low:
            np.maximum(low[j], fixed.own(samples, j, -np.inf), out=low[j])
        for j in fixed.keep_high:
            np.minimum(high[j], fixed.own(samples, j, np.inf), out=high[j])
        for j in table.booleans if isinstance(table, Table) else ():
            np.maximum(lower[:, j], 0.0, out=lower[:, j])
            np.minimum(upper[:, j], 1.0, out=upper[:, j])
        self._limit_categories(features, table, upper)
        return lower, upper

    @cached_property
    def _resolved(self) -> WeakKeyDictionary[Features, _Fixed]:
        return WeakKeyDictionary()  # every call that reads a model makes `Features` of its own

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_resolved"}

    def _fixed(self, features: Features) -> _Fixed:
        """Return what does not depend on the sample, found out once for each `Features`."""
        known = self._resolved.get(features)
        if known is None:
            known = self._resolved[features] = self._resolve(features)
        return known

    def _resolve(self, features: Features) -> _Fixed:
        data = FromData.of(self.inferred, features)
        strange = np.union1d(self._own_only(features), data.unwanted)
        lower, upper = np.full(features.dim, -np.inf), np.full(features.dim, np.inf)
        marks = list(features.marks.values())
        lower[marks], upper[marks] = 0.0, 1.0
        upper[strange] = 0.0
        for name, pair in self.bounds.items():
            j = features.column(name, "bounds")
            lower[j], upper[j] = ends_of(pair)
        for feature, least, most in features.ends:
            j = int(features.first[feature])
            lower[j], upper[j] = max(lower[j], least), min(upper[j], most)
        held = np.flatnonzero(np.isin(features.owner, features.indices(self.frozen))).tolist()
        keep_low = [features.column(f, "increase_only") for f in self.increase_only]
        keep_high = [features.column(f, "decrease_only") for f in self.decrease_only]
        given = self.given_lattice(features)
        steps = data.steps | given
        loose = {j: m for j, m in features.marks.items() if j not in held}
        keep = keep_low + held, keep_high + held
        return _Fixed(lower, upper, strange, *keep, steps, given, data, loose)

    def _own_only(self, features: Features) -> IntArray:
        """Return the columns that no sample may change to: strange categories, and gaps."""
        found = [] if features.may_lose else list(features.marks.values())
        for j, levels in enumerate(features.levels):
            if levels is not None:
                gone = np.flatnonzero(is_missing(levels)).tolist() if levels else []
                places = gone + ([len(levels)] if features.has_other(j) else [])
                found += [int(features.first[j]) + p for p in places]
        return np.array(found, dtype=np.int64)

    def _limit_categories(
        self, features: Features, table: Table | FloatArray, upper: FloatArray
    ) -> None:
        samples = values_of(table)
        for name, chosen in self.categories.items():
            j = self._category(features, name, "categories")
            if chosen is None:
                continue
            allowed = {features.level(j, value) for value in chosen}
            for place, column in enumerate(features.columns_of(j)):
                if place not in allowed:
                    upper[:, column] = np.minimum(upper[:, column], 0.0)
        for name in self.transitions:
            j = self._category(features, name, "transitions")
            columns = features.columns_of(j)
            allowed_from = self._transition_table(features, j, name)
            own = samples[:, columns].argmax(axis=1)
            allowed_now = allowed_from[own]
            if features.has_other(j) and isinstance(table, Table):
                strange = np.flatnonzero(own == len(columns) - 1)
                names = table.own_categories(j)[strange]
                allowed_now[strange, :-1] = self._moves_from(features, j, name, names)
            upper[:, columns] = np.minimum(upper[:, columns], allowed_now)

    def _moves_from(
        self, features: Features, j: int, name: Feature, strangers: Sequence[Any]
    ) -> FloatArray:
        """Return which categories may be changed to from those that the model does not know."""
        levels = features.levels[j] or ()
        moves = [[self._may_become(name, old, new) for new in levels] for old in strangers]
        return np.array(moves, dtype=float).reshape(len(strangers), len(levels))

    def _may_become(self, name: Feature, old: Any, new: Any) -> bool:
        rule = self.transitions[name]
        return bool(rule(old, new) if callable(rule) else new in rule.get(old, ()))

    def _transition_table(self, features: Features, j: int, name: Feature) -> FloatArray:
        """Return 1 where the category of the row may become that of the column."""
        levels = features.levels[j] or ()
        table = np.eye(len(features.columns_of(j)))
        for a, old in enumerate(levels):
            for b, new in enumerate(levels):
                if a != b:
                    table[a, b] = self._may_become(name, old, new)
        return table

    def lattice(self, features: Features) -> dict[int, Lattice]:
        """Return the numbers of each column that is confined to steps, by a user or by the data."""
        return FromData.of(self.inferred, features).steps | self.given_lattice(features)

    def given_lattice(self, features: Features) -> dict[int, Lattice]:
        """Return the same, as far as the user says so."""
        digits = {features.column(name, "integer"): 0 for name in self.integer}
        for name, count in self.decimals.items():
            column = features.column(name, "decimals")
            if count is not None:
                digits[column] = min(int(count), digits.get(column, int(count)))
        steps = {column: Lattice(count) for column, count in digits.items()}
        for name, given in self.step.items():
            column = features.column(name, "step")
            if column in steps:
                raise InputError(
                    f"{name!r} has a step and decimals, or a step and whole numbers. Give one of "
                    "them."
                )
            if given is not None:
                steps[column] = lattice_of(name, given)
        return steps

    def domain(
        self,
        features: Features,
        table: Table,
        weights: FloatArray,
        changes: bool,
    ) -> Domain | None:
        """Return what the model's categories and these rules allow; None where any number will do.

        ``changes`` says whether the rules of change apply.
        """
        known, gap = self._fixed(features), None
        samples, booleans = table.values, table.booleans
        fixed = table.steps_held(known.lattice if changes else known.given)
        if changes and self.inferred:
            gap = _with_gaps(known.data.held(table).gap(samples), features, samples)
        counted = changes and (self.max_changes is not None or bool(self.together))
        free = not len(booleans) and not fixed and not counted and gap is None
        if features.is_plain and free:
            return None
        truths = [*booleans.tolist(), *features.marks.values()]
        lattice = {int(j): Lattice(0) for j in truths} | fixed
        decimals = np.full(features.dim, np.nan)
        decimals[list(lattice)] = [steps.decimals for steps in lattice.values()]
        multiple, offset = np.ones(features.dim), np.zeros(features.dim)
        multiple[list(lattice)] = [steps.multiple for steps in lattice.values()]
        offset[list(lattice)] = [steps.offset for steps in lattice.values()]
        single = np.zeros(features.dim, dtype=bool)
        single[list(lattice)] = [steps.single for steps in lattice.values()]
        off = not are_on_steps(samples, lattice)
        with np.errstate(divide="ignore"):
            scale = 1.0 / weights
        return Domain(
            decimals,
            features.groups,
            features.owner,
            features.bins,
            self.max_changes if counted else None,
            tuple(features.indices(g) for g in self.together) if counted else (),
            samples if off or counted or gap is not None else None,
            scale,
            multiple,
            offset,
            gap,
            single if single.any() else None,
        )

    def relation_cell(self, features: Features) -> Cell | None:
        """Return the relations as inequalities; None if there are none."""
        if not self.read_relations:
            return None
        names = {name for relation in self.read_relations for name in relation.coefficients}
        columns = {name: features.column(name, "relations") for name in names}
        return Cell(*relation_rows(self.read_relations, columns, features.dim))

    def named_relations(self, features: Features) -> list[RuleRef]:
        """Return which rule each of `read_relations` is; ``a <= b <= c`` are two of one rule."""
        names: dict[str, dict[Feature, None]] = {}
        for relation in self.read_relations:
            names.setdefault(relation.text, {}).update(dict.fromkeys(relation.coefficients))
        rules = {
            text: RuleRef(RuleKind.RELATION, _called(features, own), None, place, text)
            for place, (text, own) in enumerate(names.items())
        }
        return [rules[relation.text] for relation in self.read_relations]

    def named_groups(self, features: Features) -> list[RuleRef]:
        """Return the features that change together."""
        return [RuleRef(RuleKind.TOGETHER, _called(features, group)) for group in self.together]

    def named_limits(self, features: Features) -> dict[tuple[int, str], list[RuleRef]]:
        """Return which rules stand behind each (column, "low" or "high") limit; found out once."""
        fixed = self._fixed(features)
        if not fixed.named:
            fixed.named.update(self._name_limits(features))
        return fixed.named

    def _name_limits(self, features: Features) -> dict[tuple[int, str], list[RuleRef]]:
        rules: dict[tuple[int, str], list[RuleRef]] = {}

        def note(column: Any, side: str, kind: RuleKind, name: Feature, at: Any = None) -> None:
            rule = RuleRef(kind, _called(features, [name]), at)
            rules.setdefault((int(column), side), []).append(rule)

        for name, (low, high) in self.bounds.items():
            j = features.column(name, "bounds")
            if low is not None:
                note(j, "low", RuleKind.AT_LEAST, name, low)
            if high is not None:
                note(j, "high", RuleKind.AT_MOST, name, high)
        for name in self.increase_only:
            note(features.column(name, "increase_only"), "low", RuleKind.INCREASE_ONLY, name)
        for name in self.decrease_only:
            note(features.column(name, "decrease_only"), "high", RuleKind.DECREASE_ONLY, name)
        for j in features.indices(self.frozen):
            for column in np.flatnonzero(features.owner == j):
                for side in ("low", "high"):
                    note(column, side, RuleKind.FROZEN, int(j))
        for kind, named in (
            (RuleKind.CATEGORIES, self.categories), (RuleKind.TRANSITIONS, self.transitions),
        ):  # fmt: skip
            for name in (name for name, some in named.items() if some is not None):
                for column in features.columns_of(self._category(features, name, kind.value)):
                    note(column, "high", kind, name)
        self._note_inferred(features, rules)
        return rules

    def _note_inferred(
        self, features: Features, rules: dict[tuple[int, str], list[RuleRef]]
    ) -> None:
        """Add the rules that the data suggest."""
        for rule in self.inferred:
            j, refs = features.index(rule.feature), rule.refs()
            if rule.kind == RANGE:
                for side, ref in zip(("low", "high"), refs, strict=True):
                    if np.isfinite(ref.number or 0.0):
                        rules.setdefault((int(features.first[j]), side), []).append(ref)
            elif rule.kind == CATEGORIES:
                for column in FromData.of([rule], features).unwanted.tolist():
                    rules.setdefault((column, "high"), []).extend(refs)


def _with_gaps(gap: Limits | None, features: Features, samples: FloatArray) -> Limits | None:
    """Return how far changes go at least, and any number for one that was missing."""
    if gap is None:
        return None
    for number, mark in features.marks.items():
        gone = samples[:, mark] == 1
        for side in gap:
            side[gone, number] = samples[gone, number]
    return gap


def _called(features: Features, names: Iterable[Feature]) -> tuple[str, ...]:
    return tuple(features.names[features.index(name)] for name in names)
