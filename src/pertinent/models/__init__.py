"""Fitted classifier -> region: one function for each family of models."""

from pertinent.models import linear
from pertinent.models.registry import (
    decision_region,
    model_classes,
    register_model,
    supported_models,
)

__all__ = ["decision_region", "linear", "model_classes", "register_model", "supported_models"]
