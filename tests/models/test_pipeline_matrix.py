"""Every pipeline: its region agrees with predict, and every answer is valid, in raw units."""

import numpy as np
import pandas as pd
import pytest

import pertinent
from pertinent.features import Features
from tests.models.pipeline_cases import CASES, fitted


def many_rows(X, n, seed=0):
    """Return rows that mix the values of the columns, numbers moved a little."""
    rng = np.random.default_rng(seed)
    frame = {}
    for name in X:
        column = X[name].to_numpy()[rng.integers(len(X), size=n)]
        if column.dtype.kind == "f":
            column = column + rng.normal(size=n) * 0.3 * X[name].std()
        frame[name] = pd.Series(column, dtype=X[name].dtype)
    return pd.DataFrame(frame)


def test_there_are_enough_pipelines():
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", CASES)
def test_region_agrees_with_predict(name):
    model, X, _ = fitted(name)
    rows = pd.concat([X, many_rows(X, 2500)], ignore_index=True)
    values = Features.of(model, X).read(rows).values
    predicted = model.predict(rows)
    for label in model.classes_:
        region = pertinent.decision_region(model, label)
        wrong = region.contains(values) != (predicted == label)
        # A sample on the boundary to the last digit may fall on either side.
        assert all(abs(c.violation(values[wrong])).max(initial=0) < 1e-7 for c in region.cells)
        assert wrong.mean() < 1e-3


@pytest.mark.parametrize("name", CASES)
def test_answers_are_valid(name):
    model, X, _ = fitted(name)
    rows = X.iloc[::97].head(6)
    before = model.predict(rows)
    negative = pertinent.pertinent_negatives(model, rows, data=X)
    assert (negative.status != "failed").all()
    assert negative.found.all()
    assert (model.predict(negative.points) != before).all()
    positive = pertinent.pertinent_positives(model, rows, data=X, baseline="median", between=True)
    assert positive.found.all()
    assert (model.predict(positive.points) == before).all()
    for found in (negative, positive):
        assert list(found.points.columns) == list(X.columns)
        assert (found.bound <= found.objective + 1e-9).all()
    if not name.startswith(("polynomial", "naive")):
        assert (negative.status == "optimal").all()
        assert (positive.status == "optimal").all()
