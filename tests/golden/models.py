"""Small models of every family, the same on every machine: what was learnt is kept in a file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from pertinent.datasets import load_credit
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

#: The fitted numbers of each model, in the order of `_places`.
LEARNT = Path(__file__).parent / "learnt.json"
#: Digits kept of what training found: others would depend on the machine.
DIGITS = 8
NUMBERS, WORDS = ["income", "debt", "months", "age"], ["job", "education"]


@dataclass(frozen=True)
class Fitted:
    """A model with its training data."""

    model: Any
    X: Any
    y: np.ndarray

    def some(self, rows: int | list[int], target: Any = None) -> Any:
        """Return rows by their places, or so many, spread over what is not yet the target."""
        allowed = np.arange(len(self.X))
        if target is not None and isinstance(rows, int):
            allowed = np.flatnonzero(self.model.predict(self.X) != target)
        if isinstance(rows, int):
            rows = np.linspace(0, len(allowed) - 1, rows).astype(int)
        places = allowed[rows]
        return self.X.iloc[places] if hasattr(self.X, "iloc") else self.X[places]


# -- Data ----------------------------------------------------------------------------------------


def _loans() -> tuple[pd.DataFrame, np.ndarray]:
    rng, n = np.random.default_rng(0), 300
    X = pd.DataFrame(
        {
            "income": rng.gamma(4, 500, n).round(2),
            "debt": rng.gamma(2, 300, n).round(2),
            "months": rng.integers(6, 72, n),
            "age": rng.integers(18, 80, n),
            "job": rng.choice(["fixed", "freelance", "part time", "none"], n),
            "education": rng.choice(["school", "bachelor", "master"], n),
        }
    )
    score = X["income"] / 1000 - X["debt"] / 300 - X["months"] / 30
    score += X["job"].map({"fixed": 1.0, "freelance": 0.3, "part time": -0.5, "none": -1.5})
    score += X["education"].map({"school": -0.5, "bachelor": 0.2, "master": 0.8})
    return X, np.where(score + rng.normal(0, 0.3, n) > score.median(), "good", "bad")


def _customers() -> tuple[pd.DataFrame, np.ndarray]:
    """Return two categories and two counts; three classes."""
    rng, n = np.random.default_rng(3), 300
    X = pd.DataFrame(
        {
            "job": rng.choice(["fixed", "part-time", "none"], n),
            "home": rng.choice(["own", "rent"], n),
            "children": rng.choice([0, 1, 2, 3], n),
            "loans": rng.choice([0, 1, 2], n),
        }
    )
    score = 1.6 * (X.job == "fixed") - 1.2 * (X.job == "none") * (X.loans + 1)
    score += 0.9 * (X.home == "own") - 0.5 * X.children + rng.normal(0, 0.5, n)
    return X, np.digitize(score, [-1.0, 0.5])


def _crowd() -> tuple[np.ndarray, np.ndarray]:
    """Return points of which many coincide and differ in class."""
    rng = np.random.default_rng(2)
    return rng.integers(0, 3, size=(12, 2)).astype(float), rng.integers(0, 4, size=12)


def _standardised(X: np.ndarray) -> np.ndarray:
    return np.round((X - X.mean(axis=0)) / X.std(axis=0), 6)


@cache
def data(name: str) -> tuple[Any, np.ndarray]:
    if name == "loans":
        return _loans()
    if name == "crowd":
        return _crowd()
    if name == "customers":
        return _customers()
    if name == "credit":
        credit = load_credit(drop_missing=True)
        return credit.frame[:1500], np.asarray(credit.target)[:1500]
    if name == "gaps":
        credit = load_credit()
        return credit.frame[:1500], np.asarray(credit.target)[:1500]
    if name == "holes":
        X, y = load_iris(return_X_y=True)
        return np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), y
    load = {"iris": load_iris, "pair": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
    X, y = load[name](return_X_y=True)
    if name == "pair":  # the two kinds of iris that overlap
        return X[50:], y[50:]
    return (X, y) if name == "iris" else (_standardised(X[:, :10]), y)


# -- Models --------------------------------------------------------------------------------------


def _logistic(**options: Any) -> LogisticRegression:
    return LogisticRegression(max_iter=3000, **options)


def _ties() -> LogisticRegression:
    """Return a model to which all features are the same."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.ones((1, 4)), np.array([-13.0123])
    model.classes_, model.n_features_in_ = np.array([0, 1]), 4
    return model


