"""Sums of trees in skops files: those that are whole are read, the others refused."""

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

from pertinent.models.files import UnsafeModelError, load_model

WINE, CANCER = load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3),
        ExtraTreesClassifier(3),
        BaggingClassifier(n_estimators=3),
        BaggingClassifier(n_estimators=3, max_features=0.5),
        AdaBoostClassifier(n_estimators=3),
        GradientBoostingClassifier(n_estimators=2),
        GradientBoostingClassifier(n_estimators=2, init="zero"),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("data", [WINE, CANCER], ids=["wine", "cancer"])
def test_whole_models_are_read(model, data, tmp_path):
    skops.io.dump(model.fit(*data), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


def _too_many_trees(model):
    model.estimators_ = np.hstack([model.estimators_] * 3)


def _too_few_sums(model):
    model.init_.class_prior_ = model.init_.class_prior_[:2]
    model.init_.classes_, model.init_.n_classes_ = model.init_.classes_[:2], 2


def _no_trees(model):
    model.estimators_ = model.estimators_[:0]


def _another_start(model):
    model.init_ = RandomForestClassifier(2).fit(*WINE)


@pytest.mark.parametrize("damage", [_too_many_trees, _too_few_sums, _no_trees, _another_start])
def test_damaged_gradient_boosting_is_refused(damage, tmp_path):
    model = GradientBoostingClassifier(n_estimators=2).fit(*WINE)
    damage(model)
    skops.io.dump(model, tmp_path / "model.skops")
    with pytest.raises(UnsafeModelError, match="damaged"):
        load_model(tmp_path / "model.skops")


def test_damaged_bagging_is_refused(tmp_path):
    model = BaggingClassifier(n_estimators=3, max_features=0.5).fit(*WINE)
    model.estimators_ = model.estimators_[:2]
    skops.io.dump(model, tmp_path / "model.skops")
    with pytest.raises(UnsafeModelError):
        load_model(tmp_path / "model.skops")
