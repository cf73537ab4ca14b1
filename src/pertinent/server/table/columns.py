"""The rows that are served, kept as one array for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import optional
from pertinent.geometry.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Kept:
    """One column: numbers as they are, anything else by the place of each value in a list.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers, or places in ``levels``; -1 where the value is missing.
    levels : list, optional
        The different values, in order of first appearance.
    """

    values: NDArray[Any]
    levels: list[Any] | None = None

    @classmethod
    def of(cls, series: Any) -> Kept:
        """Return a column of a DataFrame, or of an array."""
        array = _array(series)
        if array.dtype.kind in "biuf":
            return cls(array)
        pandas = optional("pandas", "serve", "The server")
        codes, levels = pandas.factorize(series)
        return cls(np.asarray(codes), [_plain(level) for level in np.asarray(levels).tolist()])

    def __getitem__(self, place: int) -> Any:
        """Return one value as plain Python; None where it is missing."""
        value = self.values[place]
        if self.levels is not None:
            return None if value < 0 else self.levels[value]
        return None if value != value else value.item()

    @property
    def missing(self) -> BoolArray:
        """Where the value is missing."""
        if self.levels is not None:
            return np.asarray(self.values < 0)
        return np.asarray(np.isnan(self.values) if self.values.dtype.kind == "f"
                          else np.zeros(len(self.values), dtype=bool))  # fmt: skip

    def ranks(self) -> IntArray | NDArray[Any]:
        """Return numbers that sort as the values do, missing ones last."""
        if self.levels is None:
            return self.values
        order = sorted(range(len(self.levels)), key=lambda k: str(self.levels[k]))  # type: ignore[index]
        rank = np.empty(len(order) + 1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        rank[-1] = len(order)
        return np.asarray(rank[self.values])


def _array(series: Any) -> NDArray[Any]:
    """Return a column as an array; of numbers that say apart what is missing, with NaN."""
    kind = getattr(series.dtype, "numpy_dtype", None)
    if kind is None or kind.kind not in "biuf":
        return np.asarray(series)
    if series.isna().any():
        return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
    return np.asarray(series.to_numpy(dtype=kind))


def columns_of(data: Any, names: Sequence[str]) -> dict[str, Kept]:
    """Return the columns of the features, by name."""
    if hasattr(data, "columns"):
        by_name = set(data.columns).issuperset(names)
        return {
            name: Kept.of(data[name] if by_name else data.iloc[:, j])
            for j, name in enumerate(names)
        }
    array = np.asarray(data)
    return {name: Kept(np.ascontiguousarray(array[:, j])) for j, name in enumerate(names)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
