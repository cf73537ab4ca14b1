"""How a limit of time is shared: searches leave time for proofs, positives for negatives."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.answering.searching import SEARCH
from pertinent.geometry.running import deadline, share_of_time, until
from pertinent.setting.effort import Effort

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)


def test_a_share_is_one_of_what_is_left_and_of_nothing_where_there_is_no_limit():
    with share_of_time(0.5):
        assert deadline() == np.inf
    end = monotonic() + 100
    with until(end):
        with share_of_time(0.5):
            assert end - 51 < deadline() < end - 49
        assert deadline() == end


@pytest.mark.parametrize("limit", [None, 1000.0])
def test_an_effort_takes_its_share_of_an_earlier_limit(limit):
    end = monotonic() + 100
    with until(end):
        with Effort(time_limit=limit).limiting(1):
            assert deadline() == end
        with Effort(time_limit=limit).limiting(1, 0.6):
            assert end - 41 < deadline() < end - 39


def test_searches_leave_time_for_proofs_and_positives_for_negatives(monkeypatch):
    given = []
    find = type(SEARCH).find

    def noted(self, setting, ask, key, margin):
        given.append((key.kind.name, deadline() - monotonic()))
        return find(self, setting, ask, key, margin)

    monkeypatch.setattr(type(SEARCH), "find", noted)
    rules = pertinent.Constraints(decimals=dict.fromkeys(range(4), 1))
    explainer = pertinent.Explainer(MODEL, constraints=rules, time_limit=100)
    found = explainer.explain(X[:2])
    assert (found.negative.status == "optimal").all()
    # 200 seconds for each row, for both answers: half for the positive, and of what is left
    # whenever a search begins, six tenths for the search.
    seconds = dict(reversed(given))
    assert seconds["IS"] == pytest.approx(0.5 * 0.6 * 400, abs=2)
    assert seconds["NOT"] == pytest.approx(0.6 * 400, abs=2)
