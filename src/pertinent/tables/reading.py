"""Tables of any kind, read as plain arrays in the model's order of features.

A DataFrame (pandas, polars, pyarrow, through narwhals) is matched to the model by column name. What
the model could not take is refused here, by name.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import narwhals as nw
import numpy as np

from pertinent.exceptions import InputError, optional, visible
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing
from pertinent.tables.table import Table, as_frame, reads_as_numbers

#: Stands for None, NaN and their kin among the categories of a feature.
MISSING = "a missing value"

_CALLED: ContextVar[Mapping[str, str] | None] = ContextVar("what messages call", default=None)


@contextmanager
def tables_called(names: Mapping[str, str]) -> Iterator[None]:
    """Let messages call tables by other names than "X" and "data", such as those of their files."""
    token = _CALLED.set(names)
    try:
        yield
    finally:
        _CALLED.reset(token)


def read_table(features: Features, X: Any, name: str = "X") -> Table:
    """Return the samples as an array in the model's order, with the way back.

    Missing or infinite values, wrong numbers of columns, unknown categories and text where
    numbers belong are refused by name. ``name`` is what messages call the table.
    """
    return Table(features, *read_values(features, X, name))


def read_values(features: Features, X: Any, name: str = "X") -> tuple[FloatArray, Any]:
    """Return the columns of samples (see `Features`), and the table that they came in.

    ``name`` is what messages call the table, unless `tables_called` says otherwise.
    """
    name = (_CALLED.get() or {}).get(name, name)
    frame = as_frame(_as_table(X, name))
    if frame is None:
        source = _as_array(X.toarray() if hasattr(X, "toarray") else X, name)
        _check_shape(features, source, name)
        by_column = not features.is_plain or (source.dtype == object and bool(features.unused))
        columns = source.T if by_column else source
        values = (_mixed if by_column else _numbers)(features, columns, name)
        _refuse_missing(features, values, name, row_names(source))
        _refuse_beyond(features, values, name, row_names(source))
        return values, source
    frame = _without_extra(features, frame, name)
    names = _frame_names(features, frame, name)
    frame = _with_types(features, frame, names)
    series = [frame.get_column(column) for column in names]
    values = (_columns if features.is_plain else _mixed)(features, series, name)
    _refuse_missing(features, values, name, row_names(frame))
    _refuse_beyond(features, values, name, row_names(frame))
    return values, frame


def _refuse_beyond(features: Features, values: FloatArray, name: str, rows: Sequence[Any]) -> None:
    """Refuse numbers of which the model takes no logarithm, no root, and the like."""
    for j, least, most in features.ends:
        column = values[:, features.first[j]]
        beyond = np.flatnonzero((column < least) | (column > most))
        if len(beyond):
            row, called = int(beyond[0]), visible(features.names[j])
            raise InputError(
                f"{called!r} is {column[row]:.6g} in row {rows[row]} of {name}: "
                "the model takes a logarithm, a root, a reciprocal or the like of it, which is "
                f"explained for numbers {features.ends_words(j)}."
            )


def row_names(source: Any) -> Sequence[Any]:
    """Return what the rows of a table or a column are called: a pandas index, or their numbers."""
    framed = isinstance(source, nw.DataFrame | nw.Series)
    index = nw.maybe_get_index(source) if framed else None
    return range(len(source)) if index is None else index.tolist()


def _as_table(X: Any, name: str) -> Any:
    """Return one sample as a table of one row: a pandas Series, or a mapping from names."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.Series):
        return X.to_frame().T.infer_objects()
    if isinstance(X, list) and X and isinstance(X[0], Mapping):
        raise InputError(f"{name} is a list of mappings. Write pd.DataFrame({name}) instead.")
    if isinstance(X, Mapping):
        if any(isinstance(value, list | tuple | np.ndarray) for value in X.values()):
            raise InputError(
                f"{name} is a mapping with several values for a name, and a mapping is one sample. "
                f"Write pd.DataFrame({name}) instead."
            )
        pandas = optional("pandas", "pandas", "A sample as a mapping")
        return pandas.DataFrame([X])
    return X


