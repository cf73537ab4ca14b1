"""Beyond one machine: Arrow batches in, Arrow batches out, on engines that exist already."""

from pertinent.scale.arrow import explain_batches
from pertinent.scale.engines import explain_dask, explain_ray, explain_spark
from pertinent.scale.run import Finished, Job, run
from pertinent.scale.schema import output_schema

__all__ = [
    "Finished",
    "Job",
    "explain_batches",
    "explain_dask",
    "explain_ray",
    "explain_spark",
    "output_schema",
    "run",
]
