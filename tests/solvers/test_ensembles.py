"""Tree ensembles: the nearest point against brute force over all cells, proofs, limits."""

import pickle
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import pertinent
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.running import deadline
from pertinent.geometry.task import Task
from pertinent.models.trees.forests import forest_of
from pertinent.proofs.ensembles.rest import Rest
from pertinent.solvers import choose_method, make_ready, project
from pertinent.solvers.ensembles import solve
from pertinent.solvers.ensembles.compiled import CompiledSearch
from pertinent.solvers.ensembles.problem import Leads, Left, RowProblem
from pertinent.solvers.ensembles.search import NumpySearch
from tests.solvers.every_cell import least_cost

pytestmark = pytest.mark.matrix(2)

WINE = load_wine(return_X_y=True)


def _forest(kind, n_features, trees, depth, seed, data=WINE):
    X, y = data
    X = np.round(X[:, :n_features], 1)
    return kind(trees, max_depth=depth, random_state=seed).fit(X, y), X


def _agrees(region, task, known=1e-9):
    """Solve, prove and compare with brute force; return the points."""
    found = project(task.centers, region, task.weights, task.lower, task.upper, domain=task.domain)
    proved = found.certificate.bounds(task)
    for i in range(len(task)):
        best = least_cost(region, task, i)
        if np.isinf(best):
            assert np.isinf(proved[i])
            assert np.isnan(found.points[i]).all()
        else:
            assert found.objective[i] == pytest.approx(best, rel=known, abs=1e-12)
            assert proved[i] == pytest.approx(best, rel=known, abs=1e-12)
            assert proved[i] <= best * (1 + 1e-12)
            assert region.contains(found.points[[i]])[0]
    return found.points


CASES = [
    (RandomForestClassifier, 2, 10, None, 0),
    (RandomForestClassifier, 3, 8, 4, 1),
    (ExtraTreesClassifier, 3, 6, 3, 2),
    (RandomForestClassifier, 4, 5, 3, 3),
]


@pytest.mark.parametrize("case", CASES)
def test_the_nearest_point_is_that_of_brute_force(case):
    model, X = _forest(*case)
    rng = np.random.default_rng(case[-1])
    for k in range(3):
        region = EnsembleRegion.of(forest_of(model), k)
        centers = X[rng.integers(len(X), size=4)] + rng.normal(size=(4, X.shape[1])) * 0.01
        weights = rng.uniform(0.5, 2.0, X.shape[1])
        points = _agrees(region, Task.of(region, centers, weights))
        np.testing.assert_array_equal(model.predict(points), model.classes_[k])


def test_limits_frozen_and_empty():
    model, X = _forest(*CASES[1])
    region = EnsembleRegion.of(forest_of(model), 1)
    centers = X[:6]
    lower, upper = centers - 0.6, centers + 0.6
    lower[:3, 0] = upper[:3, 0] = centers[:3, 0]
    lower[3] = upper[3] = centers[3]
    upper[4] = centers[4] - 0.1  # the center itself is not allowed
    _agrees(region, Task.of(region, centers, np.ones(3), lower, upper))


def test_whole_numbers_and_decimals():
    model, X = _forest(*CASES[1])
    region = EnsembleRegion.of(forest_of(model), 2)
    centers = X[:5] + 0.05
    domain = Domain(np.array([0.0, np.nan, 0.0]), own=centers)
    points = _agrees(region, Task.of(region, centers, np.ones(3), domain=domain))
    whole = points[:, [0, 2]]
    assert ((whole == np.round(whole)) | (whole == centers[:, [0, 2]])).all()


def test_at_most_so_many_changes():
    model, X = _forest(*CASES[3])
    region = EnsembleRegion.of(forest_of(model), 0)
    centers = X[60:66]
    for most in (1, 2):
        domain = Domain(np.full(4, np.nan), max_changes=most, own=centers)
        points = _agrees(region, Task.of(region, centers, np.ones(4), domain=domain))
        changed = (points != centers) & ~np.isnan(points)
        assert (changed.sum(axis=1) <= most).all()


