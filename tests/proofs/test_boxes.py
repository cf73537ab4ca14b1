"""Boxes that end nowhere: what a curved row is worth at infinity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.geometry.cell import Cell, Exponential
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.rounding import MarginRows
from pertinent.proofs.boxes import lies_in, worst_quadratic

UNIT = 1e-15
SQUARES, SLOPES = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0]), st.sampled_from([-1.0, 0.0, 1.0])
ENDS = st.sampled_from([-np.inf, -3.0, -1.0, 0.0, 2.0, 4.0, np.inf])


def parabola(a, b, c):
    """Return ``sum_i a_i x_i^2 + b_i x_i + c <= 0`` as a row."""
    a, b = np.atleast_1d(np.asarray(a, dtype=float)), np.atleast_1d(np.asarray(b, dtype=float))
    roots = np.diag(np.sqrt(np.abs(a)))
    return Quadratic(roots[a > 0], roots[a < 0], b, c)


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, 0.0), (-np.inf, np.inf)])
@pytest.mark.parametrize(("a", "b"), [(1.0, 0.0), (1.0, -3.0), (1.0, 3.0), (0.5, 0.0)])
def test_a_row_that_rises_without_end_holds_in_no_endless_box(a, b, low, high):
    """The largest ``a t^2 + b t`` is infinite where a > 0; it was taken for its smallest value."""
    row = parabola(a, b, -100.0)
    assert worst_quadratic(row, np.array([low]), np.array([high]), UNIT) == np.inf
    piece = MarginRows.as_written(Cell(np.zeros((0, 1)), np.zeros(0), (row,)))
    assert not lies_in(piece, np.array([low]), np.array([high]), UNIT)
    assert lies_in(piece, np.array([0.0]), np.array([1.0]), UNIT)


@given(
    st.lists(SQUARES, min_size=2, max_size=2),
    st.lists(SLOPES, min_size=2, max_size=2),
    st.lists(st.tuples(ENDS, ENDS), min_size=2, max_size=2),
)
def test_no_point_of_a_box_exceeds_its_worst(a, b, ends):
    """Judged at many points, a thousand times farther than all else where a side has no end."""
    low, high = np.sort(np.array(ends), axis=1).T
    if (low == np.inf).any() or (high == -np.inf).any():
        return
    row = parabola(a, b, 0.0)
    worst = worst_quadratic(row, low, high, UNIT)
    sides = [np.linspace(*np.clip(side, -1e4, 1e4), 41) for side in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    values = points**2 @ a + points @ b
    assert values.max() <= worst + 1e-9
    if np.isfinite(low).all() and np.isfinite(high).all() and np.isfinite(worst):
        assert worst <= values.max() + 1.0  # and not far above: peaks lie between the points


def test_a_column_without_weight_closes_no_row():
    """Open on both sides it counted as minus infinity, and every row held."""
    below = MarginRows.as_written(Cell(np.array([[0.0, 1.0]]), np.array([1.0])))
    low, high = np.array([-np.inf, 0.0]), np.array([np.inf, 5.0])
    assert not lies_in(below, low, high, UNIT)
    assert lies_in(below, low, np.array([np.inf, 0.5]), UNIT)


@given(
    st.lists(st.lists(SLOPES, min_size=3, max_size=3), min_size=1, max_size=2),
    st.lists(st.tuples(ENDS, ENDS), min_size=3, max_size=3),
    st.sampled_from([-1.0, 0.0, 2.0, 7.0]),
)
def test_a_box_lies_in_a_cell_exactly_where_its_worst_corner_does(slopes, ends, right):
    low, high = np.sort(np.array(ends), axis=1).T
    if (low == np.inf).any() or (high == -np.inf).any():
        return
    G = np.array(slopes)
    cell = MarginRows.as_written(Cell(G, np.full(len(G), right)))
    corner = np.where(G > 0, np.clip(high, -1e9, 1e9), np.clip(low, -1e9, 1e9))
    worst = (G * corner).sum(axis=1).max()
    if abs(worst - right) > 1e-6:
        assert lies_in(cell, low, high, UNIT) == (worst < right)


@given(
    st.lists(st.lists(SLOPES, min_size=2, max_size=2), min_size=1, max_size=3),
    st.lists(st.tuples(ENDS, ENDS), min_size=2, max_size=2),
)
def test_no_point_of_a_box_exceeds_an_exponential_row(weights, ends):
    low, high = np.sort(np.array(ends), axis=1).T
    if (low == np.inf).any() or (high == -np.inf).any():
        return
    row = Exponential(np.array(weights), np.full(len(weights), -1.0))
    piece = MarginRows.as_written(Cell(np.zeros((0, 2)), np.zeros(0), exponentials=(row,)))
    sides = [np.linspace(*np.clip(side, -200, 200), 21) for side in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    if lies_in(piece, low, high, UNIT):
        assert row.value(points).max() <= 0


@given(st.data())
def test_of_a_group_of_columns_exactly_one_is_1(data):
    """The worst point of a linear row, over all that one category and one number can be."""
    row = np.array(data.draw(st.lists(st.integers(-4, 4), min_size=4, max_size=4)), dtype=float)
    allowed = data.draw(st.lists(st.booleans(), min_size=3, max_size=3).filter(any))
    limit = data.draw(st.integers(-12, 12)) + 0.5
    low, high = np.array([-1.0, 0, 0, 0]), np.array([2.0, *map(float, allowed)])
    points = [[end, *one] for end in (-1.0, 2.0) for one in np.eye(3)[np.array(allowed)]]
    worst = (np.array(points) @ row).max()
    piece = MarginRows.as_written(Cell(row[None], np.array([limit])))
    assert lies_in(piece, low, high, UNIT, [np.arange(1, 4)]) == (worst <= limit)
