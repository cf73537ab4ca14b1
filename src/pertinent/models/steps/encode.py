"""Steps on categories and bins: each category of a feature becomes a column of 0 and 1."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import AffineMap
from pertinent.models.registry import dense
from pertinent.models.steps.clip import group_of
from pertinent.models.steps.once import once
from pertinent.models.steps.walk import Columns, Walk, register_symbolic
from pertinent.models.tolerances import OFF_EDGE
from pertinent.tables.features import Binned
from pertinent.tables.numbers import is_missing

#: A category that no encoder can know.
UNKNOWN = "\x00 none of the known categories"


@register_symbolic(
    "sklearn.preprocessing.OneHotEncoder",
    "sklearn.preprocessing.OrdinalEncoder",
    "sklearn.preprocessing.TargetEncoder",
)
def encoder(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return what the encoder makes of each category, learnt by asking it.

    The encoders treat every column by itself, so their output is a sum of one term for each
    column: the answer at a base row, plus what changes when one column takes another category.
    """
    _require_raw(step, columns, walk)
    if walk.recording:
        # A TargetEncoder gives unknown categories the overall mean.
        takes_unknown = getattr(step, "handle_unknown", "ignore") != "error"
        base, every = [known[0] for known in step.categories_], []
        for k, (j, known) in enumerate(zip(columns.raw, step.categories_, strict=True)):
            usable = [v for v in known.tolist() if not _encodes_to_nan(step, v)]
            tells = not takes_unknown or _tells_missing(step, base, k)
            walk.declare(int(j), usable, takes_unknown, tells)
            every.append([*usable, UNKNOWN] if takes_unknown else usable)
        # Asked for all that the next walk asks for, unless another encoder reads them as well.
        first = [own[0] if own else known for own, known in zip(every, base, strict=True)]
        return columns.constant(_ask(step, _probes(first, every))[0])
    return _encoded(step, columns)


def _require_raw(step: Foreign, columns: Columns, walk: Walk) -> None:
    columns.require_unbent(walk, step)
    if (columns.raw < 0).any():
        raise walk.refuse(
            step, "encodes columns that an earlier step has computed; categories must reach the "
            "encoder as they are in the data (imputers and selections aside).",
        )  # fmt: skip


def _encodes_to_nan(step: Foreign, value: Any) -> bool:
    """Whether a missing value stays missing (OrdinalEncoder's encoded_missing_value)."""
    if not is_missing([value])[0] or not hasattr(step, "encoded_missing_value"):
        return False
    return bool(is_missing([step.encoded_missing_value])[0])


def _tells_missing(step: Foreign, base: list[Any], k: int) -> bool:
    """Whether a missing value of column k is encoded otherwise than an unknown category."""
    unknown, missing = _ask(step, [[*base[:k], v, *base[k + 1 :]] for v in (UNKNOWN, np.nan)])
    return not np.array_equal(unknown, missing, equal_nan=True)


def _encoded(step: Foreign, columns: Columns) -> Columns:
    features = columns.features
    known = [features.levels[j] or () for j in columns.raw]
    base = [
        levels[0] if levels else categories[0]
        for levels, categories in zip(known, step.categories_, strict=True)
    ]
    values = [
        [*own, UNKNOWN] if features.has_other(int(j)) else list(own)
        for j, own in zip(columns.raw, known, strict=True)
    ]
    targets = [
        column
        for j, own in zip(columns.raw, values, strict=True)
        for _, column in zip(own, features.columns_of(int(j)), strict=True)
    ]
    answers = _ask(step, _probes(base, values))
    matrix = np.zeros((answers.shape[1], features.dim))
    for column, answer in zip(targets, answers[1:], strict=True):
        matrix[:, column] += answer - answers[0]
    raw = np.full(len(matrix), -1)
    return Columns(features, AffineMap(matrix, answers[0]), raw, ())


