"""Thin adapters: each hands `pertinent.scale.explain_batches` to one engine's own scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pertinent.exceptions import optional
from pertinent.scale.arrow import explain_batches, kept_columns
from pertinent.scale.schema import arrow, output_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from pertinent.api.explainer import Explainer


def explain_dask(
    explainer: Explainer, frame: Any, target: Any = None, keep: Sequence[str] = ()
) -> Any:
    """Return a lazy Dask DataFrame of explanations, one partition for each of ``frame``.

    Parameters
    ----------
    explainer : Explainer
    frame : dask.dataframe.DataFrame
    target, keep
        As in `pertinent.scale.explain_batches`.

    Notes
    -----
    Columns have Arrow types and the index is that of ``frame``. A cluster of one's own is best
    started with ``dashboard_address=None``: Dask's dashboard otherwise listens to the network.
    """
    optional("dask.dataframe", "dask", "Explaining a Dask DataFrame")
    meta = _explain_partition(frame._meta, explainer, target, tuple(keep))
    return frame.map_partitions(_explain_partition, explainer, target, tuple(keep), meta=meta)


def _explain_partition(frame: Any, explainer: Explainer, target: Any, keep: tuple[str, ...]) -> Any:
    """Return a pandas DataFrame whose columns keep their Arrow types."""
    import pandas as pd

    table = arrow().Table.from_pandas(frame, preserve_index=False)
    answers = _explain_table(explainer, table, target, keep)
    return answers.to_pandas(types_mapper=pd.ArrowDtype).set_index(frame.index)


def _explain_table(
    explainer: Explainer, table: pa.Table, target: Any, keep: tuple[str, ...]
) -> pa.Table:
    schema = output_schema(explainer, kept_columns(table.schema, keep))
    answers = explain_batches(explainer, table.to_batches(), target, keep)
    return arrow().Table.from_batches(answers, schema=schema)


def explain_ray(
    explainer: Explainer,
    dataset: Any,
    target: Any = None,
    keep: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Return a lazy Ray Dataset of explanations.

    Parameters
    ----------
    explainer : Explainer
    dataset : ray.data.Dataset
    target, keep
        As in `pertinent.scale.explain_batches`.
    **options
        For ``Dataset.map_batches``, such as ``batch_size`` or ``num_cpus``.
    """
    ray = optional("ray", "ray", "Explaining a Ray Dataset")
    shared = ray.put(explainer)

    def explain(table: pa.Table) -> pa.Table:
        return _explain_table(ray.get(shared), table, target, tuple(keep))

    return dataset.map_batches(explain, batch_format="pyarrow", **options)


def explain_spark(
    explainer: Explainer, frame: Any, target: Any = None, keep: Sequence[str] = ()
) -> Any:
    """Return a lazy Spark DataFrame of explanations.

    Parameters
    ----------
    explainer : Explainer
    frame : pyspark.sql.DataFrame
    target, keep
        As in `pertinent.scale.explain_batches`. Rows of a Spark DataFrame have no order: keep
        a key.

    Notes
    -----
    Spark makes few partitions of small files; ``frame.repartition(n)`` first gives every core
    some work.
    """
    types = optional("pyspark.sql.pandas.types", "spark", "Explaining a Spark DataFrame")
    names = tuple(keep)

    def explain(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return explain_batches(explainer, batches, target, names)

    kept = None
    if names:
        kept = kept_columns(types.to_arrow_schema(frame.select(*names).schema), names)
    return frame.mapInArrow(explain, types.from_arrow_schema(output_schema(explainer, kept)))
