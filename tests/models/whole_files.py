"""Every supported model and every supported step, to be written to a file and explained."""

from functools import partial
from inspect import signature

import imblearn.pipeline
import numpy as np
import pandas as pd
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import (
    RFE,
    RFECV,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_classif,
    mutual_info_classif,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import IterativeImputer, KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid, NeighborhoodComponentsAnalysis
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.fixes import parse_version

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

_rng = np.random.default_rng(0)
NUMBERS = pd.DataFrame(
    _rng.normal([2.0, 0.0, 1.0], size=(60, 3)).round(2), columns=["age", "income", "debt"]
)
WORDS = pd.DataFrame(
    {"job": np.array(["clerk", "miner", "pilot"] * 20), "town": np.array(["A", "B"] * 30)}
)
MIXED = pd.concat([WORDS, NUMBERS], axis=1)
GROUPS = MIXED.astype({"job": "category", "town": "category"})
LABELS = np.where(NUMBERS.age + NUMBERS.income > 2, "yes", "no")
TWO = ["income", "debt"]


def logistic():
    return LogisticRegression()


def searched(scoring=None, cv=2):
    return GridSearchCV(logistic(), {"C": [0.1, 1.0]}, scoring=scoring, cv=cv)


#: Older versions of scikit-learn have no others to ask for, and calibrate by no temperature.
NEW_ATTRIBUTES = {
    name: False
    for name in signature(LogisticRegressionCV).parameters
    if name == "use_legacy_attributes"
}
KNOWS_TEMPERATURES = parse_version(sklearn.__version__) >= parse_version("1.8")


def models():
    """Return examples of all registered models of scikit-learn and of our own."""
    cs = {"C": [0.1, 1.0]}
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    return [
        AdaBoostClassifier(n_estimators=2, random_state=0),
        BernoulliNB(),
        CalibratedClassifierCV(logistic(), method="isotonic", ensemble=False, cv=2),
        CalibratedClassifierCV(
            FrozenEstimator(LinearSVC().fit(NUMBERS, LABELS)), ensemble=True, cv=2
        ),
        CalibratedClassifierCV(
            LinearSVC(),
            method="temperature" if KNOWS_TEMPERATURES else "sigmoid",
            ensemble=False,
            cv=2,
        ),
        make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), CategoricalNB()),
        make_pipeline(MinMaxScaler(), ComplementNB()),
        make_pipeline(MinMaxScaler(), MultinomialNB()),
        DummyClassifier(),
        NuSVC(kernel="linear", nu=0.3),
        OneVsOneClassifier(logistic()),
        OutputCodeClassifier(logistic(), code_size=2, random_state=0),
        VotingClassifier([("a", logistic()), ("b", LinearSVC())], weights=[1, 2]),
        VotingClassifier(
            [("a", DecisionTreeClassifier(max_depth=2)), ("b", RandomForestClassifier(2))],
            voting="soft",
        ),
        BaggingClassifier(n_estimators=2, max_features=0.7, random_state=0),
        CalibratedClassifierCV(logistic(), ensemble=False, cv=2),
        CalibratedClassifierCV(pipeline, ensemble=False, cv=KFold(2)),
        DecisionTreeClassifier(max_depth=3),
        ExtraTreeClassifier(max_depth=3, random_state=0),
        ExtraTreesClassifier(2, max_depth=2, random_state=0),
        FrozenEstimator(logistic().fit(NUMBERS, LABELS)),
        GaussianNB(),
        GLVQ(max_iter=2, random_state=0),
        GMLVQ(max_iter=2, random_state=0),
        LGMLVQ(max_iter=2, random_state=0),
        GradientBoostingClassifier(n_estimators=2),
        GradientBoostingClassifier(n_estimators=2, loss="exponential"),
        searched(),
        searched("roc_auc", StratifiedShuffleSplit(2, random_state=0)),
        searched(make_scorer(fbeta_score, beta=2, pos_label="yes"), KFold(2)),
        GridSearchCV(logistic(), cs, scoring=["accuracy", "neg_log_loss"], refit="accuracy", cv=2),
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}, cv=2),
        GridSearchCV(HistGradientBoostingClassifier(max_iter=2), {"max_depth": [2]}, cv=2),
        HalvingGridSearchCV(logistic(), cs, cv=2),
        HalvingRandomSearchCV(logistic(), cs, cv=2, random_state=0),
        RandomizedSearchCV(logistic(), cs, n_iter=1, cv=RepeatedStratifiedKFold(n_splits=2)),
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5),
        KNeighborsClassifier(1),
        LinearDiscriminantAnalysis(),
        LinearSVC(),
        logistic(),
        LogisticRegressionCV(Cs=2, cv=2, scoring="roc_auc", **NEW_ATTRIBUTES),
        NearestCentroid(),
        OneVsRestClassifier(logistic()),
        PassiveAggressiveClassifier(),
        Perceptron(),
        pipeline,
        QuadraticDiscriminantAnalysis(),
        RandomForestClassifier(2, max_depth=2, random_state=0),
        RidgeClassifier(),
        RidgeClassifierCV(),
        SGDClassifier(random_state=0),
        SGDClassifier(loss="log_loss", random_state=0),
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=2),
    ]


