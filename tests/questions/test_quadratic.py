"""Exact answers for quadratic models, against dense grids."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import pertinent
from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers import project
from tests.shown import proved_of_negatives


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


def test_a_time_limit_leaves_an_honest_gap():
    X, y = _standard(load_breast_cancer, 30)
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    samples = X[model.predict(X) != model.predict(X.mean(axis=0)[None])][:4]
    for seconds in (1e-3, 20.0):
        found = pertinent.pertinent_positives(
            model, samples, method="exact", baseline="mean", data=X, time_limit=seconds
        )
        good = found.found
        assert (model.predict(found.points[good]) == model.predict(samples[good])).all()
        assert (found.bound[good] <= found.objective[good]).all()
        assert (found.closeness_bound[good] <= found.closeness[good] + 1e-9).all()
        tight = found.bound >= found.objective
        assert not (found.status == "optimal")[good & ~tight].any()
    assert (found.status == "optimal").all()


def test_a_local_answer_that_is_not_the_best_is_found_out():
    """A degree-2 machine on wine: the local method misses the best pair of changes."""
    X, y = load_wine(return_X_y=True)
    X = np.ascontiguousarray(StandardScaler().fit_transform(X)[:, [0, 6, 9, 10, 12]])
    model = SVC(kernel="poly", degree=2, coef0=1.0).fit(X, y == 1)
    x, ends = X[163], np.array([X.min(axis=0), X.max(axis=0)])
    rules = pertinent.Constraints(bounds={j: tuple(ends[:, j]) for j in range(5)})
    found = pertinent.pertinent_negatives(model, x[None], max_changes=2, constraints=rules)
    assert found.status[0] == "optimal"
    own, best = model.predict(x[None])[0], np.inf
    for i, j in combinations(range(5), 2):
        first, second = np.meshgrid(*(np.linspace(*ends[:, k], 201) for k in (i, j)))
        grid = np.repeat(x[None], first.size, axis=0)
        grid[:, i], grid[:, j] = first.ravel(), second.ravel()
        other = model.predict(grid) != own
        best = min(best, np.abs(grid[other] - x).sum(axis=1).min(initial=np.inf))
    assert found.objective[0] <= best
    assert found.bound[0] >= found.objective[0] * (1 - 1e-4)


def test_halving_confirms_what_holds_and_nothing_else():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(20):
        A = rng.normal(size=(3, 3))
        row = Quadratic.from_matrix(A + A.T, rng.normal(size=3), 1.5)
        cell = Cell(np.zeros((0, 3)), np.zeros(0), (row,))
        center, low, high = np.zeros((1, 3)), np.full((1, 3), -1.0), np.full((1, 3), 1.0)
        low[0, 2] = high[0, 2] = 0.3
        first, second = np.meshgrid(*2 * (np.linspace(-1, 1, 301),))
        grid = np.column_stack([first.ravel(), second.ravel(), np.full(first.size, 0.3)])
        inside = row.value(grid) <= 0
        best = np.abs(grid[inside]).sum(axis=1).min(initial=np.inf)
        weights = np.ones(3)
        if np.isinf(best):
            proved = HalvingProofs(np.array([np.inf])).bounds(
                Task.of(cell, center, weights, low, high)
            )
            assert proved[0] in (np.inf, 0.3)
            continue
        hits += best > 0.31
        for share, holds in ((0.97, best > 0.32), (1.001, False)):
            claim = np.array([best * share])
            proved = HalvingProofs(claim).bounds(Task.of(cell, center, weights, low, high))[0]
            assert (proved == claim[0]) == holds or claim[0] <= 0.3
    assert hits > 5


def _one_of_eight(seed, row, kind):
    """Return a model of two classes, and a sample that one change does not bring across."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(
        120, 4, n_informative=4, n_redundant=0, n_clusters_per_class=1, random_state=seed
    )
    X = X * rng.choice([1, 10, 0.1], 4) + rng.choice([0, 5], 4)
    first, second = (X[rng.choice(120, 8)] for _ in range(2))
    if kind == "bayes":
        return GaussianNB().fit(X, y), first[row : row + 1]
    return QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y), second[row : row + 1]


