"""From what a user gives to a model made ready; odd input is named here, before any work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pertinent._typing import FloatArray, Foreign
from pertinent.baselines import weight_values
from pertinent.constraints import Constraints
from pertinent.exact import (
    exact,
    strict,
    sufficient,
)
from pertinent.exceptions import InputError
from pertinent.features import Features
from pertinent.models import region_function
from pertinent.plausibility import Plausibility
from pertinent.positive import two_phase
from pertinent.prepared import Prepared
from pertinent.projection import Options

POSITIVE_METHODS = {
    "two-phase": two_phase,
    "strict": strict,
    "exact": exact,
    "sufficient": sufficient,
}


def known_method(method: str, plausibility: Plausibility | None) -> None:
    """Refuse methods that do not exist, or do not go with plausibility."""
    if method not in POSITIVE_METHODS:
        raise InputError(f"method must be one of {sorted(POSITIVE_METHODS)}. Got {method!r}.")
    if plausibility is not None and method != "two-phase":
        raise InputError(
            f"plausibility works with method='two-phase' only. Got {method!r}: an exact set of "
            "features and a density cannot be asked for together."
        )


def require_number(name: str, value: Any) -> None:
    """Refuse what is not a finite number of at least 0."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and value >= 0 and np.isfinite(value)):
        raise InputError(f"{name} must be a number of at least 0. Got {value!r} instead.")


def prepare(
    model: Foreign,
    X: Any,
    weights: Any,
    constraints: Constraints | None,
    plausibility: Plausibility | None,
    margin: float | None,
    data: Any,
    options: Options | None,
    min_proba: float | None = None,
    missing: str = "error",
) -> tuple[Prepared, FloatArray | None]:
    """Return the model made ready and the training data as an array."""
    region_function(model)  # an unsupported or unfitted model is named here, before any work
    if margin is not None:
        require_number("margin", margin)
    if not isinstance(constraints, Constraints | None):
        kind = type(constraints).__name__
        raise InputError(f"constraints must be a pertinent.Constraints. Got a {kind} instead.")
    features = Features.of(model, X if data is None else data, missing)
    train = None if data is None else features.read(data).values
    if train is not None and not len(train):
        raise InputError("data has no rows. Pass samples of the training data, or leave data out.")
    rules = constraints or Constraints()
    rules.validate(features)  # an unknown feature is named here, before any work
    prepared = Prepared(
        model,
        features,
        weight_values(weights, features, train, rules.costs),
        rules,
        margin,
        options or Options(),
        min_proba,
    )
    if plausibility is not None:
        prepared = replace(prepared, within=plausibility.bind(features, prepared.classes))
    return prepared, train
