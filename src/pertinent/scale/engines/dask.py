"""Dask: one partition after the other through `explain_batches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pertinent.exceptions import MissingExtraError
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
    try:
        import dask.dataframe  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("dask", "dask", "Explaining a Dask DataFrame") from error
    meta = _explain_partition(frame._meta, explainer, target, tuple(keep))
    return frame.map_partitions(_explain_partition, explainer, target, tuple(keep), meta=meta)


def _explain_partition(frame: Any, explainer: Explainer, target: Any, keep: tuple[str, ...]) -> Any:
    pa = arrow()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    schema = output_schema(explainer, kept_columns(table.schema, keep))
    answers = list(explain_batches(explainer, table.to_batches(), target, keep))
    out = _to_pandas(pa.Table.from_batches(answers, schema=schema))
    return out.set_index(frame.index)


def _to_pandas(table: pa.Table) -> Any:
    """Return a pandas DataFrame whose columns keep their Arrow types."""
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)
