"""Fitted attributes, predictions, parameters and errors of the three estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

ESTIMATORS = [
    GLVQ(random_state=0),
    GLVQ(prototypes_per_class=3, random_state=0),
    GMLVQ(random_state=0),
    GMLVQ(prototypes_per_class=[1, 3, 2], rank=2, random_state=0),
    LGMLVQ(random_state=0),
    LGMLVQ(prototypes_per_class=2, localization="class", random_state=0),
    LGMLVQ(prototypes_per_class=2, localization="prototype", rank=3, random_state=0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
every_class = pytest.mark.parametrize("make", [GLVQ, GMLVQ, LGMLVQ])


def iris():
    return load_iris(return_X_y=True)


def metric_of_each_prototype(model):
    d = model.n_features_in_
    if isinstance(model, GLVQ):
        return np.repeat(np.eye(d)[None], len(model.prototypes_), axis=0)
    omegas = model.omega_ if isinstance(model, LGMLVQ) else model.omega_[None]
    used = getattr(model, "prototype_omega_", np.zeros(len(model.prototypes_), dtype=int))
    return np.array([omegas[k].T @ omegas[k] for k in used])


# ---- what fit leaves behind


@every_estimator
def test_fitted_attributes(estimator):
    X, y = iris()
    model = estimator.fit(X, y)
    n_prototypes = np.broadcast_to(estimator.prototypes_per_class, 3).sum()
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.prototypes_.shape == (n_prototypes, 4)
    assert model.prototype_labels_.shape == (n_prototypes,)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    assert 1 <= model.n_iter_ <= model.max_iter
    assert 0 < model.loss_ < 0.5
    assert model.relevances_.shape == (4,)
    assert model.relevances_.sum() == pytest.approx(1)
    assert (model.relevances_ >= 0).all()


@every_estimator
def test_loss_is_the_cost_of_the_fitted_prototypes(estimator):
    X, y = iris()
    model = estimator.fit(X, y)
    distances = model.distances(X)
    own = model.prototype_labels_ == y[:, None]
    plus = np.where(own, distances, np.inf).min(axis=1)
    minus = np.where(own, np.inf, distances).min(axis=1)
    mu = (plus - minus) / (plus + minus)
    assert model.loss_ == pytest.approx(np.mean(1 / (1 + np.exp(-model.steepness * mu))), rel=1e-5)


@pytest.mark.parametrize("estimator", ESTIMATORS[2:], ids=str)
def test_metric_has_trace_one(estimator):
    model = estimator.fit(*iris())
    metrics = metric_of_each_prototype(model)
    np.testing.assert_allclose(np.trace(metrics, axis1=1, axis2=2), 1.0)


def test_omega_and_relevances_of_gmlvq():
    model = GMLVQ(rank=2, random_state=0).fit(*iris())
    assert model.omega_.shape == (2, 4)
    np.testing.assert_allclose(model.relevances_, np.diag(model.omega_.T @ model.omega_))


def test_omegas_and_relevances_of_lgmlvq():
    X, y = iris()
    by_prototype = LGMLVQ([1, 2, 1], rank=3, random_state=0).fit(X, y)
    assert by_prototype.omega_.shape == (4, 3, 4)
    assert by_prototype.prototype_omega_.tolist() == [0, 1, 2, 3]
    by_class = LGMLVQ([1, 2, 1], localization="class", random_state=0).fit(X, y)
    assert by_class.omega_.shape == (3, 4, 4)
    assert by_class.prototype_omega_.tolist() == [0, 1, 1, 2]
    diagonals = [np.diag(omega.T @ omega) for omega in by_class.omega_]
    np.testing.assert_allclose(by_class.local_relevances_, diagonals)
    np.testing.assert_allclose(by_class.relevances_, np.mean(diagonals, axis=0))


def test_relevances_of_glvq_are_equal():
    np.testing.assert_allclose(GLVQ().fit(*iris()).relevances_, 0.25)


@every_class
def test_columns_of_a_data_frame(make):
    data = load_iris(as_frame=True)
    model = make(random_state=0).fit(data.data, data.target)
    assert model.feature_names_in_.tolist() == data.data.columns.tolist()
    assert model.predict(data.data).shape == (150,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(data.data.iloc[:, ::-1])


@every_class
@pytest.mark.parametrize(
    "labels", [["no", "yes", "maybe"], [-5, 3, 40], [0.0, 1.0, 2.0], ["10", "9", "8"]]
)
def test_labels_of_any_kind(make, labels):
    X, y = iris()
    y = np.array(labels)[y]
    model = make(prototypes_per_class=2, random_state=0).fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.prototype_labels_.tolist() == [label for label in sorted(labels) for _ in "12"]
    assert model.score(X, y) > 0.9


@every_class
def test_boolean_and_object_labels(make):
    X, y = iris()
    model = make(random_state=0).fit(X, y == 1)
    assert model.prototype_labels_.tolist() == [False, True]
    model = make(random_state=0).fit(X, pd.Series(np.array(["x", "y", "z"])[y], dtype=object))
    assert set(model.predict(X)) == {"x", "y", "z"}
    with pytest.raises(ValueError, match="class 'x' has 50 for 60 prototypes"):
        make(60).fit(X, np.array(["x", "y", "z"], dtype=object)[y])


def test_no_estimator_passes_for_another():
    for make in (GLVQ, GMLVQ, LGMLVQ):
        others = {GLVQ, GMLVQ, LGMLVQ} - {make}
        assert not any(issubclass(make, other) for other in others)


# ---- distances and predictions


@every_estimator
def test_distances_are_their_definition(estimator):
    X, y = iris()
    model = estimator.fit(X, y)
    differences = X[:, None] - model.prototypes_
    expected = np.einsum(
        "npi,pij,npj->np", differences, metric_of_each_prototype(model), differences
    )
    np.testing.assert_allclose(model.distances(X), expected, rtol=1e-8)


@every_class
def test_distances_are_accurate_next_to_a_far_away_prototype(make):
    X, y = make_blobs(60, centers=2, n_features=3, random_state=0)
    model = make().fit(X + 1e6, y)
    step = np.array([2.0**-10, 0.0, 0.0])
    metric = metric_of_each_prototype(model)[0]
    near = model.distances([model.prototypes_[0] + step])[0, 0]
    assert near == pytest.approx(step @ metric @ step, rel=1e-5)


@every_estimator
def test_scores_are_minus_the_distance_to_each_class(estimator):
    X, y = iris()
    model = estimator.fit(X, y)
    distances = model.distances(X)
    scores = model.decision_function(X)
    assert scores.shape == (150, 3)
    for k, label in enumerate(model.classes_):
        nearest = distances[:, model.prototype_labels_ == label].min(axis=1)
        np.testing.assert_array_equal(scores[:, k], -nearest)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


@every_class
def test_two_classes_give_one_score(make):
    X, y = make_blobs(80, centers=2, cluster_std=4.0, random_state=0)
    model = make(prototypes_per_class={0: 1, 1: 3}, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    distances = model.distances(X)
    assert scores.shape == (80,)
    np.testing.assert_array_equal(scores, distances[:, 0] - distances[:, 1:].min(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])


def test_of_equally_near_prototypes_the_first_counts():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = GLVQ().fit(X, ["left", "left", "right", "right"])
    model.prototypes_ = np.array([[1.0], [-1.0]])
    assert model.predict([[0.0], [0.5]]).tolist() == ["left", "left"]
    assert model.decision_function([[0.0]]).tolist() == [0.0]

    model = GLVQ().fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    model.prototypes_ = np.array([[9.0], [1.0], [-1.0]])
    assert model.predict([[0.0]]).tolist() == [2]
    assert model.decision_function([[0.0]]).argmax() == 1


@every_class
def test_rows_do_not_depend_on_their_neighbours(make):
    X, y = iris()
    model = make(prototypes_per_class=2, random_state=0).fit(X, y)
    one_by_one = np.vstack([model.distances(x[None]) for x in X])
    np.testing.assert_allclose(model.distances(X), one_by_one, rtol=1e-10)


def test_large_input_is_measured_in_batches(monkeypatch):
    X, y = iris()
    model = LGMLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    whole = model.distances(X)
    monkeypatch.setattr("pertinent.lvq._base.CHUNK_BYTES", 16 * 4 * 7)
    np.testing.assert_allclose(model.distances(X), whole, rtol=1e-10)


# ---- training


@every_class
@pytest.mark.parametrize("init", ["kmeans", "mean", "random"])
def test_same_seed_same_bytes(make, init):
    X, y = iris()
    first, second = (make(2, init=init, random_state=3).fit(X, y) for _ in range(2))
    assert first.prototypes_.tobytes() == second.prototypes_.tobytes()
    assert first.relevances_.tobytes() == second.relevances_.tobytes()
    assert first.loss_ == second.loss_


def test_same_seed_same_bytes_with_a_low_rank():
    X, y = iris()
    first, second = (GMLVQ(rank=2, random_state=3).fit(X, y) for _ in range(2))
    assert first.omega_.tobytes() == second.omega_.tobytes()


@every_class
def test_training_lowers_the_loss(make):
    X, y = iris()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        losses = [make(max_iter=n, random_state=0).fit(X, y).loss_ for n in (1, 3, 100)]
    assert losses[0] > losses[1] > losses[2]


@every_class
def test_shift_and_scale_of_the_data_do_not_matter(make):
    X, y = iris()
    model = make(2, random_state=0).fit(X, y)
    moved = make(2, random_state=0).fit(1024.0 * X + 4096.0, y)
    np.testing.assert_allclose(moved.prototypes_, 1024.0 * model.prototypes_ + 4096.0, rtol=1e-4)
    np.testing.assert_allclose(moved.relevances_, model.relevances_, atol=1e-4)
    np.testing.assert_array_equal(moved.predict(1024.0 * X + 4096.0), model.predict(X))


@every_class
def test_own_starting_prototypes(make):
    X, y = iris()
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    own = make(init=means).fit(X, y)
    np.testing.assert_allclose(own.prototypes_, make(init="mean").fit(X, y).prototypes_, rtol=1e-6)
    listed = make(init=means.tolist()).fit(X, y)
    np.testing.assert_array_equal(listed.prototypes_, own.prototypes_)


def test_start_where_there_is_nothing_to_learn():
    """At a stationary start the prototypes stay where the user put them."""
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [-1.0, 4.0], [1.0, 4.0]])
    model = GLVQ(init=[[0.0, -1.0], [0.0, 5.0]], tol=10.0).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(model.prototypes_, [[0.0, -1.0], [0.0, 5.0]], atol=1e-12)


def test_gmlvq_finds_the_feature_that_matters():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 5))
    X[:, 3] += 4 * y
    model = GMLVQ(random_state=0).fit(X, y)
    assert model.relevances_.argmax() == 3
    assert model.relevances_[3] > 0.9


def test_only_local_metrics_separate_crossing_lines():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.column_stack([rng.normal(size=200), 0.05 * rng.normal(size=200)])
    X[y == 1] = X[y == 1][:, ::-1]
    assert LGMLVQ(random_state=0).fit(X, y).score(X, y) > 0.9
    assert GMLVQ(random_state=0).fit(X, y).score(X, y) < 0.75


def test_more_prototypes_follow_a_class_in_two_places():
    X, place = make_blobs(150, centers=[[-4, 0], [0, 0], [4, 0]], cluster_std=0.5, random_state=0)
    y = np.where(place == 1, "inside", "outside")
    assert GLVQ(random_state=0).fit(X, y).score(X, y) < 0.8
    model = GLVQ({"inside": 1, "outside": 2}, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.prototype_labels_.tolist() == ["inside", "outside", "outside"]


@every_class
def test_constant_data(make):
    model = make().fit(np.full((6, 3), 7.0), [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.prototypes_, 7.0)
    assert model.predict([[7.0, 7.0, 7.0]]).tolist() == [0]


@every_class
def test_a_sample_with_two_labels(make):
    """Twins of different classes: d+ = d- = 0 at the start of training."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    model = make(init=[[0.0, 0.0], [0.0, 0.0]]).fit(X, [0, 1, 0, 1])
    assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.loss_)


