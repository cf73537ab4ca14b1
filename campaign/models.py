"""Random models of every family: fitted shortly on random tables, or written down directly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from campaign.tables import ODD, Array, table
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

Rng = np.random.Generator


@dataclass(frozen=True)
class Family:
    """A kind of model, and how large it is drawn.

    Attributes
    ----------
    make : from a random generator, samples and classes to a fitted model
    features, classes : what is drawn from
    rows : how many samples are asked about in bulk, with few features
    samples : how many the model is fitted on, about
    curved : whether it counts among curved and prototype models
    """

    make: Callable[[Rng, Array, Array], Any]
    features: tuple[int, ...]
    classes: tuple[int, ...] = (2, 2, 3, 5)
    rows: int = 200
    samples: int = 120
    curved: bool = True


@dataclass(frozen=True)
class Problem:
    """A fitted model with the table it came from."""

    family: str
    model: Any
    X: Array
    y: Array
    traits: tuple[str, ...] = field(default=())


# -- Linear ------------------------------------------------------------------------------------


def _linear(rng: Rng, X: Array, y: Array) -> Any:
    model = rng.choice(
        np.array(
            [
                LogisticRegression(max_iter=50, C=10.0 ** rng.integers(-3, 4)),
                LinearSVC(max_iter=200),
                RidgeClassifier(),
                SGDClassifier(random_state=0, max_iter=20),
                Perceptron(random_state=0, max_iter=20),
                OneVsRestClassifier(LogisticRegression(max_iter=50)),
            ],
            dtype=object,
        )
    )
    return model.fit(X, y)


def written_logistic(W: Array, b: Array) -> LogisticRegression:
    """Return a logistic regression with these scores, not fitted to anything."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.asarray(W, float), np.asarray(b, float)
    model.classes_ = np.arange(2 if len(W) == 1 else len(W))
    model.n_features_in_ = W.shape[1]
    model.n_iter_ = np.array([1])
    return model


def _written_linear(rng: Rng, X: Array, y: Array) -> Any:
    """Return rows that are huge, tiny, zero, equal, nearly parallel: no fit gives them all."""
    k, d = len(np.unique(y)), X.shape[1]
    W = rng.normal(size=(1 if k == 2 else k, d))
    odd = rng.choice(["plain", "sizes", "sparse", "equal", "parallel", "zero", "columns"])
    if odd == "sizes":
        W *= 10.0 ** rng.uniform(-9, 9, (len(W), 1))
    elif odd == "columns":
        W *= 10.0 ** rng.uniform(-6, 6, d)
    elif odd == "sparse":
        W *= rng.random(W.shape) < 0.2
    elif odd == "equal":
        W = W[rng.integers(len(W), size=len(W))]
    elif odd == "parallel":
        W = W[:1] + 10.0 ** -rng.choice([3, 6, 9]) * W
    elif odd == "zero":
        W[rng.integers(len(W))] = 0.0
    # Boundaries run through the samples, in whatever units these are.
    middle = np.median(X, axis=0)
    b = -W @ middle + rng.normal(size=len(W)) * np.abs(W @ (X[0] - middle)).max()
    return written_logistic(W, b)


def _lda(rng: Rng, X: Array, y: Array) -> Any:
    solver = rng.choice(["svd", "lsqr"])
    shrinkage = 0.5 if solver == "lsqr" else None
    return LinearDiscriminantAnalysis(solver=str(solver), shrinkage=shrinkage).fit(X, y)


# -- Curved ------------------------------------------------------------------------------------


def _qda(rng: Rng, X: Array, y: Array) -> Any:
    reg = rng.choice([0.0, 1e-3, 0.1, 0.5, 1.0])
    return QuadraticDiscriminantAnalysis(reg_param=float(reg), tol=1e-12).fit(X, y)


def _naive_bayes(rng: Rng, X: Array, y: Array) -> Any:
    return GaussianNB(var_smoothing=float(10.0 ** rng.choice([-9, -6, -2]))).fit(X, y)


def _written_naive_bayes(rng: Rng, X: Array, y: Array) -> Any:
    """Return variances that differ by many powers of ten between classes, or not at all."""
    model = GaussianNB().fit(X, y)
    model.var_ = model.var_ * 10.0 ** rng.uniform(-3, 3, (len(model.var_), 1))
    if rng.random() < 0.3:
        model.var_ = np.repeat(model.var_[:1], len(model.var_), axis=0)
    model.class_prior_ = rng.dirichlet(np.ones(len(model.var_)))
    return model


def _svm(rng: Rng, X: Array, y: Array) -> Any:
    if rng.random() < 0.5:
        return SVC(kernel="linear", C=1.0).fit(X, y)
    return SVC(kernel="poly", degree=2, coef0=float(rng.choice([0.0, 1.0]))).fit(X, y)


# -- Prototypes --------------------------------------------------------------------------------


def _centroid(rng: Rng, X: Array, y: Array) -> Any:
    shrink = float(rng.choice([0.0, 0.3])) or None
    return NearestCentroid(shrink_threshold=shrink).fit(X, y)


def _nearest(rng: Rng, X: Array, y: Array) -> Any:
    how = str(rng.choice(["auto", "brute", "kd_tree"]))
    return KNeighborsClassifier(1, algorithm=how).fit(X, y)


def _few(rng: Rng) -> dict[str, Any]:
    return {"prototypes_per_class": int(rng.choice([1, 2, 3])), "random_state": 0, "max_iter": 5}


def _glvq(rng: Rng, X: Array, y: Array) -> Any:
    return GLVQ(**_few(rng)).fit(X, y)


def _gmlvq(rng: Rng, X: Array, y: Array) -> Any:
    return GMLVQ(**_few(rng)).fit(X, y)


