"""How far values of an answer may move: what is said of one answer.

A *span* says of one number: with all other values as in the answer, every value from ``low`` to
``high`` that the rules allow keeps the class. A *box* says it of several numbers together. A span
ends for a reason, which is part of what is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pertinent.rules.reference import RuleRef


class EndKind(StrEnum):
    """Why a span ends."""

    #: A little farther the class is another, or not sure.
    CLASS = "class"
    #: It does not end.
    OPEN = "open"
    #: A rule allows no more.
    RULE = "rule"
    #: A little farther points are not plausible.
    DENSITY = "density"
    #: So far out that nothing was looked at farther on.
    FAR = "far"
    #: Nothing is known to be wrong farther on, and nothing is shown.
    SHOWN = "shown"


@dataclass(frozen=True)
class End:
    """Why one side of a span ends there, and by which rule."""

    kind: EndKind
    rule: RuleRef | None = None


@dataclass(frozen=True)
class Span:
    """The values that one column may take.

    Parameters
    ----------
    column : int
    low, high : float
        Infinite where there is no end.
    cuts : tuple of float
        Where the span is cut to be shown part by part.
    low_end, high_end : End
    """

    column: int
    low: float
    high: float
    cuts: tuple[float, ...] = ()
    low_end: End = End(EndKind.SHOWN)
    high_end: End = End(EndKind.SHOWN)


@dataclass(frozen=True)
class Room:
    """How far the values of one answer may move.

    Parameters
    ----------
    spans : tuple of Span
        One for each number that was asked about and of which something is shown.
    box : tuple of Span
        Numbers that may move together; empty where no box is shown.
    choices : dict of int to tuple of int
        Of features that hold categories: the places of the categories that keep the class.
    """

    spans: tuple[Span, ...] = ()
    box: tuple[Span, ...] = ()
    choices: dict[int, tuple[int, ...]] = field(default_factory=dict)
