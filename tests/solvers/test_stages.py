"""Attempts one after the other: who is asked about what, and what is kept."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.region import Cell
from pertinent.proofs import NoProofs, SolverBounds
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Options, Solved, Task
from pertinent.solvers.stages import Stage, anew, staged


def task_of(n, **options):
    cell, free = Cell(np.zeros((0, 1)), np.zeros(0)), np.full((n, 1), np.inf)
    return Task(
        cell, np.zeros((n, 1)), np.ones(1), -free, free, np.full(n, np.inf), Options(**options)
    )


def answer(points, outcome, claimed=None):
    proofs = NoProofs(len(points)) if claimed is None else SolverBounds(np.array(claimed), "test")
    believed = np.zeros(len(points)) if claimed is None else np.array(claimed)
    return Solved(np.array(points)[:, None], np.array(outcome, dtype=np.int8), proofs, believed)


def recorded(answers):
    """A stage that hands out answers by center's row count, and notes what it was asked."""
    asked = []

    def attempt(task, so_far):
        asked.append((len(task), so_far.points[:, 0].tolist(), so_far.outcome.tolist()))
        return answers

    return Stage(attempt), asked


def test_only_open_rows_are_asked_about():
    first = answer([4.0, 4.0, np.nan, np.nan, np.nan], [SOLVED, SOLVED, EMPTY, EMPTY, CUT],
                   [4.0, 3.0, np.inf, 0.0, 1.0])  # fmt: skip
    stage, asked = recorded(answer([3.0, np.nan], [SOLVED, TROUBLE], [3.0, 2.0]))
    found = staged(anew(lambda task: first), stage)(task_of(5))
    assert asked[0][0] == 2
    np.testing.assert_array_equal(asked[0][1], [4.0, np.nan])
    assert asked[0][2] == [SOLVED, EMPTY]
    np.testing.assert_array_equal(found.points[:, 0], [4.0, 3.0, np.nan, np.nan, np.nan])
    assert found.outcome.tolist() == [SOLVED, SOLVED, EMPTY, EMPTY, CUT]
    # These proofs are a solver's word, which proves no row to be without a point.
    np.testing.assert_array_equal(found.proofs.bounds(task_of(5)), [4.0, 3.0, 0.0, 2.0, 1.0])
    np.testing.assert_array_equal(found.bound, [4.0, 3.0, np.inf, 2.0, 1.0])


def test_a_worse_point_or_proof_changes_nothing():
    stage, _ = recorded(answer([5.0], [SOLVED], [1.0]))
    found = staged(anew(lambda task: answer([4.0], [SOLVED], [3.0])), stage)(task_of(1))
    assert found.points.tolist() == [[4.0]]
    assert found.proofs.bounds(task_of(1)).tolist() == [3.0]


def test_a_point_beats_the_word_that_there_is_none_and_not_the_reverse():
    stage, _ = recorded(answer([5.0, np.nan], [SOLVED, EMPTY]))
    first = answer([np.nan, 2.0], [EMPTY, SOLVED])
    found = staged(anew(lambda task: first), stage)(task_of(2))
    assert found.outcome.tolist() == [SOLVED, SOLVED]
    assert found.points[:, 0].tolist() == [5.0, 2.0]


def test_a_stage_is_asked_about_its_own_rows_and_to_its_own_gap():
    stage, asked = recorded(answer([np.nan], [TROUBLE]))
    chosen = Stage(stage.attempt, lambda task: np.arange(len(task)) == 1)
    staged(chosen)(task_of(3))
    assert asked[0][0] == 1
    near = anew(lambda task: answer([1.0], [SOLVED], [1 - 1e-5]))
    for to_the_gap_asked in (False, True):
        stage, asked = recorded(answer([np.nan], [TROUBLE]))
        last = Stage(stage.attempt, to_the_gap_asked=to_the_gap_asked)
        staged(near, last)(task_of(1, gap=1e-6))
        assert len(asked) == to_the_gap_asked