def _lgmlvq(rng: Rng, X: Array, y: Array) -> Any:
    return LGMLVQ(**_few(rng)).fit(X, y)


# -- Trees, pipelines --------------------------------------------------------------------------


def _tree(rng: Rng, X: Array, y: Array) -> Any:
    kind = DecisionTreeClassifier if rng.random() < 0.7 else ExtraTreeClassifier
    return kind(max_depth=int(rng.integers(1, 8)), random_state=0).fit(X, y)


def _forest(rng: Rng, X: Array, y: Array) -> Any:
    kind = RandomForestClassifier if rng.random() < 0.5 else ExtraTreesClassifier
    size = {"n_estimators": int(rng.choice([1, 2, 3, 5, 10, 20])), "random_state": 0}
    return kind(max_depth=int(rng.integers(1, 5)), **size).fit(X, y)


def _boosted(rng: Rng, X: Array, y: Array) -> Any:
    trees, depth = int(rng.choice([1, 3, 5, 10])), int(rng.integers(1, 4))
    if rng.random() < 0.5:
        return GradientBoostingClassifier(n_estimators=trees, max_depth=depth, random_state=0).fit(
            X, y
        )
    return HistGradientBoostingClassifier(
        max_iter=trees, max_depth=depth, min_samples_leaf=2, early_stopping=False, random_state=0
    ).fit(X, y)


def _pipeline(rng: Rng, X: Array, y: Array) -> Any:
    d = X.shape[1]
    first: list[Any] = [
        StandardScaler(),
        MinMaxScaler(),
        RobustScaler(),
        MaxAbsScaler(),
        MinMaxScaler(clip=True),
        make_pipeline(StandardScaler(), PCA(int(rng.integers(1, d + 1)))),
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)),
    ]
    step = first[rng.integers(len(first))]
    last: list[Any] = [LogisticRegression(max_iter=100), LinearSVC(max_iter=200)]
    if not isinstance(step, KBinsDiscretizer) and "polynomial" not in str(step).lower():
        last += [GaussianNB(), NearestCentroid(), GLVQ(random_state=0, max_iter=5)]
        last += [LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=3, random_state=0)]
    return make_pipeline(step, last[rng.integers(len(last))]).fit(X, y)


def _calibrated(rng: Rng, X: Array, y: Array) -> Any:
    inner = LinearSVC(max_iter=200) if rng.random() < 0.5 else LogisticRegression(max_iter=100)
    return CalibratedClassifierCV(inner, ensemble=False, cv=2).fit(X, y)


_ANY = (1, 2, 3, 5, 8, 13, 30, 100, 500, 2000)
_SOME = (1, 2, 3, 4, 5, 8, 13, 30)
_FEW = (1, 2, 2, 3, 4, 5, 8)
_MANY_CLASSES = (2, 2, 2, 3, 5, 10, 50, 200)

FAMILIES: dict[str, Family] = {
    "linear": Family(_linear, _ANY, _MANY_CLASSES, 4000, curved=False),
    "linear, written": Family(_written_linear, _ANY, _MANY_CLASSES, 4000, curved=False),
    "LDA": Family(_lda, (1, 2, 3, 5, 13, 30), _MANY_CLASSES, 4000, curved=False),
    "QDA": Family(_qda, _FEW, rows=40),
    "naive Bayes": Family(_naive_bayes, _SOME, rows=200),
    "naive Bayes, written": Family(_written_naive_bayes, _FEW, rows=60),
    "SVM": Family(_svm, _FEW, (2,), 200),
    "nearest centroid": Family(_centroid, _ANY, (2, 3, 5, 10, 50), 500),
    "1-NN": Family(_nearest, _SOME, (2, 3, 5), 150, samples=60),
    "GLVQ": Family(_glvq, _SOME, (2, 3, 5), 500),
    "GMLVQ": Family(_gmlvq, _SOME, (2, 3, 5), 500),
    "LGMLVQ": Family(_lgmlvq, _FEW, (2, 3), 40),
    "tree": Family(_tree, _ANY[:-1], (2, 3, 5, 10), 1500, curved=False),
    "pipeline": Family(_pipeline, (1, 2, 3, 5, 8), (2, 3, 5), 300, curved=False),
    "calibrated": Family(_calibrated, (1, 2, 3, 5, 8), (2,), 300, curved=False),
    "forest": Family(_forest, _SOME, (2, 2, 3, 5), 60, curved=False),
    "boosted trees": Family(_boosted, _SOME, (2, 2, 3), 60, curved=False),
}
#: Models of these families are fitted on a few samples, without a class of one.
_NEEDS_SEVERAL = ("LDA", "QDA", "calibrated", "linear", "boosted trees")


def problem(rng: Rng, family: str) -> Problem | None:
    """Return a random model of the family; None where scikit-learn refuses the table."""
    kind = FAMILIES[family]
    d, k = int(rng.choice(kind.features)), int(rng.choice(kind.classes))
    odd = str(rng.choice(list(ODD))) if rng.random() < 0.5 else None
    lonely = family not in _NEEDS_SEVERAL and rng.random() < 0.15
    n = k if lonely else max(kind.samples, 3 * k)
    if family == "QDA":
        n = max(n, k * (d + 3))
    X, y = table(rng, n, d, k, odd)
    traits = [odd] if odd else []
    traits += ["one sample a class"] if lonely else []
    if rng.random() < 0.15 and np.abs(X).max() < 1e30:
        X, traits = X.astype(np.float32), [*traits, "float32"]
    if rng.random() < 0.2:
        y = np.array([f"class {label}" for label in range(k)])[y]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = kind.make(rng, X, y)
    except (ValueError, FloatingPointError, np.linalg.LinAlgError):
        return None
    return Problem(family, model, X, y, (f"{d} features", f"{k} classes", *traits))
