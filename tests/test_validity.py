"""All linear models x all data sets, standardised and raw: every row valid and proved."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import ESTIMATORS, LOADERS, data, fitted, supported

import pertinent
from tests.shown import proved_of_negatives, proved_of_positives

CASES = [
    pytest.param(estimator, name, standardised, id=f"{estimator}-{name}-{kind}")
    for name in LOADERS
    for estimator in ESTIMATORS
    for standardised, kind in ((True, "standardised"), (False, "raw"))
    if supported(estimator, name)
]


@pytest.mark.matrix(3)
@pytest.mark.parametrize("margin", [None, 1e-2])
@pytest.mark.parametrize(("estimator", "name", "standardised"), CASES)
def test_every_row_is_valid_and_proved(estimator, name, standardised, margin):
    model, (X, _) = fitted(estimator, name, standardised), data(name, standardised)
    own = model.predict(X)
    free = {"limits_from": None, "steps_from": None}
    explainer = pertinent.Explainer(model, data=X, between=False, margin=margin, **free)
    result = explainer.explain(X)
    positive, negative = result.positive, result.negative

    assert (model.predict(positive.points) == own).all()
    assert (model.predict(negative.points) != own).all()

    setting = explainer.setting
    for reported, found in (
        (proved_of_negatives(setting, negative)[0], negative),
        (proved_of_positives(setting, explainer.question, positive)[0], positive),
    ):
        # Re-proved from the model's own coefficients: nothing costs less than what is returned.
        room = 2 * cost_of_rounding(model, found.points, setting.weights)
        assert ((found.status == "optimal") | (found.objective - found.bound <= room)).all()
        assert (found.objective - reported <= 1e-6 * found.objective + 1e-9 + room).all()


def cost_of_rounding(model, points, weights):
    """Return what it costs to keep off the boundary by what a sum over support vectors rounds.

    A sum over n of them, of terms S, is off by ``(n + d + 4) u S``: on raw data S is 1e8 where the
    scores are 1. The margin that answers keep is less than twice that.
    """
    if not hasattr(model, "support_vectors_") or len(model.classes_) > 2:
        return np.zeros(len(points))
    terms = np.abs(points) @ np.abs(model.support_vectors_).T @ np.abs(model.dual_coef_[0])
    unit = (len(model.support_vectors_) + points.shape[1] + 4) * np.finfo(float).eps / 2
    return unit * terms / (np.abs(model.coef_[0]) / weights).max()


@pytest.mark.parametrize("margin", [0.0, 1e-6, 1e-2])
@pytest.mark.parametrize("name", list(LOADERS))
def test_margins(name, margin):
    model, (X, _) = fitted("logistic", name), data(name)
    found = pertinent.pertinent_negatives(model, X, margin=margin)
    assert found.found.all()
    assert (model.predict(found.points) == found.target).all()
    for k, label in enumerate(model.classes_):
        inside = pertinent.decision_region(model, label, margin)
        assert inside.contains(found.values[found.target_place == k], tol=1e-12).all()


def test_binary_iris_positive_is_the_analytic_optimum():
    X, y = data("iris")
    X, y = X[y < 2], y[y < 2]
    model = pertinent_model(X, y)
    found = pertinent.pertinent_positives(model, X, margin=0.0)
    w, b = model.coef_[0], model.intercept_[0]
    best = int(np.abs(w).argmax())
    # From 0 the score is b: the cheapest way to make it change sign moves the steepest feature.
    own_sign = np.where(model.predict(X) == 1, 1.0, -1.0)
    distance = np.maximum(0.0, -own_sign * b) / np.abs(w[best])
    np.testing.assert_allclose(found.objective, distance, atol=1e-8)
    on = ~found.trivial
    assert on.any()
    assert (found.kept[on].sum(axis=1) == 1).all()
    assert found.kept[on][:, best].all()


def pertinent_model(X, y):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(X, y)
