"""That an answer is not the only one is said only where the judge accepts another."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.answering.searching import Projecting

X = np.array([[1.0, 1.0, 0.5], [2.0, 1.0, 0.2]])
WRONG = {
    "another class": lambda point: np.full_like(point, 5.0),
    "farther": lambda point: point - 1.0,
    "the same": np.copy,
    "another size": lambda point: point[:2],
    "no number": lambda point: np.full_like(point, np.nan),
}


def even():
    """Return a model that says 1 where x0 + x1 > 1: either feature will do."""
    model = LogisticRegression()
    model.classes_, model.coef_ = np.array([0, 1]), np.array([[1.0, 1.0, 0.0]])
    model.intercept_, model.n_features_in_ = np.array([-1.0]), 3
    return model


def answers():
    """Return negatives and positives, asked for alone and together."""
    both = pertinent.Explainer(even(), between=False).explain(X)
    return [
        pertinent.pertinent_negatives(even(), X),
        pertinent.pertinent_positives(even(), X),
        both.negative,
        both.positive,
    ]


def test_another_answer_is_shown():
    for found in answers():
        assert found.unique.tolist() == [False, False]
        assert sorted(found.second) == [0, 1]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_other_answer_is_not_said_to_be_one(monkeypatch, wrong):
    find = Projecting.find

    def mistaken(self, *args):
        found = find(self, *args)
        second = {i: WRONG[wrong](found.points[i]) for i in range(len(found.points))}
        return replace(found, unique=np.zeros_like(found.unique), second=second)

    monkeypatch.setattr(Projecting, "find", mistaken)
    for found in answers():
        assert found.unique.tolist() == [None, None]
        assert not found.second
        assert (found.status == "optimal").all()


def test_a_second_without_a_point_is_not_said(monkeypatch):
    find = Projecting.find

    def mistaken(self, *args):
        found = find(self, *args)
        return replace(found, unique=np.zeros_like(found.unique), second={})

    monkeypatch.setattr(Projecting, "find", mistaken)
    for found in answers():
        assert found.unique.tolist() == [None, None]
