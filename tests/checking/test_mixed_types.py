"""Explanations of tables whose columns differ in type are confirmed by the check."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pertinent

ROWS = 300


def columns(rng):
    return {
        "a": rng.normal(size=ROWS).astype(np.float32),
        "b": rng.normal(size=ROWS) * 100,
        "c": rng.integers(0, 50, size=ROWS),
        "d": (rng.normal(size=ROWS) * 1e3).astype(np.float32),
        "e": rng.integers(0, 3, size=ROWS).astype(np.int8),
        "f": rng.integers(2**25, 2**26, size=ROWS),  # float32 cannot hold these
        "g": rng.random(ROWS) < 0.5,
    }


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    made = columns(rng)
    score = made["a"] + made["b"] / 100 + made["c"] / 25 - 1 + made["d"] / 1e3 + made["g"] / 2
    return made, (score + 0.3 * rng.normal(size=ROWS) > 0).astype(int)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("single", [["a"], ["a", "d"], []], ids=["one", "two", "none"])
def test_honest_explanations_hold(frame, single, data):
    made, y = data
    table = frame(
        {k: v if k in single or v.dtype != np.float32 else v.astype(float) for k, v in made.items()}
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, y)
    found = pertinent.Explainer(model, data=table).explain(table[:5])
    for one in found:
        checked = pertinent.check(one.json(), model)
        assert checked.verdict == "holds", str(checked)


def test_a_file_says_which_features_are_in_single_precision(data):
    made, y = data
    table = pd.DataFrame(made)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, y)
    one = pertinent.Explainer(model, data=table).explain(table[:1])[0]
    assert json.loads(one.json())["proof"]["question"]["single_features"] == ["a", "d"]
