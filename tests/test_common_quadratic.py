"""The common checks over quadratic models: regularisation, priors, smoothing, kernels, units."""

from __future__ import annotations

import numpy as np
import pytest
from quadratic_models import data
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from pertinent.testing import parametrize_with_region_checks

#: Factors by which the units of features differ.
UNITS = np.array([1e-3, 1.0, 1e2, 1e4])


def _cases():
    iris, labels = data("iris")
    named = np.array(["setosa", "versicolor", "virginica"])[labels]
    cancer, benign = data("breast_cancer")
    cancer = np.ascontiguousarray(cancer[:, :6])
    two = labels > 0
    qda = QuadraticDiscriminantAnalysis
    every = slice(None, None, 20)
    cases = [(qda(reg_param=reg).fit(iris, named), iris[every]) for reg in (0.0, 0.1, 0.5, 1.0)]
    cases += [
        (qda(reg_param=0.1, priors=(0.7, 0.2, 0.1)).fit(iris, named), iris[every]),
        (qda(reg_param=0.01).fit(cancer, benign), cancer[::50]),
        (qda(tol=1e-300).fit(iris * UNITS + 50 * UNITS, named), (iris * UNITS + 50 * UNITS)[every]),
        (GaussianNB(var_smoothing=1e-3).fit(cancer, benign), cancer[::4]),
        (GaussianNB(var_smoothing=1e-2, priors=(0.2, 0.3, 0.5)).fit(iris, named), iris[every]),
        (GaussianNB(var_smoothing=1e-12).fit(iris * UNITS, labels), (iris * UNITS)[every]),
        (SVC(kernel="poly", degree=2, coef0=1.0).fit(iris[two], labels[two]), iris[two][every]),
        (SVC(kernel="poly", degree=2).fit(cancer, benign), cancer[::50]),
    ]
    return [(model, np.ascontiguousarray(X)) for model, X in cases]


@pytest.mark.matrix(4)
@parametrize_with_region_checks(_cases())
def test_common(model, X, check):
    check(model, X)
