"""Many samples under large omegas are trained along principal axes: faster, the same outcome."""

import numpy as np
import pytest

from pertinent.lvq import _cost, _training
from pertinent.lvq._cost import GLVQCost, Layout
from pertinent.lvq._training import principal_axes, to_training_units, train

N_FEATURES = 12


def problem(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 3
    mixing = rng.normal(size=(N_FEATURES, N_FEATURES)) * 0.8 ** np.arange(N_FEATURES)[:, None]
    X = (rng.normal(size=(300, N_FEATURES)) + np.eye(3, N_FEATURES)[y]) @ mixing
    X, _ = to_training_units(X)
    cost = GLVQCost(X, y, Layout(np.arange(3), np.arange(3)), 2.0)
    prototypes = np.array([X[y == k].mean(axis=0) for k in range(3)])
    omegas = np.repeat(np.eye(N_FEATURES)[None] / np.sqrt(N_FEATURES), 3, axis=0)
    return cost, prototypes, omegas


@pytest.fixture
def precisions(monkeypatch):
    """Count these small omegas among the large ones; collect the types that samples come in."""
    monkeypatch.setattr(_cost, "LARGE", 1)
    monkeypatch.setattr(_cost, "HEAD", 4)
    seen, evaluate = set(), GLVQCost.__call__

    def watched(cost, *arguments):
        seen.add(cost.X.dtype.name)
        return evaluate(cost, *arguments)

    monkeypatch.setattr(GLVQCost, "__call__", watched)
    return seen


def test_few_samples_are_trained_as_they_are(precisions):
    train(*problem(), max_iter=3, tol=1e-5)
    assert precisions == {"float64"}


@pytest.mark.parametrize(("tol", "precision"), [(1e-5, "float32"), (1e-8, "float64")])
def test_turning_many_samples_changes_nothing_but_rounding(tol, precision, precisions, monkeypatch):
    plain = train(*problem(), max_iter=5, tol=tol)
    precisions.clear()
    monkeypatch.setattr(_training, "MANY", 1)
    turned = train(*problem(), max_iter=5, tol=tol)
    assert precisions == {precision}
    assert turned.n_iter == plain.n_iter == 5
    tolerance = 1e-4 if precision == "float32" else 1e-10
    assert turned.loss == pytest.approx(plain.loss, rel=tolerance)
    for one, two in ((turned.prototypes, plain.prototypes), (turned.omegas, plain.omegas)):
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, two, rtol=0, atol=tolerance)


@pytest.mark.usefixtures("precisions")
def test_single_precision_ends_as_low_as_double_on_average(monkeypatch):
    """A single run ends elsewhere after tens of steps, higher as often as lower."""
    plain = [train(*problem(seed), max_iter=500, tol=5e-5) for seed in range(12)]
    monkeypatch.setattr(_training, "MANY", 1)
    turned = [train(*problem(seed), max_iter=500, tol=5e-5) for seed in range(12)]
    assert all(run.settled for run in plain + turned)
    difference = np.mean([run.loss for run in turned]) - np.mean([run.loss for run in plain])
    assert abs(difference) < 2e-3  # one run scatters by 1.5e-3


def test_principal_axes_are_orthonormal_and_sorted_by_variance():
    X = problem()[0].X
    axes = principal_axes(X)
    np.testing.assert_allclose(axes.T @ axes, np.eye(N_FEATURES), atol=1e-12)
    moments = (X @ axes).T @ (X @ axes)
    np.testing.assert_allclose(moments, np.diag(np.diag(moments)), atol=1e-9)
    assert (np.diff(np.diag(moments)) <= 0.0).all()
