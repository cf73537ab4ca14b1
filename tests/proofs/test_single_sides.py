"""Curved rows, bins and slopes, each check by itself: which sides of a box must be looked at.

Every claim that is refused here is false by hand, and only the check behind it refuses it.
"""

import numpy as np
import pytest

from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Bins
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs import LinearProofs
from pertinent.proofs.cases.narrowing import _number_in_bins, _one_is_chosen
from pertinent.proofs.cases.separable import SeparableProofs
from pertinent.proofs.sweep import SweepProofs

INF, NO = np.inf, np.array([False])


def task(cell, low=-9.0, high=9.0):
    """Return the question for the nearest point of a cell, seen from 0."""
    shape = (1, cell.dim)
    ends = [np.broadcast_to(np.asarray(end, float), shape).copy() for end in (low, high)]
    return Task(cell, np.zeros(shape), np.ones(cell.dim), *ends)


# -- Categories and bins -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "then", "empty"),
    [
        ([0, 0, 0], [1, 1, 0], ([0, 0, 0], [1, 1, 0]), False),
        ([0, 0, 0], [0, 1, 0], ([0, 1, 0], [0, 1, 0]), False),
        ([0, 1, 0], [1, 1, 1], ([0, 1, 0], [0, 1, 0]), False),
        ([0, 0, 0], [0, 0, 0], ([0, 0, 0], [0, 0, 0]), True),
        ([1, 1, 0], [1, 1, 1], ([0, 0, 0], [0, 0, 0]), True),
    ],
)
def test_exactly_one_is_chosen(low, high, then, empty):
    low, high = np.array([low], float), np.array([high], float)
    assert _one_is_chosen(np.arange(3), low, high).tolist() == [empty]
    assert (low[0].tolist(), high[0].tolist()) == then


BEFORE_1, BEFORE_2 = np.nextafter([1.0, 2.0], 0.0).tolist()


@pytest.mark.parametrize(
    ("ends", "open_", "then", "number"),
    [
        ((1.2, 1.5), [1, 1, 1], [0, 1, 0], (1.2, 1.5)),
        ((0.5, 1.5), [1, 1, 1], [1, 1, 0], (0.5, 1.5)),
        ((0.5, 1.5), [1, 0, 1], [1, 0, 0], (0.5, BEFORE_1)),
        ((1.5, 3.0), [1, 0, 1], [0, 0, 1], (2.0, 3.0)),
        ((1.5, 3.0), [1, 1, 0], [0, 1, 0], (1.5, BEFORE_2)),
    ],
)
def test_a_number_and_its_bins(ends, open_, then, number):
    low = np.array([[ends[0], 0, 0, 0]], float)
    high = np.array([[ends[1], *open_]], float)
    bins = Bins(0, np.array([1, 2, 3]), np.array([1.0, 2.0]))
    assert _number_in_bins(bins, low, high).tolist() == [False]
    assert high[0, 1:].tolist() == then
    assert (low[0, 0], high[0, 0]) == number


@pytest.mark.parametrize(
    ("ends", "then"),
    [
        ((1.0, 1.5), [0, 1, 0]),  # the first bin would add its edge alone
        ((0.5, 1.0), [1, 0, 0]),
        ((1.0, 1.0), [1, 1, 0]),  # the edge itself: both own it
        ((0.5, 2.5), [1, 1, 1]),
    ],
)
def test_a_number_that_is_cut_off_at_edges_of_two_bins(ends, then):
    low, high = np.array([[ends[0], 0, 0, 0, -9]], float), np.array([[ends[1], 1, 1, 1, 9]], float)
    bins = Bins(0, np.array([1, 2, 3]), np.array([1.0, 2.0]), excess=4)
    _number_in_bins(bins, low, high)
    assert high[0, 1:4].tolist() == then


# -- Curved rows ---------------------------------------------------------------------------------


def outside(middle, *lines):
    """Return ``(x - middle)^2 >= 4``, and linear rows beside it."""
    row = Quadratic(np.zeros((0, 1)), np.ones((1, 1)), np.array([2.0 * middle]), 4.0 - middle**2)
    table = np.array(lines, dtype=float).reshape(-1, 2)
    return Cell(table[:, :1], table[:, 1], (row,))


def one_leaf(radius, *multipliers):
    return SeparableProofs(np.array([radius]), np.array([-1]), np.zeros(1), np.array([multipliers]))


