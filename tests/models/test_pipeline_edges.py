"""Pipelines that look foldable and are not, and tables that cannot hold what is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

import pertinent
from pertinent.exceptions import InputError, PertinentError
from pertinent.geometry.region import AffineMap


@pytest.mark.parametrize("imputer", [SimpleImputer(missing_values=0), KNNImputer(missing_values=0)])
def test_an_imputer_of_an_ordinary_value_is_no_identity(imputer, rng):
    X = rng.integers(0, 4, (60, 2)).astype(float)
    y = (X.sum(axis=1) > 3).astype(int)
    model = make_pipeline(imputer, LogisticRegression()).fit(X, y)
    with pytest.raises(PertinentError, match="ordinary value 0"):
        pertinent.pertinent_negatives(model, X[:3])


def test_missing_values_that_mean_two_things_are_refused(rng):
    frame = pd.DataFrame({"c": rng.choice(["a", "b", None], 80), "v": rng.normal(size=80)})
    frame = frame.astype({"c": object})
    y = (frame.c.isna() * 3 + frame.v > 1.5).astype(int)
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = ColumnTransformer(
        [("i", filled, ["c"]), ("raw", OneHotEncoder(), ["c"]), ("v", "passthrough", ["v"])]
    )
    model = make_pipeline(columns, LogisticRegression(C=100)).fit(frame, y)
    rows = frame[frame.c.isna() & (y == 1)].head(4)
    with pytest.raises(InputError, match="predicted otherwise"):
        pertinent.pertinent_negatives(model, rows, missing="impute")


def binning(binned, rng):
    frame = pd.DataFrame({"a": rng.integers(0, 3, 80), "b": rng.normal(size=80)})
    columns = ColumnTransformer(
        [("one", OneHotEncoder(), ["a"]), ("bin", binned, ["a"]), ("b", "passthrough", ["b"])]
    )
    return make_pipeline(columns, LogisticRegression()).fit(frame, frame.a + frame.b > 0.5), frame


@pytest.mark.parametrize("binned", [Binarizer(threshold=0.5), KBinsDiscretizer(2)], ids=str)
def test_bins_of_a_raw_category_are_refused(binned, rng):
    model, frame = binning(binned, rng)
    with pytest.raises(PertinentError, match="categories"):
        pertinent.pertinent_negatives(model, frame.head(3))


def test_bins_of_an_encoded_category_are_read(rng):
    model, frame = binning(make_pipeline(OrdinalEncoder(), Binarizer(threshold=0.5)), rng)
    rows = frame.head(10)
    found = pertinent.pertinent_negatives(model, rows, weights={"a": 0.3, "b": 1.0})
    axis = np.linspace(-6, 6, 4001)
    grid = pd.DataFrame({"a": np.repeat([0, 1, 2], len(axis)), "b": np.tile(axis, 3)})
    for i, label in enumerate(model.predict(rows)):
        cost = 0.3 * (grid.a != rows.a[i]) + abs(grid.b - rows.b[i])
        assert found.objective[i] == pytest.approx(
            cost[model.predict(grid) != label].min(), abs=axis[1] - axis[0]
        )
    assert (found.status == "optimal").all()


def test_integer_categories_without_an_answer_can_be_handed_out(rng):
    frame = pd.DataFrame({"a": rng.integers(0, 3, 80), "b": rng.normal(size=80)})
    columns = ColumnTransformer([("one", OneHotEncoder(), ["a"]), ("b", "passthrough", ["b"])])
    model = make_pipeline(columns, LogisticRegression(C=100)).fit(frame, frame.a + frame.b > 1.5)
    rules = pertinent.Constraints(frozen=["a", "b"])
    found = pertinent.pertinent_negatives(model, frame.head(3), constraints=rules)
    assert (found.status == "infeasible").all()
    assert found.points["a"].isna().all()


def test_strict_relations_are_refused():
    with pytest.raises(InputError, match="must use <=, >= or =="):
        pertinent.Constraints(relations=["a < 3"])


def test_between_two_bins_lie_all_others():
    X = np.linspace(0, 9, 90)[:, None]
    model = make_pipeline(KBinsDiscretizer(3, encode="onehot-dense"), LogisticRegression())
    model.fit(X, (X[:, 0] >= 3).astype(int))
    found = pertinent.pertinent_positives(model, np.array([[8.0]]), baseline=1.0, between=True)
    assert found.status[0] == "optimal"
    assert found.sparse_points[0, 0] == pytest.approx(3.0, abs=0.1)  # not as far as 6


def low_rank(seed=0, n=150):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    return Z @ rng.normal(size=(3, 8)) + 5, np.digitize(Z[:, 0] + 0.3 * Z[:, 1], [-0.5, 0.5])


@pytest.mark.parametrize("steps", [[PCA()], [StandardScaler(), PCA(whiten=True)]])
def test_nothing_is_claimed_of_a_model_that_predicts_its_own_rounding(steps):
    """Five of eight components have no variance, and LDA weighs them by about 1e13."""
    X, y = low_rank()
    model = make_pipeline(*steps, LinearDiscriminantAnalysis()).fit(X, y)
    inside = [pertinent.decision_region(model, k).contains(X) for k in model.classes_]
    assert ((model.predict(X)[:, None] == model.classes_) != np.array(inside).T).any()
    stay = pertinent.Constraints(frozen=range(8))
    for found in (
        pertinent.pertinent_negatives(model, X[:20]),
        pertinent.pertinent_positives(model, X[:20]),
        pertinent.pertinent_negatives(model, X[:20], constraints=stay),
    ):
        assert not {"optimal", "infeasible"} & set(found.status)
        assert (found.bound[found.found] == 0).all()


def test_the_components_that_do_vary_are_explained():
    X, y = low_rank()
    model = make_pipeline(PCA(3), LinearDiscriminantAnalysis()).fit(X, y)
    assert set(pertinent.pertinent_negatives(model, X[:20]).status) == {"optimal"}


class Mixer(TransformerMixin, BaseEstimator):
    """Adds and subtracts two columns."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X @ np.array([[1.0, 1.0], [1.0, -1.0]])


