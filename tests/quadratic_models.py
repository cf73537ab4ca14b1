"""The quadratic classifiers under test, fitted on data with two, three and ten classes."""

from __future__ import annotations

from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
KINDS = ("qda 0", "qda 0.1", "qda 0.5", "qda 1", "bayes")


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = LOADERS[name](return_X_y=True)
    X = X / 16 if name == "digits" else StandardScaler().fit_transform(X)
    return X, y


@cache
def fitted(kind: str, name: str):
    """Return the model and its samples.

    Without regularisation QDA needs covariances of full rank: digits have constant pixels, so
    there the model sees principal components. ``tol`` only says when scikit-learn refuses a
    covariance as singular (breast cancer's smallest eigenvalues are below its default).
    """
    X, y = data(name)
    if kind == "bayes":
        return GaussianNB().fit(X, y), X
    reg = float(kind.split()[1])
    if reg == 0 and name == "digits":
        X = np.ascontiguousarray(PCA(20, random_state=0).fit_transform(X))
    return QuadraticDiscriminantAnalysis(reg_param=reg, tol=1e-12).fit(X, y), X


def some(X: np.ndarray, count: int) -> np.ndarray:
    return np.ascontiguousarray(X[np.linspace(0, len(X) - 1, count).astype(int)])
