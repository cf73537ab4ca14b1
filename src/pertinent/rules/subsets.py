"""Some of the rules: every rule by reference, and the rules that are left if only some hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pertinent.rules.constraints import Constraints
from pertinent.rules.inferred import RANGE, Inferred
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.relations import Feature, read_relation
from pertinent.tables.features import Features

V = TypeVar("V")

#: What conflicts name beside rules: it follows from the data, the model or the question.
GIVEN = frozenset(
    {
        RuleKind.KNOWN_CATEGORIES,
        RuleKind.LOWER_LIMIT,
        RuleKind.UPPER_LIMIT,
        RuleKind.READ_AT_LEAST,
        RuleKind.READ_AT_MOST,
    }
)
#: Rules that speak of change: they do not hold for positives.
OF_CHANGE = frozenset(
    {RuleKind.MAX_CHANGES, RuleKind.TOGETHER, RuleKind.DATA_STEP, RuleKind.DATA_CHANGE}
)


def every_rule(rules: Constraints, features: Features, *, changes: bool) -> tuple[RuleRef, ...]:
    """Return every rule, each once; those that speak of change only with ``changes``.

    Examples
    --------
    >>> from pertinent import Constraints
    >>> from pertinent.rules.subsets import every_rule
    >>> from pertinent.tables.features import Features
    >>> rules = Constraints(frozen=["age"], bounds={"debt": (0, 9)}, max_changes=2)
    >>> [str(rule) for rule in every_rule(rules, Features(("age", "debt")), changes=True)]
    ['age frozen', 'debt >= 0', 'debt <= 9', 'at most 2 changes']
    """
    found: dict[RuleRef, None] = {}

    def note(rule: RuleRef) -> bool:
        if changes or rule.kind not in OF_CHANGE:
            found[rule] = None
        return True

    _filtered(rules, features, note)
    return tuple(found)


def only(rules: Constraints, features: Features, named: Collection[RuleRef]) -> Constraints:
    """Return just the rules that are named; costs stay, and so do the words of the user.

    Examples
    --------
    >>> from pertinent import Constraints
    >>> from pertinent.rules.subsets import every_rule, only
    >>> from pertinent.tables.features import Features
    >>> features = Features(("debt",))
    >>> rules = Constraints(bounds={"debt": (0, 9)}, integer=["debt"])
    >>> print(only(rules, features, every_rule(rules, features, changes=True)[1:]))
    debt <= 9; debt is a whole number
    """
    return _filtered(rules, features, frozenset(named).__contains__)


def _filtered(
    rules: Constraints, features: Features, holds: Callable[[RuleRef], bool]
) -> Constraints:
    """Return the rules of which ``holds`` says so; it is asked of every rule."""

    def one(kind: RuleKind, *names: Feature, number: Any = None) -> bool:
        called = tuple(features.names[features.index(name)] for name in names)
        return holds(RuleRef(kind, called, number))

    def listed(kind: RuleKind, names: Sequence[Feature]) -> list[Feature]:
        return [name for name in names if one(kind, name)]

    def mapped(kind: RuleKind, given: Mapping[Feature, V], numbers: bool) -> dict[Feature, V]:
        def stays(name: Feature, value: Any) -> bool:
            first = value[0] if isinstance(value, Sequence) and numbers else value
            return value is None or one(kind, name, number=first if numbers else None)

        return {name: value for name, value in given.items() if stays(name, value)}

    def end(kind: RuleKind, name: Feature, number: float | None) -> float | None:
        limits = number is not None and np.isfinite(number)
        return number if limits and one(kind, name, number=number) else None

    related = {rule.text: rule for rule in rules.named_relations(features)}
    return replace(
        rules,
        frozen=listed(RuleKind.FROZEN, rules.frozen),
        bounds={
            name: (end(RuleKind.AT_LEAST, name, low), end(RuleKind.AT_MOST, name, high))
            for name, (low, high) in rules.bounds.items()
        },
        increase_only=listed(RuleKind.INCREASE_ONLY, rules.increase_only),
        decrease_only=listed(RuleKind.DECREASE_ONLY, rules.decrease_only),
        integer=[name for name in rules.integer if one(RuleKind.DECIMALS, name, number=0)],
        decimals=mapped(RuleKind.DECIMALS, rules.decimals, numbers=True),
        step=mapped(RuleKind.STEP, rules.step, numbers=True),
        categories=mapped(RuleKind.CATEGORIES, rules.categories, numbers=False),
        transitions=mapped(RuleKind.TRANSITIONS, rules.transitions, numbers=False),
        relations=[
            given for given in rules.relations if holds(related[read_relation(given)[0].text])
        ],
        together=[group for group in rules.together if one(RuleKind.TOGETHER, *group)],
        max_changes=(
            rules.max_changes
            if rules.max_changes is not None and one(RuleKind.MAX_CHANGES, number=rules.max_changes)
            else None
        ),
        inferred=[left for rule in rules.inferred if (left := _of_data(rule, holds)) is not None],
    )


def _of_data(rule: Inferred, holds: Callable[[RuleRef], bool]) -> Inferred | None:
    """Return what is left of a rule that the data suggest: of a range, the ends that hold."""
    refs = rule.refs()
    if rule.kind != RANGE:
        return rule if holds(refs[0]) else None
    ends = zip(refs, rule.numbers, (-np.inf, np.inf), strict=True)
    low, high = (end if np.isfinite(end) and holds(ref) else none for ref, end, none in ends)
    return replace(rule, numbers=(low, high))