def thresholded():
    """Return models that are read, and refused for what they are."""
    return [TunedThresholdClassifierCV(logistic(), cv=2), FixedThresholdClassifier(logistic())]


def selectors():
    """Return examples of all selectors of scikit-learn."""
    return [
        GenericUnivariateSelect(f_classif, mode="k_best", param=2),
        RFE(logistic()),
        RFECV(logistic(), cv=2, scoring="accuracy"),
        SelectFdr(alpha=0.9),
        SelectFpr(alpha=0.9),
        SelectFromModel(logistic()),
        SelectFromModel(RandomForestClassifier(2, random_state=0)),
        SelectFwe(alpha=0.9),
        SelectKBest(partial(mutual_info_classif, random_state=0), k=2),
        SelectPercentile(percentile=60),
        SequentialFeatureSelector(logistic(), cv=2, scoring="accuracy"),
        VarianceThreshold(),
    ]


def imputers():
    """Return imputers, each of which also fills rows of its own."""
    return [
        SimpleImputer(),
        SimpleImputer(strategy="median", add_indicator=True),
        KNNImputer(n_neighbors=2),
        IterativeImputer(max_iter=2),
        IterativeImputer(RandomForestRegressor(2, random_state=0), max_iter=2, tol=1.0),
    ]


def numeric_steps():
    """Return examples of the other steps on numbers."""
    return [
        Binarizer(threshold=1.0),
        FactorAnalysis(2),
        FastICA(2, random_state=0),
        FeatureUnion([("scaled", StandardScaler()), ("components", PCA(1))]),
        FunctionTransformer(),
        GaussianRandomProjection(2, random_state=0),
        IncrementalPCA(2),
        KBinsDiscretizer(3, strategy="uniform"),
        KBinsDiscretizer(3, encode="ordinal", strategy="kmeans"),
        LinearDiscriminantAnalysis(),
        MaxAbsScaler(),
        MinMaxScaler(clip=True),
        FeatureUnion([("kept", StandardScaler()), ("gaps", MissingIndicator(features="all"))]),
        NeighborhoodComponentsAnalysis(2, max_iter=2, random_state=0),
        PCA(2, whiten=True),
        make_pipeline(StandardScaler(), PolynomialFeatures(2)),
        RobustScaler(),
        SparseRandomProjection(2, dense_output=True, random_state=0),
        StandardScaler(),
        TruncatedSVD(2),
    ]


def bends():
    """Return steps that bend single columns, which trees may follow."""
    return [
        FunctionTransformer(np.arcsinh),
        PowerTransformer(),
        QuantileTransformer(n_quantiles=10, output_distribution="normal"),
    ]


def encoders():
    """Return examples of the encoders."""
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    return [
        OneHotEncoder(),
        OneHotEncoder(drop="first", sparse_output=False),
        OneHotEncoder(drop="if_binary", handle_unknown="ignore"),
        OneHotEncoder(min_frequency=25, handle_unknown="infrequent_if_exist"),
        OneHotEncoder(max_categories=2, drop="first"),
        OrdinalEncoder(),
        OrdinalEncoder(min_frequency=25, **unknown),
        OrdinalEncoder(categories=[["pilot", "clerk", "miner"], ["B", "A"]]),
        TargetEncoder(cv=2, random_state=0),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
    ]


def encoded(encoder, remainder="passthrough"):
    """Return a pipeline that encodes the words and scales two of the numbers."""
    columns = make_column_transformer(
        (encoder, ["job", "town"]), (StandardScaler(), TWO), remainder=remainder
    )
    return make_pipeline(columns, logistic())


def chosen_by_kind():
    """Return a pipeline that finds its columns by their kind."""
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude=np.number)),
        (StandardScaler(), make_column_selector(dtype_include=np.number)),
    )
    return make_pipeline(columns, logistic())


def examples():
    """Return ``name -> (model, table to fit it on)`` of all."""
    steps = [*selectors(), *imputers(), *numeric_steps()]
    found = [
        *((model, NUMBERS) for model in models()),
        *((make_pipeline(step, logistic()), NUMBERS) for step in steps),
        *((make_pipeline(step, DecisionTreeClassifier(max_depth=2)), NUMBERS) for step in bends()),
        (imblearn.pipeline.make_pipeline(StandardScaler(), logistic()), NUMBERS),
        *((encoded(encoder), MIXED) for encoder in encoders()),
        (chosen_by_kind(), MIXED),
        (HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5), GROUPS),
    ]
    return {f"{i} {_name(model)}": (model, table) for i, (model, table) in enumerate(found)}


def _name(model):
    inside = getattr(model, "steps", None)
    return type(model).__name__ if inside is None else " ".join(name for name, _ in inside)
