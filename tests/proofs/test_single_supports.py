"""Proofs about numbers of features, each check by itself: what is wrong in one way shows nothing.

In every problem the answer is known by hand; the numbers would prove more than it, or less than
they do, were the check behind them left out.
"""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.cell import Cell, Exponential
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import CellUnion
from pertinent.geometry.task import Task
from pertinent.proofs import Block, Certificate, LinearProofs
from pertinent.proofs.core import SolverBounds
from pertinent.proofs.supports.cardinality import StrictProofs, not_all_of, refutes
from pertinent.proofs.supports.fewest import FewestProofs, Goal, _Sample
from pertinent.proofs.supports.fewest_mixed import Argument
from pertinent.proofs.supports.reach import (
    Stretches,
    _meeting,
    _most_of_columns,
    splits_by_feature,
    stretches,
)
from pertinent.proofs.supports.sufficient import RivalSetProofs

INF, NAN = np.inf, np.nan
NONE2 = np.zeros((0, 2))


def rows(*lines):
    """Return ``g'x <= h`` for lines ``(*g, h)``."""
    table = np.array(lines, dtype=float)
    return Cell(table[:, :-1], table[:, -1])


def task(cell, center, low=-INF, high=INF):
    center = np.atleast_2d(np.asarray(center, dtype=float))
    ends = [np.broadcast_to(np.asarray(end, float), center.shape) for end in (low, high)]
    return Task(cell, center, np.ones(center.shape[1]), *ends)


# -- Sets of features that meet rows -------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "need", "size", "refuted"),
    [
        ([[1.0, 1.0]], [INF], 1, False),  # a row that is no number asks for nothing
        ([[1.0, 1.0]], [NAN], 1, False),
        ([[NAN, 1.0]], [5.0], 1, False),
        ([[-INF, 1.0]], [5.0], 1, False),
        ([[1.0, 0.0]], [1.0], 1, False),
        ([[2.0, 0.0]], [3.0], 2, True),  # the first feature counts once
        ([[2.0, 1.0]], [3.0], 1, True),
    ],
)
def test_sets_that_cannot_be(gain, need, size, refuted):
    assert refutes(np.array(gain), np.array(need), size) == refuted


def test_an_argument_that_takes_too_long_is_not_made():
    gain, need = np.ones((1, 4)), np.array([5.0])
    assert refutes(gain, need, 2)
    assert not refutes(gain, need, 2, nodes=0)


def test_listed_sets_and_what_contains_them_are_not_spoken_of():
    listed = [np.array([True, False]), np.array([False, True])]
    both = not_all_of(np.ones((1, 2)), np.ones(1), listed, np.array([True, True]))
    assert refutes(*both, 1)
    gain, need = not_all_of(NONE2, np.zeros(0), [np.array([True, True])], np.array([False, True]))
    assert (gain.tolist(), need.tolist()) == ([[-0.0, -1.0]], [0.0])


# -- Strict positives ----------------------------------------------------------------------------

#: x + y + z >= 2.5: of (1, 1, 1) all three are needed.
ALL = rows((-1.0, -1.0, -1.0, -2.5))


@pytest.mark.parametrize("owner", [None, np.arange(3)], ids=["columns", "features"])
@pytest.mark.parametrize(
    ("low", "high", "size", "proved"),
    [
        ([-9.0, -9.0, -9.0], [9.0, 9.0, 9.0], 3.0, 3.0),
        ([-9.0, -9.0, -9.0], [9.0, 9.0, 9.0], 4.0, 0.0),
        ([0.5, -9.0, -9.0], [9.0, 9.0, 9.0], 3.0, 3.0),  # the first cannot rest: it is on
        ([0.5, -9.0, -9.0], [9.0, 9.0, 9.0], 0.0, 1.0),
        ([-9.0, -9.0, -9.0], [0.5, 9.0, 9.0], 3.0, 3.0),  # it cannot be on
        ([0.5, -9.0, -9.0], [0.6, 9.0, 9.0], 3.0, INF),  # neither
    ],
)
def test_strict_positives(owner, low, high, size, proved):
    proof = StrictProofs(np.zeros(3), np.array([size]), owner=owner)
    assert proof.bounds(task(ALL, np.ones(3), low, high))[0] == proved


