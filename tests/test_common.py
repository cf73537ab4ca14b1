"""The common checks over every supported linear model."""

from __future__ import annotations

from linear_models import ESTIMATORS, data, fitted, supported

from pertinent.testing import parametrize_with_region_checks

CASES = [
    (fitted(estimator, name), data(name)[0])
    for estimator in ESTIMATORS
    for name in ("iris", "breast_cancer")
    if supported(estimator, name)
]


@parametrize_with_region_checks(CASES)
def test_common(model, X, check):
    check(model, X)