def _without_extra(features: Features, frame: nw.DataFrame[Any], name: str) -> nw.DataFrame[Any]:
    """Return the columns that the model knows by name; others are named in a warning."""
    extra = [column for column in frame.columns if column not in features.names]
    if not features.named or not extra or len(extra) == len(frame.columns):
        return frame
    listed = ", ".join(map(visible, extra[:10])) + (" and more" if len(extra) > 10 else "")
    warnings.warn(
        f"Ignored columns of {name} that the model does not know: {listed}.", stacklevel=4
    )
    return frame.drop(extra)


def _as_array(X: Any, name: str) -> Any:
    if np.ma.is_masked(X):
        raise InputError(
            f"{name} is a masked array with masked values, which the model would read as they "
            "are. Fill them first, or pass it with .filled(np.nan) and missing='impute'."
        )
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InputError(f"{name} must be a table: {error}.") from error
    if array.dtype.kind == "c":
        raise InputError(f"{name} must hold real numbers, got complex ones.")
    return array


def _with_types(
    features: Features, frame: nw.DataFrame[Any], names: Sequence[str]
) -> nw.DataFrame[Any]:
    """Return the frame with columns of numbers that came as objects, as in `X.values`, typed."""
    if not frame.implementation.is_pandas() or object not in frame.to_native().dtypes.tolist():
        return frame
    named = {column for j, column in enumerate(names) if not features.is_category(j)}
    typed = [
        nw.from_native(frame.get_column(column).to_native().infer_objects(), series_only=True)
        for column, dtype in frame.schema.items()
        if dtype == nw.Object and column in named
    ]
    return frame.with_columns(*typed) if typed else frame


def _check_shape(features: Features, array: Any, name: str) -> None:
    if array.ndim != 2:
        raise InputError(
            f"{name} must be a table with two dimensions, got {array.ndim}. "
            "For a single sample x pass [x] (or x.reshape(1, -1)), a pandas Series with the names "
            "of the features, or a mapping from these."
        )
    _require_count(features, array.shape[1], name)


def _numbers(features: Features, array: Any, name: str) -> FloatArray:
    try:
        values = np.ascontiguousarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers: {error}.") from error
    if features.fills is None:
        return values
    gone = np.isnan(values).any(axis=0)
    if not gone.any():
        return values
    values = values.copy()  # it may be the user's own array
    for j in np.flatnonzero(gone).tolist():
        values[:, j] = _filled(features, j, values[:, j], array.dtype)
    return values


def _frame_names(features: Features, frame: nw.DataFrame[Any], name: str) -> Sequence[str]:
    if not features.named and set(frame.columns) != set(features.names):
        _require_count(features, len(frame.columns), name)
        return frame.columns
    _require_names(features, frame.columns, name)
    return features.names


def _columns(features: Features, columns: Sequence[nw.Series[Any]], name: str) -> FloatArray:
    out = np.empty((len(columns[0]), len(columns)))
    for j, column in enumerate(columns):
        out[:, j] = _number_column(features, j, column, name)
    return out


def _number_column(features: Features, j: int, column: Any, name: str) -> FloatArray:
    """Return one column as numbers, missing ones filled where that was asked for."""
    if j in features.unused and not reads_as_numbers(column):
        return np.zeros(len(column))
    if isinstance(column, nw.Series):
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            raise InputError(
                f"Column {column.name!r} of {name} holds {column.dtype}, and this model takes "
                "numbers."
            )
        array = column.to_numpy()
        if array.dtype == object:  # missing values that are no NaN
            array = column.cast(nw.Float64).to_numpy()
        values, kind = np.asarray(array, dtype=float), array.dtype
    else:
        kind = np.dtype(float)
        try:
            values = np.array([np.nan if is_missing([v])[0] else v for v in column], dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"Column {features.names[j]!r} of {name} must hold numbers: {error}."
            ) from error
    return _filled(features, j, values, kind)


def _filled(features: Features, j: int, values: FloatArray, kind: np.dtype[Any]) -> FloatArray:
    """Return a column with missing values as the model's imputer fills them, where it does.

    In single precision where the column is: it is written, stored and read again so.
    """
    if features.fills is None or j not in features.fills:
        return values
    fill = features.fills[j]
    return np.where(np.isnan(values), np.float32(fill) if kind == np.float32 else fill, values)