def test_strict_positives_of_a_row_that_mixes_features():
    """x y >= 0.5 holds at (1, 1): no feature alone does anything for it."""
    half = np.array([[0.5, 0.5]]), np.array([[0.5, -0.5]])
    cell = Cell(NONE2, np.zeros(0), (Quadratic(half[1], half[0], np.zeros(2), 0.5),))
    assert StrictProofs(np.zeros(2), np.array([2.0])).bounds(task(cell, np.ones(2)))[0] == 2.0
    assert StrictProofs(np.zeros(2), np.array([3.0])).bounds(task(cell, np.ones(2)))[0] <= 2.0


#: x + y >= 1.5 as an exponential row: log(exp(1.5 - x - y)) <= 0.
BENT = Cell(
    NONE2, np.zeros(0), exponentials=(Exponential(np.array([[-1.0, -1.0]]), np.array([1.5])),)
)


@pytest.mark.parametrize("piece", [BENT, CellUnion((rows((-1.0, -1.0, -1.5)),))])
def test_strict_positives_where_rows_do_not_tell_all(piece):
    """No linear or quadratic row speaks against a single feature: the points themselves do."""
    for size, proved in ((2.0, 2.0), (3.0, 0.0)):
        found = StrictProofs(np.zeros(2), np.array([size])).bounds(task(piece, np.ones(2)))
        assert found[0] == proved


def test_strict_positives_of_several_columns_by_the_linear_rows_of_a_curved_cell():
    """x + y + z >= 2.5 needs all three, whatever the curved row beside it asks for."""
    ball = Quadratic(np.eye(3), np.zeros((0, 3)), np.zeros(3), -9.0)
    proof = StrictProofs(np.zeros(3), np.array([3.0]), owner=np.arange(3))
    assert proof.bounds(task(replace(ALL, quadratics=(ball,)), np.ones(3)))[0] == 3.0
    bare = Cell(np.zeros((0, 3)), np.zeros(0), (ball,))
    assert proof.bounds(task(bare, np.ones(3)))[0] == 0.0


# -- The fewest changes --------------------------------------------------------------------------

#: x + 2 y >= 2
SLOPED = rows((-1.0, -2.0, -2.0))


def sample(cell, center, low=-INF, high=INF, tol=0.0, wanted=0.0):
    center = np.asarray(center, dtype=float)
    ends = [np.broadcast_to(np.asarray(end, float), center.shape).copy() for end in (low, high)]
    wanted = np.broadcast_to(np.asarray(wanted, float), center.shape)
    return _Sample.of(cell, wanted, center, np.ones(len(center)), *ends, tol)


@pytest.mark.parametrize(
    ("low", "high", "tol", "forced", "free", "stuck"),
    [
        (0.0, 0.0, 0.0, False, False, False),
        (0.0, 5.0, 0.0, False, True, False),
        (-5.0, 0.0, 0.0, False, True, False),
        (1.0, 3.0, 0.0, True, False, False),
        (1.0, -1.0, 0.0, True, False, True),
        (1.0, -1.0, 5.0, False, False, False),
    ],
)
def test_where_features_may_stand(low, high, tol, forced, free, stuck):
    one = sample(rows((-1.0, -2.0)), [0.0], low, high, tol)
    assert (one.forced.tolist(), one.free.tolist(), one.stuck) == ([forced], [free], stuck)


@pytest.mark.parametrize(
    ("G", "low", "gain"),
    [
        ([[1.0], [1.0]], -INF, INF),  # without an end, what falls falls for ever
        ([[1.0], [1.0]], -10.0, 20.0),
        ([[1.0], [-1.0]], -10.0, 0.0),  # cancelled: no more than rounding, and within the end
    ],
)
def test_what_a_feature_can_do_for_a_sum_of_rows(G, low, gain):
    one = sample(Cell(np.array(G), np.zeros(2)), [0.0], low, 10.0)
    found = one._feasibility(np.ones((1, 2)))[0][0, 0]
    assert found == pytest.approx(gain, rel=1e-12, abs=1e-13)
    assert found > gain or np.isinf(gain)  # rounding is always taken into account


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("multiplier", "end", "endless"), [(2.0, INF, True), (2.0, 5.0, False), (0.5, INF, False)]
)
def test_gains_that_grow_faster_than_costs(sign, multiplier, end, endless):
    """x >= 2, or -x >= 2, with an open side towards it."""
    low, high = (-9.0, end) if sign > 0 else (-end, 9.0)
    one = sample(rows((-sign, -2.0)), [0.0], low, high)
    gain, _ = one._cost(np.array([[multiplier]]), 1.0)
    assert np.isinf(gain[0, 0]) == endless


