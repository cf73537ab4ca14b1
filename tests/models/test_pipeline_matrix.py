"""Every pipeline: its region agrees with predict, and every answer is valid, in raw units."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pertinent
from pertinent.models.steps.pipeline import features_of
from pertinent.rules.obeyed import broken_rules
from pertinent.tables.reading import read_table
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


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", CASES)
def test_region_agrees_with_predict(name):
    model, X, _ = fitted(name)
    rows = pd.concat([X, many_rows(X, 1200)], ignore_index=True)
    values = read_table(features_of(model, X), rows).values
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


def all_rules(X, features, curved):
    """Return every kind of rule at once; for curved models no whole numbers.

    Those are slow under curves: `test_curved_mixed` has them.
    """
    simple = simple_rules(X, features)
    floats = [n for j, n in enumerate(X) if not features.is_category(j) and X[n].dtype.kind == "f"]
    whole = [n for j, n in enumerate(X) if not features.is_category(j) and X[n].dtype.kind == "i"]
    texts = [name for j, name in enumerate(X) if features.is_category(j)]
    below, above = floats[-1], floats[0]
    slack = float((X[below] - X[above]).max() + X[below].std())
    return replace(
        simple,
        integer=[] if curved else whole,
        decimals={} if curved else {floats[-1]: 1},
        categories={name: list(features.levels[features.index(name)])[1:] for name in texts[:1]},
        transitions={name: lambda old, new: str(old) <= str(new) for name in texts[1:2]},
        relations=[({below: 1.0, above: -1.0}, slack)] if len(floats) > 1 else [],
        costs={floats[-1]: 2.0},
        max_changes=2 if curved else 4,
        together=[] if len(floats) < 4 else [floats[-3:-1]],
    )


@pytest.mark.matrix(4)
@pytest.mark.parametrize("ruled", ["free", "ruled", "all rules"])
@pytest.mark.parametrize("name", CASES)
def test_answers_are_valid(name, ruled):
    model, X, _ = fitted(name)
    features = features_of(model, X)
    rules = {
        "free": pertinent.Constraints,
        "ruled": lambda: simple_rules(X, features),
        "all rules": lambda: all_rules(X, features, is_curved(name)),
    }[ruled]()
    rows = X.sample(2 if is_curved(name) else 4, random_state=1)
    before, table = model.predict(rows), read_table(features, rows)
    negative = pertinent.pertinent_negatives(model, rows, data=X, constraints=rules)
    positive = pertinent.pertinent_positives(
        model, rows, data=X, baseline="median", between=True, constraints=rules
    )
    for found, same in ((negative, False), (positive, True)):
        allowed = {"optimal"} if ruled == "free" else {"optimal", "infeasible"}
        assert set(found.status) <= (allowed | {"feasible"} if is_curved(name) else allowed)
        ok = np.flatnonzero(found.found)
        assert ((model.predict(found.points.iloc[ok]) == before[ok]) == same).all()
        own = table.take(ok)
        assert not broken_rules(
            rules, features, own.raw(found.values[ok]), own.raw(own.values), changes=not same
        )
        assert list(found.points.columns) == list(X.columns)
        assert (found.bound[ok] <= found.objective[ok] + 1e-9).all()
