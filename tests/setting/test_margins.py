"""Units do not matter: answers scale with the data, and statuses claim no more than is proved."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_models import data, fitted
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent import decision_region
from pertinent.geometry.region import Cell
from pertinent.lvq import GLVQ
from pertinent.proofs import LinearProofs, check
from pertinent.setting.nearest.ladder import climb
from pertinent.solvers import project

pytestmark = pytest.mark.matrix(2)


def linear(W, b):
    """A logistic regression with given coefficients."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.atleast_2d(np.asarray(W, dtype=float)), np.array(b, float)
    model.classes_ = np.arange(max(2, len(model.coef_)))
    model.n_features_in_ = model.coef_.shape[1]
    return model


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-3, 1e3, 1e6])
def test_the_answer_scales_with_the_data(scale):
    model, X = fitted("logistic", "iris"), data("iris")[0]
    plain = pertinent.pertinent_negatives(model, X)
    scaled = linear(model.coef_ / scale, model.intercept_)
    found = pertinent.pertinent_negatives(scaled, X * scale)
    assert (found.status == "optimal").all()
    np.testing.assert_allclose(found.objective / scale, plain.objective, rtol=1e-6)
    np.testing.assert_allclose(found.bound / scale, plain.bound, rtol=1e-6)


@given(st.integers(0, 100_000))
def test_no_ray_proves_a_reachable_cell_empty(seed):
    """Column scales from 1e-6 to 1e6, finite and open bounds: linprog judges."""
    rng = np.random.default_rng(seed)
    d, scale = 3, 10.0 ** rng.integers(-6, 7, 3)
    G, h = rng.normal(size=(2, d)) / scale, rng.normal(size=2)
    open_ = rng.random(d) < 0.5
    lower = np.where(open_, -np.inf, -rng.uniform(0, 3, d) * scale)
    upper = np.where(open_, np.inf, rng.uniform(0, 3, d) * scale)
    y = rng.exponential(size=(1, 2))
    verdict = check(
        Cell(G, h), np.zeros(d), np.ones(d), None, LinearProofs(y, np.array([True])),
        lower=lower, upper=upper,
    )  # fmt: skip
    if verdict.infeasible:
        ends = np.c_[lower / scale, upper / scale]
        judge = linprog(np.zeros(d), A_ub=G * scale, b_ub=h, bounds=ends)
        assert judge.status == 2


def test_finite_bounds_count_however_far_they_are():
    cell, ray = Cell([[-1e-7]], [-0.5]), LinearProofs(np.array([[1.0]]), np.array([True]))
    reachable = check(
        cell, np.zeros(1), np.ones(1), None, ray, lower=np.zeros(1), upper=np.array([1e7])
    )
    assert not reachable.infeasible
    assert not check(Cell([[-1e-9]], [-1.0]), np.zeros(1), np.ones(1), None, ray).infeasible


def test_a_margin_belongs_to_its_own_pair_of_prototypes():
    model = KNeighborsClassifier(1).fit([[0, 0], [1e-4, 0], [1e3, 0], [-1e3, 5]], [0, 1, 0, 1])
    found = pertinent.pertinent_negatives(model, np.array([[0.0, 0.0]]))
    assert found.objective[0] == pytest.approx(5e-5, rel=1e-4)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_prototypes_far_from_the_origin(offset):
    X, y = data("iris")
    model = GLVQ(2, random_state=0, max_iter=50).fit(X, y)
    plain = pertinent.pertinent_negatives(model, X[::5])
    model.prototypes_ = model.prototypes_ + offset
    moved = pertinent.pertinent_negatives(model, X[::5] + offset)
    assert (moved.status == "optimal").all()
    np.testing.assert_allclose(moved.objective, plain.objective, rtol=1e-5, atol=1e-7)


