"""Branch and bound against HiGHS, against enumeration, and its proofs against tampering."""

from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from pertinent.geometry.domain import Bins, Domain, Lattice
from pertinent.geometry.region import Cell, CellUnion
from pertinent.geometry.task import Task
from pertinent.proofs import check, status_names
from pertinent.proofs.cases.branch import SPLIT, BranchProofs
from pertinent.proofs.cases.narrowing import Boxes, narrow
from pertinent.solvers import choose_method, project
from pertinent.solvers.search.narrow import Boxes as Cases
from pertinent.solvers.search.narrow import narrow as narrow_cases


def judge(cell, domain, center, weights, lower, upper):
    """Return the optimum by HiGHS: x, then t >= |x - center|; inf if there is none."""
    d = domain.dim
    eye = np.eye(d)
    rows = [
        LinearConstraint(np.hstack([cell.G, np.zeros_like(cell.G)]), -np.inf, cell.h),
        LinearConstraint(np.hstack([eye, -eye]), -np.inf, center),
        LinearConstraint(np.hstack([-eye, -eye]), -np.inf, -center),
    ]
    integrality = np.zeros(2 * d)
    low, high = lower.copy(), upper.copy()
    for group in domain.groups:
        one = np.zeros(2 * d)
        one[group] = 1
        rows.append(LinearConstraint(one, 1, 1))
        integrality[group] = 1
        low[group], high[group] = np.maximum(low[group], 0), np.minimum(high[group], 1)
    integrality[domain.lattice] = 1  # whole numbers only
    answer = milp(
        np.concatenate([np.zeros(d), weights]),
        integrality=integrality,
        bounds=Bounds(np.concatenate([low, np.zeros(d)]), np.concatenate([high, np.full(d, 1e9)])),
        constraints=rows,
        options={"mip_rel_gap": 1e-9},
    )
    return answer.fun if answer.success else np.inf


def random_problem(rng, n_numbers=4, sizes=(3, 2), n_integers=2, n_rows=2, n=6):
    d = n_numbers + sum(sizes)
    starts = np.cumsum([n_numbers, *sizes])
    groups = tuple(np.arange(a, b) for a, b in pairwise(starts))
    decimals = np.full(d, np.nan)
    decimals[:n_integers] = 0
    domain = Domain(decimals, groups)
    cell = Cell(rng.normal(size=(n_rows, d)), rng.normal(size=n_rows) - 1.0)
    centers = rng.integers(-4, 5, size=(n, d)).astype(float)
    centers[:, n_integers:n_numbers] += rng.normal(size=(n, n_numbers - n_integers))
    for group in groups:
        centers[:, group] = np.eye(len(group))[rng.integers(len(group), size=n)]
    weights = rng.uniform(0.5, 2.0, size=d)
    lower, upper = np.full((n, d), -6.0), np.full((n, d), 6.0)
    return cell, domain, centers, weights, lower, upper


@pytest.mark.parametrize("seed", range(12))
def test_equals_highs(seed):
    rng = np.random.default_rng(seed)
    cell, domain, centers, weights, lower, upper = random_problem(
        rng, n_numbers=int(rng.integers(2, 6)), n_rows=int(rng.integers(1, 4))
    )
    found = project(centers, cell, weights, lower, upper, domain=domain)
    for i, center in enumerate(centers):
        truth = judge(cell, domain, center, weights, lower[i], upper[i])
        if np.isinf(truth):
            assert status_names(found.status)[i] == "infeasible"
        else:
            assert found.objective[i] == pytest.approx(truth, rel=1e-6, abs=1e-6)
            assert status_names(found.status)[i] == "optimal"
            assert found.bound[i] >= found.objective[i] * (1 - 1e-4)
            assert not domain.violation(found.points[[i]])[0]
            assert cell.violation(found.points[[i]])[0] <= 1e-9


