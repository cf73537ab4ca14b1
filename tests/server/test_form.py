"""Rows by name become what the model takes, in the types of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pertinent
from pertinent.server.solving.form import RowForm
from pertinent.server.solving.refusal import Refusal
from tests.server.inline import small

DATA = pd.DataFrame({
    "small": np.array([1, 2, 3, 4] * 10, dtype=np.int8),
    "single": np.linspace(0, 1, 40, dtype=np.float32),
    "gap": [1.5, np.nan, 2.5, 3.5] * 10,
    "flag": [True, False] * 20,
    "kind": pd.Categorical(["a", "b", "c", "a"] * 10),
})  # fmt: skip


def form_of(data):
    columns = make_column_transformer(
        (SimpleImputer(), ["small", "single", "gap"]), ("passthrough", ["flag"]),
        (OneHotEncoder(), ["kind"]),
    )  # fmt: skip
    model = make_pipeline(columns, LogisticRegression()).fit(data, [0, 1, 1, 0] * 10)
    return RowForm.of(pertinent.Explainer(model, data=data).setting, data)


def test_rows_out_and_in_are_the_same_table():
    for data in (DATA, small().frame):
        model = None if data is DATA else small().model
        form = form_of(DATA) if model is None else RowForm.of(
            pertinent.Explainer(model, data=data).setting, data
        )  # fmt: skip
        rows = [
            {name: None if pd.isna(v) else getattr(v, "item", lambda v=v: v)()
             for name, v in row.items()}
            for row in data.head(6).to_dict("records")
        ]  # fmt: skip
        made = form.table(form.read(rows), ids=data.index[:6])
        pd.testing.assert_frame_equal(made, data.head(6))


def test_kinds_and_gaps_are_known():
    form = form_of(DATA)
    kinds = {c.name: (c.kind, c.may_be_missing) for c in form.columns}
    assert kinds["small"][0] == "integer"
    assert kinds["gap"] == ("number", True)
    assert kinds["flag"] == ("boolean", False)
    assert kinds["kind"] == ("category", False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"small": 1000}, None),  # wider than its type: a number all the same
        ({"small": 1.5}, None),
        ({"gap": None}, None),
        ({"flag": 1}, None),
        ({"flag": 2}, "true or false"),
        ({"flag": "yes"}, "must be a number"),
        ({"kind": "d"}, "one of 'a', 'b', 'c'"),
        ({"kind": None}, "cannot be missing"),
        ({"single": 1e200}, "at most 1e\\+100"),
        ({"single": True}, "must be a number"),
    ],
)
def test_values_are_taken_or_refused_by_name(change, words):
    row = {"small": 1, "single": 0.5, "gap": 2.0, "flag": True, "kind": "a"} | change
    form = form_of(DATA)
    if words is None:
        made = form.table(form.read([row])).iloc[0]
        [(name, value)] = change.items()
        assert (made[name] != made[name]) if value is None else made[name] == value
        return
    with pytest.raises(Refusal, match=words) as refused:
        form.read([row])
    assert refused.value.field == f"rows[0].{next(iter(change))}"
