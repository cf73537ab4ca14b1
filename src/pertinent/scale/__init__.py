"""Beyond one machine: Arrow batches in, Arrow batches out, on engines that exist already."""

from pertinent.scale.arrow import explain_batches
from pertinent.scale.schema import output_schema

__all__ = ["explain_batches", "output_schema"]
