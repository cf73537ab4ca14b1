"""Each number of a model counts: its region agrees with predict where that number decides."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.exceptions import InputError
from pertinent.models.confidence import confident_region

#: Three classes of unlike sizes, far from the origin.
Y = np.repeat([0, 1, 2], [90, 40, 20])
MEANS = np.array([[40.0, 10.0], [42.0, 11.0], [41.0, 13.0]])[Y]
X = MEANS + np.random.default_rng(0).normal(size=MEANS.shape)


def both(model, X=X, y=Y):
    """Return what the regions say of samples, and what predict says; shape (n, n_classes)."""
    model.fit(X, y)
    inside = [pertinent.decision_region(model, label).contains(X) for label in model.classes_]
    return np.column_stack(inside), model.predict(X)[:, None] == model.classes_


@pytest.mark.parametrize(
    "inner",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2),
    ],
    ids=["shifted columns", "calibrated"],
)
def test_one_vs_rest_compares_scores_as_they_are(inner):
    regions, predicted = both(OneVsRestClassifier(inner))
    assert predicted.any(axis=0).all()
    np.testing.assert_array_equal(regions, predicted)


@pytest.mark.parametrize("model", [
    NearestCentroid(priors=[0.2, 0.1, 0.7]), GaussianNB(priors=[0.2, 0.1, 0.7]),
    QuadraticDiscriminantAnalysis(priors=[0.2, 0.1, 0.7]),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_priors_spreads_and_determinants_count(model):
    """Columns of unlike units, classes of unlike spread."""
    unlike = [1.0, 5.0] * (MEANS + (X - MEANS) * (1.0 + Y[:, None] / 2))
    regions, predicted = both(model, unlike)
    assert predicted.any(axis=0).all()
    np.testing.assert_array_equal(regions, predicted)


def calibrated(sign=1.0):
    """Return a calibrated model of the first two classes whose sigmoid moves the boundary."""
    model = CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2)
    model.fit(X[Y < 2], Y[Y < 2])
    [sigmoid] = model.calibrated_classifiers_[0].calibrators
    sigmoid.a_, sigmoid.b_ = -sign, 1.5
    return model


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_calibration_moves_the_boundary(sign):
    model = calibrated(sign)
    inside = pertinent.decision_region(model, 1).contains(X)
    assert 0 < inside.sum() < len(X)
    np.testing.assert_array_equal(inside, model.predict(X) == 1)


@pytest.mark.parametrize("sure", [0.3, 0.7, 0.9])
@pytest.mark.parametrize("model", [
    LogisticRegression().fit(X, Y), LogisticRegression().fit(X, Y > 0), calibrated(),
], ids=["three classes", "two classes", "calibrated"])  # fmt: skip
def test_a_probability_is_asked_for(model, sure):
    """However small the probability, the class must be predicted as well."""
    label = model.classes_[1]
    inside = confident_region(model, label, 0.0, sure).contains(X)
    assert 0 < inside.sum() < len(X)
    right = (model.predict(X) == label) & (model.predict_proba(X)[:, 1] >= sure)
    np.testing.assert_array_equal(inside, right)


def test_what_rounds_is_what_both_scores_add_up():
    """|W_t| |x| + |b_t| and the same of the rival, those included that cancel."""
    model = LogisticRegression().fit(X, Y)
    [cell] = pertinent.decision_region(model, 0).cells
    sizes = np.column_stack([np.abs(model.coef_), np.abs(model.intercept_)])
    np.testing.assert_array_equal(cell.terms, sizes[1:] + sizes[0])


def test_a_variance_of_0_is_refused():
    model = GaussianNB().fit(X, Y)
    model.var_[1, 0] = 0.0
    with pytest.raises(InputError, match="larger var_smoothing"):
        pertinent.decision_region(model, 0)


def test_equal_variances_leave_rows_that_start_where_the_means_are():
    """Rows are straight then, and the origin is far away."""
    model = GaussianNB().fit(X, Y)
    model.var_[:] = 1.0
    for label in model.classes_:
        inside = pertinent.decision_region(model, label).contains(X)
        np.testing.assert_array_equal(inside, model.predict(X) == label)
