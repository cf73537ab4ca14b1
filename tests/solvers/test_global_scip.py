"""exact=True: SCIP closes what our own proofs leave open, and is not believed blindly."""

from __future__ import annotations

import builtins
from functools import cache

import numpy as np
import pytest
from quadratic_models import fitted, some

import pertinent
from pertinent.exceptions import MissingExtraError
from pertinent.geometry.region import Cell, Quadratic
from pertinent.models import decision_region
from pertinent.proofs import FAILED, INFEASIBLE, check
from pertinent.setting.options import Options
from pertinent.solvers import project
from pertinent.solvers.curved.shifted import shift
from pertinent.solvers.problem import Task
from pertinent.solvers.programs.scip import ScipAnswer
from pertinent.solvers.scip import continuous as global_scip
from pertinent.solvers.scip.continuous import solve_scip

pytest.importorskip("pyscipopt")


def scip_optimum(cell, center, point, time_limit=20.0):
    free = np.full((1, cell.dim), np.inf)
    task = Task(cell, center[None], np.ones(cell.dim), -free, free, np.array([np.inf]))
    answer = solve_scip(shift(task).row(0), point - center, 1e-5, time_limit)
    assert answer.status in ("optimal", "gaplimit")
    return np.abs(answer.values).sum()


@pytest.mark.parametrize(
    ("kind", "name", "target", "rows"),
    [("qda 0.1", "iris", 1, 4), ("qda 0.1", "wine", 1, 2), ("bayes", "iris", 2, 3)],
)
def test_bounds_never_exceed_the_global_optimum(kind, name, target, rows):
    model, X = fitted(kind, name)
    cell = decision_region(model, target).cells[0]
    centers = some(X[model.predict(X) != target], rows)
    found = project(centers, cell)
    for i in range(rows):
        optimum = scip_optimum(cell, centers[i], found.points[i])
        assert found.bound[i] <= optimum * (1 + 1e-5)
        assert found.objective[i] <= optimum * (1 + 1e-4)


@cache
def open_case():
    """A row of wine whose optimum our own proofs do not close."""
    model, X = fitted("qda 0", "wine")
    cell = decision_region(model, 0).cells[0]
    centers = X[model.predict(X) != 0]
    found = project(centers[:24], cell)
    rows = np.flatnonzero(found.status == 1)
    assert len(rows), "every row is proved: look for a harder case"
    return cell, centers[rows[:1]], found.objective[rows[0]]


def test_exact_closes_the_gap_on_scips_word():
    cell, center, fast = open_case()
    found = project(center, cell, options=Options(exact=True, time_limit=60.0))
    assert found.status[0] == 0
    assert found.objective[0] <= fast
    assert not found.certificate.trusted()[0]
    proof = found.certificate.blocks[-1].proofs
    verdict = check(cell, center[0], np.ones(cell.dim), found.points[0], proof)
    assert not verdict.trusted


def test_time_out_leaves_a_feasible_answer_with_its_gap():
    cell, center, fast = open_case()
    found = project(center, cell, options=Options(exact=True, time_limit=1e-3))
    assert found.status[0] == 1
    assert 0 < found.bound[0] < found.objective[0] <= fast


def out_of_reach():
    """A row that nothing within a box satisfies, and that our own proofs leave open."""
    form = np.random.default_rng(3).normal(size=(40, 40))
    values, vectors = np.linalg.eigh(form + form.T)
    A = (vectors * np.where(values > 0, 1.0, -1.0)) @ vectors.T
    # x'Ax >= -|x|^2 >= -40 within the box, and the row asks for x'Ax <= -41.
    row = Quadratic.from_matrix(A, np.zeros(40), 41.0)
    return Cell(np.zeros((0, 40)), np.zeros(0), (row,), np.full(40, -1.0), np.full(40, 1.0))


def test_that_nothing_exists_is_never_said_on_scips_word(monkeypatch):
    cell = out_of_reach()
    said = ScipAnswer(None, np.inf, "infeasible")
    monkeypatch.setattr(global_scip, "solve_scip", lambda *args: said)
    found = project(np.zeros((1, 40)), cell, options=Options(exact=True))
    assert found.status[0] == FAILED
    assert found.bound[0] == 0
    # With few enough features free to move, a proof of our own is found.
    held = np.where(np.arange(40) < 20, 0.0, 1.0)
    found = project(np.zeros((1, 40)), cell, lower=-held, upper=held, options=Options(exact=True))
    assert found.status[0] == INFEASIBLE
    assert found.certificate.trusted()[0]


def test_own_proofs_stay_trusted():
    model, X = fitted("qda 0.1", "breast_cancer")
    found = pertinent.pertinent_negatives(model, X[:3], exact=True)
    assert (found.status == "optimal").all()


def test_pieces_that_were_cut_off_are_not_asked_about():
    """Of several classes one is nearest; that the others lose is proved already."""
    model, X = fitted("qda 0.1", "wine")
    plain = pertinent.pertinent_negatives(model, X[::18])
    found = pertinent.pertinent_negatives(model, X[::18], exact=True)
    assert (plain.status == "optimal").all()
    assert (found.status == "optimal").all()
    np.testing.assert_array_equal(found.objective, plain.objective)


def test_missing_scip_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pyscipopt":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    cell, center, _ = open_case()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pertinent\[global\]"):
        project(center, cell, options=Options(exact=True))