def certificate(proofs):
    return Certificate(1, (Block(0, np.array([0]), proofs),))


@pytest.mark.parametrize(
    ("proofs", "excluded"),
    [
        (LinearProofs(np.array([[1.0]]), np.array([False])), True),  # x >= 2 costs 2
        (LinearProofs(np.array([[0.1]]), np.array([False])), False),
        (SolverBounds(np.array([9.0]), "a solver"), False),  # its word is no proof
    ],
)
def test_a_set_is_excluded_by_a_proof_of_its_own(proofs, excluded):
    one = sample(rows((-1.0, 0.0, -2.0)), [0.0, 0.0])
    support = np.array([True, False])
    gain, need = one._exclusion(support, certificate(proofs), 1.0)
    assert (gain.tolist(), need.tolist()) == ([[0.0, 1.0]], [1.0 if excluded else 0.0])


def test_the_cost_of_a_single_feature():
    """x >= 2 and y <= 5, which holds already: x alone will do, y alone will not."""
    assert sample(rows((-1.0, 0.0, -2.0), (0.0, 1.0, 5.0)), [0.0, 0.0]).closest_single() == (
        pytest.approx(2.0)
    )
    assert sample(rows((-1.0, 0.0, -2.0), (0.0, -1.0, -5.0)), [0.0, 0.0]).closest_single() == INF


@pytest.mark.parametrize(
    ("center", "low", "high", "cost"),
    [(-0.5, -9.0, 9.0, 1.5), (-0.5, -1.0, 9.0, 2.5), (0.5, -9.0, 1.0, 2.5)],
)
def test_the_nearest_root_lies_within_the_ends(center, low, high, cost):
    """x^2 >= 4 from 0, with the cost seen from the center."""
    row = Quadratic(np.zeros((0, 1)), np.ones((1, 1)), np.zeros(1), 4.0)
    cell = Cell(np.zeros((0, 1)), np.zeros(0), (row,))
    assert sample(cell, [center], low, high).closest_single() == pytest.approx(cost)


@pytest.mark.parametrize(("size", "proved"), [(1.0, 1.0), (2.0, 0.0)])
def test_the_fewest_changes_of_rows(size, proved):
    proof = FewestProofs(np.array([size]), np.zeros(1), (Argument.empty(1),))
    assert proof.bounds(task(SLOPED, [0.0, 0.0]))[0] == proved


def test_the_fewest_changes_where_a_region_is_no_cell():
    """No row is known of it: that the sample itself lies outside is a proof of its own."""
    about = certificate(LinearProofs(np.array([[1.0]]), np.array([True])))
    argument = replace(Argument.empty(0), excluded=((np.array([False, False]), about),))
    for size, proved in ((1.0, 1.0), (2.0, 0.0)):
        proof = FewestProofs(np.array([size]), np.zeros(1), (argument,))
        assert proof.bounds(task(CellUnion((SLOPED,)), [0.0, 0.0]))[0] == proved


EMPTY, ONLY_X, ONLY_Y = (np.array(on) for on in ([False, False], [True, False], [False, True]))
EVERY = Cell(NONE2, np.zeros(0))


def cheapest(size, value, argument=None):
    argument = Argument.empty(1) if argument is None else argument
    return FewestProofs(np.array([size]), np.array([value]), (argument,), Goal.COST)


def test_a_category_in_a_box_is_one_feature():
    """The second of two categories is asked for: two columns move, and one feature."""
    domain = Domain(np.zeros(2), (np.arange(2),), np.zeros(2, dtype=int))
    asked = replace(task(EVERY, [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]), domain=domain)
    proof = FewestProofs(np.array([2.0]), np.zeros(1), (Argument.empty(0),))
    assert proof.bounds(asked)[0] == 1.0


