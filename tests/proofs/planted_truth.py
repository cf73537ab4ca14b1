"""Small models, and the true answers to questions about them, found by trying everything."""

from __future__ import annotations

from functools import cache, partial
from itertools import chain, combinations, product

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from pertinent.geometry.region import Cell
from pertinent.models.regressors import RangeClassifier
from tests.proofs.planted_problems import linear_least, linear_nearest
from tests.questions.test_without_cells import Hidden

W, B, STERN = np.array([0.7, -0.8, 0.6, 0.5]), -0.75, -1.0
X = np.array([[1.2, 0.1, 0.9, 0.7], [0.9, 0.1, 0.8, 0.6]])
LOW, HIGH = 0.0, 1.2
SURE = 0.6
#: The range of predictions of a regressor; those of the samples lie above it.
BAND = 0.3, 0.7
DATA = np.random.default_rng(3).uniform(LOW, HIGH, size=(16, 4))
LABELS = (DATA @ W + B > 0).astype(int)

# -- Models ----------------------------------------------------------------------------------


@cache
def logistic(intercept=B):
    """Return a model that says 1 where W x + B > 0."""
    return _linear(np.array([0, 1]), W[None], np.array([intercept]))


def stern():
    """Return the model that asks for more."""
    return logistic(STERN)


@cache
def softmax():
    """Return a model of three classes."""
    coef = np.array([[0.7, -0.8, 0.6, 0.5], [-0.3, 0.9, 0.2, -0.4], [0.1, 0.2, -0.9, 0.3]])
    return _linear(np.arange(3), coef, np.array([-0.4, 0.5, 0.6]))


def _linear(classes, coef, intercept):
    model = LogisticRegression()
    model.classes_, model.coef_ = classes, coef
    model.intercept_, model.n_features_in_ = intercept, 4
    return model


@cache
def bayes():
    """Return a curved model that looks at the first two features only."""
    model = GaussianNB()
    model.classes_, model.class_prior_ = np.array([0, 1]), np.array([0.5, 0.5])
    model.theta_ = np.array([[0.2, 0.6, 0.5, 0.5], [1.0, 0.3, 0.5, 0.5]])
    model.var_ = np.array([[0.2, 0.1, 1.0, 1.0], [0.1, 0.3, 1.0, 1.0]])
    model.n_features_in_, model.epsilon_ = 4, 0.0
    return model


@cache
def tree():
    """Return a small tree."""
    rng = np.random.default_rng(5)
    Z = rng.uniform(LOW, HIGH, size=(80, 4))
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(Z, Z @ W + B > 0)


@cache
def forest():
    """Return a small sum of trees, behind a scaler: it says 1 where two numbers are small."""
    Z = np.random.default_rng(5).uniform(LOW, HIGH, size=(200, 4))
    trees = RandomForestClassifier(3, max_depth=3, max_features=None, random_state=0)
    return make_pipeline(MinMaxScaler(), trees).fit(Z, (Z[:, 0] < 0.6) & (Z[:, 2] < 0.5))


@cache
def straight():
    """Return a regressor that says W x, and a range of its predictions."""
    model = LinearRegression()
    model.coef_, model.intercept_, model.n_features_in_ = W, 0.0, 4
    return RangeClassifier(model, *BAND)


@cache
def averaged():
    """Return a forest that says about the same, and the range."""
    Z = np.random.default_rng(5).uniform(LOW, HIGH, size=(80, 4))
    return RangeClassifier(
        RandomForestRegressor(2, max_depth=2, random_state=0).fit(Z, Z @ W), *BAND
    )


