"""Random sums of trees in all units: both searches and their proofs against every cell."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.task import Task
from pertinent.models import decision_region
from pertinent.solvers import project
from pertinent.solvers.ensembles import solve
from pertinent.solvers.ensembles.compiled import CompiledSearch
from pertinent.solvers.ensembles.search import NumpySearch
from tests.solvers.every_cell import least_cost

ROWS, CATEGORIES = 60, 3


@dataclass
class Table:
    """Numbers in units from 1e-8 to 1e8; the first columns may be one choice of three."""

    X: np.ndarray
    y: np.ndarray
    unit: np.ndarray
    groups: tuple[np.ndarray, ...]

    @property
    def free(self):
        return np.arange(len(self.unit)) >= CATEGORIES * len(self.groups)


def _table(rng):
    dim, classes = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    X = np.round(rng.normal(size=(ROWS, dim)), int(rng.integers(0, 3)))
    unit = 10.0 ** rng.uniform(-8, 8, dim) if rng.random() < 0.6 else np.ones(dim)
    groups = ()
    if rng.random() < 0.35:
        X = np.column_stack([np.eye(CATEGORIES)[rng.integers(0, CATEGORIES, ROWS)], X])
        unit, groups = np.concatenate([np.ones(CATEGORIES), unit]), (np.arange(CATEGORIES),)
    score = X @ rng.normal(size=X.shape[1]) + 0.5 * rng.normal(size=ROWS)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    X = X * unit
    if rng.random() < 0.3:
        X = X.astype(np.float32).astype(float)
    return Table(X, y, unit, groups)


def _model(rng, table):
    seed, trees, depth = (int(rng.integers(a, b)) for a, b in ((0, 1000), (2, 9), (1, 4)))
    models = (
        RandomForestClassifier(trees, max_depth=depth, random_state=seed),
        ExtraTreesClassifier(trees, max_depth=depth, random_state=seed),
        GradientBoostingClassifier(
            n_estimators=trees, max_depth=min(depth, 2), random_state=seed
        ),
        HistGradientBoostingClassifier(
            max_iter=trees, max_leaf_nodes=4, min_samples_leaf=5, early_stopping=False,
            random_state=seed,
        ),
    )  # fmt: skip
    return models[rng.integers(4)].fit(table.X, table.y)


def _region(rng, model, table):
    label = int(rng.integers(len(model.classes_)))
    region = decision_region(model, model.classes_[label])
    assert isinstance(region, EnsembleRegion)
    is_forest = isinstance(model, RandomForestClassifier | ExtraTreesClassifier)
    if is_forest and rng.random() < 0.3:
        some = np.quantile(model.predict_proba(table.X)[:, label], [0.5, 0.8, 1.0])
        region = region.at_least(float(rng.choice(some)))
    return region


def _task(rng, region, table):
    centers, free, dim = table.X[rng.integers(ROWS, size=3)], table.free, len(table.unit)
    if rng.random() < 0.5:
        centers[:, free] += (0.1 * table.unit * rng.normal(size=centers.shape))[:, free]
    any_unit = 10.0 ** rng.uniform(-8, 8, dim)
    weights = (np.ones(dim), 1 / table.unit, any_unit, any_unit / table.unit)[rng.integers(4)]
    if rng.random() < 0.1:
        weights[rng.integers(dim)] = 0.0
    lower = np.full(centers.shape, -np.inf)
    upper = -lower
    j = rng.integers(dim)
    if rng.random() < 0.3 and free[j]:
        lower[:, j] = centers[:, j]
        upper[:, j] = centers[:, j] if rng.random() < 0.5 else np.inf
    most = int(rng.integers(1, 3)) if rng.random() < 0.3 else None
    owner = np.maximum(np.arange(dim) - (CATEGORIES - 1), 0) if table.groups else np.arange(dim)
    domain = None
    if table.groups or most:
        decimals = np.where(free, np.nan, 0.0)
        domain = Domain(decimals, table.groups, owner, max_changes=most, own=centers)
    return Task.of(region, centers, weights, lower, upper, domain)


@pytest.mark.parametrize("search", [CompiledSearch, NumpySearch])
@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(0, 100, 20)], ids=str)
def test_random_sums_of_trees(seeds, search, monkeypatch):
    monkeypatch.setattr(solve, "search_class", lambda: search)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = _table(rng)
        region = _region(rng, _model(rng, table), table)
        task = _task(rng, region, table)
        found = project(
            task.centers, region, task.weights, task.lower, task.upper, domain=task.domain
        )
        proved = found.certificate.bounds(task)
        best = np.array([least_cost(region, task, i) for i in range(len(task))])
        cost = np.where(np.isnan(found.points).any(axis=1), np.inf, found.objective)
        np.testing.assert_allclose(cost, best, rtol=1e-9, err_msg=f"cost, seed {seed}")
        np.testing.assert_allclose(proved, best, rtol=1e-9, err_msg=f"bound, seed {seed}")
        assert (proved <= best * (1 + 1e-12)).all()
