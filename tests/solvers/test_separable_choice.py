"""Separable rows over numbers and categories, against every allowed point of small lattices."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.demo import train_credit_model
from pertinent.geometry.affine import AffineMap
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.proofs import NoProofs
from pertinent.proofs.cases.separable_branch import SeparableBranchProofs
from pertinent.solvers import choose_method
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.scip import mixed
from pertinent.solvers.search.separable import solve
from pertinent.solvers.search.separable.solve import is_separable_choice, solve_separable_choice
from pertinent.solvers.tolerances import CASE_CLOSED

NUMBERS, GROUPS, LOW, HIGH = 3, (np.array([3, 4, 5]), np.array([6, 7])), -2.0, 3.0
DIM = 8


def problem(seed, max_changes=None):
    """Return a task of rows that are sums over three whole numbers and two groups."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(rng.integers(1, 4)):
        A = np.diag(rng.normal(size=DIM) * rng.integers(0, 2, size=DIM))
        for group in GROUPS:  # columns of one group may be coupled
            block = rng.normal(size=(len(group),) * 2)
            A[np.ix_(group, group)] = block + block.T
        rows.append(Quadratic.from_matrix(A, rng.normal(size=DIM) * 2, float(rng.normal() + 1)))
    rows = [replace(row, origin=rng.normal(size=DIM)) if rng.integers(2) else row for row in rows]
    rows = [on_parts(row) for row in rows]
    linear = int(rng.integers(0, 2))
    cell = Cell(rng.normal(size=(linear, DIM)), rng.normal(size=linear) + 1, tuple(rows))
    n = 3
    own = np.zeros((n, DIM))
    own[:, :NUMBERS] = rng.integers(LOW, HIGH + 1, size=(n, NUMBERS))
    for group in GROUPS:
        own[np.arange(n), rng.choice(group, size=n)] = 1.0
    decimals = np.where(np.arange(DIM) < NUMBERS, 0.0, np.nan)
    owner = np.array([0, 1, 2, 3, 3, 3, 4, 4])
    domain = Domain(decimals, GROUPS, owner, max_changes=max_changes, own=own)
    lower = np.broadcast_to(np.where(np.arange(DIM) < NUMBERS, LOW, 0.0), own.shape)
    upper = np.broadcast_to(np.where(np.arange(DIM) < NUMBERS, HIGH, 1.0), own.shape)
    weights = rng.uniform(0.5, 2.0, size=DIM)
    return Task(cell, own, weights, lower, upper, np.full(n, np.inf), domain=domain)


def on_parts(row):
    """Return the row with exact zeros between parts."""
    keep = np.eye(DIM, dtype=bool)
    for group in GROUPS:
        keep[np.ix_(group, group)] = True
    exact = replace(row)
    exact.__dict__["A"] = np.where(keep, row.A, 0.0)
    return exact


def every_point():
    numbers = [np.arange(LOW, HIGH + 1)] * NUMBERS
    for values in product(*numbers, *[range(len(group)) for group in GROUPS]):
        point = np.zeros(DIM)
        point[:NUMBERS] = values[:NUMBERS]
        for group, k in zip(GROUPS, values[NUMBERS:], strict=True):
            point[group[k]] = 1.0
        yield point


POINTS = np.array(list(every_point()))


def least_costs(task):
    inside = POINTS[task.cell.contains(POINTS)]
    out = []
    for own in task.centers:
        moved = (inside != own).astype(int)
        count = moved[:, :NUMBERS].sum(axis=1) + sum(moved[:, g].any(axis=1) for g in GROUPS)
        most = task.domain.max_changes
        can = inside if most is None else inside[count <= most]
        out.append(np.min(np.abs(can - own) @ task.weights, initial=np.inf))
    return np.array(out)


@pytest.mark.matrix(4)
@pytest.mark.parametrize("max_changes", [None, 1, 2])
@pytest.mark.parametrize("seed", range(25))
def test_equals_the_best_of_all_points(seed, max_changes):
    task = problem(seed, max_changes)
    assert is_separable_choice(task)
    answer, open_ = solve_separable_choice(task)
    best, bound = least_costs(task), answer.proofs.bounds(task)
    nowhere = np.isinf(best)
    assert not open_.any()
    assert len(answer.proofs.tree.kind) < 200  # multipliers close cases long before single points
    assert (answer.outcome[nowhere] == EMPTY).all()
    assert np.isinf(bound[nowhere]).all()
    assert (answer.outcome[~nowhere] == SOLVED).all()
    points, found = answer.points[~nowhere], best[~nowhere]
    cost = np.abs(points - task.centers[~nowhere]) @ task.weights
    assert task.cell.contains(points).all()
    assert not task.domain.take(np.flatnonzero(~nowhere)).violation(points).any()
    assert cost == pytest.approx(found, rel=1e-4)
    assert (bound[~nowhere] <= found * (1 + 1e-12)).all()
    assert (bound[~nowhere] >= cost * (1 - 2 * CASE_CLOSED)).all()


