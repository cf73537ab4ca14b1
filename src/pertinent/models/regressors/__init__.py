"""Fitted regressor, range of predictions -> region: one function for each family of models."""

from pertinent.models.regressors import (  # noqa: F401 - each registers its family
    boosters,
    linear,
    neighbours,
    trees,
)
from pertinent.models.regressors.classifier import (
    RangeClassifier,
    adds_up_in_double,
    as_classifier,
    explained,
)
from pertinent.models.regressors.ranges import read_range
from pertinent.models.regressors.registry import (
    is_regressor,
    register_regressor,
    regressor_reader,
    supported_regressors,
)

__all__ = [
    "RangeClassifier",
    "adds_up_in_double",
    "as_classifier",
    "explained",
    "is_regressor",
    "read_range",
    "register_regressor",
    "regressor_reader",
    "supported_regressors",
]
