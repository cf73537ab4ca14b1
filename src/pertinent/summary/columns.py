"""Explanations column by column: what a table of them holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.setting.claims.instead import Basis
from pertinent.setting.question import Method
from pertinent.setting.results import Results
from pertinent.summary.asked import Answered
from pertinent.summary.chances import shown_chances
from pertinent.summary.raw import raw_columns, row_names
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
    for i, (_, room) in enumerate(explanations.rooms(list(range(n)))):
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
    rows = shown_chances(asked.setting, explanations.table, points, *places)
    known = [row for row in rows if row is not None]
    if not known:
        return {}
    kind = known[0]["kind"]
    names = {
        "prediction": f"{kind}",
        "before": f"target_{kind}_before",
        "after": f"target_{kind}_after",
    }
    return {
        new: np.array([np.nan if row[name] is None else row[name] for row in known])
        for name, new in names.items()
    }


def _names(explanations: Answered, mask: Any) -> list[str]:
    names = explanations.table.features.names
    return [", ".join(names[j] for j in np.flatnonzero(row)) for row in mask]


def _points(kind: str, results: Results) -> dict[str, Any]:
    table = results.table
    raw = raw_columns(table, results.values)
    return {
        f"{kind}.{name}": column if table.features.is_category(j) else _column(column)
        for j, (name, column) in enumerate(raw.items())
    }


def _column(column: list[Any]) -> Any:
    """Return words as they are, and numbers with NaN where one is missing or there is no point."""
    if any(isinstance(value, str) for value in column):
        return column
    return np.array([np.nan if value is None else value for value in column], dtype=float)
