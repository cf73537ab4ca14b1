"""CatBoost's own form (cbm), a FlatBuffer, read with every place checked, in the form of its JSON.

After 8 bytes (mark and length) a table holds offsets of its fields, places count from where they
stand (https://flatbuffers.dev/internals). The fields of CatBoost's tables are listed below, by
their numbers in its schema; what is not listed no prediction of sums of trees of numbers depends
on, or is refused.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from pertinent.geometry.arrays import IntArray
from pertinent.models.trees.files.checked import MOST_BYTES, require, wholes

#: Fields of the tables of a model, of its trees and of a feature of numbers.
_FORMAT, _TREES, _INFO, _PARTS = 0, 1, 2, 3
(_OUTPUTS, _SPLITS, _SIZES, _STARTS, _CATEGORIES, _FLOATS, _ONE_HOT, _CTRS, _LEAVES, _WEIGHTS,
 _STEPS, _LEAF_OF, _TEXTS, _ESTIMATED, _SCALE, _BIAS, _BIASES) = range(17)  # fmt: skip
_HAS_NANS, _INDEX, _FLAT_INDEX, _BORDERS, _NAME, _MISSING = range(6)
_OTHERS = {
    _CATEGORIES: "categorical_features", _ONE_HOT: "one_hot_features", _CTRS: "ctrs",
    _TEXTS: "text_features", _ESTIMATED: "estimated_features",
}  # fmt: skip
_TREATMENTS = ("AsIs", "AsFalse", "AsTrue")
#: Levels of a tree whose nodes each have a split of their own.
MOST_DEPTH = 64


def read(data: bytes) -> dict[str, Any]:
    """Return what a file of CatBoost holds, in the form of its JSON."""
    require(len(data) <= MOST_BYTES, "it is larger than any model that is read")
    (size,) = struct.unpack_from("<I", data, 4)
    core = _Buffer(data[8 : 8 + size])
    require(len(core.data) == size, "it ends too early")
    model = core.root()
    require(model.text(_FORMAT) == "FlabuffersModel_v1", "the version of its form")
    trees = model.table(_TREES)
    others = {name: [None] for field, name in _OTHERS.items() if trees.tables(field)}
    features = [_feature(table) for table in trees.tables(_FLOATS)]
    bias = trees.numbers(_BIASES, "<f8").tolist()
    outputs = trees.number(_OUTPUTS, "<i", 0)
    return {
        "features_info": {**others, "float_features": features},
        "model_info": _info(model),
        "scale_and_bias": [
            trees.number(_SCALE, "<d", 1.0),
            bias or [trees.number(_BIAS, "<d", 0.0)] * max(1, min(outputs, len(data))),
        ],
        **_trees(trees, outputs),
    }


def _info(model: _Table) -> dict[str, Any]:
    """Return what is said of a model; values under some names are JSON themselves."""
    pairs = {table.text(0): table.text(1) for table in model.tables(_INFO)}
    return {
        name: json.loads(value) if name.endswith("params") and value else value
        for name, value in pairs.items()
    }


def _feature(table: _Table) -> dict[str, Any]:
    treatment = table.number(_MISSING, "<b", 0)
    require(0 <= treatment < len(_TREATMENTS), "how a missing value is treated")
    return {
        "borders": table.numbers(_BORDERS, "<f4").tolist(),
        "feature_id": table.text(_NAME),
        "feature_index": table.number(_INDEX, "<i", -1),
        "flat_feature_index": table.number(_FLAT_INDEX, "<i", -1),
        "has_nans": bool(table.number(_HAS_NANS, "<b", 0)),
        "nan_value_treatment": _TREATMENTS[treatment],
    }


def _trees(trees: _Table, outputs: int) -> dict[str, Any]:
    splits = trees.numbers(_SPLITS, "<i4").astype(np.int64)
    steps = trees.numbers(_STEPS, "<u2").astype(np.int64).reshape(-1, 2)
    sizes, values = trees.numbers(_SIZES, "<i4"), trees.numbers(_LEAVES, "<f8")
    sizes = wholes(sizes, len(sizes), 0, len(splits), "the sizes of its trees")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    require(starts[-1] == len(splits), "the sizes of its trees")
    require(1 <= outputs <= max(len(values), 1), "its number of classes")
    if len(steps):
        leaf_of = trees.numbers(_LEAF_OF, "<u4").astype(np.int64)
        require(len(steps) == len(splits) == len(leaf_of), "its nodes")
        nodes = _Nodes(splits, steps, leaf_of, values, outputs)
        return {"trees": [nodes.tree(int(start)) for start in starts[:-1]]}
    require(sizes <= MOST_DEPTH, "the sizes of its trees")
    ends = np.cumsum([0, *(outputs << int(size) for size in sizes)])
    require(ends[-1] == len(values), "the number of its leaves")
    return {
        "oblivious_trees": [
            {
                "leaf_values": values[ends[k] : ends[k + 1]].tolist(),
                "splits": [{"split_index": int(s)} for s in splits[starts[k] : starts[k + 1]]],
            }
            for k in range(len(sizes))
        ]
    }


class _Nodes:
    """The nodes of trees whose nodes each have a split of their own.

    A node says how far behind it the two nodes below stand; 0: that side is a leaf, the node's own.
    """

    def __init__(
        self, splits: IntArray, steps: IntArray, leaf_of: IntArray, values: Any, outputs: int
    ) -> None:
        self.splits, self.steps, self.leaf_of = splits, steps, leaf_of
        self.values, self.outputs = values, outputs
        self.met = 0

    def tree(self, node: int, level: int = 0) -> dict[str, Any]:
        """Return a tree as JSON has it."""
        self.met += 1
        require(self.met <= len(self.steps), "a node below two others")
        require(level <= MOST_DEPTH and node < len(self.steps), "a node below that is none")
        left, right = self.steps[node].tolist()
        if not left and not right:
            return self._leaf(node)
        return {
            "left": self.tree(node + left, level + 1) if left else self._leaf(node),
            "right": self.tree(node + right, level + 1) if right else self._leaf(node),
            "split": {"split_index": int(self.splits[node])},
        }

    def _leaf(self, node: int) -> dict[str, Any]:
        first = int(self.leaf_of[node])
        require(first + self.outputs <= len(self.values), "a leaf that is none")
        value = self.values[first : first + self.outputs].tolist()
        return {"value": value if self.outputs > 1 else value[0]}


class _Buffer:
    """Bytes in which tables, lists and texts stand."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def root(self) -> _Table:
        """Return the table that the others hang from."""
        return _Table(self, self.follow(0))

    def number(self, place: int, form: str) -> Any:
        """Return a number at a place within the bytes."""
        require(0 <= place <= len(self.data) - struct.calcsize(form), "a place outside of it")
        return struct.unpack_from(form, self.data, place)[0]

    def follow(self, place: int) -> int:
        """Return the place that an offset leads to."""
        return place + int(self.number(place, "<I"))

    def vector(self, place: int, size: int) -> tuple[int, int]:
        """Return where a list with elements of a size begins, and how many it has."""
        count = int(self.number(place, "<I"))
        require(count * size <= len(self.data) - place - 4, "a list longer than the file")
        return place + 4, count


