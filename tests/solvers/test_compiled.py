"""The compiled simplex gives the bytes of the lock-step one, and says what to install."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from pertinent.solvers.linear.simplex.compiled import solve_compiled
from pertinent.solvers.linear.simplex.lockstep import solve_lockstep
from pertinent.solvers.linear.simplex.scaled import Asked
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE

INF = np.inf


def assert_same_bytes(G, weights, demand, up, down, **options):
    asked = Asked.of(G, weights, demand, up, down, options.pop("cutoff", None))
    left = solve_lockstep(asked, **options)
    right = solve_compiled(asked, **options)
    for name in ("status", "pivots", "step", "multipliers"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
        assert getattr(left, name).tobytes() == getattr(right, name).tobytes(), name
    return left


@cache
def digits(label):
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    model = LogisticRegression(max_iter=2000).fit(X, y)
    others = np.arange(10) != label
    G = model.coef_[others] - model.coef_[label]
    X = X[model.predict(X) != label]
    return G, X, X @ G.T - (model.intercept_[label] - model.intercept_[others] - 1e-9)


@pytest.mark.parametrize("width", [INF, 1.0, 0.3, 0.15])
def test_digits(width):
    G, X, demand = digits(3)
    up, down = (INF, INF) if width == INF else (np.minimum(1 - X, width), np.minimum(X, width))
    weights = 1.0 / (0.1 + X.std(axis=0))
    steps = assert_same_bytes(G, weights, demand, up, down)
    assert (steps.status == SOLVED).any()
    assert width > 0.3 or (steps.status == EMPTY).any()


@pytest.mark.parametrize("kind", ["normal", "integer", "copied rows", "copied features", "scaled"])
@pytest.mark.parametrize("seed", range(12))
def test_random_problems(kind, seed):
    rng = np.random.default_rng(seed)
    n, m, d = 25, int(rng.integers(1, 15)), int(rng.integers(1, 12))
    G = rng.normal(size=(m, d))
    if kind == "integer":
        G = rng.integers(-2, 3, size=(m, d)).astype(float)
    elif kind == "copied rows":
        G = G[rng.integers(m, size=m)]
    elif kind == "copied features":
        G = G[:, rng.integers(d, size=d)]
    elif kind == "scaled":
        G = G * 10.0 ** rng.integers(-4, 5, size=(m, 1)) * 10.0 ** rng.integers(-2, 3, size=d)
    demand = -rng.normal(size=(n, d)) @ G.T - rng.uniform(-0.2, 1, size=(n, m))
    up, down = rng.choice([0.0, 0.5, 1.0, 3.0, INF], size=(2, n, d))
    weights = rng.uniform(0.5, 2, d)
    assert_same_bytes(G, weights, demand, up, down)
    assert_same_bytes(G, weights, demand, INF, INF)
    assert_same_bytes(G, weights, demand, up, down, cutoff=rng.uniform(0, 4, n))
    assert_same_bytes(G, weights, demand, up, down, max_pivots=3)


def test_every_status_occurs():
    G = np.array([[-1.0, -2.0, 0.0], [1.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    demand = np.array([[4.0, -9.0, -1.0], [4.0, -9.0, 1.0], [4.0, 3.0, -1.0], [-1.0, -1.0, -1.0]])
    cutoff = np.array([INF, INF, 1.0, 0.0])
    steps = assert_same_bytes(G, np.ones(3), demand, 3.0, 3.0, cutoff=cutoff)
    assert steps.status.tolist() == [SOLVED, EMPTY, CUT, SOLVED]
    steps = assert_same_bytes(G, np.ones(3), demand, 3.0, 3.0, max_pivots=1)
    assert steps.status.tolist() == [SOLVED, EMPTY, TROUBLE, SOLVED]


def test_read_only_and_strided_arrays():
    G, X, demand = digits(3)
    G, demand = G.copy(), np.asfortranarray(demand[:20])
    up, down = np.broadcast_to(0.5, (20, 64)), X[:40:2]
    for array in (G, demand, down):
        array.setflags(write=False)
    assert_same_bytes(G[::-1], np.ones(64), demand[:, ::-1], up, down)


@pytest.mark.parametrize(("n", "m"), [(0, 3), (4, 0)])
def test_nothing_to_do(n, m):
    assert_same_bytes(np.ones((m, 2)), np.ones(2), np.ones((n, m)), INF, INF)


def test_numba_is_imported_by_the_first_call_only():
    code = f"""
import sys
sys.path[:] = {sys.path}
import pertinent.solvers.linear.simplex.compiled
print("numba" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_numba_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "pertinent.solvers.linear.simplex.kernel", raising=False)
    monkeypatch.delattr("pertinent.solvers.linear.simplex.kernel", raising=False)
    with pytest.raises(ImportError, match=r'pip install "pertinent\[fast\]"'):
        solve_compiled(Asked.of(np.ones((1, 2)), np.ones(2), np.ones((1, 1))))
