"""The fields of `Constraints`, apart from what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pertinent.rules.relations import Relation, read_relation

Feature = str | int
Bound = tuple[float | None, float | None]
Transitions = Mapping[Any, Sequence[Any]] | Callable[[Any, Any], bool]


@dataclass(frozen=True)
class RuleFields:
    """What a user writes down: see `Constraints` for what each field means."""

    frozen: Sequence[Feature] = ()
    bounds: Mapping[Feature, Bound] = field(default_factory=dict)
    increase_only: Sequence[Feature] = ()
    decrease_only: Sequence[Feature] = ()
    integer: Sequence[Feature] = ()
    decimals: Mapping[Feature, int] = field(default_factory=dict)
    categories: Mapping[Feature, Sequence[Any]] = field(default_factory=dict)
    transitions: Mapping[Feature, Transitions] = field(default_factory=dict)
    relations: Sequence[Any] = ()
    max_changes: int | None = None
    costs: Mapping[Feature, float] = field(default_factory=dict)
    together: Sequence[Sequence[Feature]] = ()

    @cached_property
    def read_relations(self) -> list[Relation]:
        """The relations as coefficients, in the order in which they were given."""
        return [one for given in self.relations for one in read_relation(given)]
