"""Every pipeline: its region agrees with predict, and every answer is valid, in raw units."""

import numpy as np
import pandas as pd
import pytest

import pertinent
from pertinent.features import Features
from pertinent.rulecheck import broken_rules
from tests.models.pipeline_cases import CASES, fitted


def many_rows(X, n, seed=0):
    """Return rows that mix the values of the columns, numbers moved a little."""
    rng = np.random.default_rng(seed)
    frame = {}
    for name in X:
        column = X[name].to_numpy()[rng.integers(len(X), size=n)]
        if column.dtype.kind == "f":
            column = column + rng.normal(size=n) * 0.3 * X[name].std()
        frame[name] = pd.Series(column, dtype=X[name].dtype)
    return pd.DataFrame(frame)


def test_there_are_enough_pipelines():
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", CASES)
def test_region_agrees_with_predict(name):
    model, X, _ = fitted(name)
    rows = pd.concat([X, many_rows(X, 2500)], ignore_index=True)
    values = Features.of(model, X).read(rows).values
    predicted = model.predict(rows)
    for label in model.classes_:
        region = pertinent.decision_region(model, label)
        wrong = region.contains(values) != (predicted == label)
        # A sample on the boundary to the last digit may fall on either side.
        assert all(abs(c.violation(values[wrong])).max(initial=0) < 1e-7 for c in region.cells)
        assert wrong.mean() < 1e-3


def is_curved(name):
    return name.startswith(("polynomial", "naive"))


def simple_rules(X, features):
    """Return a frozen number, a bounded one and one that may only increase."""
    numbers = [
        name
        for j, name in enumerate(X)
        if not features.is_category(j) and X[name].dtype.kind in "if"
    ]
    limits = (float(X[numbers[1]].min()), float(X[numbers[1]].max()))
    return pertinent.Constraints(
        frozen=numbers[:1], bounds={numbers[1]: limits}, increase_only=numbers[2:3]
    )


@pytest.mark.parametrize("ruled", [False, True], ids=["free", "ruled"])
@pytest.mark.parametrize("name", CASES)
def test_answers_are_valid(name, ruled):
    model, X, _ = fitted(name)
    features = Features.of(model, X)
    rules = simple_rules(X, features) if ruled else pertinent.Constraints()
    rows = X.sample(3 if is_curved(name) else 20, random_state=1)
    before, table = model.predict(rows), features.read(rows)
    negative = pertinent.pertinent_negatives(model, rows, data=X, constraints=rules)
    positive = pertinent.pertinent_positives(
        model, rows, data=X, baseline="median", between=True, constraints=rules
    )
    for found, same in ((negative, False), (positive, True)):
        allowed = {"optimal", "infeasible"} if ruled else {"optimal"}
        assert set(found.status) <= (allowed | {"feasible"} if is_curved(name) else allowed)
        ok = np.flatnonzero(found.found)
        assert ((model.predict(found.points.iloc[ok]) == before[ok]) == same).all()
        own = table.take(ok)
        assert not broken_rules(
            rules, features, own.raw(found.values[ok]), own.raw(own.values), changes=not same
        )
        assert list(found.points.columns) == list(X.columns)
        assert (found.bound[ok] <= found.objective[ok] + 1e-9).all()
