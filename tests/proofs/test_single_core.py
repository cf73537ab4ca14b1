"""Certificates, sums of curved rows and what is near, each check by itself."""

import numpy as np
import pytest

from pertinent.geometry.affine import Scores
from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.task import Task
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import LagrangeProofs, LinearProofs, RivalProofs, SeveralProofs, check
from pertinent.proofs.cases.narrowing import narrow, whole_box
from pertinent.proofs.cases.near import Near, _widths
from pertinent.proofs.cases.separable import SeparableProofs
from pertinent.proofs.core import WHOLE, Block, Certificate, SolverBounds, joined
from pertinent.proofs.lagrange import _definite

INF, NO, ROW = np.inf, np.array([False]), np.array([0])
#: x >= 2
BEYOND = Cell(np.array([[-1.0]]), np.array([-2.0]))


def task(cell, centers=(0.0,), low=-9.0, high=9.0):
    centers = np.array(centers, dtype=float).reshape(-1, cell.dim)
    return Task.of(cell, centers, np.ones(cell.dim), low, high)


# -- Certificates --------------------------------------------------------------------------------


def test_proofs_of_all_rows_in_another_order():
    """From 0 and 1 it is 2 and 1 to x >= 2; the multiplier of the second row is 0."""
    proofs = LinearProofs(np.array([[0.0], [1.0]]), np.array([False, False]))
    for rows, proved in (([0, 1], [0.0, 1.0]), ([1, 0], [2.0, 0.0])):
        found = Certificate(2, (Block(0, np.array(rows), proofs),)).bounds(task(BEYOND, (0, 1)))
        assert found == pytest.approx(proved)


def test_what_was_asked_last_is_another_question():
    certificate = Certificate(1, (Block(0, ROW, LinearProofs(np.ones((1, 1)), NO)),))
    for center in (0.0, 1.0, 1.0):
        assert certificate.proved(task(BEYOND, (center,)))[0] == pytest.approx(2.0 - center)


def test_proofs_of_the_whole_region_where_it_has_one_piece():
    one, zero = Scores(np.array([[4.0]]), np.array([-4.0])), Scores(np.zeros((1, 1)), np.zeros(1))
    certificate = Certificate(1, (Block(WHOLE, ROW, RivalProofs(np.zeros((1, 1), int))),))
    assert certificate.bounds(task(WinnerRegion(one, zero)))[0] == pytest.approx(1.0)


WORD, SHORT = SolverBounds(np.array([1.0]), "a solver"), LinearProofs(np.zeros((2, 1)), NO)


@pytest.mark.parametrize("proofs", [WORD, SHORT], ids=["a word", "of two rows"])
@pytest.mark.parametrize(
    "whole",
    [
        lambda proofs: Certificate(1, (Block(0, ROW, proofs),)),
        lambda proofs: SeveralProofs(1, ((ROW, proofs),)),
    ],
    ids=["certificate", "several"],
)
def test_a_certificate_is_no_more_than_its_parts(whole, proofs):
    assert whole(LinearProofs(np.ones((1, 1)), NO)).trusted().tolist() == [True]
    assert whole(proofs).trusted().tolist() == [False]


def test_trees_of_boxes_are_not_joined():
    """x^2 >= 4, closed at once, and in two halves: nodes of one tree are none of the other."""
    row = Quadratic(np.zeros((0, 1)), np.ones((1, 1)), np.zeros(1), 4.0)
    asked = task(Cell(np.zeros((0, 1)), np.zeros(0), (row,)), (0.0, 0.0))
    halves = SeparableProofs(
        np.array([1.9]), np.array([0, -1, -1]), np.zeros(3), np.full((3, 1), 0.5)
    )
    one = SeparableProofs(np.array([1.9]), np.array([-1]), np.zeros(1), np.full((1, 1), 0.5))
    both = joined([Certificate(1, (Block(0, ROW, proofs),)) for proofs in (halves, one)])
    assert len(both.blocks) == 2
    assert both.bounds(asked).tolist() == [1.9, 1.9]


@pytest.mark.parametrize(
    ("point", "multiplier", "optimal"), [(2.0, 1.0, True), (1.5, 1.0, False), (2.0, 0.5, False)]
)
def test_an_optimum_is_valid_and_proved(point, multiplier, optimal):
    proof = LinearProofs(np.array([[multiplier]]), NO)
    assert check(BEYOND, np.zeros(1), np.ones(1), np.array([point]), proof).optimal == optimal


# -- Sums of curved rows -------------------------------------------------------------------------


def curved(A, q, c):
    row = Quadratic.from_matrix(np.asarray(A, float), np.asarray(q, float), c)
    return Cell(np.zeros((0, len(A))), np.zeros(0), (row,))


@pytest.mark.parametrize(
    ("bend", "low", "high", "cut"),
    [
        (-1.0, [-9.0, 1.0], [9.0, 1.0], 0.0),  # concave in y, which cannot move
        (-1.0, [-9.0, 1.0], [9.0, 1.0], 5.0),  # nor is anything cut off there
        (0.0, [-9.0, -9.0], [9.0, 9.0], 0.0),  # straight in y
        (0.0, [-INF, -9.0], [9.0, 9.0], 0.0),
        (0.0, [-9.0, -9.0], [INF, 9.0], 0.0),
    ],
)
def test_only_what_moves_and_bends_must_be_convex(bend, low, high, cut):
    """(x - 3)^2 + bend (y^2 - y) <= 1 at y = 1: x is at least 2."""
    cell = curved(np.diag([1.0, bend]), [-6.0, -bend], 8.0)
    numbers = ([[2.0, 1.0]], [[0.5]], [[0.0, cut]])
    proof = LagrangeProofs(*(np.array(part) for part in numbers), NO)
    asked = Task.of(cell, np.array([[0.0, 1.0]]), np.ones(2), low, high)
    assert proof.bounds(asked)[0] == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize(
    ("form", "size", "definite"),
    [
        (np.eye(2), np.eye(2), True),
        (np.diag([1.0, INF]), np.eye(2), False),
        (np.diag([1.0, np.nan]), np.eye(2), False),
        (np.eye(2), np.diag([1.0, 0.0]), False),
        (np.diag([1.0, -1.0]), np.eye(2), False),
    ],
)
def test_a_matrix_that_is_not_definite_is_refused_quietly(form, size, definite):
    with np.errstate(all="raise"):
        assert _definite(form, size) == definite


