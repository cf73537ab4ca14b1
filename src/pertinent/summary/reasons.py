"""Reasons in files: what they say as data, and back."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import Any

import numpy as np

from pertinent.density.hull import Blend
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.codec import encode
from pertinent.proofs import Certificate
from pertinent.proofs.records import decode
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind, RegionKey


def write_reason(reason: Reason | None) -> dict[str, Any] | None:
    """Return a reason as plain values."""
    if reason is None:
        return None
    asked, rules = reason.asked, [_written(rule, {}) for rule in reason.rules]
    return _written(
        reason,
        {
            "asked": None if asked is None else [str(asked.kind), asked.place],
            "rules": rules,
            "proof": encode(reason.proof),
            "without": encode(reason.without),
            "blends": encode(reason.blends),
        },
    )


def _written(record: Reason | RuleRef, others: dict[str, Any]) -> dict[str, Any]:
    """Return what a record says, part by part; ``others`` are written already."""
    own = {name: getattr(record, name) for name in _names_of(type(record))}
    own |= {"kind": record.kind.value, "features": list(record.features), **others}
    return {key: _plain(value) for key, value in own.items() if _says_something(value)}


def _says_something(value: Any) -> bool:
    return value is not None and not (isinstance(value, list | str) and not value)


def _plain(value: Any) -> Any:
    """Return a number of NumPy, as bounds may be given, as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def _names_of(kind: type[Reason | RuleRef]) -> list[str]:
    return [f.name for f in fields(kind)]


def read_reason(record: Any) -> Reason | None:
    """Return what `write_reason` was given; words alone, as files of format 1 have them, as said.

    A reason or a rule of a kind that is not known here, or with parts that are not, comes back
    as `Why.UNKNOWN`; anything malformed is refused.
    """
    if record is None:
        return None
    if isinstance(record, str):
        return Reason(Why.SAID, said=record)
    if not isinstance(record, dict):
        raise InputError(f"A stored reason is malformed: {str(record)[:80]}.")
    rules = record.get("rules", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise InputError("The rules of a stored reason are malformed.")
    strange = _strange(record, Why, Reason) + [
        part for rule in rules for part in _strange(rule, RuleKind, RuleRef)
    ]
    if strange:
        return Reason(Why.UNKNOWN, said=", ".join(strange))
    asked, proof = record.get("asked"), decode(record.get("proof"))
    if asked is not None:
        kind, place = asked
        if kind not in list(Kind) or not isinstance(place, int) or place < 0:
            raise InputError(f"A stored reason asks for {asked!r}.")
        asked = RegionKey(Kind(kind), place)
    return Reason(
        Why(record["kind"]),
        asked,
        tuple(_read_rule(rule) for rule in rules),
        _names(record),
        _number(record, "number"),
        str(record.get("plausible", "")),
        str(record.get("said", "")),
        proof if isinstance(proof, Certificate) else None,
        _points(record),
        _blends(record),
    )


def _points(record: dict[str, Any]) -> FloatArray | None:
    points = decode(record.get("without"))
    if points is None:
        return None
    if not isinstance(points, np.ndarray) or points.ndim != 2 or points.dtype.kind not in "fiu":
        raise InputError("The points of a stored reason are malformed.")
    return np.asarray(points, dtype=float)


def _blends(record: dict[str, Any]) -> tuple[Blend | None, ...]:
    blends = decode(record.get("blends", []))
    if not isinstance(blends, tuple) or not all(b is None or isinstance(b, Blend) for b in blends):
        raise InputError("The blends of a stored reason are malformed.")
    return blends


def _read_rule(own: dict[str, Any]) -> RuleRef:
    place = own.get("place")
    return RuleRef(
        RuleKind(own["kind"]),
        _names(own),
        _number(own, "number"),
        None if place is None else int(place),
        str(own.get("text", "")),
    )


def _strange(record: dict[str, Any], kinds: type[Enum], own: type[Reason | RuleRef]) -> list[str]:
    """Return what of a record is not known here."""
    kind, known = record.get("kind"), {one.value for one in kinds}
    return [
        *([] if kind in known else [str(kind)]),
        *sorted(set(record).difference(_names_of(own))),
    ]


def _names(record: dict[str, Any]) -> tuple[str, ...]:
    names = record.get("features", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("The features of a stored reason are not names.")
    return tuple(names)


def _number(record: dict[str, Any], key: str) -> float | None:
    value = record.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InputError(f"The number of a stored reason is {value!r}.")
    return value
