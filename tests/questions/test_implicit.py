"""Fewest changes where a region has no cells: the rules count, and come to the same answers."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.setting import limits

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
MODELS = {"softmax": LogisticRegression(), "winners": NearestCentroid()}


def no_cells(region):
    """Say of every region that it has no cells."""
    return None


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("more", [{"norm": "l0"}, {"max_changes": 1}, {"max_changes": 2}])
def test_the_rules_count_as_the_search_over_cells_does(monkeypatch, name, more):
    model = MODELS[name].fit(X, y)
    rows = X[::10]
    by_cells = pertinent.pertinent_negatives(model, rows, **more)
    monkeypatch.setattr(limits, "cells_of", no_cells)
    by_rules = pertinent.pertinent_negatives(model, rows, **more)
    np.testing.assert_array_equal(by_rules.status, by_cells.status)
    assert by_cells.found.any()
    np.testing.assert_allclose(by_rules.objective, by_cells.objective, rtol=1e-6)
    np.testing.assert_allclose(by_rules.closeness, by_cells.closeness, rtol=1e-6)
    np.testing.assert_allclose(by_rules.bound, by_cells.bound, rtol=1e-6)