@pytest.mark.parametrize(
    ("cell", "ends", "radius", "multipliers", "truth"),
    [
        (outside(0.0), (-9.0, 1.0), 3.0, (1.0,), 2.0),  # upwards there is no room
        (outside(1.0), (-9.0, 9.0), 2.9, (1.0,), 1.0),  # downwards is nearer
        (outside(-1.0), (-9.0, 9.0), 2.9, (1.0,), 1.0),  # upwards is
        (outside(1.0), (-0.5, 9.0), 3.5, (2.0,), 3.0),  # downwards there is no room
        (outside(0.0, (1.0, 0.5)), (-9.0, 9.0), 3.0, (2.0, 5.0), 2.0),  # nor by the other row
    ],
)
def test_a_side_is_left_out_only_if_the_other_has_its_room(cell, ends, radius, multipliers, truth):
    asked = task(cell, *ends)
    assert cell.contains(np.array([[truth], [-truth]])).any()
    assert one_leaf(radius, *multipliers).bounds(asked)[0] <= truth


def test_one_side_is_enough_where_both_are_alike():
    assert one_leaf(1.9999, 0.5).bounds(task(outside(0.0)))[0] == pytest.approx(1.9999)


@pytest.mark.parametrize("slope", [1.0, 0.0, -1.0, -9.0, np.nan, INF, -INF])
@pytest.mark.parametrize(("low", "high"), [(-9.0, 9.0), (-9.0, 0.0), (0.0, 9.0), (-9.0, 1.0)])
@pytest.mark.parametrize("radius", [1.9, 2.1])
def test_a_sweep_sees_both_sides_whatever_its_slopes(radius, low, high, slope):
    """x^2 >= 4 from 0, with room for it on one side at least."""
    proof = SweepProofs(np.array([radius]), np.array([[slope]]))
    with np.errstate(invalid="ignore"):
        assert proof.bounds(task(outside(0.0), low, high))[0] <= (1.9 if radius == 1.9 else 0.0)


@pytest.mark.parametrize("slopes", [[0.0], [-1.0], [1.0, -1.0], [9.0, 1.0, -9.0], [-1.0, 1.0]])
@pytest.mark.parametrize("radius", [0.2, 0.4, 5.0])
def test_a_sweep_of_a_convex_row_proves_no_more_than_its_distance(radius, slopes):
    """x^2 - 2 x + 0.51 <= 0 begins at 0.3, whatever part of a budget is spent."""
    row = Quadratic(np.ones((1, 1)), np.zeros((0, 1)), np.array([-2.0]), 0.51)
    cell = Cell(np.zeros((0, 1)), np.zeros(0), (row,))
    assert SweepProofs(np.array([radius]), np.array([slopes])).bounds(task(cell))[0] <= 0.3


def test_a_ball_of_no_size_leaves_its_center():
    """x^2 <= 4, with x fixed at 0: the only point there is."""
    row = Quadratic(np.ones((1, 1)), np.zeros((0, 1)), np.zeros(1), -4.0)
    cell = Cell(np.zeros((0, 1)), np.zeros(0), (row,))
    assert one_leaf(0.0, 0.0).bounds(task(cell, 0.0, 0.0))[0] == 0.0


def test_a_row_that_mixes_features_is_no_sum_over_them():
    """x y >= 1: (1, 1) costs 2, and on the diagonal of its form there is nothing."""
    plus, minus = np.array([[0.5, -0.5]]), np.array([[0.5, 0.5]])
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (Quadratic(plus, minus, np.zeros(2), 1.0),))
    assert cell.contains(np.ones((1, 2)))[0]
    leaf = SeparableProofs(np.array([5.0]), np.array([-1]), np.zeros(1), np.array([[6.0]]))
    for proof in (leaf, SweepProofs(np.array([5.0]), np.zeros((1, 1)))):
        assert proof.bounds(task(cell))[0] <= 2.0


# -- Linear rows ---------------------------------------------------------------------------------


def test_a_slope_that_was_shrunk_moves_to_no_end():
    """4 x + 2 y >= 4 costs 1, at (1, 0); x has no end, and y ends at 3."""
    cell = Cell(np.array([[-4.0, -2.0]]), np.array([-4.0]))
    asked = task(cell, -INF, [INF, 3.0])
    assert LinearProofs(np.array([[1.0]]), NO).bounds(asked)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("high", "proved"), [(2.0, INF), (4.0, 3.0)])
def test_a_ray_empties_what_its_ends_leave(high, proved):
    cell = Cell(np.array([[-1.0]]), np.array([-3.0]))
    asked = task(cell, -9.0, high)
    assert LinearProofs(np.array([[1.0]]), np.array([True])).bounds(asked)[0] == (
        pytest.approx(proved)
    )
