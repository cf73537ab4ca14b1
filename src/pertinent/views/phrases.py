"""Values, numbers and classes of a summary in words, as every sentence writes them."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any

from pertinent.summary.instead import as_told
from pertinent.summary.rounding import LONG, ROUNDING
from pertinent.summary.summary import Summary
from pertinent.summary.words import Basis, EndKind, counted, label_text, listed, plain

#: Why a side of a box ends, where no class does it: "or more".
ENDLESS = (EndKind.OPEN, EndKind.FAR, EndKind.RULE)
#: More features than this are counted, not listed.
LISTED = {"short": 3, "report": 6, "medium": 8, "long": 1000}


class Heading(StrEnum):
    """What stands above the sentences about each part of an explanation.

    Sentences are made without it, and nobody cuts it off again.
    """

    ENOUGH = "What was enough"
    CHANGE = "What would have changed it"
    PROOF = "Certificate"

    def over(self, sentences: str) -> str:
        """Return the heading and the sentences in one line."""
        return f"{self}: {sentences}"


def prediction_words(summary: Summary) -> str:
    """Return the predicted class in words."""
    return summary["prediction_text"] or label_text(summary["prediction"])


def target_words(summary: Summary) -> str:
    """Return the contrast class in words."""
    negative = summary["negative"]
    if negative["target"] is None:
        return "another class"
    return negative["target_text"] or label_text(negative["target"])


def as_seen(summary: Summary) -> Summary:
    """Return the summary as it is told: what stands in for an empty positive takes its place."""
    told = as_told(summary["positive"])
    if told is summary["positive"]:
        return summary
    at_rest = zip(summary["features"], told["baseline"], strict=True)
    features = [feature | {"baseline": value} for feature, value in at_rest]
    return summary | {"positive": told, "features": features}


def typical(summary: Summary) -> str:
    """Return the adjective for the values that the others rest at."""
    positive = summary["positive"]
    if positive.get("basis") != Basis.CONTRAST:
        return "typical"
    called = positive["class_text"] or label_text(positive["class"])
    # In front of a number, a class that is one is quoted: typical “0” 5.
    quoted = called == str(positive["class"]) and not isinstance(positive["class"], str)
    return f"typical “{called}”" if quoted else f"typical {called}"


def allowed(summary: Summary) -> str:
    """Return the words that limit a claim to the rules; "" where there are none."""
    return "" if summary["rules"]["constraints"] == "none" else " that the rules allow"


def reason(summary: Summary, part: str) -> str:
    """Return why there is no positive, or no negative, with features and classes by name."""
    return str(summary.get("reasons", {}).get(part) or summary[part]["reason"])


def own_value(feature: Summary) -> str:
    """Return the sample's own value in words; one that it lacks is never called its own."""
    value = plain(feature["sample"])
    if not feature.get("missing"):
        return value
    return "a missing value" if feature["sample"] is None else f"a missing value, read as {value}"


def new_value(feature: Summary, entry: Summary) -> str:
    """Return a new value in words: "763 or less" where every smaller one does as well.

    All such values of an explanation hold together: they are those of its box. A side that a rule
    ends is not spelled out; the rules are listed beside.
    """
    about = entry.get("about", False)
    side, plainly = entry.get("box"), proposed(feature, entry["value"], about=about)
    if about or side is None or isinstance(entry["value"], bool) or side["low"] == side["high"]:
        return plainly
    if feature["sample"] is None:
        return plainly
    falls = entry["value"] < feature["sample"]
    near, far = (side["high"], side["low"]) if falls else (side["low"], side["high"])
    if near is None or _is_long(near):
        return plainly
    why = (side["low_end"] if falls else side["high_end"])["kind"]
    if why in ENDLESS:
        return f"{with_unit(feature, near, exact=True)} or {'less' if falls else 'more'}"
    if far is None or near == far:
        return plainly
    first, last = sorted((near, far))
    return f"{plain(first, exact=True)} to {with_unit(feature, last, exact=True)}"


def is_about(answer: Summary) -> bool:
    """Return whether a step less in one of the values does as well, for rounding decides there.

    What is proved is then the smallest of what rounding cannot change, not of what is printed.
    """
    return any(entry.get("about", False) for entry in answer["values"])