def test_a_feature_that_must_be_on_is_taken_once():
    """Whole numbers with x from 1 to 2, y and z up to 1: x + y + z >= 4 takes all three."""
    asked = task(rows((-1.0, -1.0, -1.0, -4.0)), np.zeros(3), [1.0, 0.0, 0.0], [2.0, 1.0, 1.0])
    asked = replace(asked, domain=Domain(np.zeros(3)))
    proof = FewestProofs(np.array([3.0]), np.zeros(1), (Argument.empty(1),))
    assert proof.bounds(asked)[0] == 3.0


def test_what_is_listed_in_a_box_is_not_spoken_of():
    """x >= 1 must be on, and every set with it is listed: no other one has fewer than 2."""
    asked, argument = task(EVERY, [0.0, 0.0], [1.0, -9.0], 9.0), Argument.empty(0, (ONLY_X,))
    assert FewestProofs(np.array([2.0]), np.zeros(1), (argument,)).bounds(asked)[0] == 2.0


@pytest.mark.parametrize(
    ("cell", "low", "high", "size", "value", "argument", "proved"),
    [
        (SLOPED, -9.0, 9.0, 1.0, 0.0, None, 1.0),  # y alone costs 1
        (SLOPED, -9.0, [9.0, 0.5], 2.0, 5.0, None, 0.0),  # x = 1, y = 1/2: two features cost 1.5
        (SLOPED, [1.0, 1.0], 9.0, 1.0, 50.0, None, 50.0),  # both must be on: no single one is
        # With y listed, x alone costs 2: that has a proof of its own.
        (SLOPED, -9.0, 9.0, 1.0, 1.9, (ONLY_X, 1.0, (ONLY_Y,)), 1.9),
        (SLOPED, -9.0, 9.0, 1.0, 2.1, (ONLY_X, 1.0, (ONLY_Y,)), 0.0),
        (CellUnion((SLOPED,)), -9.0, 9.0, 1.0, 0.9, (~EMPTY, 0.5, ()), 0.9),
        (CellUnion((SLOPED,)), -9.0, 9.0, 1.0, 1.1, (~EMPTY, 0.5, ()), 0.0),
    ],
)
def test_the_least_cost_of_few_features(cell, low, high, size, value, argument, proved):
    if argument is not None:
        support, multiplier, listed = argument
        about = certificate(LinearProofs(np.array([[multiplier]]), np.array([False])))
        argument = replace(Argument.empty(1, listed), excluded=((support, about),))
    proof = cheapest(size, value, argument)
    assert proof.bounds(task(cell, [0.0, 0.0], low, high))[0] == pytest.approx(proved, abs=1e-12)


def test_a_domain_of_any_numbers_is_none():
    """The cost of a single feature has a closed form there."""
    asked = replace(task(SLOPED, [0.0, 0.0]), domain=Domain(np.full(2, NAN)))
    assert cheapest(1.0, 0.0).bounds(asked)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("low", "weight", "shrunk"), [(-INF, 1.0, True), (-9.0, 1.0, False), (-INF, 0.0, False)]
)
def test_multipliers_are_shrunk_where_a_side_is_open_and_costs(low, weight, shrunk):
    one = replace(sample(rows((1.0, -2.0)), [0.0], low, 9.0), weights=np.array([weight]))
    assert (one._shrunk(np.ones((1, 1)))[0] < 1.0) == shrunk


@pytest.mark.parametrize(("low", "high"), [(-10.0, 10.0), (-INF, 10.0), (-10.0, INF)])
def test_a_feature_without_an_end_that_bends_upwards_gains_nothing(low, high):
    """x y >= 1 + z^2: x and y have to move, whether z has an end or not."""
    A = np.array([[0.0, -0.5, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.0, 1.0]])
    cell = Cell(np.zeros((0, 3)), np.zeros(0), (Quadratic.from_matrix(A, np.zeros(3), 1.0),))
    asked = task(cell, np.zeros(3), [-10.0, -10.0, low], [10.0, 10.0, high])
    proof = FewestProofs(np.array([2.0]), np.zeros(1), (Argument.empty(0),))
    assert proof.bounds(asked)[0] == 2.0


# -- Sufficient values ---------------------------------------------------------------------------

EVERYWHERE = CellUnion((rows((0.0, 0.0, 1.0)),))


