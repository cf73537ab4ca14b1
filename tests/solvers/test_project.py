"""The one problem against HiGHS and brute force; which method; unions; uniqueness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from pertinent.exceptions import InputError
from pertinent.geometry.region import Cell, CellUnion
from pertinent.proofs import FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.options import Options
from pertinent.solvers import choose_method, project


def judge(cell, center, weights, lower, upper):
    """SciPy's HiGHS on x and t >= |x - c|: another formulation by another route."""
    d = cell.dim
    eye = np.eye(d)
    A = np.vstack(
        [
            np.c_[cell.G, np.zeros((len(cell.G), d))],
            np.c_[eye, -eye],
            np.c_[-eye, -eye],
        ]
    )
    b = np.r_[cell.h, center, -center]
    bounds = [*zip(lower, upper, strict=True), *[(0, None)] * d]
    found = linprog(np.r_[np.zeros(d), weights], A_ub=A, b_ub=b, bounds=bounds)
    return np.inf if found.status == 2 else found.fun


def draw(seed, rows, d=6, n=5):
    rng = np.random.default_rng(seed)
    cell = Cell(np.round(rng.normal(size=(rows, d)), 1), np.round(rng.normal(size=rows) - 1, 1))
    centers = np.round(rng.normal(size=(n, d)), 1)
    lower = np.where(rng.random((n, d)) < 0.5, centers - rng.exponential(size=(n, d)), -np.inf)
    upper = np.where(rng.random((n, d)) < 0.5, centers + rng.exponential(size=(n, d)), np.inf)
    frozen = rng.random((n, d)) < 0.3
    lower, upper = np.where(frozen, centers, lower), np.where(frozen, centers, upper)
    return cell, centers, np.round(rng.uniform(0.5, 2, d), 1), lower, upper, rng


@given(st.integers(0, 100_000), st.sampled_from([0, 1, 2, 5]), st.booleans())
def test_agrees_with_highs(seed, rows, boxed):
    cell, centers, weights, lower, upper, _ = draw(seed, rows)
    if not boxed:
        lower, upper = np.full_like(centers, -np.inf), np.full_like(centers, np.inf)
    found = project(centers, cell, weights, lower, upper)
    for i in range(len(centers)):
        best = judge(cell, centers[i], weights, lower[i], upper[i])
        if np.isinf(best):
            assert found.status[i] == INFEASIBLE
            assert np.isnan(found.points[i]).all()
            continue
        assert found.status[i] == OPTIMAL
        assert found.objective[i] == pytest.approx(best, abs=1e-6)
        assert cell.contains(found.points[i : i + 1], tol=1e-9).all()
        assert (found.points[i] >= lower[i]).all()
        assert (found.points[i] <= upper[i]).all()


@given(st.integers(0, 100_000), st.booleans())
def test_a_center_outside_its_bounds_pays_for_entering_them(seed, one_row):
    cell, centers, weights, _, _, rng = draw(seed, 1 if one_row else 3)
    lower = centers + rng.uniform(-1, 1, centers.shape)
    upper = lower + rng.uniform(0, 2, centers.shape)
    found = project(centers, cell, weights, lower, upper)
    for i in range(len(centers)):
        best = judge(cell, centers[i], weights, lower[i], upper[i])
        if np.isinf(best):
            assert found.status[i] == INFEASIBLE
        else:
            assert found.status[i] == OPTIMAL
            assert found.objective[i] == pytest.approx(best, abs=1e-6)


@given(st.integers(0, 100_000))
def test_a_union_is_its_best_piece_with_and_without_skipping(seed):
    rng = np.random.default_rng(seed)
    cells = tuple(Cell(rng.normal(size=(3, 4)), rng.normal(size=3) - 1) for _ in range(6))
    centers = rng.normal(size=(8, 4))
    skipping = project(centers, CellUnion(cells))
    plain = project(centers, CellUnion(cells), skip=False)
    alone = np.stack([project(centers, cell).objective for cell in cells], axis=1)
    best = np.where(np.isnan(alone), np.inf, alone).min(axis=1)
    for found in (skipping, plain):
        np.testing.assert_allclose(found.objective, best, rtol=1e-9)
        assert (found.status == OPTIMAL).all()
    assert skipping.solved <= plain.solved
    backwards = project(centers, CellUnion(cells[::-1]))
    np.testing.assert_allclose(backwards.objective, best, rtol=1e-9)


