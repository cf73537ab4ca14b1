"""What a `TransformedTargetRegressor` does to predictions: increasing functions, known by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.models.registry import lineage
from pertinent.models.regressors.ranges import Link

TRANSFORMED = "sklearn.compose.TransformedTargetRegressor"

#: Functions that increase everywhere, and are defined everywhere.
INCREASING = (np.exp, np.exp2, np.expm1, np.sinh, np.cbrt, np.tanh, np.arctan, expit)
#: Transformers of a single column whose inverse never decreases.
TRANSFORMERS = frozenset(
    f"sklearn.preprocessing.{name}"
    for name in (
        "StandardScaler",
        "MinMaxScaler",
        "MaxAbsScaler",
        "RobustScaler",
        "PowerTransformer",
        "QuantileTransformer",
    )
)
#: Numbers at which an inverse is tried: it must be defined and in order at all of them.
TRIED = np.concatenate([-(10.0 ** np.arange(300, -9, -4)), [0.0], 10.0 ** np.arange(-8, 301, 4)])


def link_of(model: Foreign) -> Link:
    """Return what a fitted `TransformedTargetRegressor` applies to what is predicted inside."""
    transformer = model.transformer_
    _require_increasing(transformer)
    link = Link(partial(_inverse, transformer))
    found = link(TRIED)
    if np.isnan(found).any() or (np.diff(found[np.isfinite(found)]) < 0).any():
        raise _refused(
            f"The inverse of its {type(transformer).__name__} is not defined for every number, "
            "or falls"
        )
    return link


def _inverse(transformer: Any, numbers: FloatArray) -> FloatArray:
    """Return the inverse of each number; what is no finite number is not for transformers."""
    most = float(np.finfo(float).max)
    return np.ravel(transformer.inverse_transform(np.clip(numbers, -most, most).reshape(-1, 1)))


def _require_increasing(transformer: Foreign) -> None:
    names = {name for _, name in lineage(type(transformer))}
    if hasattr(transformer, "steps"):
        for _, step in transformer.steps:
            _require_increasing(step)
    elif "sklearn.preprocessing.FunctionTransformer" in names:
        inverse = transformer.inverse_func
        if inverse is not None and not any(inverse is known for known in INCREASING):
            raise _refused(f"Of its inverse {inverse!r:.60} it is not known that it increases")
    elif not names & TRANSFORMERS:
        raise _refused(
            f"Of the inverse of its {type(transformer).__name__} it is not known that it increases"
        )


def _refused(why: str) -> UnsupportedModelError:
    functions = ", ".join(function.__name__ for function in INCREASING)
    return UnsupportedModelError(
        f"TransformedTargetRegressor: {why}, so that a range of predictions is no range of what "
        f"the model inside predicts. Known are the functions {functions}, and the transformers "
        f"{', '.join(sorted(name.rsplit('.', 1)[-1] for name in TRANSFORMERS))}."
    )
