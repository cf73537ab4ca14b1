"""Small problems of rows over bent columns: nearest points by trying all values of a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

from pertinent.geometry.affine import BentRows
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from tests.proofs.planted_problems import projection
from tests.proofs.planted_questions import positives, strictly_kept
from tests.proofs.planted_ranges import ranges
from tests.proofs.planted_truth import DATA, LABELS, X, strict_sizes


@dataclass(frozen=True, eq=False)
class Bend:
    """A function that rises, of one column."""

    column: int
    function: Callable
    inverse: Callable
    beside: float = 0.0

    def __call__(self, z):
        return self.function(z)


def log(column):
    """Return the logarithm of 1 + x, which is not defined below x = -1."""

    def function(z):
        return np.where(z > -1.0, np.log1p(np.maximum(z, -1.0 + 1e-9)), -np.inf)

    return Bend(column, function, np.expm1)


def cube(column):
    return Bend(column, lambda z: z**3, np.cbrt)


def exponential(column):
    return Bend(column, np.exp, np.log)


def bent(curves, G, B, h):
    """Return the cell of ``G x + B f(x) <= h``."""
    rows = BentRows.of(tuple(curves), *(np.atleast_2d(np.array(v, float)) for v in (G, B)),
                       np.atleast_1d(np.array(h, float)))  # fmt: skip
    return Cell(np.zeros((0, rows.dim)), np.zeros(0), bent=(rows,))


def plane_least(cell, center, low, high, count=200_001):
    """Return the least cost of rows that only rise: for each first number, the least second one."""
    (rows,) = cell.bent
    first = np.append(np.linspace(low, high, count), center[0])
    second = np.full_like(first, max(center[1], low))
    by = {curve.column: curve for curve in rows.curves}
    for G, B, h in zip(rows.G, rows.B, rows.h, strict=True):
        slopes = dict(zip((c.column for c in rows.curves), B, strict=True))
        need = G[0] * first + slopes.get(0, 0.0) * by[0](first) - h
        # need <= -G1 x1 - B1 f1(x1), of which one is 0
        least = need / -G[1] if G[1] else by[1].inverse(need / -slopes[1])
        second = np.maximum(second, np.where(need > -np.inf, least, low))
    second = np.where(second <= high, second, np.inf)
    return float((np.abs(first - center[0]) + np.abs(second - center[1])).min())


def listed_least(cell, domain, center, weights, values):
    """Return the least cost of all points with these values of the first number, and categories."""
    points = []
    for value, *ones in product(values, *domain.groups):
        point = np.zeros(len(center))
        point[0], point[ones] = value, 1.0
        points.append(point)
    points = domain.completed(np.array(points))
    points = points[cell.contains(points)]
    return float((np.abs(points - center) @ weights).min(initial=np.inf))


def bent_projections():
    """Return all projections onto rows over bent columns by name, the cheapest first."""
    centers = np.array([[0.3, 0.5]])
    one = bent([log(0), log(1)], [0.0, 0.0], [-2.0, -1.0], -2.5)
    apart = bent([cube(0), cube(1)], [0.0, 0.0], [-1.0, -1.2], -9.0)
    two = bent(
        [log(0), cube(1)], [[0.0, 0.0], [0.0, -1.0]], [[-2.0, -0.1], [-1.0, 0.0]], [-2.5, -2.0]
    )
    never = bent([log(0), log(1)], [0.0, 0.0], [-1.0, -1.0], -9.0)
    both = bent([log(0), log(1)], [[0.0, 0.0]] * 2, [[-1.0, -1.0], [1.0, 1.0]], [-2.0, 1.9])
    out = {
        "bent, no point": projection(never, centers, 0.0, 6.0, truth=[np.inf]),
        "bent, rows apart": projection(both, centers, 0.0, 6.0, truth=[np.inf]),
        "bent, steep": projection(
            bent([exponential(0)], [0.0], [-1.0], -3.0), np.array([[0.3]]), 0.0, 700.0,
            truth=[np.log(3.0) - 0.3],
        ),
        "bent, categories": with_categories(),
        "bent, bins": with_bins(),
    }  # fmt: skip
    for name, cell in (("bent", one), ("bent, hollow", apart), ("bent, two rows", two)):
        truth = [plane_least(cell, c, 0.0, 6.0) for c in centers]
        out[name] = projection(cell, centers, 0.0, 6.0, truth=truth)
    return out


def with_categories():
    """A whole number seen through a logarithm, and a group of three; one of them may change."""
    own = np.array([[1.0, 1.0, 0.0, 0.0]])
    domain = Domain(
        np.array([0.0, np.nan, np.nan, np.nan]), (np.array([1, 2, 3]),),
        np.array([0, 1, 1, 1]), max_changes=1, own=own,
    )  # fmt: skip
    cell = bent([log(0)], [0.0, 0.0, -0.4, -1.2], [-1.0], -1.5)
    low, high = np.array([0.0, 0, 0, 0]), np.array([9.0, 1, 1, 1])
    weights = np.array([1.0, 1.0, 1.0, 1.2])
    truth = listed_least(cell, domain, own[0], weights, np.arange(10.0))
    return projection(cell, own, low, high, weights, domain, truth=[truth])


def with_bins():
    """A number seen through a logarithm, whose bins count and that is cut off at two edges."""
    bins = Bins(0, np.array([1, 2, 3]), np.array([1.0, 3.0]), excess=4)
    domain = Domain(np.full(5, np.nan), (bins.columns,), np.zeros(5, dtype=int), (bins,))
    cell = bent([log(0)], [0.0, 0.0, -0.2, -0.8, -0.1], [-1.0], -2.0)
    center = domain.completed(np.array([[0.5, 1.0, 0.0, 0.0, 0.0]]))
    weights = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    low, high = np.array([0.0, 0, 0, 0, -1.0]), np.array([6.0, 1, 1, 1, 3.0])
    numbers = np.linspace(0.0, 6.0, 600_001)[:, None] * np.eye(5)[0]
    points = domain.completed(numbers)
    truth = np.abs(points[cell.contains(points)] - center)[:, 0].min(initial=np.inf)
    return projection(cell, center, low, high, weights, domain, truth=[float(truth)])


@cache
def powers():
    """Return a model that adds up columns behind powers of them."""
    return make_pipeline(PowerTransformer(), LogisticRegression()).fit(DATA, LABELS)


def bent_questions():
    """Return questions about a model that adds up bent columns."""
    return {
        "strict, bent": positives(
            lambda: strict_sizes(powers()), strictly_kept, powers, method="strict"
        ),
        "ranges, bent": ranges(powers, X[1:]),
    }
