"""Pipelines and data that the tests run through: numeric, mixed and wide."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import LinearSVC

from pertinent.datasets import load_credit


@cache
def data(name):
    """Return a table and labels."""
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        return X.iloc[:, :12], y
    if name == "wine":
        X, y = load_wine(return_X_y=True, as_frame=True)
        return X, y.map({0: "barolo", 1: "grignolino", 2: "barbera"}).to_numpy()
    if name == "wide":
        X, y = make_classification(400, 120, n_informative=20, random_state=0)
        return pd.DataFrame(X, columns=[f"f{i}" for i in range(120)]), y
    if name == "credit":
        credit = load_credit(drop_missing=True)
        return credit.frame.iloc[:1200], credit.target[:1200]
    return small()


def small(n=600, seed=0):
    """Return a small table with every kind of column, and three classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "amount": rng.normal(50, 20, n).round(2),
            "months": rng.integers(1, 60, n),
            "rate": rng.uniform(0, 1, n),
            "member": rng.random(n) < 0.4,
            "colour": rng.choice(["red", "green", "blue", "grey"], n, p=[0.4, 0.35, 0.2, 0.05]),
            "zone": rng.choice([10, 20, 35], n),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"]),
        }
    )
    score = (
        0.04 * frame["amount"]
        - 0.03 * frame["months"]
        + 2 * frame["rate"]
        + 1.2 * frame["member"]
        + frame["colour"].map({"red": 0, "green": 1, "blue": -1, "grey": 2})
        + frame["zone"] / 20
        + frame["grade"].astype(str).map({"low": -1, "mid": 0, "high": 1})
        + rng.normal(0, 0.5, n)
    )
    return frame, np.digitize(score, np.quantile(score, [0.4, 0.75]))


def logistic(**options):
    return LogisticRegression(max_iter=2000, **options)


def columns(*parts, **options):
    return ColumnTransformer(list(parts), **options)


NUMBERS = make_column_selector(dtype_include="number")
TEXTS = make_column_selector(dtype_exclude=["number", "bool"])
SMALL_NUMBERS = ["amount", "months", "rate"]
SMALL_CATEGORIES = ["colour", "grade"]


def _small(encoder=None, scaler=None, **options):
    return columns(
        ("numbers", scaler or StandardScaler(), SMALL_NUMBERS),
        ("categories", encoder or OneHotEncoder(), SMALL_CATEGORIES),
        **options,
    )


