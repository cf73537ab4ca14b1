"""Every set of features tried one by one: an oracle that shares no code with the library.

The rows of each class are written here from the fitted model's own attributes,

    x'Ax + q'x + c <= 0,

and a set of features is judged with all others held: by roots for one feature, by HiGHS for
polyhedra, by SCIP for curved rows.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

#: Points this far outside by rounding count as inside.
SLACK = 1e-9


class Piece:
    """A conjunction of rows ``x'Ax + q'x + c <= 0``."""

    def __init__(self, A, q, c):
        self.q, self.c = np.atleast_2d(np.asarray(q, float)), np.atleast_1d(np.asarray(c, float))
        m, d = self.q.shape
        self.A = np.zeros((m, d, d)) if A is None else np.asarray(A, float)
        self.curved = bool(np.abs(self.A).max(initial=0.0) > 0)

    def values(self, x):
        return np.einsum("mij,i,j->m", self.A, x, x) + self.q @ x + self.c


# -- The rows of each family ------------------------------------------------------------------


def pieces(model, label):
    """Return the pieces whose union is where the model predicts ``label``."""
    return _FAMILIES[type(model).__name__](model, list(model.classes_).index(label), label)


def _scores(W, b, t):
    rivals = np.arange(len(W)) != t
    return [Piece(None, W[rivals] - W[t], b[rivals] - b[t])]


def _linear(model, t, label):
    W, b = model.coef_, model.intercept_
    if len(W) == 1:
        W, b = np.vstack([0 * W, W]), np.append(0.0, b)
    return _scores(W, b, t)


def _prototypes(points, own, metrics):
    """|x - p|^2_M <= |x - r|^2_N: one piece a prototype p, one row a rival r."""
    out = []
    for p, M in zip(points[own], metrics[own], strict=True):
        A = M - metrics[~own]
        q = 2 * (np.einsum("rij,rj->ri", metrics[~own], points[~own]) - M @ p)
        c = p @ M @ p - np.einsum("ri,rij,rj->r", points[~own], metrics[~own], points[~own])
        out.append(Piece(A if np.abs(A).max() > 0 else None, q, c))
    return out


def _same_metric(points, own, omega=None):
    M = np.eye(points.shape[1]) if omega is None else omega.T @ omega
    return _prototypes(points, own, np.repeat(M[None], len(points), axis=0))


def _glvq(model, t, label):
    return _same_metric(model.prototypes_, model.prototype_labels_ == label)


def _gmlvq(model, t, label):
    return _same_metric(model.prototypes_, model.prototype_labels_ == label, model.omega_)


def _lgmlvq(model, t, label):
    omegas = model.omega_[model.prototype_omega_]
    metrics = np.einsum("pri,prj->pij", omegas, omegas)
    return _prototypes(model.prototypes_, model.prototype_labels_ == label, metrics)


def _centroids(model, t, label):
    return _same_metric(model.centroids_, np.arange(len(model.centroids_)) == t)


def _neighbours(model, t, label):
    return _same_metric(np.asarray(model._fit_X, float), model._y == t)


def _gaussians(means, precisions, logs, t):
    """log prior - logdet/2 - |x - m|^2_P / 2 is largest for class t."""
    A, q, c = [], [], []
    for k in range(len(means)):
        if k != t:
            A.append((precisions[t] - precisions[k]) / 2)
            q.append(precisions[k] @ means[k] - precisions[t] @ means[t])
            squares = [means[j] @ precisions[j] @ means[j] / 2 for j in (t, k)]
            c.append(squares[0] - squares[1] + logs[k] - logs[t])
    return [Piece(A, q, c)]


def _naive_bayes(model, t, label):
    precisions = np.array([np.diag(1 / v) for v in model.var_])
    logs = np.log(model.class_prior_) - np.log(model.var_).sum(axis=1) / 2
    return _gaussians(model.theta_, precisions, logs, t)


def _discriminant(model, t, label):
    pairs = list(zip(model.rotations_, model.scalings_, strict=True))
    precisions = np.array([(R / s) @ R.T for R, s in pairs])
    logs = np.log(model.priors_) - np.array([np.log(s).sum() for _, s in pairs]) / 2
    return _gaussians(model.means_, precisions, logs, t)


def _vectors(model, t, label):
    """sum_i a_i (gamma v_i'x + r)^2 + b, positive for the second class."""
    V, a, g, r = model.support_vectors_, model.dual_coef_[0], model._gamma, model.coef0
    sign = 1.0 if t == 0 else -1.0
    A = g * g * np.einsum("s,si,sj->ij", a, V, V)
    c = r * r * a.sum() + model.intercept_[0]
    return [Piece([sign * A], sign * 2 * g * r * (a @ V), sign * c)]


def _tree(model, t, label):
    """A path to a leaf: float32(x_j) <= threshold on the left, and not so on the right."""
    tree, d = model.tree_, model.n_features_in_
    out = []

    def walk(node, rows, sides):
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            if tree.value[node, 0].argmax() == t:
                out.append(Piece(None, np.array([*rows, np.zeros(d)]), [*sides, 0.0]))
            return
        axis, edge = np.eye(d)[tree.feature[node]], _last_left(tree.threshold[node])
        walk(left, [*rows, axis], [*sides, -edge])
        walk(right, [*rows, -axis], [*sides, np.nextafter(edge, np.inf)])

    walk(0, [], [])
    return out


def _last_left(threshold):
    """Bisect for the last double whose rounding to single precision is at most the threshold."""
    low, high = threshold - abs(threshold) - 1.0, threshold + abs(threshold) + 1.0
    while np.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if np.float32(middle) <= threshold else (low, middle)
    return low


_FAMILIES = {
    "DecisionTreeClassifier": _tree,
    "ExtraTreeClassifier": _tree,
    "LogisticRegression": _linear,
    "GLVQ": _glvq,
    "GMLVQ": _gmlvq,
    "LGMLVQ": _lgmlvq,
    "NearestCentroid": _centroids,
    "KNeighborsClassifier": _neighbours,
    "GaussianNB": _naive_bayes,
    "QuadraticDiscriminantAnalysis": _discriminant,
    "SVC": _vectors,
}


def other_pieces(model, label):
    """Return the pieces of all other classes."""
    return [piece for k in model.classes_ if k != label for piece in pieces(model, k)]


# -- One set of features -----------------------------------------------------------------------


def closest(piece, x, on, rest, low, high, below=np.inf):
    """Return the least ``sum_{on} |v - x|`` with v in the piece, within bounds, the rest at rest.

    ``inf`` where there is none, or none below ``below``.
    """
    on = np.asarray(on, dtype=int)
    off = np.setdiff1d(np.arange(len(x)), on)
    if ((rest[off] < low[off]) | (rest[off] > high[off])).any() or (low[on] > high[on]).any():
        return np.inf
    held = rest.copy()
    held[on] = 0.0
    # What remains for the features that are on: y'By + s'y + c <= 0.
    B = piece.A[:, on][:, :, on]
    s = piece.q[:, on] + 2 * np.einsum("mij,j->mi", piece.A, held)[:, on]
    c = piece.values(held)
    if not len(on):
        return 0.0 if (c <= SLACK).all() else np.inf
    args = (x[on], low[on], high[on])
    if len(on) == 1:
        return _by_roots(B[:, 0, 0], s[:, 0], c, *(float(v[0]) for v in args))
    if np.abs(B).max() == 0:
        return _by_highs(s, c, *args)
    return _by_scip(B, s, c, *args, below)


def _by_roots(a, s, c, x, low, high):
    """The nearest value is the sample's own, an end of the range, or a root of some row."""
    tries = [np.clip(x, low, high), low, high]
    for row in zip(a, s, c, strict=True):
        roots = np.roots(row)
        tries.extend(np.real(roots[np.abs(np.imag(roots)) < 1e-9]))
    v = np.array([t for t in tries if np.isfinite(t) and low <= t <= high])
    terms = np.abs(a[:, None] * v * v) + np.abs(s[:, None] * v) + np.abs(c[:, None])
    holds = (a[:, None] * v * v + s[:, None] * v + c[:, None] <= SLACK * terms).all(axis=0)
    return np.abs(v[holds] - x).min(initial=np.inf)


def _by_highs(s, c, x, low, high):
    """With v = x + up - down, both at least 0: min sum (up + down), s'v + c <= 0."""
    bounds = [(max(0.0, lo - v), max(0.0, hi - v)) for v, lo, hi in zip(x, low, high, strict=True)]
    bounds += [(max(0.0, v - hi), max(0.0, v - lo)) for v, lo, hi in zip(x, low, high, strict=True)]
    scale = np.abs(s).max(axis=1)
    flat = scale == 0
    if (c[flat] > SLACK).any():
        return np.inf
    s, c = s[~flat] / scale[~flat, None], c[~flat] / scale[~flat]
    found = linprog(np.ones(2 * len(x)), np.hstack([s, -s]), -c - s @ x, bounds=bounds)
    assert found.status in (0, 2), found.message
    return found.fun if found.status == 0 else np.inf


def _by_scip(B, s, c, x, low, high, below):
    from pyscipopt import Model, quicksum

    reach = np.minimum(np.maximum(high - x, x - low), below)
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-7)
    model.setParam("numerics/feastol", 1e-9)
    model.setParam("limits/time", 60.0)
    v = [
        model.addVar(lb=max(lo, t - r), ub=min(hi, t + r))
        for t, lo, hi, r in zip(x, low, high, reach, strict=True)
    ]
    e = [model.addVar(lb=0.0, ub=r) for r in reach]
    for vi, ei, t in zip(v, e, x, strict=True):
        model.addCons(ei >= vi - t)
        model.addCons(ei >= t - vi)
    for Bm, sm, cm in zip(B, s, c, strict=True):
        size = max(np.abs(Bm).max(), np.abs(sm).max(), 1e-300)
        square = quicksum(
            Bm[i, j] / size * v[i] * v[j] for i in range(len(x)) for j in range(len(x))
        )
        model.addCons(square + quicksum(sm[i] / size * v[i] for i in range(len(x))) <= -cm / size)
    model.setObjective(quicksum(e))
    model.optimize()
    status = model.getStatus()
    assert status in ("optimal", "gaplimit", "infeasible"), status
    return np.inf if status == "infeasible" else model.getObjVal()


