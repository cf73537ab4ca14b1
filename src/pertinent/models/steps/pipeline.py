"""Pipelines: the region of the last step, pulled back to raw units through all steps before it.

The pull-back is exact: a point lies in the region if and only if the pipeline predicts its class,
rounding aside. Margins are those of the last step's own space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.pieces import each_cell
from pertinent.geometry.region import Region
from pertinent.models.registry import SEARCHED, decision_region, lineage, register_model
from pertinent.models.steps import compose, encode, numeric  # noqa: F401
from pertinent.models.steps.compose import walk_steps
from pertinent.models.steps.monotone import unbend
from pertinent.models.steps.once import once
from pertinent.models.steps.walk import Columns, Walk
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing
from pertinent.tables.table import as_frame

#: Wrappers that predict as a model inside them does: where that model is.
WRAPPERS = {
    "sklearn.model_selection.GridSearchCV": "best_estimator_",
    "sklearn.model_selection.RandomizedSearchCV": "best_estimator_",
    "sklearn.model_selection.HalvingGridSearchCV": "best_estimator_",
    "sklearn.model_selection.HalvingRandomSearchCV": "best_estimator_",
    "sklearn.model_selection.TunedThresholdClassifierCV": "",
    "sklearn.model_selection.FixedThresholdClassifier": "",
    "sklearn.frozen.FrozenEstimator": "estimator",
}
#: Models around a regressor: they change what it predicts, not what it sees.
AROUND = {
    "pertinent.models.regressors.classifier.RangeClassifier": "regressor",
    "sklearn.compose.TransformedTargetRegressor": "regressor_",
    "sklearn.linear_model.RANSACRegressor": "estimator_",
    SEARCHED: "model",
}
HISTOGRAMS = (
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "sklearn.ensemble.HistGradientBoostingRegressor",
)
ONE_VS_REST = "sklearn.multiclass.OneVsRestClassifier"
ONE_VS_ONE = "sklearn.multiclass.OneVsOneClassifier"
OUTPUT_CODE = "sklearn.multiclass.OutputCodeClassifier"
VOTING = "sklearn.ensemble.VotingClassifier"
#: Models whose members, ``estimators_``, each read the raw features.
WITH_MEMBERS = {ONE_VS_REST, ONE_VS_ONE, OUTPUT_CODE, VOTING}
PIPELINES = ("sklearn.pipeline.Pipeline", "imblearn.pipeline.Pipeline")


def unwrap(model: Foreign) -> Foreign:
    """Return the model inside wrappers that do not change its predictions."""
    inner = _wrapped(model)
    return model if inner is None else unwrap(inner)


def _wrapped(model: Foreign) -> Foreign | None:
    for _, name in lineage(type(model)):
        place = WRAPPERS.get(name) or AROUND.get(name)
        if place:
            return getattr(model, place)
    return None


def inside(model: Foreign) -> Foreign:
    """Return the model inside wrappers, those that move its threshold included."""
    inner = unwrap(model)
    calibrated = getattr(inner, "calibrated_classifiers_", None)
    # Folds that calibrate one and the same model, a FrozenEstimator, are one model.
    if calibrated is not None and len({id(unwrap(one.estimator)) for one in calibrated}) == 1:
        return inside(calibrated[0].estimator)
    return with_own_steps(as_pipeline(inner))


#: Models that are a step and a simpler model: how to write them as the pipeline that they are.
_OWN_STEPS: dict[str, Callable[[Foreign], Pipeline]] = {}


def register_own_steps(
    *names: str,
) -> Callable[[Callable[[Foreign], Pipeline]], Callable[[Foreign], Pipeline]]:
    """Register the pipeline that says the same as a model of these classes; its last step differs.

    E.g. a model that compares each column with a number, and then adds up.
    """

    def add(function: Callable[[Foreign], Pipeline]) -> Callable[[Foreign], Pipeline]:
        _OWN_STEPS.update(dict.fromkeys(names, function))
        return function

    return add


def as_pipeline(model: Foreign) -> Foreign:
    """Return a model with steps of its own as a pipeline, else the model."""
    for _, name in lineage(type(model)):
        if name in _OWN_STEPS:
            return once("own steps", model, None, partial(_OWN_STEPS[name], model))
    return model


def with_own_steps(model: Foreign) -> Foreign:
    """Return a model that encodes categories itself as the pipeline that it is; else the model.

    HistGradientBoosting with ``categorical_features`` holds a fitted encoder.
    """
    encoder = getattr(model, "_preprocessor", None)
    if encoder is None or not any(name in HISTOGRAMS for _, name in lineage(type(model))):
        return model
    return Pipeline([("categorical_features", encoder), ("trees", model)])


def is_pipeline(model: Foreign) -> bool:
    """Return whether a model is a pipeline."""
    return any(name in PIPELINES for _, name in lineage(type(model)))


def final_step(model: Foreign) -> Foreign:
    """Return the last step of a pipeline, or of the pipeline in a wrapper; else the model."""
    inner = as_pipeline(unwrap(model))
    return final_step(inner.steps[-1][1]) if is_pipeline(inner) else inner


def first_step(model: Foreign) -> Foreign:
    """Return the step that saw the raw features in training, where the model does not say."""
    inner = inside(model)
    if hasattr(model, "n_features_in_") or not is_pipeline(inner):
        return model
    return next((step for _, step in inner.steps if hasattr(step, "n_features_in_")), model)


def pipelines_in(model: Foreign) -> list[Foreign]:
    """Return the pipelines that read the raw features: one, one for each member, or none."""
    inner = inside(model)
    has_members = any(name in WITH_MEMBERS for _, name in lineage(type(inner)))
    every = inner.estimators_ if has_members else [inner]
    return [inside(one) for one in every if is_pipeline(inside(one))]


def features_of(model: Foreign, example: Any = None, impute: bool = False) -> Features:
    """Return the features of a model, named by the model or else by a table.

    With ``impute`` missing values are read as the model's own imputer fills them.
    """
    names, named = _names_of(first_step(model), example)
    found = structure_of(model, names)
    if found is None:
        return Features(names, named, fills={} if impute else None)
    return replace(found, named=named, fills=found.fills if impute else None)


def _names_of(model: Foreign, example: Any) -> tuple[tuple[str, ...], bool]:
    known = getattr(model, "feature_names_in_", None)
    if known is not None:
        return tuple(str(name) for name in known), True
    # A CatBoost model from a file or a pickle says 0, and has their names.
    count = getattr(model, "n_features_in_", None) or len(getattr(model, "feature_names_", ()))
    count = count or None
    frame = as_frame(example)
    if frame is not None and (count is None or len(frame.columns) == count):
        return tuple(str(name) for name in frame.columns), False
    if count is None:
        shape = np.shape(example)
        if len(shape) != 2:
            raise InputError("Expected a table of samples with two dimensions.")
        count = shape[1]
    return tuple(f"x{i}" for i in range(int(count))), False


def structure_of(model: Foreign, names: tuple[str, ...]) -> Features | None:
    """Return what the steps make of the raw features; None for a model without steps."""
    levels = getattr(model, "searched_levels", None)
    if levels is not None:  # of a model whose steps are not read
        return Features(names, levels=levels) if levels else None
    found = [
        once("structure", pipeline, names, partial(_structure_of, pipeline, names))
        for pipeline in pipelines_in(model)
    ]
    if not found:
        return None
    first = found[0]
    if any(
        (s.levels, s.others, s.binned) != (first.levels, first.others, first.binned) for s in found
    ):
        raise UnsupportedModelError(
            f"The pipelines in this {type(inside(model)).__name__} read the raw features each in a "
            "way of its own (other categories or bins). Put the steps that encode or bin them in "
            "front of it."
        )
    every = [s.fills or {} for s in found]
    fills = {j: v for j, v in every[0].items() if all(some.get(j) == v for some in every)}
    unused = frozenset.intersection(*(s.unused for s in found))
    ends = tuple(dict.fromkeys(end for s in found for end in s.ends))
    parts = frozenset[int]().union(*(s.parts for s in found))
    return replace(first, fills=fills, unused=unused, ends=ends, parts=parts)


def _structure_of(pipeline: Foreign, names: tuple[str, ...]) -> Features:
    walk = Walk(Features(names), recording=True)
    _walk(pipeline, walk)
    levels: list[tuple[Any, ...] | None] = [None] * len(names)
    others = set()
    for j, declared in walk.declared.items():
        every = dict.fromkeys(v for known, _ in declared for v in known)
        levels[j] = tuple(
            v for v in every if all(takes or _is_in(v, known) for known, takes in declared)
        )
        if all(takes for _, takes in declared):
            others.add(j)
    fills = {
        j: values[0]
        for j, values in walk.fills.items()
        if j not in walk.ambiguous and all(v == values[0] for v in values)
    }
    plain = all(found is None for found in levels)
    known = () if plain else tuple(levels)
    features = Features(names, False, known, frozenset(others), tuple(walk.binned))
    columns = _mapped(pipeline, features, Walk(features, recording=False))
    ends = tuple((b.feature, *b.limits()) for b in columns.bends if not b.is_total)
    parts = frozenset(b.feature for b in columns.bends if b.has_part)
    unused = _unused(columns, features)
    return replace(features, fills=fills, unused=unused, ends=ends, parts=parts)


def filled_features(model: Foreign, names: tuple[str, ...]) -> frozenset[int]:
    """Return the features of which a step fills in missing values, or may do so."""
    found = set[int]()
    if getattr(model, "searched_levels", None) is not None:
        return frozenset()
    for pipeline in pipelines_in(model):
        walk = Walk(Features(names), recording=True)
        _walk(pipeline, walk)
        found |= walk.filled
    return frozenset(found)


def missing_as_unknown(model: Foreign, features: Features) -> frozenset[int]:
    """Return the categorical features of which a missing value is like an unknown category."""
    told = set[int]()
    if getattr(model, "searched_levels", None) is not None:
        return frozenset()
    for pipeline in pipelines_in(model):
        walk = Walk(Features(features.names), recording=True)
        _walk(pipeline, walk)
        told |= walk.told | walk.filled
    return features.others - told


def _unused(columns: Columns, features: Features) -> frozenset[int]:
    """Return the features that do not reach the last step, whatever they hold."""
    found = set[int]()
    for affine in (columns.map, *([columns.products.base] if columns.products else [])):
        used = affine.matrix != 0 if affine.is_diagonal else (affine.matrix != 0).any(axis=0)
        found |= {int(j) for j in columns.owners[: len(used)][used]}
    return frozenset(range(len(features))) - found


def _is_in(value: Any, known: tuple[Any, ...]) -> bool:
    return value in known or bool(is_missing([value])[0] and is_missing(known).any())


def _walk(pipeline: Foreign, walk: Walk) -> Columns:
    """Return the columns that reach the last step, pipelines in pipelines included."""
    columns = walk_steps(pipeline.steps[:-1], Columns.start(walk.features), walk)
    last = as_pipeline(unwrap(pipeline.steps[-1][1]))
    while is_pipeline(last):
        columns = walk_steps(last.steps[:-1], columns, walk)
        last = as_pipeline(unwrap(last.steps[-1][1]))
    return columns


def _mapped(pipeline: Foreign, features: Features, walk: Walk) -> Columns:
    """Return the same for features that are known; how they are named or filled does not matter."""
    key = features.names, features.levels, features.others, features.binned
    return replace(once("map", pipeline, key, partial(_walk, pipeline, walk)), features=features)


def columns_of(model: Foreign) -> Columns | None:
    """Return the columns that reach the last step; None for a model without steps."""
    return once("columns", model, None, partial(_columns_of, model))


def _columns_of(model: Foreign) -> Columns | None:
    pipeline = inside(model)
    if not is_pipeline(pipeline):
        return None
    features = features_of(pipeline)
    walk = Walk(features, recording=False)
    columns = _mapped(pipeline, features, walk)
    last = pipeline.steps[-1][1]
    if with_own_steps(last) is last:  # a model's own encoder may give NaN: it knows missing values
        columns.require_numbers(walk, last)
    return columns


def mixes_features(model: Foreign) -> bool:
    """Return whether any column that reaches the last step follows from several raw features."""
    columns = columns_of(model)
    if columns is None or columns.map.is_diagonal:
        return False
    used, owner = columns.map.matrix != 0, columns.owners
    return any(len(np.unique(owner[row])) > 1 for row in used)


def pull_back(region: Region, columns: Columns | None) -> Region:
    """Return a region of the last step's space in raw units."""
    if columns is None:
        return region
    if columns.products is None:
        back = region.pull_back_choices(columns.map, columns.features.groups)
        return unbend(back, columns.bends, columns.features.dim) if columns.bends else back
    products, affine = columns.products, columns.map
    what = "PolynomialFeatures(degree=2)"
    return each_cell(region, lambda cell: products.pull_back(cell, affine), what, affine.dim_in)


@register_model(*PIPELINES)
def pipeline_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of the last step, pulled back through the steps before it."""
    columns, last = columns_of(model), final_step(model)
    for inner in pipelines_in(last):
        if not features_of(inner).is_plain:
            raise UnsupportedModelError(
                f"{type(last).__name__} over pipelines that encode or bin is supported on raw "
                "features only, not as the last step of another pipeline."
            )
    return pull_back(decision_region(last, label, margin), columns)


@register_model(*(name for name, place in WRAPPERS.items() if place))
def wrapped_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of the model inside."""
    return decision_region(_wrapped(model), label, margin)


@register_model(*(name for name, place in WRAPPERS.items() if not place))
def threshold_region(model: Foreign, label: Any, margin: float) -> Region:
    """Refuse: these move the threshold of the model inside."""
    raise UnsupportedModelError(
        f"{type(model).__name__} decides by a threshold of its own. Explain its estimator_ with "
        "min_proba set to that threshold instead."
    )
