"""Features that change together, on steps: the next value of a lattice is not lost to rounding."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.exceptions import InputError

GRID = np.array(list(itertools.product(range(5), [0.0, 0.1, 0.2, 0.3, 0.4])))
LABELS = (GRID[:, 0] - 10 * GRID[:, 1] > 0).astype(int)
WEIGHTS = np.array([0.5, 20.0])


@pytest.mark.parametrize("model", [LogisticRegression(C=1e3), GaussianNB()])
@pytest.mark.parametrize("sample", [[2.0, 0.3], [2.25, 0.3], [1.0, 0.33]])
def test_the_smallest_change_of_both_is_that_of_all_points(model, sample):
    """0.3 - 0.1 rounds to less than 0.2; a sample's own value may lie off the steps."""
    model.fit(GRID, LABELS)
    x = np.array([sample])
    rules = pertinent.Constraints(
        bounds={0: (0, 4), 1: (0, 0.4)}, integer=[0], decimals={1: 1}, together=[[0, 1]]
    )
    found = pertinent.pertinent_negatives(model, x, weights=WEIGHTS, constraints=rules)
    other = (model.predict(GRID) != model.predict(x)) & (x != GRID).all(axis=1)
    least = (np.abs(GRID - x) @ WEIGHTS)[other].min()
    assert found.status.tolist() == ["optimal"]
    assert found.objective[0] == pytest.approx(least)
    assert found.bound[0] <= least * (1 + 1e-9)


def test_an_empty_group_is_refused():
    with pytest.raises(InputError, match="must name features. Got an empty one"):
        pertinent.Constraints(together=[[0, 1], []])
