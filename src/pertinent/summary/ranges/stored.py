"""Ranges and boxes as a file stores them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.codec import encode
from pertinent.proofs.records import decode
from pertinent.setting.ranges import Room, Span
from pertinent.summary.asked import Rooms
from pertinent.tables.features import Features

#: Most spans, cuts and categories of one stored answer.
MOST_STORED = 100_000


def write_rooms(rooms: Rooms) -> dict[str, Any]:
    """Return the rooms as plain values; that of what stands in only where something may move."""
    named = rooms._asdict()
    return {n: _write(room) for n, room in named.items() if n != "instead" or room != Room()}


def _write(room: Room) -> dict[str, Any]:
    choices = [{"feature": j, "places": list(places)} for j, places in room.choices.items()]
    return {"spans": _write_spans(room.spans), "box": _write_spans(room.box), "choices": choices}


def _write_spans(spans: tuple[Span, ...]) -> list[dict[str, Any]]:
    return [
        {"column": span.column, "ends": encode(np.array([span.low, span.high])),
         "cuts": list(span.cuts)}
        for span in spans
    ]  # fmt: skip


def read_rooms(record: Any, features: Features) -> Rooms:
    """Return what `write_rooms` was given, without why sides end; refuse what cannot be."""
    if record is None:
        return Rooms()
    named = {"positive": record["positive"], "negative": record["negative"]}
    if "instead" in record:  # files of before lack it
        named["instead"] = record["instead"]
    return Rooms(**{name: _read(own, features) for name, own in named.items()})


_SPAN = {"column", "ends", "cuts"}
#: The parts of stored ranges, and those of their items.
_ITEMS = {"spans": _SPAN, "box": _SPAN, "choices": {"feature", "places"}}


def strange_ranges(record: Any) -> list[str]:
    """Return what of stored ranges is not known here."""
    known = Rooms._fields
    out = [f"ranges.{key}" for key in record or () if key not in known]
    for name in known:
        own = (record or {}).get(name, {})
        out += [f"ranges.{name}.{key}" for key in own if key not in _ITEMS]
        for key, items in _ITEMS.items():
            beside = {k for one in own.get(key, ()) for k in one} - items
            out += [f"ranges.{name}.{key}.{part}" for part in sorted(beside)]
    return out


def _read(record: dict[str, Any], features: Features) -> Room:
    spans, box = (_read_spans(record[name], features) for name in ("spans", "box"))
    choices: dict[int, tuple[int, ...]] = {}
    for one in record["choices"]:
        j, places = one["feature"], one["places"]
        known = isinstance(j, int) and 0 <= j < len(features) and features.is_category(j)
        if not known or not all(isinstance(p, int) for p in places):
            raise InputError("A stored range is about a category that there is not.")
        last = len(features.columns_of(j))
        if not all(0 <= place < last for place in places):
            raise InputError("A stored range is about a category that there is not.")
        choices[j] = tuple(places)
    return Room(spans, box, choices)


def _read_spans(records: list[dict[str, Any]], features: Features) -> tuple[Span, ...]:
    out = []
    numbers = {int(features.first[j]) for j in range(len(features)) if not features.is_category(j)}
    if sum(1 + len(one["cuts"]) for one in records) > MOST_STORED:
        raise InputError("A stored range has too many parts.")
    for one in records:
        ends: FloatArray = np.asarray(decode(one["ends"]), dtype=float)
        cuts = np.asarray(one["cuts"], dtype=float)
        if one["column"] not in numbers or ends.shape != (2,) or not ends[0] <= ends[1]:
            raise InputError("A stored range is not one of a number of this model.")
        if cuts.ndim != 1 or not np.isfinite(cuts).all():
            raise InputError("A stored range is cut where there is no number.")
        out.append(Span(int(one["column"]), float(ends[0]), float(ends[1]), tuple(cuts.tolist())))
    return tuple(out)