@every_class
def test_warns_when_stopped_early(make):
    with pytest.warns(
        ConvergenceWarning, match=rf"{make.__name__} stopped at max_iter=1 .*Increase"
    ):
        make(max_iter=1, random_state=0).fit(*iris())


@every_class
def test_no_warning_when_settled(make):
    X, y = make_blobs(90, centers=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(random_state=0).fit(X, y)


# ---- errors


@every_class
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prototypes_per_class": 0}, r"prototypes_per_class must be a positive int.*Got 0"),
        ({"prototypes_per_class": [1, 1]}, r"each of the 3 classes \[0, 1, 2\].*Got 2 entries"),
        ({"prototypes_per_class": 51}, r"class 0 has 50 for 51 prototypes"),
        ({"init": "pca"}, r"init must be one of .*'kmeans'.*Got 'pca'"),
        ({"init": np.zeros((2, 4))}, r"must have shape \(3, 4\).*Got shape \(2, 4\)"),
        ({"max_iter": 0}, r"max_iter must be a positive int. Got 0"),
        ({"max_iter": 2.5}, r"max_iter must be a positive int. Got 2.5"),
        ({"tol": 0}, r"tol must be a float in \(0, inf\). Got 0"),
        ({"tol": "small"}, r"tol must be a float in \(0, inf\). Got 'small'"),
        ({"steepness": -1.0}, r"steepness must be a float in \(0, inf\). Got -1.0"),
    ],
)
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(*iris())