def test_the_boundary_itself_is_an_answer_where_predict_says_so():
    on_boundary = linear([[1.0]], [0.0])
    found = pertinent.pertinent_positives(on_boundary, np.array([[0.0]]), between=True)
    assert found.status[0] == "optimal"
    assert found.trivial[0]
    frozen = pertinent.Constraints(frozen=[0, 1])
    plane = linear([[1.0, 1.0]], [0.0])
    kept = pertinent.pertinent_positives(plane, np.array([[1.0, -1.0]]), constraints=frozen)
    assert kept.values.tolist() == [[1.0, -1.0]]
    trivial = pertinent.pertinent_positives(plane, np.array([[-1.0, -1.0]]))
    assert trivial.trivial[0]
    assert not trivial.kept.any()
    twins = KNeighborsClassifier(1).fit([[0, 0], [0, 0], [10, 0]], [0, 1, 1])
    assert pertinent.pertinent_positives(twins, np.zeros((1, 2))).status[0] == "optimal"


def test_classes_that_tie_everywhere_do_not_hide_the_others():
    model = linear([[1, 0], [1, 0], [0, 1]], [0, 0, 0])
    found = pertinent.pertinent_negatives(model, np.array([[2.0, 0.0]]))
    assert found.status[0] == "optimal"
    assert found.target[0] == 2


def test_a_tie_is_seen_when_the_largest_giver_is_the_only_taker():
    found = project(np.zeros((1, 2)), Cell([[-1.0, -1.0]], [-3.0]), upper=np.array([[1.0, np.inf]]))
    assert found.unique[0] == 0
    assert np.abs(found.second[0]).sum() == pytest.approx(3.0)


def test_a_model_of_one_class():
    X = data("iris")[0]
    model = KNeighborsClassifier(1).fit(X[:3], [3, 3, 3])
    assert (pertinent.pertinent_positives(model, X[:3]).status == "optimal").all()
    found = pertinent.pertinent_negatives(model, X[:3])
    assert (found.status == "infeasible").all()
    assert "never predicts" in found.reason[0]


def test_each_column_keeps_its_own_precision():
    frame = pd.DataFrame({"a": np.array([0.5, 1.0], "f4"), "b": [0.1, 0.2]})
    model = linear([[1.0, 1.0]], [-3.0])
    rules = pertinent.Constraints(frozen=["b"])
    found = pertinent.pertinent_negatives(model, frame, constraints=rules)
    assert found.found.all()
    assert (found.points["b"] == frame["b"]).all()
    assert found.points.dtypes.tolist() == frame.dtypes.tolist()


def test_frames_with_numbers_for_names():
    X, y = data("iris")
    model = LogisticRegression().fit(X, y)
    found = pertinent.pertinent_negatives(model, pd.DataFrame(X))
    assert (model.predict(found.points.to_numpy()) == found.target).all()


def test_constant_columns_do_not_get_enormous_weights():
    X, y = data("iris")
    wide = np.c_[X, np.full(len(X), 0.1)]
    explainer = pertinent.Explainer(LogisticRegression().fit(wide, y), data=wide)
    assert explainer.setting.weights[-1] == 1.0


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"weights": "abc"}, "weights must be numbers"),
        ({"margin": "a"}, "margin must be a number"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
        ({"target": [[1, 2]]}, "one label for each sample"),
        ({"constraints": pertinent.Constraints(frozen=[1.7])}, "got 1.7"),
        ({"constraints": pertinent.Constraints(frozen=[True])}, "got True"),
    ],
)
def test_odd_arguments_are_explained(arguments, match):
    X = data("iris")[0]
    with pytest.raises(pertinent.exceptions.InputError, match=match):
        pertinent.pertinent_negatives(fitted("logistic", "iris"), X, **arguments)


def test_columns_twelve_decades_apart_still_get_an_answer():
    """Where the solvers give up, a positive falls back on the sample itself, as not proved."""
    model, X = fitted("logistic", "iris"), data("iris")[0][::5]
    scale = np.array([1e6, 1e-6, 1e6, 1.0])
    scaled = linear(model.coef_ / scale, model.intercept_)
    found = pertinent.pertinent_positives(scaled, X * scale, between=True)
    assert found.found.all()
    assert (scaled.predict(found.points) == scaled.predict(X * scale)).all()


