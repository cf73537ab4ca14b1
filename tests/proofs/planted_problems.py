"""Claims that are compared with the truth, and small projections whose nearest points are known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from unittest import mock

import numpy as np
from scipy.optimize import linprog, minimize

from pertinent.geometry.affine import Scores
from pertinent.geometry.cell import Exponential
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.gaps import GAP_NONCONVEX, is_closed
from pertinent.geometry.region import Cell, CellUnion, Quadratic
from pertinent.geometry.running import until
from pertinent.geometry.task import Task, distance
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import status_names
from pertinent.setting.options import Options
from pertinent.solvers import project
from pertinent.solvers.linear import simplex
from pertinent.solvers.scip import mixed as mixed_curved
from pertinent.solvers.search import curved as curved_cases
from pertinent.solvers.search.separable import solve as separable_cases
from tests.proofs.planting import plain_kernel


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
    #: Whether the search is stopped before it is done: nothing need be found, or proved.
    stopped: bool = False


def projection(
    region,
    centers,
    lower=-6.0,
    upper=6.0,
    weights=None,
    domain=None,
    truth=(),
    engine="numpy",
    under=nullcontext,
    **kind,
):
    """Return the problem of the nearest points of a region, asked ``under`` a context."""
    centers = np.atleast_2d(np.asarray(centers, dtype=float))
    whole = CellUnion((region,)) if isinstance(region, Cell) else region
    weights = np.ones(whole.dim) if weights is None else np.asarray(weights, dtype=float)
    task = Task.of(whole, centers, weights, lower, upper, domain)

    def ask():
        options = Options(engine=engine)
        with under():
            found = project(centers, region, weights, lower, upper, options, domain=domain)
            # What the solver believes is computed when it is read.
            assert len(found) == len(found.status) == len(found.bound) == len(centers)
        return found

    def claims(found):
        # A solver's word is no proof.
        proved = np.where(found.certificate.trusted(), found.certificate.bounds(task), 0.0)
        proved = np.maximum(proved, 0.0)
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

    return Problem(ask, claims, lambda: list(truth), **kind)


ROW = np.array([[-1.5, -1.0]]), np.array([-3.75])
RING = Quadratic.from_matrix(-np.eye(2), np.zeros(2), 0.01)
WHOLE = Domain(np.array([0.0, np.nan]))


def outside(radius, d):
    """Return the row ``|x| >= radius``."""
    return Quadratic.from_matrix(-np.eye(d), np.zeros(d), float(radius**2))


def categories(most=1, least=3.0):
    """One number and a group of three, with at most so many changes; a row that needs the third."""
    own = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    domain = Domain(
        np.array([0.0, np.nan, np.nan, np.nan]),
        groups=(np.array([1, 2, 3]),),
        owner=np.array([0, 1, 1, 1]),
        max_changes=most,
        own=own,
    )
    cell = Cell(np.array([[-1.0, 0.0, -1.0, -3.0]]), np.array([-least]))
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


def pieces(**how):
    """Five half-planes with a wall each: the nearest is not the first."""
    cells = tuple(
        Cell(np.array([[-1.0, 0.1 * k], [0.0, -1.0]]), np.array([-4.0 + 0.5 * k, -0.5]))
        for k in range(5)
    )
    centers = np.array([[0.0, 0.0], [1.0, -2.0], [-3.0, 2.0]])
    truth = [min(linear_least(c, x) for c in cells) for x in centers]
    return projection(CellUnion(cells), centers, truth=truth, **how)


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


def polyhedron(**how):
    """A single polyhedron for several centers, one of them inside."""
    rng = np.random.default_rng(2)
    cell = Cell(rng.normal(size=(4, 4)), np.full(4, 0.3))
    centers = np.vstack([2 * rng.normal(size=(3, 4)), np.zeros((1, 4))])
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    truth = [linear_least(cell, x, weights) for x in centers]
    return projection(cell, centers, weights=weights, truth=truth, **how)


def plane_least(cell, center, low=-6.0, high=6.0, count=100_001):
    """Return the least cost in a plane: for each value of one number, the nearest of the other.

    That is its own value, or where a row ``a t^2 + b t + c`` is 0, or an end.
    """
    best = np.inf
    for i, j in ((0, 1), (1, 0)):
        first = np.append(np.linspace(low, high, count), center[i])
        tries = [np.full_like(first, value) for value in (center[j], low, high)]
        for row in cell.quadratics:
            at = [_row_at(row, i, first, j, np.full_like(first, t)) for t in (-1.0, 0.0, 1.0)]
            a, b, c = (at[0] + at[2]) / 2 - at[1], (at[2] - at[0]) / 2, at[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                root = np.sqrt(b * b - 4 * a * c)
                tries += [(-b - root) / (2 * a), (-b + root) / (2 * a), -c / b]
        for other in tries:
            fine = np.isfinite(other) & (other >= low - 1e-12) & (other <= high + 1e-12)
            for row in cell.quadratics:
                fine &= _row_at(row, i, first, j, np.where(fine, other, 0.0)) <= 1e-9
            cost = np.abs(first - center[i]) + np.abs(other - center[j])
            best = min(best, cost[fine].min(initial=np.inf))
    return float(best)


def _row_at(row, i, first, j, other):
    points = np.empty((len(first), 2))
    points[:, i], points[:, j] = first, other
    return row.value(points)


def planar(rows, center, **how):
    """Return the problem of quadratic rows in a plane."""
    cell, center = Cell(np.zeros((0, 2)), np.zeros(0), rows), np.asarray(center, dtype=float)
    return projection(cell, center[None], truth=[plane_least(cell, center)], **how)


@contextmanager
def uncompiled():
    """Let the compiled engine run as plain Python, so that bugs can be planted in it."""
    kernel = plain_kernel("pertinent.solvers.linear.simplex.kernel")
    with (
        mock.patch.dict(sys.modules, {kernel.__name__: kernel}),
        mock.patch.object(simplex, "kernel", kernel, create=True),
    ):
        yield


@contextmanager
def case_by_case():
    """Let each case be solved by the cell's own method, as if its rows coupled numbers."""
    with mock.patch.object(mixed_curved, "is_separable_choice", return_value=False):
        yield


