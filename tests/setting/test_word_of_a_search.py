"""What a search says is not believed: bounds on a solver's word, margins, arrays written to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.answering.searching import Projecting
from pertinent.proofs import Block, Certificate
from pertinent.proofs.core import SolverBounds
from pertinent.setting.nearest.search import Found
from pertinent.solvers import union


@pytest.fixture(scope="module")
def model():
    X, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=1000).fit(X[:100], y[:100])


@pytest.fixture
def samples():
    return load_iris(return_X_y=True)[0][:6].copy()


def on_its_word(claimed, found=True):
    """Return a search that hands in the nearest points, or none, and bounds nobody can check."""
    honest = Projecting.find

    def find(self, setting, ask, key, margin):
        answer, n = honest(self, setting, ask, key, margin), len(ask)
        proofs = SolverBounds(np.full(n, claimed), "a solver")
        points = answer.points if found else np.full_like(answer.points, np.nan)
        certificate = Certificate(n, (Block(0, np.arange(n), proofs),))
        return Found(points, certificate, answer.unique, {})

    return find


@pytest.mark.parametrize("claimed", [0.5, 50.0, 1e300, np.inf, np.nan])
def test_no_bound_on_a_solvers_word_is_a_proof(model, samples, monkeypatch, claimed):
    monkeypatch.setattr(Projecting, "find", on_its_word(claimed))
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.status == "feasible").all()
    assert pertinent.pertinent_positives(model, samples).status[0] == "feasible"


@pytest.mark.parametrize("how", [{}, {"alternatives": 1}, {"max_changes": 2}, {"norm": "l0"}])
def test_nothing_is_impossible_on_a_solvers_word(model, samples, monkeypatch, how):
    monkeypatch.setattr(Projecting, "find", on_its_word(np.inf, found=False))
    found = pertinent.pertinent_negatives(model, samples, **how)
    assert not (found.status == "infeasible").any()


def test_a_point_without_its_margin_is_refused(model, samples, monkeypatch):
    honest = Projecting.find

    def find(self, setting, ask, key, margin):
        return honest(self, setting, ask, key, 0.0)

    monkeypatch.setattr(Projecting, "find", find)
    found = pertinent.pertinent_negatives(model, samples)
    for i in np.flatnonzero(found.found):
        assert model.predict(found.points[i : i + 1])[0] != found.prediction[i]
    assert not (found.status == "optimal").any()


@pytest.mark.parametrize("name", ["centers", "weights", "lower", "upper"])
@pytest.mark.parametrize("rows", [1, 6])
def test_a_search_cannot_write_to_what_it_is_judged_by(model, samples, monkeypatch, name, rows):
    honest, before = union.project_task, samples.copy()
    rules = pertinent.Constraints(bounds={j: (0.0, 10.0) for j in range(4)})

    def project_task(task, *args, **kwargs):
        getattr(task, name)[...] *= 0.5
        return honest(task, *args, **kwargs)

    monkeypatch.setattr("pertinent.answering.searching.project_task", project_task)
    with pytest.raises(ValueError, match="read-only"):
        pertinent.pertinent_negatives(model, samples[:rows], constraints=rules)
    assert (samples == before).all()
