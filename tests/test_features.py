"""Features by name and by position."""

from __future__ import annotations

import pytest
from linear_models import data
from sklearn.linear_model import LogisticRegression

from pertinent.exceptions import InputError
from pertinent.features import Features


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
    assert Features.of(model, X).names == ("x0", "x1", "x2", "x3")