def _mixed(numbers: Any, words: Any, last: Any) -> Any:
    steps = [("numbers", numbers, NUMBERS), ("words", words, WORDS)]
    return make_pipeline(ColumnTransformer(steps, sparse_threshold=0), last)


def _counted(last: Any) -> Any:
    steps = [
        ("words", OneHotEncoder(), ["job", "home"]),
        ("counts", StandardScaler(), ["children", "loans"]),
    ]
    return make_pipeline(ColumnTransformer(steps, sparse_threshold=0), last)


def _credit(fill: bool) -> Any:
    table = data("gaps" if fill else "credit")[0]
    numbers = table.select_dtypes("number").columns.tolist()
    words = [name for name in table if name not in numbers]
    scale, encode = StandardScaler(), OneHotEncoder(handle_unknown="ignore")
    if fill:
        scale = make_pipeline(SimpleImputer(strategy="median"), scale)
        encode = make_pipeline(SimpleImputer(strategy="most_frequent"), encode)
    columns = ColumnTransformer([("numbers", scale, numbers), ("words", encode, words)])
    return make_pipeline(columns, _logistic())


def _binned(last: Any, columns: int = 10, encode: str = "onehot-dense") -> Any:
    bins = KBinsDiscretizer(3, encode=encode, strategy="uniform")
    parts = [("bins", bins, [0, 2]), ("others", "passthrough", [1, *range(3, columns)])]
    return make_pipeline(ColumnTransformer(parts), last)


#: Name of the model: its data, and how it is made.
MODELS: dict[str, tuple[str, Any]] = {
    "logistic pair": ("pair", _logistic),
    "logistic cancer": ("cancer", lambda: _logistic(C=0.1)),
    "logistic iris": ("iris", _logistic),
    "logistic wine": ("wine", _logistic),
    "linear SVC": ("wine", lambda: LinearSVC(C=0.1, random_state=0)),
    "ridge": ("wine", RidgeClassifier),
    "LDA": ("iris", LinearDiscriminantAnalysis),
    "one-vs-rest": ("iris", lambda: OneVsRestClassifier(_logistic())),
    "calibrated": (
        "cancer",
        lambda: CalibratedClassifierCV(LinearSVC(C=0.1, random_state=0), ensemble=False, cv=2),
    ),
    "ties": ("pair", _ties),
    "QDA 0": ("iris", QuadraticDiscriminantAnalysis),
    "QDA 0.1": ("iris", lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)),
    "QDA pair": ("pair", lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)),
    "QDA wine": ("wine", lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)),
    "QDA cancer": ("cancer", lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)),
    "QDA 1": ("iris", lambda: QuadraticDiscriminantAnalysis(reg_param=1.0)),
    "naive Bayes": ("iris", GaussianNB),
    "naive Bayes cancer": ("cancer", GaussianNB),
    "SVC degree 2": ("pair", lambda: SVC(kernel="poly", degree=2, coef0=1.0)),
    "products": (
        "pair",
        lambda: make_pipeline(StandardScaler(), PolynomialFeatures(2), _logistic()),
    ),
    "GLVQ": ("wine", lambda: GLVQ(2, random_state=0, max_iter=15)),
    "GMLVQ": ("iris", lambda: GMLVQ(2, random_state=0, max_iter=10)),
    "LGMLVQ": ("iris", lambda: LGMLVQ(1, random_state=0, max_iter=5)),
    "LGMLVQ wine": ("wine", lambda: LGMLVQ(2, random_state=0, max_iter=5)),
    "nearest centroid": ("wine", NearestCentroid),
    "1-NN": ("iris", lambda: KNeighborsClassifier(1, algorithm="brute")),
    "1-NN crowded": (
        "crowd",
        lambda: KNeighborsClassifier(1, algorithm="kd_tree", leaf_size=1),
    ),
    "tree": ("wine", lambda: DecisionTreeClassifier(max_depth=5, random_state=0)),
    "scaled": ("iris", lambda: make_pipeline(StandardScaler(), _logistic())),
    "PCA": ("wine", lambda: make_pipeline(StandardScaler(), PCA(4), _logistic())),
    "PCA tree": (
        "iris",
        lambda: make_pipeline(PCA(3), DecisionTreeClassifier(max_depth=4, random_state=0)),
    ),
    "clipped": ("wine", lambda: make_pipeline(MinMaxScaler(clip=True), _logistic())),
    "bins": ("wine", lambda: _binned(_logistic())),
    "bins, ordinal": ("wine", lambda: _binned(_logistic(), encode="ordinal")),
    "bins, naive Bayes": ("iris", lambda: _binned(GaussianNB(), 4)),
    "one-hot": ("loans", lambda: _mixed(StandardScaler(), OneHotEncoder(), _logistic())),
    "ordinal": ("loans", lambda: _mixed(StandardScaler(), OrdinalEncoder(), LinearSVC(C=0.1))),
    "one-hot tree": (
        "loans",
        lambda: _mixed(
            "passthrough", OneHotEncoder(), DecisionTreeClassifier(max_depth=5, random_state=0)
        ),
    ),
    "one-hot naive Bayes": (
        "loans",
        lambda: _mixed(StandardScaler(), OneHotEncoder(), GaussianNB(var_smoothing=0.1)),
    ),
    "counts": ("customers", lambda: _counted(_logistic(C=10))),
    "counts tree": (
        "customers",
        lambda: _counted(DecisionTreeClassifier(max_depth=4, random_state=0)),
    ),
    "counts GLVQ": ("customers", lambda: _counted(GLVQ(2, random_state=0, max_iter=15))),
    "counts naive Bayes": ("customers", lambda: _counted(GaussianNB())),
    "counts QDA": (
        "customers",
        lambda: _counted(QuadraticDiscriminantAnalysis(reg_param=0.2)),
    ),
    "credit": ("credit", lambda: _credit(fill=False)),
    "credit with gaps": ("gaps", lambda: _credit(fill=True)),
    "forest": ("iris", lambda: RandomForestClassifier(5, max_depth=3, random_state=0)),
    "boosting": (
        "holes",
        lambda: HistGradientBoostingClassifier(max_iter=4, max_depth=3, min_samples_leaf=8),
    ),
}
#: Words in the names of models whose cells are not convex: their optima are proved to 1e-4.
CURVED = ("QDA", "naive Bayes", "SVC degree 2", "LGMLVQ", "products")


