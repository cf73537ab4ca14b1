"""Pertinent negatives: targets, and agreement with an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import data, fitted
from linear_programs import nearest

import pertinent
from pertinent.exceptions import InputError


@pytest.fixture(scope="module")
def model():
    return fitted("logistic", "digits")


@pytest.fixture(scope="module")
def X():
    return data("digits")[0][::10]


def test_the_nearest_of_all_others_is_the_best_of_all_targets(model, X):
    free = pertinent.pertinent_negatives(model, X)
    own = model.predict(X)
    best = np.full(len(X), np.inf)
    for label in model.classes_:
        rows = own != label
        one = pertinent.pertinent_negatives(model, X[rows], target=label)
        best[rows] = np.minimum(best[rows], one.objective)
    np.testing.assert_allclose(free.objective, best, rtol=1e-9)


def test_agrees_with_an_independent_solver(model, X):
    rows = model.predict(X) != 3
    found = pertinent.pertinent_negatives(model, X[rows], target=3)
    region = pertinent.decision_region(model, 3, 1e-9)
    free = np.full(64, -np.inf), np.full(64, np.inf)
    for i in range(0, rows.sum(), 40):
        assert found.objective[i] == pytest.approx(
            nearest(region, X[rows][i], *free), rel=1e-6, abs=1e-7
        )


def test_a_target_for_each_row(model, X):
    own = model.predict(X)
    wanted = (own + 1) % 10
    found = pertinent.pertinent_negatives(model, X, target=wanted)
    assert (found.target == wanted).all()
    assert (model.predict(found.points) == wanted).all()


def test_rounded_points_would_often_be_invalid(model, X):
    """What the printed form of other systems loses; ours is handed out unrounded."""
    found = pertinent.pertinent_negatives(model, X)
    assert (model.predict(found.points) == found.target).all()
    assert (model.predict(np.round(found.points, 2)) == found.target).mean() < 0.9


def test_bad_targets_are_explained(model, X):
    with pytest.raises(InputError, match="2 labels for 180 samples"):
        pertinent.pertinent_negatives(model, X, target=[1, 2])
    with pytest.raises(InputError, match="42 is not a label"):
        pertinent.pertinent_negatives(model, X, target=42)


def test_an_unreachable_class_is_proved_unreachable(X):
    model = fitted("logistic", "digits")
    dominated = type(model)().set_params(**model.get_params())
    dominated.__dict__.update(model.__dict__)
    dominated.coef_, dominated.intercept_ = model.coef_.copy(), model.intercept_.copy()
    dominated.coef_[3], dominated.intercept_[3] = model.coef_[5], model.intercept_[5] - 1
    rows = dominated.predict(X) != 3
    assert rows.all()
    found = pertinent.pertinent_negatives(dominated, X[:20], target=3)
    assert (found.status == "infeasible").all()
    assert np.isinf(found.bound).all()
    assert "contradict each other for this model" in found.reason[0]
    # The others are still reached, and class 3 does not spoil their bound.
    assert (pertinent.pertinent_negatives(dominated, X[:20]).status == "optimal").all()


def test_repr_counts(model, X):
    assert repr(pertinent.pertinent_negatives(model, X)).startswith("<Negatives: 180 optimal, 1 ")
    assert repr(pertinent.pertinent_negatives(model, X[:0])) == "<Negatives: 0 samples>"
