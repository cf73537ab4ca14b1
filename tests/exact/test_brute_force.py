"""All subsets of few features, tried one by one, for every family and every method."""

from itertools import chain, combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.lvq import GLVQ
from pertinent.projection import Options, project

MARGIN = 1e-9


def _data(load, columns=None, two=False):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :columns]
    return (X[y < 2], y[y < 2]) if two else (X, y)


IRIS, WINE = _data(load_iris), _data(load_wine, 8)
CANCER = _data(load_breast_cancer, 9)

MODELS = {
    "binary linear": (LogisticRegression(), CANCER),
    "softmax iris": (LogisticRegression(C=10), IRIS),
    "softmax wine": (LogisticRegression(C=0.1), WINE),
    "naive Bayes": (GaussianNB(), CANCER),
    "naive Bayes 3 classes": (GaussianNB(), WINE),
    "QDA": (QuadraticDiscriminantAnalysis(reg_param=0.1), (CANCER[0][:, :6], CANCER[1])),
    "QDA 3 classes": (QuadraticDiscriminantAnalysis(reg_param=0.1), IRIS),
    "LVQ": (GLVQ(prototypes_per_class=3, random_state=0), WINE),
}
LINEAR = ["binary linear", "softmax iris", "softmax wine", "LVQ"]


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    model, (X, y) = MODELS[request.param]
    model.fit(X, y)
    rows = np.random.default_rng(0).permutation(len(X))[:20]
    return model, X, X[rows]


@pytest.fixture(scope="module", params=LINEAR)
def linear_case(request):
    model, (X, y) = MODELS[request.param]
    model.fit(X, y)
    rows = np.random.default_rng(0).permutation(len(X))[:12]
    return model, X, X[rows]


def subsets(d):
    return chain.from_iterable(combinations(range(d), k) for k in range(d + 1))


def masks_of(d):
    out = np.zeros((2**d, d), dtype=bool)
    for row, chosen in enumerate(subsets(d)):
        out[row, list(chosen)] = True
    return out


def test_strict_keeps_the_fewest(case):
    model, _, samples = case
    baseline = np.full(samples.shape[1], 0.25)
    found = pertinent.pertinent_positives(model, samples, method="strict", baseline=baseline)
    masks = masks_of(samples.shape[1])
    for i, x in enumerate(samples):
        same = model.predict(np.where(masks, x, baseline)) == model.predict(x[None])
        assert found.objective[i] == masks[same].sum(axis=1).min()
    assert (found.status == "optimal").all()
    assert (found.bound == found.objective).all()
    assert ((found.points == samples) | (found.points == baseline)).all()
    assert (model.predict(found.points) == model.predict(samples)).all()


@pytest.mark.parametrize("between", [True, False])
def test_exact_keeps_the_fewest_and_stays_closest(linear_case, between):
    model, _, samples = linear_case
    baseline = np.full(samples.shape[1], 0.25)
    found = pertinent.pertinent_positives(
        model, samples, method="exact", baseline=baseline, between=between
    )
    assert (found.status == "optimal").all()
    low = np.minimum(samples, baseline) if between else np.full(samples.shape, -np.inf)
    high = np.maximum(samples, baseline) if between else np.full(samples.shape, np.inf)
    for i, x in enumerate(samples):
        region = pertinent.decision_region(model, model.predict(x[None])[0], MARGIN)
        size, cost = closest_support(region, x, baseline, low[i], high[i])
        assert found.objective[i] == size
        assert found.closeness[i] == pytest.approx(cost, abs=1e-7)
        assert found.closeness_bound[i] <= found.closeness[i] + 1e-12


def closest_support(region, x, rest, low, high, most=None):
    """Return the fewest features and the least cost, over every subset in turn."""
    masks = masks_of(len(x))
    best = (np.inf, np.inf)
    for size in range(len(x) + 1):
        some = masks[masks.sum(axis=1) == size]
        centers = np.repeat(x[None], len(some), axis=0)
        found = project(
            centers,
            region,
            None,
            np.where(some, low, rest),
            np.where(some, high, rest),
            Options(unique=False, engine="highs"),
        )
        cost = np.where(some, np.abs(found.points - x), 0.0).sum(axis=1)
        cost = cost[np.isfinite(found.objective)]
        if len(cost) and most is None:
            return size, cost.min()
        if len(cost) and size <= most:
            best = min(best, (0, cost.min()))
    return best


def other_classes(model, x):
    own = model.predict(x[None])[0]
    others = [k for k in model.classes_ if k != own]
    region = pertinent.decision_region(model, others[0], MARGIN)
    for k in others[1:]:
        region = region.union(pertinent.decision_region(model, k, MARGIN))
    return region


