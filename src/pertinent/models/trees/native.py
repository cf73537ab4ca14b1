"""Boosters of XGBoost and LightGBM without their scikit-learn classes.

A Booster gives probabilities; which class that means is what `BoosterClassifier` adds, in the way
of the libraries' own classifiers. `BoosterRegressor` is for those that predict numbers.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, lineage, refuse_model, register_model
from pertinent.models.trees import of_lightgbm, of_xgboost

XGBOOST, LIGHTGBM = "xgboost.core.Booster", "lightgbm.basic.Booster"


class _Booster:
    """A Booster, and what its library says of rows."""

    n_features_in_: int

    def __init__(self, booster: Foreign, names: Any) -> None:
        self.booster = booster
        if not self._names() & {XGBOOST, LIGHTGBM}:
            raise UnsupportedModelError(
                f"A {type(self).__name__} holds a Booster of XGBoost or LightGBM. Got "
                f"{type(booster).__name__}."
            )
        if names is not None:
            self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)

    def __repr__(self) -> str:
        of = "xgboost" if self.is_xgboost else "lightgbm"
        return f"<{type(self).__name__} of {of}: {self._what()}{self.n_features_in_} features>"

    def _what(self) -> str:
        return ""

    def _names(self) -> set[str]:
        return {name for _, name in lineage(type(self.booster))}

    @property
    def is_xgboost(self) -> bool:
        """Whether the library is XGBoost."""
        return XGBOOST in self._names()

    def _output(self, X: Any) -> FloatArray:
        """Return what the library predicts for each row of an array or a table."""
        values = np.asarray(X)
        values = values if values.dtype == np.float32 else values.astype(float)
        if self.is_xgboost:
            return np.asarray(self.booster.inplace_predict(values))
        return np.asarray(self.booster.predict(values))


class BoosterClassifier(_Booster):
    """A Booster of XGBoost or LightGBM as a classifier, which can be explained.

    Parameters
    ----------
    booster : xgboost.Booster or lightgbm.Booster
        Trained to tell classes apart (``binary:logistic``, ``multi:softprob``; ``binary``,
        ``multiclass``). XGBoost's are used with all their trees, LightGBM's up to the best round,
        as their ``predict`` does.
    classes : sequence, optional
        The labels; 0, 1, ... by default.
    names : sequence of str, optional
        The names of the features.

    Examples
    --------
    >>> import lightgbm
    >>> import pertinent
    >>> from pertinent.models.trees.native import BoosterClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> options = {"objective": "multiclass", "num_class": 3, "verbose": -1}
    >>> booster = lightgbm.train(options, lightgbm.Dataset(X, y), 5)
    >>> model = BoosterClassifier(booster, classes=["a", "b", "c"])
    >>> negatives = pertinent.pertinent_negatives(model, X[:3], target="b")
    >>> negatives.status.tolist()
    ['optimal', 'optimal', 'optimal']
    """

    def __init__(self, booster: Foreign, classes: Any = None, names: Any = None) -> None:
        super().__init__(booster, names)
        ensemble = self._ensemble()
        count = ensemble.tally.n_classes
        self.classes_: NDArray[Any] = np.arange(count) if classes is None else np.asarray(classes)
        if self.classes_.shape != (count,):
            raise InputError(
                f"The booster tells {count} classes apart, and {len(self.classes_)} labels were "
                "given."
            )
        self.n_features_in_ = ensemble.dim

    def _what(self) -> str:
        return f"{len(self.classes_)} classes, "

    def _ensemble(self) -> Ensemble:
        if self.is_xgboost:
            return of_xgboost.booster_of(self.booster)
        return of_lightgbm.ensemble_of(self.booster.model_to_string())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row of an array or a table."""
        p = self._output(X)
        if p.ndim == 2:
            return np.asarray(self.classes_[p.argmax(axis=1)])
        if self.is_xgboost and len(self.classes_) > 2:  # multi:softmax gives the class itself
            return np.asarray(self.classes_[p.astype(np.int64)])
        high = p > 0.5 if self.is_xgboost else p > 1.0 - p
        return np.asarray(self.classes_[high.astype(np.int64)])

    def _has_probabilities(self) -> bool:
        if not self.is_xgboost:
            return True
        learner = json.loads(self.booster.save_config())["learner"]
        return learner["objective"]["name"] in ("binary:logistic", "multi:softprob")

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, where the library gives probabilities."""
        p = self._output(X)
        return p if p.ndim == 2 else np.stack([1.0 - p, p], axis=1)


class BoosterRegressor(_Booster):
    """A Booster of XGBoost or LightGBM that predicts numbers, which can be explained.

    Parameters
    ----------
    booster : xgboost.Booster or lightgbm.Booster
        Trained to predict a number (``reg:squarederror``, ``count:poisson``; ``regression``, ...).
    names : sequence of str, optional
        The names of the features.

    Examples
    --------
    >>> import lightgbm
    >>> import pertinent
    >>> from pertinent.models.trees.native import BoosterRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> booster = lightgbm.train({"verbose": -1}, lightgbm.Dataset(X, y), 20)
    >>> model = BoosterRegressor(booster)
    >>> found = pertinent.Explainer(model, data=X).explain(X[1:2], target=(150, None)).negative
    >>> found.status.tolist(), bool(model.predict(found.points)[0] >= 150)
    (['optimal'], True)
    """

    def __init__(self, booster: Foreign, names: Any = None) -> None:
        super().__init__(booster, names)
        of = of_xgboost.regression_of if self.is_xgboost else _regression_of_lightgbm
        self.n_features_in_ = of(booster)[0].dim

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the number of each row of an array or a table."""
        return self._output(X)


def _regression_of_lightgbm(booster: Foreign) -> tuple[Ensemble, Any]:
    return of_lightgbm.regression_of(booster.model_to_string())


@register_model("pertinent.models.trees.native.BoosterClassifier")
def booster_region(model: BoosterClassifier, label: Any, margin: float) -> Region:
    """Return where a Booster predicts a label."""
    return EnsembleRegion.of(model._ensemble(), class_index(model, label), margin)


refuse_model(
    XGBOOST,
    LIGHTGBM,
    because="A Booster predicts numbers, and no labels. Explain "
    "pertinent.models.trees.native.BoosterClassifier(booster, classes=[...]) instead, or "
    "BoosterRegressor(booster) and a range of numbers.",
)