def test_nothing_is_claimed_where_a_registered_map_is_wrong(rng):
    @pertinent.register_transform(f"{Mixer.__module__}.Mixer")
    def wrong(step):
        return AffineMap(np.array([[1.0, 1.0], [-1.0, 1.0]]), np.zeros(2))  # a sign is wrong

    X = rng.normal(size=(200, 2))
    model = make_pipeline(Mixer(), LogisticRegression()).fit(X, X[:, 0] - X[:, 1] > 0.2)
    region = pertinent.decision_region(model, True)
    misplaced = region.contains(X) != model.predict(X)
    assert misplaced.any()
    some = np.concatenate([np.flatnonzero(misplaced)[:10], np.flatnonzero(~misplaced)[:10]])
    for found in (
        pertinent.pertinent_negatives(model, X[some]),
        pertinent.pertinent_negatives(model, X[some], norm="l0", alternatives=1),
        pertinent.pertinent_negatives(model, X[some], max_changes=1),
        *(
            pertinent.pertinent_positives(model, X[some], method=method, data=X)
            for method in ("two-phase", "strict", "exact", "sufficient")
        ),
    ):
        assert not set(found.status[:10]) & {"optimal", "infeasible"}
        assert (found.bound[:10] == 0).all()
        assert not any(other.proved for listed in found.alternatives[:10] for other in listed)


def test_a_relation_may_ask_a_binned_number_to_go_far():
    frame = pd.DataFrame({"a": np.arange(60) % 10.0, "b": np.linspace(-1, 1, 60)})
    bins = KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    columns = ColumnTransformer([("bin", bins, ["a"]), ("b", "passthrough", ["b"])])
    model = make_pipeline(columns, LogisticRegression(C=100)).fit(frame, frame["a"] > 3)
    rules = pertinent.Constraints(frozen=["b"], relations=["a <= 3000 * b - 5000"])
    sample = pd.DataFrame({"a": [8.0], "b": [0.5]})
    found = pertinent.pertinent_negatives(model, sample, constraints=rules)
    assert found.status[0] == "optimal"
    assert found.points["a"].iloc[0] == pytest.approx(-3500.0)
