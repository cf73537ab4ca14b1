"""Explanations column by column: what a table of them holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.setting.claims.instead import Basis
from pertinent.setting.question import Method
from pertinent.setting.results import Results
from pertinent.summary.asked import Answered
from pertinent.summary.chances import VALUE, chance_columns
from pertinent.summary.ranges.as_printed import told_rooms
from pertinent.tables.raw import plain_columns, raw_columns, row_names
from pertinent.tables.table import BACKENDS, installed_backend

__all__ = ["BACKENDS", "alternative_columns", "columns", "installed_backend"]


def columns(explanations: Answered, ranges: bool = False, instead: bool = False) -> dict[str, Any]:
    """Return the columns of the table: answers first, then the points feature by feature.

    With ``ranges``, how far each changed number may move by itself, and in the box, as well; with
    ``instead``, what stands in for the positives that keep nothing by choice.
    """
    positive, negative = explanations.positive, explanations.negative
    out: dict[str, Any] = {
        "prediction": positive.prediction.tolist(),
        "target": negative.target.tolist(),
        "positive_status": positive.status.tolist(),
        "positive_size": positive.objective,
        "positive_bound": positive.bound,
        "positive_unique": positive.unique.tolist(),
        "positive_reason": positive.reason.tolist(),
        "trivial": positive.trivial,
        "closeness": positive.closeness,
        "kept": _names(explanations, positive.kept),
        "negative_status": negative.status.tolist(),
        "negative_size": negative.objective,
        "negative_bound": negative.bound,
        "negative_unique": negative.unique.tolist(),
        "negative_reason": negative.reason.tolist(),
        "changed": _names(explanations, negative.changed),
        "overlap": explanations.overlap,
    }
    out |= _chances(explanations)
    if instead:
        out |= _instead(explanations)
    if ranges:
        out |= _ranges(explanations)
    return out | _points("positive", positive) | _points("negative", negative)


def alternative_columns(explanations: Answered) -> dict[str, Any]:
    """Return the columns of a table with one row for each alternative."""
    both = (("positive", explanations.positive), ("negative", explanations.negative))
    listed = [
        (row, part, rank, one)
        for row in range(len(explanations))
        for part, results in both
        for rank, one in enumerate(results.alternatives[row], 1)
    ]
    rows = np.array([row for row, *_ in listed], dtype=np.int64)
    others, table = [one for *_, one in listed], explanations.table.take(rows)
    classes = explanations.positive.classes.tolist()
    width = table.values.shape[1]
    points = np.array([one.values for one in others], dtype=float).reshape(len(others), width)
    raw = raw_columns(table, points)
    names = row_names(explanations.table)
    return {
        "row": rows,
        "id": [names[row] for row in rows],
        "part": [part for _, part, *_ in listed],
        "rank": [rank for *_, rank, _ in listed],
        "target": [classes[one.label] for one in others],
        "features": _names(explanations, [one.features for one in others]),
        "size": np.array([one.objective for one in others], dtype=float),
        "proved": np.array([one.proved for one in others], dtype=bool),
        **{f"value.{name}": column for name, column in raw.items()},
    }


def _instead(explanations: Answered) -> dict[str, Any]:
    """Return what each answer to "what was enough" rests on, and the features that it keeps."""
    positive, told = explanations.positive, explanations.instead(list(range(len(explanations))))
    own = Basis.SUFFICIENT if positive.method is Method.SUFFICIENT else Basis.TYPICAL
    basis = [
        None if not found else str(own if other is None else other.basis)
        for found, other in zip(positive.found.tolist(), told, strict=True)
    ]
    kept = positive.kept.copy()
    for i, other in enumerate(told):
        if other is not None and other.positive is not None:
            kept[i] = other.positive.kept[0]
    return {"basis": basis, "enough": _names(explanations, kept)}


def _ranges(explanations: Answered) -> dict[str, Any]:
    """Return both ends of each number's range and of its side of the box; NaN where unknown."""
    features, n = explanations.table.features, len(explanations)
    numbers = {int(features.first[j]): name for j, name in enumerate(features.names)}
    out: dict[str, Any] = {}
    for j, name in enumerate(features.names):
        for end in () if features.is_category(j) else ("low", "high", "box_low", "box_high"):
            out[f"negative.{name}.{end}"] = np.full(n, np.nan)
    rooms = explanations.rooms(list(range(n)), ("negative",))
    for i, room in enumerate(told_rooms(explanations.table, [own.negative for own in rooms])):
        for spans, prefix in ((room.spans, ""), (room.box, "box_")):
            for span in spans:
                start = f"negative.{numbers[span.column]}.{prefix}"
                out[f"{start}low"][i], out[f"{start}high"][i] = span.low, span.high
    return out


def _chances(explanations: Answered) -> dict[str, Any]:
    """Return the model's own numbers before and after, where it has some."""
    positive, negative, asked = explanations.positive, explanations.negative, explanations.asked
    if asked is None:
        return {}
    points = {"positive": positive.values, "negative": negative.values}
    places = positive.label, negative.target_place
    found = chance_columns(asked.setting, explanations.table, points, *places)
    if found is None or not len(explanations):
        return {}
    kind, numbers = found
    if kind == VALUE:
        return {"value": numbers["prediction"], "value_after": numbers["after"]}
    names = {
        "prediction": f"{kind}",
        "before": f"target_{kind}_before",
        "after": f"target_{kind}_after",
    }
    return {new: numbers[name] for name, new in names.items()}


def _names(explanations: Answered, mask: Any) -> list[str]:
    """Return the names of each row's features; rows with the same ones share one text."""
    names, mask = explanations.table.features.names, np.asarray(mask, dtype=bool)
    if not mask.size:
        return [""] * len(mask)
    sets, place = np.unique(np.packbits(mask, axis=1), axis=0, return_inverse=True)
    which = np.unpackbits(sets, axis=1, count=mask.shape[1]).astype(bool)
    texts = [", ".join(names[j] for j in np.flatnonzero(row)) for row in which]
    return [texts[k] for k in place.reshape(-1).tolist()]


def _points(kind: str, results: Results) -> dict[str, Any]:
    decoded = plain_columns(results.table, results.values)
    return {f"{kind}.{name}": column for name, column in decoded.items()}