def test_equals_enumeration_of_all_categories():
    rng = np.random.default_rng(5)
    cell, domain, centers, weights, lower, upper = random_problem(rng, 2, (3, 4, 2), 0, n_rows=3)
    found = project(centers, cell, weights, lower, upper, domain=domain)
    for i, center in enumerate(centers):
        best = np.inf
        for choice in product(*domain.groups):
            low, high = lower[[i]].copy(), upper[[i]].copy()
            low[:, domain.in_group], high[:, domain.in_group] = 0, 0
            low[:, list(choice)], high[:, list(choice)] = 1, 1
            one = project(center[None], cell, weights, low, high)
            best = min(best, one.objective[0] if one.piece[0] >= 0 else np.inf)
        assert (found.objective[i] if found.piece[i] >= 0 else np.inf) == pytest.approx(best)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_at_most_so_many_changes_equals_enumeration(most):
    rng = np.random.default_rng(most)
    d, n = 5, 8
    cell = Cell(rng.normal(size=(3, d)), np.full(3, -2.0))
    centers, weights = rng.normal(size=(n, d)), rng.uniform(0.5, 2, size=d)
    lower, upper = centers - 3, centers + 3
    domain = Domain(np.full(d, np.nan), max_changes=most, own=centers)
    found = project(centers, cell, weights, lower, upper, domain=domain)
    for i in range(n):
        best = np.inf
        for free in combinations(range(d), most):
            low, high = centers[[i]].copy(), centers[[i]].copy()
            low[:, list(free)], high[:, list(free)] = lower[i, list(free)], upper[i, list(free)]
            one = project(centers[[i]], cell, weights, low, high)
            best = min(best, one.objective[0] if one.piece[0] >= 0 else np.inf)
        value = found.objective[i] if found.piece[i] >= 0 else np.inf
        assert value == pytest.approx(best, rel=1e-7)
        assert status_names(found.status)[i] == ("infeasible" if np.isinf(best) else "optimal")


def test_features_that_change_together():
    cell = Cell(np.array([[-1.0, 0.0, 0.0, 1.0]]), np.array([-2.0]))  # x0 >= x3 + 2
    center = np.zeros((1, 4))
    domain = Domain(
        np.array([np.nan, np.nan, 0, np.nan]),
        together=(np.array([0, 1, 2]),),
        own=center,
        scale=np.ones(4),
    )
    found = project(center, cell, np.array([1.0, 1.0, 1.0, 3.0]), domain=domain)
    # x0 moves by 2, so x1 moves by its smallest change and x2 by one step; x3 alone costs 6.
    assert found.points[0, 0] == 2
    assert abs(found.points[0, 1]) == pytest.approx(1e-3)
    assert abs(found.points[0, 2]) == 1
    assert found.objective[0] == pytest.approx(3.001)
    assert status_names(found.status)[0] == "optimal"
    cheap = project(center, cell, np.array([1.0, 1.0, 1.0, 1.0]), domain=domain)
    assert cheap.points[0].tolist() == [0, 0, 0, -2]  # none of them changes


@pytest.mark.parametrize("seed", range(4))
def test_bins_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    edges = [np.array([-1.0, 0.5, 2.0]), np.array([0.0])]
    d, n = 2 + 1 + 4 + 2, 6  # two binned numbers, one free, and their indicators
    bins = (Bins(0, np.arange(3, 7), edges[0]), Bins(1, np.arange(7, 9), edges[1]))
    domain = Domain(np.full(d, np.nan), tuple(b.columns for b in bins), bins=bins)
    G = rng.normal(size=(2, d))
    G[:, 0] = 0  # seen by its bin only
    cell = Cell(G, rng.normal(size=2) - 1)
    centers = np.zeros((n, d))
    centers[:, :3] = rng.normal(size=(n, 3)) * 2
    for b in bins:
        centers[np.arange(n), b.columns[b.of(centers[:, b.column])]] = 1
    weights = np.concatenate([rng.uniform(0.5, 2, 3), np.zeros(6)])
    lower, upper = np.full((n, d), -9.0), np.full((n, d), 9.0)
    found = project(centers, cell, weights, lower, upper, domain=domain)
    for i in range(n):
        best = np.inf
        for one, two in product(range(4), range(2)):
            low, high = lower[[i]].copy(), upper[[i]].copy()
            low[:, 3:], high[:, 3:] = 0, 0
            for b, k in zip(bins, (one, two), strict=True):
                low[:, b.columns[k]] = high[:, b.columns[k]] = 1
                low[:, b.column] = max(low[0, b.column], b.low[k])
                high[:, b.column] = min(high[0, b.column], b.high[k])
            answer = project(centers[[i]], cell, np.where(weights > 0, weights, 1), low, high)
            if answer.piece[0] >= 0:
                best = min(best, (weights * np.abs(answer.points[0] - centers[i])).sum())
        value = found.objective[i] if found.piece[i] >= 0 else np.inf
        assert value == pytest.approx(best, rel=1e-6)
        assert status_names(found.status)[i] == ("infeasible" if np.isinf(best) else "optimal")


def test_own_values_off_the_lattice_may_stay():
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-3.0]))  # x0 + x1 >= 3
    center = np.array([[0.5, 0.25]])
    domain = Domain(np.array([0.0, 0.0]), own=center)
    found = project(center, cell, np.array([1.0, 5.0]), domain=domain)
    assert found.points.tolist() == [[3.0, 0.25]]
    strict = project(center, cell, np.array([1.0, 5.0]), domain=Domain(np.array([0.0, 0.0])))
    assert strict.points.tolist() == [[3.0, 0.0]]


