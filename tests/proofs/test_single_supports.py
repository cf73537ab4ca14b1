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
from pertinent.proofs.supports.fewest import FewestProofs, _Sample
from pertinent.proofs.supports.fewest_mixed import Argument
from pertinent.proofs.supports.reach import (
    Stretches,
    _meeting,
    _most_of_columns,
    splits_by_feature,
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


@pytest.mark.parametrize(("inner", "most"), [(1.0, 1.0), (-5.0, 0.0), (9.0, 0.0)])
def test_inner_places_count_within_their_stretch(inner, most):
    """2 s - s^2 between 0 and 2; at 1 it is largest."""
    one, none = np.ones(1), np.zeros((1, 1))
    stretch = Stretches(np.array([0]), none, none + 1.0, 0 * one, 2 * one)
    value = stretch.most(0 * one, 2 * one, -one, [inner * one])
    assert value == most


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
