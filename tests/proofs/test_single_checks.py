"""Each single check of a proof by itself: numbers that are wrong in exactly this way show nothing.

In every problem the answer is known by hand, and the numbers would prove more than it, were the
check behind them left out.
"""

import numpy as np
import pytest

from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs import LinearProofs, SingleRowProofs
from pertinent.proofs.cases.axis_boxes import Sums
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.proofs.cases.separable import SeparableProofs
from pertinent.proofs.core import SolverBounds
from pertinent.proofs.lagrange import LagrangeProofs
from pertinent.proofs.linear import leaves_one_point
from pertinent.proofs.sweep import SweepProofs
from pertinent.proofs.tangent import HullProofs, TangentProofs
from pertinent.proofs.tolerances import CURVED
from pertinent.proofs.winners import _one_row_bounds

NO = np.array([False])


def task(cell, center, low=-np.inf, high=np.inf, weights=None):
    center = np.atleast_2d(np.asarray(center, dtype=float))
    shape = center.shape
    weights = np.ones(shape[1]) if weights is None else np.asarray(weights, float)
    return Task(cell, center, weights, np.full(shape, low), np.full(shape, high))


#: x <= 5, seen from 0: the center is inside, and nothing more than 0 can be proved.
INSIDE = task(Cell(np.array([[1.0]]), np.array([5.0])), [0.0])
#: x >= 3, seen from 0: the nearest point costs 3.
OUTSIDE = task(Cell(np.array([[-1.0]]), np.array([-3.0])), [0.0])


def ball(sign=1.0):
    """Return x^2 - 4 <= 0, or its opposite, as the only row of a cell."""
    factor, none = np.array([[1.0]]), np.zeros((0, 1))
    row = Quadratic(factor, none, np.zeros(1), -4.0)
    row = row if sign > 0 else row.reversed()
    return Cell(np.zeros((0, 1)), np.zeros(0), (row,))


def test_negative_multipliers_of_rows():
    """y = -1: y (x - 5) = 5 at the center, with a slope that the weight allows."""
    assert LinearProofs(np.array([[-1.0]]), NO).bounds(INSIDE)[0] <= 0
    assert SingleRowProofs(np.array([0]), np.array([-1.0])).bounds(INSIDE)[0] <= 0


def test_right_multipliers_prove_the_distance():
    assert LinearProofs(np.array([[1.0]]), NO).bounds(OUTSIDE)[0] == pytest.approx(3.0)
    single = SingleRowProofs(np.array([0]), np.array([1.0]))
    assert single.bounds(OUTSIDE)[0] == pytest.approx(3.0)


@pytest.mark.parametrize("multiplier", [1.5, 2.0, 10.0])
def test_multipliers_beyond_the_weights(multiplier):
    """Without a limit they are scaled down; with one, what it allows is taken off."""
    one = LinearProofs(np.array([[multiplier]]), NO)
    assert one.bounds(OUTSIDE)[0] <= 3.0
    assert one.bounds(task(OUTSIDE.cell, [0.0], -10.0, 10.0))[0] <= 3.0
    dear = task(OUTSIDE.cell, [0.0], weights=[2.0])
    assert one.bounds(dear)[0] <= 6.0


def test_a_ray_that_a_limit_does_not_close():
    """x >= 3 within [-10, 10] is not empty; within [-10, 2] it is."""
    ray = LinearProofs(np.array([[1.0]]), np.array([True]))
    assert ray.bounds(task(OUTSIDE.cell, [0.0], -10.0, 10.0))[0] < np.inf
    assert ray.bounds(task(OUTSIDE.cell, [0.0], -10.0, 2.0))[0] == np.inf
    assert ray.bounds(task(OUTSIDE.cell, [0.0], -10.0, 3.0))[0] < np.inf


def test_negative_multipliers_of_tangents():
    """From 0, inside of x^2 <= 4: y = -1 on the tangent at x = 1 would prove about 5."""
    tangents = (np.array([[0.1]]),)
    inside = task(ball(), [0.0])
    assert TangentProofs(tangents, np.array([[-1.0]]), NO).bounds(inside)[0] <= 0


