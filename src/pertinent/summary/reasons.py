"""Reasons in files: what they say as data, and back."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pertinent.exceptions import InputError
from pertinent.geometry.codec import encode
from pertinent.proofs import Certificate
from pertinent.proofs.records import decode
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind, RegionKey

_PARTS = {"kind", "asked", "rules", "features", "number", "plausible", "said", "proof"}
_RULE_PARTS = {"kind", "features", "number", "place", "text"}


def write_reason(reason: Reason | None) -> dict[str, Any] | None:
    """Return a reason as plain values."""
    if reason is None:
        return None
    record = {
        "kind": reason.kind.value,
        "asked": None if reason.asked is None else [str(reason.asked.kind), reason.asked.place],
        "rules": [_write_rule(rule) for rule in reason.rules],
        "features": list(reason.features),
        "number": reason.number,
        "plausible": reason.plausible or None,
        "said": reason.said or None,
        "proof": encode(reason.proof),
    }
    return {key: value for key, value in record.items() if value not in (None, [])}


def _write_rule(rule: RuleRef) -> dict[str, Any]:
    record = {
        "kind": rule.kind.value,
        "features": list(rule.features),
        "number": rule.number,
        "place": rule.place,
        "text": rule.text or None,
    }
    return {key: value for key, value in record.items() if value not in (None, [])}


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
    strange = _strange(record, Why, _PARTS) + [
        part for rule in rules for part in _strange(rule, RuleKind, _RULE_PARTS)
    ]
    if strange:
        return Reason(Why.UNKNOWN, said=", ".join(strange))
    own = record
    asked, proof = own.get("asked"), decode(own.get("proof"))
    if asked is not None:
        kind, place = asked
        if kind not in ("is", "not") or not isinstance(place, int) or place < 0:
            raise InputError(f"A stored reason asks for {asked!r}.")
        asked = RegionKey(Kind(kind), place)
    return Reason(
        Why(own["kind"]),
        asked,
        tuple(_read_rule(rule) for rule in rules),
        _names(own),
        _number(own, "number"),
        str(own.get("plausible", "")),
        str(own.get("said", "")),
        proof if isinstance(proof, Certificate) else None,
    )


def _read_rule(own: dict[str, Any]) -> RuleRef:
    place = own.get("place")
    return RuleRef(
        RuleKind(own["kind"]),
        _names(own),
        _number(own, "number"),
        None if place is None else int(place),
        str(own.get("text", "")),
    )


def _strange(record: dict[str, Any], kinds: type[Enum], parts: set[str]) -> list[str]:
    """Return what of a record is not known here."""
    kind, known = record.get("kind"), {one.value for one in kinds}
    return [*([] if kind in known else [str(kind)]), *sorted(set(record) - parts)]


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
