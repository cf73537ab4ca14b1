"""Boosters of XGBoost and LightGBM without their scikit-learn classes.

A Booster gives probabilities; which class that means is what `BoosterClassifier` adds, in the way
of the libraries' own classifiers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, lineage, refuse_model, register_model
from pertinent.models.trees import of_lightgbm, of_xgboost

XGBOOST, LIGHTGBM = "xgboost.core.Booster", "lightgbm.basic.Booster"


class BoosterClassifier:
    """A Booster of XGBoost or LightGBM as a classifier, which can be explained.

    Parameters
    ----------
    booster : xgboost.Booster or lightgbm.Booster
        Trained to tell classes apart (``binary:logistic``, ``multi:softprob``; ``binary``,
        ``multiclass``). XGBoost's are used with all their trees, LightGBM's up to the best round,
        as their ``predict`` does.
    classes : sequence, optional
        The labels; 0, 1, ... by default.

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

    def __init__(self, booster: Foreign, classes: Any = None) -> None:
        self.booster = booster
        ensemble = self._ensemble()
        count = ensemble.tally.n_classes
        self.classes_: NDArray[Any] = np.arange(count) if classes is None else np.asarray(classes)
        if self.classes_.shape != (count,):
            raise InputError(
                f"The booster tells {count} classes apart, and {len(self.classes_)} labels were "
                "given."
            )
        self.n_features_in_ = ensemble.dim

    @property
    def _is_xgboost(self) -> bool:
        names = {name for _, name in lineage(type(self.booster))}
        if not names & {XGBOOST, LIGHTGBM}:
            raise UnsupportedModelError(
                "A BoosterClassifier holds a Booster of XGBoost or LightGBM. Got "
                f"{type(self.booster).__name__}."
            )
        return XGBOOST in names

    def _ensemble(self) -> Ensemble:
        if self._is_xgboost:
            return of_xgboost.booster_of(self.booster)
        return of_lightgbm.ensemble_of(self.booster.model_to_string())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row of an array or a table."""
        values = np.asarray(X)
        values = values if values.dtype == np.float32 else values.astype(float)
        p: FloatArray
        if self._is_xgboost:
            p = np.asarray(self.booster.inplace_predict(values))
            if p.ndim == 1 and len(self.classes_) > 2:  # multi:softmax gives the class itself
                return np.asarray(self.classes_[p.astype(np.int64)])
            high = p > 0.5
        else:
            p = np.asarray(self.booster.predict(values))
            high = p > 1.0 - p
        return np.asarray(self.classes_[p.argmax(axis=1) if p.ndim == 2 else high.astype(np.int64)])


@register_model("pertinent.models.trees.native.BoosterClassifier")
def booster_region(model: BoosterClassifier, label: Any, margin: float) -> Region:
    """Return where a Booster predicts a label."""
    return EnsembleRegion.of(model._ensemble(), class_index(model, label), margin)


refuse_model(
    XGBOOST,
    LIGHTGBM,
    because="A Booster predicts numbers, and no labels. Explain "
    "pertinent.models.trees.native.BoosterClassifier(booster, classes=[...]) instead.",
)
