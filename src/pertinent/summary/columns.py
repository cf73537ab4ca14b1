"""Explanations column by column: what a table of them holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.setting.results import Results
from pertinent.summary.asked import Answered
from pertinent.summary.raw import raw_columns
from pertinent.tables.table import BACKENDS, installed_backend

__all__ = ["BACKENDS", "columns", "installed_backend"]


def columns(explanations: Answered) -> dict[str, Any]:
    """Return the columns of the table: answers first, then the points feature by feature."""
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
    return out | _points("positive", positive) | _points("negative", negative)


def _names(explanations: Answered, mask: Any) -> list[str]:
    names = explanations.table.features.names
    return [", ".join(names[j] for j in np.flatnonzero(row)) for row in mask]


def _points(kind: str, results: Results) -> dict[str, Any]:
    table = results.table
    raw = raw_columns(table, results.values)
    return {
        f"{kind}.{name}": _column(column, results.values[:, j])
        for j, (name, column) in enumerate(raw.items())
    }


def _column(column: list[Any], numbers: FloatArray) -> Any:
    """Return categories as they are, and numbers as numbers with NaN where there is no point."""
    words = any(isinstance(value, str) for value in column)
    return column if words else numbers
