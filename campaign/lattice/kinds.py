"""The kinds of models whose answers are judged on a lattice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge, TweedieRegressor
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, QuantileTransformer
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pertinent.lvq import GLVQ, GMLVQ


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    Attributes
    ----------
    make : the model, not fitted
    regressor : whether it predicts a number
    chances : whether a probability may be asked for
    gaps : whether it takes missing values itself
    steps : which steps may come before it: "scale", "encode" (categories), "bins", "impute"
    dense : whether plausible answers are asked for
    sums : whether it is a sum of trees: relations and changes together are refused
    least : the smallest number that it takes: others have no logarithm, or no root
    """

    make: Callable[[], Any]
    regressor: bool = False
    chances: bool = False
    gaps: bool = False
    steps: tuple[str, ...] = ("scale", "encode")
    dense: bool = False
    sums: bool = False
    least: float = -np.inf


def _vote(weights: list[int] | None = None) -> VotingClassifier:
    last = GaussianNB() if weights else LogisticRegression(C=0.05)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    voters = [("a", LogisticRegression()), ("b", tree), ("c", last)]
    return VotingClassifier(voters, voting="hard", weights=weights)


def _quantiles() -> QuantileTransformer:
    return QuantileTransformer(n_quantiles=8, output_distribution="normal")


def _package(name: str, model: str, **given: Any) -> Callable[[], Any]:
    """Return what makes a model of another package."""

    def make() -> Any:
        from importlib import import_module

        return getattr(import_module(name), model)(**given)

    return make


_SMALL = {"n_estimators": 5, "max_depth": 2, "random_state": 0}
_FOREST = {"n_estimators": 5, "max_depth": 3, "random_state": 0}
_HIST = {"max_iter": 5, "min_samples_leaf": 4, "early_stopping": False, "random_state": 0}
_XGB = {**_SMALL, "n_jobs": 1}
_LGBM = {**_SMALL, "min_child_samples": 4, "verbose": -1, "n_jobs": 1}
_CAT = {"iterations": 5, "depth": 2, "random_seed": 0, "verbose": False, "thread_count": 1,
        "allow_writing_files": False}  # fmt: skip
_LINEAR = ("scale", "encode", "bins", "impute")
_TREES = ("scale", "encode", "impute")
_SUM: dict[str, Any] = {"steps": _TREES, "sums": True}
#: A sum of trees that takes missing values.
_OPEN: dict[str, Any] = {"gaps": True, "sums": True}

#: Kinds in the order in which seeds take them; a kind whose package is absent stays in it.
KINDS: dict[str, Kind] = {
    "logistic": Kind(
        lambda: LogisticRegression(C=3), chances=True, steps=_LINEAR, dense=True
    ),
    "linear SVM": Kind(lambda: LinearSVC(), steps=_LINEAR, dense=True),
    "nearest centroid": Kind(NearestCentroid, dense=True),
    "1-NN": Kind(lambda: KNeighborsClassifier(1)),
    "GLVQ": Kind(lambda: GLVQ(random_state=0), dense=True),
    "GMLVQ": Kind(lambda: GMLVQ(random_state=0)),
    "naive Bayes": Kind(GaussianNB, chances=True, dense=True),
    "QDA": Kind(lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)),
    "LDA": Kind(LinearDiscriminantAnalysis, chances=True, steps=_LINEAR, dense=True),
    "tree": Kind(
        lambda: DecisionTreeClassifier(max_depth=4, random_state=0), gaps=True, steps=_TREES,
        dense=True,
    ),
    "forest": Kind(lambda: RandomForestClassifier(**_FOREST), gaps=True, **_SUM),
    "extra trees": Kind(lambda: ExtraTreesClassifier(**_FOREST), gaps=True, **_SUM),
    "boosted": Kind(lambda: GradientBoostingClassifier(**_SMALL), **_SUM),
    "histogram": Kind(lambda: HistGradientBoostingClassifier(**_HIST), gaps=True, **_SUM),
    "multinomial": Kind(MultinomialNB, steps=()),
    "Bernoulli": Kind(lambda: BernoulliNB(binarize=1.0), steps=()),
    "vote": Kind(_vote, dense=True),
    "weighted vote": Kind(lambda: _vote([2, 1, 1])),
    "duels": Kind(lambda: OneVsOneClassifier(LogisticRegression())),
    "SVC": Kind(lambda: SVC(kernel="linear")),
    "AdaBoost": Kind(
        lambda: AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=1, random_state=0), n_estimators=6, random_state=0
        ),
        sums=True,
    ),
    "ridge": Kind(Ridge, True, steps=_LINEAR),
    "tree of numbers": Kind(
        lambda: DecisionTreeRegressor(max_depth=4, random_state=0), True, gaps=True, steps=_TREES
    ),
    "forest of numbers": Kind(lambda: RandomForestRegressor(**_FOREST), True, **_OPEN),
    "boosted numbers": Kind(lambda: GradientBoostingRegressor(**_SMALL), True, **_SUM),
    "histogram of numbers": Kind(lambda: HistGradientBoostingRegressor(**_HIST), True, **_OPEN),
    "1-NN of numbers": Kind(lambda: KNeighborsRegressor(1), True),
    "XGBoost": Kind(_package("xgboost", "XGBClassifier", **_XGB), **_OPEN),
    "XGBoost, numbers": Kind(_package("xgboost", "XGBRegressor", **_XGB), True, **_OPEN),
    "LightGBM": Kind(_package("lightgbm", "LGBMClassifier", **_LGBM), **_OPEN),
    "LightGBM, numbers": Kind(_package("lightgbm", "LGBMRegressor", **_LGBM), True, **_OPEN),
    "CatBoost": Kind(_package("catboost", "CatBoostClassifier", **_CAT), **_OPEN),
    "CatBoost, numbers": Kind(_package("catboost", "CatBoostRegressor", **_CAT), True, **_OPEN),
    "powers": Kind(lambda: make_pipeline(PowerTransformer(), LogisticRegression(C=3))),
    "logarithms": Kind(
        lambda: make_pipeline(FunctionTransformer(np.log1p), LinearSVC()), steps=(), least=-0.5
    ),
    "quantiles": Kind(
        lambda: make_pipeline(_quantiles(), LogisticRegression(C=3)), chances=True, steps=()
    ),
    "powers of numbers": Kind(lambda: make_pipeline(PowerTransformer(), Ridge()), True),
    "roots in a forest": Kind(
        lambda: make_pipeline(FunctionTransformer(np.sqrt), RandomForestClassifier(**_FOREST)),
        steps=(), sums=True, least=0.0,
    ),
    "exponentials": Kind(lambda: TweedieRegressor(power=0, link="log", alpha=0.1), True),
}  # fmt: skip
_PACKAGES = ("xgboost", "lightgbm", "catboost")


def is_installed(kind: str) -> bool:
    """Return whether the package of a kind is there."""
    package = kind.split(",")[0].lower()
    return package not in _PACKAGES or find_spec(package) is not None