def test_pieces_that_cannot_win_are_skipped_and_stay_in_the_bound():
    near = Cell(np.array([[-1.0, 0.0]]), np.array([-1.0]))
    far = Cell(np.array([[-1.0, 0.0], [0.0, -1.0]]), np.array([-50.0, -50.0]))
    found = project(np.zeros((3, 2)), CellUnion((far, near)))
    assert found.solved == 3  # not 6
    assert found.piece.tolist() == [1, 1, 1]
    # What rounding may have added is taken off.
    assert found.bound.tolist() == pytest.approx([1.0, 1.0, 1.0], rel=1e-13)


def test_a_union_with_an_empty_piece():
    empty = Cell(np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0]))
    right = Cell(np.array([[-1.0]]), np.array([-2.0]))
    found = project(np.zeros((1, 1)), CellUnion((empty, right)))
    assert found.status[0] == OPTIMAL
    assert found.objective[0] == 2.0
    nothing = project(np.zeros((1, 1)), CellUnion((empty, empty)))
    assert nothing.status[0] == INFEASIBLE
    assert np.isinf(nothing.bound[0])
    assert project(np.zeros((2, 1)), CellUnion((), 1)).status.tolist() == [INFEASIBLE, INFEASIBLE]


def test_one_can_ask_which_method_and_why():
    assert choose_method(Cell.whole_space(2)).name == "bounds"
    assert choose_method(Cell(np.ones((1, 2)), np.ones(1))).name == "half-space"
    method = choose_method(Cell(np.ones((3, 2)), np.ones(3)))
    assert method.name == "dual simplex"
    assert "3 linear rows" in method.why
    found = project(np.zeros((1, 2)), Cell(np.ones((3, 2)), np.ones(3)))
    assert [m.name for m in found.methods] == ["dual simplex"]


@pytest.mark.parametrize("engine", ["compiled", "highs"])
def test_engines_agree(engine, rng):
    cell = Cell(rng.normal(size=(5, 8)), rng.normal(size=5) - 1)
    centers = rng.normal(size=(50, 8))
    lower, upper = centers - 0.7, centers + 0.7
    own = project(centers, cell, None, lower, upper)
    other = project(centers, cell, None, lower, upper, Options(engine=engine))
    assert (own.status == other.status).all()
    np.testing.assert_allclose(own.points, other.points, atol=1e-7, equal_nan=True)


def test_an_unknown_engine_is_named():
    with pytest.raises(InputError, match="engine must be"):
        project(np.ones((1, 2)), Cell(np.eye(2), np.zeros(2)), options=Options(engine="magic"))


@example(9, 3)  # a multiplier of 1e-17, left by rounding, holds no row tight
@given(st.integers(0, 100_000), st.sampled_from([1, 3]))
def test_uniqueness_is_right_where_it_is_decided(seed, rows):
    """Small integers make ties common; the verdict is judged by optimising random directions."""
    rng = np.random.default_rng(seed)
    cell = Cell(rng.integers(-2, 3, (rows, 3)).astype(float), rng.integers(-4, 0, rows) * 1.0)
    centers = rng.integers(-1, 2, (4, 3)).astype(float)
    lower, upper = centers - 3.0, centers + 3.0
    found = project(centers, cell, None, lower, upper)
    for i in np.flatnonzero(found.status == OPTIMAL):
        apart = spread_of_optima(cell, centers[i], lower[i], upper[i], found.objective[i], rng)
        if found.unique[i] == 1:
            assert apart < 1e-5
        if found.unique[i] == 0:
            other = found.second[int(i)]
            assert cell.contains(other[None], tol=1e-9)[0]
            assert ((other >= lower[i] - 1e-9) & (other <= upper[i] + 1e-9)).all()
            assert np.abs(other - centers[i]).sum() == pytest.approx(found.objective[i], abs=1e-7)
            assert np.abs(other - found.points[i]).max() > 1e-9


def spread_of_optima(cell, center, lower, upper, value, rng):
    """How far apart two optima are, seen along random directions."""
    d, eye = cell.dim, np.eye(cell.dim)
    A = np.vstack(
        [
            np.c_[cell.G, np.zeros((len(cell.G), d))],
            np.c_[eye, -eye],
            np.c_[-eye, -eye],
            np.r_[np.zeros(d), np.ones(d)][None],
        ]
    )
    b = np.r_[cell.h, center, -center, value + 1e-9]
    bounds = [*zip(lower, upper, strict=True), *[(0, None)] * d]
    widest = 0.0
    for direction in rng.normal(size=(3, d)):
        ends = [
            linprog(np.r_[sign * direction, np.zeros(d)], A_ub=A, b_ub=b, bounds=bounds).fun
            for sign in (1, -1)
        ]
        widest = max(widest, -ends[1] - ends[0])
    return widest


