"""Shared explanations: a mixed credit model, and a many-class image model."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.demo import explain_applicants, train_credit_model


@pytest.fixture(scope="session")
def credit():
    return train_credit_model()


@pytest.fixture(scope="session")
def applicants(credit):
    return explain_applicants(credit, 40)


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = LogisticRegression(max_iter=2000).fit(X, y)
    rules = pertinent.Constraints(bounds={i: (0, 1) for i in range(64)})
    return pertinent.Explainer(model, data=X, baseline=0.0, constraints=rules).explain(X[:12])


@pytest.fixture(scope="session")
def impossible():
    """Every feature frozen: proved that nothing would change the prediction."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = LogisticRegression().fit(X, X[:, 0] + X[:, 1] > 0)
    rules = pertinent.Constraints(frozen=[0, 1, 2])
    return pertinent.Explainer(model, data=X, constraints=rules).explain(X[:4])