@pytest.mark.parametrize(
    ("rivals", "size", "limits", "proved"),
    [
        (np.eye(2), 2.0, (-1.0, 2.0), 2.0),
        (np.eye(2), 3.0, (-1.0, 2.0), 0.0),
        (np.eye(2), 2.0, (0.5, 2.0), 0.0),  # below the limits
        (np.eye(2), 2.0, (-1.0, 0.5), 0.0),  # above
        (np.zeros((1, 2)), INF, (-1.0, 2.0), INF),  # the sample is a rival of itself
        (np.zeros((1, 2)), INF, (0.5, 2.0), 0.0),
        (np.eye(2), INF, (-1.0, 2.0), 0.0),
    ],
)
def test_rivals_show_which_values_are_needed(rivals, size, limits, proved):
    proof = RivalSetProofs(np.array([size]), (rivals,))
    found = proof.piece_bounds(task(EVERYWHERE, [0.0, 0.0], *limits))
    assert found[0, 0] == proved


def test_rivals_that_are_not_allowed_show_nothing():
    """Whole numbers only: a rival with a fraction is none."""
    asked = task(EVERYWHERE, [0.0, 0.0], -1.0, 2.0)
    domain = Domain(decimals=np.zeros(2), own=np.zeros((1, 2)))
    asked = replace(asked, domain=domain)
    for rivals, proved in ((np.eye(2), 2.0), (0.5 * np.eye(2), 0.0)):
        proof = RivalSetProofs(np.array([2.0]), (rivals,))
        assert proof.piece_bounds(asked)[0, 0] == proved


# -- How far features reach ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slope", "inner", "most"), [(2.0, 1.0, 1.0), (-2.0, -1.0, 0.0), (8.0, 4.0, 12.0)]
)
def test_inner_places_count_within_their_stretch(slope, inner, most):
    """A parabola between 0 and 2 that is largest at an inner place, which may lie outside."""
    one, none = np.ones(1), np.zeros((1, 1))
    stretch = Stretches(np.array([0]), none, none + 1.0, 0 * one, 2 * one)
    assert stretch.most(0 * one, slope * one, -one, [inner * one]) == most


def test_a_number_a_category_and_a_feature_without_columns():
    domain = Domain(np.array([NAN, 0.0, 0.0]), (np.array([1, 2]),), np.array([0, 2, 2]))
    found = stretches(domain, np.array([0.5, 1.0, 0.0]), np.zeros(3), np.ones(3))
    assert [(len(one.low), one.number) for one in found] == [(1, 0), (0, -1), (2, -1)]


@pytest.mark.parametrize(
    ("slope", "bend", "most"), [(2.0, -1.0, 1.0), (-2.0, -1.0, 0.0), (8.0, -1.0, 12.0)]
)
def test_the_most_of_a_column_between_its_ends(slope, bend, most):
    """Over 0 <= s <= 2: at the vertex if it lies between, else at an end."""
    found = _most_of_columns(np.array([slope]), np.array([bend]), np.zeros(1), np.array([2.0]))
    assert found[0] == most


@pytest.mark.parametrize(
    ("k", "first", "last", "ends"),
    [
        (0, -1.0, 9.0, (-1.0, np.nextafter(1.0, 0.0))),
        (1, -1.0, 9.0, (1.0, np.nextafter(2.0, 0.0))),
        (1, 1.5, 9.0, (1.5, np.nextafter(2.0, 0.0))),
        (1, -1.0, 1.5, (1.0, 1.5)),
        (2, -1.0, 9.0, (2.0, 9.0)),
        (2, 3.0, 9.0, (3.0, 9.0)),
        (0, 1.0, 9.0, None),
        (2, -1.0, 1.5, None),
    ],
)
def test_where_a_bin_meets_a_range(k, first, last, ends):
    bins = Bins(0, np.array([1, 2, 3]), np.array([1.0, 2.0]))
    assert _meeting(bins, k, first, last) == ends


def test_rows_that_are_no_sums_over_features():
    mixed = Quadratic(np.array([[1.0, 1.0]]), NONE2, np.zeros(2), 0.0)
    plain = Quadratic(np.eye(2), NONE2, np.zeros(2), 0.0)
    assert splits_by_feature(Cell(NONE2, np.zeros(0), (plain,)))
    assert not splits_by_feature(Cell(NONE2, np.zeros(0), (mixed,)))
    assert not splits_by_feature(Cell(NONE2, np.zeros(0), (), np.zeros(2), np.ones(2)))
