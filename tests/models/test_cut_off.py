"""Scalers that cut values off (clip=True), against every choice of sides of every feature."""

from inspect import signature
from itertools import product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.reading import read_table

pytestmark = pytest.mark.matrix(2)

needs_max_abs_clip = pytest.mark.skipif(
    "clip" not in signature(MaxAbsScaler).parameters, reason="this MaxAbsScaler has no clip"
)
#: How far from the training range the optimum is looked for.
FAR = 50.0
logistic = LogisticRegression


def training(n=120, d=3, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1)
    score = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def clipped(X, y, scaler=None):
    return make_pipeline(scaler or MinMaxScaler(clip=True), logistic()).fit(X, y)


def scores(model):
    """Return W and b of one score for each class, in the scaled columns."""
    W, b = model[-1].coef_, model[-1].intercept_
    return (np.vstack([-W, W]), np.array([-b[0], b[0]])) if len(W) == 1 else (W, b)


def cheapest(model, x, weights, label, lower, upper, whole=(), row=None):
    """Return the least cost over all sides of the edges: one mixed-integer program for each.

    Variables are x, then t >= |x - own|; on a side, the scaled column is affine in x.
    """
    scale, low = model[0].scale_, model[0].min_
    first, last = model[0].data_min_, model[0].data_max_
    W, b = scores(model)
    d, own, best = len(x), int(np.flatnonzero(model.classes_ == label)[0]), np.inf
    eye, zero = np.eye(d), np.zeros((1, d))
    for sides in product(range(3), repeat=d):
        sides = np.array(sides)
        bottom = np.where(sides == 0, -FAR, np.where(sides == 1, first, last))
        top = np.where(sides == 0, first, np.where(sides == 1, last, FAR))
        bottom, top = np.maximum(bottom, lower), np.minimum(top, upper)
        if (bottom > top).any():
            continue
        slope = np.where(sides == 1, scale, 0.0)
        shift = np.where(sides == 0, first, np.where(sides == 2, last, 0.0)) * scale + low
        shift = np.where(sides == 1, low, shift)
        gap = np.delete(W - W[own], own, axis=0)
        room = b[own] - np.delete(b, own) - gap @ shift
        rows = [
            LinearConstraint(np.hstack([gap * slope, np.zeros_like(gap)]), -np.inf, room),
            LinearConstraint(np.hstack([eye, -eye]), -np.inf, x),
            LinearConstraint(np.hstack([-eye, -eye]), -np.inf, -x),
        ]
        if row is not None:
            rows.append(LinearConstraint(np.hstack([row[0][None], zero]), -np.inf, row[1]))
        integrality = np.zeros(2 * d)
        integrality[list(whole)] = 1
        answer = milp(
            np.concatenate([np.zeros(d), weights]),
            integrality=integrality,
            bounds=Bounds(np.concatenate([bottom, np.zeros(d)]), np.concatenate([top, [1e4] * d])),
            constraints=rows,
        )
        if answer.success:
            best = min(best, answer.fun)
    return best


def outside(X, n, seed=1, stretch=2.0):
    """Return samples of which many lie beyond the range of the training data."""
    rng = np.random.default_rng(seed)
    return stretch * X[rng.integers(len(X), size=n)] + rng.normal(size=(n, X.shape[1]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_every_choice_of_sides(n_classes):
    X, y = training(n_classes=n_classes)
    model = clipped(X, y)
    samples, weights = outside(X, 5), np.array([1.0, 0.5, 2.0])
    found = pertinent.pertinent_negatives(model, samples, weights=weights)
    assert set(found.status) == {"optimal"}
    assert (model.predict(found.points) != model.predict(samples)).all()
    free = np.full(3, FAR)
    for i, x in enumerate(samples):
        others = [c for c in model.classes_ if c != model.predict([x])[0]]
        truth = min(cheapest(model, x, weights, c, -free, free) for c in others)
        assert found.objective[i] == pytest.approx(truth, rel=1e-5, abs=1e-6)


def test_the_way_back_to_the_edge_is_paid_for():
    X = np.array([[0.0], [1.0]] * 10)
    model = clipped(X, X[:, 0].astype(int))
    boundary = -model[-1].intercept_[0] / model[-1].coef_[0, 0]
    found = pertinent.pertinent_negatives(model, np.array([[7.0], [-3.0]]))
    assert found.points[:, 0] == pytest.approx([boundary, boundary], abs=1e-6)
    assert found.objective == pytest.approx([7.0 - boundary, 3.0 + boundary], abs=1e-6)


def test_what_the_model_never_reads_is_named():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]] * 5)
    model = clipped(X, X[:, 0].astype(int))
    model[-1].coef_, model[-1].intercept_ = np.array([[1.0, 0.0]]), np.array([-2.0])
    found = pertinent.pertinent_negatives(model, np.array([[9.0, 0.5]]))
    assert found.status[0] == "infeasible"
    assert found.reason[0].endswith("obeys: the model reads x0 as at most 1")


