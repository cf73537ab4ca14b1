"""The regressors we know, by name: each is one function *model, range -> region*."""

from __future__ import annotations

from collections.abc import Callable

from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Region
from pertinent.models.families import why_no_range
from pertinent.models.registry import (
    REGRESSOR,
    estimator_kind,
    lineage,
    require_function,
    require_names,
    unsupported,
)
from pertinent.models.regressors.ranges import Range
from pertinent.models.regressors.targets import TRANSFORMED, link_of
from pertinent.models.steps.pipeline import PIPELINES, WRAPPERS, columns_of, is_pipeline, pull_back

#: ``(model, range, margin) -> Region``
RegionInRange = Callable[[Foreign, Range, float], Region]

_TABLE: dict[str, RegionInRange] = {}
#: Models around a regressor, which is looked at instead: where it is.
AROUND = {
    **{name: place for name, place in WRAPPERS.items() if place},
    "sklearn.linear_model.RANSACRegressor": "estimator_",
    TRANSFORMED: "regressor_",
}


def register_regressor(*names: str) -> Callable[[RegionInRange], RegionInRange]:
    """Register the function that gives where regressors predict within a range, by class name.

    Parameters
    ----------
    *names : str
        Module and class, as for `pertinent.register_model`.

    Returns
    -------
    callable
        A decorator for ``(model, range, margin) -> Region``: the points at which
        ``range.low <= model.predict(x) <= range.high``, tightened by ``margin``.
    """
    require_names("register_regressor", names)

    def add(function: RegionInRange) -> RegionInRange:
        require_function("register_regressor", function)
        _TABLE.update(dict.fromkeys(names, function))
        return function

    return add


def supported_regressors() -> list[str]:
    """Return the names of all regressors that can be explained, in alphabetical order."""
    return sorted({*_TABLE, "sklearn.linear_model.RANSACRegressor", TRANSFORMED})


def is_regressor(model: Foreign) -> bool:
    """Return whether a model is a regressor, alone or as the last step.

    One that is known here, or that says so itself.
    """
    if isinstance(model, type):
        return False
    last = last_model(model)
    return registered_regressor(last) is not None or estimator_kind(last) == REGRESSOR


def registered_regressor(model: Foreign) -> RegionInRange | None:
    """Return the function that was registered for a regressor; None for any other model."""
    own = type(model)
    for ancestor, name in lineage(own):
        if name in _TABLE:
            same = getattr(own, "predict", None) is getattr(ancestor, "predict", None)
            return _TABLE[name] if same else None
    return None


def inner_model(model: Foreign) -> Foreign | None:
    """Return the model that a wrapper or a pipeline ends in; None for a model by itself."""
    if is_pipeline(model):
        return model.steps[-1][1]
    for _, name in lineage(type(model)):
        if name in AROUND:
            return getattr(model, AROUND[name], None)  # None: not fitted
    return None


def last_model(model: Foreign) -> Foreign:
    """Return the model inside all wrappers and pipelines."""
    inner = inner_model(model)
    return model if inner is None else last_model(inner)


def links_before(model: Foreign, wanted: Range) -> Range:
    """Return the range of what the last model predicts, in front of all that is done to it."""
    while (inner := inner_model(model)) is not None:
        if any(name == TRANSFORMED for _, name in lineage(type(model))):
            wanted = wanted.through(link_of(model))
        model = inner
    return wanted


def regressor_reader(model: Foreign) -> RegionInRange:
    """Return the function that was registered for a regressor, or say that there is none."""
    last = last_model(model)
    read = registered_regressor(last)
    if read is None:
        names = [name for _, name in lineage(type(last))]
        how = "pertinent.models.regressors.register_regressor", supported_regressors()
        raise unsupported(last, *why_no_range(names), *how)
    return read


def region_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where a regressor predicts within a range, in the units of its samples."""
    read = regressor_reader(model)
    region = read(last_model(model), links_before(model, wanted), margin)
    return pull_back(region, columns_of(model)) if _has_steps(model) else region


def _has_steps(model: Foreign) -> bool:
    """Return whether there is a pipeline around the last model."""
    while (inner := inner_model(model)) is not None:
        if any(name in PIPELINES for _, name in lineage(type(model))):
            return True
        model = inner
    return False
