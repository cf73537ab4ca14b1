"""Small problems of every kind whose true answers are found by trying everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.api.preparing import prepare
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.gaps import GAP_NONCONVEX, is_closed
from pertinent.geometry.region import Cell, CellUnion, Quadratic
from pertinent.geometry.task import Task, distance
from pertinent.geometry.winners import Scores, WinnerRegion
from pertinent.proofs import status_names
from pertinent.setting.claims.bounds import holds_whatever
from pertinent.setting.options import Settings
from pertinent.setting.question import PositiveQuestion
from pertinent.solvers import project
from tests.shown import proved_of_negatives, proved_of_positives


@dataclass
class Claim:
    """What is said of one row, and what the trusted base makes of it."""

    status: str
    value: float
    bound: float
    #: The bound recomputed from the certificate, and whether the point is valid and meets it.
    proved: float
    confirmed: bool

    def is_wrong(self, truth: float) -> bool:
        """Return whether the status says what is not so."""
        near = truth < np.inf and abs(self.value - truth) <= 2e-4 * abs(truth) + 1e-6
        return (self.status == "optimal" and not near) or (
            self.status == "infeasible" and truth < np.inf
        )

    def is_false(self, truth: float) -> bool:
        """Return whether status or bound say what is not so."""
        return self.is_wrong(truth) or bool(self.bound > truth * (1 + 1e-6) + 1e-7)

    def is_confirmed_though_false(self, truth: float) -> bool:
        """Return whether the trusted base agrees with a false claim."""
        wrong = bool(self.proved > truth * (1 + 1e-6) + 1e-7)
        return wrong or (self.confirmed and self.is_wrong(truth))


@dataclass
class Problem:
    """A question with its true values, one for each row; ``inf`` where there is no answer."""

    ask: Callable[[], object]
    claims: Callable[[object], list[Claim]]
    truth: Callable[[], list[float]]
    #: Whether the claims are those of an answer that is handed out; else a solver's own word, which
    #: `pertinent.setting.claims` does not repeat.
    handed_out: bool = False


def projection(region, centers, lower=-6.0, upper=6.0, weights=None, domain=None, truth=()):
    """Return the problem of the nearest points of a region."""
    centers = np.atleast_2d(np.asarray(centers, dtype=float))
    whole = CellUnion((region,)) if isinstance(region, Cell) else region
    weights = np.ones(whole.dim) if weights is None else np.asarray(weights, dtype=float)
    task = Task.of(whole, centers, weights, lower, upper, domain)

    def ask():
        return project(centers, region, weights, lower, upper, domain=domain)

    def claims(found):
        proved = np.maximum(found.certificate.bounds(task), 0.0)
        out = []
        for i, point in enumerate(found.points):
            valid = (
                bool(np.isfinite(point).all())
                and bool(whole.contains(point[None], 1e-7)[0])
                and bool((point >= task.lower[i] - 1e-9).all())
                and bool((point <= task.upper[i] + 1e-9).all())
                and (domain is None or not domain.take(np.array([i])).violation(point[None])[0])
            )
            cost = distance(point[None], centers[[i]], weights) if valid else np.array([np.inf])
            closed = valid and is_closed(
                cost, proved[[i]], point[None], centers[[i]], weights, GAP_NONCONVEX
            )
            status = status_names(found.status[[i]])[0]
            bound = np.fmax(found.bound[i], 0.0)
            sure = bool(closed) if status == "optimal" else bool(np.isinf(proved[i]))
            value = float(cost[0]) if valid else float(found.objective[i])
            out.append(Claim(status, value, float(bound), float(proved[i]), sure))
        return out

    return Problem(ask, claims, lambda: list(truth))


ROW = np.array([[-1.5, -1.0]]), np.array([-3.75])
RING = Quadratic.from_matrix(-np.eye(2), np.zeros(2), 0.01)
WHOLE = Domain(np.array([0.0, np.nan]))


def outside(radius, d):
    """Return the row ``|x| >= radius``."""
    return Quadratic.from_matrix(-np.eye(d), np.zeros(d), float(radius**2))


def categories():
    """One number and a group of three, with at most one change; a row that needs the third."""
    own = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    domain = Domain(
        np.array([0.0, np.nan, np.nan, np.nan]),
        groups=(np.array([1, 2, 3]),),
        owner=np.array([0, 1, 1, 1]),
        max_changes=1,
        own=own,
    )
    cell = Cell(np.array([[-1.0, 0.0, -1.0, -3.0]]), np.array([-3.0]))
    # x0 = 3 alone costs 3, the third category costs 2; the other row needs x0 = 2 or category 3.
    return projection(cell, own, -4.0, 4.0, domain=domain, truth=[2.0, 1.0])


def binned():
    """A number whose bins count: 1 between 1 and 3, 2 above."""
    bins = Bins(0, np.array([2, 3, 4]), np.array([1.0, 3.0]))
    domain = Domain(
        np.full(5, np.nan),
        groups=(bins.columns,),
        owner=np.array([0, 1, 0, 0, 0]),
        bins=(bins,),
    )
    cell = Cell(np.array([[0.0, -1.0, 0.0, -1.0, -2.0]]), np.array([-2.5]))
    lower, upper = np.array([-5.0, -5.0, 0, 0, 0]), np.array([5.0, 5.0, 1, 1, 1])
    centers = np.array([[0.0, 0.0, 1.0, 0.0, 0.0]])
    weights = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    # x1 = 2.5 costs 2.5; x0 = 1 and x1 = 1.5 too; x0 = 3 and x1 = 0.5 cost 3.5.
    return projection(cell, centers, lower, upper, weights, domain, truth=[2.5])


def pieces():
    """Five half-planes with a wall each: the nearest is not the first."""
    cells = tuple(
        Cell(np.array([[-1.0, 0.1 * k], [0.0, -1.0]]), np.array([-4.0 + 0.5 * k, -0.5]))
        for k in range(5)
    )
    centers = np.array([[0.0, 0.0], [1.0, -2.0], [-3.0, 2.0]])
    truth = [min(_linear_least(c, x) for c in cells) for x in centers]
    return projection(CellUnion(cells), centers, truth=truth)


def _linear_least(cell, center, weights=None, lower=-6.0, upper=6.0):
    """Return the least cost of a polyhedron, by a solver of another house."""
    d = len(center)
    weights = np.ones(d) if weights is None else weights
    rows = np.block([[cell.G, np.zeros((len(cell.G), d))], [np.eye(d), -np.eye(d)],
                     [-np.eye(d), -np.eye(d)]])  # fmt: skip
    sides = np.concatenate([cell.h, center, -np.asarray(center)])
    limits = [(lower, upper)] * d + [(0, None)] * d
    found = linprog(np.concatenate([np.zeros(d), weights]), rows, sides, bounds=limits)
    return float(found.fun) if found.status == 0 else np.inf


def winners():
    """Prototypes of three classes: where the first class wins."""
    rng = np.random.default_rng(0)
    own = Scores(rng.normal(size=(4, 3)), rng.normal(size=4))
    rivals = Scores(rng.normal(size=(6, 3)), rng.normal(size=6) + 1)
    region = WinnerRegion(own, rivals)
    centers = rng.normal(size=(3, 3))
    truth = [min(_linear_least(cell, x) for cell in region.cells) for x in centers]
    return projection(region, centers, truth=truth)


def polyhedron():
    """A single polyhedron for several centers, one of them inside."""
    rng = np.random.default_rng(2)
    cell = Cell(rng.normal(size=(4, 4)), np.full(4, 0.3))
    centers = np.vstack([2 * rng.normal(size=(3, 4)), np.zeros((1, 4))])
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    truth = [_linear_least(cell, x, weights) for x in centers]
    return projection(cell, centers, weights=weights, truth=truth)


# -- Questions -------------------------------------------------------------------------------


W, B, STERN = np.array([0.7, -0.8, 0.6, 0.5]), -0.75, -1.0
X = np.array([[1.2, 0.1, 0.9, 0.7], [0.9, 0.1, 0.8, 0.6]])
LOW, HIGH = 0.0, 1.2
BOX = pertinent.Constraints(bounds={j: (LOW, HIGH) for j in range(4)})


@cache
def logistic(intercept=B):
    """Return a model that says 1 where W x + B > 0."""
    model = LogisticRegression()
    model.classes_, model.coef_ = np.array([0, 1]), W[None]
    model.intercept_, model.n_features_in_ = np.array([intercept]), 4
    return model


def stern():
    """Return the model that asks for more."""
    return logistic(STERN)


@cache
def tree():
    """Return a small tree."""
    rng = np.random.default_rng(5)
    Z = rng.uniform(LOW, HIGH, size=(80, 4))
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(Z, Z @ W + B > 0)


def supports():
    """Yield all sets of features, the smallest first."""
    for size in range(5):
        for chosen in combinations(range(4), size):
            yield np.isin(np.arange(4), chosen)


def fewest(will_do):
    """Return the size of the smallest set that will do."""
    return next((float(mask.sum()) for mask in supports() if will_do(mask)), np.inf)


def change_sizes():
    """Return how many features of each sample must change for the other class."""
    least = np.minimum(W * LOW, W * HIGH)
    return [fewest(lambda mask, x=x: (np.where(mask, least, W * x)).sum() + B < 0) for x in X]


def change_costs(most):
    """Return the least cost of a change of at most so many features."""
    cell = Cell(W[None], np.array([-B]))
    out = []
    for x in X:
        costs = []
        for mask in supports():
            if mask.sum() <= most:
                low, high = np.where(mask, LOW, x), np.where(mask, HIGH, x)
                costs.append(_least_within(cell, x, low, high))
        out.append(min(costs))
    return out


def _least_within(cell, x, low, high):
    """Return the least cost of one half-space within bounds: the steepest features first."""
    over = float(cell.G[0] @ x - cell.h[0])
    cost = 0.0
    for j in np.argsort(-np.abs(cell.G[0])):
        room = x[j] - low[j] if cell.G[0, j] > 0 else high[j] - x[j]
        step = min(room, max(over, 0.0) / abs(cell.G[0, j]))
        cost, over = cost + step, over - step * abs(cell.G[0, j])
    return cost if over <= 1e-12 else np.inf


def strict_sizes(model):
    """Return how many own values keep the class, the others at the baseline."""
    label = model.predict(X)
    return [
        fewest(lambda mask, i=i: model.predict(np.where(mask, X[i], 0.0)[None])[0] == label[i])
        for i in range(len(X))
    ]


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
    model, out = tree(), []
    for x, label in zip(X, tree().predict(X), strict=True):
        beside = [[t + s for t in cuts for s in (-1e-6, 1e-6)] for cuts in _cuts(model)]
        grid = np.array(list(product(*([x[j], *values] for j, values in enumerate(beside)))))
        other = grid[(model.predict(grid) != label) & in_box(grid)]
        out.append(float(np.abs(other - x).sum(axis=1).min()))
    return out


def _cuts(model):
    return [
        [
            float(t)
            for f, t in zip(model.tree_.feature, model.tree_.threshold, strict=True)
            if f == j
        ]
        for j in range(4)
    ]


def in_box(points):
    """Return which points obey the bounds."""
    return ((points >= LOW - 1e-9) & (points <= HIGH + 1e-9)).all(axis=1)


def said(model, points):
    """Return the predicted classes, -1 where a point is not finite."""
    finite = np.isfinite(points).all(axis=1)
    return np.where(finite, model.predict(np.where(finite[:, None], points, 0.0)), -1)


def costs(setting, model, found):
    """Return the costs of negatives, NaN where a point is none."""
    valid = (said(model, found.values) == 1 - model.predict(X)) & in_box(found.values)
    return np.where(valid, np.abs(found.values - X).sum(axis=1), np.nan)


def changes(setting, model, found):
    """Return how many features negatives change, NaN where a point is none."""
    counted = (found.values != X).sum(axis=1)
    return np.where(np.isnan(costs(setting, model, found)), np.nan, counted)


def kept(setting, model, found):
    """Return how many features positives have off the baseline of 0, NaN where a point is none."""
    valid = (said(model, found.values) == model.predict(X)) & in_box(found.values)
    return np.where(valid, (found.values != 0.0).sum(axis=1), np.nan)


def strictly_kept(setting, model, found):
    """Return the same where every value is the sample's own or the baseline."""
    own = ((found.values == X) | (found.values == 0.0)).all(axis=1)
    return np.where(own, kept(setting, model, found), np.nan)