def test_fewest_changes(linear_case):
    model, X, samples = linear_case
    rules = pertinent.Constraints(
        bounds={j: (X[:, j].min(), X[:, j].max()) for j in range(X.shape[1])}
    )
    found = pertinent.pertinent_negatives(model, samples, norm="l0", constraints=rules)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) != model.predict(samples)).all()
    for i, x in enumerate(samples):
        size, cost = closest_support(other_classes(model, x), x, x, X.min(0), X.max(0))
        assert found.objective[i] == found.changed[i].sum() == size
        assert found.closeness[i] == pytest.approx(cost, abs=1e-7)


def test_at_most_two_changes(linear_case):
    model, X, samples = linear_case
    rules = pertinent.Constraints(
        bounds={j: (X[:, j].min(), X[:, j].max()) for j in range(X.shape[1])}
    )
    found = pertinent.pertinent_negatives(model, samples, max_changes=2, constraints=rules)
    for i, x in enumerate(samples):
        _, cost = closest_support(other_classes(model, x), x, x, X.min(0), X.max(0), most=2)
        if np.isinf(cost):
            assert found.status[i] == "infeasible"
        else:
            assert found.status[i] == "optimal"
            assert found.changed[i].sum() <= 2
            assert found.objective[i] == pytest.approx(cost, abs=1e-7)


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_alternatives_come_in_order_and_none_is_missed(linear_case, norm):
    model, _, samples = linear_case
    samples = samples[:4]
    found = pertinent.pertinent_negatives(model, samples, norm=norm, alternatives=3)
    for i, x in enumerate(samples):
        others = found.alternatives[i]
        assert len(others) == 3
        assert all(a.proved for a in others)
        listed = [found.changed[i], *(a.features for a in others)]
        costs = [found.closeness[i], *(a.closeness for a in others)]
        expected = next_best(other_classes(model, x), x, 4, norm)
        assert sorted(costs) == pytest.approx(costs)
        np.testing.assert_allclose(costs, [cost for _, cost in expected], atol=1e-7)
        for earlier, later in combinations(listed, 2):
            assert not (earlier <= later).all()
        labels = model.predict(np.array([a.values for a in others]))
        assert (labels != model.predict(x[None])).all()


def next_best(region, x, count, norm):
    """Return the best sets of changed features, none containing another, by trying them all."""
    masks = masks_of(len(x))
    centers = np.repeat(x[None], len(masks), axis=0)
    found = project(
        centers,
        region,
        None,
        np.where(masks, -np.inf, x),
        np.where(masks, np.inf, x),
        Options(unique=False, engine="highs"),
    )
    size = masks.sum(axis=1)
    keys = (size, found.objective) if norm == "l0" else (found.objective, size)
    chosen = []
    for k in np.lexsort((keys[1], np.round(keys[0], 9))):
        moved = found.points[k] != x
        if not any((mask <= masks[k]).all() for mask, _ in chosen) and (moved == masks[k]).all():
            chosen.append((masks[k], found.objective[k]))
    return chosen[:count]


def test_strict_alternatives_are_all_minimal_supports(case):
    model, _, samples = case
    baseline = np.full(samples.shape[1], 0.25)
    samples = samples[:5]
    found = pertinent.pertinent_positives(
        model, samples, method="strict", baseline=baseline, alternatives=1000
    )
    masks = masks_of(samples.shape[1])
    for i, x in enumerate(samples):
        good = masks[model.predict(np.where(masks, x, baseline)) == model.predict(x[None])]
        minimal = {
            m.tobytes() for m in good if not any((o < m).any() and (o <= m).all() for o in good)
        }
        listed = [found.kept[i], *(a.features for a in found.alternatives[i])]
        assert {m.tobytes() for m in listed} == minimal
        assert [m.sum() for m in listed] == sorted(m.sum() for m in listed)


SEPARABLE = [*LINEAR, "naive Bayes", "naive Bayes 3 classes"]


@pytest.mark.parametrize("name", SEPARABLE)
def test_sufficient_sets(name):
    model, (X, y) = MODELS[name]
    model.fit(X, y)
    samples = X[np.random.default_rng(1).permutation(len(X))[:8]]
    found = pertinent.pertinent_positives(model, samples, method="sufficient", data=X)
    assert (found.status == "optimal").all()
    masks = masks_of(samples.shape[1])
    rng = np.random.default_rng(2)
    for i, x in enumerate(samples):
        own = model.predict(x[None])[0]
        fill = np.where(found.kept[i], x, rng.uniform(X.min(0), X.max(0), (4000, len(x))))
        assert (model.predict(fill) == own).all()
        if name in LINEAR:
            low, high = np.where(masks, x, X.min(0)), np.where(masks, x, X.max(0))
            rivals = project(
                np.repeat(x[None], len(masks), axis=0),
                other_classes(model, x),
                None,
                low,
                high,
                Options(unique=False, engine="highs"),
            )
            enough = np.isnan(rivals.objective)
            assert found.objective[i] == masks[enough].sum(axis=1).min()
