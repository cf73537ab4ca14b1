"""Exact answers for quadratic models, against dense grids."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import pertinent


def _standard(load, columns):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X)[:, :columns], y


@pytest.fixture(
    scope="module",
    params=[
        (GaussianNB(), load_iris, 4),
        (GaussianNB(), load_breast_cancer, 6),
        (QuadraticDiscriminantAnalysis(reg_param=0.1), load_iris, 4),
        (QuadraticDiscriminantAnalysis(reg_param=0.1), load_breast_cancer, 6),
    ],
    ids=lambda p: f"{type(p[0]).__name__}-{p[2]}",
)
def case(request):
    model, load, columns = request.param
    X, y = _standard(load, columns)
    model.fit(X, y)
    return model, X, X[np.random.default_rng(0).permutation(len(X))[:6]]


def test_exact_positives(case):
    model, X, samples = case
    baseline = np.full(X.shape[1], 0.25)
    found = pertinent.pertinent_positives(
        model, samples, method="exact", baseline=baseline, between=True
    )
    assert (found.status == "optimal").all()
    own = model.predict(samples)
    assert (model.predict(found.points) == own).all()
    trivial = model.predict(baseline[None]) == own
    assert (found.objective[trivial] == 0).all()
    for i in np.flatnonzero(found.objective >= 2):
        for j in range(X.shape[1]):
            grid = np.repeat(baseline[None], 2001, axis=0)
            grid[:, j] = np.linspace(baseline[j], samples[i, j], 2001)
            assert (model.predict(grid) != own[i]).all()


def test_fewest_changes_and_the_closest_of_them(case):
    model, X, samples = case
    found = pertinent.pertinent_negatives(model, samples, norm="l0")
    own = model.predict(samples)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) != own).all()
    for i in np.flatnonzero(found.objective == 1):
        reach = found.closeness[i] * 0.999
        for j in range(X.shape[1]):
            grid = np.repeat(samples[i][None], 4001, axis=0)
            grid[:, j] += np.linspace(-reach, reach, 4001)
            assert (model.predict(grid) == own[i]).all()