@contextmanager
def no_sums():
    """Let the search over sums look at no case, so that the one case by case is asked."""
    with mock.patch.object(separable_cases, "MOST_CASES", 0):
        yield


@contextmanager
def no_cases():
    """Let the own search over cases look at none, so that SCIP is asked."""
    with mock.patch.object(curved_cases, "MAX_NODES", 0), case_by_case():
        yield


def further_projections():
    """Return projections that take rarer ways: other engines, odd rows, SCIP, no time."""
    ellipsoid = Quadratic.from_matrix(np.diag([1.0, 4.0]), np.zeros(2), -4.0)
    ball = Quadratic.from_matrix(np.eye(2), np.array([-2.0, 0.0]), -2.0)
    away = Quadratic.from_matrix(np.eye(2), np.array([-20.0, 0.0]), 90.0)
    tilted = Quadratic.from_matrix(np.array([[1.0, 0.3], [0.3, 4.0]]), np.zeros(2), -4.0)
    thin = Quadratic.from_matrix(np.diag([1.0, 1e8]), np.zeros(2), -1.0)
    never = Quadratic.from_matrix(np.diag([1.0, 4.0]), np.zeros(2), 1.0)
    saddle = Quadratic.from_matrix(np.array([[0.6, -1.0], [-1.0, 0.1]]), np.array([0.2, 0.4]), 1.5)
    zero, right = np.zeros((1, 2)), (np.array([[-1.0, 0.0]]), np.array([-3.0]))
    twelve = [Quadratic.from_matrix(np.eye(12), np.zeros(12), -size) for size in (1.0, 4.0)]
    empty = Cell(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([-1.0, -1.0]))
    nothing, endless = (np.zeros((0, 2)), np.zeros(0)), {"lower": -np.inf, "upper": np.inf}
    linked, scip = linked_numbers(), {"under": no_cases, "by_word": True}
    problems = {
        "either feature": projection(
            Cell(np.array([[-1.0, -1.0]]), np.array([-2.0])), zero, truth=[2.0]
        ),
        "only one feature": projection(
            Cell(np.array([[-1.0, -1.0, 0.0], [-1.0, 0.0, -1.0]]), np.array([-1.0, -1.0])),
            np.zeros((1, 3)), truth=[1.0],
        ),
        "polyhedron, HiGHS": polyhedron(engine="highs"),
        "no point, HiGHS": projection(empty, zero, truth=[np.inf], engine="highs"),
        "polyhedron, kernel": polyhedron(engine="compiled", under=uncompiled),
        "many rows, kernel": many_rows(engine="compiled", under=uncompiled),
        "few rows, kernel": few_rows(engine="compiled", under=uncompiled),
        "no point, kernel": projection(
            empty, zero, truth=[np.inf], engine="compiled", under=uncompiled
        ),
        "two ellipsoids": planar((ellipsoid, ball), [4.0, 3.0]),
        "ellipsoids apart": planar((ellipsoid, away), [4.0, 3.0]),
        "outside of all": planar((ellipsoid, outside(2.5, 2)), [0.0, 0.0]),
        "never": projection(Cell(*nothing, (never,)), zero, **endless, truth=[np.inf]),
        "beside": projection(Cell(*right, (tilted,)), zero, **endless, truth=[np.inf]),
        "thin": projection(
            Cell(np.array([[-1.0, -1.0]]), np.array([-1.0]), (thin,)),
            np.array([[3.0, 1.0]]), **endless, truth=[4.0 - np.sqrt(1 + 1e-8)],
        ),
        # The nearest of all balls' points from (1, ..., 1) has twelve equal parts.
        "twelve": projection(
            Cell(np.zeros((0, 12)), np.zeros(0), tuple(twelve)), np.ones((1, 12)),
            truth=[12 - np.sqrt(12)],
        ),
        "saddle in a ball": planar((ball, saddle), [0.3, -0.2]),
        "linked numbers": projection(
            Cell(np.array([[-1.0, 0.0, -1.0]]), np.array([-3.0])), linked.own, -4.0, 4.0,
            domain=linked, truth=[2.4],
        ),
        "sums over categories": curved_categories(),
        "curved categories": curved_categories(under=case_by_case),
        "sums, given up": curved_categories(under=no_sums),
        "whole numbers, case by case": projection(
            Cell(*ROW, (RING,)), zero, 0.0, 6.0, domain=WHOLE, truth=[2.75], under=case_by_case
        ),
        "two saddles, whole numbers": whole_saddles(),
        "saddle and ellipsoid": saddle_and_ellipsoid(),
        "pieces, no time": pieces(under=lambda: until(0.0), stopped=True),
        # Least x0 + x1 with exp(1 - x0) + exp(0.5 - x1) <= 1: both are 1/2.
        "softmax, no time": projection(
            Cell(*nothing, exponentials=(Exponential(-np.eye(2), np.array([1.0, 0.5])),)),
            np.zeros((2, 2)), truth=2 * [1.5 + 2 * np.log(2.0)],
            under=lambda: until(0.0), stopped=True,
        ),
    }  # fmt: skip
    if find_spec("pyscipopt"):
        problems |= {
            "whole numbers, SCIP": projection(
                Cell(*ROW, (RING,)), zero, 0.0, 6.0, domain=WHOLE, truth=[2.75], **scip
            ),
            "curved categories, SCIP": curved_categories(**scip),
        }
    return problems


