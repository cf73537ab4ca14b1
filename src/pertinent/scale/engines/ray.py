"""Ray Data: blocks of Arrow through `explain_batches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pertinent.exceptions import MissingExtraError
from pertinent.scale.arrow import explain_batches, kept_columns
from pertinent.scale.schema import arrow, output_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from pertinent.api.explainer import Explainer


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
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("ray", "ray", "Explaining a Ray Dataset") from error
    shared = ray.put(explainer)

    def explain(table: pa.Table) -> pa.Table:
        return _explain_table(ray.get(shared), table, target, tuple(keep))

    return dataset.map_batches(explain, batch_format="pyarrow", **options)


def _explain_table(
    explainer: Explainer, table: pa.Table, target: Any, keep: tuple[str, ...]
) -> pa.Table:
    schema = output_schema(explainer, kept_columns(table.schema, keep))
    answers = explain_batches(explainer, table.to_batches(), target, keep)
    return arrow().Table.from_batches(answers, schema=schema)
