"""Missing values that a model takes itself: which features may be missing, and their regions.

Trees send a missing value to a side of each node, so it is a value of its own. Two things must hold
of a feature that may be missing: no step before the trees fills it in, and the library takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.ensembles import as_ensemble
from pertinent.geometry.region import Region, as_opaque
from pertinent.models.registry import lineage
from pertinent.models.steps.pipeline import (
    HISTOGRAMS,
    filled_features,
    final_step,
    inside,
    missing_as_unknown,
)
from pertinent.models.trees.of_catboost import leaves_gaps
from pertinent.tables.features import Features

#: Models of scikit-learn that are read with their missing values, where they take them.
FORESTS = (
    *HISTOGRAMS,
    "sklearn.ensemble.RandomForestClassifier",
    "sklearn.ensemble.RandomForestRegressor",
    "sklearn.ensemble.ExtraTreesClassifier",
    "sklearn.ensemble.ExtraTreesRegressor",
    "sklearn.ensemble.BaggingClassifier",
)
#: Those of other libraries, which always take them.
BOOSTERS = (
    "xgboost.sklearn.XGBClassifier",
    "xgboost.sklearn.XGBRegressor",
    "lightgbm.sklearn.LGBMClassifier",
    "lightgbm.sklearn.LGBMRegressor",
    "pertinent.models.trees.native.BoosterClassifier",
    "pertinent.models.trees.native.BoosterRegressor",
)
CATBOOST = {"catboost.core.CatBoostClassifier", "catboost.core.CatBoostRegressor"}


def may_be_missing(model: Foreign, features: Features, *, may_lose: bool) -> Features:
    """Return the features with a mark for each number that may be missing.

    ``may_lose`` says whether others may become missing. Where a missing number stands is 0 for
    now: see `standing`. Missing categories can be kept, where the model takes unknown ones alike.
    """
    last = final_step(inside(model))
    if not _model_takes_missing(model):
        raise InputError(
            "missing='keep' leaves missing values to the model, and "
            f"{type(last).__name__} is none that is known to take them. Known are "
            "HistGradientBoosting, RandomForest, ExtraTrees, bagged trees, XGBoost, LightGBM and "
            "CatBoost. Fill them first, or use missing='impute' if the pipeline does."
        )
    free, lost = _reaching(model, features), missing_as_unknown(model, features)
    if not (free or lost):
        raise InputError(
            f"missing='keep' leaves missing values to {type(last).__name__}, and none reaches it: "
            "steps before it fill them in, or may. Use missing='impute' instead."
        )
    return replace(features, absent=dict.fromkeys(free, 0.0), may_lose=may_lose, lost=lost)


def takes_missing(model: Foreign, features: Features) -> bool:
    """Return whether missing values may be left to the model, at least those of one feature."""
    if not _model_takes_missing(model):
        return False
    return bool(_reaching(model, features) or missing_as_unknown(model, features))


def _model_takes_missing(model: Foreign) -> bool:
    """Return whether missing values may be left to a model; one that is searched has seen some."""
    gaps = getattr(model, "searched_gaps", None)
    return _takes_missing(final_step(inside(model))) if gaps is None else bool(gaps)


def _reaching(model: Foreign, features: Features) -> list[int]:
    """Return the numbers of which a missing value reaches the model: no step fills it in."""
    filled = filled_features(model, features.names) | features.unused
    some = getattr(model, "searched_gaps", range(len(features)))
    return [j for j in some if not features.is_category(j) and j not in filled]


def standing(features: Features, stands: Mapping[int, float]) -> Features:
    """Return the features with the numbers at which missing ones stand, by feature."""
    return replace(features, absent={j: float(stands[j]) for j in features.absent})


def with_gaps(region: Region, features: Features) -> Region:
    """Return a region of the model over columns that say where a number is missing."""
    opaque = as_opaque(region)
    if opaque is not None:
        return replace(opaque, columns=features.dim)
    if not features.absent:
        return region
    trees = as_ensemble(region)
    if trees is None:
        raise UnsupportedModelError(
            "missing='keep' is supported for sums of trees, and this model is read as something "
            "else. Fill missing values first."
        )
    marked = np.isin(np.arange(features.dim), list(features.marks.values()))
    columns = np.flatnonzero(~marked)
    marks = np.array([features.marks.get(int(j), -1) for j in columns], dtype=np.int64)
    return trees.with_marks(columns, marks, features.dim)


def _takes_missing(model: Any) -> bool:
    """Return whether a model is known to take missing values as its trees say."""
    names = {name for _, name in lineage(type(model))}
    if names & set(BOOSTERS):
        return True
    if CATBOOST & names:
        return leaves_gaps(model)
    return bool(names & set(FORESTS)) and bool(get_tags(model).input_tags.allow_nan)
