"""How sure a share of few rows is; and a row far from all data, in numbers of any size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from pertinent.server.solving.cohorts import _draws, _interval
from pertinent.server.table.rows import Rows
from tests.server.inline import application, small


@pytest.mark.parametrize(("count", "low", "high"), [(5, 0.5, 0.75), (0, 0.0, 0.01), (3, 0.1, 0.3)])
def test_few_rows_do_not_tell_everything(count, low, high):
    """Jeffreys' interval: of 5 in 5 it begins at 0.62, of 0 in 5 it ends at 0.38."""
    answered = np.arange(5) < count
    shares, _ = _draws(np.random.default_rng(0), answered, np.ones(5))
    first, last = _interval(shares)
    assert low <= first <= high
    assert first < count / 5 < last or count in (0, 5)
    assert last - first > 0.3


@pytest.mark.parametrize("number", [1e60, 1e89, -6e99])
def test_a_plausible_change_of_a_huge_number_is_answered(number):
    app, _ = application()
    row = {"<script>alert(1)</script>": number, "income": 100, "age": 30, "job": "fixed"}
    with TestClient(app, "http://127.0.0.1") as client:
        answer = client.post("/api/v1/explain", json={"rows": [row], "plausible": True})
    assert answer.status_code == 200, answer.text


def test_every_row_is_in_a_group_but_those_that_cannot_be_read():
    data = small().frame.copy()
    kinds = [None if i % 4 == 0 else f"{i % 20}" for i in range(len(data))]
    rows = Rows(None, pd.DataFrame({"kind": kinds}), ["kind"], [])
    groups = {words: int(own.sum()) for words, _, own in rows.groups("kind")}
    assert len(groups) == 14
    assert groups["kind missing"] == kinds.count(None)
    assert sum(groups.values()) == len(data)
    data.loc[3, "income"] = np.nan  # and the model needs one
    app, _ = application(data=data)
    with TestClient(app, "http://127.0.0.1") as client:
        told = client.post("/api/v1/cohorts", json={"by": "income", "sample": 5000}).json()
    assert told["rows"] == len(data) - 1
    assert all(group["n"] for group in told["groups"])
