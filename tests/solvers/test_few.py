"""Few features that move: every row ends with a proved optimum or a proof that there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from quadratic_models import data
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.geometry.region import Cell, Quadratic
from pertinent.solvers import project
from pertinent.solvers.curved.few import find, improve
from pertinent.solvers.curved.shifted import Local

MODELS = {
    "qda 0": QuadraticDiscriminantAnalysis(),
    "qda 0.1": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "qda 0.5": QuadraticDiscriminantAnalysis(reg_param=0.5),
    "naive Bayes": GaussianNB(),
}


def grid_cost(model, sample, free, ranges):
    """The least cost of another class on grids of three sizes over the free features."""
    best, own = np.inf, model.predict(sample[None])[0]
    for span in (1, 15, 300):
        axes = [sample[j] + span * ranges[j] * np.linspace(-1, 1, 121) for j in free]
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(free))
        points = np.repeat(sample[None], len(grid), axis=0)
        points[:, free] = grid
        other = points[model.predict(points) != own]
        best = min(best, np.abs(other - sample).sum(axis=1).min(initial=np.inf))
    return best


def judge(model, X, rows, free):
    """Every row is settled, and no grid point undercuts its bound or its cost."""
    frozen = [j for j in range(X.shape[1]) if j not in free]
    rules = pertinent.Constraints(frozen=frozen)
    found = pertinent.pertinent_negatives(model, X[rows], constraints=rules)
    assert np.isin(found.status, ["optimal", "infeasible"]).all()
    assert (model.predict(found.points[found.found]) == found.target[found.found]).all()
    assert (model.predict(X[rows]) != found.target)[found.found].all()
    ranges = np.ptp(X, axis=0)
    for sample, bound, cost in zip(X[rows], found.bound, found.objective, strict=True):
        least = grid_cost(model, sample, list(free), ranges)
        assert bound <= least * (1 + 1e-9)
        assert least == np.inf or cost <= least * (1 + 1e-4)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", [(0, 1), (1, 2), (0, 1, 2)])
def test_every_pair_of_features_of_iris(name, labels):
    X, y = data("iris")
    X, y = X[np.isin(y, labels)], y[np.isin(y, labels)]
    model = MODELS[name].fit(X, y)
    for k, free in enumerate(itertools.combinations(range(4), 2)):
        judge(model, X, np.arange(k, len(X), 74), free)


@pytest.mark.parametrize("name", MODELS)
def test_pairs_of_features_of_wine(name):
    X, y = data("wine")
    model = MODELS[name].fit(X, y)
    for k, free in enumerate([(0, 6), (3, 4), (2, 12), (9, 11)]):
        judge(model, X, np.arange(5 * k, len(X), 90), free)


def test_rows_that_the_local_search_missed():
    X, y = data("iris")
    for labels, row, reg in (((0, 1), 6, 0.0), ((0, 1, 2), 10, 0.0), ((0, 1, 2), 147, 0.1)):
        here = np.isin(y, labels)
        model = QuadraticDiscriminantAnalysis(reg_param=reg).fit(X[here], y[here])
        judge(model, X[here], [row], (0, 1))


def test_three_free_features_against_random_points():
    X, y = data("iris")
    rng = np.random.default_rng(0)
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    rules, rows = pertinent.Constraints(frozen=[2]), np.arange(3, 150, 21)
    found = pertinent.pertinent_negatives(model, X[rows], constraints=rules)
    assert (found.status == "optimal").all()
    for sample, bound in zip(X[rows], found.bound, strict=True):
        away = rng.normal(size=(40_000, 4)) * np.ptp(X, axis=0)
        away[:, 2] = 0.0
        other = model.predict(sample + away) != model.predict(sample[None])[0]
        assert np.abs(away[other]).sum(axis=1).min() >= bound * (1 - 1e-9)


def island(middle, radius):
    """One small disc, far from the center, written as ``|s - middle|^2 <= radius^2``."""
    value = middle @ middle - radius**2
    return Local(
        np.eye(2)[None], (np.eye(2),), (np.zeros((0, 2)),), -2 * middle[None], np.array([value]),
        np.full(2, np.inf), np.full(2, np.inf),
    )  # fmt: skip


@pytest.mark.parametrize("middle", [(3.0, 4.0), (-800.0, 1.0), (0.02, -0.01)])
def test_a_small_island_is_found_and_its_nearest_point(middle):
    middle = np.array(middle)
    radius = 0.01 * np.abs(middle).max()
    local = island(middle, radius)
    step = find(local)
    assert step is not None
    assert local.within(step, 0.0)
    best, finished = improve(local, step)
    assert finished
    # The least |s1| + |s2| over a disc, at its corner towards the origin, or with s2 at 0.
    costs = np.abs(middle).sum() - radius * np.sqrt(2)
    if abs(middle[1]) < radius:
        costs = abs(middle[0]) - np.sqrt(radius**2 - middle[1] ** 2)
    assert np.abs(best).sum() == pytest.approx(costs, rel=1e-4)


def test_nothing_is_found_where_nothing_is():
    assert find(island(np.array([3.0, 4.0]), 0.0)) is None
    bounded = island(np.array([3.0, 4.0]), 1.0)
    object.__setattr__(bounded, "up", np.ones(2))
    assert find(bounded) is None


def test_two_hyperbolas_with_bounds_are_settled():
    """x1 x2 >= 1 and (x1 - 4) x2 <= -1 with x2 <= 0.6: the nearest point is a bound's."""
    swap = np.array([[0.0, 0.5], [0.5, 0.0]])
    rows = (
        Quadratic.from_matrix(-swap, np.zeros(2), 1.0),
        Quadratic.from_matrix(swap, np.array([0.0, -4.0]), 1.0),
    )
    cell = Cell(np.zeros((0, 2)), np.zeros(0), rows)
    found = project(np.zeros((1, 2)), cell, upper=np.array([np.inf, 0.6]))
    assert found.status[0] == 0
    np.testing.assert_allclose(found.points, [[1 / 0.6, 0.6]], rtol=1e-6)
    assert found.bound[0] == pytest.approx(1 / 0.6 + 0.6, rel=1e-4)
