"""From what a user gives to a model made ready; odd input is named here, before any work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pertinent.density import Plausibility
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.models import region_function
from pertinent.models.steps.pipeline import features_of
from pertinent.questions.fewest_kept import exact
from pertinent.questions.positive import two_phase
from pertinent.questions.strict import strict
from pertinent.questions.sufficient.sufficient import sufficient
from pertinent.rules.constraints import Constraints
from pertinent.setting.options import Options
from pertinent.setting.setting import Setting
from pertinent.tables.baselines import weight_values
from pertinent.tables.numbers import require_number, require_whole

POSITIVE_METHODS = {
    "two-phase": two_phase,
    "strict": strict,
    "exact": exact,
    "sufficient": sufficient,
}


def known_method(method: str, plausibility: Plausibility | None) -> None:
    """Refuse methods that do not exist, or do not go with plausibility."""
    if not isinstance(method, str) or method not in POSITIVE_METHODS:
        raise InputError(f"method must be one of {sorted(POSITIVE_METHODS)}. Got {method!r}.")
    if plausibility is not None and method != "two-phase":
        raise InputError(
            f"plausibility works with method='two-phase' only. Got {method!r}: an exact set of "
            "features and a density cannot be asked for together."
        )


def refuse_misplaced(method: str, fallback: bool, alternatives: int) -> None:
    """Say which method an argument belongs to, rather than ignore it."""
    require_whole("alternatives", alternatives, 0)
    if fallback and method != "strict":
        raise InputError(f'fallback=True belongs to method="strict". Got method={method!r}.')
    if alternatives and method not in ("strict", "exact"):
        raise InputError(
            f'alternatives belong to method="strict" and "exact". Got method={method!r}.'
        )


def require_kind(name: str, value: Any, kind: type) -> None:
    """Refuse what is neither None nor an object of one of the library's own classes."""
    if not isinstance(value, kind | None):
        raise InputError(f"{name} must be a pertinent.{kind.__name__}. Got {value!r:.60} instead.")


def proving_options(
    options: Options | None, exact: bool, gap: float | None, time_limit: float | None
) -> Options:
    """Return the options given, or the default ones, with a proof asked for if ``exact``."""
    require_kind("options", options, Options)
    return (options or Options()).proving(exact, gap, time_limit)


def prepare(
    model: Foreign,
    X: Any,
    weights: Any,
    constraints: Constraints | None,
    plausibility: Plausibility | None,
    margin: float | None,
    data: Any,
    options: Options,
    min_proba: float | None = None,
    missing: str = "error",
) -> tuple[Setting, FloatArray | None]:
    """Return the model made ready and the training data as an array."""
    region_function(model)  # an unsupported or unfitted model is named here, before any work
    if margin is not None:
        require_number("margin", margin)
    require_kind("constraints", constraints, Constraints)
    require_kind("plausibility", plausibility, Plausibility)
    features = features_of(model, X if data is None else data, missing)
    train = None if data is None else features.read(data, "data").values
    if train is not None and not len(train):
        raise InputError("data has no rows. Pass samples of the training data, or leave data out.")
    rules = constraints or Constraints()
    rules.validate(features)  # an unknown feature is named here, before any work
    prepared = Setting(
        model,
        features,
        weight_values(weights, features, train, rules.costs),
        rules,
        margin,
        options,
        min_proba,
    )
    if plausibility is not None:
        prepared = replace(prepared, within=plausibility.bind(features, prepared.classes))
    return prepared, train