def _probes(base: Sequence[Any], values: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the base row, and then rows of which one column has another value."""
    others = [[*base[:k], value, *base[k + 1 :]] for k, own in enumerate(values) for value in own]
    return [list(base), *others]


def _ask(step: Foreign, rows: list[list[Any]]) -> FloatArray:
    """Return what the encoder makes of some rows; in one call the same rows are asked for once."""
    return once("encoded", step, tuple(map(tuple, rows)), partial(_transformed, step, rows))


def _transformed(step: Foreign, rows: list[list[Any]]) -> FloatArray:
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for k, value in enumerate(row):
            table[i, k] = value
    with warnings.catch_warnings():
        # Feature names and unknown categories are what sklearn warns of here; both are meant.
        warnings.simplefilter("ignore", UserWarning)
        return dense(step.transform(table))


@register_symbolic("sklearn.preprocessing.KBinsDiscretizer")
def discretizer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the bins' codes, or one column for each bin."""
    edges = [tuple(float(e) for e in edge[1:-1]) for edge in step.bin_edges_]
    codes = [np.arange(len(edge) + 1, dtype=float)[:, None] for edge in edges]
    if step.encode != "ordinal":
        codes = [np.eye(len(edge) + 1) for edge in edges]
    return _by_bins(step, columns, walk, edges, codes, left_closed=True)


@register_symbolic("sklearn.preprocessing.Binarizer")
def binarizer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return 1 above the threshold, else 0."""
    edges: list[tuple[float, ...]] = [(float(step.threshold),)] * len(columns)
    codes = [np.array([[0.0], [1.0]])] * len(columns)
    return _by_bins(step, columns, walk, edges, codes, left_closed=False)


def _by_bins(
    step: Foreign,
    columns: Columns,
    walk: Walk,
    edges: list[tuple[float, ...]],
    codes: list[FloatArray],
    left_closed: bool,
) -> Columns:
    """Return ``sum_k code_k indicator_k`` for each column, its indicators being hidden columns."""
    columns.require_numbers(walk, step)
    columns.require_unbent(walk, step)
    features = columns.features
    side: Literal["left", "right"] = "right" if left_closed else "left"
    width = sum(code.shape[1] for code in codes)
    matrix, shift = np.zeros((width, features.dim)), np.zeros(width)
    first = 0
    for k, (edge, code) in enumerate(zip(edges, codes, strict=True)):
        places = np.arange(first, first + code.shape[1])
        first += code.shape[1]
        row = columns.map.dense()[k]
        inputs = np.flatnonzero(row)
        made = columns.raw[k] < 0 and len(inputs)  # by a step before: not a raw category
        group = group_of(columns, inputs) if made else None
        if group is not None:  # exactly one of these columns is 1: each has a bin of its own
            values = row[group] + columns.map.shift[k]
            matrix[np.ix_(places, group)] = code[np.searchsorted(edge, values, side=side)].T
            continue
        feature, slope, offset = _single_input(step, columns, k, walk)
        if not edge or slope == 0.0:  # the same bin for every sample
            shift[places] = code[np.searchsorted(edge, offset, side=side)]
            continue
        raw_edges = tuple((e - offset) / slope for e in edge)
        closed = left_closed
        if slope < 0:
            raw_edges, code, closed = raw_edges[::-1], code[::-1], not left_closed
        # A scaler in front rounds: answers keep off the edges by a few units in the last place.
        exact = slope == 1.0 and offset == 0.0
        size = max(abs(e) for e in raw_edges) + abs(offset / slope)
        binned = Binned(feature, raw_edges, closed, 0.0 if exact else OFF_EDGE * size)
        if walk.recording:
            walk.binned[binned] = 1
            continue
        bins = features.bins[features.binned.index(binned)]
        matrix[np.ix_(places, bins.columns)] = code.T
    return Columns(features, AffineMap(matrix, shift), np.full(width, -1), ())


def _single_input(step: Foreign, columns: Columns, k: int, walk: Walk) -> tuple[int, float, float]:
    """Return the raw feature that a column follows, with slope and offset."""
    row = columns.map.dense()[k]
    inputs = np.flatnonzero(row)
    if any(bins.excess in inputs for bins in columns.features.bins):
        raise walk.refuse(step, "bins a column that an earlier step cuts off (clip=True).")
    owners = np.unique(columns.features.owner[inputs]).tolist()
    if len(owners) == 1 and columns.features.is_category(owners[0]):
        raise walk.refuse(step, "bins a column that another step takes as categories.")
    if len(inputs) > 1 or columns.products is not None:
        raise walk.refuse(step, "bins a column that mixes several raw features.")
    if not len(inputs):
        return 0, 0.0, float(columns.map.shift[k])
    return int(owners[0]), float(row[inputs[0]]), float(columns.map.shift[k])