def in_every_company(model, points):
    """What each point is predicted as, alone and in batches of several sizes."""
    sizes = (1, 3, 16, len(points))
    return np.array(
        [
            np.concatenate([model.predict(points[i : i + n]) for i in range(0, len(points), n)])
            for n in sizes
        ]
    )


@pytest.mark.parametrize("seed", [14, 18, 20, 28, 57])
def test_single_precision_is_valid_in_every_company(seed):
    """Scores that share a large part: their difference is decided by how sums are rounded."""
    rng = np.random.default_rng(seed)
    W = 0.1 * rng.normal(size=(4, 20)) + 10 * rng.normal(size=20)
    model = linear(W, rng.normal(size=4))
    model.coef_, model.intercept_ = W.astype(np.float32), model.intercept_.astype(np.float32)
    X = rng.normal(size=(100, 20)).astype(np.float32)
    found = pertinent.pertinent_negatives(model, X)
    assert found.found.all()
    assert (in_every_company(model, found.points) == found.target).all()
    again = pertinent.pertinent_negatives(model, X, batch_size=7)
    assert again.points.tobytes() == found.points.tobytes()
    assert (again.status == found.status).all()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=50),
        OneVsRestClassifier(LogisticRegression(max_iter=50)),
        LinearDiscriminantAnalysis(),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=50)),
        make_pipeline(StandardScaler(), PCA(4), LogisticRegression(max_iter=50)),
    ],
    ids=["softmax", "one-vs-rest", "LDA", "ridge", "scaled", "components"],
)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_fitted_models_in_single_precision(model, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(80) % (2 + 2 * seed)
    scale = 10.0 ** rng.uniform(-2, 2, 12)
    X = (rng.normal(size=(4, 12))[y] + rng.normal(size=(80, 12))) * scale
    X = (X + 5 * scale * rng.normal(size=12)).astype(np.float32)
    model = clone(model).fit(X, y)
    negative = pertinent.pertinent_negatives(model, X, data=X)
    positive = pertinent.pertinent_positives(model, X, baseline="mean", data=X)
    assert negative.found.all()
    assert positive.found.all()
    assert (in_every_company(model, negative.points) == negative.target).all()
    assert (in_every_company(model, positive.points) == model.predict(X)).all()
    assert (negative.status == "optimal").mean() >= 0.99


@pytest.mark.parametrize("shared", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_samples_in_single_precision_before_coefficients_in_double(shared):
    """What all scores share cancels in double precision, as scikit-learn adds them up here."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (rng.normal(size=(3, 8))[y] + rng.normal(size=(90, 8))).astype(np.float32)
    model = LogisticRegression(max_iter=50).fit(X.astype(float), y)
    plain = pertinent.pertinent_negatives(model, X.astype(float))
    model.coef_ = model.coef_ + shared * rng.normal(size=8)
    assert model.decision_function(X).dtype == np.float64
    negative = pertinent.pertinent_negatives(model, X)
    positive = pertinent.pertinent_positives(model, X)
    assert (negative.status == "optimal").all()
    assert (positive.status == "optimal").all()
    assert negative.points.dtype == np.float32
    assert (in_every_company(model, negative.points) == negative.target).all()
    assert (in_every_company(model, positive.points) == model.predict(X)).all()
    np.testing.assert_allclose(negative.objective, plain.objective, rtol=1e-3, atol=1e-5)


def test_a_point_must_be_clear_of_all_that_is_added_up():
    """Scores near 1000 that differ by 1e-4: less than their rounding in single precision."""
    scores = linear([[1000.0], [1000.5]], [0, 0])
    near = decision_region(scores, 1).rounding(decision_region(scores, 1, 1.0))
    assert near is not None
    np.testing.assert_array_equal(
        near.hold(np.array([[1e-9], [1.0], [-1.0]]), single=True), [True, True, False]
    )
    tied = linear([[1000.0, 1.0], [1000.0, 1.0001], [0.0, 0.0]], [0.0, 0.0, 0.0])
    rows = decision_region(tied, 1).rounding(decision_region(tied, 1, 1.0))
    assert rows is not None
    np.testing.assert_array_equal(
        rows.hold(np.array([[0.0, 1.0], [1.0, 1.0]]), single=True), [True, False]
    )


#: How many powers of 2 a feature's unit may change by: more, and QDA itself fits another model.
UNITS = {
    "bayes": (lambda: GaussianNB(var_smoothing=0), 50),
    "LDA": (LinearDiscriminantAnalysis, 30),
    "qda": (lambda: QuadraticDiscriminantAnalysis(tol=0), 10),
}


@pytest.mark.parametrize("kind", UNITS)
@given(seed=st.integers(0, 100_000))
@settings(max_examples=5)
def test_answers_and_proofs_do_not_depend_on_the_units(kind, seed):
    make, most = UNITS[kind]
    rng = np.random.default_rng(seed)
    X, y = data("wine", standardised=True)
    X = X[:, rng.permutation(13)[:6]]
    scale, rows = 2.0 ** rng.integers(-most, most + 1, 6), rng.permutation(len(X))[:4]
    plain, scaled = make().fit(X, y), make().fit(X * scale, y)
    for ask in (pertinent.pertinent_negatives, pertinent.pertinent_positives):
        one = ask(plain, X[rows])
        two = ask(scaled, (X * scale)[rows], weights=1 / scale)
        assert (two.status == one.status).all()
        np.testing.assert_allclose(two.objective, one.objective, rtol=1e-6, atol=1e-9)
        # A bound is worth as much as its proof could be made to close: 1e-4.
        np.testing.assert_allclose(two.bound, one.bound, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-9, 1e-6])
def test_rows_with_and_without_a_feature_in_small_units(unit):
    """Two classes alike in the small feature: the row between them has another slope by 1e18."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    plain = GaussianNB(var_smoothing=0).fit(X, y)
    plain.theta_[1, 2], plain.var_[1, 2] = plain.theta_[0, 2], plain.var_[0, 2]
    scale = np.array([1.0, 1.0, unit])
    scaled = GaussianNB(var_smoothing=0).fit(X * scale, y)
    scaled.theta_, scaled.var_ = plain.theta_ * scale, plain.var_ * scale**2
    for target in (0, 1):
        rows = X[plain.predict(X) != target][:2]
        expected = pertinent.pertinent_negatives(plain, rows, target=target)
        found = pertinent.pertinent_negatives(
            scaled, rows * scale, target=target, weights=1 / scale
        )
        assert (found.status == "optimal").all()
        np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-6)


@pytest.mark.parametrize("decades", [(-8, 0, 8), (8, -7, 7), (5, 8, -6)])
@pytest.mark.parametrize("smoothing", [0.0, 1e-9])
def test_naive_bayes_with_bounds_is_answered_in_any_units(decades, smoothing):
    """With weights for the units, and with none: one feature then costs 1e15 times another."""
    rng, scale = np.random.default_rng(0), 10.0 ** np.array(decades)
    y = np.arange(90) % 3
    X = (rng.normal(size=(90, 3)) + 2 * rng.normal(size=(3, 3))[y]) * scale
    model = GaussianNB(var_smoothing=smoothing).fit(X, y)
    ends = np.quantile(X, [0.05, 0.95], axis=0).T.tolist()
    rules = pertinent.Constraints(bounds={j: tuple(pair) for j, pair in enumerate(ends)})
    for weights in (1 / scale, np.ones(3)):
        for ask in (pertinent.pertinent_negatives, pertinent.pertinent_positives):
            found = ask(model, X[:2], constraints=rules, weights=weights)
            assert "failed" not in found.status
            assert "feasible" not in found.status or (weights == 1).all()


def test_a_margin_asked_for_is_in_units_of_the_slope():
    X, y = data("iris")
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    found = pertinent.pertinent_negatives(model, X[::10], margin=1e-2)
    assert found.found.all()
    for point, label in zip(found.values, found.target, strict=True):
        cell = decision_region(model, label).cells[0]
        for row in cell.quadratics:
            assert row.value(point[None])[0] <= -1e-2 * row.scale() * (1 - 1e-6)


@pytest.mark.parametrize("seed", [2, 5, 11, 23])
@pytest.mark.parametrize("shared", [0.0, 1e5])
def test_double_precision_is_valid_in_every_company(seed, shared):
    """Bounds far from the samples, and scores that share a large part: sums round by more."""
    rng = np.random.default_rng(seed)
    d, classes = 12, int(rng.choice([1, 3, 5]))
    W = rng.normal(size=(classes, d)) + (shared * rng.normal(size=d) if classes > 1 else 0.0)
    model, X = linear(W, rng.normal(size=classes)), rng.normal(size=(20, d))
    far = 10.0 ** rng.choice([3, 5, 7])
    rules = pertinent.Constraints(bounds={0: (far, 1.5 * far)})
    for constraints in (None, rules):
        many = pertinent.pertinent_negatives(model, X, constraints=constraints)
        alone = pertinent.pertinent_negatives(model, X, constraints=constraints, batch_size=1)
        assert many.values.tobytes() == alone.values.tobytes()
        assert many.objective.tobytes() == alone.objective.tobytes()
        own = model.predict(X)
        steady = (in_every_company(model, X) == own).all(axis=0)
        seen = in_every_company(model, many.points)[:, many.found & steady]
        assert (seen == many.target[many.found & steady]).all()
        assert many.found[steady].mean() > 0.5


@pytest.mark.parametrize("unit", [3e-8, 1e-7])
def test_a_first_margin_that_leaves_no_point_is_made_smaller(unit):
    """A regularised QDA knows data in units of 1e-8 by 1e-14 of its scores: little room is left.

    The first margin, 4 to 400 times what rounds at the sample, takes all of it.
    """
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, 2:] * unit, y[:100]
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    rules = pertinent.Constraints(bounds={i: (0, X[:, i].max()) for i in range(2)})
    found = pertinent.pertinent_negatives(model, X[::40], constraints=rules)
    assert found.found.all()
    for point, label in zip(found.points, found.label, strict=True):
        assert model.predict(point[None]) == [1 - label]
    assert (model.predict(found.points) == 1 - found.label).all()


