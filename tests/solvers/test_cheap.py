"""Bounds that cost next to nothing: as large as one row makes them, and each with its proof."""

import numpy as np
import pytest

from pertinent.geometry import task
from pertinent.geometry.affine import Scores
from pertinent.geometry.pieces import Joined
from pertinent.geometry.region import Cell, CellUnion
from pertinent.geometry.winners import WinnerRegion
from pertinent.solvers.cheap import cheap_bounds, piece_bounds
from pertinent.solvers.problem import Task

CENTERS = np.zeros((1, 2))


def test_the_most_demanding_row_counts():
    """x >= 3, y >= 2 and x + y >= 1 with weights 1 and 2: the second alone costs 4."""
    cell = Cell(-np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), -np.array([3.0, 2.0, 1.0]))
    weights = np.array([1.0, 2.0])
    bound, proofs = cheap_bounds(cell, CENTERS, weights)
    assert bound[0] == pytest.approx(4.0)
    assert proofs.bounds(task.Task.of(cell, CENTERS, weights))[0] == pytest.approx(4.0)


def test_what_is_not_proved_skips_nothing():
    """Proofs about all winners of a part do not fit beside those of single cells."""
    winners = WinnerRegion(
        Scores(np.eye(2), np.array([-3.0, -5.0])), Scores(np.zeros((1, 2)), np.zeros(1))
    )
    cells = CellUnion((Cell(np.array([[1.0, 0.0]]), np.array([-2.0])),))
    both = Joined([winners, cells], [0, 1], 2)
    free = np.full((1, 2), np.inf)
    asked = Task(both, CENTERS, np.ones(2), -free, free, np.full(1, np.inf))
    alone, _ = piece_bounds(winners, asked)
    assert alone.tolist() == [[3.0, 5.0]]
    cheap, blocks = piece_bounds(both, asked)
    assert cheap.tolist() == [[0.0, 0.0, 2.0]]
    (block,) = blocks
    assert block.piece == 2
    shown = block.proofs.bounds(task.Task.of(cells.cells[0], CENTERS, np.ones(2)))
    assert shown[0] == pytest.approx(2.0)