def _mixed(features: Features, columns: Any, name: str) -> FloatArray:
    """Return numbers as they are, categories and bins as groups of 0 and 1."""
    out = np.zeros((len(columns[0]), features.dim))
    for j, column in enumerate(columns):
        if features.is_category(j):
            place = _places(features, j, column, name)
            rows = np.flatnonzero(place >= 0)
            out[rows, features.first[j] + place[rows]] = 1.0
            if len(rows) < len(out):
                out[place < 0, features.columns_of(j)[:1]] = np.nan  # named and refused later
        else:
            out[:, features.first[j]] = _number_column(features, j, column, name)
    for j, stand in features.absent.items():
        number, mark = features.columns_of(j)
        out[:, mark] = np.isnan(out[:, number])
        out[out[:, mark] == 1, number] = stand
    for bins in features.bins:
        bins.fill(out)  # a missing number stays missing: named and refused later
    return out


def _places(features: Features, j: int, column: Any, name: str) -> IntArray:
    """Return the place of each category among the levels; -1 for a missing one."""
    values = column.to_list() if isinstance(column, nw.Series) else column.tolist()
    levels = features.levels[j] or ()
    absent = is_missing(levels)
    known = {MISSING if absent[k] else v: k for k, v in enumerate(levels)}
    other = len(levels) if j in features.others else -2
    gone = known.get(MISSING, -1)
    if gone < 0 and features.fills is not None and j in features.fills:
        gone = known.get(features.fills[j], other)
    if gone < 0 and j in features.lost:
        gone = other
    # Each distinct value is looked up once: a column has few, and many rows.
    distinct = list(set(values))
    place_of = {
        v: gone if lost else known.get(v, other)
        for v, lost in zip(distinct, is_missing(distinct), strict=True)
    }
    places = np.fromiter(map(place_of.__getitem__, values), dtype=np.int64, count=len(values))
    strange = np.flatnonzero(places == -2)
    if len(strange):
        shown = ", ".join(repr(v) for v in levels[:12]) + (", ..." if len(levels) > 12 else "")
        row, value = row_names(column)[strange[0]], values[strange[0]]
        raise InputError(
            f"Row {row} of {name} has {value!r} in {features.names[j]!r}, a category that the "
            f"model does not know. Known: {shown}."
        )
    return places


def _require_count(features: Features, count: int, name: str) -> None:
    if count != len(features):
        raise InputError(f"The model has {len(features)} features, and {name} has {count} columns.")


def _require_names(features: Features, columns: Sequence[str], name: str) -> None:
    missing = [feature for feature in features.names if feature not in columns]
    if missing:
        raise InputError(
            f"{name} lacks the columns {missing[:10]}. Expected {list(features.names)[:30]}."
            f"{_renaming(missing, columns, name)}"
        )


def _renaming(missing: Sequence[str], columns: Sequence[str], name: str) -> str:
    """Return the line that names columns as LightGBM does: it writes "_" for a space."""
    if not set(missing) <= {column.replace(" ", "_") for column in columns}:
        return ""
    return f" Write {name}.rename(columns=lambda name: name.replace(' ', '_'))."


def _refuse_missing(
    features: Features, values: FloatArray, name: str, called: Sequence[Any]
) -> None:
    finite = np.isfinite(values)
    if np.count_nonzero(finite) == finite.size:
        return
    rows = np.flatnonzero(~finite.all(axis=1))
    where = np.unique(features.owner[np.flatnonzero(~finite.all(axis=0))])
    advice = "Fill or drop them first: nothing is guessed."
    if features.fills is None:
        advice += " With missing='impute' they are read as the model's own imputer fills them."
    if not features.absent:
        advice += " With missing='keep' they are left to trees that take missing values themselves."
    raise InputError(
        f"{name} has missing or infinite values in the columns "
        f"{[features.names[j] for j in where[:10]]}, rows "
        f"{[called[row] for row in rows[:10]]}{' and more' if len(rows) > 10 else ''}. {advice}"
    )
