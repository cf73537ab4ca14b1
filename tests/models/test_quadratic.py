"""The regions of quadratic models say what predict says."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from quadratic_models import KINDS, LOADERS, data, fitted, some
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.models import decision_region

VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("kind", KINDS)
def test_region_agrees_with_predict(kind, name):
    model, X = fitted(kind, name)
    rng = np.random.default_rng(0)
    points = np.vstack([X, X + rng.normal(size=X.shape) * X.std(axis=0)])
    predicted = model.predict(points)
    for label in model.classes_:
        own = predicted == label
        assert decision_region(model, label, margin=-1e-9).contains(points[own]).all()
        assert not decision_region(model, label, margin=1e-9).contains(points[~own]).any()


@pytest.mark.parametrize("kind", ["qda 0", "qda 0.1", "bayes"])
@pytest.mark.parametrize("priors", [None, (0.8, 0.15, 0.05)])
def test_row_is_the_difference_of_the_log_posteriors(kind, priors):
    """The factor 1/2, the log-determinant and the prior are all there."""
    X, y = data("wine")
    if kind == "bayes":
        model = GaussianNB(priors=priors, var_smoothing=1e-3).fit(X, y)
    else:
        reg = float(kind.split()[1])
        model = QuadraticDiscriminantAnalysis(reg_param=reg, priors=priors).fit(X, y)
    log_proba = model.predict_joint_log_proba(X) if kind == "bayes" else model.decision_function(X)
    for t in range(3):
        rows = decision_region(model, t).cells[0].quadratics
        for row, k in zip(rows, [k for k in range(3) if k != t], strict=True):
            np.testing.assert_allclose(
                row.value(X), log_proba[:, k] - log_proba[:, t], rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("name", LOADERS)
def test_equal_covariances_are_linear(name):
    """reg_param=1.0, the paper's own setting, makes every covariance the identity."""
    model, _ = fitted("qda 1", name)
    for label in model.classes_:
        cell = decision_region(model, label).cells[0]
        assert cell.is_linear
        assert len(cell.G) == len(model.classes_) - 1


def test_linear_discriminant_analysis_stays_linear():
    X, y = data("wine")
    assert decision_region(LinearDiscriminantAnalysis().fit(X, y), 0).cells[0].is_linear


def test_a_class_narrower_in_every_direction_is_convex():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 3)), 5 * rng.normal(size=(200, 3))])
    y = np.repeat(["narrow", "wide"], 200)
    for model in (QuadraticDiscriminantAnalysis().fit(X, y), GaussianNB().fit(X, y)):
        assert decision_region(model, "narrow").cells[0].is_convex
        wide = decision_region(model, "wide").cells[0]
        assert not wide.is_convex
        assert not len(wide.quadratics[0].plus)


@pytest.mark.skipif(VERSION < (1, 8), reason="this scikit-learn has one solver only")
@pytest.mark.parametrize("options", [{"shrinkage": "auto"}, {"shrinkage": 0.3}, {}])
def test_every_solver_of_qda(options):
    X, y = data("wine")
    model = QuadraticDiscriminantAnalysis(solver="eigen", **options).fit(X, y)
    for label in model.classes_:
        inside = decision_region(model, label).contains(X)
        np.testing.assert_array_equal(inside, model.predict(X) == label)


def test_singular_looking_covariances():
    """Nearly dependent features: factors of size 1e4, and still what predict says."""
    X, y = data("iris")
    rng = np.random.default_rng(0)
    X = np.c_[X, X[:, 0] + 1e-4 * rng.normal(size=len(X))]
    model = QuadraticDiscriminantAnalysis(tol=1e-12).fit(X, y)
    for label in model.classes_:
        inside = decision_region(model, label).contains(X)
        np.testing.assert_array_equal(inside, model.predict(X) == label)


