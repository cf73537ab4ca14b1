"""Explanations as one table: pandas, polars or pyarrow, through narwhals."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from pertinent.exceptions import InputError, MissingExtraError
from pertinent.geometry.arrays import FloatArray
from pertinent.summary.raw import raw_columns

if TYPE_CHECKING:
    from pertinent.setting.results import Results
    from pertinent.summary.asked import Answered

BACKENDS = ("pandas", "polars", "pyarrow")
_NULLABLE = {"positive_reason": nw.String, "negative_reason": nw.String}


def installed_backend() -> Any:
    """Return the first table library that is installed."""
    for name in BACKENDS:
        if importlib.util.find_spec(name) is not None:
            return name
    raise MissingExtraError("pandas", "pandas", "A table of explanations")


def to_frame(explanations: Answered, backend: str | None = None) -> Any:
    """Return one row for each sample; see `Explanations.to_frame`."""
    source = explanations.table.source
    framed = isinstance(source, nw.DataFrame)
    if backend is None:
        backend = source.implementation.value if framed else installed_backend()
    chosen: Any = backend
    _require(chosen)
    frame = nw.from_dict(columns(explanations), backend=chosen)
    # A column of nothing but None has no type of its own.
    frame = frame.with_columns(nw.col(name).cast(dtype) for name, dtype in _NULLABLE.items())
    if framed and chosen == "pandas" and len(frame) == len(source):
        index: Any = [nw.maybe_get_index(source)]
        frame = nw.maybe_set_index(frame, index=index)
    return frame.to_native()


def _require(backend: str) -> None:
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}. Got {backend!r} instead.")
    if importlib.util.find_spec(backend) is None:
        extra = "arrow" if backend == "pyarrow" else backend
        raise MissingExtraError(backend, extra, f"A {backend} table")


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
