"""The linear classifiers under test, fitted on data with two, three and ten classes."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}

ESTIMATORS = {
    "logistic": lambda: LogisticRegression(max_iter=300),
    "logistic_cv": lambda: LogisticRegressionCV(Cs=2, cv=2, max_iter=200),
    "one_vs_rest": lambda: OneVsRestClassifier(LogisticRegression(max_iter=300)),
    "lda": LinearDiscriminantAnalysis,
    "linear_svc": lambda: LinearSVC(max_iter=2000),
    "svc": lambda: SVC(kernel="linear"),
    "sgd": lambda: SGDClassifier(random_state=0),
    "perceptron": lambda: Perceptron(random_state=0),
    "passive_aggressive": lambda: PassiveAggressiveClassifier(random_state=0),
    "ridge": RidgeClassifier,
    "ridge_cv": RidgeClassifierCV,
}


@cache
def data(name: str, standardised: bool = True) -> tuple[np.ndarray, np.ndarray]:
    X, y = LOADERS[name](return_X_y=True)
    return (StandardScaler().fit_transform(X) if standardised else X), y


@cache
def fitted(estimator: str, name: str, standardised: bool = True) -> object:
    X, y = data(name, standardised)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short fits: convergence does not matter here
        return ESTIMATORS[estimator]().fit(X, y)


def supported(estimator: str, name: str) -> bool:
    return estimator != "svc" or name == "breast_cancer"