def many_rows(**how):
    """Eight rows in four dimensions: some come and go again."""
    rng = np.random.default_rng(35)
    rows = rng.normal(size=(8, 4)).round(2), (rng.normal(size=8) * 0.5 - 0.2).round(2)
    cell, center = Cell(*rows), 2 * rng.normal(size=4).round(1)
    least = linear_least(cell, center, None, -3.0, 3.0)
    return projection(cell, center, -3.0, 3.0, truth=[least], **how)


def few_rows(**how):
    """Three rows that are tight together."""
    rows = np.array([[-1.0, -1.0, 0.0], [-1.0, 0.0, -1.0], [-1.0, -2.0, -1.0]])
    cell, weights = Cell(rows, np.array([-1.0, -1.0, -3.5])), np.array([3.0, 1.0, 2.0])
    least = linear_least(cell, np.zeros(3), weights, -0.5, 0.9)
    return projection(cell, np.zeros((1, 3)), -0.5, 0.9, weights, truth=[least], **how)


def whole_saddles():
    """Two rows that are not convex: of some whole numbers, halving alone shows that they cost."""
    rng, rows = np.random.default_rng(14), []
    for _ in range(2):
        A = rng.normal(size=(3, 3))
        form, slope = ((A + A.T) / 2).round(1), rng.normal(size=3).round(1)
        rows.append((form, slope, float(np.round(rng.uniform(0.5, 2), 1))))
    center = rng.normal(size=3).round(1)
    center[0] = np.round(center[0])
    truth = np.inf
    for x in range(-3, 4):
        plane = tuple(
            Quadratic.from_matrix(
                A[1:, 1:], q[1:] + 2 * x * A[0, 1:], c + A[0, 0] * x * x + q[0] * x
            )
            for A, q, c in rows
        )
        rest = plane_least(
            Cell(np.zeros((0, 2)), np.zeros(0), plane), center[1:], -3.0, 3.0, 20_001
        )
        truth = min(truth, abs(x - center[0]) + rest)
    cell = Cell(np.zeros((0, 3)), np.zeros(0), tuple(Quadratic.from_matrix(*row) for row in rows))
    whole = Domain(np.array([0.0, np.nan, np.nan]))
    return projection(cell, center, -3.0, 3.0, domain=whole, truth=[truth], under=case_by_case)


