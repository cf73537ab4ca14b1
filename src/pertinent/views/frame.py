"""Explanations as one table: pandas, polars or pyarrow, through narwhals."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import narwhals as nw

from pertinent.exceptions import InputError, MissingExtraError
from pertinent.summary.columns import BACKENDS, columns, installed_backend

if TYPE_CHECKING:
    from pertinent.summary.asked import Answered

_NULLABLE = {"positive_reason": nw.String, "negative_reason": nw.String}


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
