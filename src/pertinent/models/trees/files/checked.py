"""What is asked of the parts of a model file before a library may see them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.models.sound import MOST_FEATURES, require

__all__ = ["MOST_FEATURES", "require"]

#: Most bytes of a file, commas and brackets of JSON, and levels of anything.
MOST_BYTES, MOST_COMMAS, MOST_BRACKETS, MOST_LEVELS = 500_000_000, 20_000_000, 3_000_000, 1_000
#: Most classes, and most numbers in a table of nodes by columns, or by outputs.
MOST_CLASSES, MOST_CELLS = 10_000, 200_000_000
#: A number as the libraries write it.
NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?", re.ASCII)


class Digits(float):
    """A number, and the very digits of the file: a library may round them in a way of its own."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Digits:
        """Return the number of a text."""
        number = super().__new__(cls, text)
        number.text = text
        return number


def read_json(data: bytes) -> Any:
    """Return what a text of JSON holds, floats as `Digits`, if it holds no more than it may.

    Examples
    --------
    >>> from pertinent.models.trees.files.checked import read_json
    >>> read_json(b'{"half": 5e-1}')["half"].text
    '5e-1'
    """
    for found, most in (
        (len(data), MOST_BYTES),
        (data.count(b","), MOST_COMMAS),
        (data.count(b"[") + data.count(b"{"), MOST_BRACKETS),
    ):
        require(found <= most, "it is larger than any model that is read as JSON")
    document = json.loads(data.decode("utf-8"), parse_float=Digits)
    require(isinstance(document, dict), "it is JSON, and holds no model")
    return document


def written(value: Any) -> str:
    """Return plain lists and mappings as JSON, with `Digits` as they were.

    Examples
    --------
    >>> from pertinent.models.trees.files.checked import Digits, written
    >>> written({"leaf_values": [Digits("1e-1"), 0.5, True]})
    '{"leaf_values":[1e-1,0.5,true]}'
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return value.text if isinstance(value, Digits) else json.dumps(value)


def whole(value: Any, low: int, high: int, what: str) -> int:
    """Return a whole number, given as one or as digits, between two ends that both count."""
    require(re.fullmatch(r"-?[0-9]{1,18}", str(value)), what)
    require(low <= int(value) <= high, what)
    return int(value)


def wholes(values: Any, count: int, low: int, high: int, what: str) -> IntArray:
    """Return so many whole numbers (truth values count) between two ends that both count."""
    out = np.asarray(values) if len(values) else np.zeros(0, dtype=np.int64)
    require(out.shape == (count,) and out.dtype.kind in "biu", what)
    require((out >= low) & (out <= high), what)
    return out.astype(np.int64)


def numbers(values: Any, count: int, what: str) -> FloatArray:
    """Return so many finite numbers."""
    out = np.asarray(values) if len(values) else np.zeros(0)
    require(out.shape == (count,) and out.dtype.kind in "iuf", what)
    require(np.isfinite(out), what)
    return out.astype(float)


def number_text(text: Any, what: str) -> str:
    """Return the text of a finite number."""
    require(isinstance(text, str) and NUMBER.fullmatch(text), what)
    require(np.isfinite(float(text)), what)
    return str(text)


def names_of(found: Any, count: int, default: str) -> list[str] | None:
    """Return the names of columns; None where there are none, or those a library makes up."""
    if not any(found) or list(found) == [f"{default}{j}" for j in range(count)]:
        return None
    right = len(found) == count and all(isinstance(name, str) for name in found)
    require(right and len(set(found)) == count, "the names of its columns")
    return list(found)


def from_the_root(left: IntArray, right: IntArray) -> IntArray:
    """Return the nodes of a tree, level by level from node 0 on, if it is one.

    Parameters
    ----------
    left, right : ndarray of int, shape (n_nodes,)
        The nodes below, within range; both -1 at a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models.trees.files.checked import from_the_root
    >>> from_the_root(np.array([2, -1, -1, 1]), np.array([3, -1, -1, 1]))
    Traceback (most recent call last):
    ...
    pertinent.models.sound.UnsafeModelError: The model file is damaged: a node below two others.
    """
    require((left < 0) == (right < 0), "a node with one node below it")
    met, levels, front = np.zeros(len(left), dtype=np.int64), list[IntArray](), np.zeros(1, int)
    while len(front):
        require(len(levels) < MOST_LEVELS, f"a tree of more than {MOST_LEVELS:,} levels")
        np.add.at(met, front, 1)
        require(met[front] == 1, "a node below two others")
        levels.append(front)
        inner = front[left[front] >= 0]
        front = np.stack([left[inner], right[inner]], axis=1).ravel()
    return np.concatenate(levels)


def require_modest(nodes: int, dim: int, outputs: int) -> None:
    """Refuse trees whose leaves, as products of intervals, would not fit into memory."""
    require(nodes * max(dim, outputs) <= MOST_CELLS, "more leaves and columns than are read")
