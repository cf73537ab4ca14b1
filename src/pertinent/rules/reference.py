"""Which rule is meant: what results hold and files store, and what words are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum

from pertinent.rules.words import TERSE, Speech


class RuleKind(Enum):
    """The kinds of rules that a reason names, by their names in files."""

    FROZEN = "frozen"
    AT_LEAST = "at-least"
    AT_MOST = "at-most"
    BOUNDS = "bounds"
    INCREASE_ONLY = "increase-only"
    DECREASE_ONLY = "decrease-only"
    DECIMALS = "decimals"
    STEP = "step"
    CATEGORIES = "categories"
    TRANSITIONS = "transitions"
    RELATION = "relation"
    TOGETHER = "together"
    MAX_CHANGES = "max-changes"
    #: Plausibility as a whole: it may be left out like a rule.
    PLAUSIBLE = "plausible"
    #: Rules that the data suggest.
    DATA_AT_LEAST = "data-at-least"
    DATA_AT_MOST = "data-at-most"
    DATA_STEP = "data-step"
    DATA_CHANGE = "data-change"
    DATA_CATEGORIES = "data-categories"
    #: Not rules of the user: what the data and the model allow.
    KNOWN_CATEGORIES = "known-categories"
    LOWER_LIMIT = "lower-limit"
    UPPER_LIMIT = "upper-limit"
    READ_AT_LEAST = "read-at-least"
    READ_AT_MOST = "read-at-most"


#: ``{0}`` is the feature, ``{1}`` the number.
_SHORT = {
    RuleKind.FROZEN: "{0} frozen",
    RuleKind.AT_LEAST: "{0} >= {1:g}",
    RuleKind.AT_MOST: "{0} <= {1:g}",
    RuleKind.BOUNDS: "bounds of {0}",
    RuleKind.INCREASE_ONLY: "{0} may only increase",
    RuleKind.DECREASE_ONLY: "{0} may only decrease",
    RuleKind.DECIMALS: "{0} with {1:g} decimals",
    RuleKind.STEP: "{0} in steps of {1:g}",
    RuleKind.CATEGORIES: "allowed categories of {0}",
    RuleKind.TRANSITIONS: "allowed transitions of {0}",
    RuleKind.PLAUSIBLE: "plausible",
    RuleKind.DATA_AT_LEAST: "{0} >= {1:g} as in the data",
    RuleKind.DATA_AT_MOST: "{0} <= {1:g} as in the data",
    RuleKind.DATA_STEP: "{0} in steps of {1:g} as in the data",
    RuleKind.DATA_CHANGE: "{0} changes by at least {1:g}",
    RuleKind.DATA_CATEGORIES: "usual categories of {0}",
    RuleKind.KNOWN_CATEGORIES: "categories of {0}",
    RuleKind.LOWER_LIMIT: "lower limit of {0}",
    RuleKind.UPPER_LIMIT: "upper limit of {0}",
    RuleKind.READ_AT_LEAST: "the model reads {0} as at least {1:g}",
    RuleKind.READ_AT_MOST: "the model reads {0} as at most {1:g}",
}
_FULL = _SHORT | {
    RuleKind.FROZEN: "{0} stays as it is",
    RuleKind.AT_LEAST: "{0} is at least {1:g}",
    RuleKind.AT_MOST: "{0} is at most {1:g}",
    RuleKind.DATA_AT_LEAST: "{0} is at least {1:g} (as in the data)",
    RuleKind.DATA_AT_MOST: "{0} is at most {1:g} (as in the data)",
}
#: How a user takes the place of a rule that the data suggest.
_RELAXED = {
    RuleKind.DATA_AT_LEAST: ("bounds", "(None, None)"),
    RuleKind.DATA_AT_MOST: ("bounds", "(None, None)"),
    RuleKind.DATA_STEP: ("step", "None"),
    RuleKind.DATA_CHANGE: ("step", "None"),
    RuleKind.DATA_CATEGORIES: ("categories", "None"),
}


def in_python(taken_back: Mapping[str, Sequence[str]]) -> str:
    """Return the line of Python that takes rules back: features by the argument that does it."""
    none = dict(_RELAXED.values())
    said = (
        f"{field}={{{', '.join(f'{name!r}: {none[field]}' for name in names)}}}"
        for field, names in taken_back.items()
    )
    return f"Constraints({', '.join(said)})"


_WRITTEN: ContextVar[Callable[[Mapping[str, Sequence[str]]], str]] = ContextVar(
    "written", default=in_python
)


@contextmanager
def taken_back_by(written: Callable[[Mapping[str, Sequence[str]]], str]) -> Iterator[None]:
    """Let `relaxing` write in other words than Python's meanwhile; see `in_python`."""
    token = _WRITTEN.set(written)
    try:
        yield
    finally:
        _WRITTEN.reset(token)


def relaxing(rules: Iterable[RuleRef]) -> str:
    """Return the line that takes rules back that the data suggest; "" if none of them does.

    Examples
    --------
    >>> from pertinent.rules.reference import RuleKind, RuleRef, relaxing
    >>> relaxing([RuleRef(RuleKind.DATA_AT_MOST, ("age",), 68.0)])
    "Constraints(bounds={'age': (None, None)})"
    """
    found: dict[str, dict[str, None]] = {}
    for rule in rules:
        if rule.kind in _RELAXED:
            found.setdefault(_RELAXED[rule.kind][0], {}).update(dict.fromkeys(rule.features))
    named = {field: tuple(names) for field, names in found.items()}
    return _WRITTEN.get()(named) if named else ""


@dataclass(frozen=True)
class RuleRef:
    """One rule, by reference.

    Parameters
    ----------
    kind : RuleKind
    features : tuple of str
        The features that it speaks of, by their names in the data.
    number : float, optional
        The bound, the digits, or the number of changes.
    place : int, optional
        Which of the relations, in the order in which they were given.
    text : str
        A relation as the user wrote it, or the categories that the data do not suggest. It is
        quoted, and not compared.

    Examples
    --------
    >>> from pertinent.rules.reference import RuleKind, RuleRef
    >>> str(RuleRef(RuleKind.AT_LEAST, ("income",), 1200.0))
    'income >= 1200'
    """

    kind: RuleKind
    features: tuple[str, ...] = ()
    number: float | None = None
    place: int | None = None
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.words()

    def words(self, speech: Speech = TERSE) -> str:
        """Return the rule in words."""
        if self.kind is RuleKind.RELATION:
            return speech.relation(self.text, self.features)
        if self.kind is RuleKind.MAX_CHANGES:
            return f"at most {self.number:g} change{'' if self.number == 1 else 's'}"
        if self.kind is RuleKind.TOGETHER:
            return speech.together(self.features)
        if self.kind is RuleKind.DECIMALS and self.number == 0:
            return f"{speech.feature(self.features[0])} is a whole number"
        names = ", ".join(map(speech.feature, self.features))
        if self.kind is RuleKind.DATA_CATEGORIES and self.text:  # files of before lack it
            return f"{names} is not changed to {self.text} (as in the data)"
        return (_FULL if speech.in_full else _SHORT)[self.kind].format(names, self.number)


#: Plausibility, among the rules of a conflict.
PLAUSIBLE = RuleRef(RuleKind.PLAUSIBLE)