def test_margins_are_looked_for_between_too_small_and_too_large():
    tried = []

    def again(rows, margins):
        tried.append(margins.tolist())
        return rows[~((margins >= good[rows]) & (margins < 2 * good[rows]))]

    good, used = np.array([3e-10, 5e-6, 1e-4, 1e-15]), np.full(4, 1e-7)
    climb(np.arange(4), used, again, 12, nothing=lambda rows: used[rows] >= 2 * good[rows])
    assert ((used >= good) & (used < 2 * good))[:3].all()
    assert min(map(min, tried)) >= 5e-11  # what lies far below what rounds is not tried
    assert used[3] > 1  # larger ones are, at last
    assert len(tried) <= 8 + 12


def test_a_tie_that_no_smaller_margin_solves_is_left_by_a_larger_one():
    """At an income of 50, the lowest on the grid, both classes have the same score."""
    frame = pd.DataFrame({"job": ["fixed", "none"] * 10, "income": np.repeat([10.0, 90.0], 10)})
    paid = np.where(frame["income"] > 50, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["income"]))
    model = make_pipeline(columns, LogisticRegression()).fit(frame, paid)
    found = pertinent.Explainer(model, data=frame).explain(frame.head(1)).negative
    assert found.found.all()
    assert found.values[0, -1] == 51