def test_singular_covariance_says_what_to_do():
    model, _ = fitted("qda 0.1", "iris")
    broken = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(*data("iris"))
    broken.scalings_ = [np.zeros_like(s) for s in model.scalings_]
    with pytest.raises(InputError, match="reg_param above 0"):
        decision_region(broken, 0)


@pytest.mark.parametrize("coef0", [0.0, 1.0])
@pytest.mark.parametrize("gamma", ["scale", 0.05])
def test_polynomial_svc(coef0, gamma):
    X, y = data("breast_cancer")
    labels = np.where(y == 1, "benign", "malignant")
    model = SVC(kernel="poly", degree=2, coef0=coef0, gamma=gamma).fit(X, labels)
    points = np.vstack([X, some(X, 100) * 2])
    for label in model.classes_:
        inside = decision_region(model, label).contains(points)
        np.testing.assert_array_equal(inside, model.predict(points) == label)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "rbf"}, "neither linear nor quadratic"),
        ({"kernel": "poly", "degree": 3}, "degree=3"),
    ],
)
def test_other_kernels_are_refused(options, message):
    X, y = data("breast_cancer")
    with pytest.raises(UnsupportedModelError, match=message):
        decision_region(SVC(**options).fit(X, y), 0)


def test_polynomial_svc_with_three_classes_is_refused():
    with pytest.raises(UnsupportedModelError, match="more than two classes"):
        decision_region(SVC(kernel="poly", degree=2).fit(*data("iris")), 0)


def test_anchors_follow_the_region():
    """The class mean is a start for the search, also in the units before a scaler."""
    model, _ = fitted("qda 0.1", "wine")
    cell = decision_region(model, 1).cells[0]
    np.testing.assert_array_equal(cell.anchors[0], model.means_[1])
    assert cell.contains(cell.anchors[:1]).all()


@pytest.mark.parametrize("model", [GaussianNB(), QuadraticDiscriminantAnalysis(reg_param=0.1)])
def test_a_copy_of_an_earlier_class_never_wins(model):
    X, y = data("iris")
    X, y = np.vstack([X, X[y == 1]]), np.concatenate([y, np.full(50, 3)])
    model.fit(X, y)
    assert 3 not in model.predict(X)
    found = pertinent.pertinent_negatives(model, X[::40], target=3)
    assert (found.status == "infeasible").all()
    assert np.isinf(found.bound).all()
    # The original loses nothing by its copy, and "any other class" is never the copy.
    assert (pertinent.pertinent_negatives(model, X[:5], target=1).status == "optimal").all()
    assert (pertinent.pertinent_negatives(model, X[::40]).target != 3).all()


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(priors=(0.5, 0.5, 0.0)),
        QuadraticDiscriminantAnalysis(reg_param=0.1, priors=(0.5, 0.5, 0.0)),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_class_without_a_prior_never_wins(model):
    X, y = data("iris")
    model.fit(X, y)
    found = pertinent.pertinent_negatives(model, X[::30], target=2)
    assert (found.status == "infeasible").all()
    other = pertinent.pertinent_negatives(model, X[::30])
    assert (other.status == "optimal").all()
    assert set(other.target) <= {0, 1}