def test_one_of_each_group_of_categories():
    rng = np.random.default_rng(0)
    group, other = rng.integers(0, 4, 300), rng.normal(size=300)
    X = np.column_stack([np.eye(4)[group], other])
    y = (group % 3 + (other > 0) + rng.integers(0, 2, 300)) % 3
    model = RandomForestClassifier(7, max_depth=4, random_state=0).fit(X, y)
    for k in range(3):
        region = EnsembleRegion.of(forest_of(model), k)
        centers = X[:12]
        groups = (np.arange(4),)
        owner = np.array([0, 0, 0, 0, 1])
        upper = np.full(centers.shape, np.inf)
        upper[6:, 2] = 0.0  # one category is not allowed
        centers[6:, :4] = [1, 0, 0, 0]
        domain = Domain(np.array([0.0] * 4 + [np.nan]), groups, owner, own=centers)
        weights = np.array([0.3, 0.1, 0.2, 0.4, 1.0])
        task = Task.of(region, centers, weights, None, upper, domain)
        points = _agrees(region, task)
        assert (points[:, :4].sum(axis=1) == 1).all()


def test_a_raised_claim_and_a_damaged_tree_of_cases_are_refused():
    model, X = _forest(RandomForestClassifier, 5, 30, None, 0)
    region = EnsembleRegion.of(forest_of(model), 0)
    centers = X[model.predict(X) != 0][:12]
    task = Task.of(region, centers, np.ones(5))
    found = project(centers, region)
    [block] = found.certificate.blocks
    proofs = block.proofs
    best = found.objective
    assert (proofs.bounds(task) >= best * (1 - 1e-9)).all()
    for raised in (1.001, 1.05):
        assert (replace(proofs, claimed=raised * best).bounds(task) <= best).all()
    for row in range(len(task)):
        column = proofs.column[row].copy()
        if len(column) > 3:
            column = column[:-1]  # the last branching is lost
            damaged = replace(
                proofs, column=(*proofs.column[:row], column, *proofs.column[row + 1 :])
            )
            assert damaged.take(np.array([row])).bounds(task.take(np.array([row])))[0] == 0.0


def test_no_weights_prove_more_than_is_true(cancer):
    model, X = cancer
    region = EnsembleRegion.of(forest_of(model), 0)
    centers = X[model.predict(X) != 0][:1]
    task, found = Task.of(region, centers, np.ones(30)), project(centers, region)
    proofs, best = found.certificate.blocks[0].proofs, found.objective
    weights = proofs.weights
    assert sum(map(len, weights.section)) > 100
    rng = np.random.default_rng(0)

    def changed(name, change):
        return replace(weights, **{name: tuple(map(change, getattr(weights, name)))})

    damaged = [
        None,
        changed("weight", lambda w: rng.integers(-5, 2**62, len(w))),
        changed("weight", lambda w: w[:-1]),
        changed("count", lambda c: c - 1),
        changed("count", lambda c: c[::-1]),
        changed("section", lambda s: s + 1),
        changed("section", rng.permutation),
        changed("where", lambda w: rng.integers(-3, 300, w.shape)),
        changed("where", lambda w: w[:2]),
        changed("where", lambda w: w + 0.5),
    ]
    for some in (weights, *damaged):
        claim = replace(proofs, claimed=1.001 * best, weights=some)
        assert (claim.bounds(task) <= best * (1 + 1e-12)).all()
    for price in (0.0, 1e-300, 1e300, 1.7e308, np.inf, np.nan, -1.0):
        prices = tuple(np.full(len(p), price) for p in proofs.price)
        claim = replace(proofs, claimed=1.001 * best, price=prices)
        with np.errstate(all="ignore"):
            assert (claim.bounds(task) <= best * (1 + 1e-12)).all()


