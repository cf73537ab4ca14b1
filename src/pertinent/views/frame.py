"""Explanations as one table: pandas, polars or pyarrow, through narwhals."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from pertinent.exceptions import InputError, MissingExtraError, visible, writing
from pertinent.summary.columns import BACKENDS, alternative_columns, columns, installed_backend

if TYPE_CHECKING:
    from pertinent.summary.asked import Answered

_NULLABLE = {"positive_reason": nw.String, "negative_reason": nw.String, "basis": nw.String}


def to_frame(
    explanations: Answered,
    backend: str | None = None,
    ranges: bool = False,
    instead: bool = False,
) -> Any:
    """Return one row for each sample; see `Explanations.to_frame`."""
    source = explanations.table.source
    framed = isinstance(source, nw.DataFrame)
    chosen: Any = _usual(explanations) if backend is None else backend
    _require(chosen)
    frame = nw.from_dict(columns(explanations, ranges, instead), backend=chosen)
    # A column of nothing but None has no type of its own.
    known = {name: dtype for name, dtype in _NULLABLE.items() if name in frame.columns}
    frame = frame.with_columns(nw.col(name).cast(dtype) for name, dtype in known.items())
    if framed and chosen == "pandas" and len(frame) == len(source):
        index: Any = [nw.maybe_get_index(source)]
        frame = nw.maybe_set_index(frame, index=index)
    return frame.to_native()


def alternatives_frame(explanations: Answered, backend: str | None = None) -> Any:
    """Return one row for each alternative; see `Explanations.alternatives_frame`."""
    chosen: Any = _usual(explanations) if backend is None else backend
    _require(chosen)
    return nw.from_dict(alternative_columns(explanations), backend=chosen).to_native()


def _usual(explanations: Answered) -> str:
    """Return the kind of table that the samples came in, else the first that is installed."""
    source = explanations.table.source
    framed = isinstance(source, nw.DataFrame)
    return str(source.implementation.value) if framed else installed_backend()


def _require(backend: str) -> None:
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}. Got {backend!r} instead.")
    if importlib.util.find_spec(backend) is None:
        extra = "arrow" if backend == "pyarrow" else backend
        raise MissingExtraError(backend, extra, f"A {backend} table")


#: How text starts that a spreadsheet takes for a formula; full-width signs count as well.
FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def write_csv(explanations: Answered, path: str | Path) -> Path:
    """Write one row for each sample and return the path; see `Explanations.to_csv`."""
    target, table = Path(path), columns(explanations)
    with writing(target), target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(map(cell, table))
        writer.writerows(map(cell, row) for row in zip(*table.values(), strict=True))
    return target


def cell(value: Any) -> Any:
    r"""Return a value as a cell of CSV: text that a spreadsheet would run is marked as text.

    Examples
    --------
    >>> from pertinent.views.frame import cell
    >>> cell("=1+1"), cell(-1.5), cell("-1.5"), cell("-x")
    ("'=1+1", -1.5, '-1.5', "'-x")
    """
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.lstrip().startswith(FORMULAS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
