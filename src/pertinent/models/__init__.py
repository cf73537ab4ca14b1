"""Fitted classifier -> region: one function for each family of models."""

from pertinent.models import (
    calibrated,
    linear,
    neighbours,
    one_vs_rest,
    prototype,
    quadratic,
    svc,
    tree,
)
from pertinent.models.registry import (
    decision_region,
    model_classes,
    region_function,
    register_model,
    supported_models,
)
from pertinent.models.steps import pipeline

__all__ = [
    "calibrated",
    "decision_region",
    "linear",
    "model_classes",
    "neighbours",
    "one_vs_rest",
    "pipeline",
    "prototype",
    "quadratic",
    "region_function",
    "register_model",
    "supported_models",
    "svc",
    "tree",
]
