"""Pertinent positives: two phases, trivial cases, baselines, the pitfalls of existing code."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import data, fitted
from linear_programs import nearest
from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier

import pertinent
from pertinent.exceptions import InputError


@pytest.fixture(scope="module")
def model():
    return fitted("logistic", "wine")


@pytest.fixture(scope="module")
def X():
    return data("wine")[0]


def test_both_phases_are_optimal_by_an_independent_solver(model, X):
    found = pertinent.pertinent_positives(model, X, between=True)
    for i in range(0, len(X), 7):
        region = pertinent.decision_region(model, found.prediction[i], 1e-9)
        lower, upper = np.minimum(X[i], 0), np.maximum(X[i], 0)
        assert found.objective[i] == pytest.approx(
            nearest(region, np.zeros(13), lower, upper), abs=1e-6
        )
        on = found.sparse_values[i] != 0
        second = nearest(region, X[i], np.where(on, lower, 0), np.where(on, upper, 0))
        assert found.closeness[i] == pytest.approx(second - np.abs(X[i][~on]).sum(), abs=1e-6)


def test_phase_two_comes_closer_to_the_sample_with_the_same_features(model, X):
    found = pertinent.pertinent_positives(model, X)
    on = found.sparse_values != 0
    first = (np.abs(found.sparse_values - X) * on).sum(axis=1)
    assert (found.closeness <= first + 1e-9).all()
    assert (found.closeness < first - 1e-3).any()
    assert not (found.kept & ~on).any()


def test_without_sample_dependent_limits_phase_one_is_one_point_a_class(model, X):
    found = pertinent.pertinent_positives(model, X)
    for label in model.classes_:
        rows = found.prediction == label
        assert len(np.unique(found.sparse_values[rows], axis=0)) == 1


def test_the_trivial_case_is_flagged_and_empty(model, X):
    found = pertinent.pertinent_positives(model, X)
    own = model.predict(np.zeros((1, 13)))[0]
    assert (found.trivial == (found.prediction == own)).all()
    assert found.trivial.any()
    assert not found.kept[found.trivial].any()
    assert (found.points[found.trivial] == 0).all()


def test_the_baseline_shifts_the_whole_question(model, X):
    """Moving data, model and baseline together changes nothing but the coordinates."""
    shift = np.linspace(-2, 2, 13)
    moved = fitted("logistic", "wine")
    moved = type(moved)().set_params(**moved.get_params())
    moved.__dict__.update(model.__dict__)
    moved.intercept_ = model.intercept_ - model.coef_ @ shift
    plain = pertinent.pertinent_positives(model, X, baseline=0.0)
    other = pertinent.pertinent_positives(moved, X + shift, baseline=shift)
    np.testing.assert_allclose(other.points - shift, plain.points, atol=1e-8)
    assert (other.kept == plain.kept).all()


@pytest.mark.parametrize("baseline", ["mean", "median"])
def test_baselines_from_data(model, X, baseline):
    found = pertinent.pertinent_positives(model, X, baseline=baseline, data=X)
    expected = X.mean(axis=0) if baseline == "mean" else np.median(X, axis=0)
    np.testing.assert_array_equal(found.baseline, expected)
    off = ~found.kept
    assert (found.values[off] == np.broadcast_to(expected, X.shape)[off]).all()


def test_a_baseline_by_name(model, X):
    found = pertinent.pertinent_positives(model, X[:5], baseline={0: 1.0})
    assert found.baseline[0] == 1.0
    assert (found.baseline[1:] == 0).all()


def test_weights_steer_which_features_are_kept(model, X):
    plain = pertinent.pertinent_positives(model, X)
    used = plain.kept.any(axis=0)
    weights = np.where(used, 1000.0, 1.0)
    steered = pertinent.pertinent_positives(model, X, weights=weights)
    assert not steered.kept[:, used].any()
    np.testing.assert_allclose(
        steered.objective, (weights * np.abs(steered.sparse_values)).sum(axis=1), atol=1e-12
    )


def test_with_data_weights_follow_the_scale(X):
    raw, _ = data("wine", standardised=False)
    model = fitted("logistic", "wine", False)
    found = pertinent.pertinent_positives(model, raw, baseline="mean", data=raw)
    by_hand = pertinent.pertinent_positives(
        model, raw, baseline=raw.mean(axis=0), weights=1 / raw.std(axis=0)
    )
    assert found.values.tobytes() == by_hand.values.tobytes()


def test_small_values_are_neither_dropped_nor_rounded(model):
    """A hard-coded off-threshold of 0.1 would lose features this small."""
    X, _ = data("wine")
    tiny = type(model)().set_params(**model.get_params())
    tiny.__dict__.update(model.__dict__)
    tiny.coef_ = model.coef_ * 1e6
    found = pertinent.pertinent_positives(tiny, X * 1e-6)
    assert (found.status == "optimal").all()
    assert (tiny.predict(found.points) == tiny.predict(X * 1e-6)).all()
    assert (np.abs(found.points[found.kept]) < 1e-4).all()
    assert found.kept.any()


def test_off_tol_widens_what_counts_as_off(model, X):
    strict = pertinent.pertinent_positives(model, X)
    loose = pertinent.pertinent_positives(model, X, off_tol=10.0)
    assert not loose.kept.any() or loose.kept.sum() < strict.kept.sum()
    with pytest.raises(InputError, match="off_tol must be a number of at least 0. Got -1"):
        pertinent.pertinent_positives(model, X, off_tol=-1)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"baseline": "mean"}, "pass data="),
        ({"baseline": "mode"}, "must be 'mean', 'median' or numbers"),
        ({"baseline": [1.0, 2.0]}, "one number for each of the 13 features"),
        ({"baseline": np.nan}, "baseline must be finite"),
        ({"weights": np.zeros(13)}, "weights must be positive"),
        ({"weights": -1.0}, "weights must be positive"),
        ({"margin": -1.0}, "margin must be a number of at least 0"),
        ({"margin": 1j}, "margin must be a number of at least 0. Got 1j instead"),
        ({"method": ["strict"]}, r"method must be one of .* Got \['strict'\]"),
        ({"baseline": {0: "x"}}, "The baseline of .* must be a number. Got 'x' instead"),
        ({"baseline": {0: None}}, "The baseline of .* must be a number. Got None instead"),
        ({"baseline": [[1.0], [1.0, 2.0]]}, "baseline must be numbers"),
        ({"baseline": object()}, "baseline must be numbers. Got <object"),
        ({"weights": {0: "x"}}, "The weight of 0 must be a number. Got 'x' instead"),
        ({"alternatives": "x"}, "alternatives must be a whole number of at least 0. Got 'x'"),
        ({"alternatives": None}, "alternatives must be a whole number of at least 0. Got None"),
        ({"time_limit": "x"}, "time_limit must be a number above 0. Got 'x' instead"),
        ({"time_limit": True}, "time_limit must be a number above 0. Got True instead"),
        ({"gap": "x"}, "gap must be a number of at least 0. Got 'x' instead"),
        ({"gap": "a", "exact": True}, "gap must be a number of at least 0. Got 'a' instead"),
        ({"gap": np.inf}, "gap must be a number of at least 0. Got inf instead"),
        ({"min_proba": "x"}, "min_proba must be a number between 0 and 1. Got 'x' instead"),
        ({"min_proba": 2}, "min_proba must be a number between 0 and 1. Got 2 instead"),
        ({"options": 0}, r"options must be a pertinent\.Options. Got 0 instead"),
        ({"plausibility": 3}, r"plausibility must be a pertinent\.Plausibility. Got 3 instead"),
        ({"constraints": {}}, r"constraints must be a pertinent\.Constraints. Got {} instead"),
    ],
)
def test_bad_arguments_are_explained(model, X, arguments, match):
    with pytest.raises(InputError, match=match):
        pertinent.pertinent_positives(model, X, **arguments)


@pytest.mark.parametrize("data", [False, True])
def test_a_baseline_of_none_is_that_of_the_explainer(model, X, data):
    shared = {"data": X if data else None}
    found = pertinent.pertinent_positives(model, X[:5], baseline=None, **shared)
    given = pertinent.pertinent_positives(
        model, X[:5], baseline="median" if data else 0.0, **shared
    )
    assert found.values.tobytes() == given.values.tobytes()
    explained = pertinent.Explainer(model, between=False, **shared).explain(X[:5]).positive
    assert found.values.tobytes() == explained.values.tobytes()


def test_repr_counts(model, X):
    assert repr(pertinent.pertinent_positives(model, X)).startswith("<Positives: 178 optimal, ")
    assert repr(pertinent.pertinent_positives(model, X[:0])) == "<Positives: 0 samples>"


def test_a_baseline_where_rounding_alone_decides_is_no_answer():
    """All scores of a ridge classifier tie at the mean of balanced classes, up to rounding.

    What predict says there depends on how many rows it is given at once.
    """
    X, y = load_iris(return_X_y=True)
    model = RidgeClassifier().fit(X, y)
    whole = pertinent.pertinent_positives(model, X, baseline="mean", data=X)
    single = pertinent.pertinent_positives(model, X, baseline="mean", data=X, batch_size=1)
    assert whole.values.tobytes() == single.values.tobytes()
    alone = [model.predict(point[None])[0] for point in whole.values]
    assert (np.array(alone) == model.predict(X)).all()
