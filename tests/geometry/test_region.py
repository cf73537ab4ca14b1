"""Geometry: membership, intersection, pull-back, restriction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.exceptions import InputError
from pertinent.geometry.region import (
    AffineMap,
    Cell,
    CellUnion,
    Quadratic,
    missing_operations,
    row_products,
)


def random_cell(rng: np.random.Generator, d: int = 3) -> Cell:
    A = rng.normal(size=(d, d))
    return Cell(
        rng.normal(size=(2, d)),
        rng.normal(size=2) + 1,
        (Quadratic.from_matrix(A + A.T, rng.normal(size=d), -1.0),),
        np.array([-2.0, -np.inf, -1.0]),
        np.array([2.0, 1.0, np.inf]),
    )


def clear_of_boundary(cell: Cell, points: np.ndarray) -> np.ndarray:
    return np.abs(cell.violation(points)) > 1e-9


def test_contains_is_every_inequality(rng):
    cell, X = random_cell(rng), rng.normal(size=(500, 3))
    A, q, c = cell.quadratics[0].A, cell.quadratics[0].q, cell.quadratics[0].c
    by_hand = (
        (cell.h >= X @ cell.G.T).all(1)
        & (np.einsum("ni,ij,nj->n", X, A, X) + X @ q + c <= 0)
        & (cell.lower <= X).all(1)
        & (cell.upper >= X).all(1)
    )
    clear = clear_of_boundary(cell, X)
    assert by_hand.any()
    assert not by_hand.all()
    assert (cell.contains(X) == by_hand)[clear].all()


def test_intersection_of_cells_and_regions(rng):
    cells = [random_cell(rng) for _ in range(4)]
    X = rng.normal(size=(500, 3))
    both = cells[0].intersect(cells[1])
    assert (both.contains(X) == (cells[0].contains(X) & cells[1].contains(X))).all()
    one, two = CellUnion(tuple(cells[:2])), CellUnion(tuple(cells[2:]))
    product = one.intersect(two)
    assert len(product) == 4
    assert (product.contains(X) == (one.contains(X) & two.contains(X))).all()
    assert (one.union(two).contains(X) == (one.contains(X) | two.contains(X))).all()


@pytest.mark.parametrize("diagonal", [True, False])
def test_pull_back_says_the_same_of_the_image(rng, diagonal):
    cell = random_cell(rng)
    through = AffineMap(rng.normal(size=3 if diagonal else (3, 5)), rng.normal(size=3))
    Z = rng.normal(size=(500, through.dim_in))
    images = through(Z)
    clear = clear_of_boundary(cell, images)
    assert (cell.pull_back(through).contains(Z) == cell.contains(images))[clear].all()
    assert cell.contains(images).any()


def test_maps_compose(rng):
    inner = AffineMap(rng.normal(size=(3, 4)), rng.normal(size=3))
    Z = rng.normal(size=(10, 4))
    for outer in (
        AffineMap(rng.normal(size=3), rng.normal(size=3)),
        AffineMap(rng.normal(size=(2, 3)), rng.normal(size=2)),
    ):
        np.testing.assert_allclose(outer.after(inner)(Z), outer(inner(Z)), atol=1e-12)
    twice = AffineMap(np.array([2.0, 3.0]), np.ones(2))
    assert twice.after(twice).is_diagonal
    np.testing.assert_allclose(twice.after(twice)(np.eye(2)), twice(twice(np.eye(2))))


def test_restrict_fixes_features(rng):
    cell = random_cell(rng)
    fixed, values = np.array([False, True, False]), np.array([0.0, 0.5, 0.0])
    rest = rng.normal(size=(300, 2))
    whole = np.stack([rest[:, 0], np.full(300, 0.5), rest[:, 1]], axis=1)
    clear = clear_of_boundary(cell, whole)
    assert (cell.restrict(fixed, values).contains(rest) == cell.contains(whole))[clear].all()
    outside = cell.restrict(fixed, np.array([0.0, 5.0, 0.0]))
    assert not outside.contains(rest).any()


def test_tighten_moves_each_row_by_its_slope():
    cell = Cell(np.array([[4.0, -2.0]]), np.array([1.0]))
    assert cell.tighten(0.5).h[0] == 1.0 - 0.5 * 4.0
    assert cell.tighten(0.0) is cell


@given(st.integers(0, 10_000))
def test_tightened_cells_lie_inside(seed):
    rng = np.random.default_rng(seed)
    cell, X = random_cell(rng), rng.normal(size=(50, 3))
    assert (cell.contains(X) | ~cell.tighten(0.01).contains(X)).all()


def test_quadratic_from_matrix_keeps_values_and_gradients(rng):
    A = rng.normal(size=(4, 4))
    A = A + A.T
    q, X = rng.normal(size=4), rng.normal(size=(6, 4))
    row = Quadratic.from_matrix(A, q, 0.3)
    np.testing.assert_allclose(row.A, A, atol=1e-12)
    np.testing.assert_allclose(row.value(X), np.einsum("ni,ij,nj->n", X, A, X) + X @ q + 0.3)
    step = 1e-6
    for j in range(4):
        shifted = X + step * np.eye(4)[j]
        slope = (row.value(shifted) - row.value(X)) / step
        np.testing.assert_allclose(row.gradient(X)[:, j], slope, atol=1e-4)
    assert not row.is_convex
    assert Quadratic.from_matrix(np.eye(2), np.zeros(2), -1.0).is_convex


def test_products_do_not_depend_on_the_batch(rng):
    X, G = rng.normal(size=(257, 61)), rng.normal(size=(9, 61))
    whole = row_products(X, G)
    np.testing.assert_allclose(whole, X @ G.T, atol=1e-12)
    for size in (1, 3, 64):
        parts = [row_products(X[i : i + size], G) for i in range(0, len(X), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_an_empty_region_contains_nothing():
    assert not CellUnion((), 2).contains(np.zeros((3, 2))).any()
    with pytest.raises(InputError, match="number of features"):
        CellUnion(())


def test_shapes_are_checked():
    with pytest.raises(InputError, match="2 rows and h has 1"):
        Cell(np.zeros((2, 3)), np.zeros(1))
    with pytest.raises(InputError, match="lower has shape"):
        Cell(np.zeros((1, 3)), np.zeros(1), lower=np.zeros(2))
    with pytest.raises(InputError, match="Expected 3 features, got 2"):
        Cell.whole_space(3).intersect(Cell.whole_space(2))


def test_terms_follow_every_change_of_a_cell():
    """A row 0.5 x1 <= 1 that is the difference of scores with terms 10 |x1| + 3 |x2| + 7."""
    terms = np.array([[10.0, 3.0, 7.0]])
    cell = Cell(np.array([[0.5, 0.0]]), np.array([1.0]), magnitudes=terms)
    np.testing.assert_array_equal(cell.tighten(0.1).terms, terms)
    np.testing.assert_array_equal(CellUnion((cell,)).complement().cells[0].terms, terms)
    other = Cell(np.array([[-2.0, 1.0]]), np.array([-4.0]))
    np.testing.assert_array_equal(other.terms, [[2.0, 1.0, 4.0]])
    np.testing.assert_array_equal(cell.intersect(other).terms, [[10, 3, 7], [2, 1, 4]])
    pulled = cell.pull_back(AffineMap(np.array([[1.0, -2.0], [0.0, 1.0]]), np.array([-1.0, 2.0])))
    np.testing.assert_array_equal(pulled.terms, [[10.0, 23.0, 23.0]])
    diagonal = cell.pull_back(AffineMap(np.array([-2.0, 1.0]), np.array([0.0, 1.0])))
    np.testing.assert_array_equal(diagonal.terms, [[20.0, 3.0, 10.0]])


def test_what_is_no_region_says_what_it_lacks():
    assert missing_operations(CellUnion((), 2)) == []
    assert {"contains", "pull_back", "rounding"} <= set(missing_operations("a word"))
