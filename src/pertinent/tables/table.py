"""Samples as an array of columns, and the way back to the kind of table they came in."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from pertinent.exceptions import InputError, MissingExtraError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits, read_only
from pertinent.geometry.domain import Lattice
from pertinent.geometry.rounding.singles import as_decimals, as_singles, bounds_as_singles
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing
from pertinent.tables.pandas_frames import pandas_column

#: Libraries of tables that are written, the preferred one first.
BACKENDS = ("pandas", "polars", "pyarrow")
_SIGNED = (nw.Int8, nw.Int16, nw.Int32, nw.Int64)
_UNSIGNED = (nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)


def installed_backend() -> Any:
    """Return the first table library that is installed."""
    for name in BACKENDS:
        if importlib.util.find_spec(name) is not None:
            return name
    raise MissingExtraError("pandas", "pandas", "A table of explanations")


#: What a `Table` found out about its columns: the same for any of its rows.
_OF_COLUMNS = (
    "_schema", "_kinds", "_pandas_types", "single_precision", "single_columns", "decimal_columns",
    "booleans",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Part:
    """Some rows of a source."""

    source: Any
    rows: IntArray | slice

    def taken(self) -> Any:
        """Return the rows; None where the source has none that can be taken."""
        known = isinstance(self.source, nw.DataFrame | np.ndarray)
        return self.source[self.rows] if known else None


@dataclass(frozen=True, eq=False)
class Table:
    """Samples as an array, and the way back to the kind of table they came in.

    ``values`` has one column for each number and one for each category of a categorical feature
    (see `pertinent.tables.features.Features`); without categories it is the table itself.
    """

    features: Features
    values: FloatArray
    given: Any = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def source(self) -> Any:
        """The samples as they came, or None; of a part that is lent, taken when it is asked for."""
        return self.given.taken() if isinstance(self.given, _Part) else self.given

    @property
    def _like(self) -> Any:
        """A source of the same kind and columns, whatever rows it has: nothing is taken for it."""
        return self.given.source if isinstance(self.given, _Part) else self.given

    @cached_property
    def _schema(self) -> Mapping[str, Any]:
        """The types of the source's columns, asked for once."""
        return dict(self._like.schema)

    @cached_property
    def _kinds(self) -> Mapping[str, str]:
        """Of the source's columns: b for truth values, i and u for whole numbers, f for float32."""
        return {name: _kind_of(dtype) for name, dtype in self._schema.items()}

    @cached_property
    def single_precision(self) -> bool:
        """Whether answers are handed out as float32."""
        if isinstance(self._like, nw.DataFrame):
            return "f" in self._kinds.values()
        return getattr(self._like, "dtype", None) == np.float32

    @cached_property
    def single_columns(self) -> BoolArray:
        """Which columns of ``values`` are handed out as float32."""
        if not isinstance(self._like, nw.DataFrame):
            return np.full(self.features.dim, self.single_precision)
        single = np.zeros(self.features.dim, dtype=bool)
        for j, name in enumerate(self._source_names()):
            single[self.features.first[j]] = self._kinds[name] == "f"
        return single

    @cached_property
    def decimal_columns(self) -> BoolArray:
        """Which columns hold numbers in single precision that are told as decimal numbers.

        119.9 is 119.9000015258789 as a float32. Rules speak of 119.9, which is what is printed and
        stored, and what a column in single precision reads back as the same number.
        """
        return self.single_columns

    def in_binary(self) -> Table:
        """Return the same table with numbers in single precision told with all their digits."""
        said = copy(self)
        said.__dict__["decimal_columns"] = np.zeros(self.features.dim, dtype=bool)
        return said

    def as_told(self, points: FloatArray) -> FloatArray:
        """Return values as they are told: see `decimal_columns`."""
        if not self.single_precision or not self.decimal_columns.any():
            return points
        told, columns = points.copy(), self.decimal_columns
        told[..., columns] = as_decimals(points[..., columns])
        return told

    def as_held(self, told: FloatArray) -> FloatArray:
        """Return values that are told as the columns hold them, the way back of `as_told`."""
        if not self.single_precision or not self.decimal_columns.any():
            return told
        return np.where(self.decimal_columns, as_singles(told), told)

    def steps_held(self, lattice: Mapping[int, Lattice]) -> dict[int, Lattice]:
        """Return the steps of columns, as numbers that the columns can hold."""
        if not self.single_precision:
            return dict(lattice)
        single = self.decimal_columns
        return {j: replace(own, single=bool(single[j])) for j, own in lattice.items()}

    def limits_held(self, limits: Limits) -> Limits:
        """Return lowest and highest values of the columns, as numbers that these can hold."""
        if not self.single_precision or not self.decimal_columns.any():
            return limits
        own = zip(limits, bounds_as_singles(*limits), strict=True)
        low, high = (np.where(self.decimal_columns, held, told) for told, held in own)
        none = low > high  # no float32 lies between them
        return np.where(none, limits[0], low), np.where(none, limits[1], high)

    @property
    def single_features(self) -> list[str]:
        """The names of the features that are handed out as float32."""
        if not self.single_precision:
            return []
        single = self.single_columns[self.features.first]
        return [name for name, own in zip(self.features.names, single, strict=True) if own]

    @cached_property
    def booleans(self) -> IntArray:
        """The columns of ``values`` that hold truth values, by the type of their source."""
        if isinstance(self._like, nw.DataFrame):
            truths = [self._kinds[name] == "b" for name in self._source_names()]
        elif self.all_truths:
            truths = [True] * len(self.features)
        else:
            return np.zeros(0, dtype=np.int64)
        found = [
            self.features.first[j]
            for j, is_truth in enumerate(truths)
            if is_truth and not self.features.is_category(j)
        ]
        return np.array(found, dtype=np.int64)

    @cached_property
    def missing(self) -> BoolArray:
        """Which values the samples lack, shape (n, n_features)."""
        gone = np.zeros((len(self), len(self.features)), dtype=bool)
        if self.features.fills and self.source is not None:
            for j in self.features.fills:
                gone[:, j] = is_missing(self._source_column(j))
        for j in self.features.lost if self.source is not None else ():
            gone[:, j] = is_missing(self._source_column(j))
        for number, mark in self.features.marks.items():
            gone[:, self.features.owner[number]] = self.values[:, mark] == 1
        return gone

    def lacking(self, features: Sequence[str]) -> Table:
        """Return the same table with the values of some features said to be missing."""
        said = copy(self)
        gone = np.isin(self.features.names, list(features))
        said.__dict__["missing"] = np.broadcast_to(gone, (len(self), len(self.features)))
        return said

    def known_numbers(self, j: int) -> FloatArray:
        """Return the numbers of a feature that the samples have, without missing ones."""
        if j in self.features.absent:
            number, mark = self.features.columns_of(j)
            return np.asarray(self.values[self.values[:, mark] == 0, number])
        if self.features.fills is None or self.source is None:
            return np.asarray(self.values[:, self.features.first[j]])
        column = self._source_column(j)
        gone = is_missing(column)
        return np.asarray(column, dtype=object)[~gone].astype(float)

    def whole_features(self) -> dict[int, bool]:
        """Return the features of whole numbers by the type of their source; True where signed."""
        if isinstance(self._like, nw.DataFrame):
            kinds = [self._kinds[name] for name in self._source_names()]
            whole = {j: kind == "i" for j, kind in enumerate(kinds) if kind in ("i", "u")}
        elif isinstance(self._like, np.ndarray) and self._like.dtype.kind in "iu":
            whole = dict.fromkeys(range(len(self.features)), self._like.dtype.kind == "i")
        else:
            return {}
        return {j: signed for j, signed in whole.items() if not self.features.is_category(j)}

    @property
    def all_truths(self) -> bool:
        """Whether the samples came as an array of truth values."""
        return isinstance(self._like, np.ndarray) and self._like.dtype == bool

    def take(self, rows: IntArray | slice) -> Table:
        """Return some of the rows, of the source as of the values; all of them are the table."""
        if _is_every(rows, len(self)):
            return self
        return self._part(rows, _Part(self.source, rows).taken())

    def lend(self, rows: IntArray) -> Table:
        """Return the same to whoever is done with it at once: no row of the source is copied.

        To copy one sample many times, as a frame, takes longer than to judge as many points of it.
        """
        if _is_every(rows, len(self)):
            return self
        return self._part(rows, _Part(self.source, rows))

    def _part(self, rows: IntArray | slice, source: Any) -> Table:
        taken = Table(self.features, self.values[rows], source)
        if source is not None:
            found = self.__dict__
            taken.__dict__.update({name: found[name] for name in _OF_COLUMNS if name in found})
        return taken

    def as_handed_out(self, points: FloatArray) -> FloatArray:
        """Return the values that ``write`` will hand out, in double precision."""
        if not self.single_precision:
            return points
        single = self.single_columns
        handed = np.where(single, points.astype(np.float32).astype(float), points)
        for column in {bins.column for bins in self.features.bins}:
            if single[column]:
                handed[:, column] = self._in_same_bins(column, points[:, column])
        return handed

    def _in_same_bins(self, column: int, values: FloatArray) -> FloatArray:
        """Return the nearest float32 in the bins of each value, where there is one.

        Answers lie at the ends of bins: the double below an edge is the edge itself as a float32.
        """
        low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
        for bins in self.features.bins:
            if bins.column == column and bins.excess is None:
                own = bins.of(values)
                # A model may compare with the edge itself, or with its float32.
                for edges in (bins.edges, bins.edges.astype(np.float32).astype(float)):
                    seen = replace(bins, edges=edges)
                    low, high = np.maximum(low, seen.low[own]), np.minimum(high, seen.high[own])
        near = values.astype(np.float32)
        first, last = low.astype(np.float32), high.astype(np.float32)
        first = np.where(first < low, np.nextafter(first, np.float32(np.inf)), first)
        last = np.where(last > high, np.nextafter(last, np.float32(-np.inf)), last)
        # What needs no rounding stays: samples keep their own values.
        rounded = near != values
        near = np.where(rounded & (near < low), first, near)
        near = np.where(rounded & (near > high), last, near)
        return near.astype(float)

    def raw(self, points: FloatArray) -> Any:
        """Return points feature by feature: numbers, or objects where there are categories.

        An array of shape (n, n_features): the points themselves if every feature is a number.
        """
        if not self.features.levels and self._all_numbers:
            if self.features.is_plain:
                return points
            values = points[:, self.features.first]
            for j in self.features.absent:
                values[:, j] = self._number_or_gap(j, points)
            return values
        out = np.empty((len(points), len(self.features)), dtype=object)
        numbers = [j for j in self.features.numbers.tolist() if j not in self.features.unused]
        out[:, numbers] = points[:, self.features.first[numbers]]
        for j in set(range(len(self.features))).difference(numbers):
            out[:, j] = self._raw_column(j, points)
        return out

    @cached_property
    def own_raw(self) -> Any:
        """The samples as they are told, and as `raw` returns them; not to be written to."""
        return self.raw(self.as_told(self.values))

    @cached_property
    def _all_numbers(self) -> bool:
        """Return whether every feature that the model does not look at is a number as well."""
        kind = getattr(getattr(self._like, "dtype", None), "kind", "O")
        if self._like is None or kind in "fiub":
            return True
        unused = self.features.unused
        return all(reads_as_numbers(self._source_column(j)) for j in unused)

    def own_categories(self, j: int) -> Any:
        """Return the category of each sample, those that the model does not know included."""
        return self._raw_column(j, self.values)

    def _raw_column(self, j: int, points: FloatArray) -> Any:
        features = self.features
        if not features.is_category(j):
            return self._number_column(j, points)
        columns = features.columns_of(j)
        block = points[:, columns]
        place = np.argmax(block, axis=1) if len(columns) else np.zeros(len(points), dtype=int)
        known = features.known_levels[j]
        chosen = known[np.minimum(place, len(known) - 1)]
        if features.has_other(j):
            theirs = np.flatnonzero(place == len(known) - 1)
            if len(theirs):
                own = np.array(self._source_column(j), dtype=object)
                own[is_missing(own)] = None
                chosen[theirs] = own[theirs % len(own)]
        chosen[np.isnan(block).any(axis=1)] = None
        return chosen

    def _number_column(self, j: int, points: FloatArray) -> Any:
        """Return a column of numbers; what the model does not look at stays what it is."""
        values = self._number_or_gap(j, points)
        if j not in self.features.unused or self.source is None:
            return values
        own = self._source_column(j)
        if reads_as_numbers(own):
            return values
        carried = np.asarray(own, dtype=object)
        if len(points) % max(1, len(carried)):  # points of whole classes belong to no sample
            carried = carried[:1]
        carried = np.tile(carried, len(points) // max(1, len(carried)))
        carried[np.isnan(values)] = None
        return carried

    def _number_or_gap(self, j: int, points: FloatArray) -> FloatArray:
        """Return a column of numbers, NaN where it is marked as missing."""
        number = int(self.features.first[j])
        mark = self.features.marks.get(number)
        values = points[:, number]
        return values if mark is None else np.where(points[:, mark] == 1, np.nan, values)

    @property
    def takes_any_points(self) -> bool:
        """Whether points go to the model as plain numbers, whichever sample they belong to."""
        return isinstance(self._like, np.ndarray) and self.features.is_plain and self._all_numbers

    def for_model(self, points: FloatArray) -> Any:
        """Return points as the model's ``predict`` takes them.

        There may be several points of each sample: those of all samples in their order, then again.
        """
        if self.features.named and isinstance(self._like, nw.DataFrame):
            if self.features.is_plain and not self._has_other_dtypes():
                return self._plain_frame(points)
            if self._like.implementation.is_pandas():
                return self._pandas_frame(points, self.features.names)
            frame = self._frame(points, self.features.names)
            native = frame.to_native()
            return native if _takes(frame) else native.to_pandas()
        if not self.features.is_plain and isinstance(self._like, nw.DataFrame):
            return self._frame(points, self._source_names()).to_native()
        return self._array(points)

    def _plain_frame(self, points: FloatArray) -> Any:
        """Return numbers as a frame without copying them column by column."""
        backend = self._like.implementation
        chosen: Any = "pandas" if backend.is_pyarrow() else backend
        names = list(self.features.names)
        return nw.from_numpy(self._array(points), names, backend=chosen).to_native()

    def as_given(self) -> Any:
        """Return the samples as they came, where the model takes them so; None elsewhere."""
        if isinstance(self.source, nw.DataFrame):
            native = self.source.to_native()
            return native if self.source.implementation.is_pandas() else None
        return self.source if isinstance(self.source, np.ndarray) else None

    def write(self, points: FloatArray) -> Any:
        """Return one point for each row, as the kind of table the samples came in."""
        if not isinstance(self._like, nw.DataFrame):
            return self._array(points)
        frame = self._frame(points, self.source.columns)
        if len(points) == len(self.source):
            index: Any = [nw.maybe_get_index(self.source)]
            frame = nw.maybe_set_index(frame, index=index)
        return frame.to_native()

    def _array(self, points: FloatArray) -> Any:
        values = self.raw(points)
        if self.all_truths:
            return _as_truths(values)
        if values.dtype == object and getattr(self._like, "dtype", np.dtype(object)).kind in "fiu":
            values = values.astype(float)  # categories that are numbers in a table of numbers
        single = values.dtype != object and self.single_precision and self.single_columns.all()
        return values.astype(np.float32) if single else values

    def _source_names(self) -> Sequence[str]:
        """Return the source's names of the features, in the features' order."""
        own = self.features.names
        columns: Sequence[str] = self._like.columns
        return own if set(own) == set(columns) else columns

    def _source_column(self, j: int) -> Any:
        if isinstance(self.source, nw.DataFrame):
            series = self.source.get_column(self._source_names()[j])
            if series.dtype.is_numeric():
                return series.to_numpy()
            return np.array(series.to_list(), dtype=object)
        return np.asarray(self.source)[:, j]

    def _frame(self, points: FloatArray, columns: Sequence[str]) -> nw.DataFrame[Any]:
        order = {name: j for j, name in enumerate(self._source_names())}
        if self.features.is_plain and not self._has_other_dtypes() and self._all_numbers:
            values = self._array(points)
            data = {name: values[:, order[name]] for name in columns}
            return nw.from_dict(data, backend=self._like.implementation)
        if self._like.implementation.is_pandas():
            return nw.from_native(self._pandas_frame(points, columns), eager_only=True)
        series = {name: self._series(name, order[name], points) for name in columns}
        kind = type(self._like.to_native())
        native = {name: column.to_native() for name, column in series.items()}
        if self._like.implementation.is_pyarrow():
            return nw.from_native(kind.from_pydict(native), eager_only=True)
        return nw.from_dict(series, backend=self._like.implementation)

    def _has_other_dtypes(self) -> bool:
        """Whether any column is anything but float64."""
        return any(dtype != nw.Float64 for dtype in self._schema.values())

    def _pandas_frame(self, points: FloatArray, columns: Sequence[str]) -> Any:
        """Return points as a frame of pandas, without a word of narwhals about each column."""
        order = {name: j for j, name in enumerate(self._source_names())}
        data = {}
        for name in columns:
            values, missing = self._typed(name, order[name], points)
            if missing is not None:
                values = pandas_column(self._pandas_types[name], values, missing=missing)
            data[name] = values
        return type(self._like.to_native())(data)

    @cached_property
    def _pandas_types(self) -> Mapping[str, Any]:
        """The types of the source's columns as pandas knows them."""
        types: Mapping[str, Any] = self._like.to_native().dtypes.to_dict()
        return types

    def _typed(self, name: str, j: int, points: FloatArray) -> tuple[Any, bool | None]:
        """Return one column, and whether values are missing in it; None: it is of floats.

        Whole numbers and truth values are such where all values allow that.
        """
        kind = self._kinds[name]
        values = self._raw_column(j, points)
        if self.features.is_category(j) or values.dtype == object:
            return list(values), any(v is None for v in values)
        gone = np.isnan(values)
        some = bool(gone.any())
        if kind == "b":
            return [None if g else bool(v) for v, g in zip(values, gone, strict=True)], some
        if kind in ("i", "u") and (values == np.round(values))[~gone].all():
            if not some:
                return values.astype(np.int64), False
            return [None if g else int(v) for v, g in zip(values, gone, strict=True)], True
        return values.astype(np.float32 if kind == "f" else np.float64), None

    def _series(self, name: str, j: int, points: FloatArray) -> Any:
        """Return one column in the type of its source, where its values allow that."""
        backend, (values, missing) = self._like.implementation, self._typed(name, j, points)
        if missing is None:
            kept = nw.Float32 if self._kinds[name] == "f" else nw.Float64
            return nw.new_series(name, values, kept, backend=backend)
        column = self._like.get_column(name)
        kind = None if column.dtype == nw.Object else column.dtype
        made = nw.new_series(name, values, kind, backend=backend)
        if not backend.is_pyarrow():
            return made
        exact = made.to_native().cast(column.to_native().type)  # string or large_string
        named: nw.Series[Any] = nw.from_native(exact, series_only=True).alias(name)
        return named


def _kind_of(dtype: Any) -> str:
    """Return a letter for what the type of a column says of its values; none of most types."""
    if dtype in _SIGNED:
        return "i"
    if dtype in _UNSIGNED:
        return "u"
    return "f" if dtype == nw.Float32 else "b" if dtype == nw.Boolean else ""


def _is_every(rows: IntArray | slice, count: int) -> bool:
    """Return whether rows are all of ``count``, in their order."""
    if isinstance(rows, slice):
        return rows == slice(0, count)
    numbers = len(rows) == count and rows.dtype.kind != "b"
    return bool(numbers and (rows == np.arange(count)).all())


def _as_truths(values: Any) -> Any:
    """Return an array of 0, 1 and missing values as truth values, None where one is missing.

    Points that no sample can have, such as a baseline of one half, stay numbers.
    """
    gone = is_missing(values.ravel()).reshape(values.shape)
    if not (gone | (values == 0) | (values == 1)).all():
        return values
    truths = np.where(gone, 0, values).astype(bool)
    if not gone.any():
        return truths
    some = truths.astype(object)
    some[gone] = None  # truth values of NumPy cannot be missing
    return some


def values_of(samples: Table | FloatArray) -> FloatArray:
    """Return the columns of a table, or of samples that are nothing else."""
    return samples.values if isinstance(samples, Table) else samples


def _takes(frame: nw.DataFrame[Any]) -> bool:
    """Return whether scikit-learn selects columns of such a table by name."""
    if frame.implementation.is_polars():
        import sklearn  # here, so that asking for help need not load it

        return tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 9)
    return not frame.implementation.is_pyarrow()


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a DataFrame of any kind as narwhals sees it; None if ``X`` is not one."""
    if X is None or isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError as error:
        names = getattr(X, "column_names", None) or X.columns  # of pyarrow, of the others
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(
            f"The table has more than one column named {twice!r}. Rename or drop them."
        ) from error
    return frame if isinstance(frame, nw.DataFrame) else None


def reads_as_numbers(column: Any) -> bool:
    """Return whether a column holds numbers only, none of them missing."""
    if isinstance(column, nw.Series):
        numeric = column.dtype.is_numeric() or column.dtype == nw.Boolean
        return bool(numeric and not column.null_count() and np.isfinite(column.to_numpy()).all())
    try:
        return bool(np.isfinite(np.asarray(column, dtype=float)).all())
    except (TypeError, ValueError):
        return False
