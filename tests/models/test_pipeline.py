"""Steps that are refused, registered or unwrapped; missing values; kinds of tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.region import AffineMap
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.reading import read_table
from tests.models.pipeline_cases import data, fitted, small


def pipeline(*steps, source="wine"):
    X, y = data(source)
    return make_pipeline(*steps, LogisticRegression(max_iter=1000)).fit(X, y)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Normalizer(), "'normalizer' .* divides each sample by its own norm"),
        (FunctionTransformer(np.sin), "'sin', which is not known to be affine"),
        (PolynomialFeatures(3), "degree=2 is supported"),
    ],
)
def test_other_steps_are_refused_with_the_reason(step, words):
    model = pipeline(step)
    with pytest.raises(UnsupportedModelError, match=words) as error:
        pertinent.decision_region(model, "barolo")
    assert "StandardScaler" in str(error.value)
    assert "register_transform" in str(error.value)


@pytest.mark.parametrize(
    "step",
    [
        QuantileTransformer(n_quantiles=20),
        PowerTransformer(),
        FunctionTransformer(np.log1p),
    ],
)
def test_steps_that_bend_columns_before_a_sum_become_rows_of_bent_columns(step):
    model = pipeline(step)
    region = pertinent.decision_region(model, "barolo")
    assert all(cell.bent for cell in region.cells)
    samples = data("wine")[0][::10]
    assert (region.contains(samples) == (model.predict(samples) == "barolo")).all()


class Halver(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.asarray(X) / 2 + 1


def test_a_step_from_outside_can_register_its_map():
    X, _ = data("wine")
    model = pipeline(Halver(), StandardScaler())
    with pytest.raises(UnsupportedModelError, match="Halver"):
        pertinent.decision_region(model, "barolo")
    name = f"{Halver.__module__}.{Halver.__qualname__}"

    @pertinent.register_transform(name)
    def halver(step):
        n = step.n_features_in_
        return AffineMap(np.full(n, 0.5), np.ones(n))

    region = pertinent.decision_region(model, "barolo")
    assert (region.contains(X.to_numpy()) == (model.predict(X) == "barolo")).all()


class Doubler(StandardScaler):
    def transform(self, X, copy=None):
        return 2 * super().transform(X, copy)


def test_a_subclass_that_transforms_differently_is_refused():
    with pytest.raises(UnsupportedModelError, match="subclass of"):
        pertinent.decision_region(pipeline(Doubler()), "barolo")


def test_ensembles_of_calibrated_models_are_refused():
    X, y = data("cancer")
    model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X / X.std(), y)
    with pytest.raises(UnsupportedModelError, match="averages 3 models"):
        pertinent.decision_region(model, 1)


def test_scalers_stay_diagonal():
    region = pertinent.decision_region(pipeline(StandardScaler(), MinMaxScaler()), "barolo")
    from pertinent.models.steps.pipeline import columns_of

    assert columns_of(pipeline(StandardScaler(), MinMaxScaler())).map.is_diagonal
    assert region.dim == 13


def test_numbers_alone_have_no_domain():
    model = pipeline(StandardScaler())
    X, _ = data("wine")
    features = features_of(model, X)
    assert features.is_plain
    assert features.domain() is None
    table = read_table(features, X)
    assert pertinent.Constraints().domain(features, table, np.ones(13), True) is None


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_same_kind_of_table_comes_back(kind):
    model, X, _ = fitted("one hot, drop if binary")
    rows = X.iloc[3:9]
    if kind == "polars":
        given = pl.from_pandas(rows.astype({"grade": str}))
    elif kind == "pyarrow":
        given = pa.Table.from_pandas(rows.astype({"grade": str}), preserve_index=False)
    else:
        given = rows[list(rows.columns[::-1])]
    rules = pertinent.Constraints(integer=["months"])
    found = pertinent.pertinent_negatives(model, given, data=X, constraints=rules)
    assert (found.status == "optimal").all()
    assert type(found.points) is type(given)
    if kind == "pandas":
        assert found.points.dtypes.equals(given.dtypes)
        assert (found.points.index == given.index).all()
        assert list(found.points.columns) == list(given.columns)
    else:
        assert found.points.schema == given.schema
    plain = pertinent.pertinent_negatives(model, rows, data=X, constraints=rules)
    np.testing.assert_array_equal(found.values, plain.values)


def test_numpy_objects_are_samples_too():
    X, y = small()
    columns = ColumnTransformer([("n", StandardScaler(), [0, 1, 2]), ("c", OneHotEncoder(), [4])])
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X.to_numpy(), y)
    rows = X.to_numpy()[:5]
    found = pertinent.pertinent_negatives(model, rows)
    assert found.points.dtype == object
    assert (model.predict(found.points) != model.predict(rows)).all()


@pytest.fixture(scope="module")
def with_gaps():
    X, y = small()
    X = X.drop(columns="grade")
    X.loc[[3, 5], "amount"] = np.nan
    X.loc[[4], "colour"] = None
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    texts = make_pipeline(
        SimpleImputer(strategy="most_frequent", missing_values=None), OneHotEncoder()
    )
    columns = ColumnTransformer([("n", numbers, ["amount", "rate"]), ("c", texts, ["colour"])])
    filled = X.assign(amount=X["amount"].fillna(1.0))
    filled["colour"] = filled["colour"].astype(object).where(filled["colour"].notna(), None)
    X["colour"] = filled["colour"]
    return make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y), X


def test_missing_values_are_refused_by_name(with_gaps):
    model, X = with_gaps
    with pytest.raises(InputError, match=r"columns \['amount', 'colour'\], rows \[3, 4, 5\]"):
        pertinent.pertinent_negatives(model, X.head(10))


def test_missing_values_as_the_imputer_sees_them(with_gaps):
    model, X = with_gaps
    found = pertinent.pertinent_negatives(model, X.head(10), missing="impute")
    assert found.found.all()
    assert (found.prediction == model.predict(X.head(10))).all()
    median = X["amount"].median()
    same = ~found.changed[:, 0]
    assert (found.points["amount"].to_numpy()[[3, 5]][same[[3, 5]]] == median).all()
    assert found.points["colour"].notna().all()


def test_missing_values_that_no_imputer_fills_are_refused():
    model = pipeline(StandardScaler())
    X, _ = data("wine")
    X = X.copy()
    X.iloc[2, 3] = np.nan
    with pytest.raises(InputError, match=r"rows \[2\]"):
        pertinent.pertinent_negatives(model, X, missing="impute")
    with pytest.raises(InputError, match="'allow', 'error', 'impute', 'keep'"):
        pertinent.pertinent_negatives(model, X, missing="guess")


def test_indicators_of_missing_values_are_not_guessed_at():
    X, y = data("wine")
    X = X.copy()
    X.iloc[::7, 0] = np.nan
    model = make_pipeline(
        SimpleImputer(add_indicator=True), StandardScaler(), LogisticRegression()
    ).fit(X, y)
    with pytest.raises(InputError, match="alcohol"):
        pertinent.pertinent_negatives(model, X.head(8), missing="impute")
    assert pertinent.pertinent_negatives(model, X.iloc[1:7]).found.all()


def test_unknown_categories():
    X, y = small()
    for unknown, known in (("ignore", True), ("error", False)):
        columns = ColumnTransformer(
            [("n", StandardScaler(), ["amount", "rate"]),
             ("c", OneHotEncoder(handle_unknown=unknown), ["colour"])]
        )  # fmt: skip
        model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)
        rows = X.head(6).copy()
        rows.loc[2, "colour"] = "mauve"
        if not known:
            with pytest.raises(InputError, match="Row 2 of X has 'mauve' in 'colour'"):
                pertinent.pertinent_negatives(model, rows, data=X)
            continue
        rules = pertinent.Constraints(frozen=["colour"])
        kept = pertinent.pertinent_negatives(model, rows, data=X, constraints=rules)
        assert kept.points["colour"][2] == "mauve"
        free = pertinent.pertinent_negatives(model, rows, data=X)
        assert "mauve" not in set(free.points["colour"].drop(2))
        result = pertinent.Explainer(model, data=X).explain(rows)
        assert result.positive.found.all()


@pytest.mark.parametrize("name", ["standard", "calibrated", "calibrated last step", "credit"])
def test_min_proba_binary(name):
    model, X, _ = fitted(name)
    rows = X.iloc[::60].head(12)
    for find in (pertinent.pertinent_negatives, pertinent.pertinent_positives):
        options = {} if find is pertinent.pertinent_negatives else {"baseline": "median"}
        found = find(model, rows, data=X, min_proba=0.8, **options)
        assert (found.status == "optimal").all()
        proba = model.predict_proba(found.points).max(axis=1)
        assert (proba >= 0.8).all()
    assert proba.min() < 0.81


@pytest.mark.parametrize("name", ["min max", "one hot", "pca whitened", "bins, one hot"])
def test_min_proba_softmax(name):
    model, X, _ = fitted(name)
    rows = X.iloc[::20].head(5)
    found = pertinent.pertinent_negatives(model, rows, data=X, min_proba=0.7)
    assert (found.status == "optimal").all()
    proba = model.predict_proba(found.points).max(axis=1)
    assert (proba >= 0.7).all()
    assert (model.predict(found.points) != model.predict(rows)).all()


def test_min_proba_naive_bayes():
    X, y = data("cancer")
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y)
    found = pertinent.pertinent_negatives(model, X.head(10), data=X, min_proba=0.9)
    assert (model.predict_proba(found.points).max(axis=1) >= 0.9).all()


def test_min_proba_refuses_what_is_no_probability():
    X, y = data("wine")
    model = make_pipeline(StandardScaler(), LinearSVC()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="no predict_proba|no softmax"):
        pertinent.pertinent_negatives(model, X.head(2), min_proba=0.8)
    with pytest.raises(InputError, match="between 0 and 1"):
        pertinent.pertinent_negatives(fitted("standard")[0], X.head(2), min_proba=1.5)
    bayes = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="two classes only"):
        pertinent.pertinent_negatives(bayes, X.head(2), min_proba=0.8)


def test_columns_that_the_model_ignores_may_hold_anything():
    model, X, _ = fitted("ordinal")
    rows = X.head(8).copy()
    found = pertinent.Explainer(model, data=X).explain(rows)
    assert (found.negative.points["colour"] == rows["colour"]).all()
    assert isinstance(found.negative.points["grade"].dtype, pd.CategoricalDtype)


def test_one_vs_rest_over_what_cannot_be_compared_is_refused():
    X, y = load_wine(return_X_y=True)
    curved = OneVsRestClassifier(make_pipeline(PolynomialFeatures(2), LogisticRegression()))
    with pytest.raises(UnsupportedModelError, match="put PolynomialFeatures in front"):
        pertinent.decision_region(curved.fit(X[:, :2], y), 0)
    bayes = OneVsRestClassifier(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="OneVsRestClassifier over GaussianNB"):
        pertinent.decision_region(bayes, 0)
    selected = make_pipeline(SelectKBest(k=3), KBinsDiscretizer(3), LogisticRegression())
    with pytest.raises(UnsupportedModelError, match="in a way of its own"):
        pertinent.pertinent_negatives(OneVsRestClassifier(selected).fit(X, y), X[:2])
    inner = OneVsRestClassifier(make_pipeline(KBinsDiscretizer(3), LogisticRegression()))
    nested = make_pipeline(StandardScaler(), inner).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="not as the last step of another pipeline"):
        pertinent.decision_region(nested, 0)


SURE = {
    "logistic": (LogisticRegression(), 2),
    "lda": (LinearDiscriminantAnalysis(), 2),
    "qda": (QuadraticDiscriminantAnalysis(reg_param=0.1), 2),
    "naive bayes": (GaussianNB(), 2),
    "softmax": (LogisticRegression(), 3),
    "lda, softmax": (LinearDiscriminantAnalysis(), 3),
    "calibrated": (CalibratedClassifierCV(LinearSVC(), ensemble=False), 2),
}


@pytest.mark.parametrize("name", SURE)
def test_min_proba_equals_the_nearest_point_of_a_grid(name):
    last, n_classes = SURE[name]
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(150, 2)) * [1.0, 2.0]
    score = X @ [1.0, 0.7] + 0.2 * X[:, 0] ** 2 + 0.4 * rng.normal(size=150)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = make_pipeline(StandardScaler(), last).fit(X, y)
    axis = np.linspace(-9, 9, 601)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    proba = model.predict_proba(grid)
    found = pertinent.pertinent_negatives(model, X[:6], min_proba=0.8)
    assert found.found.all()
    for i, own in enumerate(model.predict(X[:6])):
        sure = (proba.argmax(axis=1) != own) & (proba.max(axis=1) >= 0.8)
        nearest = np.abs(grid[sure] - X[i]).sum(axis=1).min()
        # No grid point is nearer, and one of the corners around the optimum is hardly farther.
        assert nearest - 4 * (axis[1] - axis[0]) <= found.objective[i] <= nearest + 1e-6
    shown = model.predict_proba(found.points)
    assert (shown.max(axis=1) >= 0.8).all()


def test_what_is_refused_is_not_among_what_is_supported():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(Normalizer(), LogisticRegression()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="divides each sample by its own norm") as error:
        pertinent.pertinent_negatives(model, X[:2])
    listed = str(error.value).split("Supported steps: ")[1].split(". Others")[0].split(", ")
    assert {"StandardScaler", "Pipeline", "PCA"} <= set(listed)
    assert not {"Normalizer", "KernelPCA", "SplineTransformer"} & set(listed)
    assert len(listed) == len(set(listed))