def test_a_tangent_proves_the_distance_of_a_ball():
    """From 5 the ball x^2 <= 4 is 3 away: its tangent at 2 has the slope 4."""
    proof = TangentProofs((np.array([[2.0]]),), np.array([[0.25]]), NO)
    assert proof.bounds(task(ball(), [5.0]))[0] == pytest.approx(3.0)


def test_a_saddle_has_no_tangent_below_it():
    """x^2 >= 4 from 0 costs 2; from 3 nothing."""
    away = ball(-1.0)
    proof = TangentProofs((np.zeros((1, 0)),), np.array([[1.0]]), NO)
    assert proof.bounds(task(away, [0.0]))[0] <= 2.0
    assert proof.bounds(task(away, [3.0]))[0] <= 0.0


def test_negative_multipliers_of_curved_rows():
    """-(x^2 - 4) is convex if the row is not: x^2 >= 4 from 3, with y = -1."""
    points, cuts = np.array([[3.0]]), np.zeros((1, 1))
    for cell, center in ((ball(), 0.0), (ball(-1.0), 3.0)):
        proof = LagrangeProofs(points, np.array([[-1.0]]), cuts, NO)
        assert proof.bounds(task(cell, [center], -10.0, 10.0))[0] <= 0.0


def test_negative_multipliers_of_rows_beside_curved_ones():
    """From 0, inside of x <= 5 and of x^2 <= 4: y = -1 on the straight row would prove 5."""
    both = Cell(np.array([[1.0]]), np.array([5.0]), ball().quadratics)
    proof = LagrangeProofs(np.zeros((1, 1)), np.array([[0.0, -1.0]]), np.zeros((1, 1)), NO)
    assert proof.bounds(task(both, [0.0], -10.0, 10.0))[0] <= 0.0


@pytest.mark.parametrize("ray", [False, True])
def test_negative_multipliers_of_curved_rows_that_cuts_make_convex(ray):
    """Within [-1, 1], -(x^2 - 4) / 2 + (x^2 - 1) is convex, and at least 1."""
    half, one = np.array([[-0.5]]), np.ones((1, 1))
    proof = LagrangeProofs(np.zeros((1, 1)), half, one, np.array([ray]))
    assert proof.bounds(task(ball(), [0.0], -1.0, 1.0))[0] <= 0.0


def test_what_rounds_in_a_sum_of_curved_rows_is_taken_off():
    """At 3 the row x^2 - 4 is 5, exactly: what is proved of it is less."""
    proof = LagrangeProofs(np.array([[3.0]]), np.ones((1, 1)), np.zeros((1, 1)), NO)
    _, excess, terms = proof.combined(ball(), np.array([[3.0]]))
    assert terms.at_start[0] == 13.0
    assert 5.0 - 1e-12 < excess[0] <= 5.0 - 13.0 * CURVED


def test_a_sum_that_is_not_convex():
    """x^2 >= 4 from 0 costs 2: the tangent of a concave sum at 0 would prove more than that."""
    proof = LagrangeProofs(np.zeros((1, 1)), np.array([[1.0]]), np.zeros((1, 1)), NO)
    assert proof.bounds(task(ball(-1.0), [0.0], -10.0, 10.0))[0] <= 2.0


def separable(radius, multiplier):
    return SeparableProofs(
        np.array([radius]), np.array([-1]), np.zeros(1), np.array([[multiplier]])
    )


def test_boxes_that_are_not_closed():
    """x^2 >= 4 from 0 costs 2, and one box shows it up to 2 with y = 1/2; not up to 2.5."""
    problem = task(ball(-1.0), [0.0])
    assert separable(1.9, 0.5).bounds(problem)[0] == pytest.approx(1.9)
    assert separable(2.5, 0.5).bounds(problem)[0] <= 2.0
    assert separable(1.9, 0.0).bounds(problem)[0] <= 2.0


def test_negative_multipliers_of_boxes():
    """From 0, inside of x^2 <= 4."""
    assert separable(1.0, -1.0).bounds(task(ball(), [0.0]))[0] <= 0.0


