"""Fitted classifier -> region: one function for each family of models."""

from pertinent.models import (  # noqa: F401 - each registers its family
    bayes,
    combined,
    linear,
    neighbours,
    prototype,
    regressors,
    trees,
)
from pertinent.models.registry import (
    decision_region,
    model_classes,
    region_function,
    register_model,
    supported_models,
)

__all__ = [
    "decision_region",
    "model_classes",
    "region_function",
    "register_model",
    "supported_models",
]
