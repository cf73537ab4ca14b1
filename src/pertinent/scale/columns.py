"""Explanations as an Arrow batch of a declared schema, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, IntArray
from pertinent.proofs import Status, status_names
from pertinent.scale.schema import ALTERNATIVES, arrow
from pertinent.summary.columns import alternative_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from pertinent.api.explanation import Explanations
    from pertinent.setting.results import Results

_STATUSES = [str(name) for name in status_names(np.arange(len(Status), dtype=np.int8))]


def to_batch(explanations: Explanations, schema: pa.Schema) -> pa.RecordBatch:
    """Return one row for each sample, with the columns and types of the schema."""
    pa = arrow()
    columns = {name: values for name, values in _columns(explanations) if name in schema.names}
    if ALTERNATIVES in schema.names:
        columns[ALTERNATIVES] = _alternatives(explanations, schema.field(ALTERNATIVES).type)
    arrays = [columns[field.name].cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _alternatives(explanations: Explanations, kind: pa.ListType) -> pa.Array:
    """Return the alternatives of each sample, an empty list where it has none."""
    found, one = alternative_columns(explanations), kind.value_type
    values = one.field("values").type
    points = [_as(found[f"value.{field.name}"], field.type) for field in values]
    own = [_as(found[field.name], field.type) for field in one if field.name != "values"]
    whole = arrow().StructArray.from_arrays(points, fields=list(values))
    listed = arrow().StructArray.from_arrays([*own, whole], fields=list(one))
    ends = np.searchsorted(found["row"], np.arange(len(explanations) + 1))
    return arrow().ListArray.from_arrays(ends.astype(np.int32), listed, type=kind)


def _as(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return labels, categories or numbers as a type that `label_type` chose for them."""
    text = arrow().types.is_string(kind)
    plain = (v.item() if isinstance(v, np.generic) else v for v in values)
    return arrow().array([str(v) if text and v is not None else v for v in plain], type=kind)


def failed_batch(reasons: list[str], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows that could not be read: status "failed", the reason, and nulls."""
    pa = arrow()
    known = {
        "positive_status": ["failed"] * len(reasons),
        "negative_status": ["failed"] * len(reasons),
        "positive_reason": reasons,
        "negative_reason": reasons,
        "kept": [""] * len(reasons),
        "changed": [""] * len(reasons),
    }
    arrays = [
        pa.array(known.get(field.name, [None] * len(reasons)), type=field.type) for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _columns(explanations: Explanations) -> Iterator[tuple[str, pa.Array]]:
    pa = arrow()
    positive, negative = explanations.positive, explanations.negative
    yield "prediction", _labels(positive.classes, positive.label)
    yield "target", _labels(negative.classes, negative.target_place)
    yield "trivial", pa.array(positive.trivial)
    yield "closeness", _numbers(positive.closeness, positive.found)
    yield "overlap", pa.array(explanations.overlap)
    names = explanations.table.features.names
    for kind, results, mask, word in (
        ("positive", positive, positive.kept, "kept"),
        ("negative", negative, negative.changed, "changed"),
    ):
        codes = pa.array(results.status_code.astype(np.int64))
        yield f"{kind}_status", pa.array(_STATUSES).take(codes)
        yield f"{kind}_size", _numbers(results.objective, results.found)
        yield f"{kind}_bound", pa.array(results.bound)
        yield f"{kind}_unique", pa.array(results.unique_code == 1, mask=results.unique_code < 0)
        yield f"{kind}_reason", pa.array(results.reason, type=pa.string())
        yield word, _listed(names, mask)
        yield from _points(kind, results)


def _labels(classes: NDArray[Any], places: IntArray) -> pa.Array:
    """Return the labels at the given places, null at -1."""
    pa = arrow()
    known = classes.tolist()
    if len({type(label) for label in known}) > 1:
        known = [str(label) for label in known]
    return pa.array(known).take(pa.array(places, mask=places < 0))


def _numbers(values: Any, found: BoolArray) -> pa.Array:
    return arrow().array(np.ascontiguousarray(values), mask=~found)


def _points(kind: str, results: Results) -> Iterator[tuple[str, pa.Array]]:
    features, found = results.table.features, results.found
    raw = None if features.is_plain else results.table.raw(results.values)
    for j, name in enumerate(features.names):
        if raw is not None and features.is_category(j):
            column = arrow().array(_categories(raw[:, j], found))
        else:
            mark = features.marks.get(int(features.first[j]))
            there = found if mark is None else found & (results.values[:, mark] != 1)
            column = _numbers(results.values[:, features.first[j]], there)
        yield f"{kind}.{name}", column


def _categories(values: NDArray[np.object_], found: BoolArray) -> list[Any]:
    """Return the category of each point, None where there is no point."""
    known = [v.item() if isinstance(v, np.generic) else v for v in values]
    if len({type(v) for v in known if v is not None}) > 1:
        known = [v if v is None else str(v) for v in known]
    return [v if ok else None for v, ok in zip(known, found, strict=True)]


def _listed(names: tuple[str, ...], mask: BoolArray) -> pa.Array:
    """Return the names that each row of the mask holds, joined; each set is joined once."""
    pa = arrow()
    packed = np.ascontiguousarray(np.packbits(mask, axis=1))
    if not packed.size:
        return pa.array([""] * len(mask), type=pa.string())
    whole = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    sets = [", ".join(names[j] for j in np.flatnonzero(mask[i])) for i in first]
    return pa.array(sets, type=pa.string()).take(pa.array(inverse.ravel()))