class _Table:
    """A table, whose fields are found by their numbers."""

    def __init__(self, buffer: _Buffer, place: int) -> None:
        self.buffer, self.place = buffer, place
        self.fields = place - int(buffer.number(place, "<i"))
        self.size = int(buffer.number(self.fields, "<H"))

    def _field(self, field: int) -> int | None:
        """Return where a field stands; None: it is left out."""
        entry = 4 + 2 * field
        offset = int(self.buffer.number(self.fields + entry, "<H")) if entry < self.size else 0
        return self.place + offset if offset else None

    def number(self, field: int, form: str, default: float) -> Any:
        """Return a number, or what is meant where it is left out."""
        place = self._field(field)
        return default if place is None else self.buffer.number(place, form)

    def numbers(self, field: int, dtype: str) -> Any:
        """Return a list of numbers; of pairs one after the other."""
        place = self._field(field)
        if place is None:
            return np.zeros(0, dtype)
        size = np.dtype(dtype).itemsize * (2 if dtype == "<u2" else 1)
        start, count = self.buffer.vector(self.buffer.follow(place), size)
        return np.frombuffer(self.buffer.data[start : start + count * size], dtype)

    def text(self, field: int) -> str:
        """Return a text."""
        place = self._field(field)
        if place is None:
            return ""
        start, count = self.buffer.vector(self.buffer.follow(place), 1)
        return self.buffer.data[start : start + count].decode("utf-8")

    def table(self, field: int) -> _Table:
        """Return a table that the file must have."""
        place = self._field(field)
        require(place is not None, "a part that is missing")
        return _Table(self.buffer, self.buffer.follow(place or 0))

    def tables(self, field: int) -> list[_Table]:
        """Return a list of tables."""
        place = self._field(field)
        if place is None:
            return []
        start, count = self.buffer.vector(self.buffer.follow(place), 4)
        return [_Table(self.buffer, self.buffer.follow(start + 4 * k)) for k in range(count)]
