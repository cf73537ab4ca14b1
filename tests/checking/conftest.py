"""A linear model, and an explanation of it as it is stored."""

import json

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=1000).fit(X, y), X


@pytest.fixture(scope="module")
def stored(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None)
    return json.loads(explainer.explain(X[60:61])[0].json())
