"""A point is valid alone as in any batch, in any unit: by its margin, not because it was tried."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import data
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import pertinent
from pertinent import decision_region
from pertinent.geometry.rounding import STEP
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ
from pertinent.testing import assert_valid_in_any_company

pytestmark = pytest.mark.matrix(2)


def cars():
    """An unscaled table: 7 columns from about 1 to about 5000, three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(392) % 3
    size = (rng.normal(size=392) + 1.2 * y)[:, None]
    scale = np.array([1.5, 90, 35, 800, -1.5, 0.1, -6])
    noise = np.array([0.3, 20, 10, 250, 1.5, 3, 3])
    X = np.array([4, 180, 100, 3000, 15.5, 76, 24]) + size * scale
    return (X + noise * rng.normal(size=X.shape)).round(2), y


PROTOTYPES = {
    "centroid": NearestCentroid,
    "priors": lambda: NearestCentroid(priors=[0.5, 0.3, 0.2]),
    "tree": lambda: KNeighborsClassifier(1, algorithm="kd_tree"),
    "balls": lambda: KNeighborsClassifier(1, algorithm="ball_tree"),
    "brute": lambda: KNeighborsClassifier(1, algorithm="brute"),
    "glvq": lambda: GLVQ(2, random_state=0, max_iter=10),
    "gmlvq": lambda: GMLVQ(2, random_state=0, max_iter=10),
    "lgmlvq": lambda: LGMLVQ(1, random_state=0, max_iter=4),
    "scaled": lambda: make_pipeline(StandardScaler(), NearestCentroid()),
    "into [0, 1]": lambda: make_pipeline(MinMaxScaler(), GMLVQ(1, random_state=0, max_iter=10)),
}


@pytest.mark.parametrize("kind", PROTOTYPES)
@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
@pytest.mark.filterwarnings("ignore")
def test_prototypes_of_an_unscaled_table(kind, unit):
    X, y = cars()
    X = X * unit
    model = PROTOTYPES[kind]().fit(X, y)
    samples = X[:: 12 if kind in ("centroid", "glvq", "gmlvq") else 24]
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.status == "optimal").all()
    assert_valid_in_any_company(model, found.points, found.target)
    kept = pertinent.pertinent_positives(model, samples, baseline=X.mean(axis=0))
    assert kept.found.all()
    assert_valid_in_any_company(model, kept.points, model.predict(samples))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["centroid", "brute", "tree", "glvq"])
@pytest.mark.filterwarnings("ignore")
def test_prototypes_in_single_precision(kind, precision):
    X, y = cars()
    model, samples = PROTOTYPES[kind]().fit(X.astype(precision), y), X[::16].astype(np.float32)
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.status == "optimal").all()
    assert found.points.dtype == np.float32
    assert_valid_in_any_company(model, found.points, found.target)


@pytest.mark.parametrize("search", ["auto", "ball_tree"])
def test_neighbours_of_raw_images(search):
    X, y = data("digits")
    model = KNeighborsClassifier(1, algorithm=search).fit(X[:500] * 1e6, y[:500])
    found = pertinent.pertinent_negatives(model, X[:30] * 1e6)
    assert (found.status == "optimal").all()
    assert_valid_in_any_company(model, found.points, found.target)


@pytest.mark.parametrize("unit", [1e-14, 1e14, 1e16, 1e30])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["logistic", "LDA"])
def test_linear_models_in_huge_and_tiny_units(kind, classes, unit):
    """A margin of so many slopes of 1e-14 is lost in a constant of 1: it is measured otherwise."""
    X, y = data("iris")
    y = np.minimum(y, classes - 1)
    model = (
        LogisticRegression(max_iter=500) if kind == "logistic" else LinearDiscriminantAnalysis()
    ).fit(X, y)
    plain = pertinent.pertinent_negatives(model, X)
    model.coef_ = model.coef_ / unit
    found = pertinent.pertinent_negatives(model, X * unit)
    assert (found.status == "optimal").all()
    np.testing.assert_allclose(found.objective / unit, plain.objective, rtol=1e-6)
    assert_valid_in_any_company(model, found.points, found.target)


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute", "ball_tree"])
def test_what_rounds_depends_on_how_distances_are_added_up(algorithm):
    """Far from the origin, differences of 1e-9 are told apart by differences only."""
    model = KNeighborsClassifier(1, algorithm=algorithm).fit([[1e6, 0.0], [1e6 + 2, 0.0]], [0, 1])
    region = decision_region(model, 1)
    rounding = region.rounding(region.tighten(STEP))
    near, far = np.array([[1e6 + 1 + 1e-6, 0.0]]), np.array([[1e6 + 1.5, 0.0]])
    assert rounding.hold(far, single=False).all()
    assert rounding.hold(near, single=False).all() == (algorithm == "kd_tree")


