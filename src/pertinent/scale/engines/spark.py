"""Spark: `explain_batches` is what ``DataFrame.mapInArrow`` expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pertinent.exceptions import MissingExtraError
from pertinent.scale.arrow import explain_batches, kept_columns
from pertinent.scale.schema import output_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from pertinent.api.explainer import Explainer


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
    try:
        from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    except ImportError as error:
        raise MissingExtraError("pyspark", "spark", "Explaining a Spark DataFrame") from error
    names = tuple(keep)

    def explain(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return explain_batches(explainer, batches, target, names)

    kept = kept_columns(to_arrow_schema(frame.select(*names).schema), names) if names else None
    return frame.mapInArrow(explain, from_arrow_schema(output_schema(explainer, kept)))
