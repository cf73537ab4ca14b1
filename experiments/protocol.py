"""The protocol of the paper's section III-F: data, folds, models, and which samples count.

Three-fold cross-validation, standardised, baseline 0, eps 0. Excluded are the samples of the
class that the zero vector is predicted as (their positive is empty) and misclassified samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from pertinent.datasets import load_ames
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

FOLDS = 3


def _first_two(loader: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
    """The published scripts keep the first two classes only."""
    X, y = loader(return_X_y=True)
    return X[y < 2], y[y < 2]


def _ames() -> tuple[np.ndarray, np.ndarray]:
    houses = load_ames(binary_at=160_000)
    return np.asarray(houses.X, dtype=float), np.asarray(houses.target)


#: The paper's four rows, then the same with all classes.
DATA: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda: _first_two(load_iris),
    "house prices": _ames,
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: _first_two(load_wine),
    "iris, 3 classes": lambda: load_iris(return_X_y=True),
    "wine, 3 classes": lambda: load_wine(return_X_y=True),
}

#: The paper's three models, then those we add.
MODELS: dict[str, Callable[[int], Any]] = {
    "LR": lambda seed: LogisticRegression(max_iter=1000),
    "QDA(1.0)": lambda seed: QuadraticDiscriminantAnalysis(reg_param=1.0),
    "GLVQ": lambda seed: GLVQ(prototypes_per_class=3, random_state=seed),
    "QDA(0.1)": lambda seed: QuadraticDiscriminantAnalysis(reg_param=0.1),
    "QDA(0)": lambda seed: QuadraticDiscriminantAnalysis(reg_param=0.0, tol=1e-12),
    "GaussianNB": lambda seed: GaussianNB(),
    "GMLVQ": lambda seed: GMLVQ(prototypes_per_class=3, random_state=seed),
    "LGMLVQ": lambda seed: LGMLVQ(prototypes_per_class=1, random_state=seed),
}
PAPER_MODELS = ("LR", "QDA(1.0)", "GLVQ")


@dataclass(frozen=True)
class Fold:
    """A fitted model and the held-out samples that count."""

    model: Any
    X: np.ndarray
    f1: float
    misclassified: int
    zero_class: int


def folds(data: str, model: str, seed: int) -> Iterator[Fold]:
    """Yield the three folds of one repetition; none where scikit-learn refuses to fit."""
    X, y = DATA[data]()
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in splitter.split(X, y):
        scaler = StandardScaler().fit(X[train])
        try:
            fitted = MODELS[model](seed).fit(scaler.transform(X[train]), y[train])
        except np.linalg.LinAlgError:
            # QDA without regularisation, columns that add up to others: there is no model.
            return
        samples, predicted = scaler.transform(X[test]), None
        predicted = fitted.predict(samples)
        right = predicted == y[test]
        trivial = predicted == fitted.predict(np.zeros((1, X.shape[1])))[0]
        yield Fold(
            fitted,
            samples[right & ~trivial],
            float(f1_score(y[test], predicted, average="macro")),
            int((~right).sum()),
            int((right & trivial).sum()),
        )
