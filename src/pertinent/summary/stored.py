"""Answered as JSON: what people see, and what a checker needs.

A document has two parts. ``summary`` is what all views render. ``proof`` holds the question and
the answers as numbers, with their certificates, from which `pertinent.check` verifies everything
again with the model and without a solver.
"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.exceptions import InputError, one_line, reading, visible_json
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.codec import MOST_CHARACTERS, encode, read_json, record_as, require_modest
from pertinent.models.combined.searched import Searched, unsearched
from pertinent.models.regressors import RangeClassifier
from pertinent.models.steps.text import PassageClassifier
from pertinent.proofs import ALREADY
from pertinent.rules.constraints import Constraints
from pertinent.rules.wording import Wording
from pertinent.setting.question import Method
from pertinent.setting.region_key import Kind
from pertinent.summary.ranges.stored import write_rooms
from pertinent.summary.reasons import write_reason
from pertinent.summary.summary import Summary, asked_of, rounding_steps
from pertinent.tables.raw import raw_rows

if TYPE_CHECKING:
    from pertinent.setting.results import Alternative, Negatives, Results
    from pertinent.summary.asked import Answered
    from pertinent.tables.features import Features

FORMAT, VERSION = "pertinent-explanation", 2
#: What each version of the format is, for the reader of a file.
VERSIONS = {
    1: "Format 1: reasons are words, which are taken as given.",
    2: "Format 2, the current one: reasons are data; ranges of values, where they are known.",
}
#: Fields of results that the document holds elsewhere, once.
ELSEWHERE = ("table", "classes", "baseline")
#: Fields that hold certificates, by their ending.
CERTIFICATES = "certificates"
#: The part of a proof that holds what stands in for an empty positive.
INSTEAD = "instead"
#: The field that holds further sets of features, what each is called, and its proofs.
ALTERNATIVES, ALTERNATIVE, WHY = "alternatives", "alternative", "why"
#: The field that holds reasons, stored as "reason".
REASONS = "reasons"

#: Rules that files of the current format had not at first.
LATER = ("step", "inferred")

Document = dict[str, Any]

record_as("constraints")(Constraints)
record_as("wording")(Wording)


@cache
def _schema(version: int) -> str:
    file = files("pertinent.summary") / "schema" / f"explanation-{version}.json"
    return file.read_text(encoding="utf-8")


def json_schema(version: int = VERSION) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what `Explanation.json` writes.

    Parameters
    ----------
    version : int
        Of the format; the current one by default.

    Examples
    --------
    >>> import pertinent
    >>> pertinent.json_schema()["title"]
    'A contrastive explanation'
    """
    _require_version(version)
    schema: dict[str, Any] = json.loads(_schema(version))
    return schema


