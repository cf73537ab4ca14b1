"""Ranges and boxes as a summary shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pertinent.geometry.arrays import IntArray
from pertinent.rules.words import Speech
from pertinent.setting.claims.boxes import Answer
from pertinent.setting.limits import negative_limits, sufficient_limits
from pertinent.setting.question import Method
from pertinent.setting.ranges import End, Room, Span
from pertinent.setting.results import Positives
from pertinent.summary.asked import Answered, Asked
from pertinent.summary.rounding import REFINEMENTS
from pertinent.summary.tolerances import LEAST_SHOWN
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing


def changed_values(explanations: Answered, asked: Asked, rows: IntArray) -> Answer:
    """Return the changed values of negatives, which may move."""
    negative, table = explanations.negative, explanations.table.take(rows)
    untouched = (explanations.positive.kept & explanations.avoided[:, None])[rows]
    return Answer(
        table, negative.values[rows], negative.target_place[rows],
        negative_limits(asked.setting, table, untouched), negative.changed[rows], changes=True,
    )  # fmt: skip


def kept_values(explanations: Answered, asked: Asked, rows: IntArray) -> Answer:
    """Return the kept values of positives, which may move."""
    return _enough(explanations, asked, rows, [(explanations.positive, row) for row in rows])


def stand_in_values(explanations: Answered, asked: Asked, rows: IntArray) -> Answer:
    """Return the kept values of what stands in for empty positives, which may move."""
    found = [None if one is None else one.positive for one in explanations.instead(rows.tolist())]
    told = [
        (explanations.positive, row) if one is None else (one, 0)
        for one, row in zip(found, rows.tolist(), strict=True)
    ]
    answer = _enough(explanations, asked, rows, told)
    there = np.array([one is not None for one in found])
    return replace(answer, chosen=answer.chosen & there[:, None])


def _enough(
    explanations: Answered, asked: Asked, rows: IntArray, told: list[tuple[Positives, int]]
) -> Answer:
    """Return the kept values of these positives of the rows.

    They may move as far as the rules allow, not only between the sample's own and the base value.
    Those of a "sufficient" positive are enough whatever the others are.
    """
    setting, table = asked.setting, explanations.table.take(rows)
    whatever = np.array([found.method is Method.SUFFICIENT for found, _ in told])[:, None]
    points = np.array([found.values[row] for found, row in told])
    kept = np.array([found.kept[row] for found, row in told])
    low, high = (
        np.broadcast_to(side, points.shape)
        for side in setting.constraints.limits(setting.features, table)
    )
    if whatever.any():
        found = ~np.isnan(points).any(axis=1, keepdims=True)
        points = np.where(whatever & found, table.values, points)
        wide = sufficient_limits(setting, table, asked.question)
        low, high = (np.where(whatever, *two) for two in zip(wide, (low, high), strict=True))
    labels, free = explanations.positive.label[rows], whatever & ~kept
    return Answer(table, points, labels, (low, high), kept, changes=False, free=free)


#: What may move, by the name of its answer.
MOVABLE = {"positive": kept_values, "negative": changed_values, "instead": stand_in_values}


def shown_range(
    room: Room, features: Features, j: int, value: Any, step: float, speech: Speech
) -> dict[str, Any] | None:
    """Return how far feature j may move by itself; None where nothing is shown.

    Parameters
    ----------
    room : Room
    features : Features
    j : int
    value : number or category
        As it is printed: an end so close to it is printed as the same number.
    step : float
        Coarsest rounding of the feature; ends are rounded towards each other.
    speech : Speech
        What features are called.
    """
    if features.is_category(j):
        levels, places = features.levels[j] or (), room.choices.get(j, ())
        known = [levels[place] for place in places if place < len(levels)]
        return {"values": [_plain(level) for level in known]} if known else None
    return _shown_span(room.spans, features, j, value, step, speech)


def shown_side(
    room: Room, features: Features, j: int, value: Any, step: float, speech: Speech
) -> dict[str, Any] | None:
    """Return how far feature j may move together with the others of the box."""
    return (
        None if features.is_category(j) else _shown_span(room.box, features, j, value, step, speech)
    )


def _plain(level: Any) -> Any:
    """Return a category as JSON has it: None where it stands for a missing value."""
    if is_missing([level])[0]:
        return None
    item = level.item() if isinstance(level, np.generic) else level
    return item if isinstance(item, bool | int | float | str) else str(item)


def _shown_span(
    spans: tuple[Span, ...], features: Features, j: int, value: Any, step: float, speech: Speech
) -> dict[str, Any] | None:
    column = int(features.first[j])
    for span in spans:
        if span.column == column:
            low, high = rounded_ends(span, float(value), step)
            return {
                "low": low,
                "high": high,
                "exact_low": _finite(span.low),
                "exact_high": _finite(span.high),
                "low_end": _end(span.low_end, speech),
                "high_end": _end(span.high_end, speech),
            }
    return None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _end(end: End, speech: Speech) -> dict[str, Any]:
    return {"kind": str(end.kind), "rule": None if end.rule is None else end.rule.words(speech)}


def rounded_ends(span: Span, value: float, step: float) -> tuple[float | None, float | None]:
    """Return both ends rounded towards each other, as coarsely as leaves the printed value inside.

    An end within a step of the printed value is that value.
    """
    inside = span.low <= value <= span.high
    for refinement in range(REFINEMENTS):
        width = step / 10.0**refinement
        low, high = (_on_grid(end, width, up) for end, up in ((span.low, True), (span.high, False)))
        if inside:
            low, high = min(low, value), max(high, value)
        if span.low <= low <= high <= span.high:
            return _finite(low), _finite(high)
    return _finite(span.low), _finite(span.high)


def _on_grid(end: float, step: float, up: bool) -> float:
    if not np.isfinite(end):
        return end
    digits = int(np.round(-np.log10(step)))
    power = 10.0 ** abs(digits)
    ratio = end * power if digits > 0 else end / power
    # An end on the grid stays where it is, whatever its product rounds to.
    counts = (np.round(ratio), (np.ceil if up else np.floor)(ratio))
    near, away = (float(n / power if digits > 0 else n * power) for n in counts)
    return near if near == end else away


def with_ends_of(own: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return what is shown of a range, with the ends of a file where they have fewer digits.

    A file's end counts as the same if it is the exact end, rounded inwards by less than a
    hundredth of it: an older version showed fewer digits. What is no range comes back as it is.

    Examples
    --------
    >>> own = {"low": 1.5, "high": 26.98, "exact_low": 1.5, "exact_high": 26.98}
    >>> with_ends_of(own, {"high": 26.9})["high"], with_ends_of(own, {"high": 27.0})["high"]
    (26.9, 26.98)
    """
    out = dict(own)
    for side, up in (("low", True), ("high", False)):
        exact, end = own.get(f"exact_{side}"), told.get(side)
        if isinstance(exact, float) and isinstance(end, int | float):
            first = 10.0 ** np.floor(np.log10(max(abs(exact), LEAST_SHOWN) / 100))
            if any(_on_grid(exact, first / 10.0**k, up) == end for k in range(REFINEMENTS)):
                out[side] = end
    return out