CASES = {
    "standard": ("cancer", lambda: make_pipeline(StandardScaler(), logistic())),
    "standard without mean": (
        "cancer",
        lambda: make_pipeline(StandardScaler(with_mean=False), logistic()),
    ),
    "standard without deviation": (
        "cancer",
        lambda: make_pipeline(StandardScaler(with_std=False), logistic(C=0.01)),
    ),
    "min max": ("wine", lambda: make_pipeline(MinMaxScaler((-1, 2)), logistic())),
    "min max, clipped": (
        "wine",
        lambda: make_pipeline(MinMaxScaler((-1, 2), clip=True), logistic()),
    ),
    "clipped among categories": (
        "small",
        lambda: make_pipeline(
            columns(
                ("n", make_pipeline(SimpleImputer(), MinMaxScaler(clip=True)), SMALL_NUMBERS),
                ("o", make_pipeline(OrdinalEncoder(), MinMaxScaler(clip=True)), ["grade"]),
                ("c", OneHotEncoder(), ["colour"]),
            ),
            logistic(),
        ),
    ),
    "max abs": ("wine", lambda: make_pipeline(MaxAbsScaler(), logistic())),
    "robust": ("wine", lambda: make_pipeline(RobustScaler(), LinearSVC())),
    "robust without center": (
        "wine",
        lambda: make_pipeline(RobustScaler(with_centering=False, unit_variance=True), logistic()),
    ),
    "robust without scale": (
        "cancer",
        lambda: make_pipeline(
            RobustScaler(with_scaling=False), StandardScaler(), RidgeClassifier()
        ),
    ),
    "pca": ("cancer", lambda: make_pipeline(StandardScaler(), PCA(5), logistic())),
    "pca whitened": ("wine", lambda: make_pipeline(PCA(4, whiten=True), logistic())),
    "incremental pca": (
        "wine",
        lambda: make_pipeline(StandardScaler(), IncrementalPCA(4, whiten=True), logistic()),
    ),
    "truncated svd": (
        "cancer",
        lambda: make_pipeline(StandardScaler(), TruncatedSVD(4), logistic()),
    ),
    "factor analysis": (
        "wine",
        lambda: make_pipeline(StandardScaler(), FactorAnalysis(3), logistic()),
    ),
    "ica": (
        "wine",
        lambda: make_pipeline(StandardScaler(), FastICA(4, random_state=0), logistic()),
    ),
    "lda as a step": (
        "wine",
        lambda: make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(), logistic()),
    ),
    "random projection": (
        "wide",
        lambda: make_pipeline(GaussianRandomProjection(20, random_state=0), logistic()),
    ),
    "k best": ("wide", lambda: make_pipeline(SelectKBest(k=15), StandardScaler(), logistic())),
    "percentile": ("wide", lambda: make_pipeline(SelectPercentile(percentile=20), logistic())),
    "variance": (
        "cancer",
        lambda: make_pipeline(VarianceThreshold(0.01), StandardScaler(), logistic()),
    ),
    "select from model": (
        "wide",
        lambda: make_pipeline(
            SelectFromModel(ExtraTreesClassifier(20, random_state=0)), StandardScaler(), logistic()
        ),
    ),
    "recursive elimination": (
        "wine",
        lambda: make_pipeline(
            StandardScaler(), RFE(logistic(), n_features_to_select=5), LinearSVC()
        ),
    ),
    "wide": ("wide", lambda: make_pipeline(StandardScaler(), SGDClassifier(random_state=0))),
    "passthrough": (
        "wine",
        lambda: Pipeline(
            [
                ("none", None),
                ("pass", "passthrough"),
                ("func", FunctionTransformer()),
                ("s", StandardScaler()),
                ("m", logistic()),
            ]
        ),
    ),
    "imputers": (
        "wine",
        lambda: make_pipeline(
            SimpleImputer(add_indicator=True), KNNImputer(), StandardScaler(), logistic()
        ),
    ),
    "columns by name": (
        "cancer",
        lambda: make_pipeline(
            columns(
                ("a", StandardScaler(), ["mean radius", "mean texture"]),
                ("b", MinMaxScaler(), make_column_selector("error")),
                ("c", "drop", ["mean area"]),
                remainder="passthrough",
            ),
            logistic(C=0.1),
        ),
    ),
    "columns by place": (
        "wine",
        lambda: make_pipeline(
            columns(
                ("a", StandardScaler(), slice(0, 4)),
                ("b", RobustScaler(), [-1, 5]),
                ("c", "passthrough", [True] + [False] * 12),
                remainder=MinMaxScaler(),
                transformer_weights={"a": 0.5},
            ),
            logistic(),
        ),
    ),
    "nested columns": (
        "wine",
        lambda: make_pipeline(
            columns(
                (
                    "outer",
                    make_pipeline(
                        columns(("inner", StandardScaler(), [1, 2]), remainder="passthrough"),
                        PCA(3),
                    ),
                    slice(0, 6),
                ),
                remainder=make_pipeline(StandardScaler(), SelectKBest(k=3)),
            ),
            logistic(),
        ),
    ),
    "feature union": (
        "wine",
        lambda: make_pipeline(
            StandardScaler(),
            FeatureUnion(
                [
                    ("pca", PCA(2)),
                    ("best", SelectKBest(k=4)),
                    ("gone", "drop"),
                    ("all", "passthrough"),
                ],
                transformer_weights={"pca": 3.0},
            ),
            logistic(),
        ),
    ),
    "pipeline in pipeline": (
        "wine",
        lambda: make_pipeline(
            StandardScaler(), make_pipeline(PCA(5), LinearDiscriminantAnalysis())
        ),
    ),
    "set_output": (
        "wine",
        lambda: make_pipeline(
            StandardScaler(),
            columns(("a", MinMaxScaler(), ["alcohol", "ash"]), remainder="passthrough"),
            logistic(),
        ).set_output(transform="pandas"),
    ),
    "grid search": (
        "wine",
        lambda: GridSearchCV(
            make_pipeline(StandardScaler(), logistic()), {"logisticregression__C": [0.1, 1]}, cv=2
        ),
    ),
    "random search in a pipeline": (
        "wine",
        lambda: make_pipeline(
            StandardScaler(), RandomizedSearchCV(logistic(), {"C": [0.1, 1]}, n_iter=1, cv=2)
        ),
    ),
    "frozen": (
        "wine",
        lambda: FrozenEstimator(make_pipeline(StandardScaler(), logistic()).fit(*data("wine"))),
    ),
    "calibrated": (
        "cancer",
        lambda: CalibratedClassifierCV(
            make_pipeline(StandardScaler(), LinearSVC()), ensemble=False, cv=2
        ),
    ),
    "calibrated last step": (
        "cancer",
        lambda: make_pipeline(
            StandardScaler(), CalibratedClassifierCV(LinearSVC(), ensemble=False)
        ),
    ),
    "one vs rest": (
        "wine",
        lambda: make_pipeline(StandardScaler(), OneVsRestClassifier(logistic())),
    ),
    "one vs rest over pipelines": (
        "wine",
        lambda: OneVsRestClassifier(
            make_pipeline(StandardScaler(), SelectKBest(k=6), PCA(4), logistic())
        ),
    ),
    "one vs rest over mixed pipelines": (
        "small",
        lambda: OneVsRestClassifier(make_pipeline(_small(), LinearSVC())),
    ),
    "one vs rest over calibrated pipelines": (
        "wine",
        lambda: OneVsRestClassifier(
            CalibratedClassifierCV(
                make_pipeline(StandardScaler(), LinearSVC()), ensemble=False, cv=2
            )
        ),
    ),
    "one vs rest over pipelines, last step": (
        "cancer",
        lambda: make_pipeline(
            StandardScaler(), OneVsRestClassifier(make_pipeline(PCA(3), logistic()))
        ),
    ),
    "credit": (
        "credit",
        lambda: make_pipeline(
            columns(
                ("n", StandardScaler(), NUMBERS),
                ("c", OneHotEncoder(handle_unknown="ignore"), TEXTS),
            ),
            logistic(),
        ),
    ),
    "credit with imputers": (
        "credit",
        lambda: make_pipeline(
            columns(
                ("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
                (
                    "c",
                    make_pipeline(
                        SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="first")
                    ),
                    TEXTS,
                ),
            ),
            logistic(),
        ),
    ),
    "credit target encoded": (
        "credit",
        lambda: make_pipeline(
            columns(("n", StandardScaler(), NUMBERS), ("c", TargetEncoder(random_state=0), TEXTS)),
            logistic(),
        ),
    ),
    "one hot": ("small", lambda: make_pipeline(_small(), logistic())),
    "one hot, drop if binary": (
        "small",
        lambda: make_pipeline(
            columns(
                ("n", StandardScaler(), SMALL_NUMBERS),
                ("c", OneHotEncoder(drop="if_binary"), [*SMALL_CATEGORIES, "member", "zone"]),
            ),
            logistic(),
        ),
    ),
    "one hot, infrequent": (
        "small",
        lambda: make_pipeline(
            _small(OneHotEncoder(min_frequency=60, handle_unknown="infrequent_if_exist")),
            logistic(),
        ),
    ),
    "one hot, max categories, drop": (
        "small",
        lambda: make_pipeline(
            _small(OneHotEncoder(max_categories=3, drop="first", sparse_output=False)), logistic()
        ),
    ),
    "one hot, then pca": (
        "small",
        lambda: make_pipeline(
            _small(OneHotEncoder(sparse_output=False), remainder="drop"), PCA(5), logistic()
        ),
    ),
    "truth values pass": (
        "small",
        lambda: make_pipeline(_small(remainder="drop"), logistic()),
    ),
    "truth values as numbers": (
        "small",
        lambda: make_pipeline(
            columns(
                ("n", StandardScaler(), ["amount", "member"]), ("c", OneHotEncoder(), ["colour"])
            ),
            logistic(),
        ),
    ),
    "ordinal": (
        "small",
        lambda: make_pipeline(
            columns(
                ("n", StandardScaler(), SMALL_NUMBERS),
                ("o", OrdinalEncoder(categories=[["low", "mid", "high"]]), ["grade"]),
                (
                    "u",
                    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                    ["zone"],
                ),
            ),
            logistic(),
        ),
    ),
    "the same category twice": (
        "small",
        lambda: make_pipeline(
            columns(
                ("one", OneHotEncoder(), ["colour"]),
                ("two", TargetEncoder(random_state=0), ["colour", "grade"]),
                ("n", "passthrough", ["rate", "zone"]),
            ),
            logistic(),
        ),
    ),
    "bins, one hot": (
        "small",
        lambda: make_pipeline(
            columns(
                ("b", KBinsDiscretizer(4, encode="onehot"), ["amount", "rate"]),
                ("n", StandardScaler(), ["months"]),
                ("c", OneHotEncoder(), ["colour"]),
            ),
            logistic(),
        ),
    ),
    "bins, ordinal": (
        "wine",
        lambda: make_pipeline(
            columns(
                ("b", KBinsDiscretizer(3, encode="ordinal"), [0, 6]),
                ("n", StandardScaler(), [2, 9]),
            ),
            logistic(),
        ),
    ),
    "scaled bins": (
        "wine",
        lambda: make_pipeline(
            columns(
                (
                    "b",
                    make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="onehot-dense")),
                    [0, 6, 9],
                ),
                ("n", StandardScaler(), [0, 12]),
            ),
            logistic(),
        ),
    ),
    "binarizer": (
        "wine",
        lambda: make_pipeline(
            columns(("b", Binarizer(threshold=13.0), [0]), ("n", StandardScaler(), slice(1, 6))),
            logistic(),
        ),
    ),
    "polynomial": (
        "wine",
        lambda: make_pipeline(
            columns(("some", StandardScaler(), [0, 6, 9]), remainder="drop"),
            PolynomialFeatures(2),
            StandardScaler(),
            logistic(),
        ),
    ),
    "polynomial, interactions": (
        "cancer",
        lambda: make_pipeline(
            SelectKBest(k=4),
            StandardScaler(),
            PolynomialFeatures(2, interaction_only=True, include_bias=False),
            logistic(C=0.1),
        ),
    ),
    "naive bayes": ("wine", lambda: make_pipeline(StandardScaler(), GaussianNB())),
}


@cache
def fitted(name):
    """Return the pipeline of a case, fitted, and its data."""
    source, make = CASES[name]
    X, y = data(source)
    model = make()
    return (model if name == "frozen" else model.fit(X, y)), X, y
