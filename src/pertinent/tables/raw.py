"""Numbers inside, raw values outside: what a table of points looks like to its owner."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.tables.features import Features
from pertinent.tables.reading import row_names as names_of_rows
from pertinent.tables.table import Table

#: A feature's value as its owner knows it; None where it is missing, or there is no point.
Raw = float | int | bool | str | None


def is_number(features: Features, j: int) -> bool:
    """Return whether a feature holds numbers, not categories."""
    return not features.is_category(j)


def first_column(features: Features, j: int) -> int:
    """Return the first column of a feature inside."""
    return int(features.first[j])


def number_columns(features: Features) -> BoolArray:
    """Return which columns inside hold numbers that a reader sees."""
    mask = np.zeros(features.dim, dtype=bool)
    mask[[first_column(features, j) for j in range(len(features)) if is_number(features, j)]] = True
    return mask


def raw_columns(table: Table, values: FloatArray, *, told: bool = False) -> dict[str, list[Raw]]:
    """Return the points by feature, decoded: numbers in raw units, categories by name.

    What is missing is None. Numbers are told as `Table.as_told` says; with ``told`` they already
    are.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.tables.features import Features
    >>> from pertinent.tables.raw import raw_columns
    >>> from pertinent.tables.reading import read_table
    >>> table = read_table(Features(("age", "income")), np.array([[30.0, 1200.0]]))
    >>> raw_columns(table, table.values + 1)
    {'age': [31.0], 'income': [1201.0]}
    """
    features = table.features
    raw, missing = _decoded(table, values, told=told)
    truths = set(table.booleans.tolist())
    out: dict[str, list[Raw]] = {}
    for j, name in enumerate(features.names):
        column = [_plain(value) for value in raw[:, j].tolist()]
        if is_number(features, j) and first_column(features, j) in truths:
            column = [value if value is None else bool(value) for value in column]
        out[name] = [None if gone else v for v, gone in zip(column, missing, strict=True)]
    return out


def plain_columns(table: Table, values: FloatArray) -> dict[str, Any]:
    """Return the points by feature for a table: arrays of numbers with NaN, or lists of words.

    As `raw_columns`, but truth values are 0 and 1, and numbers come without a Python object each.
    """
    raw, gone = _decoded(table, values)
    out: dict[str, Any] = {}
    for j, name in enumerate(table.features.names):
        column = raw[:, j]
        if is_number(table.features, j) and _holds_numbers(column):
            out[name] = np.where(gone, np.nan, column.astype(float))
        else:
            known = zip(column.tolist(), gone.tolist(), strict=True)
            out[name] = [None if none else _plain(value) for value, none in known]
    return out


def _holds_numbers(column: Any) -> bool:
    """Return whether all values are numbers: columns that a model does not look at may hold any."""
    if column.dtype != object:
        return True
    kinds = set(map(type, column.tolist()))
    return all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds)


def _decoded(table: Table, values: FloatArray, *, told: bool = False) -> tuple[Any, BoolArray]:
    """Return the points feature by feature, and where there is none: the samples stand there.

    A category has no code for "no point".
    """
    gone = np.asarray(np.isnan(values).all(axis=1))
    filled = np.where(gone[:, None], table.values, values)
    if not told or not table.decimal_columns.any():
        filled = table.as_told(table.as_handed_out(filled))
    return table.raw(filled), gone


def raw_rows(table: Table, values: FloatArray, *, told: bool = False) -> list[list[Raw]]:
    """Return the points row by row, decoded, in the model's order of features.

    As `raw_columns`.
    """
    if table.features.is_plain and not len(table.booleans):
        raw, gone = _decoded(table, values, told=told)
        if raw.dtype.kind == "f":
            known = zip(raw.tolist(), gone.tolist(), strict=True)
            return [[None if none or v != v else v for v in row] for row, none in known]
    columns = list(raw_columns(table, values, told=told).values())
    return [[column[i] for column in columns] for i in range(len(values))]


def row_names(table: Table) -> list[Any]:
    """Return the names of the rows: a pandas index if there is one, else their numbers."""
    return [_plain(name) for name in names_of_rows(table.source)]


def _plain(value: Any) -> Any:
    """Return a Python value that JSON knows; None for a missing one."""
    item = value.item() if isinstance(value, np.generic) else value
    if isinstance(item, float) and item != item:
        return None
    return item if item is None or isinstance(item, bool | int | float | str) else str(item)