def held(setting, model, found):
    """Return how many values are held, NaN where the others can change the class."""
    limits = np.full(4, LOW), np.full(4, HIGH)
    out = np.full(len(X), np.nan)
    for i, mask in enumerate(found.kept):
        table, label = found.table.take(np.array([i])), int(model.predict(X[[i]])[0])
        if holds_whatever(setting, label, table, mask, limits)[0]:
            out[i] = mask.sum()
    return out


def question(ask, recheck, measure, truth, model):
    """Return the problem of a question about the samples.

    The values are measured at the points handed out, by the model; what is proved of them is
    recomputed from their certificates.
    """

    def claims(found):
        setting, _ = prepare(model(), X, None, Settings(constraints=BOX))
        proved, values = recheck(setting, found), measure(setting, model(), found)
        out = []
        for i, status in enumerate(found.status):
            sure = proved[i] >= values[i] * (1 - GAP_NONCONVEX) - 1e-9
            sure = sure if status == "optimal" else np.isinf(proved[i])
            bound = float(np.fmax(found.bound[i], 0.0))
            out.append(Claim(str(status), float(values[i]), bound, float(proved[i]), bool(sure)))
        return out

    return Problem(ask, claims, truth, handed_out=True)


def negatives(truth, measure=costs, model=logistic, **how):
    """Return the problem of negatives."""
    asked = {"max_changes": how.get("max_changes")}

    def ask():
        return pertinent.pertinent_negatives(model(), X, constraints=BOX, **how)

    def recheck(setting, found):
        return proved_of_negatives(setting, found, **asked)[0]

    return question(ask, recheck, measure, truth, model)