def test_the_ends_of_a_proof_are_closed_by_what_it_states(cancer, monkeypatch):
    model, X = cancer
    region = EnsembleRegion.of(forest_of(model), 0)
    centers = X[model.predict(X) != 0][:4]
    task, found = Task.of(region, centers, np.ones(30)), project(centers, region)
    proofs = found.certificate.blocks[0].proofs
    assert max(map(len, proofs.column)) > 20
    guessed, run = [], Rest.run

    def noted(self, rows, boxes):
        some = list(boxes)
        guessed.extend(map(len, some))
        return run(self, rows, some)

    monkeypatch.setattr(Rest, "run", noted)
    np.testing.assert_allclose(proofs.bounds(task), found.objective, rtol=1e-9)
    assert sum(guessed) == 0  # nothing was left to guess
    assert (replace(proofs, claimed=1.001 * found.objective).bounds(task) == 0.0).all()
    assert sum(guessed) > 0
    # Without its weights a proof holds as well, or is not believed; it never proves more.
    without = replace(proofs, weights=None).bounds(task)
    assert (without <= found.objective).all()


def test_proofs_speak_of_the_leaves_of_the_model():
    model, X = _forest(RandomForestClassifier, 5, 30, 4, 0)
    centers = X[model.predict(X) != 0][:8]
    region = EnsembleRegion.of(forest_of(model), 0)
    proofs = project(centers, region).certificate.blocks[0].proofs
    for estimator in model.estimators_:
        estimator.tree_.value[:] = [[1.0, 0.0, 0.0]]
    changed = EnsembleRegion.of(forest_of(model), 0)
    assert (proofs.bounds(Task.of(changed, centers, np.ones(5))) == 0.0).all()


def test_what_is_not_supported_says_so():
    model, X = _forest(*CASES[0])
    relation = pertinent.Constraints(relations=["x0 <= x1"])
    with pytest.raises(pertinent.exceptions.UnsupportedModelError, match="Relations between"):
        pertinent.pertinent_negatives(model, X[:1], constraints=relation)


def test_the_method_says_why():
    model, _ = _forest(*CASES[0])
    method = choose_method(EnsembleRegion.of(forest_of(model), 0))
    assert method.why == "a sum of 10 trees: branch and bound over boxes of cells"


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return RandomForestClassifier(40, max_depth=5, random_state=0).fit(X[::2], y[::2]), X[1::2]


def _both_engines(region, task, monkeypatch):
    found = []
    for search in (CompiledSearch, NumpySearch):
        monkeypatch.setattr(solve, "search_class", lambda search=search: search)
        found.append(project(task.centers, region, task.weights, task.lower, task.upper))
    return found


def test_every_row_of_a_forest_is_proved_and_both_engines_agree(cancer, monkeypatch):
    model, X = cancer
    predicted = model.predict(X)
    for k in (0, 1):
        region = EnsembleRegion.of(forest_of(model), k)
        centers = X[predicted != k][:3]
        task = Task.of(region, centers, np.ones(30))
        fast, plain = _both_engines(region, task, monkeypatch)
        np.testing.assert_array_equal(fast.points, plain.points)
        for found in (fast, plain):
            proved = found.certificate.bounds(task)
            np.testing.assert_allclose(proved, found.objective, rtol=1e-9)
        assert (model.predict(fast.points) == k).all()


def test_a_point_that_is_pulled_closer_stays_in_the_class(cancer):
    model, X = cancer
    region = EnsembleRegion.of(forest_of(model), 0)
    centers = X[model.predict(X) != 0][:4]
    best = project(centers, region).objective
    task = Task.of(region, centers, np.ones(30))
    for i in range(len(centers)):
        problem = RowProblem.of(Left.of(Leads.of(region), task, i))
        search = CompiledSearch(problem)
        search.begin(np.inf)
        while search.found is None:
            search.run(1)
        cost, chosen = search.found
        closer, moved = search.closer(chosen)
        point = problem.choices.points(moved)
        assert region.contains(point[None])[0]
        assert np.abs(point - centers[i]).sum() == pytest.approx(closer, rel=1e-12)
        assert best[i] * (1 - 1e-9) <= closer <= cost