def test_mixed_terms_are_not_separable():
    """x y >= 1 from 0: the nearest points cost 2; the diagonal alone shows nothing."""
    row = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (row,))
    proof = SeparableProofs(np.array([5.0]), np.array([-1]), np.zeros(1), np.array([[10.0]]))
    assert proof.bounds(task(cell, [0.0, 0.0]))[0] <= 2.0


def test_a_solvers_word_is_not_trusted():
    assert not SolverBounds(np.array([1.0]), "any").trusted()[0]
    assert SolverBounds(np.array([0.0]), "any").trusted()[0]


def test_dependent_rows_leave_more_than_one_point():
    """x + y >= 2, said twice: each of the points between (2, 0) and (0, 2) costs 2."""
    even = Cell(np.array([[-1.0, -1.0], [-2.0, -2.0]]), np.array([-2.0, -4.0]))
    free = np.full(2, -np.inf), np.full(2, np.inf)
    assert not leaves_one_point(even, np.array([0.5, 0.25]), np.zeros(2), np.ones(2), *free)


@pytest.mark.parametrize(("radius", "shown"), [(1.9, 1.9), (2.1, 0.0)])
def test_a_sweep_shows_no_more_than_the_row_asks_for(radius, shown):
    """x^2 >= 4 from 0 costs 2."""
    proof = SweepProofs(np.array([radius]), np.zeros((1, 1)))
    assert proof.bounds(task(ball(-1.0), [0.0]))[0] == pytest.approx(shown)


def test_a_sweep_is_about_a_curved_row():
    """x >= 3 from 0: there is no curved row to speak of."""
    assert SweepProofs(np.array([1.0]), np.zeros((1, 1))).bounds(OUTSIDE)[0] == 0.0


@pytest.mark.parametrize("claim", [2.1, 3.5])
def test_halving_confirms_no_more_than_there_is(claim):
    """x^2 >= 4 from 0 costs 2, and so does x y >= 1."""
    row = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    mixed = Cell(np.zeros((0, 2)), np.zeros(0), (row,))
    for cell, center in ((ball(-1.0), [0.0]), (mixed, [0.0, 0.0])):
        problem = task(cell, center, -10.0, 10.0)
        assert HalvingProofs(np.array([claim])).bounds(problem)[0] <= 2.0
        assert HalvingProofs(np.array([1.9])).bounds(problem)[0] == pytest.approx(1.9)


def test_halving_pays_once_for_what_is_fixed():
    """x^2 >= 4 from 0 with y held 1 away from its center: both cost 3."""
    row = Quadratic(np.zeros((0, 2)), np.array([[1.0, 0.0]]), np.zeros(2), 4.0)
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (row,))
    low, high = np.array([[-10.0, 1.0]]), np.array([[10.0, 1.0]])
    problem = Task(cell, np.zeros((1, 2)), np.ones(2), low, high)
    assert HalvingProofs(np.array([2.9])).bounds(problem)[0] == pytest.approx(2.9)
    assert HalvingProofs(np.array([3.1])).bounds(problem)[0] <= 3.0


def test_the_lowest_point_of_a_box_pays_for_the_change():
    """|s| + s^2 - 3 s is lowest at s = 1, where it is -1."""
    one = np.ones((1, 1))
    sums = Sums(np.zeros(1), one, -3.0 * one, 0.0 * one)
    assert sums.least(0.0 * one, 5.0 * one)[0][0, 0] == pytest.approx(-1.0)


def test_the_blend_of_corners_is_as_near_as_its_nearest_corner():
    """Corners at 2 and 5, seen from 0: the nearest blend costs 2, and u = -1 shows it."""
    corners, none = np.array([[[2.0], [5.0]]]), np.zeros((1, 0))
    proof = HullProofs(corners, none, np.array([[-1.0]]), NO)
    everywhere = task(Cell(np.zeros((0, 1)), np.zeros(0)), [0.0])
    assert proof.bounds(everywhere)[0] == pytest.approx(2.0)


def test_a_rival_proves_the_distance_to_its_row_within_limits():
    """x >= 3 from 0, within [-10, 10]."""
    within = task(OUTSIDE.cell, [0.0], -10.0, 10.0)
    found = _one_row_bounds(OUTSIDE.cell.G, OUTSIDE.cell.h, within)
    assert found[0] == pytest.approx(3.0)