def units(seed, d):
    """Samples of three classes, the first narrow in every direction, in wildly different units."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-4, 4, d)
    spread, X = (0.05, 1.0, 2.0), []
    for k in range(3):
        turn = rng.normal(size=(d, d)) * 0.2 + np.eye(d)
        X.append(rng.normal(size=(80, d)) @ turn * spread[k] + rng.normal(size=d) * (k > 0))
    return np.vstack(X), np.repeat([0, 1, 2], 80), scale


@pytest.mark.parametrize("seed", range(4))
def test_units_of_the_features_do_not_matter(seed):
    """The same model in other units has the same rows, and the same answers at the same costs."""
    X, y, scale = units(seed, 6)
    one = QuadraticDiscriminantAnalysis().fit(X, y)
    other = QuadraticDiscriminantAnalysis(tol=1e-300).fit(X * scale, y)
    samples = X[one.predict(X) != 0][::10]
    for label in (0, 1, 2):
        plain, scaled = (decision_region(m, label).cells[0].quadratics for m in (one, other))
        for row, twin in zip(plain, scaled, strict=True):
            assert row.is_convex == twin.is_convex
            np.testing.assert_allclose(row.value(X), twin.value(X * scale), rtol=1e-6, atol=1e-6)
    plain = pertinent.pertinent_negatives(one, samples, target=0)
    scaled = pertinent.pertinent_negatives(other, samples * scale, target=0, weights=1 / scale)
    assert decision_region(one, 0).is_convex
    assert (plain.status == "optimal").all()
    assert scaled.found.all()
    np.testing.assert_allclose(plain.objective, scaled.objective, rtol=1e-5)
    assert (scaled.bound >= 0.99 * scaled.objective).all()


@pytest.mark.parametrize("offset", [1e4, 1e6])
@pytest.mark.parametrize(
    "model", [GaussianNB(var_smoothing=0), QuadraticDiscriminantAnalysis(reg_param=0.1, tol=1e-300)]
)
def test_far_from_zero_nothing_is_lost(model, offset):
    """Rows are written around the mean of the class: answers stay proved far from the origin."""
    X, y = data("iris")
    some_rows = X[::15]
    near = pertinent.pertinent_negatives(model.fit(X, y), some_rows)
    far = pertinent.pertinent_negatives(model.fit(X + offset, y), some_rows + offset)
    assert (far.status == "optimal").all()
    np.testing.assert_allclose(far.objective, near.objective, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e13, 1e20, 1e100])
def test_large_units_cost_no_answer(scale):
    """All slopes are tiny: a margin of so many slopes would be lost in rounding."""
    X, y = load_iris(return_X_y=True)
    for model in (GaussianNB(), QuadraticDiscriminantAnalysis()):
        model.fit(X * scale, y)
        found = pertinent.pertinent_negatives(model, X[::7] * scale, data=X * scale)
        assert (found.status == "optimal").all()
        assert (model.predict(found.points) != model.predict(X[::7] * scale)).all()


@pytest.mark.parametrize("bound", [(None, 0.5), (-0.5, 0.5), (None, None)])
@pytest.mark.parametrize("units", [(1e-4, 1e5, 1.0), (1e4, 1.0, 1e-6), (1.0, 1.0, 1.0)])
def test_naive_bayes_has_no_way_out_whatever_the_units(units, bound):
    """Its own smoothing makes a feature in small units nearly flat: 1e-19 of the others' bend.

    ``score_0 - score_1`` is a sum over features, so its least value is the sum of theirs.
    """
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    spread = np.where(y[:, None] == 1, [0.3, 0.2, 0.3], [1.0, 2.0, 1.0])
    X = (rng.normal(size=(60, 3)) * spread + y[:, None] * [3.0, 0.0, 0.0]) * units
    model, sample = GaussianNB().fit(X, y), np.array([[-2.0, -6.0, 3.0]]) * units
    low, high = (None if end is None else end * units[2] for end in bound)
    least = 0.0
    for i, (first, last) in enumerate([(-np.inf, np.inf), (sample[0, 1],) * 2, (low, high)]):
        first, last = -np.inf if first is None else first, np.inf if last is None else last
        (m0, m1), (v0, v1) = model.theta_[:, i], model.var_[:, i]
        assert v0 > v1  # so the difference of squares is convex
        x = np.clip((m1 / v1 - m0 / v0) / (1 / v1 - 1 / v0), first, last)
        least += ((x - m1) ** 2 / v1 - (x - m0) ** 2 / v0 + np.log(v1 / v0)) / 2
    assert least > 1.0
    rules = pertinent.Constraints(frozen=[1], bounds={2: (low, high)})
    found = pertinent.pertinent_negatives(model, sample, constraints=rules, weights=1 / X.std(0))
    assert found.status.tolist() == ["infeasible"]
