"""Copositive forms, each check by itself: a form that is not positive everywhere shows nothing."""

import numpy as np
import pytest

from pertinent.geometry.cell import Cell
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs.cases.near import Near
from pertinent.proofs.copositive.cone import Cone
from pertinent.proofs.copositive.replay import CopositiveProofs, _is_copositive, _Replay
from pertinent.proofs.copositive.simplices import Simplices

INF, NAN = np.inf, np.nan


def form(radius, dim=1, **more):
    """Return that no point costs less than the radius, by the one row itself in one part."""
    nodes = len(more.get("option", [0]))
    places = np.zeros(nodes, dtype=np.int64)
    plain = {
        "rows": np.ones((1, 1)), "caps": np.zeros((1, 2 * dim)), "cuts": np.zeros((1, 2 * dim)),
        "option": places, "first": places, "second": places, "share": np.zeros(nodes),
    }  # fmt: skip
    return CopositiveProofs((Simplices(radius, **plain | more),))


def varying(radius, multipliers, dim=1):
    """Return the same by multipliers of the row at the corners: up, down, the start."""
    numbers = np.zeros((1, 1 + 2 * dim, 2 * dim + 1))
    numbers[0, 0] = multipliers
    none = np.array([-1])
    return form(radius, dim, option=none, varying=numbers, variation=np.array([0]))


def task(cell, low=-10.0, high=10.0, weights=1.0):
    return Task.of(cell, np.zeros((1, cell.dim)), np.full(cell.dim, weights), low, high)


#: |x - 1| <= 1/2, and x >= 1: from 0 they are 1/2 and 1 away.
ROW = Quadratic.from_matrix(np.ones((1, 1)), np.array([-2.0]), 0.75)
AROUND_ONE = Cell(np.zeros((0, 1)), np.zeros(0), (ROW,))
FROM_ONE = Cell(np.array([[-1.0]]), np.array([-1.0]))


# -- Matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("M", "right"),
    [
        ([[1.0, -0.5], [-0.5, 1.0]], True),
        ([[1.0, 5.0], [5.0, 0.0]], True),  # nothing is negative
        ([[1.0, -2.0], [-2.0, 1.0]], False),
        ([[0.0, -1.0], [-1.0, 1.0]], False),
        ([[-1.0, -1.0], [-1.0, -1.0]], False),
        ([[NAN, 1.0], [1.0, 1.0]], False),
        ([[1.0, INF], [INF, 1.0]], False),
        ([[1e-300, -1e20], [-1e20, 1e-300]], False),  # too large once it is scaled
    ],
)
def test_a_matrix_that_is_not_copositive_is_refused_quietly(M, right):
    with np.errstate(invalid="raise", divide="raise"):
        assert _is_copositive(np.array(M), np.ones(2, dtype=bool)) == right


ALL = np.ones(3, dtype=bool)
#: Negative along (1, 1, 0) alone; the third row has no negative entry.
NARROW = np.array([[1.0, -1.5, 0.0], [-1.5, 1.0, 0.0], [0.0, 0.0, 4.0]])


def test_where_a_form_is_not_positive():
    axis, spread, beside = Cone.of(NARROW, ALL)
    assert axis[0] == axis[1] > 0 == axis[2]
    assert (spread > 0).tolist() == [True, True, False]
    assert (beside > 0).tolist() == [False, False, True]
    alone = Cone.of(NARROW, np.array([True, True, False]))
    assert (alone.beside == 0).all()  # a row that is not alive is 0


@pytest.mark.parametrize(
    "M",
    [
        np.eye(3),  # nothing is left
        np.where(np.eye(3) * [0, 0, 1], 0.0, NARROW),  # a deleted row may be anything
        -np.ones((3, 3)),  # more than one direction
        np.array([[1.0, -3.0, -3.0], [-3.0, 1.0, 4.0], [-3.0, 4.0, 1.0]]),
    ],
)
def test_no_cone_is_shown(M):
    with np.errstate(all="raise"):
        assert Cone.of(M, ALL) is None


