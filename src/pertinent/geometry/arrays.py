"""The handful of array types used throughout the package, and batches of rows made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int8]
#: Which rows: their places, or a mask.
RowIndex = IntArray | BoolArray
#: The lowest and the highest values allowed.
Limits = tuple[FloatArray, FloatArray]
#: A fitted classifier, or anything else that comes from outside without types.
Foreign = Any

_ALONG, _EACH, _KEYS, _SHARED = "along", "each", "keys", "shared"
#: What ``field(metadata=...)`` says of a field of `Rows`: all rows share it, such as weights; it is
#: a tuple of arrays, each with one entry for each row; it is a dict from some rows to their values.
SHARED, OF_EACH, BY_KEY = {"rows": _SHARED}, {"rows": _EACH}, {"rows": _KEYS}

_PLANS: dict[type, tuple[tuple[str, str], ...]] = {}


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal, array by array; NaN equals NaN."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        same = one == other
        if one.dtype.kind == "f" and not same.all():
            same |= (one != one) & (other != other)
        return bool(same.all())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    if is_dataclass(one):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return bool(one == other)


class Rows:
    """A dataclass whose fields have one entry for each row.

    Arrays are indexed, a tuple holds one item for each row, other `Rows` (and whatever has a
    ``take``) are asked for their part; numbers, texts and None are the same for all rows. Other
    fields have the metadata `SHARED`, `OF_EACH` or `BY_KEY`.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> import numpy as np
    >>> from pertinent.geometry.arrays import SHARED, FloatArray, Rows
    >>> @dataclass
    ... class Distances(Rows):
    ...     values: FloatArray
    ...     weights: FloatArray = field(metadata=SHARED)
    >>> both = Distances(np.array([3.0, 4.0]), np.array([1.0, 2.0, 1.0]))
    >>> both.take(np.array([1, 1]))
    Distances(values=array([4., 4.]), weights=array([1., 2., 1.]))
    >>> both.put(np.array([0]), Distances(np.array([9.0]), both.weights))
    >>> Distances.stack([both, both.take(np.array([0]))]).values
    array([9., 4., 9.])
    """

    def __len__(self) -> int:
        for name, how in _plan(type(self)):
            value = getattr(self, name)
            if how == _ALONG and isinstance(value, np.ndarray | tuple | Rows):
                return len(value)
            if how == _EACH and value:
                return len(value[0])
        raise TypeError(f"{type(self).__name__} has no field with one entry for each row.")

    def take(self, rows: RowIndex) -> Self:
        """Return the batch of some rows, in the order given; rows may repeat."""
        values = self.__dict__
        part = object.__new__(type(self))
        part.__dict__.update({n: _some(values[n], rows, how) for n, how in _plan(type(self))})
        return part

    def put(self, rows: IntArray, part: Self) -> None:
        """Overwrite some rows of every array, in place."""
        for name, how in _plan(type(self)):
            _overwrite(getattr(self, name), rows, getattr(part, name), how)

    @classmethod
    def stack(cls, parts: Sequence[Self]) -> Self:
        """Return all batches as one, one after the other; what is shared is the first one's."""
        whole = object.__new__(cls)
        for name, how in _plan(cls):
            whole.__dict__[name] = _joined([getattr(part, name) for part in parts], how, parts)
        return whole


def _plan(cls: type) -> tuple[tuple[str, str], ...]:
    """Return the names of a dataclass's fields, and how each holds its rows."""
    known = _PLANS.get(cls)
    if known is None:
        known = tuple((f.name, f.metadata.get("rows", _ALONG)) for f in fields(cls))
        _PLANS[cls] = known
    return known


def _some(value: Any, rows: RowIndex, how: str) -> Any:
    if how == _ALONG:
        if isinstance(value, np.ndarray):
            return value[rows]
        if isinstance(value, tuple):
            return tuple([value[i] for i in _places(rows)])
        return value.take(rows) if hasattr(value, "take") else value
    if how == _EACH:
        return tuple([array[rows] for array in value])
    if how == _KEYS:
        if not value:
            return {}
        return {new: value[i] for new, i in enumerate(_places(rows)) if i in value}
    return value


def _places(rows: RowIndex) -> list[int]:
    where: list[int] = (np.flatnonzero(rows) if rows.dtype == bool else rows).tolist()
    return where


def _overwrite(whole: Any, rows: IntArray, part: Any, how: str) -> None:
    if how == _EACH:
        for mine, theirs in zip(whole, part, strict=True):
            mine[rows] = theirs
    elif how == _KEYS:
        for row in set(whole).intersection(rows.tolist()) if whole else ():
            del whole[row]
        whole.update({int(rows[i]): value for i, value in part.items()})
    elif how == _ALONG and isinstance(whole, np.ndarray):
        whole[rows] = part
    elif how == _ALONG and isinstance(whole, Rows):
        whole.put(rows, part)
    elif how == _ALONG and isinstance(whole, tuple):
        raise TypeError("A tuple of rows cannot be overwritten in place.")


def _joined(values: list[Any], how: str, parts: Sequence[Any]) -> Any:
    first = values[0]
    if how == _ALONG and isinstance(first, np.ndarray):
        return np.concatenate(values)
    if how == _ALONG and isinstance(first, Rows):
        return type(first).stack(values)
    if how == _ALONG and isinstance(first, tuple):
        return tuple(item for value in values for item in value)
    if how == _EACH:
        return tuple(np.concatenate(arrays) for arrays in zip(*values, strict=True))
    if how == _KEYS:
        starts = np.cumsum([0, *(len(part) for part in parts)]).tolist()
        return {
            s + i: v for s, value in zip(starts, values, strict=False) for i, v in value.items()
        }
    return first
