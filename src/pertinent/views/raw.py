"""Numbers inside, raw values outside: what a table of points looks like to its owner."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent._typing import BoolArray, FloatArray
from pertinent.features import Features, Table, as_frame

#: A feature's value as its owner knows it; None where there is no point.
Raw = float | int | bool | str | None


def _has_groups(features: Features) -> bool:
    """Whether some features have several columns inside: the categories of one feature."""
    return not getattr(features, "is_plain", True)


def is_number(features: Features, j: int) -> bool:
    """Return whether a feature holds numbers, not categories."""
    return not (_has_groups(features) and features.is_category(j))


def first_column(features: Features, j: int) -> int:
    """Return the first column of a feature inside."""
    return int(features.first[j]) if _has_groups(features) else j


def number_columns(features: Features) -> BoolArray:
    """Return which columns inside hold numbers that a reader sees."""
    if not _has_groups(features):
        return np.ones(len(features), dtype=bool)
    mask = np.zeros(features.dim, dtype=bool)
    mask[[first_column(features, j) for j in range(len(features)) if is_number(features, j)]] = True
    return mask


def by_column(features: Features, mask: BoolArray) -> BoolArray:
    """Return a mask of features as one of their columns."""
    return features.by_column(mask) if _has_groups(features) else mask


def by_feature(features: Features, mask: BoolArray) -> BoolArray:
    """Return, from a mask of columns, whether any column of each feature is set."""
    return features.by_feature(mask) if _has_groups(features) else mask


def raw_columns(table: Table, values: FloatArray) -> dict[str, list[Raw]]:
    """Return the points by feature, decoded: numbers in raw units, categories by name.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.features import Features
    >>> from pertinent.views.raw import raw_columns
    >>> table = Features(("age", "income")).read(np.array([[30.0, 1200.0]]))
    >>> raw_columns(table, table.values + 1)
    {'age': [31.0], 'income': [1201.0]}
    """
    names = table.features.names
    missing = np.asarray(np.isnan(values).all(axis=1))
    # A category has no code for "no point": such rows are decoded from the samples and blanked.
    written = table.write(np.where(missing[:, None], table.values, values))
    frame = as_frame(written)
    if frame is None:
        columns = [written[:, j].tolist() for j in range(len(names))]
    else:
        known = names if set(names) == set(frame.columns) else frame.columns
        columns = [frame[name].to_list() for name in known]
    return {
        name: [None if gone else _plain(v) for v, gone in zip(column, missing, strict=True)]
        for name, column in zip(names, columns, strict=True)
    }


def raw_rows(table: Table, values: FloatArray) -> list[list[Raw]]:
    """Return the points row by row, decoded, in the model's order of features."""
    columns = list(raw_columns(table, values).values())
    return [[column[i] for column in columns] for i in range(len(values))]


def row_names(table: Table) -> list[Any]:
    """Return the names of the rows: a pandas index if there is one, else their numbers."""
    index = getattr(_native(table), "index", None)
    if index is None or not hasattr(index, "tolist"):
        return list(range(len(table)))
    return [_plain(name) for name in index.tolist()]


def _native(table: Table) -> Any:
    return table.source.to_native() if hasattr(table.source, "to_native") else None


def _plain(value: Any) -> Any:
    """Return a Python value that JSON knows."""
    item = value.item() if isinstance(value, np.generic) else value
    return item if item is None or isinstance(item, bool | int | float | str) else str(item)
