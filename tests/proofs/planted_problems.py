"""Claims that are compared with the truth, and small projections whose nearest points are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.gaps import GAP_NONCONVEX, is_closed
from pertinent.geometry.region import Cell, CellUnion, Quadratic
from pertinent.geometry.task import Task, distance
from pertinent.geometry.winners import Scores, WinnerRegion
from pertinent.proofs import status_names
from pertinent.solvers import project


@dataclass
class Claim:
    """What is said of one row, and what the trusted base makes of it."""

    status: str
    value: float
    bound: float
    #: The bound recomputed from the certificate, and whether the point is valid and meets it.
    proved: float
    confirmed: bool
    #: Whether every alternative listed is valid and of the size that is said.
    others_hold: bool = True

    def is_wrong(self, truth: float) -> bool:
        """Return whether the status says what is not so."""
        near = truth < np.inf and abs(self.value - truth) <= 2e-4 * abs(truth) + 1e-6
        return (self.status == "optimal" and not near) or (
            self.status == "infeasible" and truth < np.inf
        )

    def is_false(self, truth: float) -> bool:
        """Return whether status, bound or an alternative say what is not so."""
        too_much = bool(self.bound > truth * (1 + 1e-6) + 1e-7)
        return self.is_wrong(truth) or too_much or not self.others_hold

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
    #: Whether SCIP is asked: its bound is a word that nobody can check. No answer is "optimal" by
    #: it, and the bound is not compared with the truth.
    by_word: bool = False


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
    truth = [min(linear_least(c, x) for c in cells) for x in centers]
    return projection(CellUnion(cells), centers, truth=truth)


def linear_least(*asked):
    """Return the least cost of a polyhedron; ``inf`` if it is empty."""
    return linear_nearest(*asked)[1]


def linear_nearest(cell, center, weights=None, lower=-6.0, upper=6.0):
    """Return the nearest point of a polyhedron and its cost, by a solver of another house."""
    d = len(center)
    weights = np.ones(d) if weights is None else weights
    rows = np.block([[cell.G, np.zeros((len(cell.G), d))], [np.eye(d), -np.eye(d)],
                     [-np.eye(d), -np.eye(d)]])  # fmt: skip
    sides = np.concatenate([cell.h, center, -np.asarray(center)])
    ends = np.broadcast_to(np.column_stack([lower, upper]), (d, 2)).tolist()
    costs = np.concatenate([np.zeros(d), weights])
    found = linprog(costs, rows, sides, bounds=[*ends, *[(0, None)] * d])
    return (found.x[:d], float(found.fun)) if found.status == 0 else (None, np.inf)


def winners():
    """Prototypes of three classes: where the first class wins."""
    rng = np.random.default_rng(0)
    own = Scores(rng.normal(size=(4, 3)), rng.normal(size=4))
    rivals = Scores(rng.normal(size=(6, 3)), rng.normal(size=6) + 1)
    region = WinnerRegion(own, rivals)
    centers = rng.normal(size=(3, 3))
    truth = [min(linear_least(cell, x) for cell in region.cells) for x in centers]
    return projection(region, centers, truth=truth)


def polyhedron():
    """A single polyhedron for several centers, one of them inside."""
    rng = np.random.default_rng(2)
    cell = Cell(rng.normal(size=(4, 4)), np.full(4, 0.3))
    centers = np.vstack([2 * rng.normal(size=(3, 4)), np.zeros((1, 4))])
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    truth = [linear_least(cell, x, weights) for x in centers]
    return projection(cell, centers, weights=weights, truth=truth)


def projections():
    """Return all projections by name, the cheapest first."""
    half = Cell(np.array([[-1.0, -2.0, 0.5]]), np.array([-3.0]))
    ellipsoid = Quadratic.from_matrix(np.diag([1.0, 4.0]), np.zeros(2), -4.0)
    mixed_sign = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    nothing = np.zeros((0, 2)), np.zeros(0)
    zero = np.zeros((1, 2))
    return {
        "half-space": projection(half, np.zeros((2, 3)), -1.2, 1.2, truth=[1.8, 1.8]),
        "no point": projection(
            Cell(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([-1.0, -1.0])), zero,
            truth=[np.inf],
        ),
        "outside a ball": projection(
            Cell(*nothing, (outside(2.0, 2),)), zero, weights=[1.0, 2.0], truth=[2.0]
        ),
        "polyhedron": polyhedron(),
        "categories": categories(),
        "no whole number": projection(
            Cell(np.array([[2.0, 0.0], [-2.0, 0.0]]), np.array([1.4, -0.6])),
            zero, domain=WHOLE, truth=[np.inf],
        ),
        "whole numbers": projection(Cell(*ROW), zero, 0.0, 6.0, domain=WHOLE, truth=[2.75]),
        "winners": winners(),
        "pieces": pieces(),
        "two curved rows": projection(
            Cell(*nothing, (mixed_sign, Quadratic.from_matrix(np.eye(2), np.zeros(2), -9.0))),
            np.array([[0.5, 0.0]]), truth=[1.5],
        ),
        "ellipsoid": projection(
            Cell(np.array([[0.0, -1.0]]), np.array([-0.5]), (ellipsoid,)),
            np.array([[4.0, 0.0]]), truth=[4 - np.sqrt(3) + 0.5],
        ),
        "bins": binned(),
        "nothing curved": projection(
            Cell(np.array([[-1.0, 0.0]]), np.array([-3.0]), (ellipsoid,)), zero, truth=[np.inf]
        ),
        "hyperbola": projection(Cell(*nothing, (mixed_sign,)), zero, truth=[2.0]),
        "whole numbers, curved": projection(
            Cell(*ROW, (RING,)), zero, 0.0, 6.0, domain=WHOLE, truth=[2.75]
        ),
    }  # fmt: skip
