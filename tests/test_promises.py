"""Pipelines, data and rules drawn at random: whatever comes back keeps every promise."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import pertinent
from pertinent import Constraints
from pertinent.models.steps.pipeline import features_of
from pertinent.rules.obeyed import broken_rules
from pertinent.solvers import project
from pertinent.tables.reading import read_table

SCALERS = [
    StandardScaler, MinMaxScaler, RobustScaler, lambda: "passthrough",
    lambda: MinMaxScaler((-1, 3), clip=True),
    lambda: make_pipeline(SimpleImputer(), StandardScaler()),
    lambda: make_pipeline(StandardScaler(), PCA()),
    lambda: KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
]  # fmt: skip
ENCODERS = [
    OneHotEncoder, OrdinalEncoder, lambda: OneHotEncoder(drop="first"),
    lambda: OneHotEncoder(handle_unknown="ignore", min_frequency=0.2),
]  # fmt: skip
MODELS = [
    lambda: LogisticRegression(max_iter=3000), LinearSVC, RidgeClassifier,
    LinearDiscriminantAnalysis,
]  # fmt: skip


@st.composite
def problems(draw):
    """Return a fitted pipeline, its data, a few samples and rules."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_numbers, n_texts = draw(st.integers(1, 4)), draw(st.integers(0, 2))
    n, n_classes = 80, draw(st.integers(2, 3))
    frame, score = {}, rng.normal(size=n) * 0.3
    for j in range(n_numbers):
        scale = 10.0 ** rng.integers(-1, 4)
        column = rng.normal(size=n)
        score += rng.normal() * column
        whole = draw(st.booleans())
        frame[f"n{j}"] = (column * 20).astype(int) if whole else np.round(column * scale, 3)
    for j in range(n_texts):
        levels = [f"level {k}" for k in range(rng.integers(2, 5))]
        code = rng.integers(len(levels), size=n)
        score += rng.normal(size=len(levels))[code]
        frame[f"c{j}"] = np.array(levels, dtype=object)[code]
    X = pd.DataFrame(frame)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    parts = [("numbers", draw(st.sampled_from(SCALERS))(), [f"n{j}" for j in range(n_numbers)])]
    if n_texts:
        names = [f"c{j}" for j in range(n_texts)]
        parts.append(("texts", draw(st.sampled_from(ENCODERS))(), names))
    steps = ColumnTransformer(parts, sparse_threshold=0)
    model = make_pipeline(steps, draw(st.sampled_from(MODELS))()).fit(X, y)
    return model, X, draw(rules(X))


@st.composite
def rules(draw, X):
    numbers = [name for name in X if name.startswith("n")]
    texts = [name for name in X if name.startswith("c")]
    some = st.lists(st.sampled_from(numbers), max_size=2, unique=True)
    given = {"frozen": draw(some), "increase_only": draw(some)}
    given["decrease_only"] = [n for n in draw(some) if n not in given["increase_only"]]
    whole = [name for name in numbers if X[name].dtype.kind == "i"]
    given["integer"] = draw(st.lists(st.sampled_from(whole), unique=True)) if whole else []
    given["decimals"] = {n: draw(st.integers(0, 2)) for n in draw(some) if n not in whole}
    wide = {n: (X[n].min() - X[n].std(), X[n].max() + X[n].std()) for n in draw(some)}
    given["bounds"] = {n: (float(a), float(b)) for n, (a, b) in wide.items()}
    if texts:
        for name in draw(st.lists(st.sampled_from(texts), max_size=1)):
            levels = sorted(X[name].unique())
            if draw(st.booleans()):
                chosen = draw(st.lists(st.sampled_from(levels), min_size=1, unique=True))
                given["categories"] = {name: chosen}
            else:
                moves = {levels[0]: levels[1:]}
                rule = draw(st.sampled_from([moves, lambda old, new: old < new]))
                given["transitions"] = {name: rule}
    if draw(st.booleans()) and len(numbers) > 1:
        given["relations"] = [
            f"{numbers[0]} - 2 * {numbers[1]} <= {float(X[numbers[0]].max()):.3f}"
        ]
    given["max_changes"] = draw(st.sampled_from([None, None, 1, 2]))
    if draw(st.booleans()) and len(numbers) > 2:
        given["together"] = [numbers[:2]]
    given["costs"] = {n: 3.0 for n in draw(some)}
    return Constraints(**given)