def saddle_and_ellipsoid():
    """A row that is convex and one that is not, in three dimensions."""
    rng, d = np.random.default_rng(1), 3
    A, B = rng.normal(size=(d, d)), rng.normal(size=(d, d))
    rows = (
        Quadratic.from_matrix(A @ A.T, rng.normal(size=d), -3.0),
        Quadratic.from_matrix((B + B.T) / 2, rng.normal(size=d), 1.5),
    )
    center = rng.normal(size=d)
    truth = [local_least(rows, center, 3.0)]
    return projection(Cell(np.zeros((0, d)), np.zeros(0), rows), center, -3.0, 3.0, truth=truth)


def local_least(rows, center, far, starts=40):
    """Return the least cost that a local method finds from many starts, of another house."""
    rng, d, best = np.random.default_rng(0), len(center), np.inf
    asked = {
        "type": "ineq",
        "fun": lambda v: [-float(row.value((center + v[:d] - v[d:])[None])[0]) for row in rows],
    }
    ends = [(0.0, far - c) for c in center] + [(0.0, far + c) for c in center]
    for _ in range(starts):
        step = rng.uniform(-far, far, size=d) - center
        start = np.concatenate([np.maximum(step, 0.0), np.maximum(-step, 0.0)])
        how = {"bounds": ends, "constraints": asked, "method": "SLSQP"}
        found = minimize(np.sum, start, jac=np.ones_like, **how)
        if found.success and min(asked["fun"](found.x)) >= -1e-9:
            best = min(best, float(found.fun))
    return best


def linked_numbers():
    """The first two numbers change together, or not at all."""
    own = np.array([[0.5, 0.2, 0.1]])
    return Domain(np.full(3, np.nan), together=(np.array([0, 1]),), own=own)


def curved_categories(**how):
    """One change: ``x0^2 + 2 z2 + 5 z3 >= 3`` by x0 = 2 or by the third category, both for 2."""
    own = np.array([[0.0, 1.0, 0.0, 0.0]])
    domain = Domain(
        np.array([0.0, np.nan, np.nan, np.nan]),
        groups=(np.array([1, 2, 3]),),
        owner=np.array([0, 1, 1, 1]),
        max_changes=1,
        own=own,
    )
    row = Quadratic.from_matrix(-np.diag([1.0, 0, 0, 0]), np.array([0.0, 0.0, -2.0, -5.0]), 3.0)
    cell = Cell(np.zeros((0, 4)), np.zeros(0), (row,))
    return projection(cell, own, -4.0, 4.0, domain=domain, truth=[2.0], **how)


def projections():
    """Return all projections by name, the cheapest first."""
    half = Cell(np.array([[-1.0, -2.0, 0.5]]), np.array([-3.0]))
    ellipsoid = Quadratic.from_matrix(np.diag([1.0, 4.0]), np.zeros(2), -4.0)
    mixed_sign = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    nothing = np.zeros((0, 2)), np.zeros(0)
    zero = np.zeros((1, 2))
    return {
        "half-space": projection(half, np.zeros((2, 3)), -1.2, 1.2, truth=[1.8, 1.8]),
        "half-space, many": projection(half, np.zeros((10, 3)), -1.2, 1.2, truth=[1.8] * 10),
        "no point": projection(
            Cell(np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([-1.0, -1.0])), zero,
            truth=[np.inf],
        ),
        "outside a ball": projection(
            Cell(*nothing, (outside(2.0, 2),)), zero, weights=[1.0, 2.0], truth=[2.0]
        ),
        "polyhedron": polyhedron(),
        "categories": categories(),
        "categories, any changes": categories(most=None, least=2.5),
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
        **further_projections(),
    }  # fmt: skip
