"""Each sense of a relation is kept by itself: at most, at least, and both for an equation."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.rules.relations import read_relation

#: Class 1 where x0 + x1 > 4.
MODEL = LogisticRegression()
MODEL.coef_, MODEL.intercept_, MODEL.classes_ = np.ones((1, 2)), np.array([-4.0]), np.arange(2)
MODEL.n_features_in_ = 2


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        ("x0 <= 1", lambda x: x[0] <= 1 + 1e-9),
        ("x0 >= 3", lambda x: x[0] >= 3 - 1e-9),
        ("x0 == 3", lambda x: abs(x[0] - 3) <= 1e-9),
        ("x0 == 1", lambda x: abs(x[0] - 1) <= 1e-9),
        ("x0 - x1 == 7", lambda x: abs(x[0] - x[1] - 7) <= 1e-8),
        ("x1 - x0 == 7", lambda x: abs(x[1] - x[0] - 7) <= 1e-8),
    ],
)
def test_a_negative_keeps_a_relation(relation, holds):
    sample = np.array([[1.5, 1.5]])
    found = pertinent.pertinent_negatives(
        MODEL, sample, constraints=pertinent.Constraints(relations=[relation])
    )
    assert found.status[0] == "optimal"
    assert holds(found.values[0]), found.values[0]


def test_the_rows_of_each_sense():
    """A point on the wrong side by 1 breaks at least one row, on the right side none."""
    wrong = {"a <= 2": (3.0,), "a >= 2": (1.0,), "a == 2": (1.0, 3.0)}
    for text, values in wrong.items():
        (relation,) = read_relation(text)
        for value in values:
            assert any(row["a"] * value > side for row, side in relation.rows()), (text, value)
            assert not relation.holds({"a": value})
        assert all(row["a"] * 2.0 <= side for row, side in relation.rows()), text
        assert relation.holds({"a": 2.0})