@pytest.mark.parametrize(
    ("seed", "row", "kind", "size"),
    [(12, 1, "bayes", 2), (18, 7, "bayes", 3), (16, 1, "qda", 2), (20, 3, "qda", 2)],
)
def test_sizes_are_proved_where_no_single_change_will_do(seed, row, kind, size):
    model, sample = _one_of_eight(seed, row, kind)
    fewest = pertinent.pertinent_negatives(model, sample, norm="l0")
    assert fewest.objective[0] == fewest.bound[0] == size
    one = pertinent.pertinent_negatives(model, sample, max_changes=1)
    assert one.status[0] == "infeasible"
    assert "at most 1 change" in one.reason[0]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("frozen", [[0, 1, 2, 3], [1, 2, 3], [0, 1, 3]])
@pytest.mark.parametrize(
    "model", [GaussianNB(), QuadraticDiscriminantAnalysis(reg_param=0.1)], ids=["bayes", "qda"]
)
def test_with_most_features_frozen_every_row_is_settled(model, frozen, classes):
    X, y = load_iris(return_X_y=True)
    some = y >= 3 - classes
    model.fit(X[some], y[some])
    samples = X[some][::11]
    rules = pertinent.Constraints(frozen=frozen)
    free = {"limits_from": None, "steps_from": None}
    explainer = pertinent.Explainer(model, data=X[some], constraints=rules, **free)
    found = explainer.explain(samples).negative
    assert set(found.status) <= {"optimal", "infeasible"}
    proved, _ = proved_of_negatives(explainer.setting, found)
    assert (proved >= found.bound * (1 - 1e-9)).all()
    none = found.status == "infeasible"
    if len(frozen) == 4:
        assert none.all()
        return
    # Along the feature that is left, a grid finds nothing where there is nothing.
    (free,) = set(range(4)) - set(frozen)
    for sample in samples[none]:
        grid = np.repeat(sample[None], 601, axis=0)
        grid[:, free] += np.linspace(-30, 30, 601)
        assert (model.predict(grid) == model.predict(sample[None])).all()


def test_lines_without_ends_are_settled_by_two_rows():
    rng = np.random.default_rng(5)
    line = np.concatenate([np.linspace(-40, 40, 80_001), np.geomspace(40, 1e6, 2000)])
    line = np.concatenate([line, -line])
    seen = {0: 0, 2: 0}
    for _ in range(120):
        a, g, c = rng.normal(size=(3, 2)) + np.array([[0.0], [0.0], [1.0]])
        rows = tuple(
            Quadratic.from_matrix(np.diag([a[k], 1.0]), np.array([g[k], 0.0]), c[k])
            for k in range(2)
        )
        cell = Cell(np.zeros((0, 2)), np.zeros(0), rows)
        found = project(
            np.zeros((1, 2)), cell, lower=np.array([-np.inf, 0.0]), upper=np.array([np.inf, 0.0])
        )
        inside = (a[:, None] * line**2 + g[:, None] * line + c[:, None] <= 0).all(axis=0)
        nearest = np.abs(line[inside]).min(initial=np.inf)
        assert found.status[0] in seen, (a, g, c)
        seen[int(found.status[0])] += 1
        assert found.bound[0] <= nearest
        if np.isfinite(nearest):
            assert found.objective[0] == pytest.approx(nearest, abs=2e-3, rel=1e-2)
    assert min(seen.values()) > 10


def test_the_rules_that_leave_a_curved_model_without_an_answer_are_named():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    assert (pertinent.pertinent_negatives(model, X[[120]]).status == "optimal").all()
    rules = pertinent.Constraints(frozen=[1, 2, 3], bounds={0: (4.0, None)})
    found = pertinent.pertinent_negatives(model, X[[120]], constraints=rules)
    assert found.status[0] == "infeasible"
    reason = found.reason[0]
    assert reason.startswith("no point is predicted as any class other than 2 and obeys: ")
    # Two of the four will do, and neither of them alone.
    assert "obeys: x1 frozen; x3 frozen (each of them is needed" in reason
    for frozen, status in (([1, 3], "infeasible"), ([1], "optimal"), ([3], "optimal")):
        fewer = pertinent.Constraints(frozen=frozen)
        assert pertinent.pertinent_negatives(model, X[[120]], constraints=fewer).status[0] == status