@pytest.mark.parametrize("seed", range(3))
def test_rules_in_raw_units_beyond_the_edges(seed):
    X, y = training(seed=seed)
    X[:, 1] = np.round(X[:, 1])
    model = clipped(X, y)
    samples, weights = outside(X, 4, seed), np.ones(3)
    samples[:, 1] = np.round(samples[:, 1])
    last = model[0].data_max_
    rules = pertinent.Constraints(
        bounds={0: (None, float(last[0]) + 2), 2: (-9, 9)},
        integer=[1],
        relations=["x0 - x2 <= 3"],
    )
    found = pertinent.pertinent_negatives(model, samples, constraints=rules)
    lower = np.array([-FAR, -FAR, -9.0])
    upper = np.array([last[0] + 2, FAR, 9.0])
    for i, x in enumerate(samples):
        other = 1 - model.predict([x])[0]
        row = (np.array([1.0, 0.0, -1.0]), 3.0)
        truth = cheapest(model, x, weights, other, lower, upper, whole=[1], row=row)
        if np.isinf(truth):
            assert found.status[i] == "infeasible"
        else:
            assert found.status[i] == "optimal"
            assert found.objective[i] == pytest.approx(truth, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_features_that_change_together(seed):
    X, y = training(seed=seed)
    model = clipped(X, y)
    samples, step = outside(X, 3, seed), 1e-3
    rules = pertinent.Constraints(together=[[0, 1]])
    found = pertinent.pertinent_negatives(model, samples, constraints=rules)
    for i, x in enumerate(samples):
        truth, free = np.inf, np.full(3, FAR)
        for signs in [(0, 0), *product([-1, 1], repeat=2)]:
            lower, upper = -free, free.copy()
            for j, sign in enumerate(signs):
                lower[j] = x[j] + sign * step if sign >= 0 else -FAR
                upper[j] = x[j] + sign * step if sign <= 0 else FAR
            other = 1 - model.predict([x])[0]
            truth = min(truth, cheapest(model, x, np.ones(3), other, lower, upper))
        assert found.status[i] == ("infeasible" if np.isinf(truth) else "optimal")
        if found.found[i]:
            assert found.objective[i] == pytest.approx(truth, rel=1e-4, abs=1e-5)


def test_nothing_to_be_done_within_the_edges():
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
    model = clipped(X, (X[:, 0] > 1.5).astype(int), MinMaxScaler(clip=True))
    rules = pertinent.Constraints(bounds={0: (2.5, None)})
    found = pertinent.pertinent_negatives(model, np.array([[9.0]]), constraints=rules)
    assert found.status[0] == "infeasible"
    assert "x0 >= 2.5" in found.reason[0]
    assert pertinent.check(
        pertinent.Explainer(model, data=X, constraints=rules).explain(np.array([[9.0]]))[0].json(),
        model,
    ).ok


def test_positives_keep_values_between_the_baseline_and_the_sample():
    X, y = training(d=2)
    model = clipped(X, y)
    samples = outside(X, 8, stretch=4.0)
    baseline = -5.0 * np.sign(samples[0]) * np.abs(X).max(axis=0)  # beyond the other edge
    found = pertinent.pertinent_positives(model, samples, baseline=baseline, between=True)
    assert set(found.status) == {"optimal"}
    assert (model.predict(found.points) == model.predict(samples)).all()
    for i, x in enumerate(samples):
        low, high = np.minimum(x, baseline), np.maximum(x, baseline)
        label = model.predict([x])[0]
        truth = cheapest(model, baseline, np.ones(2), label, low, high)
        assert found.objective[i] == pytest.approx(truth, rel=1e-5, abs=1e-6)


@needs_max_abs_clip
def test_max_abs_scaler():
    X, y = training(d=2)
    model = clipped(X, y, MaxAbsScaler(clip=True))
    samples = outside(X, 300, stretch=3.0)
    values = read_table(features_of(model), samples).values
    for label in model.classes_:
        inside = pertinent.decision_region(model, label).contains(values)
        assert (inside == (model.predict(samples) == label)).all()
    found = pertinent.pertinent_negatives(model, samples[:30])
    assert set(found.status) == {"optimal"}
    assert (model.predict(found.points) != model.predict(samples[:30])).all()


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), MinMaxScaler((-2, 1), clip=True), logistic()),
        make_pipeline(MinMaxScaler(clip=True), PCA(2), logistic()),
        make_pipeline(MinMaxScaler(clip=True), MinMaxScaler((0, 9), clip=True), logistic()),
        make_pipeline(
            FeatureUnion([("cut", MinMaxScaler(clip=True)), ("as is", StandardScaler())]),
            logistic(),
        ),
        make_pipeline(OrdinalEncoder(), MinMaxScaler(clip=True), logistic()),
        make_pipeline(KBinsDiscretizer(3, encode="ordinal"), MinMaxScaler(clip=True), logistic()),
    ],
    ids=["scaled", "then pca", "twice", "beside itself", "categories", "bins"],
)  # fmt: skip
def test_among_other_steps(model):
    X, y = training(n_classes=3)
    X = np.round(X)
    model.fit(X, y)
    levels = isinstance(model[0], OrdinalEncoder)
    samples = X[:10] if levels else outside(X, 10)
    values = read_table(features_of(model), samples).values
    for label in model.classes_:
        region = pertinent.decision_region(model, label)
        assert (region.contains(values) == (model.predict(samples) == label)).all()
    found = pertinent.pertinent_negatives(model, samples, data=X)
    assert set(found.status) == {"optimal"}
    assert (model.predict(found.points) != model.predict(samples)).all()


