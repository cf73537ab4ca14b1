"""Fitted classifier -> region: one function for each family of models."""

from pertinent.models import linear, pipeline, quadratic, svc
from pertinent.models.registry import (
    decision_region,
    model_classes,
    region_function,
    register_model,
    supported_models,
)

__all__ = [
    "decision_region",
    "linear",
    "model_classes",
    "pipeline",
    "quadratic",
    "region_function",
    "register_model",
    "supported_models",
    "svc",
]
