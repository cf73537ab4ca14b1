"""Every supported model, in odd units and in single precision: points are valid in any company."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import ESTIMATORS, data, supported
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ
from pertinent.testing import assert_valid_in_any_company

#: From 1e-6 to 1e6, one factor for each feature of iris.
UNITS = np.array([1e-6, 1e-2, 1e2, 1e6])
OTHERS = {
    "qda": lambda: make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis()),
    "naive Bayes": lambda: GaussianNB(var_smoothing=0),
    "centroid": NearestCentroid,
    "neighbour": lambda: KNeighborsClassifier(1),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "glvq": lambda: GLVQ(random_state=0, max_iter=10),
    "gmlvq": lambda: GMLVQ(random_state=0, max_iter=10),
    "lgmlvq": lambda: LGMLVQ(random_state=0, max_iter=4),
}
MODELS = {name: make for name, make in ESTIMATORS.items() if supported(name, "iris")} | OTHERS


@pytest.mark.matrix(2)
@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_points_are_valid_in_any_company(name, precision):
    X, y = data("iris")
    X = (X * UNITS).astype(precision)
    model = MODELS[name]().fit(X, y)
    samples = X[::30]
    weights = 1 / X.std(axis=0, dtype=float)
    found = pertinent.pertinent_negatives(model, samples, weights=weights)
    here = found.found
    assert_valid_in_any_company(model, found.points[here], found.target[here])
    two = pertinent.pertinent_negatives(model, samples, weights=weights, n_jobs=2)
    assert found.points.tobytes() == two.points.tobytes()
    kept = pertinent.pertinent_positives(model, samples, weights=weights, baseline=X.mean(axis=0))
    own = model.predict(samples)
    assert_valid_in_any_company(model, kept.points[kept.found], own[kept.found])
    assert kept.found.any()
