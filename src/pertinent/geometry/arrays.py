"""The handful of array types used throughout the package, and batches of rows made of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
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

_ALONG, _EACH, _KEYS, _SOME, _SHARED = "along", "each", "keys", "some", "shared"
#: What ``field(metadata=...)`` says of a field of `Rows`: all rows share it, such as weights; it is
#: a tuple of arrays, each with one entry for each row; it is a dict from some rows to their values;
#: it is a tuple of parts, each about those rows that its array ``rows`` lists and with
#: the methods ``expand`` and ``among`` of `pertinent.setting.answers.Certified`.
SHARED, OF_EACH, BY_KEY = {"rows": _SHARED}, {"rows": _EACH}, {"rows": _KEYS}
OF_SOME = {"rows": _SOME}

_PLANS: dict[type, tuple[tuple[str, str], ...]] = {}
_OF_SOME: dict[type, tuple[str, ...]] = {}


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


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array itself where nobody can write to it, else a view of that kind.

    What answers are judged by is looked at by searches, which must not be able to change it.
    """
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def rows_of(array: NDArray[Any], rows: RowIndex) -> Any:
    """Return some rows of an array, ``array[rows]``, in half the time where rows lie together."""
    if array.flags.c_contiguous and rows.dtype != bool:
        return array.take(rows, axis=0)
    return array[rows]


def by_label(labels: IntArray) -> list[tuple[int, IntArray]]:
    """Return each label that there is, in order, with its rows; labels are small numbers.

    Examples
    --------
    >>> import numpy as np
    >>> [(k, rows.tolist()) for k, rows in by_label(np.array([2, 0, 2]))]
    [(0, [1]), (2, [0, 2])]
    """
    least = int(labels.min(initial=0))
    known = np.bincount(labels - least).nonzero()[0] + least
    return [(k, (labels == k).nonzero()[0]) for k in known.tolist()]


