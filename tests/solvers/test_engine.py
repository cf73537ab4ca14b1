"""The one search: its orders, its limits, and what it hands out when time is up."""

from time import monotonic

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.proofs import status_names
from pertinent.solvers import Options, project
from pertinent.solvers.search.engine import LastFirst, Limits, Problem, search


class Halving:
    """Intervals of whole numbers, halved down to single ones: a search that sees all of them."""

    def __init__(self, stop=None):
        self.seen, self.left, self.stop = [], [], stop

    def advance(self, chosen):
        fresh = []
        for low, high in chosen:
            self.seen.append((low, high))
            if (low, high) == self.stop:
                return None
            if high - low > 1:
                middle = (low + high) // 2
                fresh += [(low, middle), (middle, high)]
        return fresh

    def leave(self, waiting):
        self.left += waiting


class LevelByLevel(Halving, Problem):
    pass


class DepthFirst(Halving, LastFirst):
    pass


@pytest.mark.parametrize("problem", [LevelByLevel(), DepthFirst()])
def test_every_case_is_seen(problem):
    assert search(problem, [(0, 8)], Limits())
    singles = [case for case in problem.seen if case[1] - case[0] == 1]
    assert sorted(singles) == [(k, k + 1) for k in range(8)]
    assert len(problem.seen) == 15
    assert not problem.left


def test_orders():
    depth, level = DepthFirst(), LevelByLevel()
    search(depth, [(0, 4)], Limits())
    search(level, [(0, 4)], Limits())
    assert depth.seen[:3] == [(0, 4), (2, 4), (3, 4)]
    assert level.seen[:3] == [(0, 4), (0, 2), (2, 4)]


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(rounds=1), [(0, 4), (4, 8)]),
        (Limits(waiting=2), [(0, 2), (2, 4), (4, 6), (6, 8)]),
        (Limits(deadline=monotonic() - 1.0), [(0, 8)]),
    ],
)
def test_what_waits_at_a_limit_is_given_up(limits, left):
    problem = LevelByLevel()
    assert not search(problem, [(0, 8)], limits)
    assert problem.left == left


def test_a_problem_may_end_its_search():
    problem = LevelByLevel(stop=(0, 2))
    assert not search(problem, [(0, 8)], Limits())
    assert problem.seen[-1] == (0, 2)


def mixed():
    rng = np.random.default_rng(4)
    cell = Cell(rng.normal(size=(3, 6)), rng.normal(size=3) - 1.0)
    centers = rng.integers(-4, 5, size=(6, 6)).astype(float)
    domain = Domain(np.array([0.0, 0.0, 0.0, 1.0, np.nan, np.nan]))
    return (centers, cell, rng.uniform(0.5, 2.0, 6), np.full(6, -6.0), np.full(6, 6.0)), domain


def curved():
    rows = (Quadratic.from_matrix(-np.eye(3), np.zeros(3), 4.0),)
    cell, center = Cell(np.zeros((0, 3)), np.zeros(0), rows), np.array([[0.5, 0.0, 0.1]])
    domain = Domain(np.full(3, np.nan), max_changes=1, own=center)
    return (center, cell, np.ones(3), np.full(3, -3.0), np.full(3, 3.0)), domain


def boxed():
    rows = (Quadratic.from_matrix(np.diag([-1.0, 0.4, -0.7, 0.0]), np.array([0.3, 1, 0, -1]), 3.0),)
    cell = Cell(np.zeros((0, 4)), np.zeros(0), rows)
    return (np.zeros((1, 4)), cell, np.ones(4), np.full(4, -1.4), np.full(4, 1.2)), None


@pytest.mark.parametrize("problem", [mixed, curved, boxed])
def test_out_of_time_what_is_known_is_handed_out_with_a_bound_that_holds(problem):
    pytest.importorskip("pyscipopt")
    args, domain = problem()
    best = project(*args, domain=domain)
    assert (status_names(best.status) == "optimal").any()
    none = Options(exact=True, time_limit=1e-9)
    hasty = project(*args, domain=domain, options=none)
    assert (status_names(hasty.status) != "optimal").any()
    found = hasty.piece >= 0
    assert (hasty.bound[found] <= best.objective[found] * (1 + 1e-9)).all()
    assert (hasty.objective[found] >= best.bound[found] * (1 - 1e-9)).all()
    assert (
        status_names(best.status)[status_names(hasty.status) == "infeasible"] == "infeasible"
    ).all()
