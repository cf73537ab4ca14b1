"""Every question about tree ensembles, against brute force over cells and the model's predict."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import pertinent
from pertinent.models.trees.forests import forest_of

pytestmark = pytest.mark.matrix(2)

X, Y = load_wine(return_X_y=True)
X = np.round(X[:, [0, 6, 9, 12]], 2)
MODEL = RandomForestClassifier(8, max_depth=3, random_state=0).fit(X, Y)
SAMPLES, BASE = X[::30], np.median(X, axis=0)
SCALE = 1 / X.std(axis=0)


def _cells(center, low=-np.inf, high=np.inf, model=MODEL):
    """Return the value next to the center in each cell of each column, as a list of columns."""
    out = []
    limits = np.broadcast_to(low, 4), np.broadcast_to(high, 4)
    for j, cuts in enumerate(forest_of(model).cuts):
        least = np.maximum(np.concatenate([[-np.inf], np.nextafter(cuts, np.inf)]), limits[0][j])
        most = np.minimum(np.concatenate([cuts, [np.inf]]), limits[1][j])
        kept = least <= most
        out.append(np.clip(center[j], least[kept], most[kept]))
    return out


def _best(columns, center, wanted, model=MODEL):
    """Return the least distance to a center of a product of columns with a wanted class."""
    points = np.array(list(product(*columns)))
    cost = (SCALE * np.abs(points - center)).sum(axis=1)
    return cost[wanted(model.predict(points))].min(initial=np.inf)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_negatives(dtype):
    samples = SAMPLES.astype(dtype)
    found = pertinent.pertinent_negatives(MODEL, samples, weights=SCALE)
    own = MODEL.predict(samples)
    assert (found.status == "optimal").all()
    for i, x in enumerate(samples.astype(float)):
        best = _best(_cells(x), x, lambda p, i=i: p != own[i])
        rounding = 1e-9 if dtype == np.float64 else 1e-5
        assert found.objective[i] == pytest.approx(best, rel=rounding, abs=1e-4 * rounding)
        assert MODEL.predict(found.points[[i]])[0] == found.target[i] != own[i]
    np.testing.assert_array_equal(MODEL.predict(found.points), found.target)
    assert found.points.dtype == dtype


def test_negatives_of_a_given_class_within_rules():
    rules = pertinent.Constraints(frozen=[0], increase_only=[1], bounds={3: (300, 1600)})
    rows = SAMPLES[MODEL.predict(SAMPLES) != 1]
    found = pertinent.pertinent_negatives(MODEL, rows, target=1, weights=SCALE, constraints=rules)
    for i, x in enumerate(rows):
        low = np.array([x[0], x[1], -np.inf, 300])
        high = np.array([x[0], np.inf, np.inf, 1600])
        best = _best(_cells(x, low, high), x, lambda p: p == 1)
        if np.isinf(best):
            assert found.status[i] == "infeasible"
        else:
            assert found.status[i] == "optimal"
            assert found.objective[i] == pytest.approx(best, rel=1e-9)


def test_fewest_changes():
    found = pertinent.pertinent_negatives(MODEL, SAMPLES, weights=SCALE, norm="l0")
    own = MODEL.predict(SAMPLES)
    for i, x in enumerate(SAMPLES):
        columns, fewest = _cells(x), None
        for size in range(1, 5):
            for some in combinations(range(4), size):
                moved = [columns[j] if j in some else x[[j]] for j in range(4)]
                if np.isfinite(_best(moved, x, lambda p, i=i: p != own[i])):
                    fewest = size if fewest is None else fewest
        assert found.status[i] == "optimal"
        assert found.objective[i] == fewest


def test_positives_between():
    found = pertinent.pertinent_positives(
        MODEL, SAMPLES, weights=SCALE, baseline=BASE, between=True
    )
    own = MODEL.predict(SAMPLES)
    for i, x in enumerate(SAMPLES):
        low, high = np.minimum(x, BASE), np.maximum(x, BASE)
        best = _best(_cells(BASE, low, high), BASE, lambda p, i=i: p == own[i])
        assert found.status[i] == "optimal"
        assert found.objective[i] == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_strict_positives_keep_as_few_values_as_can_be():
    found = pertinent.pertinent_positives(
        MODEL, SAMPLES, weights=SCALE, baseline=BASE, method="strict"
    )
    own = MODEL.predict(SAMPLES)
    for i, x in enumerate(SAMPLES):
        subsets = [np.isin(range(4), s) for k in range(5) for s in combinations(range(4), k)]
        points = np.array([np.where(kept, x, BASE) for kept in subsets])
        fewest = min(kept.sum() for kept, p in zip(subsets, MODEL.predict(points), strict=True)
                     if p == own[i])  # fmt: skip
        assert found.status[i] == "optimal"
        assert found.objective[i] == fewest


def test_sufficient_positives_hold_whatever_the_others_are():
    found = pertinent.pertinent_positives(
        MODEL, SAMPLES, weights=SCALE, baseline=BASE, method="sufficient", data=X
    )
    own, low, high = MODEL.predict(SAMPLES), X.min(axis=0), X.max(axis=0)
    for i, x in enumerate(SAMPLES):
        columns, fewest = _cells(x, low, high), None
        for size in range(5):
            for kept in combinations(range(4), size):
                values = [x[[j]] if j in kept else columns[j] for j in range(4)]
                if fewest is None and np.isinf(_best(values, x, lambda p, i=i: p != own[i])):
                    fewest = size
        assert found.status[i] == "optimal"
        assert found.objective[i] == fewest


def test_exact_positives_and_alternatives():
    strict, exact = (
        pertinent.pertinent_positives(
            MODEL, SAMPLES, weights=SCALE, baseline=BASE, method=method, alternatives=2
        )
        for method in ("strict", "exact")
    )
    assert (exact.status == "optimal").all()
    assert (exact.objective <= strict.objective).all()
    np.testing.assert_array_equal(MODEL.predict(exact.points), MODEL.predict(SAMPLES))


@pytest.mark.parametrize(
    "asked", [{}, {"method": "strict"}, {"method": "exact"}, {"method": "sufficient"},
              {"norm": "l0"}, {"overlap": "avoid"}],
)  # fmt: skip
def test_stored_explanations_hold_and_forged_ones_do_not(asked):
    explainer = pertinent.Explainer(MODEL, data=X, **asked)
    one = explainer.explain(SAMPLES[:1])[0]
    assert "Proved" in one.text()
    stored = one.json()
    assert "refuted" not in str(pertinent.check(stored, MODEL))
    assert "unknown" not in str(pertinent.check(stored, MODEL))
    other = RandomForestClassifier(8, max_depth=3, random_state=7).fit(X[::2], Y[::2])
    assert "refuted" in str(pertinent.check(stored, other))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(9, max_depth=3, random_state=0),
        ExtraTreesClassifier(9, max_depth=3, random_state=0),
        GradientBoostingClassifier(n_estimators=9, max_depth=2, random_state=0),
        HistGradientBoostingClassifier(max_iter=9, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_least_probability(model):
    two = Y < 2
    model.fit(X[two], Y[two])
    top = model.predict_proba(X[two]).max(axis=1)
    asked = float(np.quantile(top, 0.2))
    found = pertinent.pertinent_negatives(model, X[two][::25], weights=SCALE, min_proba=asked)
    plain = pertinent.pertinent_negatives(model, X[two][::25], weights=SCALE)
    assert (found.status == "optimal").all()
    proba = model.predict_proba(found.points).max(axis=1)
    assert (proba >= asked).all()
    assert (found.objective >= plain.objective * (1 - 1e-9)).all()
    assert (found.objective > plain.objective * (1 + 1e-9)).any()


def _credit(encoder):
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(50, 15, n).round(1),
            "job": rng.choice(list("abcd"), n),
        }
    )
    points = (table.age > 40) * 1 + (table.income > 50) + 2 * (table.job == "a")
    label = np.where(points + rng.integers(0, 2, n) >= 2, "yes", "no")
    steps = make_column_transformer((encoder, ["job"]), (StandardScaler(), ["age", "income"]))
    forest = RandomForestClassifier(12, max_depth=4, random_state=0)
    return make_pipeline(steps, forest).fit(table, label), table


@pytest.mark.parametrize(
    "encoder", [OneHotEncoder(), OneHotEncoder(drop="first"), OrdinalEncoder()], ids=repr
)
def test_pipelines_with_scalers_and_categories(encoder):
    model, table = _credit(encoder)
    some = table.iloc[:8]
    costs = {"age": 0.1, "income": 0.05, "job": 1.0}
    whole = pertinent.Constraints(integer=["age"], costs=costs)
    found = pertinent.pertinent_negatives(model, some, constraints=whole)
    assert (found.status == "optimal").all()
    own = model.predict(some)
    assert (model.predict(found.points) != own).all()
    ages = np.arange(0, 120)
    for i in range(len(some)):
        sample = some.iloc[i]
        cuts = np.unique(np.concatenate([table.income - 0.05, table.income + 0.05]))
        cuts = np.concatenate([cuts, [sample.income]])
        grid = pd.DataFrame(
            [(a, c, j) for a in ages[::7] for c in cuts[::9] for j in "abcd"],
            columns=["age", "income", "job"],
        )
        moved = model.predict(grid) != own[i]
        cost = (
            0.1 * (grid.age - sample.age).abs()
            + 0.05 * (grid.income - sample.income).abs()
            + 1.0 * (grid.job != sample.job)
        )
        best = cost[moved].min()
        assert found.objective[i] <= best + 1e-9  # no point of a coarse grid is nearer


def test_trees_in_batches_and_alone_give_the_same():
    explainer = pertinent.Explainer(MODEL, data=X)
    together = explainer.explain(SAMPLES)
    for i in range(2):
        alone = explainer.explain(SAMPLES[[i]])
        np.testing.assert_array_equal(alone.negative.points[0], together.negative.points[i])
        np.testing.assert_array_equal(alone.positive.points[0], together.positive.points[i])