@cache
def discriminant():
    """Return a curved model of two classes, each with a covariance of its own."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 4))
    labels = ((Z**2) @ [1.0, -1.0, 0.5, 0.2] + Z[:, 0] * Z[:, 1] > 0.3).astype(int)
    return QuadraticDiscriminantAnalysis(reg_param=0.1).fit(Z, labels)


@cache
def three_bells(seed=3, kind=GaussianNB):
    """Return a curved model of three classes that lie one behind the other."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(LOW, HIGH, size=(40, 4))
    along = Z @ rng.normal(size=4)
    return kind().fit(Z, np.digitize(along, np.quantile(along, [0.33, 0.66])))


def three_tilted():
    """Return one with a covariance of each class."""
    return three_bells(4, partial(QuadraticDiscriminantAnalysis, reg_param=0.1))


@cache
def rooms():
    """Return a table of numbers and a category, and a model of it."""
    frame = pd.DataFrame(
        {"n": [0.1, 0.9, 0.4, 0.8, 0.3, 0.6], "c": list("abcabc"), "m": [1.0, 0, 1, 0, 0, 1]}
    )
    ready = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    model = make_pipeline(ready, LogisticRegression(C=10.0))
    return frame, model.fit(frame, [0, 1, 1, 0, 0, 1])


@cache
def neighbour():
    """Return the nearest of a few points."""
    return KNeighborsClassifier(1).fit(DATA, LABELS)


@cache
def clipped(curved=False):
    """Return a pipeline that cuts off what lies beyond 0.2 and 1."""
    scaler = MinMaxScaler(clip=True).fit(np.array([[0.2] * 4, [1.0] * 4]))
    return Pipeline([("scaler", scaler), ("model", bayes() if curved else logistic())])


@cache
def hidden():
    """Return the model of three classes with regions that show nobody their cells."""
    return Hidden(softmax())


# -- The truth -------------------------------------------------------------------------------


def values_of(x, whole=(), fine=2):
    """Return the values to try of each feature: its own, and 0 and 1 or some of its range."""
    return [
        np.unique([x[j], 0.0, 1.0] if j in whole else [x[j], *np.linspace(LOW, HIGH, fine)])
        for j in range(4)
    ]


def sizes_by_grid(model, will_do, rest=None, held=False, **how):
    """Return the size of the smallest set of features that will do, tried on a grid.

    The features of a set vary and the others rest, at a value or at their own; or else those of
    the set are held and the others vary. ``will_do`` is told which points have the sample's class.
    """
    label, out = model.predict(X), []
    for i, x in enumerate(X):
        values, still = values_of(x, **how), x if rest is None else np.full(4, rest)

        def does(mask, i=i, values=values, still=still):
            tried = [values[j] if mask[j] != held else still[[j]] for j in range(4)]
            return will_do(model.predict(np.array(list(product(*tried)))) == label[i])

        out.append(fewest(does))
    return out


def sufficient_by_grid(model, **how):
    """Return how many own values keep the class whatever values of a grid the others have."""
    return sizes_by_grid(model, np.all, held=True, **how)


def kept_by_grid(model, **how):
    """Return how many features must leave the baseline of 0 for the class of each sample."""
    return sizes_by_grid(model, np.any, rest=0.0, **how)


def changes_by_grid(model, **how):
    """Return how many features must change for another class."""
    return sizes_by_grid(model, lambda same: not same.all(), **how)


def whole_probable_costs(sure):
    """Return the least cost of a probable other class; the first two are whole, or their own."""
    out = []
    for x, label in zip(X, softmax().predict(X), strict=True):
        costs = []
        for first, second in product(*values_of(x, (0, 1))[:2]):
            ends = np.array([first, second, LOW, LOW]), np.array([first, second, HIGH, HIGH])
            costs += [_probable_cost(x, k, sure, *ends) for k in range(3) if k != label]
        out.append(min(costs))
    return out


