"""Thin adapters: each hands `pertinent.scale.explain_batches` to one engine's own scheduler."""

from pertinent.scale.engines.dask import explain_dask
from pertinent.scale.engines.ray import explain_ray
from pertinent.scale.engines.spark import explain_spark

__all__ = ["explain_dask", "explain_ray", "explain_spark"]
