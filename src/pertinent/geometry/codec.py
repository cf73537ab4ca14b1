"""Arrays and dataclasses of numbers as plain values and back, to the last bit.

`record_as` gives a kind of dataclass its name in files; nothing else is needed, and nothing but
the kinds named so is ever built from a file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pertinent.exceptions import InputError, one_line

#: The most that one text of JSON may hold: characters, commas, lists and mappings.
MOST_CHARACTERS, MOST_COMMAS, MOST_BRACKETS = 100_000_000, 3_000_000, 1_000_000
#: The most that one document may hold: lists, mappings and texts; levels of them; numbers in
#: arrays; characters in one text.
MOST_PARTS, MOST_LEVELS, MOST_NUMBERS, MOST_LETTERS = 100_000, 100, 20_000_000, 100_000


@dataclass(frozen=True)
class _Kind:
    """A kind of dataclass that is stored: its name, and fields that files of before have."""

    name: str
    cls: type
    retired: tuple[str, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(f.name for f in fields(self.cls))


_BY_NAME: dict[str, _Kind] = {}
_BY_CLASS: dict[type, _Kind] = {}
_SCALARS = {"f": "float", "i": "int", "u": "int", "b": "bool"}
_DTYPES: dict[str, Any] = {"float": np.float64, "int": np.int64, "bool": np.bool_}
_UNBOUNDED = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}

C = TypeVar("C", bound=type)


def record_as(name: str, retired: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Return a decorator that lets a dataclass of plain values be stored under a name.

    A dataclass may have a method ``compact``, which returns what is stored in its place, and a
    method ``require_sound``, which refuses what was read if it cannot be. Files of before may
    have ``retired`` fields: they are not read.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from pertinent.geometry.codec import decode, encode, record_as
    >>> @record_as("example-interval")
    ... @dataclass(frozen=True)
    ... class Interval:
    ...     low: float
    ...     high: float
    >>> encode(Interval(0.0, 2.0))
    {'type': 'example-interval', 'low': 0.0, 'high': 2.0}
    >>> decode(encode(Interval(0.0, 2.0)))
    Interval(low=0.0, high=2.0)
    """

    def add(cls: C) -> C:
        _BY_NAME[name] = _BY_CLASS[cls] = _Kind(name, cls, retired)
        return cls

    return add


#: What may be larger than any number: an exponent of three digits, or a hundred digits.
_LARGE = re.compile(r"[eE]\+?0*[1-9]\d\d|\d{100}")


def read_json(text: str | bytes) -> Any:
    """Return what a text of JSON holds, if it is no larger than an explanation can be.

    Counting commas and brackets bounds the memory before anything is read: a text of ``[],[],...``
    takes 25 times its own size.
    """
    try:
        said = text.decode("utf-8") if isinstance(text, bytes) else text
        _require_short(said)
        as_float = _finite if _LARGE.search(said) else float
        return json.loads(said, parse_constant=_refuse_constant, parse_float=as_float)
    except RecursionError as error:
        raise InputError("This JSON is nested too deeply.") from error
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"Expected an explanation as JSON: {one_line(error)}.") from error


def _require_short(said: str) -> None:
    for count, most, of in (
        (len(said), MOST_CHARACTERS, "characters"),
        (said.count(","), MOST_COMMAS, "commas"),
        (said.count("[") + said.count("{"), MOST_BRACKETS, "brackets"),
    ):
        if count > most:
            raise InputError(f"This JSON has {count:,} {of}; at most {most:,} are read.")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _finite(said: str) -> float:
    number = float(said)
    if not math.isfinite(number):  # `json` reads 1e400 as infinity, which it does not write
        raise ValueError(f"{said[:20]} is larger than any number")
    return number