def clipped_costs():
    """Return the least cost of the other class where values are cut off at 0.2 and 1.

    Of each feature it is known whether it lies below, between or above; then the score is linear.
    """
    out = []
    for x in X:
        costs = []
        for sides in product((-1, 0, 1), repeat=4):
            side = np.array(sides)
            low, high = np.choose(side + 1, [LOW, 0.2, 1.0]), np.choose(side + 1, [0.2, 1.0, HIGH])
            slope = np.where(side == 0, W / 0.8, 0.0)
            shift = B - 0.25 * W[side == 0].sum() + W[side == 1].sum()
            costs.append(linear_least(Cell(slope[None], np.array([-shift])), x, None, low, high))
        out.append(min(costs))
    return out


def single_costs(model):
    """Return the least cost of another class by a change of one feature, in the box or not."""
    out = []
    for x, label in zip(X, model.predict(X), strict=True):
        steps, costs = np.linspace(-2.0, 2.0, 400_001), []
        for j in range(4):
            points = np.tile(x, (len(steps), 1))
            points[:, j] += steps
            costs.append(np.abs(steps)[model.predict(points) != label].min(initial=np.inf))
        out.append(float(min(costs)))
    return out


def plane_costs(model):
    """Return the least cost of another class by a change of the first two features.

    A grid that is made finer around its best points.
    """
    out = []
    for x, label in zip(X, model.predict(X), strict=True):
        width, centers = HIGH - LOW, [(LOW + HIGH) / 2 * np.ones(2)]
        for _ in range(5):
            steps = np.linspace(-width / 2, width / 2, 121)
            plane = np.vstack([c + np.array(list(product(steps, steps))) for c in centers])
            plane = np.clip(np.vstack([plane, *_crossed(plane, x)]), LOW, HIGH)
            points = np.column_stack([plane, np.tile(x[2:], (len(plane), 1))])
            plane = plane[model.predict(points) != label]
            cost = np.abs(plane - x[:2]).sum(axis=1)
            centers, width = list(plane[np.argsort(cost)[:3]]), width / 20
        out.append(float(cost.min()))
    return out


def _crossed(plane, x):
    """Yield the points of a plane with one of both numbers as it was."""
    for j in range(2):
        own = plane.copy()
        own[:, j] = x[j]
        yield own


def supports():
    """Yield all sets of features, the smallest first."""
    for size in range(5):
        for chosen in combinations(range(4), size):
            yield np.isin(np.arange(4), chosen)


def fewest(will_do):
    """Return the size of the smallest set that will do."""
    return next((float(mask.sum()) for mask in supports() if will_do(mask)), np.inf)


def change_sizes(whole=()):
    """Return how many features must change for the other class; some take whole numbers only."""
    high = np.where(np.isin(np.arange(4), whole), np.floor(HIGH), HIGH)
    least = np.minimum(W * LOW, W * high)
    return [fewest(lambda mask, x=x: (np.where(mask, least, W * x)).sum() + B < 0) for x in X]


def change_costs(most):
    """Return the least cost of a change of at most so many features."""
    cell, few = Cell(W[None], np.array([-B])), [mask for mask in supports() if mask.sum() <= most]
    return [
        min(linear_least(cell, x, None, np.where(m, LOW, x), np.where(m, HIGH, x)) for m in few)
        for x in X
    ]


def wins(label):
    """Return where the model of three classes says this one."""
    coef, intercept = softmax().coef_, softmax().intercept_
    others = np.arange(3) != label
    return Cell(coef[others] - coef[label], intercept[label] - intercept[others])


def contrast_costs(frozen=()):
    """Return the least cost of another of three classes; some features keep their values."""
    stay, out = np.isin(np.arange(4), frozen), []
    for x, label in zip(X, softmax().predict(X), strict=True):
        ends = np.where(stay, x, LOW), np.where(stay, x, HIGH)
        out.append(min(linear_least(wins(k), x, None, *ends) for k in range(3) if k != label))
    return out


def probable_costs():
    """Return the least cost of another of three classes with a probability of at least `SURE`.

    ``log sum_j exp(z_j - z_k) <= log((1 - p) / p)`` over the others j is convex: tangents at the
    nearest point of those before, until it has the probability.
    """
    return [
        min(_probable_cost(x, k) for k in range(3) if k != label)
        for x, label in zip(X, softmax().predict(X), strict=True)
    ]