def document(explanations: Answered, row: int, summary: Summary) -> Document:
    """Return one explanation as plain values, ready for `json.dumps`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "summary": summary,
        "proof": {
            "question": _question(explanations, row),
            "positive": _answers(explanations.positive, row),
            "negative": _answers(explanations.negative, row),
            "ranges": write_rooms(explanations.rooms([row])[0]),
            **_instead(explanations, row),
        },
    }


def _question(explanations: Answered, row: int) -> dict[str, Any]:
    asked, table = asked_of(explanations), explanations.table
    setting, settings = asked.setting, asked.settings
    one = table.take(np.array([row]))
    most = settings.max_changes
    return {
        "features": list(table.features.names),
        "sample": raw_rows(one, one.values)[0],
        "single_precision": table.single_precision,
        "single_features": table.single_features,
        **({"single_decimals": True} if table.decimal_columns.any() else {}),
        "frame": hasattr(table.source, "to_native"),
        "truth_values": table.all_truths,
        "missing_features": [table.features.names[j] for j in np.flatnonzero(one.missing[0])],
        "classes": encode(setting.classes),
        "weights": encode(setting.weights),
        "margin": float(setting.asked_margin),
        "constraints": _written(setting.constraints),
        "baseline": encode(asked.question.baseline),
        "between": bool(settings.between),
        "off_tol": float(settings.off_tol),
        "ranges": encode(_ranges(explanations, row)),
        "method": str(settings.method),
        "norm": str(settings.norm),
        "target": _target(explanations.negative, row),
        "overlap": str(settings.overlap),
        "avoided": bool(explanations.avoided[row]),
        "steps": encode(rounding_steps(explanations)),
        "min_proba": settings.min_proba,
        "missing": str(settings.missing),
        "within": encode(setting.within),
        "baseline_from": asked.baseline,
        "measure": asked.measure,
        "middle": encode(asked.ranges),
        "wording": encode(settings.wording),
        **({} if most is None else {"max_changes": int(most)}),
        **_range(setting.model),
        **_passage(setting.model),
        **_search(setting.model),
        **_stands(table.features),
    }


def _range(model: Foreign) -> dict[str, Any]:
    """Return the range that a regressor was asked for, under its key; nothing for classifiers."""
    model = unsearched(model)
    return {"range": [model.low, model.high]} if isinstance(model, RangeClassifier) else {}


def _passage(model: Foreign) -> dict[str, Any]:
    """Return the document of a question, and what may be added to it; nothing of other models."""
    if not isinstance(model, PassageClassifier):
        return {}
    every = zip(model.passage.words, model.passage.counts, strict=True)
    more = [word for word, count in every if not count]
    return {"passage": {"document": model.passage.document, "add": more}}


def _search(model: Foreign) -> dict[str, Any]:
    """Return that the model was searched, under its key, with categories that no step says."""
    if not isinstance(model, Searched):
        return {}
    levels = model.searched_levels
    written = None if levels is None else [own if own is None else list(own) for own in levels]
    return {"search": True, **({} if written is None else {"categories": written})}


def _stands(features: Features) -> dict[str, Any]:
    """Return where numbers stand that may be missing, under its key; nothing if none may."""
    stands = {features.names[j]: stand for j, stand in features.absent.items()}
    return {"missing_at": stands} if stands or features.lost else {}


def _written(rules: Constraints) -> Any:
    """Return the rules; what older readers do not know only where it is used."""
    record = encode(rules)
    return {key: value for key, value in record.items() if key not in LATER or getattr(rules, key)}


def _target(negatives: Negatives, row: int) -> Any:
    """Return the class that was asked for, which is what the row's proofs speak of; else None.

    Of a single change with ``norm="l0"`` only the proof of its closeness does.
    """
    if negatives.status_code[row] == ALREADY:
        return negatives.classes.tolist()[negatives.target_place[row]]
    for part in (*negatives.certificates, *negatives.closeness_certificates):
        if (part.rows == row).any():
            kind, place = part.key
            return negatives.classes.tolist()[place] if kind is Kind.IS else None
    return None


def _ranges(explanations: Answered, row: int) -> Any:
    """Return between which values the others may vary, where that was asked."""
    [instead] = explanations.instead([row])
    told = explanations.positive if instead is None else instead.positive
    if told is None or told.method is not Method.SUFFICIENT:
        return None
    return asked_of(explanations).question.ranges


def _instead(explanations: Answered, row: int) -> dict[str, Any]:
    """Return what stands in for an empty positive, under its key; nothing if it is not empty."""
    [instead] = explanations.instead([row])
    if instead is None:
        return {}
    found = instead.positive
    if found is None:
        return {INSTEAD: {"basis": str(instead.basis)}}
    label = None if instead.place < 0 else found.classes.tolist()[instead.place]
    return {
        INSTEAD: {
            "basis": str(instead.basis),
            "class": label,
            "baseline": encode(found.baseline),
            "positive": _answers(found, 0),
        }
    }


def _answers(results: Results, row: int) -> dict[str, Any]:
    """Return one row of every field, whatever fields there are."""
    out: dict[str, Any] = {}
    for f in fields(results):
        if f.name in ELSEWHERE:
            continue
        value = getattr(results, f.name)
        if f.name.endswith(CERTIFICATES):
            out[f.name] = _certificates(value, row)
        elif f.name == REASONS:
            out["reason"] = write_reason(value[row])
        elif f.name == "second":
            out[f.name] = encode(value.get(row))
        elif f.name == ALTERNATIVES:
            out[f.name] = [[_alternative(one) for one in value[row]]]
        elif isinstance(value, np.ndarray):
            out[f.name] = encode(value[row : row + 1])
        else:
            out[f.name] = encode(value)
    return out


def _alternative(one: Alternative) -> dict[str, Any]:
    """Return a further set of features, with the proofs that it is the next best."""
    own = {f.name: encode(getattr(one, f.name)) for f in fields(one) if f.name != WHY}
    why = [
        {
            "untouched": encode(left.untouched),
            "region": list(left.part.key),
            "certificate": encode(left.part.certificate),
        }
        for left in one.why
    ]
    return {"type": ALTERNATIVE, **own, WHY: why}


def _certificates(certified: Any, row: int) -> list[dict[str, Any]]:
    out = []
    for part in certified:
        here = np.flatnonzero(part.rows == row)
        if len(here):
            record = encode(part.certificate.take(here))
            out.append({"region": list(part.key), "certificate": record})
    return out


def to_json(document: Document, indent: int | None = None) -> str:
    """Return a document as text; the same document gives the same bytes."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    return visible_json(text)


def read_document(text: str | bytes | Path) -> Document:
    """Return a stored document from its text or its file."""
    if isinstance(text, Path) or (isinstance(text, str) and not text.lstrip().startswith("{")):
        path = Path(text)
        with reading(path), path.open(encoding="utf-8") as file:
            # One character too many is enough to refuse the rest unread.
            return require_document(read_json(file.read(MOST_CHARACTERS + 1)))
    return require_document(read_json(text))


def require_document(found: Any) -> Document:
    """Return a document if it has the form of one; else say what is wrong with it."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(
            f'Expected an explanation with "format": "{FORMAT}", as written by Explanation.json().'
        )
    _require_version(found.get("version"))
    require_modest(found)
    for part, needed in (
        ("summary", ("row", "id", "prediction", "features", "positive", "negative", "rules")),
        ("proof", ("question", "positive", "negative")),
    ):
        inside = found.get(part)
        missing = [key for key in needed if not isinstance(inside, dict) or key not in inside]
        if missing:
            raise InputError(f"This explanation lacks {', '.join(missing)} in its {part}.")
    return found


def _require_version(version: Any) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        said = one_line(repr(version), 40)
        raise InputError(f"This explanation has version {said}; this library reads {known}.")