@pytest.mark.parametrize(
    "last",
    [
        # Ten boxes of cut-off columns, each with curved boundaries: a quarter of a minute.
        pytest.param(make_pipeline(PolynomialFeatures(2), logistic()), marks=pytest.mark.slow),
        GaussianNB(),
    ],
)
def test_curved_models(last):
    X, y = training(d=2, n=80)
    model = make_pipeline(MinMaxScaler(clip=True), last).fit(X, y)
    samples = outside(X, 1, stretch=1.6)
    found = pertinent.pertinent_negatives(model, samples)
    assert set(found.status) <= {"optimal", "feasible"}
    assert (model.predict(found.points) != model.predict(samples)).all()
    first, last_ = model[0].data_min_, model[0].data_max_
    for i, x in enumerate(samples):
        axes = [
            np.concatenate([np.linspace(first[j], last_[j], 400), np.clip([x[j]], -FAR, FAR)])
            for j in range(2)
        ]
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        other = grid[model.predict(grid) != model.predict([x])[0]]
        nearest = np.abs(other - x).sum(axis=1).min()
        step = sum((last_ - first) / 399)
        assert nearest - step - 1e-6 <= found.objective[i] <= nearest + 1e-6


def test_what_cannot_be_cut_off_is_refused():
    X, y = training()
    mixed = make_pipeline(PCA(2), MinMaxScaler(clip=True), logistic()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="mixes several raw features"):
        pertinent.decision_region(mixed, 0)
    binned = make_pipeline(MinMaxScaler(clip=True), KBinsDiscretizer(3), logistic())
    with pytest.raises(UnsupportedModelError, match="bins a column that an earlier step cuts off"):
        pertinent.decision_region(binned.fit(X, y), 0)
    products = make_pipeline(PolynomialFeatures(2), MinMaxScaler(clip=True), logistic())
    with pytest.raises(UnsupportedModelError, match="cuts products of columns off"):
        pertinent.decision_region(products.fit(X, y), 0)