@pytest.mark.parametrize("seed", range(8))
def test_no_multipliers_prove_more_than_is_true(seed):
    task, rng = problem(seed, seed % 3 or None), np.random.default_rng(seed)
    answer, _ = solve_separable_choice(task)
    best = least_costs(task)
    for size in (0.1, 1.0, 1e3, 1e200):
        proofs = answer.proofs
        forged = replace(
            proofs,
            multipliers=proofs.multipliers + size * rng.normal(size=proofs.multipliers.shape),
            reach=proofs.reach * rng.choice([0.0, 0.9, 2.0, np.inf], size=len(proofs.reach)),
        )
        assert (forged.bounds(task) <= best * (1 + 1e-12)).all()


def test_what_the_proof_does_not_speak_of_is_not_proved():
    task = problem(3)
    answer, _ = solve_separable_choice(task)
    proofs = answer.proofs
    assert isinstance(proofs, SeparableBranchProofs)
    assert (proofs.bounds(task) > 0).any()
    free = replace(task, weights=np.where(np.arange(DIM) == 0, 0.0, task.weights))
    assert not proofs.bounds(free).any()
    mixed = AffineMap(np.eye(DIM) + np.eye(DIM, k=1), np.zeros(DIM))
    assert not proofs.bounds(replace(task, region=task.cell.pull_back(mixed))).any()
    more = replace(proofs, multipliers=np.hstack([proofs.multipliers] * 2))
    assert not more.bounds(task).any()


def test_all_of_a_point_at_the_center_is_not_empty():
    """A reach of 0 is reached by the cost of the only point."""
    task = problem(0)
    center = np.repeat(task.centers[:1], len(task), axis=0)
    every = Cell(np.zeros((1, DIM)), np.ones(1))
    alone = replace(task, region=every, centers=center, lower=center, upper=center,
                    domain=replace(task.domain, own=center))  # fmt: skip
    answer, _ = solve_separable_choice(replace(alone, region=problem_cell(every)))
    forged = replace(answer.proofs, reach=0.0 * answer.proofs.reach)
    assert not forged.bounds(replace(alone, region=problem_cell(every))).any()


def problem_cell(cell):
    return replace(cell, quadratics=(Quadratic.from_matrix(0 * np.eye(DIM), np.zeros(DIM), -1.0),))


def test_a_point_that_was_found_is_kept_where_nothing_better_comes(monkeypatch):
    """The search is given up at once, and the one after it finds nothing."""
    monkeypatch.setattr(solve, "MOST_CASES", 0)
    task = problem(3)
    found, open_ = solve_separable_choice(task)
    assert open_.any()

    def nothing(task, *given):
        points, outcome = np.full((len(task), DIM), np.nan), np.full(len(task), TROUBLE, np.int8)
        return Solved(points, outcome, NoProofs(len(task))), np.ones(len(task), dtype=bool)

    monkeypatch.setattr(mixed, "solve_mixed_curved", nothing)
    monkeypatch.setattr(mixed, "_left_open", lambda *given: np.zeros(0, dtype=np.int64))
    answer = choose_method(task.cell, task.domain).solve(task)
    np.testing.assert_array_equal(answer.points, found.points)
    assert (answer.outcome == found.outcome).all()


def test_naive_bayes_with_categories_is_proved():
    """It took a second a sample, and was left open where numbers are whole."""
    credit = train_credit_model()
    X, y = credit.train, credit.model.predict(credit.train)
    numbers = X.select_dtypes("number").columns.tolist()
    names = [name for name in X if name not in numbers]
    encode = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), names))
    model = make_pipeline(encode, GaussianNB())
    model.named_steps["columntransformer"].set_params(sparse_threshold=0.0)
    model.fit(X, y)
    rules = pertinent.Constraints(integer=numbers, max_changes=2)
    for constraints in (None, rules):
        found = pertinent.pertinent_negatives(model, X[:12], data=X, constraints=constraints)
        assert (found.status == "optimal").all()
        assert (model.predict(found.points) != model.predict(X[:12])).all()
