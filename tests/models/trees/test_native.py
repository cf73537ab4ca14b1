"""Boosters without a scikit-learn class around them."""

import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_wine

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.models.trees.native import BoosterClassifier
from tests.models.trees.on_cuts import assert_reads_right

WINE, CANCER = load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)


def _xgboost(data, objective, **more):
    options = {"objective": objective, "max_depth": 4, "nthread": 1, **more}
    return xgboost.train(options, xgboost.DMatrix(*data), 12)


def _lightgbm(data, objective, **more):
    options = {"objective": objective, "verbose": -1, "num_threads": 1, **more}
    return lightgbm.train(options, lightgbm.Dataset(*data), 12)


BOOSTERS = {
    "xgboost of two": lambda: (_xgboost(CANCER, "binary:logistic"), CANCER),
    "xgboost of three": lambda: (_xgboost(WINE, "multi:softprob", num_class=3), WINE),
    "xgboost, softmax": lambda: (_xgboost(WINE, "multi:softmax", num_class=3), WINE),
    "lightgbm of two": lambda: (_lightgbm(CANCER, "binary"), CANCER),
    "lightgbm of three": lambda: (_lightgbm(WINE, "multiclass", num_class=3), WINE),
}


@pytest.mark.parametrize("name", BOOSTERS)
def test_regions_are_what_predict_says(name):
    booster, (X, y) = BOOSTERS[name]()
    model = BoosterClassifier(booster, classes=[f"class {k}" for k in range(len(set(y)))])
    assert_reads_right(pickle.loads(pickle.dumps(model)), X)
    # The label is the one whose probability the library says is largest.
    rows = xgboost.DMatrix(X) if name.startswith("xgboost") else X
    p = booster.predict(rows)
    place = p.argmax(axis=1) if p.ndim == 2 else p if "softmax" in name else p > 0.5
    assert (model.predict(X) == model.classes_[place.astype(int)]).all()


def test_a_booster_is_explained():
    booster, (X, _) = BOOSTERS["xgboost of two"]()
    model = BoosterClassifier(booster, classes=["malignant", "benign"])
    explanation = pertinent.Explainer(model, data=X).explain(X[:1])[0]
    assert pertinent.check(explanation.json(), model).verdict == "holds"


def test_what_cannot_be_read_is_refused_with_the_reason():
    booster, (X, _) = BOOSTERS["xgboost of two"]()
    with pytest.raises(InputError, match="2 classes apart, and 3 labels"):
        BoosterClassifier(booster, classes=["a", "b", "c"])
    with pytest.raises(UnsupportedModelError, match="A Booster predicts numbers"):
        pertinent.pertinent_negatives(booster, X[:1])
    with pytest.raises(UnsupportedModelError, match="Got str"):
        BoosterClassifier("model.json")
    regression = _xgboost((X, X[:, 0]), "reg:squarederror")
    with pytest.raises(UnsupportedModelError, match="'reg:squarederror' does not decide"):
        BoosterClassifier(regression)


def test_missing_values_go_where_the_booster_sends_them():
    X = np.where(np.random.default_rng(0).random(CANCER[0].shape) < 0.1, np.nan, CANCER[0])
    for booster in (
        _xgboost((X, CANCER[1]), "binary:logistic"),
        _lightgbm((X, CANCER[1]), "binary"),
    ):
        assert_reads_right(BoosterClassifier(booster), CANCER[0], missing=0.2)
