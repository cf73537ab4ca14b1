"""What of a stored explanation this version does not know: said, and never taken as read."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from pertinent.density.hull import Hulls
from pertinent.density.mixture import Densities
from pertinent.exceptions import InputError
from pertinent.geometry.codec import KIND, strange_parts
from pertinent.proofs.records import decode
from pertinent.rules.constraints import Constraints
from pertinent.rules.inferred import Inferred
from pertinent.rules.relations import read_relation
from pertinent.rules.wording import Wording
from pertinent.setting.results import Alternative, Negatives, Positives
from pertinent.summary.ranges.stored import strange_ranges
from pertinent.summary.stored import (
    ALTERNATIVE,
    ALTERNATIVES,
    CERTIFICATES,
    INSTEAD,
    WHY,
    json_schema,
)

#: Parts of a question that are records, by their types in files.
RECORDS: dict[str, dict[str, type]] = {
    "constraints": {"constraints": Constraints},
    "within": {"densities": Densities, "hulls": Hulls},
    "wording": {"wording": Wording},
}

#: The parts of a document, and of what it holds to be checked.
PARTS = {"format", "version", "summary", "proof"}
PROOF_PARTS = {"question", "positive", "negative", "ranges", INSTEAD}
#: The parts of what stands in for an empty positive.
INSTEAD_PARTS = {"basis", "class", "baseline", "positive"}


def not_known(document: dict[str, Any]) -> list[str]:
    """Return what of a question and its answers this version does not know."""
    proof = document["proof"]
    question, instead = proof["question"], proof.get(INSTEAD) or {}
    known = _parts_of_a_question()
    strange = [f"question.{key}" for key in question if key not in known]
    strange += [str(key) for key in document if key not in PARTS]
    strange += [f"proof.{key}" for key in proof if key not in PROOF_PARTS]
    strange += [f"{INSTEAD}.{key}" for key in instead if key not in INSTEAD_PARTS]
    strange += strange_ranges(proof.get("ranges"))
    strange += [part for key in RECORDS for part in _strange_record(key, question[key])]
    strange += _strange_answer("positive", Positives, proof["positive"])
    strange += _strange_answer("negative", Negatives, proof["negative"])
    if "positive" in instead:
        strange += _strange_answer(INSTEAD, Positives, instead["positive"])
    # A proof of a kind that is not known leaves all other claims as they are.
    others = [part for part in not_read(document) if not (CERTIFICATES in part and KIND in part)]
    return strange + [part for part in others if not part.startswith(tuple(strange))]


@cache
def _parts_of_a_question() -> frozenset[str]:
    return frozenset(json_schema()["$defs"]["question"]["properties"])


def not_read(document: dict[str, Any]) -> list[str]:
    """Return the parts of stored values that this version does not know, by where they are."""
    strange: list[str] = []
    for key, record in document["proof"].items():
        if key == "question" and isinstance(record, dict):
            strange += [part for name in record for part in strange_parts(record[name], name)]
        elif key in PROOF_PARTS:
            if isinstance(record, dict):
                strange += _not_read_of_sets(key, record.get(ALTERNATIVES))
                record = {name: part for name, part in record.items() if name != ALTERNATIVES}
            strange += strange_parts(record, key)
    return list(dict.fromkeys(strange))


def _not_read_of_sets(key: str, sets: Any) -> list[str]:
    """Return the same of further sets of features; their own parts: see `_strange_sets`.

    A proof of a kind that is not known leaves their order open, and no more.
    """
    rows = [many for many in sets if isinstance(many, list)] if isinstance(sets, list) else []
    listed = [one for many in rows for one in many if isinstance(one, dict)]
    parts = [part for one in listed for name, part in one.items() if name != "type"]
    found = strange_parts(parts, f"{key}.{ALTERNATIVES}")
    return [part for part in found if KIND not in part]


def known_record(question: dict[str, Any], key: str) -> Any:
    """Return a part of the question, as far as it is known here."""
    record = question[key]
    strange = _parts_beside(key, record)
    return decode({k: v for k, v in record.items() if k not in strange} if strange else record)


def _strange_record(key: str, record: Any) -> list[str]:
    """Return what is not known of a part of a question: its form, its kind, its own parts."""
    if record is None:
        return []
    if not isinstance(record, dict):
        return [f"{key} in another form"]
    if record.get("type") not in RECORDS[key]:
        return [f"{key}{KIND}{record.get('type')!r}"]
    return [f"{key}.{part}" for part in _parts_beside(key, record)]


def _strange_answer(key: str, results: type[Positives | Negatives], record: Any) -> list[str]:
    """Return the parts of an answer that are not known here."""
    names = {f.name for f in fields(results)} | {"reason"}
    strange = [f"{key}.{part}" for part in record if part not in names]
    parts = [one for name in record if name.endswith(CERTIFICATES) for one in record[name]]
    beside = {name for part in parts for name in part} - {"region", "certificate"}
    strange += [f"{key}: {name} beside a certificate" for name in sorted(beside)]
    return strange + [
        f"{key}.{ALTERNATIVES}: {part}" for part in _strange_sets(record[ALTERNATIVES])
    ]


def _strange_sets(record: Any) -> list[str]:
    """Return the kinds and parts of further sets of features that are not known here."""
    [listed] = record
    names = {"type", *(f.name for f in fields(Alternative))}
    strange = {f"the kind {one.get('type')!r}" for one in listed if one.get("type") != ALTERNATIVE}
    strange |= {str(part) for one in listed for part in one if part not in names}
    parts = {str(part) for one in listed for left in one.get(WHY, ()) for part in left}
    return sorted(strange | (parts - {"untouched", "region", "certificate"}))


def _parts_beside(key: str, record: Any) -> list[str]:
    """Return the parts that a record has beside those known here."""
    cls = RECORDS[key].get(str(record.get("type"))) if isinstance(record, dict) else None
    if cls is None:
        return []
    strange = sorted(set(record) - {"type"} - {f.name for f in fields(cls)})
    if not _are_relations(record.get("relations", ())):
        strange.append("relations")
    if not all(map(_is_inferred, record.get("inferred", ()))):
        strange.append("inferred")
    return strange


def _is_inferred(written: Any) -> bool:
    """Return whether a rule that the data suggest is of a kind that is known here."""
    try:
        return isinstance(decode(written), Inferred)
    except InputError:
        return False


def _are_relations(written: Any) -> bool:
    """Return whether every relation of a stored rule can be read here."""
    try:
        return all(read_relation(decode(one)) for one in written)
    except InputError:
        return False
