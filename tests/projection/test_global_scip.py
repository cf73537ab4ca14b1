"""exact=True: SCIP closes what our own proofs leave open, and is not believed blindly."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from quadratic_models import fitted, some

import pertinent
from pertinent.certificate import check
from pertinent.exceptions import MissingExtraError
from pertinent.models import decision_region
from pertinent.projection import Options, project
from pertinent.projection.global_scip import solve_scip
from pertinent.projection.problem import Task
from pertinent.projection.shifted import shift

pytest.importorskip("pyscipopt")


def scip_optimum(cell, center, point, time_limit=20.0):
    free = np.full((1, cell.dim), np.inf)
    task = Task(cell, center[None], np.ones(cell.dim), -free, free, np.array([np.inf]))
    answer = solve_scip(shift(task).row(0), point - center, 1e-5, time_limit)
    assert answer.status in ("optimal", "gaplimit")
    return np.abs(answer.step).sum()


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


def open_case():
    """A row of wine whose optimum our own proofs do not close."""
    model, X = fitted("qda 0.1", "wine")
    cell = decision_region(model, 2).cells[0]
    centers = X[model.predict(X) != 2]
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


def test_own_proofs_stay_trusted():
    model, X = fitted("qda 0.1", "breast_cancer")
    found = pertinent.pertinent_negatives(model, X[:3], options=pertinent.Options(exact=True))
    assert (found.status == "optimal").all()


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