def _probable_cost(x, label, sure=SURE, low=LOW, high=HIGH):
    pairs, G, h = wins(label), np.zeros((0, 4)), np.zeros(0)
    point, cost = np.clip(x, low, high), 0.0
    for _ in range(60):
        if point is None:
            break
        z = pairs.G @ point - pairs.h
        value = np.logaddexp.reduce(z) - np.log((1 - sure) / sure)
        slope = np.exp(z - np.logaddexp.reduce(z)) @ pairs.G
        G, h = np.vstack([G, slope]), np.append(h, slope @ point - value)
        point, cost = linear_nearest(Cell(G, h), x, None, low, high)
    return cost


def blend_costs():
    """Return the least cost of a blend of the data of the other class that is in this class."""
    out = []
    for x, label in zip(X, logistic().predict(X), strict=True):
        sign = 1.0 if label else -1.0
        out.append(
            blend_least(DATA[label != LABELS], x, Cell(sign * W[None], sign * np.array([-B])))
        )
    return out


def blend_least(corners, x, cell=None):
    """Return the least cost of a blend of some points, in a cell if one is asked for."""
    k = len(corners)
    at = np.hstack([corners.T, -np.eye(4)]), np.hstack([-corners.T, -np.eye(4)])
    rows, sides = np.vstack(at), np.concatenate([x, -x])
    if cell is not None:
        rows = np.vstack([rows, np.hstack([cell.G @ corners.T, np.zeros((len(cell.G), 4))])])
        sides = np.concatenate([sides, cell.h])
    shares = np.repeat([1.0, 0.0], [k, 4])
    return float(linprog(1.0 - shares, rows, sides, shares[None], [1.0]).fun)


def positive_costs():
    """Return the least distance from the baseline of a point of each sample's own class."""
    return [
        linear_least(wins(label), np.zeros(4), None, LOW, HIGH) for label in softmax().predict(X)
    ]


def three_kept_sizes():
    """Return how many features must leave the baseline for the class of each sample."""
    return [
        fewest(
            lambda mask, k=label: np.isfinite(
                linear_least(wins(k), np.zeros(4), None, np.where(mask, LOW, 0), HIGH * mask)
            )
        )
        for label in softmax().predict(X)
    ]


def three_sufficient_sizes():
    """Return how many own values keep the class of three whatever the others do."""

    def holds(mask, x, label):
        ends = np.where(mask, x, LOW), np.where(mask, x, HIGH)
        rivals = (linear_least(wins(k), x, None, *ends) for k in range(3) if k != label)
        return all(np.isinf(cost) for cost in rivals)

    labels = softmax().predict(X)
    return [
        fewest(lambda mask, x=x, k=k: holds(mask, x, k)) for x, k in zip(X, labels, strict=True)
    ]


def curved_costs():
    """Return the least cost of the other class of the curved model, which has two features.

    For each value of the first one, the second is its own or where the classes are even.
    """
    first = np.linspace(LOW, HIGH, 200_001)

    def odds(second):
        points = np.column_stack(
            [first, second * np.ones_like(first), *(np.full_like(first, 0.5),) * 2]
        )
        return np.diff(bayes().predict_joint_log_proba(points), axis=1)[:, 0]

    at = odds(0.0), odds(0.5), odds(1.0)
    bend = 2 * (at[0] - 2 * at[1] + at[2])
    slope = at[2] - at[0] - bend
    out = []
    for x, label in zip(X, bayes().predict(X), strict=True):
        sign = 1.0 if label == 0 else -1.0
        fine = np.where(sign * odds(x[1]) > 0, np.abs(first - x[0]), np.inf)
        inside = slope**2 - 4 * bend * at[0]
        for side in (-1.0, 1.0):
            second = (-slope + side * np.sqrt(np.maximum(inside, 0.0))) / (2 * bend)
            met = (inside >= 0) & (second >= LOW) & (second <= HIGH)
            cost = np.abs(first - x[0]) + np.abs(second - x[1])
            fine = np.minimum(fine, np.where(met, cost, np.inf))
        out.append(float(fine.min()))
    return out


