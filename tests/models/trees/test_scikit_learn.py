"""Boosted and bagged trees of scikit-learn: the region is what `predict` says."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import UnsupportedModelError
from tests.models.trees.on_cuts import assert_is_what_predict_says, assert_reads_right

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
NAMES = np.array(["red", "green", "blue"])


def _with_gaps(X, share=0.1):
    return np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)


MODELS = {
    "bagging": (BaggingClassifier(n_estimators=20, random_state=0), *WINE),
    "bagging of some columns": (
        BaggingClassifier(n_estimators=20, max_features=0.4, bootstrap_features=True),
        *CANCER,
    ),
    "bagging that misses classes": (
        BaggingClassifier(n_estimators=12, max_samples=4, random_state=0),
        WINE[0],
        NAMES[WINE[1]],
    ),
    "AdaBoost of two": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30, random_state=0),
        *CANCER,
    ),
    "AdaBoost of three": (
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30, random_state=0),
        WINE[0],
        NAMES[WINE[1]],
    ),
    "gradient boosting of two": (GradientBoostingClassifier(n_estimators=40), *CANCER),
    "gradient boosting of three": (GradientBoostingClassifier(n_estimators=15), *WINE),
    "gradient boosting, exponential": (
        GradientBoostingClassifier(n_estimators=15, loss="exponential", init="zero"),
        *CANCER,
    ),
    "gradient boosting, stopped early": (
        GradientBoostingClassifier(
            n_estimators=200, n_iter_no_change=2, init=DummyClassifier(), subsample=0.5
        ),
        *WINE,
    ),
    "histograms of two": (HistGradientBoostingClassifier(max_iter=40), *CANCER),
    "histograms of three": (
        HistGradientBoostingClassifier(max_iter=15, early_stopping=True, class_weight="balanced"),
        WINE[0],
        NAMES[WINE[1]],
    ),
}
GAPS = {
    "random forest": (RandomForestClassifier(20, random_state=0), _with_gaps(WINE[0]), WINE[1]),
    "extra trees": (ExtraTreesClassifier(20, random_state=0), _with_gaps(WINE[0]), WINE[1]),
    "bagging": (BaggingClassifier(n_estimators=9), _with_gaps(WINE[0]), WINE[1]),
    "histograms": (HistGradientBoostingClassifier(max_iter=20), _with_gaps(CANCER[0]), CANCER[1]),
    "histograms, no gaps seen": (HistGradientBoostingClassifier(max_iter=20), *CANCER),
    "forest, no gaps seen": (RandomForestClassifier(20, random_state=0), *WINE),
}


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", MODELS)
def test_the_region_is_what_predict_says_on_cuts_and_beside_them(name):
    model, X, y = MODELS[name]
    assert_reads_right(model.fit(X, y), X)


@pytest.mark.parametrize("name", GAPS)
def test_missing_values_go_where_the_library_sends_them(name):
    model, X, y = GAPS[name]
    assert_reads_right(model.fit(X, y), np.nan_to_num(X), missing=0.3)


def test_a_falling_step_before_trees_keeps_missing_values_on_their_side():
    X, y = _with_gaps(CANCER[0]), CANCER[1]
    scaler = StandardScaler().fit(X)
    scaler.scale_ = -scaler.scale_
    boosted = HistGradientBoostingClassifier(max_iter=20).fit(scaler.transform(X), y)
    model = make_pipeline(scaler, boosted)
    # Off the cuts, where (x - mean) / scale and slope * x + shift round to different numbers.
    assert_is_what_predict_says(model, X * np.random.default_rng(0).uniform(0.99, 1.01, X.shape))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_bagged_ties_go_to_the_first_class(n_jobs):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]] * 5), np.array(["b", "a"] * 10)
    model = BaggingClassifier(n_estimators=10, n_jobs=n_jobs, random_state=0).fit(X, y)
    for one in model.estimators_:
        one.tree_.value[:] = 0.5
    assert set(assert_is_what_predict_says(model, X)) == {"a"}


def test_bagged_thirds_in_threads_are_sure_of_no_class():
    model = BaggingClassifier(n_estimators=9, n_jobs=2, random_state=0).fit(*IRIS)
    for one in model.estimators_:
        one.tree_.value[:] = 1 / 3
    regions = [pertinent.decision_region(model, k) for k in range(3)]
    assert not any(region.contains(IRIS[0]).any() for region in regions)


def test_opposite_votes_of_adaboost_tie_for_the_first_class():
    X, y = np.array([[0.0], [1.0]] * 20), np.array(["a", "b"] * 20)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=1).fit(X, y)
    model.estimators_ *= 3
    model.estimator_weights_ = np.array([0.3, -0.1, -0.2])  # 0.3 - 0.1 - 0.2 < 0, by rounding
    assert_is_what_predict_says(model, X)
    model.estimator_weights_ = np.array([0.5, -0.25, -0.25])
    with np.errstate(invalid="ignore"):  # the library divides 0 by 0, and 0 / 0 > 0 is false
        assert set(assert_is_what_predict_says(model, X)) == {"a"}


def test_votes_of_three_classes_that_tie_go_to_the_first():
    X = np.array([[0.0], [1.0], [2.0]] * 9)
    trees = [DecisionTreeClassifier().fit(X, np.roll([2, 1, 0], k).tolist() * 9) for k in range(3)]
    model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=3).fit(X, [0, 1, 2] * 9)
    model.estimators_, model.estimator_weights_ = trees, np.full(3, 0.7)
    predicted = assert_is_what_predict_says(model, X)
    assert set(predicted) == {0}


def _opposite_boosting(kind, **more):
    """Return gradient boosting whose two trees are each other's negative: the sum is 0."""
    X, y = np.array([[0.0], [1.0]] * 40), np.array([0, 1] * 40)
    model = kind(**more).fit(X, y)
    return model, X


def test_ties_of_gradient_boosting_go_to_class_1():
    model, X = _opposite_boosting(GradientBoostingClassifier, n_estimators=2, init="zero")
    model.estimators_[1, 0].tree_.value[:] = -model.estimators_[0, 0].tree_.value
    assert set(assert_is_what_predict_says(model, X)) == {1}


def test_ties_of_histogram_boosting_go_to_class_0():
    model, X = _opposite_boosting(HistGradientBoostingClassifier, max_iter=2, min_samples_leaf=5)
    first, second = (step[0].nodes for step in model._predictors)
    second["value"] = -first["value"]
    model._baseline_prediction[:] = 0.0
    assert set(assert_is_what_predict_says(model, X)) == {0}


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_three_classes_that_tie_go_to_the_first(kind):
    X, y = np.zeros((60, 1)), np.array([2, 1, 0] * 20)
    assert set(assert_is_what_predict_says(kind().fit(X, y), X)) == {0}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (BaggingClassifier(LogisticRegression()), "made of LogisticRegression"),
        (AdaBoostClassifier(LogisticRegression()), "made of LogisticRegression"),
        (GradientBoostingClassifier(init=LogisticRegression()), "adds its trees to another model"),
    ],
)
def test_what_is_no_sum_of_trees_is_refused_with_the_reason(model, reason):
    X, y = StandardScaler().fit_transform(CANCER[0]), CANCER[1]
    with pytest.raises(UnsupportedModelError, match=reason):
        pertinent.decision_region(model.fit(X, y), 0)


def test_steps_before_boosted_trees_fold_into_the_cuts():
    X, y = WINE
    model = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=10)).fit(X, y)
    points = X[np.random.default_rng(0).integers(len(X), size=(2000, 13)), np.arange(13)]
    assert_is_what_predict_says(model, points)
