"""The fields of `Constraints`; rules that make no sense are refused, each with one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.domain import Lattice
from pertinent.rules.relations import Feature, Relation, read_relation
from pertinent.tables.numbers import is_number, is_whole

Bound = tuple[float | None, float | None]
Step = float | tuple[float, float]
Transitions = Mapping[Any, Sequence[Any]] | Callable[[Any, Any], bool]
_EXAMPLES = {
    "bounds": "{'income': (0, None)}",
    "decimals": "{'income': 2}",
    "step": "{'income': 0.5}",
    "categories": "{'job': ['fixed', 'part-time']}",
    "transitions": "{'job': {'part-time': ['fixed']}}",
    "costs": "{'age': 5}",
}
_LISTS = ("frozen", "increase_only", "decrease_only", "integer", "relations", "together")
#: Digits that a double can have, before and after the point.
DIGITS = 12


@dataclass(frozen=True)
class RuleFields:
    """What a user writes down: see `Constraints` for what each field means."""

    frozen: Sequence[Feature] = ()
    bounds: Mapping[Feature, Bound] = field(default_factory=dict)
    increase_only: Sequence[Feature] = ()
    decrease_only: Sequence[Feature] = ()
    integer: Sequence[Feature] = ()
    decimals: Mapping[Feature, int | None] = field(default_factory=dict)
    categories: Mapping[Feature, Sequence[Any] | None] = field(default_factory=dict)
    transitions: Mapping[Feature, Transitions] = field(default_factory=dict)
    relations: Sequence[Any] = ()
    max_changes: int | None = None
    costs: Mapping[Feature, float] = field(default_factory=dict)
    together: Sequence[Sequence[Feature]] = ()
    step: Mapping[Feature, Step | None] = field(default_factory=dict)

    @cached_property
    def read_relations(self) -> list[Relation]:
        """The relations as coefficients, in the order in which they were given."""
        return [one for given in self.relations for one in read_relation(given)]


def require_well_formed(rules: RuleFields) -> None:
    """Refuse rules of a wrong form; whether the features exist is asked when there is a model."""
    for name in _LISTS:
        _require_list(name, getattr(rules, name))
    for name, example in _EXAMPLES.items():
        if not isinstance(getattr(rules, name), Mapping):
            raise InputError(
                f"{name} must be a mapping such as {example}. Got {getattr(rules, name)!r} instead."
            )
    for group in rules.together:
        if not isinstance(group, str) and not len(group):
            raise InputError("A group of together must name features. Got an empty one.")
    for feature, pair in rules.bounds.items():
        _require_bounds(feature, pair)
    for feature, count in rules.decimals.items():
        if count is not None and (not is_whole(count) or abs(count) > DIGITS):
            raise InputError(
                f"The decimals of {feature!r} must be a whole number from {-DIGITS} to {DIGITS}. "
                f"Got {count!r} instead."
            )
    for feature, given in rules.step.items():
        if given is not None:
            lattice_of(feature, given)
    for feature, cost in rules.costs.items():
        if not (is_number(cost) and np.isfinite(cost) and cost > 0):
            raise InputError(
                f"The cost of {feature!r} must be a positive number. Got {cost!r}. To forbid "
                "a change, use frozen."
            )
    if rules.max_changes is not None and not (
        is_whole(rules.max_changes) and rules.max_changes > 0
    ):
        raise InputError(
            "max_changes must be a whole number of at least 1, or None. "
            f"Got {rules.max_changes!r} instead."
        )
    for feature, chosen in rules.categories.items():
        if chosen is not None:
            _require_list(f"The categories of {feature!r}", chosen, " of categories")
    for feature, rule in rules.transitions.items():
        _require_transitions(feature, rule)


def ends_of(pair: Sequence[float | None]) -> tuple[float, float]:
    """Return bounds as numbers, infinite where a side is open."""
    low, high = pair
    return (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))


def lattice_of(feature: Any, given: Any) -> Lattice:
    """Return the multiples of a step, or those from a first number on, as decimal numbers.

    Examples
    --------
    >>> from pertinent.rules.form import lattice_of
    >>> lattice_of("income", 2.5).words(), lattice_of("price", (10, 4.99)).words()
    ('steps of 2.5', 'steps of 10 from 4.99')
    """
    pair = given if isinstance(given, Sequence) and not isinstance(given, str) else (given, 0)
    if len(pair) != 2 or not all(is_number(one) and np.isfinite(one) for one in pair):
        raise InputError(
            f"The step of {feature!r} must be a number, or a step and the first number. "
            f"Got {given!r} instead."
        )
    step, first = (Decimal(repr(float(one))).normalize() for one in pair)
    places = max(-int(d.as_tuple().exponent) for d in (step, first) if d) if step else 0
    if step <= 0 or abs(places) > DIGITS or abs(first) + step > 10 ** (15 - places):
        raise InputError(
            f"The step of {feature!r} must be positive and have at most {DIGITS} digits. "
            f"Got {given!r} instead."
        )
    unit = Decimal(10) ** places
    multiple = int(step * unit)
    return Lattice(places, multiple, int(first * unit) % multiple)


def _require_list(name: str, value: Any, of: str = "") -> None:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray | set | frozenset):
        raise InputError(f"{name} must be a list{of}. Got {value!r} instead.")


def _require_bounds(feature: Any, pair: Any) -> None:
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise InputError(
            f"The bounds of {feature!r} must be a pair (low, high), with None for an open side. "
            f"Got {pair!r} instead."
        )
    if not all(end is None or is_number(end) for end in pair):
        raise InputError(
            f"The bounds of {feature!r} must be numbers, or None for an open side. "
            f"Got {pair!r} instead."
        )
    low, high = ends_of(list(pair))
    if np.isnan(low) or np.isnan(high) or low > high:
        raise InputError(
            f"The bounds of {feature!r} leave no value: {pair[0]} is not below {pair[1]}."
        )
    if low == np.inf or high == -np.inf:
        raise InputError(
            f"The bounds of {feature!r} leave no finite value: from {pair[0]} to {pair[1]}. "
            "Use None for an open side."
        )


def _require_transitions(feature: Any, rule: Any) -> None:
    if callable(rule):
        return
    if not isinstance(rule, Mapping):
        raise InputError(
            f"The transitions of {feature!r} must map each category to those it may become, or "
            f"be a function of the old and the new one. Got {rule!r} instead."
        )
    for old, many in rule.items():
        _require_list(f"What {old!r} of {feature!r} may become", many, " of categories")
