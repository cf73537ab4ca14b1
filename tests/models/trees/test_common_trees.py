"""The common checks over small models of every tree library."""

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from pertinent.testing import parametrize_with_region_checks

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
TWO = WINE[0][:, [0, 6, 9, 12]], np.where(WINE[1] == 1, "second", "other")
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "iterations": 6, "depth": 3}

CASES = [
    (RandomForestClassifier(6, max_depth=3, random_state=0), IRIS),
    (ExtraTreesClassifier(6, max_depth=3, random_state=0), TWO),
    (BaggingClassifier(n_estimators=5, random_state=0), IRIS),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6, random_state=0), TWO),
    (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0), IRIS),
    (GradientBoostingClassifier(n_estimators=8, max_depth=2), TWO),
    (GradientBoostingClassifier(n_estimators=4, max_depth=2), IRIS),
    (HistGradientBoostingClassifier(max_iter=8), TWO),
    (HistGradientBoostingClassifier(max_iter=4), IRIS),
    (xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1), (TWO[0], TWO[1] == "other")),
    (xgboost.XGBClassifier(n_estimators=4, max_depth=3, n_jobs=1), IRIS),
    (lightgbm.LGBMClassifier(n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1), TWO),
    (lightgbm.LGBMClassifier(n_estimators=4, num_leaves=6, verbose=-1, n_jobs=1), IRIS),
    (catboost.CatBoostClassifier(**QUIET), TWO),
    (catboost.CatBoostClassifier(**QUIET), IRIS),
]


@pytest.mark.matrix(4)
@parametrize_with_region_checks([(model.fit(*data), data[0]) for model, data in CASES])
def test_common(model, X, check):
    check(model, X)