# -- What is near --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slope", "weight", "end"),
    [(1.5, 0.3, INF), (1.0, 1.0, INF), (1.0, 1.0, 9.0), (0.5, 1.0, 9.0)],
)
@pytest.mark.parametrize(("multiplier", "wide"), [(1.0, 0.1), (1.0, 1e-4), (np.nan, 0.1)])
def test_all_that_costs_no_more_is_near(slope, weight, end, multiplier, wide):
    """x >= 1 from 0, in other units: 1 + 1e-3 is the farthest point of a cost of 1 + 1e-3."""
    cell = Cell(np.array([[-slope]]), np.array([-slope]))
    multiplier *= max(weight / slope, 1.0)
    asked = Task.of(cell, np.zeros((1, 1)), np.array([weight]), -end, end)
    box = np.array([[1.0 - wide]]), np.array([[1.0 + wide]])
    near = Near(np.ones((1, 1)), np.array([1.001 * weight]), *box)
    shown = LinearProofs(np.array([[multiplier]]), NO).only_near(asked, near)[0]
    assert shown == (wide == 0.1 and not np.isnan(multiplier))


@pytest.mark.parametrize(
    ("row", "wide"), [(2.0, 0.5), (0.0, INF), (np.nan, INF), (INF, INF), (-INF, INF)]
)
def test_how_far_rows_let_a_feature_lie(row, wide):
    with np.errstate(invalid="raise"):
        assert _widths(np.array([[row]]))[0] == wide


def test_what_rests_is_not_taken_for_its_end():
    """x + 2 y >= 2 between -9 and 9 costs 1 at (0, 1): x stays at 0, and not at its end."""
    cell = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))
    box = np.array([[-0.1, 0.9]]), np.array([[0.1, 1.1]])
    near = Near(np.array([[0.0, 1.0]]), np.array([1.001]), *box)
    assert LinearProofs(np.array([[0.5]]), NO).only_near(task(cell, (0.0, 0.0)), near)[0]


def test_a_domain_that_counts_no_changes_knows_of_none():
    domain = Domain(np.zeros(1), own=np.zeros((1, 1)))
    boxes, empty = narrow(domain, whole_box(np.array([0.5]), np.array([2.5])))
    assert (boxes.lower[0, 0], boxes.upper[0, 0], empty[0]) == (1.0, 2.0, False)


@pytest.mark.parametrize(
    ("low", "multiplier", "threshold", "near"),
    [
        (-1.0, 0.55, None, True),  # x^2 >= 4 from 0, upwards alone
        (-1.0, 0.55, -5.0, True),  # nothing lies below
        (-1.0, 0.55, 1.0, True),
        (-9.0, 0.55, None, False),  # -2 is as near as 2
        (-1.0, 0.0, None, False),
        (-9.0, np.nan, None, False),  # numbers that are none show nothing
        (-9.0, INF, None, False),
        (-9.0, 1e308, None, False),
        (-9.0, 0.55, np.nan, False),
        (-9.0, 0.55, INF, False),
    ],
)
def test_boxes_leave_the_box_of_the_answer_alone(low, multiplier, threshold, near):
    row = Quadratic(np.zeros((0, 1)), np.ones((1, 1)), np.zeros(1), 4.0)
    asked = task(Cell(np.zeros((0, 1)), np.zeros(0), (row,)), low=low)
    feature = [-1] if threshold is None else [0, -1, -1]
    ends = np.full(len(feature), 0.0 if threshold is None else threshold)
    boxes = np.array([1.9]), np.array(feature), ends, np.full((len(feature), 1), multiplier)
    box = Near(np.full((1, 1), 2.0), np.array([2.1]), *np.array([[[1.5]], [[2.5]]]))
    with np.errstate(over="ignore", invalid="ignore"):
        assert SeparableProofs(*boxes).only_near(asked, box)[0] == near


def test_what_is_near_is_told_of_sums_over_features_that_cost():
    """x y >= 1 is no sum over features, and what costs nothing is anywhere."""
    mixed = curved([[0.0, -0.5], [-0.5, 0.0]], [0.0, 0.0], 1.0)
    boxes = np.array([1.9]), np.array([-1]), np.zeros(1), np.full((1, 1), 9.0)
    near = Near(np.ones((1, 2)), np.array([2.1]), np.full((1, 2), 0.5), np.full((1, 2), 1.5))
    asked = task(mixed, (0.0, 0.0))
    assert not SeparableProofs(*boxes).only_near(asked, near)[0]
    free = Task.of(BEYOND, np.zeros((1, 1)), np.zeros(1), -9.0, 9.0)
    near = Near(np.full((1, 1), 2.0), np.zeros(1), np.full((1, 1), 1.5), np.full((1, 1), 2.5))
    with np.errstate(all="raise"):
        assert not SeparableProofs(*boxes).only_near(free, near)[0]
        assert SeparableProofs(*boxes).bounds(free)[0] == 0.0
