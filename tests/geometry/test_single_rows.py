"""Each part of a row counts: a point where exactly this part decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.affine import AffineMap
from pertinent.geometry.gaps import GAP_CONVEX, is_closed
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import Cell
from pertinent.geometry.rounding import CellRounding, MarginRows, surely_win


def test_bounds_of_a_sum_are_rows_of_its_terms():
    """1 <= a + b + 5 <= 8: the lower bound says a + b >= -4, the upper one a + b <= 3."""
    bounded = Cell(np.zeros((0, 1)), np.zeros(0), (), np.array([1.0]), np.array([8.0]))
    cell = bounded.pull_back(AffineMap(np.array([[1.0, 1.0]]), np.array([5.0])))
    points = np.array([[-2.0, -1.9], [-2.0, -2.1], [1.0, 1.9], [1.0, 2.1]])
    assert cell.contains(points).tolist() == [True, False, True, False]


def test_curved_rows_must_be_clear_of_what_is_added_up():
    """x^2 <= 4 at 1.9: the slack is 0.39, and 7.61 is added up."""
    row = Quadratic(np.array([[1.0]]), np.zeros((0, 1)), np.zeros(1), -4.0)
    rows = MarginRows.as_written(Cell(np.zeros((0, 1)), np.zeros(0), (row,)))
    point = np.array([[1.9]])
    sizes = np.column_stack([np.abs(point), np.ones(1)])
    assert rows.hold(point, sizes, 0.01).tolist() == [True]
    assert rows.hold(point, sizes, 0.2).tolist() == [False]


def test_a_gap_is_as_wide_as_it_says():
    """The bound lies below an objective of 1 by 0.9 and by 1.1 gaps."""
    bound = 1.0 - GAP_CONVEX * np.array([0.9, 1.1])
    points, centers = np.ones((2, 1)), np.zeros((2, 1))
    closed = is_closed(np.ones(2), bound, points, centers, np.ones(1), GAP_CONVEX)
    assert closed.tolist() == [True, False]


def test_a_lead_that_is_sure_in_double_precision_only():
    """Scores of 1 and of 1 - 1e-6: sums in single precision round by more."""
    W, b, point = np.array([[1.0], [1.0 - 1e-6]]), np.zeros(2), np.ones((1, 1))
    places = np.zeros(1, dtype=int)
    assert surely_win(W, b, places, point, single=False).tolist() == [True]
    assert surely_win(W, b, places, point, single=True).tolist() == [False]


def test_cells_are_left_for_sure_where_double_precision_decides_only():
    """x <= 1 or x >= 3: the slack at 1 - 3e-7 is below what single precision rounds 1 + 1 by."""
    cells = tuple(
        MarginRows.as_written(Cell(np.array([[side]]), np.array([end])))
        for side, end in ((1.0, 1.0), (-1.0, -3.0))
    )
    points = np.array([[1.0 - 3e-7], [1.0 - 1e-4], [1.0 - 1e-16], [2.0], [3.0 + 1e-4]])
    for some, far in ((cells, True), (cells[:1], False)):
        rounding = CellRounding(some, 1)
        assert rounding.hold(points, False).tolist() == [True, True, False, False, far]
        assert rounding.hold(points, True).tolist() == [False, True, False, False, far]


def test_a_curved_row_that_cells_share_is_added_up_once(monkeypatch):
    """That of a density beside 300 prototypes was added up 300 times; its least unit counts."""
    row = Quadratic(np.array([[1.0]]), np.zeros((0, 1)), np.zeros(1), -4.0)
    points, cell = np.array([[1.0], [3.0]]), Cell(np.zeros((0, 1)), np.zeros(0), (row,))
    one = MarginRows.as_written(cell)
    cells = tuple(replace(one, curved=((row, unit),)) for unit in (2.0, 0.5, 1.0))
    most = np.max([CellRounding((some,), 1).sizes(points) for some in cells], axis=0)
    asked, added_up = [], Quadratic.added_up
    monkeypatch.setattr(Quadratic, "added_up", lambda *some: asked.append(1) or added_up(*some))
    assert CellRounding(cells, 1).sizes(points).tolist() == most.tolist()
    assert len(asked) == 1