def require_modest(record: Any) -> None:
    """Refuse plain values that are too many, nested too deeply, or claim arrays that are too large.

    Nothing is built before. A sparse array claims a shape, and proofs a number of rows (``n``): all
    of them together may claim `MOST_NUMBERS`.
    """
    waiting, parts, numbers = [(record, 1)], 0, 0
    while waiting:
        part, level = waiting.pop()
        parts += 1
        longest = 0
        for item in part.values() if isinstance(part, dict) else part:
            kind = type(item)
            if kind is str:
                parts += 1
                longest = max(longest, len(item))
            elif kind is dict or kind is list or kind is tuple:
                waiting.append((item, level + 1))
        if isinstance(part, dict) and ("n" in part or "shape" in part):
            claims = [part.get("n"), _claimed(part.get("shape"))]
            numbers += sum(abs(claim) for claim in claims if isinstance(claim, int))
        within = parts <= MOST_PARTS and level <= MOST_LEVELS and numbers <= MOST_NUMBERS
        if not within or longest > MOST_LETTERS:
            raise InputError(
                f"This is larger than any explanation: at most {MOST_PARTS:,} lists, mappings and "
                f"texts on {MOST_LEVELS} levels, texts of {MOST_LETTERS:,} characters, and arrays "
                f"of {MOST_NUMBERS:,} numbers are read."
            )


def _claimed(shape: Any) -> int:
    """Return how many numbers a shape claims; a part of 0 still leaves the others to be claimed."""
    whole = isinstance(shape, list) and all(isinstance(n, int) for n in shape)
    return math.prod(max(abs(n), 1) for n in shape) if whole else 0


@dataclass(frozen=True, eq=False)
class Unknown:
    """A stored value of a kind that is not known here."""

    kind: str


def encode(value: Any) -> Any:
    """Return plain values that `decode` turns back into the same, to the last bit."""
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return {"type": "float", "value": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Unknown):
        return {"type": value.kind}
    if is_dataclass(value):
        return _encode_dataclass(value)
    if isinstance(value, Mapping):
        pairs = [[encode(k), encode(v)] for k, v in value.items()]
        return {"type": "mapping", "pairs": pairs}
    if isinstance(value, Sequence):
        return [encode(item) for item in value]
    return {"type": f"{type(value).__module__}.{type(value).__qualname__}"}


def decode(record: Any, unknown: Callable[[str], Any] = Unknown) -> Any:
    """Return what `encode` was given; lists come back as tuples.

    A type that is not known comes back as ``unknown`` makes it; anything malformed is refused.
    """
    if isinstance(record, list):
        return tuple(decode(item, unknown) for item in record)
    if not isinstance(record, dict):
        return record
    kind = record.get("type")
    if kind == "array":
        return _decode_array(record)
    if kind == "float" and record.get("value") in _UNBOUNDED:
        return _UNBOUNDED[record["value"]]
    if kind == "mapping" and isinstance(record.get("pairs"), list):
        return {decode(key): decode(value, unknown) for key, value in record["pairs"]}
    if not isinstance(kind, str):
        raise InputError(f"A stored value lacks its type: {str(record)[:80]}.")
    known = _BY_NAME.get(kind)
    return unknown(kind) if known is None else _decode_dataclass(known, record, unknown)


def nested(value: Any) -> Iterator[Any]:
    """Yield the dataclasses of a decoded value, in whatever they are wrapped, and those inside.

    A file may have a mapping, or an array of objects, where code reads one item after the other.
    """
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, np.ndarray):
            left += one.ravel().tolist() if one.dtype == object else []
        elif isinstance(one, tuple | list):
            left += one
        elif isinstance(one, Mapping):
            left += [*one, *one.values()]
        elif is_dataclass(one):
            yield one
            left += [getattr(one, f.name) for f in fields(one)]


def unknown_kinds(value: Any) -> set[str]:
    """Return the kinds in a decoded value that are not known here."""
    return {one.kind for one in nested(value) if isinstance(one, Unknown)}


#: Stands between where a value is and its kind, which is not known.
KIND = " of the kind "
#: The parts of records that are no dataclasses.
_PARTS = {
    "array": {"of", "shape", "at", "values"},
    "float": {"value"},
    "mapping": {"pairs"},
}