# -- All sets of features ----------------------------------------------------------------------


@cache
def masks_of(d):
    """Return all 2^d sets, smallest first."""
    sets = [s for k in range(d + 1) for s in combinations(range(d), k)]
    out = np.zeros((len(sets), d), dtype=bool)
    for row, chosen in enumerate(sets):
        out[row, list(chosen)] = True
    return out


def strict_size(model, x, baseline):
    """Return the fewest own values that keep the class, the others at the baseline."""
    masks = masks_of(len(x))
    same = model.predict(np.where(masks, x, baseline)) == model.predict(x[None])
    return int(masks[same].sum(axis=1).min())


def fewest(pieces_, x, rest, low, high):
    """Return the size of the smallest set that will do, and the least cost of that size."""
    for size in range(len(x) + 1):
        cost = cheapest(pieces_, x, rest, low, high, size)
        if np.isfinite(cost):
            return size, cost
    return np.inf, np.inf


def cheapest(pieces_, x, rest, low, high, size):
    """Return the least cost of all sets of ``size`` features (they contain all smaller ones)."""
    best = np.inf
    for on in combinations(range(len(x)), size):
        for piece in pieces_:
            best = min(best, closest(piece, x, on, rest, low, high, best))
    return best


def sufficient_size(model, x, low, high):
    """Return the fewest features that leave no other class room within the bounds."""
    label = model.predict(x[None])[0]
    (own, *more), others = pieces(model, label), other_pieces(model, label)
    for mask in masks_of(len(x)):
        free = np.flatnonzero(~mask)
        if own.curved:
            assert not more
            room = _highest(own, x, free, low, high) > 0
        else:
            room = any(np.isfinite(closest(p, x, free, x, low, high)) for p in others)
        if not room:
            return int(mask.sum())
    raise AssertionError("the sample itself is not predicted as its class")


