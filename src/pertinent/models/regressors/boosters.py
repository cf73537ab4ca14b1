"""Regressors of XGBoost, LightGBM and CatBoost: one sum of trees, and what is made of it."""

from __future__ import annotations

from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Region
from pertinent.models.regressors.ranges import Link, Range
from pertinent.models.regressors.registry import register_regressor
from pertinent.models.regressors.trees import sum_in_range
from pertinent.models.trees import of_catboost, of_lightgbm, of_xgboost
from pertinent.models.trees.native import BoosterRegressor


@register_regressor("xgboost.sklearn.XGBRegressor")
def xgboost_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where a regressor of XGBoost predicts within the range.

    What becomes of the sum, the library itself says: of counts it is an exponential in single
    precision.
    """
    return _xgboost_in_range(wanted, margin, *of_xgboost.used_of(model))


def _xgboost_in_range(
    wanted: Range, margin: float, booster: Foreign, rounds: int | None = None
) -> Region:
    ensemble, made_of = of_xgboost.regression_of(booster, rounds)
    if made_of is not None:
        wanted = wanted.through(Link(made_of, exact=True))
    return sum_in_range(ensemble, wanted, margin)


@register_regressor("lightgbm.sklearn.LGBMRegressor")
def lightgbm_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where a regressor of LightGBM predicts within the range."""
    return _lightgbm_in_range(wanted, margin, model.booster_)


def _lightgbm_in_range(wanted: Range, margin: float, booster: Foreign) -> Region:
    ensemble, made_of = of_lightgbm.regression_of(booster.model_to_string())
    if made_of is not None:
        wanted = wanted.through(Link(made_of))
    return sum_in_range(ensemble, wanted, margin)


@register_regressor("pertinent.models.trees.native.BoosterRegressor")
def booster_in_range(model: BoosterRegressor, wanted: Range, margin: float) -> Region:
    """Return where a Booster predicts within the range."""
    read = _xgboost_in_range if model.is_xgboost else _lightgbm_in_range
    return read(wanted, margin, model.booster)


@register_regressor("catboost.core.CatBoostRegressor")
def catboost_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where a regressor of CatBoost predicts within the range."""
    ensemble, made_of = of_catboost.regression_of(model)
    return sum_in_range(ensemble, wanted.through(Link(made_of, exact=True)), margin)