@pytest.mark.parametrize(
    ("column", "free"),
    [
        ((1.0, 0.0, 0.0), True),
        ((0.5, 0.0, 0.5), False),
        ((0.5, 0.0, 0.0), False),
        ((1.0, 0.0, 1e-17), False),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_opposite_corners_exclude_each_other_while_both_are_whole(column, free, place):
    replay = object.__new__(_Replay)
    replay.room = np.ones(2)
    corners = np.eye(3)
    corners[:, place] = column if place == 0 else np.array(column)[[1, 0, 2]]
    found = replay._free(corners)
    assert (found[0, 1], found[1, 0], found.sum()) == (free, free, 2 * free)


# -- Parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proof", "proved"),
    [
        (form(0.4), 0.4),
        (form(0.4, variation=np.array([-1]), varying=np.ones((1, 3, 3))), 0.4),
        (form(0.4, option=np.array([0, 0])), 0.0),  # a part that there is not
        (form(0.4, products=np.zeros((1, 6)), product=np.array([0])), 0.4),
        (form(0.6, products=np.zeros((1, 6)), product=np.array([0])), 0.0),
        (form(0.6, products=np.full((1, 6), -9.0), product=np.array([0])), 0.0),
        (varying(0.4, [1.0, 1.0, 1.0]), 0.4),
        (varying(0.4, [0.0, 0.0, 0.0]), 0.0),
        (varying(1.0, [1.0, 1.0, 1.0]), 0.0),  # negative at a corner
        (varying(2.0, [1.0, 1.0, 1.0]), 0.0),  # and between two that are positive
    ],
)
def test_what_closes_a_part(proof, proved):
    assert proof.bounds(task(AROUND_ONE, 0.0))[0] == proved


def test_numbers_that_are_too_large_close_nothing():
    """x >= 1 in huge units: a multiplier of 1e100 makes coefficients that are no numbers."""
    huge = Cell(np.array([[-1e250]]), np.array([-1e250]))
    assert varying(0.5, [1.0, 1.0, 1.0]).bounds(task(huge))[0] == 0.5
    with np.errstate(over="ignore", invalid="ignore"):
        assert varying(0.5, [1e100] * 3).bounds(task(huge))[0] == 0.0


def test_forms_of_too_many_corners_are_not_looked_at(monkeypatch):
    monkeypatch.setattr("pertinent.proofs.copositive.replay.MOST_CORNERS", 2)
    assert varying(0.4, [1.0, 1.0, 1.0]).bounds(task(AROUND_ONE, 0.0))[0] == 0.4  # down is none
    assert varying(0.4, [1.0, 1.0, 1.0]).bounds(task(AROUND_ONE))[0] == 0.0


def test_what_costs_nothing_is_in_no_ball():
    with np.errstate(all="raise"):
        assert form(0.4).bounds(task(AROUND_ONE, weights=0.0))[0] == 0.0


@pytest.mark.parametrize(
    ("cell", "cost", "lower", "upper", "near"),
    [
        (FROM_ONE, 1.001, 0.9, 1.1, True),
        (FROM_ONE, 1.001, 1.05, 1.1, False),  # 1 lies below the box
        (FROM_ONE, 1.001, 0.9, 0.95, False),  # and above this one
        (FROM_ONE, 3.0, 0.9, 1.1, False),
        (AROUND_ONE, 0.501, 0.4, 0.6, True),
        (AROUND_ONE, 0.501, 0.55, 0.6, False),
        (AROUND_ONE, 0.501, 0.4, 0.45, False),
    ],
)
def test_all_that_a_form_leaves_is_near(cell, cost, lower, upper, near):
    asked = Near(np.ones((1, 1)), np.array([cost]), np.array([[lower]]), np.array([[upper]]))
    assert form(0.4).only_near(task(cell), asked)[0] == near


def test_a_form_that_is_negative_in_more_than_one_direction_leaves_more_than_a_box():
    """x + y >= 1 for a cost of 3: neither feature is held to anything."""
    cell = Cell(-np.ones((1, 2)), -np.ones(1))
    ends = np.full((1, 2), -9.0), np.full((1, 2), 9.0)
    asked = Near(np.array([[1.0, 0.0]]), np.array([3.0]), *ends)
    assert not form(0.4, dim=2).only_near(task(cell), asked)[0]
