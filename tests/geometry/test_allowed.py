"""Which points a domain allows, and which are clear of rounding: each single rule by itself."""

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import Cell
from pertinent.geometry.rounding import MarginRows


def wrong(domain, *points):
    return domain.violation(np.array(points, dtype=float)).tolist()


def test_exactly_one_category():
    """Two columns of a group: one is 1, the other 0."""
    domain = Domain(np.full(2, np.nan), groups=(np.array([0, 1]),))
    assert wrong(domain, [1, 0], [0, 1]) == [False, False]
    assert wrong(domain, [1, 1], [0, 0], [0.5, 0.5], [2, -1]) == [True, True, True, True]


def test_whole_numbers_and_the_own_value():
    domain = Domain(np.array([0.0]), own=np.array([[0.25], [0.25], [0.25]]))
    assert wrong(domain, [3.0], [0.25], [0.5]) == [False, False, True]


def test_no_more_changes_than_allowed():
    own = np.zeros((4, 3))
    domain = Domain(np.full(3, np.nan), max_changes=2, own=own)
    assert wrong(domain, [0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]) == [False, False, False, True]


def test_what_changes_together():
    """Both of the first two features change, or none; the pair is one change."""
    own = np.zeros((4, 3))
    domain = Domain(np.full(3, np.nan), max_changes=1, together=(np.array([0, 1]),), own=own)
    assert wrong(domain, [1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1]) == [False, True, False, True]


def test_the_values_next_to_the_own_one():
    """0.3 - 0.1 rounds to less than 0.2, and 2.25 is no whole number: both have neighbours."""
    domain = Domain(np.array([1.0, 0.0, np.nan]), scale=np.array([1.0, 1.0, 2.0]))
    assert domain.next_to_own(0, np.array([0.3, 0.7])) == (
        pytest.approx([0.2, 0.6], abs=0.0),
        pytest.approx([0.4, 0.8], abs=0.0),
    )
    assert domain.next_to_own(1, np.array(2.25)) == (2.0, 3.0)
    assert domain.next_to_own(2, np.array(1.0)) == (0.998, 1.002)


def test_linear_rows_beside_bounds_must_be_clear():
    """x / 2 <= 0, decided by terms of 1000 x: at -1 the slack is 1/2, and 1000 is added up."""
    ends = np.array([-5.0]), np.array([5.0])
    terms = np.array([[1000.0, 0.0]])
    rows = MarginRows(np.array([[0.5]]), np.zeros(1), terms, np.ones(1), (), ends)
    points = np.array([[-1.0], [1.0], [-6.0]])
    sizes = np.column_stack([np.abs(points), np.ones(3)])
    assert rows.hold(points, sizes, 1e-4).tolist() == [True, False, False]
    assert rows.hold(points, sizes, 1e-3).tolist() == [False, False, False]


def test_a_margin_is_kept_from_curved_rows():
    """x^2 <= 4: a point on the boundary is inside, and not any more with a margin."""
    row = Quadratic(np.array([[1.0]]), np.zeros((0, 1)), np.zeros(1), -4.0)
    cell = Cell(np.zeros((0, 1)), np.zeros(0), (row,))
    points = np.array([[0.0], [2.0 - 1e-12]])
    assert cell.contains(points).tolist() == [True, True]
    assert cell.tighten(1e-3).contains(points).tolist() == [True, False]
