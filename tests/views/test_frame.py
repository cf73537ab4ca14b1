"""Tables of explanations hold the answers themselves, whatever stands before them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from tests.models.pipeline_cases import CASES, fitted

#: Pipelines that answer at once; categories stand before, between and behind numbers.
QUICK = [
    name for name in CASES if not name.startswith(("polynomial", "naive", "select", "k best"))
][::4]


def same(one, two):
    return one == two or (pd.isna(one) and pd.isna(two))


@pytest.mark.matrix(3)
@pytest.mark.parametrize("name", QUICK)
def test_every_column_holds_the_values_of_the_points(name):
    model, X, _ = fitted(name)
    backwards = X[X.columns[::-1]]
    explainer = pertinent.Explainer(model, data=X)
    for rows in (X.head(4), backwards.head(4)):
        result = explainer.explain(rows)
        frame = result.to_frame()
        for kind, found in (("positive", result.positive), ("negative", result.negative)):
            for i in np.flatnonzero(found.found):
                shown = frame.iloc[i]
                for feature in X:
                    assert same(shown[f"{kind}.{feature}"], found.points[feature].iloc[i]), feature
            assert frame.loc[~found.found, f"{kind}.{X.columns[0]}"].isna().all()


def test_numbers_behind_categories_in_every_kind_of_table():
    rng = np.random.default_rng(0)
    table = {
        "city": rng.choice(["a", "b", "c"], 90),
        "income": rng.normal(size=90) * 10,
        "home": rng.choice(["own", "rent"], 90),
        "age": rng.integers(20, 60, 90),
    }
    X = pd.DataFrame(table)
    numbers, words = ["income", "age"], ["city", "home"]
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), words))
    y = X.income / 10 + (X.city == "a") + X.age / 40 > 1
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    result = pertinent.Explainer(model, data=X).explain(X.head(6))
    changed = result.negative.points
    for backend in ("pandas", "polars", "pyarrow"):
        frame = result.to_frame(backend=backend)
        for feature in X:
            assert list(np.asarray(frame[f"negative.{feature}"])) == changed[feature].tolist()