@settings(
    max_examples=16,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(problems())
def test_every_promise_is_kept(problem):
    model, X, constraints = problem
    rows = X.iloc[:6].copy()
    numbers = [name for name in X if name.startswith("n")]
    rows.loc[rows.index[-2:], numbers] *= 3  # beyond the range of the training data
    features = features_of(model, X)
    before = model.predict(rows)
    inside = pertinent.decision_region(model, before[0]).contains(read_table(features, X).values)
    assert (inside == (model.predict(X) == before[0])).mean() > 0.98
    sample_raw = read_table(features, rows)
    negative = pertinent.pertinent_negatives(model, rows, data=X, constraints=constraints)
    positive = pertinent.pertinent_positives(
        model, rows, data=X, constraints=constraints, baseline="median", between=True
    )
    for found, same in ((negative, False), (positive, True)):
        assert (found.status != "failed").all(), found.reason
        ok = found.found
        for status, reason in zip(found.status, found.reason, strict=True):
            assert (reason is not None) == (status == "infeasible")
        if ok.any():
            predicted = model.predict(found.points[ok])
            assert ((predicted == before[ok]) == same).all()
            raw = sample_raw.take(np.flatnonzero(ok))
            broken = broken_rules(
                constraints,
                features,
                raw.raw(found.values[ok]),
                raw.raw(raw.values),
                changes=not same,
            )
            assert not broken
            assert (found.bound[ok] <= found.objective[ok] * (1 + 1e-9) + 1e-9).all()
    closed = negative.objective - negative.bound <= 1e-4 * negative.objective + 1e-9
    assert (closed == (negative.status == "optimal"))[negative.found].all()


@pytest.mark.matrix(3)
@pytest.mark.parametrize("seed", range(6))
def test_brute_force_over_all_categories(seed):
    """The nearest point over every combination of categories, each solved by itself."""
    rng = np.random.default_rng(seed)
    n = 120
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n) * 100,
            "u": rng.choice(["x", "y", "z"], n),
            "v": rng.choice(["p", "q"], n),
            "w": rng.choice([1, 2, 3, 4], n),
        }
    )
    y = rng.integers(0, 2 + seed % 2, size=n)
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["a", "b"]), ("c", OneHotEncoder(), ["u", "v", "w"])]
    )
    model = make_pipeline(columns, LogisticRegression(C=100)).fit(X, y)
    rows = X.head(6)
    found = pertinent.pertinent_negatives(model, rows, data=X)
    regions = {label: pertinent.decision_region(model, label, 1e-9) for label in model.classes_}
    features = features_of(model, X)
    weights = 1 / X[["a", "b"]].std(ddof=0).to_numpy()
    values = read_table(features, rows).values
    for i, own in enumerate(rows.itertuples(index=False)):
        label = model.predict(rows.iloc[[i]])[0]
        best = np.inf
        for u, v, w in itertools.product("xyz", "pq", [1, 2, 3, 4]):
            changed = (own.u != u) + (own.v != v) + (own.w != w)
            one = rows.iloc[[i]].assign(u=u, v=v, w=w)
            fixed = read_table(features, one).values
            for other in model.classes_:
                if other == label:
                    continue
                part = regions[other].restrict(np.arange(features.dim) >= 2, fixed[0])
                answer = project(values[[i], :2], part, weights)
                if answer.piece[0] >= 0:
                    best = min(best, answer.objective[0] + changed)
        assert found.objective[i] == pytest.approx(best, rel=1e-6, abs=1e-9)
        assert found.status[i] == "optimal"
    baseline = {"a": 0.5, "b": -20.0, "u": "y", "v": "p", "w": 3}
    positive = pertinent.pertinent_positives(model, rows, data=X, baseline=baseline)
    for i, label in enumerate(model.predict(rows)):
        best = np.inf
        for u, v, w in itertools.product("xyz", "pq", [1, 2, 3, 4]):
            one = pd.DataFrame([{**baseline, "u": u, "v": v, "w": w}])
            part = regions[label].restrict(
                np.arange(features.dim) >= 2, read_table(features, one).values[0]
            )
            answer = project(np.array([[0.5, -20.0]]), part, weights)
            if answer.piece[0] >= 0:
                kept = (u != "y") + (v != "p") + (w != 3)
                best = min(best, answer.objective[0] + kept)
        assert positive.objective[i] == pytest.approx(best, rel=1e-6, abs=1e-9)
        assert positive.status[i] == "optimal"