def test_every_pair_of_prototypes_is_asked_for_what_it_rounds():
    """Two items next to each other, and others far away, whose margin would leave nothing."""
    places = np.array([[0.0, 0.0], [1e-3, 0.0], [10.0, 0.0], [-10.0, 5.0]])
    model = KNeighborsClassifier(1, algorithm="brute").fit(places, [0, 1, 0, 1])
    found = pertinent.pertinent_negatives(model, places[:2])
    assert (found.status == "optimal").all()
    np.testing.assert_allclose(found.objective, 5e-4, rtol=1e-6)
    assert_valid_in_any_company(model, found.points, found.target)


@pytest.mark.parametrize("seed", range(3))
def test_what_cancels_in_raw_units_does_not_in_the_space_of_the_model(seed):
    """Samples near 0, scaled by means of 1e9: scores are small differences of large terms."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 20))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0)
    scaler, final = model[0], model[1]
    scaler.mean_ = 1e9 * rng.normal(size=20)
    final.intercept_ = (final.coef_ / scaler.scale_) @ scaler.mean_
    found = pertinent.pertinent_negatives(model, X)
    assert found.found.mean() > 0.9
    assert_valid_in_any_company(model, found.points[found.found], found.target[found.found])


@pytest.mark.parametrize("unit", [1e-8, 1e6])
@pytest.mark.parametrize("kind", [GaussianNB, QuadraticDiscriminantAnalysis])
def test_gaussian_scores_in_any_unit(kind, unit):
    X, y = data("iris")
    X = X * [unit, 1.0, 1.0, 1.0] if kind is GaussianNB else X * 1e3
    model = kind(**({"var_smoothing": 0} if kind is GaussianNB else {})).fit(X, y)
    found = pertinent.pertinent_negatives(model, X[::10], weights=1 / X.std(axis=0))
    assert (found.status == "optimal").all()
    assert_valid_in_any_company(model, found.points, found.target)


def by_company(model, X):
    """Return the class by the sign of a score; on the boundary by how many are asked about."""
    scores = model.decision_function(X)
    size = np.abs(X * model.coef_).sum(axis=1)
    near = (np.abs(scores) <= 1e-14 * size) & (size > 0)
    return model.classes_[np.where(near, len(X) > 1, scores > 0).astype(int)]


@pytest.mark.parametrize("many", [2, 5, 300])
def test_a_sample_has_the_class_that_it_has_by_itself(many, monkeypatch):
    """Where rounding decides, what is explained is what the model says of the sample alone."""
    monkeypatch.setattr(LogisticRegression, "predict", by_company)
    model = LogisticRegression().fit(np.array([[-1.0, -1.0], [1.0, 1.0]]), [0, 1])
    model.coef_, model.intercept_ = np.ones((1, 2)), np.zeros(1)
    X = np.random.default_rng(0).normal(size=(many, 2))
    X[0] = [1e9, -1e9]
    assert model.predict(X)[0] == 1
    assert model.predict(X[:1])[0] == 0
    rules = {"min_proba": 0.9}, {"constraints": pertinent.Constraints(frozen=[1])}, {}
    for asked in rules:
        found = pertinent.Explainer(model, **asked).explain(X)
        alone = pertinent.Explainer(model, **asked).explain(X[:1])
        assert found.positive.label.tolist() == [0, *model.predict(X[1:])]
        for part in ("positive", "negative"):
            together, one = getattr(found, part), getattr(alone, part)
            assert together.values[0].tobytes() == one.values[0].tobytes()
        np.testing.assert_array_equal(
            pertinent.pertinent_negatives(model, X[:2], **asked).label[:1], [0]
        )