def strict_sizes(model):
    """Return how many own values keep the class, the others at the baseline."""
    label = model.predict(X)
    return [
        fewest(lambda mask, i=i: model.predict(np.where(mask, X[i], 0.0)[None])[0] == label[i])
        for i in range(len(X))
    ]


def rooms_sizes():
    """Return how many own values keep the class of each row of `rooms`, the others (0, a, 0)."""
    frame, model = rooms()
    base, out = pd.DataFrame({"n": [0.0], "c": ["a"], "m": [0.0]}), []
    for i, label in enumerate(model.predict(frame)):
        tried = []
        for names in chain(*(combinations(frame.columns, k) for k in range(4))):
            point = base.assign(**{name: [frame[name][i]] for name in names})
            tried.append((model.predict(point)[0] == label, len(names)))
        out.append(float(min(size for same, size in tried if same)))
    return out


def kept_sizes():
    """Return how many features must leave the baseline for the class of each sample."""
    most = np.maximum(W * LOW, W * HIGH)
    return [fewest(lambda mask: np.where(mask, most, 0.0).sum() + STERN > 0) for _ in X]


def sufficient_sizes():
    """Return how many own values keep the class whatever the others do."""
    least = np.minimum(W * LOW, W * HIGH)
    return [fewest(lambda mask, x=x: np.where(mask, W * x, least).sum() + B > 0) for x in X]


def tree_sufficient_sizes():
    """Return the same for the tree, from the leaves that are left."""
    model = tree()
    values = [
        np.unique(np.clip([LOW, HIGH, *(t + s for t in cuts for s in (-1e-4, 1e-4))], LOW, HIGH))
        for cuts in _cuts(model)
    ]
    grid = np.array(list(product(*values)))
    label = model.predict(X)
    return [
        fewest(lambda mask, i=i: (model.predict(np.where(mask, X[i], grid)) == label[i]).all())
        for i in range(len(X))
    ]


def tree_change_costs():
    """Return the least cost of another class of the tree, from all sides of its cuts."""
    labels = tree().predict(X)
    return [
        _cut_cost([tree()], x, lambda grid, own=label: tree().predict(grid) != own)
        for x, label in zip(X, labels, strict=True)
    ]


def straight_costs():
    """Return the least cost of a prediction within the range."""
    within = Cell(np.array([W, -W]), np.array([BAND[1], -BAND[0]]))
    return [linear_least(within, x, None, np.full(4, LOW), np.full(4, HIGH)) for x in X]


def averaged_costs():
    """Return the same of the forest, from all sides of its cuts."""
    model = averaged()
    trees = model.regressor.estimators_
    return [_cut_cost(trees, x, lambda grid: model.predict(grid) == model.target) for x in X]


def _cut_cost(trees, x, will_do):
    cuts = [list(chain(*own)) for own in zip(*map(_cuts, trees), strict=True)]
    beside = [[t + s for t in own for s in (-1e-6, 1e-6)] for own in cuts]
    grid = np.array(list(product(*([x[j], *values] for j, values in enumerate(beside)))))
    fine = grid[will_do(grid) & in_box(grid)]
    return float(np.abs(fine - x).sum(axis=1).min())


def in_box(points):
    """Return which points obey the bounds."""
    return ((points >= LOW - 1e-9) & (points <= HIGH + 1e-9)).all(axis=1)


def _cuts(model):
    return [
        [
            float(t)
            for f, t in zip(model.tree_.feature, model.tree_.threshold, strict=True)
            if f == j
        ]
        for j in range(4)
    ]