def strange_parts(record: Any, path: str = "") -> Iterator[str]:
    """Yield where a stored value has parts, or is of a kind, that are not known here.

    Examples
    --------
    >>> from pertinent.geometry.codec import strange_parts
    >>> list(strange_parts({"type": "mapping", "pairs": [], "order": "first"}, "bounds"))
    ['bounds.order']
    >>> list(strange_parts([{"type": "a later one"}], "rules"))
    ["rules of the kind 'a later one'"]
    """
    if isinstance(record, list):
        for item in record:
            yield from strange_parts(item, path)
        return
    if not isinstance(record, dict):
        return
    names = set(record)
    if "type" in record:
        kind = record["type"]
        if not isinstance(kind, str):
            return  # malformed: `decode` refuses it
        known = _BY_NAME.get(kind)
        if known is not None:
            names = {*known.names, *known.retired}
        elif kind in _PARTS:
            names = _PARTS[kind]
        elif "." in kind:
            return  # something of Python that no file can hold: not of a later version
        else:
            yield f"{path}{KIND}{kind!r}"
            return
    for key, value in record.items():
        if key in names:
            yield from strange_parts(value, f"{path}.{key}" if "type" not in record else path)
        elif key != "type":
            yield f"{path}.{key}"


def _encode_dataclass(value: Any) -> dict[str, Any]:
    kind = _BY_CLASS.get(type(value))
    if kind is None:
        return {"type": f"{type(value).__module__}.{type(value).__qualname__}"}
    if hasattr(value, "compact"):
        value = value.compact()
    return {"type": kind.name} | {f.name: encode(getattr(value, f.name)) for f in fields(value)}


def _decode_dataclass(kind: _Kind, record: dict[str, Any], unknown: Callable[[str], Any]) -> Any:
    skipped = {"type", *kind.retired}
    given = {key: decode(value, unknown) for key, value in record.items() if key not in skipped}
    if not given.keys() <= kind.names:
        raise InputError(f"A stored {kind.name!r} has unknown parts {given.keys() - kind.names}.")
    try:
        made = kind.cls(**given)
    except TypeError as error:
        raise InputError(f"A stored {kind.name!r} is incomplete: {error}.") from error
    if hasattr(made, "require_sound"):
        made.require_sound()
    return made


def _encode_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype.kind == "U" or array.dtype == object:
        return {"type": "array", "of": "object", "shape": list(array.shape),
                "values": [encode(item) for item in array.ravel().tolist()]}  # fmt: skip
    flat = array.ravel()
    out: dict[str, Any] = {
        "type": "array", "of": _SCALARS[array.dtype.kind], "shape": list(array.shape),
    }  # fmt: skip
    at = np.flatnonzero(flat)
    if len(flat) > 8 and 2 * len(at) < len(flat):
        out["at"], flat = at.tolist(), flat[at]
    values = flat.tolist()
    if flat.dtype.kind == "f":  # JSON has no word for what is not finite
        for place in np.flatnonzero(~np.isfinite(flat)).tolist():
            values[place] = str(values[place])
    out["values"] = values
    return out


def _decode_array(record: dict[str, Any]) -> Any:
    shape, values, of = record.get("shape"), record.get("values"), record.get("of")
    if not (
        isinstance(shape, list)
        and all(isinstance(n, int) and n >= 0 for n in shape)
        and isinstance(values, list)
        and of in (*_DTYPES, "object")
        and _claimed(shape) <= MOST_NUMBERS
    ):
        raise InputError(f"A stored array is malformed: {str(record)[:80]}.")
    size = math.prod(shape)
    at = record.get("at", range(size))
    told = at if "at" in record else ()
    if len(at) != len(values) or not all(isinstance(i, int) and 0 <= i < size for i in told):
        raise InputError("A stored array has values at places that it does not have.")
    flat = np.full(size, None) if of == "object" else np.zeros(size, dtype=_DTYPES[of])
    for i, item in zip(at, values, strict=True):
        flat[i] = decode(item) if of == "object" else _number(item)
    return flat.reshape(shape)


def _number(item: Any) -> Any:
    if isinstance(item, str):
        if item not in _UNBOUNDED:
            raise InputError(f"A stored array holds {item!r} where a number is expected.")
        return _UNBOUNDED[item]
    if not isinstance(item, bool | int | float):
        raise InputError("A stored array holds something else than numbers.")
    return item