def test_duplicated_features_are_not_unique():
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-1.0]))
    found = project(np.zeros((1, 2)), cell)
    assert found.unique[0] == 0
    assert found.second[0].sum() == pytest.approx(1.0)


def test_a_tie_between_pieces_is_shown():
    left = Cell(np.array([[1.0]]), np.array([-1.0]))
    right = Cell(np.array([[-1.0]]), np.array([-1.0]))
    found = project(np.zeros((1, 1)), CellUnion((left, right)))
    assert found.unique[0] == 0
    assert found.points[0, 0] == -1.0  # the first piece wins a tie
    assert found.second[0][0] == 1.0


def test_rows_do_not_depend_on_their_neighbours(rng):
    cells = tuple(Cell(rng.normal(size=(4, 7)), rng.normal(size=4) - 1) for _ in range(3))
    centers = rng.normal(size=(40, 7))
    whole = project(centers, CellUnion(cells))
    for i in range(0, 40, 7):
        one = project(centers[i : i + 1], CellUnion(cells))
        assert one.points.tobytes() == whole.points[i : i + 1].tobytes()
        assert one.bound.tobytes() == whole.bound[i : i + 1].tobytes()


def test_status_names_are_distinct():
    assert len({OPTIMAL, FEASIBLE, INFEASIBLE}) == 3


@given(st.integers(0, 100_000))
def test_few_rows_are_filled_as_many_are_to_the_bit(seed):
    """Small numbers and open sides make ties, exact ends and unmet rows common."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 7)), 20
    g = rng.choice([0.0, 1.0, -1.0, 2.5, 0.3], d)
    low = np.where(rng.random((n, d)) < 0.3, -np.inf, -0.1 * rng.integers(0, 30, (n, d)))
    high = np.where(rng.random((n, d)) < 0.3, np.inf, 0.1 * rng.integers(0, 30, (n, d)))
    centers = rng.choice([0.0, 1.0, 0.1, -0.7], (n, d))
    cell = Cell(g[None], np.array([rng.choice([0.0, -1.0, -0.3])]))
    weights = rng.choice([1.0, 2.0, 0.5], d)
    together = project(centers, cell, weights, low, high)
    for i in range(0, n, 4):
        some = slice(i, i + 4)
        alone = project(centers[some], cell, weights, low[some], high[some])
        assert alone.points.tobytes() == together.points[some].tobytes()
        assert alone.bound.tobytes() == together.bound[some].tobytes()
        assert alone.unique.tobytes() == together.unique[some].tobytes()


def test_a_second_optimum_beyond_an_open_side_is_seen():
    """Half of the way to the bound costs the same: the open side of the face must not hide it."""
    cell = Cell(np.array([[-1.0, 1.0], [-1.0, 1.0]]), np.array([0.0, 1.0]))
    low, high = np.array([[-3.0, -np.inf]]), np.array([[-1.0, 4.0]])
    found = project(np.array([[-2.0, 2.0]]), cell, np.array([2.0, 2.0]), low, high)
    assert found.objective[0] == 8.0
    assert found.unique[0] == 0
    other = found.second[0]
    assert np.abs(other - found.points[0]).max() > 1e-6
    assert 2 * np.abs(other - [-2.0, 2.0]).sum() == pytest.approx(8.0)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_other_of_two_tied_pieces_is_the_second_optimum(order):
    """x <= -1, and x + 2y >= 1 with y <= 0, which has the smaller cheap bound and goes first."""
    left = Cell(np.array([[1.0, 0.0]]), np.array([-1.0]))
    right = Cell(np.array([[-1.0, -2.0], [0.0, 1.0]]), np.array([-1.0, 0.0]))
    cells = [left, right]
    found = project(np.zeros((1, 2)), CellUnion(tuple(cells[k] for k in order)))
    assert found.unique[0] == 0
    assert found.piece[0] == 0
    assert sorted([found.points[0].tolist(), found.second[0].tolist()]) == [[-1.0, 0.0], [1.0, 0.0]]