def positives(truth, measure, model=logistic, **how):
    """Return the problem of positives of the smallest size."""
    asked = PositiveQuestion(np.zeros(4))

    def ask():
        return pertinent.pertinent_positives(model(), X, constraints=BOX, **how)

    def recheck(setting, found):
        return proved_of_positives(setting, asked, found)[0]

    return question(ask, recheck, measure, truth, model)


@cache
def problems():
    """Return all problems by name."""
    half = Cell(np.array([[-1.0, -2.0, 0.5]]), np.array([-3.0]))
    ellipsoid = Quadratic.from_matrix(np.diag([1.0, 4.0]), np.zeros(2), -4.0)
    mixed_sign = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    nothing = np.zeros((0, 2)), np.zeros(0)
    zero = np.zeros((1, 2))
    return {
        "whole numbers": projection(Cell(*ROW), zero, 0.0, 6.0, domain=WHOLE, truth=[2.75]),
        "whole numbers, curved": projection(
            Cell(*ROW, (RING,)), zero, 0.0, 6.0, domain=WHOLE, truth=[2.75]
        ),
        "no whole number": projection(
            Cell(np.array([[2.0, 0.0], [-2.0, 0.0]]), np.array([1.4, -0.6])),
            zero, domain=WHOLE, truth=[np.inf],
        ),
        "categories": categories(),
        "bins": binned(),
        "pieces": pieces(),
        "winners": winners(),
        "half-space": projection(half, np.zeros((2, 3)), -1.2, 1.2, truth=[1.8, 1.8]),
        "polyhedron": polyhedron(),
        "no point": projection(
            Cell(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([-1.0, -1.0])), zero,
            truth=[np.inf],
        ),
        "ellipsoid": projection(
            Cell(np.array([[0.0, -1.0]]), np.array([-0.5]), (ellipsoid,)),
            np.array([[4.0, 0.0]]), truth=[4 - np.sqrt(3) + 0.5],
        ),
        "outside a ball": projection(
            Cell(*nothing, (outside(2.0, 2),)), zero, weights=[1.0, 2.0], truth=[2.0]
        ),
        "hyperbola": projection(Cell(*nothing, (mixed_sign,)), zero, truth=[2.0]),
        "two curved rows": projection(
            Cell(*nothing, (mixed_sign, Quadratic.from_matrix(np.eye(2), np.zeros(2), -9.0))),
            np.array([[0.5, 0.0]]), truth=[1.5],
        ),
        "nothing curved": projection(
            Cell(np.array([[-1.0, 0.0]]), np.array([-3.0]), (ellipsoid,)), zero, truth=[np.inf]
        ),
        "negative": negatives(lambda: change_costs(4)),
        "negative, tree": negatives(tree_change_costs, model=tree),
        "few changes": negatives(change_sizes, changes, norm="l0"),
        "at most two changes": negatives(lambda: change_costs(2), max_changes=2),
        "strict": positives(lambda: strict_sizes(logistic()), strictly_kept, method="strict"),
        "exact": positives(kept_sizes, kept, stern, method="exact"),
        "sufficient": positives(sufficient_sizes, held, method="sufficient"),
        "strict, tree": positives(
            lambda: strict_sizes(tree()), strictly_kept, tree, method="strict"
        ),
        "sufficient, tree": positives(tree_sufficient_sizes, held, tree, method="sufficient"),
    }  # fmt: skip