def is_curved(name: str) -> bool:
    return any(words in name for words in CURVED)


@cache
def fitted(name: str) -> Fitted:
    source, make = MODELS[name]
    X, y = data(source)
    model = make()
    if not hasattr(model, "coef_"):  # else it is made as it shall be
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # short fits: convergence does not matter here
            model.fit(X, y)
        _take_learnt(model, learnt().get(name))
    return Fitted(model, X, y)


@cache
def learnt() -> dict[str, list[Any]]:
    """Return the fitted numbers of each model, as recorded: training differs among processors."""
    return json.loads(LEARNT.read_text()) if LEARNT.exists() else {}


def record_learnt() -> None:
    """Write the fitted numbers of all models, as they are trained here; keep those recorded."""
    kept = {name: [at(*place).tolist() for place in _places(fitted(name).model)] for name in MODELS}
    LEARNT.write_text("{\n" + ",\n".join(_lines(kept)) + "\n}\n")


def _lines(kept: dict[str, list[Any]]) -> Iterator[str]:
    return (f"{json.dumps(name)}: {json.dumps(arrays)}" for name, arrays in kept.items())


def _take_learnt(model: Any, recorded: list[Any] | None) -> None:
    """Give a fitted model the recorded numbers; without any, round what training found."""
    places = list(_places(model))
    if recorded is None:
        recorded = [_rounded(at(*place)) for place in places]
    for (part, name, index), values in zip(places, recorded, strict=True):
        array = np.array(values, dtype=at(part, name, index).dtype)
        if index is None:
            setattr(part, name, array)
        else:
            getattr(part, name)[index] = array


def at(part: Any, name: str, index: int | None) -> np.ndarray:
    value = getattr(part, name)
    return value if index is None else value[index]


def _places(part: Any) -> Iterator[tuple[Any, str, int | None]]:
    """Yield where the fitted numbers of a model and of everything inside it are."""
    if isinstance(part, list | tuple):
        for inner in part:
            yield from _places(inner)
    elif isinstance(part, BaseEstimator) and not isinstance(part, SVC):
        for name, value in vars(part).items():
            fitted_here = name.endswith("_") and not name.startswith("_")
            if fitted_here and _is_floats(value):
                yield part, name, None
            elif fitted_here and isinstance(value, list) and all(_is_floats(v) for v in value):
                yield from ((part, name, i) for i in range(len(value)))
            else:
                yield from _places(value)


def _is_floats(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _rounded(array: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(np.abs(array)))
    places = DIGITS - 1 - np.where(np.isfinite(size), size, 0)
    return np.rint(array * 10.0**places) / 10.0**places
