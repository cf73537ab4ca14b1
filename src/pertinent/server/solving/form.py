"""The form of a row: which features it has, of which kind; values by name in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.exceptions import optional, visible
from pertinent.rules.inferred import STEP
from pertinent.server.solving.refusal import Refusal
from pertinent.setting.setting import Setting
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing

#: The kinds of features, as the page knows them.
NUMBER, INTEGER, CATEGORY, BOOLEAN = "number", "integer", "category", "boolean"
#: Categories that a message lists.
MOST_LISTED = 12
#: Larger numbers than this, or their squares, are no numbers to every model.
LARGEST = 1e100
#: Characters of a value that a message repeats.
MOST_SHOWN = 60


@dataclass(frozen=True, eq=False)
class Column:
    """One feature of a row.

    Parameters
    ----------
    name : str
    kind : {"number", "integer", "category", "boolean"}
    categories : tuple
        Those that the model knows.
    takes_others : bool
        Whether the model also takes categories that it does not know.
    may_be_missing : bool
    dtype : dtype, optional
        That of the data; the column of a table is made in it where its values fit.
    """

    name: str
    kind: str
    categories: tuple[Any, ...] = ()
    takes_others: bool = False
    may_be_missing: bool = False
    dtype: Any = None

    def read(self, value: Any, where: str) -> Any:
        """Return a value of JSON as one of this column; ``where`` is what a refusal calls it."""
        if value is None:
            if self.may_be_missing:
                return None
            raise Refusal(f"{visible(self.name)} must have a value: it cannot be missing.", where)
        if self.kind == CATEGORY:
            return self._category(value, where)
        if self.kind == BOOLEAN and isinstance(value, bool):
            return value
        if isinstance(value, bool | str) or not _is_modest(value):
            raise Refusal(
                f"{visible(self.name)} must be a number of at most {LARGEST:g}. "
                f"Got {_shown(value)} instead.",
                where,
            )
        if self.kind == BOOLEAN and value not in (0, 1):
            raise Refusal(f"{visible(self.name)} must be true or false. Got {value!r}.", where)
        return bool(value) if self.kind == BOOLEAN else value

    def _category(self, value: Any, where: str) -> Any:
        for known in self.categories:
            if known == value and isinstance(known, bool) == isinstance(value, bool):
                return known
        if self.takes_others and isinstance(value, str):
            return value
        listed = ", ".join(_shown(one) for one in self.categories[:MOST_LISTED])
        more = ", ..." if len(self.categories) > MOST_LISTED else ""
        raise Refusal(
            f"{visible(self.name)} must be one of {listed}{more}. Got {_shown(value)} instead.",
            where,
        )


def _is_modest(value: Any) -> bool:
    try:
        return abs(float(value)) <= LARGEST
    except (OverflowError, TypeError, ValueError):
        return False


def _shown(value: Any) -> str:
    said = visible(repr(value))
    return said if len(said) <= MOST_SHOWN else f"{said[:MOST_SHOWN]}..."


@dataclass(frozen=True, eq=False)
class RowForm:
    """The features of a row in order; `RowForm.table` makes rows into what the model takes.

    Parameters
    ----------
    columns : tuple of Column
    as_frame : bool
        Whether the model takes a DataFrame; else an array.
    """

    columns: tuple[Column, ...]
    as_frame: bool

    @classmethod
    def of(cls, setting: Setting, data: Any) -> RowForm:
        """Return the form of the rows of a model, with the types of columns of some data."""
        features = setting.features
        types = _types(features, data)
        whole = {r.feature for r in setting.constraints.inferred if r.kind == STEP
                 and r.numbers[0] >= 1 and r.numbers[0] % 1 == 0}  # fmt: skip
        columns = []
        for j, name in enumerate(features.names):
            levels = features.levels[j] if features.levels else None
            if levels is not None:
                kind = CATEGORY
            else:
                of = getattr(types[j], "kind", "f")
                kind = BOOLEAN if of == "b" else INTEGER if name in whole or of in "iu" else NUMBER
            plain = tuple(_plain(v) for v in levels or () if not is_missing([v])[0])
            gone = bool(levels) and bool(is_missing(levels or ()).any())
            filled = features.fills is not None and j in features.fills
            columns.append(
                Column(
                    name,
                    kind,
                    plain,
                    features.has_other(j),
                    gone or filled or j in features.absent or j in features.lost,
                    types[j],
                )
            )
        return cls(tuple(columns), hasattr(data, "columns") or not features.is_plain)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in the model's order."""
        return tuple(column.name for column in self.columns)

    def read(self, rows: Sequence[Mapping[str, Any]], where: str = "rows") -> list[list[Any]]:
        """Return the values of rows in order; anything else than a value for each is refused."""
        names = set(self.names)
        out = []
        for i, row in enumerate(rows):
            strange = next((name for name in row if name not in names), None)
            if strange is not None:
                raise Refusal(
                    f"{_shown(strange)} is not a feature of this model.",
                    f"{where}[{i}].{visible(strange)[:MOST_SHOWN]}",
                )
            absent = next((name for name in self.names if name not in row), None)
            if absent is not None:
                raise Refusal(
                    f"The row lacks {visible(absent)}. Write null for a missing value.",
                    f"{where}[{i}].{visible(absent)}",
                )
            out.append([
                c.read(row[c.name], f"{where}[{i}].{visible(c.name)}") for c in self.columns
            ])  # fmt: skip
        return out

    def table(self, values: Sequence[Sequence[Any]], ids: Sequence[Any] | None = None) -> Any:
        """Return rows as the model takes them: a DataFrame, or an array of numbers."""
        if not self.as_frame:
            return np.array(
                [[np.nan if v is None else float(v) for v in row] for row in values], dtype=float
            ).reshape(len(values), len(self.columns))
        pandas = optional("pandas", "serve", "The server")
        made = {
            c.name: _series(pandas, c, [row[j] for row in values])
            for j, c in enumerate(self.columns)
        }
        frame = pandas.DataFrame(made)
        return frame if ids is None else frame.set_axis(list(ids), axis=0)


def _series(pandas: Any, column: Column, values: list[Any]) -> Any:
    """Return the values of one column in the type of the data, where they fit."""
    if column.kind == CATEGORY:
        try:
            return pandas.Series(values, dtype=column.dtype)
        except (TypeError, ValueError):
            return pandas.Series(values, dtype=object)
    kind, known = getattr(column.dtype, "kind", "f"), [v for v in values if v is not None]
    fits = kind in "bf" or (kind in "iu" and all(_fits(value, column.dtype) for value in known))
    if fits and isinstance(column.dtype, pandas.api.extensions.ExtensionDtype):
        return pandas.array(values, dtype=column.dtype)
    if len(known) < len(values):
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.array(values, dtype=column.dtype if fits and column.dtype is not None else float)


def _fits(value: Any, dtype: Any) -> bool:
    """Return whether a number is a whole one of this type."""
    known = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    return float(value) % 1 == 0 and known.min <= value <= known.max


def _types(features: Features, data: Any) -> list[Any]:
    if data is None:
        return [None] * len(features)
    columns = getattr(data, "columns", None)
    if columns is None:
        return [np.asarray(data).dtype] * len(features)
    known = set(columns)
    names = features.names if known.issuperset(features.names) else list(columns)
    return [data[name].dtype for name in names]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
