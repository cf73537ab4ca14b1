"""Forests of scikit-learn: the region is what `predict` says, on cuts and at ties too."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.trees.forests import forest_of

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
FORESTS = [
    RandomForestClassifier(25, random_state=0).fit(*WINE),
    RandomForestClassifier(40, max_depth=4, random_state=0).fit(*CANCER),
    ExtraTreesClassifier(25, max_depth=5, random_state=0).fit(*WINE),
    ExtraTreesClassifier(10, bootstrap=True, random_state=0).fit(*IRIS),
]


def _points_on_cuts(model, X, n=3000, seed=0):
    """Return samples with values moved onto cuts, one float beside them, or left alone."""
    rng = np.random.default_rng(seed)
    points = X[rng.integers(len(X), size=n)].astype(float)
    for j, cuts in enumerate(forest_of(model).cuts):
        if not len(cuts):
            continue
        cut = rng.choice(cuts, n)
        kinds = [cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf)]
        kinds += [cut.astype(np.float32).astype(float)]
        points[:, j] = np.choose(rng.integers(0, 8, n), [*kinds, *[points[:, j]] * 4])
    return points


@pytest.mark.parametrize("model", FORESTS, ids=lambda m: type(m).__name__)
def test_the_region_is_what_predict_says_on_cuts_and_beside_them(model):
    data = {4: IRIS, 13: WINE, 30: CANCER}[model.n_features_in_]
    points = _points_on_cuts(model, data[0])
    predicted = model.predict(points)
    for k, label in enumerate(model.classes_):
        region = pertinent.decision_region(model, label)
        np.testing.assert_array_equal(region.contains(points), predicted == label)
        outside = region.complement()
        np.testing.assert_array_equal(outside.contains(points), predicted != label)
        assert k == region.label


def test_sums_are_those_of_predict_to_the_bit():
    model = FORESTS[0]
    points = _points_on_cuts(model, WINE[0])
    forest = forest_of(model)
    mine = forest.tally.outputs(forest.totals(points))
    np.testing.assert_array_equal(mine, model.predict_proba(points))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_exact_ties_go_to_the_first_class(kind, n_jobs):
    # Two points, each seen as often in both classes: every vote is (0.5, 0.5).
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]] * 5), np.array(["b", "a"] * 10)
    model = kind(10, random_state=0, n_jobs=n_jobs).fit(X, y)
    for estimator in model.estimators_:
        estimator.tree_.value[:] = 0.5
    assert (model.predict(X) == "a").all()
    assert pertinent.decision_region(model, "a").contains(X).all()
    assert not pertinent.decision_region(model, "b").contains(X).any()


def test_where_threads_may_round_otherwise_no_class_is_sure():
    model = RandomForestClassifier(9, random_state=0, n_jobs=2).fit(*IRIS)
    for estimator in model.estimators_:
        estimator.tree_.value[:] = 1 / 3
    regions = [pertinent.decision_region(model, k) for k in range(3)]
    assert not any(region.contains(IRIS[0]).any() for region in regions)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-3.0, 5.0))])
def test_scalers_fold_into_the_cuts(scaler):
    X, y = WINE
    model = make_pipeline(scaler, RandomForestClassifier(15, random_state=0)).fit(X, y)
    points = X[np.random.default_rng(0).integers(len(X), size=(2000, 13)), np.arange(13)]
    for label in model.classes_:
        region = pertinent.decision_region(model, label)
        np.testing.assert_array_equal(region.contains(points), model.predict(points) == label)


def test_all_classes_share_the_trees_in_raw_units():
    X, y = IRIS
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)).fit(X, y)
    regions = [pertinent.decision_region(model, label) for label in (0, 1)]
    assert regions[0].ensemble is regions[1].ensemble
    kept = [pertinent.decision_region(model, label, margin=0.1) for label in (0, 1)]
    assert kept[0].ensemble is kept[1].ensemble is not regions[0].ensemble
    model.steps[0] = ("standardscaler", StandardScaler().fit(3 * X))
    assert pertinent.decision_region(model, 0).ensemble is not regions[0].ensemble


def test_sums_of_columns_are_refused_with_the_reason():
    model = make_pipeline(PCA(2), RandomForestClassifier(5)).fit(*WINE)
    with pytest.raises(UnsupportedModelError, match="adds up several columns, as PCA does"):
        pertinent.decision_region(model, 0)
