"""Unions of boxes, as decision trees have them: strict, exact and sufficient by brute force."""

from itertools import product

import numpy as np
import pytest

import pertinent
from pertinent.geometry.region import Cell, CellUnion

EDGE = np.nextafter(0.5, 1.0)


class Tree:
    """x0 <= 0.5: class 1 iff x1 > 0.5; else class 1 iff x2 <= 0.5. Feature 3 does nothing."""

    classes_ = np.array([0, 1])
    n_features_in_ = 4

    def predict(self, X):
        X = np.asarray(X)
        return np.where(X[:, 0] <= 0.5, X[:, 1] > 0.5, X[:, 2] <= 0.5).astype(int)


def _box(**sides):
    low, high = np.full(4, -np.inf), np.full(4, np.inf)
    for name, right in sides.items():
        (low if right else high)[int(name[1])] = EDGE if right else 0.5
    return Cell(np.zeros((0, 4)), np.zeros(0), lower=low, upper=high)


@pytest.fixture(scope="module")
def tree():
    leaves = {
        1: (_box(x0=False, x1=True), _box(x0=True, x2=False)),
        0: (_box(x0=False, x1=False), _box(x0=True, x2=True)),
    }
    name = f"{Tree.__module__}.{Tree.__qualname__}"
    pertinent.register_model(name)(lambda model, label, margin: CellUnion(leaves[label]))
    return Tree()


SAMPLES = np.array(list(product([0.2, 0.9], repeat=4)))
MASKS = np.array(list(product([False, True], repeat=4)))
CORNERS = np.array(list(product([0.0, 1.0], repeat=4)))


def test_strict(tree):
    baseline = np.array([0.4, 0.4, 0.6, 0.0])
    found = pertinent.pertinent_positives(tree, SAMPLES, method="strict", baseline=baseline)
    for x, size in zip(SAMPLES, found.objective, strict=True):
        same = tree.predict(np.where(MASKS, x, baseline)) == tree.predict(x[None])
        assert size == MASKS[same].sum(axis=1).min()
    assert (found.status == "optimal").all()


def test_exact_and_fewest_changes(tree):
    baseline = np.array([0.4, 0.4, 0.6, 0.0])
    found = pertinent.pertinent_positives(tree, SAMPLES, method="exact", baseline=baseline)
    assert (found.status == "optimal").all()
    # One feature always suffices: x1 on the left, or a step to the right.
    assert found.objective.max() == 1
    changed = pertinent.pertinent_negatives(tree, SAMPLES, norm="l0")
    assert (changed.objective == 1).all()
    assert (tree.predict(changed.points) != tree.predict(SAMPLES)).all()


def test_sufficient(tree):
    rules = pertinent.Constraints(bounds={j: (0.0, 1.0) for j in range(4)})
    found = pertinent.pertinent_positives(tree, SAMPLES, method="sufficient", constraints=rules)
    assert (found.status == "optimal").all()
    for i, x in enumerate(SAMPLES):
        own = tree.predict(x[None])
        enough = [(tree.predict(np.where(m, x, CORNERS)) == own).all() for m in MASKS]
        assert found.objective[i] == MASKS[enough].sum(axis=1).min()
        assert (tree.predict(np.where(found.kept[i], x, CORNERS)) == own).all()
