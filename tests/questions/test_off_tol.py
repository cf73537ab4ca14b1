"""A tolerance for what counts as off: eq. 6 as the paper writes it, against linear programs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent

EPS = 0.3


def closest_in_bands(model, sample, label, off, low, high):
    """Return eq. 6: the least |x_i - sample_i| over features that are on, others within eps."""
    scores = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    if len(scores[0]) == 1:
        scores = np.vstack([-scores[0], scores[0]]) / 2, np.r_[-scores[1], scores[1]] / 2
    W, b = scores
    d, others = len(sample), [k for k in range(len(W)) if k != label]
    # Variables x and t >= |x - sample|; only features that are on cost anything.
    rows = np.hstack([W[others] - W[label], np.zeros((len(others), d))])
    right = b[label] - b[others]
    eye = np.eye(d)
    A = np.vstack([rows, np.hstack([eye, -eye]), np.hstack([-eye, -eye])])
    h = np.r_[right, sample, -sample]
    lower = np.where(off, np.maximum(low, -EPS), low)
    upper = np.where(off, np.minimum(high, EPS), high)
    cost = np.r_[np.zeros(d), np.where(off, 0.0, 1.0)]
    found = linprog(cost, A, h, bounds=[*zip(lower, upper, strict=True), *[(0, None)] * d])
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("rules", ["none", "bounds"])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_second_phase_is_equation_six(load, rules):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    low, high = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    constraints = None
    if rules == "bounds":
        low[:], high[:] = -2.5, 2.5
        low[1] = -0.1
        constraints = pertinent.Constraints(bounds={j: (low[j], high[j]) for j in range(len(low))})
    own = model.predict(X) != model.predict(np.zeros((1, X.shape[1])))
    some = np.clip(X[own][::4], low, high)
    found = pertinent.pertinent_positives(model, some, off_tol=EPS, constraints=constraints)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == found.prediction).all()
    closer = 0
    for i, sample in enumerate(some):
        off = np.abs(found.sparse_points[i]) <= EPS
        best = closest_in_bands(model, sample, found.label[i], off, low, high)
        assert found.closeness[i] == pytest.approx(best, rel=1e-5, abs=1e-6)
        assert found.closeness_bound[i] <= best + 1e-9
        assert (np.abs(found.points[i][off]) <= EPS).all()
        closer += bool((found.points[i][off] != 0).any())
    assert closer > 0  # what is off does move


def test_a_positive_with_a_tolerance_is_confirmed_by_the_check():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    found = pertinent.Explainer(model, baseline=0.0, off_tol=EPS).explain(X[100:120])
    for one in found:
        checked = pertinent.check(one.json(), model)
        assert checked.verdict == "holds", str(checked)


def test_the_sentence_speaks_of_the_values_as_they_are():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    found = pertinent.Explainer(model, baseline=0.0, off_tol=EPS).explain(X[100:120])
    near = [one for i, one in enumerate(found) if not _at_base(found.positive, i)]
    assert near
    for one in near:
        said = one.text()
        assert "at their base values" not in said
        assert "at its base value" not in said
        assert "What was enough: ." not in said
        assert "close to the" in said
    summary = json.loads(near[0].json())["summary"]
    assert summary["positive"]["point"] != [0.0] * 4


def _at_base(positive, i):
    """Return whether every feature that is off stands at its base value."""
    return (positive.points[i][~positive.kept[i]] == 0).all()


@pytest.mark.parametrize("method", ["two-phase", "strict", "exact"])
@pytest.mark.parametrize("off_tol", [0.5, 1.5])
def test_another_category_is_never_within_the_tolerance(method, off_tol):
    """c alone decides: 0.1 n + 2 (c = y) - 2 (c = x) > 0.4; c = y is kept whatever is close."""
    X = pd.DataFrame({"n": [0.0, 1.0, 6.0, 7.0], "c": ["x", "x", "y", "y"]})
    columns = make_column_transformer(
        ("passthrough", ["n"]), (OneHotEncoder(sparse_output=False), ["c"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(X, [0, 0, 1, 1])
    model[-1].coef_, model[-1].intercept_ = np.array([[0.1, -2.0, 2.0]]), np.array([-0.4])
    given = {"baseline": {"n": 1.0, "c": "x"}, "method": method, "off_tol": off_tol}
    found = pertinent.pertinent_positives(model, X.iloc[[2]], **given)
    assert found.status.tolist() == ["optimal"]
    assert found.kept.tolist() == [[False, True]]
    stored = pertinent.Explainer(model, **given).explain(X.iloc[[2]])[0].json()
    assert pertinent.check(stored, model).verdict == "holds"


RULES = [
    {"bounds": {0: (0.3, 1.0)}},
    {"frozen": [0]},
    {"increase_only": [0], "bounds": {0: (-1, 1)}},
]


@pytest.mark.parametrize("method", ["two-phase", "strict", "exact"])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: next(iter(rules)))
def test_what_the_base_values_get_is_said_of_the_base_values(method, rules):
    """The base values get 0, and 0.35, which the rules keep, counts as off within 0.5 of 0."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 3))
    model = LogisticRegression(C=1e4).fit(X, X[:, 0] > 0.2)
    explainer = pertinent.Explainer(
        model, baseline=0.0, off_tol=0.5, method=method, constraints=pertinent.Constraints(**rules)
    )
    sample = np.array([[0.35, 0.1, -0.6]])
    assert model.predict(np.vstack([np.zeros(3), sample[0]])).tolist() == [False, True]
    found = explainer.explain(sample)
    assert not found.positive.kept.any()
    assert not found.positive.trivial.any()
    for length in ("short", "medium", "long"):
        said = " ".join(found[0].text(length).split())
        for false in ("every value at its", "typical values get", "base values get", "case gets"):
            assert false not in said, said
    stored = found[0].json()
    assert pertinent.check(stored, model).verdict == "holds"
    forged = json.loads(stored)
    forged["proof"]["positive"]["trivial"]["values"] = [True]
    forged["summary"]["positive"]["trivial"] = True
    assert pertinent.check(json.dumps(forged), model).verdict == "refuted"