def test_decimals_are_the_numbers_that_are_shown():
    steps = np.arange(-2000, 2000)
    values = Lattice(2).at(steps)
    assert all(float(f"{v:.2f}") == v for v in values)
    assert Lattice(2).has(values).all()
    assert not Lattice(1).has(np.array([0.1 + 0.2])).any()


def mixed_answer():
    rng = np.random.default_rng(3)
    cell, domain, centers, weights, lower, upper = random_problem(rng, n_integers=4, n=1)
    found = project(centers, cell, weights, lower, upper, domain=domain)
    proofs = found.certificate.blocks[0].proofs
    assert isinstance(proofs, BranchProofs)
    return Task(cell, centers, weights, lower, upper, domain=domain), found, proofs


def test_a_tree_is_replayed_without_the_solver():
    task, found, proofs = mixed_answer()
    verdict = check(
        task.cell,
        task.centers[0],
        task.weights,
        found.points[0],
        proofs,
        lower=task.lower[0],
        upper=task.upper[0],
        domain=task.domain,
    )
    assert verdict.optimal or verdict.gap <= 1e-4 * verdict.objective


def test_a_tree_that_loses_a_value_proves_nothing():
    task, _, proofs = mixed_answer()
    splits = np.flatnonzero(proofs.tree.kind == SPLIT)
    assert len(splits)
    high = proofs.tree.high.copy()
    high[splits[0]] += 1.0  # one whole number between the two cases is forgotten
    forged = replace(proofs, tree=replace(proofs.tree, high=high))
    assert proofs.bounds(task)[0] > 0
    assert forged.bounds(task)[0] == 0


def test_multipliers_of_the_wrong_sign_prove_nothing():
    task, found, proofs = mixed_answer()
    forged = replace(proofs, multipliers=-proofs.multipliers)
    assert forged.bounds(task)[0] <= found.objective[0] * 0.5


def test_narrowing_keeps_every_allowed_point():
    rng = np.random.default_rng(0)
    _, domain, centers, _, lower, upper = random_problem(rng, n=50)
    box, empty = narrow(
        domain, Boxes(np.arange(50), lower, upper, np.zeros((50, 0), dtype=np.int8))
    )
    assert not empty.any()
    assert ((centers >= box.lower) & (centers <= box.upper))[:, domain.in_group].all()


def test_each_row_by_itself_gives_the_same_bytes():
    rng = np.random.default_rng(7)
    cell, domain, centers, weights, lower, upper = random_problem(rng, n=10)
    both = project(centers, cell, weights, lower, upper, domain=domain)
    for i in range(10):
        one = project(centers[[i]], cell, weights, lower[[i]], upper[[i]], domain=domain)
        np.testing.assert_array_equal(one.points[0], both.points[i])


def test_union_takes_the_best_piece():
    rng = np.random.default_rng(11)
    cell, domain, centers, weights, lower, upper = random_problem(rng, n=8)
    other = Cell(rng.normal(size=cell.G.shape), cell.h)
    both = project(centers, CellUnion((cell, other)), weights, lower, upper, domain=domain)
    each = [project(centers, c, weights, lower, upper, domain=domain) for c in (cell, other)]
    best = np.fmin(each[0].objective, each[1].objective)
    np.testing.assert_allclose(both.objective, best, rtol=1e-9)


def test_the_method_says_why():
    method = choose_method(Cell(np.ones((1, 2)), np.zeros(1)), Domain(np.zeros(2)))
    assert method.name == "branch and bound"


def test_linprog_agrees_that_nothing_is_left():
    cell = Cell(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.9, -0.1]))  # 0.1 <= x0 <= 0.9
    assert linprog(np.zeros(2), A_ub=cell.G, b_ub=cell.h, bounds=(None, None)).success
    found = project(np.zeros((1, 2)), cell, domain=Domain(np.array([0.0, np.nan])))
    assert status_names(found.status)[0] == "infeasible"


def test_all_groups_at_once_are_narrowed_as_one_by_one():
    rng = np.random.default_rng(5)
    groups = (np.array([0, 1]), np.array([3, 4, 5]), np.array([6]))
    domain = Domain(np.full(8, np.nan), groups)
    low = rng.choice([0.0, 0.0, 0.0, 0.2, 1.0], (400, 8))
    high = np.maximum(low, rng.choice([0.0, 0.6, 1.0, 1.0], (400, 8)))
    state = np.zeros((400, 0), dtype=np.int8)
    rows = np.arange(400)
    found, none = narrow_cases(domain, Cases(rows, low, high, state))
    trusted, empty = narrow(domain, Boxes(rows, low, high, state))
    assert (none == empty).all()
    assert 50 < empty.sum() < 350
    left = ~empty
    assert (found.lower[left] == trusted.lower[left]).all()
    assert (found.upper[left] == trusted.upper[left]).all()
