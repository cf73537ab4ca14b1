"""The common checks over quadratic models."""

from __future__ import annotations

import numpy as np
from quadratic_models import data
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from pertinent.testing import parametrize_with_region_checks


def _cases():
    iris, labels = data("iris")
    named = np.array(["setosa", "versicolor", "virginica"])[labels]
    cancer, benign = data("breast_cancer")
    cancer = np.ascontiguousarray(cancer[:, :6])
    two = labels > 0
    few = np.ascontiguousarray(iris[::12])
    return [
        (QuadraticDiscriminantAnalysis(reg_param=0.1).fit(iris, named), few),
        (GaussianNB(var_smoothing=1e-3).fit(cancer, benign), cancer),
        (SVC(kernel="poly", degree=2, coef0=1.0).fit(iris[two], labels[two]), iris[two][::12]),
    ]


@parametrize_with_region_checks(_cases())
def test_common(model, X, check):
    check(model, X)
