"""Certificates prove what they say, and nothing can be proved with wrong numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from pertinent.geometry.gaps import is_closed
from pertinent.geometry.region import Cell, CellUnion
from pertinent.geometry.task import Task
from pertinent.proofs import (
    Block,
    Certificate,
    LinearProofs,
    NoProofs,
    SeveralProofs,
    SingleRowProofs,
    SolverBounds,
    check,
    status_names,
)
from pertinent.proofs.core import concatenate, joined


def nearest_by_linprog(cell, center, weights):
    """The same projection by SciPy, with x = c + p - n."""
    d = cell.dim
    return linprog(
        np.r_[weights, weights],
        A_ub=np.c_[cell.G, -cell.G],
        b_ub=cell.h - cell.G @ center,
        bounds=np.c_[
            np.zeros(2 * d), np.r_[cell.upper - center, center - cell.lower].clip(0, None)
        ],
    )


def random_problem(seed, rows=4, d=5):
    rng = np.random.default_rng(seed)
    center = rng.normal(size=d)
    cell = Cell(
        rng.normal(size=(rows, d)),
        rng.normal(size=rows) - 1,
        (),
        center - rng.uniform(0.1, 3, d),
        center + rng.uniform(0.1, 3, d),
    )
    return cell, center, rng.uniform(0.5, 2, d), rng


@given(st.integers(0, 100_000))
def test_no_multipliers_prove_more_than_the_optimum(seed):
    """Weak duality: whatever the multipliers, the bound stays below the true optimum."""
    cell, center, weights, rng = random_problem(seed)
    best = nearest_by_linprog(cell, center, weights)
    y = rng.exponential(size=(1, 4)) * rng.choice([0, 1, 10], (1, 4))
    proof = LinearProofs(y, np.array([bool(rng.integers(2))]))
    bound = check(cell, center, weights, None, proof).bound
    if best.status == 0:
        assert bound <= best.fun + 1e-7
    row = SingleRowProofs(rng.integers(4, size=1), y[0, :1])
    if best.status == 0:
        assert check(cell, center, weights, None, row).bound <= best.fun + 1e-7


@given(st.integers(0, 100_000))
def test_the_dual_of_the_optimum_proves_it(seed):
    cell, center, weights, _ = random_problem(seed)
    best = nearest_by_linprog(cell, center, weights)
    if best.status != 0:
        return
    point = center + best.x[:5] - best.x[5:]
    proof = LinearProofs(-best.ineqlin.marginals[None], np.array([False]))
    verdict = check(cell, center, weights, point, proof, tol=1e-7)
    assert verdict.optimal
    assert verdict.feasible
    assert abs(verdict.gap) < 1e-6 * (1 + best.fun)


def test_unbounded_features_shrink_multipliers_until_they_are_dual_feasible():
    cell = Cell(np.array([[-2.0, 0.5]]), np.array([-4.0]))  # 2 x1 - x2/2 >= 4, distance 2
    for y in (0.1, 0.5, 3.0, 1e6):
        proof = LinearProofs(np.array([[y]]), np.array([False]))
        assert check(cell, np.zeros(2), np.ones(2), None, proof).bound <= 2.0
    exact = LinearProofs(np.array([[1e6]]), np.array([False]))
    assert check(cell, np.zeros(2), np.ones(2), None, exact).bound == pytest.approx(2.0)


def test_a_ray_proves_emptiness_only_where_it_is_one():
    # x1 + x2 >= 3 within the unit box: empty. Without the box: not empty.
    G, h = np.array([[-1.0, -1.0]]), np.array([-3.0])
    ray = LinearProofs(np.array([[1.0]]), np.array([True]))
    boxed = Cell(G, h, (), np.zeros(2), np.ones(2))
    assert check(boxed, np.zeros(2), np.ones(2), None, ray).infeasible
    assert not check(Cell(G, h), np.zeros(2), np.ones(2), None, ray).infeasible
    wide = Cell(G, h, (), np.zeros(2), np.full(2, 1.6))
    assert not check(wide, np.zeros(2), np.ones(2), None, ray).infeasible


def test_a_point_outside_is_never_optimal():
    cell = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))
    proof = LinearProofs(np.array([[0.5]]), np.array([False]))
    good = check(cell, np.zeros(2), np.ones(2), np.array([0.0, 1.0]), proof)
    assert good.optimal
    outside = check(cell, np.zeros(2), np.ones(2), np.array([0.0, 0.9]), proof)
    assert not outside.feasible
    assert not outside.optimal
    worse = check(cell, np.zeros(2), np.ones(2), np.array([2.0, 0.0]), proof)
    assert worse.feasible
    assert not worse.optimal
    limited = check(
        cell, np.zeros(2), np.ones(2), np.array([0.0, 1.0]), proof, upper=np.array([9.0, 0.5])
    )
    assert not limited.feasible


def test_contradictory_bounds_are_empty_without_any_ray():
    cell = Cell(np.zeros((0, 1)), np.zeros(0))
    proof = LinearProofs(np.zeros((1, 0)), np.array([False]))
    verdict = check(cell, np.zeros(1), np.ones(1), None, proof, lower=np.ones(1), upper=np.zeros(1))
    assert verdict.infeasible


def test_the_bound_of_a_union_is_its_weakest_piece():
    near = Cell(np.array([[-1.0]]), np.array([-1.0]))  # x >= 1
    far = Cell(np.array([[1.0]]), np.array([-5.0]))  # x <= -5
    region, zero = CellUnion((near, far)), np.zeros((1, 1))
    one = LinearProofs(np.array([[1.0]]), np.array([False]))
    rows = np.array([0])
    args = (region, zero, np.ones(1), np.array(-np.inf), np.array(np.inf))
    both = Certificate(1, (Block(0, rows, one), Block(1, rows, one)))
    assert both.bounds(Task.of(*args)) == pytest.approx([1.0], rel=1e-12)
    # Nothing is known about the far piece: nothing is proved.
    assert Certificate(1, (Block(0, rows, one),)).bounds(Task.of(*args)).tolist() == [0.0]
    vague = Certificate(1, (Block(0, rows, one), Block(1, rows, NoProofs(1))))
    assert vague.bounds(Task.of(*args)).tolist() == [0.0]


def test_certificates_of_batches_join_and_split():
    cell = Cell(np.array([[-1.0]]), np.array([-1.0]))
    centers = np.array([[0.0], [-1.0], [0.5]])
    limits = (np.array(-np.inf), np.array(np.inf))

    def single(y):
        return Certificate(
            1, (Block(0, np.array([0]), LinearProofs(np.array([[y]]), np.array([False]))),)
        )

    joined = concatenate([single(1.0), single(1.0), single(0.5)])
    proved = joined.bounds(Task.of(CellUnion((cell,)), centers, np.ones(1), *limits))
    assert proved == pytest.approx([1.0, 2.0, 0.25], rel=1e-12)
    some = joined.take(np.array([2, 0, 0]))
    again = some.bounds(Task.of(CellUnion((cell,)), centers[[2, 0, 0]], np.ones(1), *limits))
    assert again == pytest.approx([0.25, 1.0, 1.0], rel=1e-12)


def one_row(y, ray=1):
    return Certificate(
        1, (Block(0, np.array([0]), LinearProofs(np.array([[y]]), np.zeros(ray, dtype=bool))),)
    )


def test_proofs_of_one_kind_are_joined_to_one_block():
    task = Task.of(
        CellUnion((Cell(np.array([[-1.0]]), np.array([-1.0])),)),
        np.array([[0.0], [-1.0], [0.5]]),
        np.ones(1),
    )
    parts = [one_row(1.0), one_row(1.0), one_row(0.5)]
    together = joined(parts)
    assert [block.rows.tolist() for block in together.blocks] == [[0, 1, 2]]
    assert together.bounds(task).tolist() == concatenate(parts).bounds(task).tolist()


def test_proofs_of_another_number_of_rows_are_not_joined():
    """Else the proofs after them would move on to the next row."""
    task = Task.of(
        CellUnion((Cell(np.array([[-1.0]]), np.array([-1.0])),)),
        np.array([[0.0], [-1.0], [0.5]]),
        np.ones(1),
    )
    together = joined([one_row(1.0), one_row(1.0, ray=2), one_row(0.5)])
    assert [block.rows.tolist() for block in together.blocks] == [[0, 2], [1]]
    assert together.bounds(task) == pytest.approx([1.0, 0.0, 0.25], rel=1e-12)


def test_both_proofs_of_one_row_count():
    """The stronger one, wherever it stands."""
    task = Task.of(
        CellUnion((Cell(np.array([[-1.0]]), np.array([-1.0])),)), np.zeros((2, 1)), np.ones(1)
    )
    strong, weak = one_row(1.0).blocks[0], one_row(0.5).blocks[0]
    two = [Certificate(1, (strong, weak)), Certificate(1, (weak, strong))]
    assert joined(two).bounds(task) == pytest.approx([1.0, 1.0], rel=1e-12)


def test_names_of_the_statuses():
    names = status_names(np.arange(4, dtype=np.int8)).tolist()
    assert names == ["optimal", "feasible", "infeasible", "failed"]


def test_a_solvers_word_closes_no_gap_and_rules_out_no_point():
    """However large its claim: a gap of -1 is met by no bound."""
    one, none = np.ones(1), -np.ones(1)
    task = Task.of(Cell(np.zeros((0, 2)), np.zeros(0)), np.zeros((1, 2)), np.ones(2))
    for claimed in (1.0, 2.5, 100.0, np.inf):
        bound = SolverBounds(np.array([claimed]), "a solver").bounds(task)
        assert np.isfinite(bound).all()
        points = np.array([[1.0, 0.0]])
        assert not is_closed(one, bound, points, np.zeros((1, 2)), np.ones(2), none).any()


@pytest.mark.parametrize("rows", [1, 3])
def test_proofs_of_another_number_of_rows_prove_nothing(rows):
    """NumPy would let the proof of one row speak for all."""
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-2.0]))
    task = Task.of(CellUnion((cell,)), np.zeros((2, 2)), np.ones(2), -6.0, 6.0)
    y, ray = np.ones((2, 1)), np.zeros(2, dtype=bool)
    right = LinearProofs(y, ray)
    proved = Certificate(2, (Block(0, np.arange(2), right),)).bounds(task)
    assert proved == pytest.approx([2.0, 2.0], rel=1e-12)
    for proofs in (LinearProofs(np.ones((rows, 1)), ray), LinearProofs(y, np.zeros(rows, bool))):
        blocks = (Block(0, np.arange(2), proofs),)
        assert Certificate(2, blocks).bounds(task).tolist() == [0.0, 0.0]
        several = SeveralProofs(2, ((np.arange(2), proofs),))
        assert several.bounds(task.on(cell)).tolist() == [0.0, 0.0]


def test_proofs_of_another_number_of_rows_are_not_trusted():
    for n in (1, 3):
        certificate = Certificate(2, (Block(0, np.arange(2), NoProofs(n)),))
        assert certificate.trusted().tolist() == [False, False]