class Rows:
    """A dataclass whose fields have one entry for each row.

    Arrays are indexed, a tuple holds one item for each row, other `Rows` (and whatever has a
    ``take``) are asked for their part; numbers, texts and None are the same for all rows. Other
    fields have the metadata `SHARED`, `OF_EACH`, `BY_KEY` or `OF_SOME`.

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

    def misfit(self, n: int) -> str | None:
        """Return the name of a field that has not one entry for each of n rows; None if all have.

        Examples
        --------
        >>> from dataclasses import dataclass
        >>> import numpy as np
        >>> from pertinent.geometry.arrays import FloatArray, Rows
        >>> @dataclass
        ... class Pair(Rows):
        ...     low: FloatArray
        ...     high: FloatArray
        >>> Pair(np.zeros(2), np.ones(1)).misfit(2)
        'high'
        """
        for name, how in _plan(type(self)):
            value = getattr(self, name)
            if how == _ALONG and isinstance(value, np.ndarray | tuple) and len(value) != n:
                return name
            if how == _EACH and any(len(each) != n for each in value):
                return name
        return None

    def take(self, rows: RowIndex) -> Self:
        """Return the batch of some rows, in the order given; rows may repeat."""
        values = self.__dict__
        part = object.__new__(type(self))
        part.__dict__.update({n: _some(values[n], rows, how) for n, how in _plan(type(self))})
        return part

    def put(self, rows: IntArray, part: Self) -> None:
        """Overwrite some rows, in place."""
        values, theirs, n = self.__dict__, part.__dict__, len(self)
        for name, how in _plan(type(self)):
            values[name] = _overwritten(values[name], rows, theirs[name], how, n)

    def overwritten(self, rows: IntArray, part: Self) -> Self:
        """Return the batch with some rows overwritten; this one stays as it is."""
        whole: Self = _copied(self)
        whole.put(rows, part)
        return whole

    def about_some(self) -> list[Any]:
        """Return the parts that are each about some of the rows: see `OF_SOME`."""
        values = self.__dict__
        return [part for name in _names_of_some(type(self)) for part in values[name]]

    def room(self, n: int) -> Self:
        """Return a batch of n rows like these, to be written by `fill` and then `close`."""
        whole = object.__new__(type(self))
        for name, how in _plan(type(self)):
            whole.__dict__[name] = _room(getattr(self, name), n, how)
        return whole

    def fill(self, start: int, part: Self) -> None:
        """Write the rows of a batch from ``start`` on."""
        rows = np.arange(start, start + len(part))
        for name, how in _plan(type(self)):
            _write(getattr(self, name), rows, getattr(part, name), how)

    def close(self) -> Self:
        """Return the batch, all of whose rows are written."""
        for name, value in self.__dict__.items():
            self.__dict__[name] = tuple(value) if isinstance(value, list) else value
        return self

    def joins(self) -> Hashable | None:
        """Return what batches have in common that `stack` can join: None if it can join none.

        These are the kind, the shapes of the rows, and the very values that all rows share.

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
        >>> both.joins() == both.take(np.array([1])).joins()
        True
        >>> both.joins() == Distances(both.values, both.weights.copy()).joins()
        False
        """
        own: list[Any] = [type(self)]
        for name, how in _plan(type(self)):
            value = getattr(self, name)
            if how == _SHARED:
                own.append(id(value))
            elif how == _ALONG and isinstance(value, np.ndarray):
                own.append((value.shape[1:], value.dtype.str))
            else:
                return None
        return tuple(own)

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


def _names_of_some(cls: type) -> tuple[str, ...]:
    """Return the names of the fields that are `OF_SOME`."""
    known = _OF_SOME.get(cls)
    if known is None:
        known = _OF_SOME[cls] = tuple(name for name, how in _plan(cls) if how == _SOME)
    return known


def _some(value: Any, rows: RowIndex, how: str) -> Any:
    if how == _ALONG:
        if isinstance(value, np.ndarray):
            return rows_of(value, rows)
        if isinstance(value, tuple):
            return tuple([value[i] for i in _places(rows)])
        return value.take(rows) if hasattr(value, "take") else value
    if how == _EACH:
        return tuple([rows_of(array, rows) for array in value])
    if how == _KEYS:
        if not value:
            return {}
        return {new: value[i] for new, i in enumerate(_places(rows)) if i in value}
    if how == _SOME:
        return tuple([part.expand(rows) for part in value])
    return value


def _places(rows: RowIndex) -> list[int]:
    where: list[int] = (np.flatnonzero(rows) if rows.dtype == bool else rows).tolist()
    return where


def _copied(value: Any) -> Any:
    """Return a field whose arrays can be overwritten in place."""
    if isinstance(value, Rows):
        whole = object.__new__(type(value))
        whole.__dict__.update({name: _copied(inner) for name, inner in value.__dict__.items()})
        return whole
    if isinstance(value, tuple):
        return tuple([_copied(item) if isinstance(item, np.ndarray) else item for item in value])
    return value.copy() if isinstance(value, np.ndarray | dict) else value


def _overwritten(whole: Any, rows: IntArray, part: Any, how: str, n: int) -> Any:
    """Return a field with some of n rows overwritten; arrays and dicts are changed in place."""
    if how == _EACH:
        for mine, theirs in zip(whole, part, strict=True):
            mine[rows] = theirs
    elif how == _KEYS:
        for row in set(whole).intersection(rows.tolist()) if whole else ():
            del whole[row]
        whole.update({int(rows[i]): value for i, value in part.items()})
    elif how == _SOME:
        left = np.ones(n, dtype=bool)
        left[rows] = False
        kept = np.flatnonzero(left)
        return (*(own.among(kept, n) for own in whole), *_moved(part, rows))
    elif how == _ALONG and isinstance(whole, np.ndarray):
        whole[rows] = part
    elif how == _ALONG and isinstance(whole, Rows):
        whole.put(rows, part)
    elif how == _ALONG and isinstance(whole, tuple):
        new = dict(zip(rows.tolist(), part, strict=True))
        return tuple([new.get(i, old) for i, old in enumerate(whole)])
    return whole


def _moved(parts: Sequence[Any], rows: IntArray) -> list[Any]:
    """Return parts of a batch whose rows are those of a larger one."""
    return [replace(part, rows=rows[part.rows]) for part in parts]


def _room(value: Any, n: int, how: str) -> Any:
    """Return what the field of n rows is written into."""
    if how == _ALONG and isinstance(value, np.ndarray):
        return np.empty((n, *value.shape[1:]), dtype=value.dtype)
    if how == _ALONG and isinstance(value, tuple):
        return [()] * n
    return {} if how == _KEYS else [] if how == _SOME else value


def _write(whole: Any, rows: IntArray, part: Any, how: str) -> None:
    if how == _ALONG and isinstance(whole, np.ndarray | list):
        whole[slice(rows[0], rows[-1] + 1) if len(rows) else slice(0)] = part
    elif how == _KEYS:
        whole.update({int(rows[i]): value for i, value in part.items()})
    elif how == _SOME:
        whole += _moved(part, rows)


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
