"""Rows of softmax probabilities: what is not begun in time claims nothing."""

import numpy as np

from pertinent.geometry.cell import Cell, Exponential
from pertinent.solvers.curved import exponential
from pertinent.solvers.problem import SOLVED, TROUBLE, Task

#: exp(1 - x0) + exp(0.5 - x1) <= 1.
BEND = Exponential(-np.eye(2), np.array([1.0, 0.5]))
CELL = Cell(np.zeros((0, 2)), np.zeros(0), exponentials=(BEND,))


def test_of_several_rows_the_first_is_begun_when_time_is_over(monkeypatch):
    centers = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    low, high = np.full((3, 2), -5.0), np.full((3, 2), 5.0)
    task = Task(CELL, centers, np.ones(2), low, high, domain=None, cutoff=np.full(3, np.inf))
    in_time = exponential.solve_exponential(task)
    assert (in_time.outcome == SOLVED).all()
    assert (in_time.proofs.bounds(task) > 0.5).all()
    monkeypatch.setattr(exponential, "is_late", lambda: True)
    late = exponential.solve_exponential(task)
    assert late.outcome.tolist() == [SOLVED, TROUBLE, TROUBLE]
    assert late.points[0].tolist() == in_time.points[0].tolist()
    assert np.isnan(late.points[1:]).all()
    assert late.proofs.bounds(task).tolist() == [in_time.proofs.bounds(task)[0], 0.0, 0.0]
