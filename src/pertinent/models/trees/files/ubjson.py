"""UBJSON as XGBoost writes it: https://ubjson.org, numbers big-endian.

Arrays of numbers name one type and a count, and are read at once; the count may not exceed what is
left of the file. So what comes out is no larger than a fixed multiple of the file.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from pertinent.models.trees.files.checked import MOST_BYTES, require

#: The types of numbers, and of arrays of them.
_NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_WHOLE = "iUIlL"
_VALUES = {"T": True, "F": False, "Z": None}
#: The most levels, and the most values that stand by themselves.
MOST_LEVELS, MOST_VALUES = 50, 10_000_000


def read(data: bytes) -> Any:
    r"""Return what the bytes hold.

    Examples
    --------
    >>> from pertinent.models.trees.files.ubjson import read
    >>> read(b"{i\x01a[$U#i\x03\x01\x02\x03i\x01bSi\x02hi}")
    {'a': array([1, 2, 3], dtype=uint8), 'b': 'hi'}
    """
    require(len(data) <= MOST_BYTES, "it is larger than any model that is read")
    reader = _Reader(data)
    value = reader.value(reader.mark(), 0)
    require(reader.at == len(data), "there is more after its end")
    return value


class _Reader:
    """Bytes, and how far they have been read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.values = data, 0, 0

    def take(self, count: int) -> bytes:
        """Return the next bytes, if there are so many."""
        require(0 <= count <= len(self.data) - self.at, "it ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def mark(self) -> str:
        """Return the next mark; N means nothing."""
        while (found := self.take(1)) == b"N":
            pass
        return found.decode("latin-1")

    def value(self, mark: str, level: int) -> Any:
        """Return the value after its mark."""
        self.values += 1
        require(level <= MOST_LEVELS and self.values <= MOST_VALUES, "it holds too many parts")
        if mark in _NUMBERS:
            return np.frombuffer(self.take(int(_NUMBERS[mark][-1])), _NUMBERS[mark])[0].item()
        if mark == "S":
            return self.text()
        if mark == "{":
            return self._mapping(level)
        if mark == "[":
            return self._list(level)
        require(mark in _VALUES, f"the mark {mark!r}")
        return _VALUES[mark]

    def count(self) -> int:
        """Return a whole number, which says how much follows."""
        mark = self.mark()
        require(mark in _WHOLE, "a length that is no number")
        return int(self.value(mark, 0))

    def text(self) -> str:
        """Return a text after its length."""
        return self.take(self.count()).decode("utf-8")

    def _mapping(self, level: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while self.data[self.at : self.at + 1] != b"}":
            name = self.text()
            out[name] = self.value(self.mark(), level + 1)
        self.at += 1
        return out

    def _list(self, level: int) -> Any:
        ahead = self.data[self.at : self.at + 1]
        if ahead == b"$":
            _, mark, hash_ = struct.unpack("3c", self.take(3))
            kind = _NUMBERS.get(mark.decode("latin-1"))
            require(kind is not None and hash_ == b"#", "an array of an unknown type")
            dtype = np.dtype(str(kind))
            raw = self.take(self.count() * dtype.itemsize)
            return np.frombuffer(raw, dtype).astype(dtype.newbyteorder("="))
        out = []
        if ahead == b"#":
            self.take(1)
            return [self.value(self.mark(), level + 1) for _ in range(self.count())]
        while (mark := self.mark()) != "]":
            out.append(self.value(mark, level + 1))
        return out
