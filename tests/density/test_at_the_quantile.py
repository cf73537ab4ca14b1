"""The training point that sets the threshold is plausible itself: no answer is lost to a tie."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent

X = np.array(list(itertools.product(range(5), repeat=2)), dtype=float)
Y = (X.sum(axis=1) > 4).astype(int)


@pytest.mark.parametrize("quantile", [0.0, 1.0])
@pytest.mark.parametrize("rules", [{}, {"integer": [0, 1]}])
def test_the_point_at_the_quantile_is_an_answer(quantile, rules):
    """Of the least dense points, or of the densest, the rules leave a single one."""
    model = LogisticRegression().fit(X, Y)
    dense = pertinent.Plausibility(X, Y, n_components=1, quantile=quantile)
    own = X[Y == 1]
    scores = dense.score_samples(own, 1)
    x = own[scores.argmax() if quantile else scores.argmin()]
    held = pertinent.Constraints(bounds={j: (x[j], x[j]) for j in range(2)}, **rules)
    found = pertinent.pertinent_negatives(model, X[:1], 1, constraints=held, plausibility=dense)
    assert model.predict(x[None])[0] == 1
    assert found.status.tolist() == ["optimal"]
    assert found.points.tolist() == [x.tolist()]
