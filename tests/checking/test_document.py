"""Files that cannot be read as an explanation of the model."""

import numpy as np
import pytest
from forgeries import tampered
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.demo import train_credit_model
from pertinent.exceptions import InputError


def test_malformed_files_are_refused(iris, stored):
    with pytest.raises(InputError, match="not one number for each"):
        pertinent.check(tampered(stored, ("proof", "question", "weights"), [1.0, 2.0]), iris[0])
    with pytest.raises(InputError, match="malformed"):
        pertinent.check(tampered(stored, ("proof", "positive"), {}), iris[0])


def test_a_model_with_other_features_is_refused(stored):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    with pytest.raises(InputError):
        pertinent.check(stored, model)


def test_rules_that_are_functions_cannot_be_stored():
    credit = train_credit_model()
    rules = pertinent.Constraints(transitions={"job": lambda old, new: old == new})
    result = pertinent.Explainer(credit.model, data=credit.train, constraints=rules).explain(
        credit.applicants[:1]
    )
    with pytest.raises(InputError, match="a Python function, which a file cannot hold"):
        pertinent.check(result[0].json(), credit.model)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("question", "margin"), "x"),
        (("question", "margin"), -1.0),
        (
            ("negative", "values"),
            {"type": "array", "of": "float", "shape": [1, 3], "values": [1, 2, 3]},
        ),
        (("negative", "target_place", "values"), [9]),
        (("positive", "method"), "magic"),
        (("negative", "norm"), "l7"),
        (("question", "steps"), None),
        (("question", "target"), "no such class"),
    ],
)
def test_odd_files_are_refused_in_words(iris, stored, path, value):
    with pytest.raises(InputError):
        pertinent.check(tampered(stored, ("proof", *path), value), iris[0])


@pytest.mark.parametrize("other", [DecisionTreeClassifier, RandomForestClassifier])
def test_the_model_of_somebody_else_is_named(stored, other):
    """A file is not called malformed because its proofs are about another kind of model."""
    X, y = load_iris(return_X_y=True)
    model = other(max_depth=3, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=f"LogisticRegression, and this one is a {other.__name__}"):
        pertinent.check(stored, model)