def test_a_search_that_loses_a_point_is_not_believed(cancer, monkeypatch):
    model, X = cancer
    region = EnsembleRegion.of(forest_of(model), 0)
    center = X[model.predict(X) != 0][:1]
    best = project(center, region).objective[0]
    wins = NumpySearch._is_answer
    # It does not see the nearest points: a worse one is claimed to be the nearest.
    monkeypatch.setattr(
        NumpySearch, "_is_answer", lambda self, box: box.near > 1.01 * best and wins(self, box)
    )
    monkeypatch.setattr(solve, "search_class", lambda: NumpySearch)
    lame = project(center, region)
    assert lame.objective[0] > best
    proved = lame.certificate.bounds(Task.of(region, center, np.ones(30)))
    assert proved[0] <= best * (1 + 1e-12)


def test_time_that_is_over_leaves_a_valid_point_and_its_bound(cancer):
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(300, random_state=0).fit(X[::2], y[::2])
    make_ready(EnsembleRegion.of(forest_of(model), 0))
    sample = X[1::2][model.predict(X[1::2]) == 0][:2]
    started = process_time()  # however busy the machine is, and far from what proofs would take
    found = pertinent.pertinent_negatives(model, sample, time_limit=0.5)
    assert process_time() - started < 30
    assert (found.status != "failed").all()
    assert (model.predict(found.points) == 1).all()
    assert (found.bound <= found.objective).all()


class OneBoxEach:
    """A search that closes budgets below the cutoff with their first box, in a second each."""

    least, found, boxes = 1e8, None, 0

    def __init__(self, now):
        self.now = now

    def begin(self, budget):
        self.now[0] += 1.0
        self.budget = budget

    def run(self, boxes):
        self.boxes += 1
        return self.budget < 1e9

    def closer(self, chosen):
        return None

    def branchings(self):
        return None


def test_budgets_that_close_at_once_look_at_the_clock_too(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(solve, "monotonic", lambda: now[0])
    monkeypatch.setattr(solve, "is_over", lambda end: now[0] > end)
    monkeypatch.setattr(solve, "FIRST_BOXES", 1)
    monkeypatch.setattr(solve, "WEIGHING", 0)
    solve.Row(OneBoxEach(now), end=5.0, cutoff=1e9, step=1).solve()
    assert now[0] <= 6.0


def test_a_new_process_compiles_before_any_time_limit_begins(cancer, monkeypatch):
    model, X = cancer
    explainer = pickle.loads(pickle.dumps(pertinent.Explainer(model, data=X, time_limit=30.0)))
    made, make = [], CompiledSearch.__init__

    def noted(self, problem):
        made.append((problem.leads.region.dim, deadline()))
        make(self, problem)

    monkeypatch.setattr(CompiledSearch, "__init__", noted)
    for ask in (
        lambda: explainer.explain(X[:1]),
        lambda: pertinent.pertinent_negatives(model, X[:1], time_limit=30.0),
        lambda: pertinent.pertinent_positives(model, X[:1], data=X, time_limit=30.0),
    ):
        made.clear()
        solve._try_out.cache_clear()  # as in a process that has just begun
        ask()
        assert made[0] == (1, np.inf)
        assert all(dim == 30 and end < np.inf for dim, end in made[1:])


def test_ctrl_c_stops_a_search(cancer, monkeypatch):
    model, X = cancer
    region = EnsembleRegion.of(forest_of(model), 0)

    def interrupted(self, boxes):
        raise KeyboardInterrupt

    monkeypatch.setattr(CompiledSearch, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        project(X[:1], region)
