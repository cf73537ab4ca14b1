"""Words for numbers, labels and lists, the same in every sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

#: Significant digits of a value that is quoted, not proposed.
DIGITS = 6


def number(value: float) -> str:
    """Return a number as people write it, in the shortest form that reads back as the same.

    Examples
    --------
    >>> from pertinent.tables.words import number
    >>> number(1234.5), number(3.0), number(-0.0), number(1e-7)
    ('1,234.5', '3', '0', '1e-07')
    """
    if value == 0:
        return "0"
    text = format(float(value), ",")
    return text.removesuffix(".0")


def quoted(value: float) -> str:
    """Return a number to six significant digits.

    Examples
    --------
    >>> from pertinent.tables.words import quoted
    >>> quoted(17.989999771118164), quoted(1234567.0)
    ('17.99', '1,234,567')
    """
    if value == 0 or not math.isfinite(value):
        return number(value)
    places = DIGITS - 1 - math.floor(math.log10(abs(value)))
    return number(round(value, max(places, 0)))


def plain(value: Any, *, exact: bool = False) -> str:
    """Return a feature's value in a sentence: a number, or the name of a category in quotes.

    Examples
    --------
    >>> from pertinent.tables.words import plain
    >>> plain(1078.0), plain("part-time"), plain(True), plain(None)
    ('1,078', '“part-time”', 'yes', 'missing')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value) if exact else quoted(value)
    return label_text(str(value))


def label_text(label: Any) -> str:
    """Return a class label in quotes, or a number as it is."""
    return f"“{label}”" if isinstance(label, str) else str(label)


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Return the parts as an enumeration.

    Examples
    --------
    >>> from pertinent.tables.words import listed
    >>> listed(["age"]), listed(["age", "job", "home"])
    ('age', 'age, job and home')
    """
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


#: So many of a kind are named, before the others are counted.
NAMED = 8


def few(parts: Sequence[str], last: str = "and") -> str:
    """Return the parts as an enumeration; of many the first ones, and how many others there are.

    Examples
    --------
    >>> from pertinent.tables.words import few
    >>> few(["rent", "parents"], "or"), few("abcdefghijkl")
    ('rent or parents', 'a, b, c, d, e, f, g, h and 4 others')
    """
    if len(parts) > NAMED + 1:
        parts = [*parts[:NAMED], f"{len(parts) - NAMED:,} others"]
    return listed(parts, last)


def counted(n: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from pertinent.tables.words import counted
    >>> counted(1, "value"), counted(2000, "value")
    ('1 value', '2,000 values')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def percent(share: float) -> str:
    """Return a share as a whole percentage, never rounded to all or nothing.

    Examples
    --------
    >>> from pertinent.tables.words import percent
    >>> percent(0.5), percent(0.999), percent(0.001), percent(1.0)
    ('50%', 'over 99%', 'under 1%', '100%')
    """
    if 0 < share < 0.01:
        return "under 1%"
    if 0.99 < share < 1:
        return "over 99%"
    return f"{share:.0%}"
