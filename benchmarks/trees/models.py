"""The models that are measured, their tables, and rows that they were not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 20_000


@dataclass(frozen=True)
class Case:
    """A model, its table, and what share of rows has to be proved in so many seconds."""

    name: str
    table: str
    make: Callable[[], Any]
    bars: tuple[tuple[float, float], ...]

    @property
    def title(self) -> str:
        return f"{self.table}: {self.name}"


def cases() -> list[Case]:
    fast, many = ((1.0, 0.99),), ((1.0, 0.70), (10.0, 0.90))
    return [
        Case("gradient boosting 100 x depth 3", "cancer", boosted, fast),
        Case("histogram boosting 300 x 31 leaves", "cancer", histogram(300), fast),
        Case("xgboost 300 x 31 leaves", "cancer", xgboost(300), fast),
        Case("lightgbm 300 x 31 leaves", "cancer", lightgbm(300), fast),
        Case("catboost 300 x depth 5", "cancer", catboost(300), fast),
        Case("histogram boosting 300 x 31 leaves", "credit", histogram(300), fast),
        Case("xgboost 300 x 31 leaves", "credit", xgboost(300), fast),
        Case("forest 100 x depth 5", "cancer", forest("RandomForest", 100, 5), ((1.0, 0.90),)),
        Case("extra trees 100 x depth 3", "cancer", forest("ExtraTrees", 100, 3), ((1.0, 0.85),)),
        Case("forest 100 x depth 8", "credit", forest("RandomForest", 100, 8), ((1.0, 0.95),)),
        Case("forest 200 unbounded", "cancer", forest("RandomForest", 200, None), ((10.0, 0.90),)),
        Case("extra trees 100 x depth 6", "cancer", forest("ExtraTrees", 100, 6), ((10.0, 0.80),)),
        Case("forest 100 x depth 8, 10 classes", "digits", forest("RandomForest", 100, 8), many),
        Case("forest 500 x depth 5", "cancer", forest("RandomForest", 500, 5), ((10.0, 0.60),)),
    ]


def forest(kind: str, trees: int, depth: int | None) -> Callable[[], Any]:
    from sklearn import ensemble

    make = getattr(ensemble, f"{kind}Classifier")
    return lambda: make(trees, max_depth=depth, random_state=SEED)


def boosted() -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=SEED)


def histogram(rounds: int) -> Callable[[], Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return lambda: HistGradientBoostingClassifier(
        max_iter=rounds, max_leaf_nodes=31, early_stopping=False, random_state=SEED
    )


def xgboost(rounds: int) -> Callable[[], Any]:
    def make() -> Any:
        from xgboost import XGBClassifier

        leaves = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide"}
        return XGBClassifier(n_estimators=rounds, n_jobs=1, random_state=SEED, **leaves)

    return make


def lightgbm(rounds: int) -> Callable[[], Any]:
    def make() -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=rounds, n_jobs=1, verbose=-1, random_state=SEED)

    return make


def catboost(rounds: int) -> Callable[[], Any]:
    def make() -> Any:
        from catboost import CatBoostClassifier

        quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
        return CatBoostClassifier(iterations=rounds, depth=5, random_seed=SEED, **quiet)

    return make


def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a table with all features scaled to [0, 1], and its labels."""
    from sklearn import datasets

    if name == "credit":
        from pertinent.datasets import load_credit

        data = load_credit(drop_missing=True)
        coded = [
            np.unique(column.astype(str), return_inverse=True)[1]
            if column.dtype == object
            else column
            for column in data.columns.values()
        ]
        X, y = np.column_stack(coded).astype(float), (data.target == "bad").astype(int)
    else:
        load = {
            "cancer": datasets.load_breast_cancer,
            "digits": datasets.load_digits,
            "wine": datasets.load_wine,
        }[name]
        X, y = load(return_X_y=True)
    X = X[:, np.ptp(X, axis=0) > 0]
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


def fitted(case: Case, rows: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model, rows that it was not trained on, and the runner-up class of each."""
    X, y = table_of(case.table)
    order = np.random.default_rng(SEED).permutation(len(X))
    test = order[: min(len(X) // 2, max(rows, len(X) // 4))]
    model = case.make().fit(np.delete(X, test, axis=0), np.delete(y, test))
    some = X[test[:rows]]
    second = np.argsort(-model.predict_proba(some), axis=1, kind="stable")[:, 1]
    same = model.classes_[second] == model.predict(some).ravel()
    second[same] = np.argsort(-model.predict_proba(some), axis=1, kind="stable")[same, 0]
    return model, some, model.classes_[second]