def _highest(piece, x, free, low, high):
    """Return the largest value of any row within the bounds; the rows add up over features."""
    values = piece.values(x)
    for m, (A, q) in enumerate(zip(piece.A, piece.q, strict=True)):
        a = np.diag(A)
        assert np.abs(A - np.diag(a)).max() == 0
        for i in free:
            inner = np.clip(-q[i] / (2 * a[i]), low[i], high[i]) if a[i] else low[i]
            ends = np.array([low[i], high[i], inner, x[i]])
            terms = a[i] * ends * ends + q[i] * ends
            values[m] += terms.max() - terms[-1]
    return values.max()


def next_sets(pieces_, x, count, by_size, rest=None, low=-np.inf, high=np.inf):
    """Return the costs of the best sets of features, none containing another; the others rest."""
    rest = x if rest is None else rest
    ends = np.broadcast_to(low, len(x)), np.broadcast_to(high, len(x))

    def cost_of(mask):
        return min(closest(piece, x, np.flatnonzero(mask), rest, *ends) for piece in pieces_)

    if by_size:
        return _next_by_size(cost_of, len(x), count)
    rated = [(mask, cost_of(mask)) for mask in masks_of(len(x))]
    rated = [r for r in rated if np.isfinite(r[1])]
    # A set that costs as much as one it contains does not need its further features.
    needed = [
        r
        for r in rated
        if not any(
            (o[0] <= r[0]).all() and o[0].sum() < r[0].sum() and o[1] <= r[1] + 1e-7 for o in rated
        )
    ]
    chosen = []
    for mask, cost in sorted(needed, key=lambda r: r[1]):
        if not any((other <= mask).all() for other, _ in chosen):
            chosen.append((mask, cost))
    return [cost for _, cost in chosen[:count]]


def _next_by_size(cost_of, d, count):
    """Return the costs of sets in order of size, then cost; none contains a smaller one."""
    masks, chosen = masks_of(d), []
    for size in range(d + 1):
        if len(chosen) >= count:
            break
        smaller = [mask for mask, _ in chosen]
        rated = [
            (mask, cost_of(mask))
            for mask in masks[masks.sum(axis=1) == size]
            if not any((other <= mask).all() for other in smaller)
        ]
        chosen += sorted((r for r in rated if np.isfinite(r[1])), key=lambda r: r[1])
    return [cost for _, cost in chosen[:count]]
