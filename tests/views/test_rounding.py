"""Printed numbers are as coarse as `predict` allows, found with few calls of it."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.setting.setting import Setting
from pertinent.summary import rounding
from pertinent.summary.rounding import round_valid
from pertinent.summary.summary import asked_of

#: The model predicts 1 where x0 + x1 > 1: the nicer the point, the more digits its sum needs.
POINTS = np.array([[0.5, 0.5 + 1e-2], [0.5, 0.5 + 1e-4], [0.5, 0.5 + 3e-7], [np.nan, np.nan]])
ORIGIN = np.array([0.5, 0.5 - 1e-7])  # close by, so that no coarser number is as close


@pytest.fixture(scope="module")
def asked():
    model = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([[1.0, 1.0]]), np.array([-1.0])
    found = pertinent.Explainer(model, data=np.random.default_rng(0).random((50, 2)))
    explained = found.explain(np.tile(ORIGIN, (len(POINTS), 1)))
    return asked_of(explained).setting, explained.table


def shown(asked, rows):
    setting, table = asked
    points = POINTS[rows]
    moved = np.tile([False, True], (len(points), 1))
    limits = np.full(2, -np.inf), np.full(2, np.inf)
    ones = np.ones(len(points), dtype=np.int64)
    steps = np.full(2, 0.1)
    some = table.take(np.array(rows))
    return round_valid(setting, some, points, moved, ORIGIN, ones, limits, steps, changes=True)


@pytest.mark.parametrize("at_once", [1, 5, 32])
def test_the_coarsest_number_that_will_do(asked, monkeypatch, at_once):
    monkeypatch.setattr(rounding, "TRIED_AT_ONCE", at_once)
    together = shown(asked, [0, 1, 2, 3])
    assert together[:3, 1].tolist() == [0.51, 0.5001, 0.5000003]
    assert np.isnan(together[3]).all()
    for row in range(3):
        assert shown(asked, [row])[0].tolist() == together[row].tolist()


def test_few_calls_for_many_digits(asked, monkeypatch):
    calls, predict = [], Setting.predict
    monkeypatch.setattr(
        Setting, "predict", lambda *given: calls.append(len(given[2])) or predict(*given)
    )
    shown(asked, [2])  # the seventh digit
    assert len(calls) <= 4


def test_next_to_an_edge_of_another_class_numbers_go_a_little_back(asked):
    """Towards the edge 0.5 itself nothing is of the class, however many digits are told."""
    setting, table = asked
    point, origin = np.array([[0.5, np.nextafter(0.5, 1.0)]]), np.array([0.5, 0.9])
    some, sides = table.take(np.array([0])), (np.full(2, -np.inf), np.full(2, np.inf))
    moved, steps = np.array([[False, True]]), np.full(2, 0.01)
    told = round_valid(setting, some, point, moved, origin, np.ones(1, dtype=int), sides, steps)
    assert told[0, 1] == 0.51