@pytest.mark.parametrize("make", [GMLVQ, LGMLVQ])
@pytest.mark.parametrize("rank", [0, 5, 1.0, "full"])
def test_bad_rank(make, rank):
    message = f"rank must be None or an int between 1 and the number of features, 4. Got {rank!r}"
    with pytest.raises(ValueError, match=message):
        make(rank=rank).fit(*iris())


def test_bad_localization():
    with pytest.raises(ValueError, match="must be 'prototype' or 'class'. Got 'omega'"):
        LGMLVQ(localization="omega").fit(*iris())


@every_class
def test_one_class_is_not_enough(make):
    with pytest.raises(ValueError, match="at least 2 classes. Got 1 class, 'only'"):
        make().fit([[0.0], [1.0]], ["only", "only"])


@every_class
def test_numbers_beyond_float64(make):
    y = [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"must not exceed 1e\+150.*Got 1e\+200.*StandardScaler"):
        make().fit([[0.0], [1.0], [2.0], [1e200]], y)
    with pytest.raises(ValueError, match=r"vary by less than 1e-150.*StandardScaler"):
        make().fit([[0.0], [1e-200], [2e-200], [3e-200]], y)
    model = make().fit([[0.0], [1.0], [2.0], [3.0]], y)
    with pytest.raises(ValueError, match=r"overflow: X has entries up to 1e\+200"):
        model.predict([[1e200]])


@every_class
def test_not_fitted(make):
    for use in ("predict", "distances", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(make(), use)([[0.0]])
    with pytest.raises(NotFittedError):
        make().plot_relevances()
