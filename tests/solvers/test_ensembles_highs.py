"""Tree ensembles beside HiGHS, which solves the program over their leaves."""

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import pertinent
from benchmarks.trees.models import table_of
from benchmarks.trees.oracle import solved
from pertinent.geometry.task import Task

MODELS = [
    ("cancer", RandomForestClassifier(15, max_depth=4, random_state=0)),
    ("cancer", ExtraTreesClassifier(12, max_depth=3, random_state=0)),
    ("credit", RandomForestClassifier(10, max_depth=4, random_state=0)),
    ("cancer", GradientBoostingClassifier(n_estimators=40, max_depth=3, random_state=0)),
    ("credit", HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=8, random_state=0)),
]


@pytest.mark.parametrize(("table", "model"), MODELS, ids=lambda one: str(one)[:30])
def test_the_distance_is_that_of_the_program_over_leaves(table, model):
    X, y = table_of(table)
    model.fit(X[::2], y[::2])
    rows = X[1::2][:4]
    own = model.predict(rows)
    targets = np.where(own == model.classes_[0], model.classes_[1], model.classes_[0])
    found = pertinent.pertinent_negatives(model, rows, target=targets)
    assert (found.status == "optimal").all()
    compared = 0
    for i, x in enumerate(rows):
        region = pertinent.decision_region(model, targets[i])
        proved, distance = solved(Task.of(region, x[None], np.ones(len(x))), 20.0)
        if proved:
            compared += 1
            assert found.objective[i] == pytest.approx(distance, rel=1e-6, abs=1e-9)
    assert compared
