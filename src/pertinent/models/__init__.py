"""Fitted classifier -> region: one function for each family of models."""

from pertinent.models import linear, quadratic, svc
from pertinent.models.registry import (
    decision_region,
    model_classes,
    register_model,
    supported_models,
)

__all__ = [
    "decision_region",
    "linear",
    "model_classes",
    "quadratic",
    "register_model",
    "supported_models",
    "svc",
]
