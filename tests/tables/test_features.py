"""Features by name and by position."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from linear_models import data
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.features import Features


def test_features_by_position_and_name():
    features = Features(("age", "income"))
    assert features.index(-1) == 1
    assert features.indices(["income", 0]).tolist() == [1, 0]
    with pytest.raises(InputError, match="Did you mean 'income'"):
        features.index("incme")
    with pytest.raises(InputError, match="no feature 5"):
        features.index(5)
    with pytest.raises(InputError, match="list of features, got the text 'age'"):
        features.indices("age")


def test_unnamed_features_get_numbers():
    X, y = data("iris")
    model = LogisticRegression().fit(X, y)
    assert features_of(model, X).names == ("x0", "x1", "x2", "x3")


def test_columns_named_by_numbers_get_names_that_can_be_read():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)))
    model = LogisticRegression().fit(frame, frame[0] > 0)
    assert features_of(model, frame).names == ("0", "1")
    explained = pertinent.Explainer(model, data=frame).explain(frame[:2])
    assert explained.negative.points.columns.tolist() == [0, 1]
    assert "0" in explained[0].text()