def proved_smallest(answer: Summary) -> str:
    """Return what an optimal answer is, in two or three words."""
    return f"proved smallest{f' {ROUNDING}' if is_about(answer) else ''}"


def told_together(values: list[Summary]) -> list[Summary]:
    """Return changed values, without their box where one of them is printed outside of it.

    Sides would be told in place of the numbers: "314 or less" where 314.7 was found.

    Examples
    --------
    >>> from pertinent.views.phrases import told_together
    >>> side = {"exact_low": None, "exact_high": 314.66}
    >>> [told_together([{"value": v, "box": side}])[0]["box"] for v in (314.6, 314.7)]
    [{'exact_low': None, 'exact_high': 314.66}, None]
    """
    held = all(_is_held(entry["value"], entry.get("box")) for entry in values)
    return values if held else [entry | {"box": None} for entry in values]


def _is_held(value: Any, side: Summary | None) -> bool:
    if side is None:
        return True
    low, high = side.get("exact_low"), side.get("exact_high")
    return (low is None or low <= value) and (high is None or value <= high)


def proposed(feature: Summary, value: Any, *, about: bool = False) -> str:
    """Return a proposed value with its unit; one of more digits than anyone reads is said about."""
    if _is_long(value):
        return f"about {with_unit(feature, value)}"
    return f"{'about ' if about else ''}{with_unit(feature, value, exact=True)}"


def _is_long(value: Any) -> bool:
    return isinstance(value, float) and len(Decimal(repr(value)).as_tuple().digits) > LONG


def with_unit(feature: Summary, value: Any, *, exact: bool = False) -> str:
    """Return a value of a feature with its unit: "2 years", "1 year"."""
    words, unit = plain(value, exact=exact), feature["unit"]
    if not unit or value is None:
        return words
    return f"{words} {unit[:-1] if words == '1' and _is_plural(unit) else unit}"


def _is_plural(unit: str) -> bool:
    """Return whether a unit is a word in the plural, such as "years", and no symbol, such as "cm".

    Examples
    --------
    >>> from pertinent.views.phrases import _is_plural
    >>> [unit for unit in ("years", "cm", "ms", "celsius", "lbs", "°") if _is_plural(unit)]
    ['years', 'lbs']
    """
    return len(unit) > 2 and unit.isalpha() and unit[-1] == "s" and unit[-2] not in "su"


def number(value: float, low: float | None = None, high: float | None = None) -> str:
    """Return a prediction in as few digits as keep it on its side of the ends of a range.

    At least four, and the whole number; thousands are apart.

    Examples
    --------
    >>> from pertinent.views.phrases import number
    >>> number(163000.2), number(0.123456), number(2500.75), number(-3.0)
    ('163,000', '0.1235', '2,501', '-3')
    >>> number(159999.96, 160000.0), number(160000.04, 160000.0)
    ('159,999.96', '160,000')
    """
    whole = len(f"{abs(value):.0f}") if abs(value) < 1e15 else 4
    for digits in range(max(4, whole), 17):
        near = float(f"{value:.{digits}g}")
        above = low is None or (near >= low) == (value >= low)
        if above and (high is None or (near <= high) == (value <= high)):
            return f"{value:,.{digits}g}"
    return f"{value:,}"


def share(value: float) -> str:
    """Return a probability in percent, with a digit more next to one half.

    Examples
    --------
    >>> from pertinent.views.phrases import share
    >>> share(0.83), share(0.5004), share(0.50000001), share(0.9996)
    ('83%', '50.04%', 'just over 50%', 'over 99.9%')
    """
    if 0 < value < 0.001:
        return "under 0.1%"
    if 0.999 < value < 1:
        return "over 99.9%"
    away = abs(value - 0.5)
    if 0 < away < 5e-5:
        return f"just {'over' if value > 0.5 else 'under'} 50%"
    return f"{100 * value:.{0 if away > 0.01 else 1 if away > 0.001 else 2}f}%"


def size(value: float | None) -> str:
    """Return the size of a change in four digits."""
    return "unknown" if value is None else f"{value:.4g}"


def cut(parts: list[str], length: str, noun: str = "value") -> str:
    """Return the parts as an enumeration; those that are too many for the length are counted."""
    most = LISTED[length]
    if len(parts) > most + 1:
        parts = [*parts[:most], counted(len(parts) - most, f"other {noun}")]
    return listed(parts)
