"""A table of up to a million rows: filtered, sorted, a page at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, Foreign, IntArray
from pertinent.server.solving.refusal import Refusal
from pertinent.server.table.columns import Kept, columns_of
from pertinent.server.table.scores import Scores
from pertinent.tables.words import label_text, plain

#: What filters and orders call the row's number, its predicted class and its probability.
ID, CLASS, SCORE = "@id", "@class", "@score"
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
OPS = ("eq", "ne", *_COMPARE, "missing", "present")
_FILTER = re.compile(rf"(?P<name>[^:]*):(?P<op>{'|'.join(OPS)})(?::(?P<value>.*))?", re.DOTALL)
#: Groups of a column, and parts that numbers are divided into.
MOST_GROUPS, PARTS = 12, 4


@dataclass(frozen=True)
class Filter:
    """One condition on rows: a feature or ``@class``, ``@score``, ``@id``; an operation; a value.

    Examples
    --------
    >>> from pertinent.server.table.rows import Filter
    >>> Filter.read("income:ge:100")
    Filter(name='income', op='ge', value='100')
    """

    name: str
    op: str
    value: str = ""

    @classmethod
    def read(cls, text: str, where: str = "filter") -> Filter:
        """Return a filter from ``name:op:value``, the name percent-encoded."""
        found = _FILTER.fullmatch(text)
        if found is None:
            raise Refusal(
                f"Expected a filter name:operation:value with one of {', '.join(OPS)}; the name "
                "percent-encoded.", where,
            )  # fmt: skip
        return cls(unquote(found["name"]), found["op"], found["value"] or "")

    def __str__(self) -> str:
        return f"{quote(self.name, safe='@ ')}:{self.op}" + (f":{self.value}" if self.value else "")


class Rows:
    """The served rows with what the model predicts of them.

    Parameters
    ----------
    model : fitted classifier
    data : DataFrame or array, optional
    names : sequence of str
        The features, in the model's order.
    classes : list
    """

    def __init__(self, model: Foreign, data: Any, names: Sequence[str], classes: list[Any]) -> None:
        self.classes, self.names = classes, tuple(names)
        self.columns = {} if data is None else columns_of(data, names)
        self.scores = Scores(model, data, classes)
        self.count = 0 if data is None else len(data)

    def __len__(self) -> int:
        return self.count

    def row(self, place: int) -> dict[str, Any]:
        """Return one row: its values by name, predicted class and probability."""
        label, score = int(self.scores.label[place]), float(self.scores.score[place])
        return {
            "id": int(place),
            "values": {name: self.columns[name][place] for name in self.names},
            "predicted": None if label < 0 else self.classes[label],
            "probability": None if math.isnan(score) else score,
        }

    def values(self, places: Sequence[int], where: str = "ids") -> list[dict[str, Any]]:
        """Return the values of some rows by name."""
        for i, place in enumerate(places):
            if not 0 <= place < len(self):
                raise Refusal(
                    f"There is no row {place}: the table has {len(self):,} rows.", f"{where}[{i}]"
                )
        return [{name: self.columns[name][place] for name in self.names} for place in places]

    def matching(self, filters: Sequence[Filter]) -> BoolArray | None:
        """Return which rows match all filters; None for all of them."""
        found: BoolArray | None = None
        for i, one in enumerate(filters):
            own = self._mask(one, f"filter[{i}]")
            found = own if found is None else found & own
        return found

    def page(
        self, filters: Sequence[Filter], sort: str, descending: bool, offset: int, limit: int
    ) -> tuple[int, IntArray]:
        """Return how many rows match, and the places of one page of them in order."""
        mask = self.matching(filters)
        places = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
        if sort == ID:
            chosen = places[::-1] if descending else places
            return len(places), chosen[offset : offset + limit]
        keys = _rising(self._sortable(sort)[places], descending)
        return len(places), places[first_places(keys, offset + limit)[offset:]]

    def at_random(self, filters: Sequence[Filter], seed: int | None = None) -> IntArray:
        """Return the place of one row that matches, or none."""
        mask = self.matching(filters)
        places = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
        return (
            np.random.default_rng(seed).permutation(places)[:1]
            if len(places) < 1000
            else (np.random.default_rng(seed).choice(places, 1))
        )

    def _sortable(self, sort: str) -> NDArray[Any]:
        if sort == CLASS:
            return self.scores.label.copy()
        if sort == SCORE:
            return self.scores.score.copy()
        return self._column(sort, "sort").ranks()

    def _column(self, name: str, where: str) -> Kept:
        if name not in self.columns:
            raise Refusal(f"{name[:60]!r} is not a feature of this model.", where)
        return self.columns[name]

    def _mask(self, one: Filter, where: str) -> BoolArray:
        if one.name == CLASS:
            return self._class_mask(one, where)
        if one.name == SCORE:
            return _numbers(self.scores.score, one, where)
        if one.name == ID:
            return _numbers(np.arange(len(self)), one, where)
        column = self._column(one.name, where)
        if one.op in ("missing", "present"):
            return column.missing if one.op == "missing" else ~column.missing
        if column.levels is None:
            return _numbers(column.values, one, where)
        if one.op not in ("eq", "ne"):
            raise Refusal(
                f"{one.name} holds categories, and {one.op} compares numbers. Use eq or ne.", where
            )
        chosen = [k for k, level in enumerate(column.levels) if _written(level) == one.value]
        found = np.isin(column.values, chosen)
        return ~found & (column.values >= 0) if one.op == "ne" else found

    def _class_mask(self, one: Filter, where: str) -> BoolArray:
        label = self.scores.label
        if one.op in ("missing", "present"):
            return (label < 0) if one.op == "missing" else (label >= 0)
        chosen = [k for k, own in enumerate(self.classes) if one.value in _spelled(own)]
        if not chosen or one.op not in ("eq", "ne"):
            raise Refusal(f"Expected {CLASS}:eq: or {CLASS}:ne: with a class of the model.", where)
        return np.asarray((label == chosen[0]) == (one.op == "eq")) & (label >= 0)

    # -- groups ----------------------------------------------------------------------------

    def groups(self, by: str) -> list[tuple[str, list[str], BoolArray]]:
        """Return the groups of a column, or of the predicted class: words, filters, rows."""
        if by == CLASS:
            filters = [[Filter(CLASS, "eq", _written(label))] for label in self.classes]
            words = [f"predicted {label_text(label)}" for label in self.classes]
        else:
            words, filters = self._parts(by, self._column(by, "by"))
            words, filters = [*words, f"{by} missing"], [*filters, [Filter(by, "missing")]]
        masks = [self.matching(some) for some in filters]
        return [
            (word, [str(one) for one in some], mask)
            for word, some, mask in zip(words, filters, masks, strict=True)
            if mask is not None and mask.any()
        ]

    def _parts(self, by: str, column: Kept) -> tuple[list[str], list[list[Filter]]]:
        known = column.values[~column.missing]
        different = np.unique(known)[: MOST_GROUPS + 1]
        if column.levels is not None or len(different) <= PARTS or known.dtype.kind == "b":
            codes, counts = np.unique(known, return_counts=True)
            chosen = codes[np.argsort(-counts, kind="stable")][:MOST_GROUPS]
            values = [c.item() if column.levels is None else column.levels[c] for c in chosen]
            others = [Filter(by, "ne", _written(value)) for value in values]
            return (
                [f"{by} {plain(value)}" for value in values] + [f"{by} any other"],
                [[Filter(by, "eq", _written(value))] for value in values] + [others],
            )
        cuts = np.unique(np.quantile(known, np.arange(1, PARTS) / PARTS)).tolist()
        words, filters = [], []
        for low, high in zip([None, *cuts], [*cuts, None], strict=True):
            ends = [
                *([] if low is None else [Filter(by, "ge", f"{low:.12g}")]),
                *([] if high is None else [Filter(by, "lt", f"{high:.12g}")]),
            ]
            said = (
                f"below {high:.4g}"
                if low is None
                else (f"{low:.4g} or more" if high is None else f"{low:.4g} to below {high:.4g}")
            )
            words.append(f"{by} {said}")
            filters.append(ends)
        return words, filters


def _rising(keys: NDArray[Any], descending: bool) -> NDArray[Any]:
    """Return numbers whose smallest come first, what is missing last."""
    if keys.dtype.kind != "f":
        return -keys.astype(np.int64) if descending else keys
    own = -keys if descending else keys
    return np.where(np.isnan(own), np.inf, own)


def first_places(keys: NDArray[Any], count: int) -> IntArray:
    """Return the places of the smallest keys in order; of equal ones the first come first.

    A page of a million rows needs no order of all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.server.table.rows import first_places
    >>> first_places(np.array([3, 1, 2, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9]), 3).tolist()
    [1, 3, 2]
    """
    if 4 * count >= len(keys):
        return np.argsort(keys, kind="stable")[:count]
    edge = np.partition(keys, count - 1)[count - 1]
    below = np.flatnonzero(keys < edge)
    ties = np.flatnonzero(keys == edge)[: count - len(below)]
    chosen = np.concatenate([below, ties])
    return np.asarray(chosen[np.lexsort((chosen, keys[chosen]))])


def _numbers(values: NDArray[Any], one: Filter, where: str) -> BoolArray:
    if one.op in ("missing", "present"):
        gone = _is_nan(values)
        return gone if one.op == "missing" else ~gone
    text = {"true": "1", "false": "0"}.get(one.value.lower(), one.value)
    try:
        wanted = float(text)
    except ValueError as error:
        raise Refusal(
            f"{one.name} holds numbers. Got {one.value[:60]!r} instead.", where
        ) from error
    if one.op in _COMPARE:
        return np.asarray(_COMPARE[one.op](values, wanted))
    found = values == wanted
    return np.asarray(~found & ~_is_nan(values) if one.op == "ne" else found)


def _is_nan(values: NDArray[Any]) -> BoolArray:
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    return np.asarray(np.isnan(values))


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spelled(label: Any) -> tuple[str, ...]:
    """Return how a class may be written: JSON has one number for 1 and 1.0."""
    whole = isinstance(label, float) and label.is_integer()
    return (_written(label), str(int(label))) if whole else (_written(label),)
