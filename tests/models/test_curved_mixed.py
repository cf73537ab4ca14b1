"""Curved models over bins, whole numbers and categories, against every allowed point."""

from itertools import product

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import pertinent

pytest.importorskip("pyscipopt")

#: All numbers are whole and within these bounds: the allowed points can be listed.
LIMITS = {0: (-5, 35), 1: (-8, 8), 2: (0, 9)}
MODELS = {
    "naive bayes": GaussianNB,
    "qda": lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
    "products": lambda: make_pipeline(
        PolynomialFeatures(2), StandardScaler(), LogisticRegression()
    ),
}


def training(seed):
    rng = np.random.default_rng(seed)
    n = 150
    X = np.column_stack([rng.integers(-5, 30, n), rng.integers(-8, 9, n), rng.integers(0, 9, n)])
    noise = rng.normal(size=n)
    return X.astype(float), ((X[:, 0] - 12) ** 2 / 40 + X[:, 1] * X[:, 2] / 6 + noise > 2).astype(
        int
    )


def binned(bins):
    return ColumnTransformer([("b", bins, [0]), ("n", "passthrough", [1, 2])])


def every_point():
    return np.array(list(product(*(range(a, b + 1) for a, b in LIMITS.values()))), dtype=float)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "bins",
    [
        KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
        make_pipeline(StandardScaler(), KBinsDiscretizer(3, encode="ordinal", strategy="kmeans")),
    ],
    ids=["bins", "scaled bins"],
)
def test_equals_the_best_of_all_points(name, bins):
    X, y = training(seed=len(name))
    model = make_pipeline(binned(bins), MODELS[name]()).fit(X, y)
    points, weights = every_point(), 1 / X.std(axis=0)
    predicted = model.predict(points)
    rules = pertinent.Constraints(integer=[0, 1, 2], bounds=LIMITS)
    samples = X[:3]
    found = pertinent.pertinent_negatives(model, samples, data=X, constraints=rules)
    assert not set(found.status) & {"failed", "infeasible"}
    for i, x in enumerate(samples):
        other = points[predicted != model.predict([x])[0]]
        least = (np.abs(other - x) @ weights).min()
        assert found.objective[i] == pytest.approx(least, rel=1e-4)
        assert found.bound[i] <= least * (1 + 1e-9)
    shown = found.points
    assert (shown == np.round(shown)).all()
    assert (model.predict(shown) != model.predict(samples)).all()


def test_a_number_on_an_edge_keeps_the_bin_it_is_rounded_into():
    X = np.column_stack([np.arange(60) % 20, np.arange(60) % 7]).astype(float)
    y = ((X[:, 0] >= 10) ^ (X[:, 1] > 5)).astype(int)
    bins = KBinsDiscretizer(2, encode="ordinal", strategy="uniform")  # its edge is 9.5
    columns = ColumnTransformer([("b", bins, [0]), ("n", "passthrough", [1])])
    model = make_pipeline(columns, GaussianNB()).fit(X, y)
    sample = np.array([[9.0, 2.0], [10.0, 2.0], [9.5, 2.0], [9.25, 2.0]])
    rules = pertinent.Constraints(integer=[0], frozen=[1])
    found = pertinent.pertinent_negatives(model, sample, constraints=rules)
    assert set(found.status) <= {"optimal", "feasible"}
    assert found.points[:, 0].tolist() == [10.0, 9.0, 9.0, 10.0]


def test_categories_bins_and_whole_numbers_together():
    rng = np.random.default_rng(3)
    n = 200
    X = np.column_stack([rng.integers(0, 20, n), rng.integers(0, 10, n), rng.integers(0, 3, n)])
    X = X.astype(float)
    y = ((X[:, 0] - 10) ** 2 / 20 + (X[:, 2] == 1) * 2 + X[:, 1] / 4 > 4).astype(int)
    columns = ColumnTransformer(
        [
            ("b", KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), [1]),
            ("n", StandardScaler(), [0]),
            ("c", OneHotEncoder(sparse_output=False, drop="first"), [2]),
        ]
    )
    model = make_pipeline(columns, PolynomialFeatures(2), LogisticRegression()).fit(X, y)
    bounds = {0: (0, 19), 1: (0, 9)}
    rules = pertinent.Constraints(integer=[0, 1], bounds=bounds)
    found = pertinent.pertinent_negatives(model, X[:2], data=X, constraints=rules)
    assert not set(found.status) & {"failed", "infeasible"}
    points = np.array(list(product(range(20), range(10), range(3))), dtype=float)
    predicted = model.predict(points)
    for i, x in enumerate(X[:2]):
        other = points[predicted != model.predict([x])[0]]
        moved = np.abs(other[:, :2] - x[:2]) / X[:, :2].std(axis=0)
        least = (moved.sum(axis=1) + (other[:, 2] != x[2])).min()
        assert found.objective[i] == pytest.approx(least, rel=1e-4)
