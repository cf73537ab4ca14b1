"""Arrow batches in, Arrow batches out: the one function that every engine runs.

A batch is explained as it comes; the answer of a row depends on that row alone, so any way of
cutting a data set into batches gives the same rows of output.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.exceptions import InputError, unknown_name
from pertinent.geometry.arrays import BoolArray
from pertinent.scale.columns import failed_batch, to_batch
from pertinent.scale.schema import arrow, output_schema
from pertinent.setting.question import is_one_label
from pertinent.tables.features import Features

if TYPE_CHECKING:
    import pyarrow as pa

    from pertinent.api.explainer import Explainer


def explain_batches(
    explainer: Explainer,
    batches: Iterable[pa.RecordBatch],
    target: Any = None,
    keep: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield one output batch for each input batch, of the schema that `output_schema` declares.

    Parameters
    ----------
    explainer : Explainer
    batches : iterable of pyarrow.RecordBatch
        With a column for each feature of the model, found by name; others are ignored. A model
        that was fitted without names takes the columns that are not kept, in their order.
    target : label, optional
        The class that every negative must reach; of a regressor a range, ``(low, high)``.
    keep : sequence of str
        Columns to hand through, such as a key.

    Notes
    -----
    Numbers are read as, and answers are handed out as, double precision. A row that cannot be
    read (a missing value, an unknown category) is in the output as "failed" with its reason, one
    that is predicted as the target as "already"; a batch that lacks a column is an error.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> import pertinent
    >>> from pertinent.scale import explain_batches
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explainer = pertinent.Explainer(LogisticRegression(max_iter=1000).fit(X, y), data=X)
    >>> batches = pa.Table.from_pandas(X).to_batches(max_chunksize=50)
    >>> [answer.num_rows for answer in explain_batches(explainer, batches)]
    [50, 50, 50]
    """
    explainer, target = explainer.towards(target)
    if target is not None and not is_one_label(target):
        raise InputError(
            "Batches are explained towards one target for all rows. For a target of each row use "
            "Explainer.explain(X, target=[...])."
        )
    schema = output_schema(explainer)
    checked = None
    for batch in batches:
        samples = _samples(explainer.setting.features, batch, keep)
        if samples.schema != checked:
            # What fails without any row is the fault of the table, not of a row: it is raised.
            explainer.explain(samples.slice(0, 0), target=target)
            checked = samples.schema
        answers = _answers(explainer, samples, target, schema)
        yield _with_kept(explainer, batch, keep, _joined([failed_batch([], schema), *answers]))


def _with_kept(
    explainer: Explainer, batch: pa.RecordBatch, keep: Sequence[str], answers: pa.RecordBatch
) -> pa.RecordBatch:
    if not keep:
        return answers
    kept = kept_columns(batch.schema, keep)
    columns = [batch.column(name) for name in kept.names]
    return arrow().RecordBatch.from_arrays(
        [*columns, *answers.columns], schema=output_schema(explainer, kept)
    )


def _joined(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return all parts as one batch."""
    some = [part for part in parts if part.num_rows]
    if len(some) <= 1:
        return (some or parts)[0]
    return arrow().Table.from_batches(some).combine_chunks().to_batches()[0]


def kept_columns(schema: pa.Schema, keep: Sequence[str]) -> pa.Schema:
    """Return the part of an input schema that is handed through."""
    for name in keep:
        if name not in schema.names:
            raise unknown_name("column", name, schema.names)
    return arrow().schema([schema.field(name) for name in keep])


def _samples(features: Features, batch: pa.RecordBatch, keep: Sequence[str]) -> pa.Table:
    """Return the columns that the model reads, numbers as doubles."""
    pa = arrow()
    kept_columns(batch.schema, keep)
    for name, count in Counter(batch.schema.names).items():
        if count > 1 and (name in features.names or name in keep):
            raise InputError(f"The batch has more than one column named {name!r}. Rename them.")
    own = [name for name in batch.schema.names if name not in keep]
    if set(features.names) <= set(batch.schema.names):
        own = list(features.names)
    table = pa.Table.from_batches([batch]).select(own)
    for j, field in enumerate(table.schema):
        category = len(own) == len(features) and features.is_category(j)
        number = _is_number(field.type) or pa.types.is_null(field.type)
        if number and not category and not pa.types.is_float64(field.type):
            double = table.column(j).cast(pa.float64(), safe=False)
            table = table.set_column(j, field.name, double)
    return table


def _is_number(kind: pa.DataType) -> bool:
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _answers(
    explainer: Explainer, samples: pa.Table, target: Any, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the answers in order: runs of readable rows together, the others with their reason."""
    gone = _missing(explainer.setting.features, samples)
    missing: BoolArray = np.asarray(gone.any(axis=1))
    edges = np.flatnonzero(np.diff(missing, prepend=~missing[:1]))
    for start, stop in itertools.pairwise([*edges.tolist(), len(missing)]):
        if missing[start]:
            yield failed_batch(_reasons(samples.column_names, gone[start:stop]), schema)
        else:
            part = samples.slice(start, stop - start)
            yield from _halved(explainer, part, target, schema)


def _halved(
    explainer: Explainer, samples: pa.Table, target: Any, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the answers, halving whatever is refused until the refused row stands alone."""
    try:
        found = _answer(explainer, samples, target, schema)
    except InputError as error:
        if len(samples) == 1:
            yield failed_batch([str(error)], schema)
            return
        half = len(samples) // 2
        yield from _halved(explainer, samples.slice(0, half), target, schema)
        yield from _halved(explainer, samples.slice(half), target, schema)
    else:
        yield found


def _answer(
    explainer: Explainer, samples: pa.Table, target: Any, schema: pa.Schema
) -> pa.RecordBatch:
    """Return the answers."""
    return to_batch(explainer.explain(samples, target=target, progress=False), schema)


def _missing(features: Features, samples: pa.Table) -> BoolArray:
    """Return where a number is missing or infinite, unless the model knows what to do with it."""
    gone = np.zeros((len(samples), samples.num_columns), dtype=bool)
    if features.fills is not None:
        return gone
    for j, column in enumerate(samples.columns):
        if not features.is_category(j):
            absent = np.asarray(column.is_null())
            if arrow().types.is_float64(column.type):
                values = column.to_numpy()
                gone[:, j], absent = np.isinf(values), absent | np.isnan(values)
            if j not in features.absent:
                gone[:, j] |= absent
    return gone


def _reasons(names: Sequence[str], gone: BoolArray) -> list[str]:
    listed = ([repr(names[j]) for j in np.flatnonzero(row).tolist()] for row in gone)
    return [f"missing or infinite values in {', '.join(row)}" for row in listed]
