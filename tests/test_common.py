"""The common checks over every supported linear model, and over features of very unlike units."""

from __future__ import annotations

import numpy as np
import pytest
from linear_models import ESTIMATORS, data, fitted, supported
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pertinent.testing import parametrize_with_region_checks

#: Factors by which the units of features differ.
UNITS = np.array([1e-3, 1.0, 1e2, 1e4])

CASES = [
    (fitted(estimator, name), data(name)[0])
    for estimator in ESTIMATORS
    for name in ("iris", "breast_cancer")
    if supported(estimator, name)
]


def _unlike_units():
    iris, labels = data("iris")
    far = iris * UNITS + 50 * UNITS
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    return [
        (LinearDiscriminantAnalysis().fit(far, labels), far),
        (
            LinearDiscriminantAnalysis(tol=1e-12).fit(iris * UNITS * 1e-6, labels),
            iris * UNITS * 1e-6,
        ),
        (scaled.fit(far, labels), far),
    ]


@pytest.mark.matrix(2)
@parametrize_with_region_checks(CASES + _unlike_units())
def test_common(model, X, check):
    check(model, X)
