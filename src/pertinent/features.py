"""Features by name, and tables of any kind as plain arrays and back.

A DataFrame (pandas, polars, pyarrow, through narwhals) is matched to the model by column name,
and answers come back as the same kind of table, with the same columns, order and index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from pertinent._typing import FloatArray, Foreign, IntArray
from pertinent.exceptions import InputError, unknown_name


@dataclass(frozen=True)
class Features:
    """The features a model was fitted on.

    Parameters
    ----------
    names : tuple of str
    named : bool
        Whether the model itself knows these names (it then takes DataFrames by column).
    """

    names: tuple[str, ...]
    named: bool = False

    @classmethod
    def of(cls, model: Foreign, example: Any = None) -> Features:
        """Return the features of a model, named by the model or else by a table."""
        known = getattr(model, "feature_names_in_", None)
        if known is not None:
            return cls(tuple(str(name) for name in known), named=True)
        count = getattr(model, "n_features_in_", None)
        frame = as_frame(example)
        if frame is not None and (count is None or len(frame.columns) == count):
            return cls(tuple(frame.columns))
        if count is None:
            shape = np.shape(example)
            if len(shape) != 2:
                raise InputError("Expected a table of samples with two dimensions.")
            count = shape[1]
        return cls(tuple(f"x{i}" for i in range(int(count))))

    def __len__(self) -> int:
        return len(self.names)

    def index(self, feature: str | int) -> int:
        """Return the place of a feature given by name or by position.

        Examples
        --------
        >>> from pertinent.features import Features
        >>> Features(("age", "income")).index("income")
        1
        """
        if isinstance(feature, str):
            if feature not in self.names:
                raise unknown_name("feature", feature, self.names)
            return self.names.index(feature)
        place = int(feature)
        if not -len(self) <= place < len(self):
            raise InputError(f"There is no feature {place}: the model has {len(self)} features.")
        return place % len(self)

    def indices(self, features: Sequence[str | int]) -> IntArray:
        """Return the places of several features."""
        if isinstance(features, str):
            raise InputError(f"Expected a list of features, got the text {features!r}.")
        return np.array([self.index(feature) for feature in features], dtype=np.int64)

    def read(self, X: Any) -> Table:
        """Return the samples as an array in the model's order, with the way back.

        Missing or infinite values, wrong numbers of columns and text are refused by name.
        """
        frame = as_frame(X)
        values = self._array(X) if frame is None else self._columns(frame)
        self._refuse_missing(values)
        return Table(self, values, X if frame is None else frame)

    def _array(self, X: Any) -> FloatArray:
        array = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        if array.ndim != 2:
            raise InputError(
                f"Expected samples as a table with two dimensions, got {array.ndim}. "
                "For a single sample x pass [x] (or x.reshape(1, -1))."
            )
        self._require_count(array.shape[1])
        try:
            return np.ascontiguousarray(array, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"The samples must be numbers: {error}.") from error

    def _columns(self, frame: nw.DataFrame[Any]) -> FloatArray:
        if not self.named and set(frame.columns) != set(self.names):
            self._require_count(len(frame.columns))
            names: Sequence[str] = frame.columns
        else:
            names = self.names
            self._require_names(frame.columns)
        out = np.empty((len(frame), len(names)))
        for j, name in enumerate(names):
            column = frame[name]
            if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
                raise InputError(
                    f"Column {name!r} holds {column.dtype}, and this model takes numbers."
                )
            out[:, j] = column.to_numpy()
        return out

    def _require_count(self, count: int) -> None:
        if count != len(self):
            raise InputError(f"The model has {len(self)} features, and X has {count} columns.")

    def _require_names(self, columns: Sequence[str]) -> None:
        missing = [name for name in self.names if name not in columns]
        extra = [name for name in columns if name not in self.names]
        if missing or extra:
            parts = []
            if missing:
                parts.append(f"lacks the columns {missing[:10]}")
            if extra:
                parts.append(f"has columns the model does not know: {extra[:10]}")
            raise InputError(f"X {' and '.join(parts)}. Expected {list(self.names)[:30]}.")

    def _refuse_missing(self, values: FloatArray) -> None:
        finite = np.isfinite(values)
        if finite.all():
            return
        rows = np.flatnonzero(~finite.all(axis=1))
        columns = [self.names[j] for j in np.flatnonzero(~finite.all(axis=0))]
        raise InputError(
            f"X has missing or infinite values in the columns {columns[:10]}, rows "
            f"{rows[:10].tolist()}{' and more' if len(rows) > 10 else ''}. "
            "Fill or drop them first: nothing is guessed."
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Samples as an array, and the way back to the kind of table they came in."""

    features: Features
    values: FloatArray
    source: Any = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def single_precision(self) -> bool:
        """Whether answers are handed out as float32."""
        if isinstance(self.source, nw.DataFrame):
            return any(dtype == nw.Float32 for dtype in self.source.schema.values())
        return getattr(self.source, "dtype", None) == np.float32

    def take(self, rows: IntArray | slice) -> Table:
        """Return some of the rows."""
        if isinstance(self.source, nw.DataFrame):
            source = self.source[rows]
        elif hasattr(self.source, "dtype") and hasattr(self.source, "__getitem__"):
            source = self.source[rows]
        else:
            source = None
        return Table(self.features, self.values[rows], source)

    def as_handed_out(self, points: FloatArray) -> FloatArray:
        """Return the values that ``write`` will hand out, in double precision."""
        if not self.single_precision:
            return points
        return points.astype(np.float32).astype(float)

    def for_model(self, points: FloatArray) -> Any:
        """Return points as the model's ``predict`` takes them."""
        if self.features.named and isinstance(self.source, nw.DataFrame):
            return self._frame(points, self.features.names).to_native()
        return self._array(points)

    def write(self, points: FloatArray) -> Any:
        """Return one point for each row, as the kind of table the samples came in."""
        if not isinstance(self.source, nw.DataFrame):
            return self._array(points)
        frame = self._frame(points, self.source.columns)
        if len(points) == len(self.source):
            frame = nw.maybe_set_index(frame, index=[nw.maybe_get_index(self.source)])
        return frame.to_native()

    def _array(self, points: FloatArray) -> Any:
        return points.astype(np.float32) if self.single_precision else points

    def _frame(self, points: FloatArray, columns: Sequence[str]) -> nw.DataFrame[Any]:
        own = self.features.names
        order = own if set(own) == set(columns) else columns
        values = self._array(points)
        data = {name: values[:, j] for j, name in enumerate(order)}
        backend = self.source.implementation
        return nw.from_dict({name: data[name] for name in columns}, backend=backend)


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a DataFrame of any kind as narwhals sees it; None if ``X`` is not one."""
    if X is None or isinstance(X, np.ndarray | list | tuple):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None
