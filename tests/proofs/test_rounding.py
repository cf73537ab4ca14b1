"""No bound exceeds the optimum, in any unit: exact rational arithmetic is the judge.

Problems are random, their features in units of 1e-8 to 1e8. A solver finds the answer and the
numbers of the proof. The answer is then moved towards the inside until it is feasible in exact
arithmetic; what it costs exactly, no bound may exceed by a single bit.
"""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

import pertinent
from pertinent.geometry.affine import Scores
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, CellUnion, Quadratic
from pertinent.geometry.task import Task
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import (
    Argument,
    Block,
    Certificate,
    FewestProofs,
    HalvingProofs,
    LagrangeProofs,
    LinearProofs,
    RivalProofs,
    SingleRowProofs,
    StrictProofs,
    SufficientProofs,
    TangentProofs,
)
from pertinent.solvers import project

DIM = 3


def exactly(values):
    return [Fraction(float(v)) for v in values]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def exact_value(row, x):
    """Return the value of a quadratic row, without rounding."""
    u = [a - b for a, b in zip(x, exactly(row.at), strict=True)]
    plus, minus = ([dot(exactly(f), u) for f in part] for part in (row.plus, row.minus))
    return dot(plus, plus) - dot(minus, minus) + dot(exactly(row.q), u) + Fraction(row.c)


def holds_exactly(cell, x):
    linear = (dot(exactly(g), x) <= Fraction(float(h)) for g, h in zip(cell.G, cell.h, strict=True))
    return all(linear) and all(exact_value(row, x) <= 0 for row in cell.quadratics)


def exact_cost(x, center, weights):
    parts = (abs(a - b) for a, b in zip(x, exactly(center), strict=True))
    return dot(exactly(weights), parts)


def feasible_cost(cell, point, inside, center, weights):
    """Return the exact cost of a feasible point as near as can be to an answer.

    It is moved a little towards the inside, or a little farther along one feature that changed.
    """
    x, z, c = exactly(point), exactly(inside), exactly(center)
    assert holds_exactly(cell, z)
    ways = [[b - a for a, b in zip(x, z, strict=True)]]
    ways += [[v - w if i == j else 0 for i, (v, w) in enumerate(zip(x, c, strict=True))]
             for j in range(len(x)) if x[j] != c[j]]  # fmt: skip
    costs = []
    for way in ways:
        for k in range(70, -1, -2):
            moved = [a + Fraction(1, 2**k) * step for a, step in zip(x, way, strict=True)]
            if holds_exactly(cell, moved):
                costs.append(exact_cost(moved, center, weights))
                break
    return min(costs)


def assert_sound(cell, found, task, inside, rows=None, tight=False):
    """No bound exceeds the cost of a feasible point; if ``tight``, it is as good as equal."""
    bounds = found.certificate.bounds(task)
    for i in range(len(task)) if rows is None else rows:
        cost = feasible_cost(cell, found.points[i], inside, task.centers[i], task.weights)
        assert Fraction(float(bounds[i])) <= cost
        if tight:
            assert bounds[i] >= (1 - 1e-6) * float(cost)
    return bounds


def in_units(rng, odd):
    """Return the unit of each feature, and weights: those of the units, or 1 for all."""
    unit = 10.0 ** rng.uniform(-8, 8, DIM) if odd else np.ones(DIM)
    return unit, (1.0 / unit if rng.random() < 0.5 else np.ones(DIM))


def linear_problem(rng, odd, n_rows, near_parallel=False):
    unit, weights = in_units(rng, odd)
    inside = 5.0 * np.sign(rng.normal(size=DIM))
    G = rng.normal(size=(n_rows, DIM))
    if near_parallel:
        G = G[:1] + 1e-9 * G
    G *= -np.sign(G @ inside)[:, None]
    h = 0.4 * (G @ inside)  # the rows hold inside, and at none of the centers
    centers = rng.normal(scale=0.01, size=(4, DIM))
    return Cell(G / unit, h), centers * unit, weights, inside * unit


def proof_kinds(certificate):
    kinds, stack = set(), [block.proofs for block in certificate.blocks]
    while stack:
        proofs = stack.pop()
        kinds.add(type(proofs).__name__)
        stack += [part for _, part in getattr(proofs, "parts", ())]
    return kinds


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("n_rows", [1, 2, 5])
@pytest.mark.parametrize("near", [False, True])
def test_linear_rows(odd, n_rows, near):
    rng, kinds = np.random.default_rng(n_rows), set()
    for _ in range(8):
        cell, centers, weights, inside = linear_problem(rng, odd, n_rows, near)
        found = project(centers, cell, weights)
        task = Task.of(cell, centers, weights)
        bounds = assert_sound(cell, found, task, inside, tight=not (near or odd))
        kinds |= proof_kinds(found.certificate)
        # The same multipliers, one row at a time.
        y = found.certificate.blocks[0].proofs.multipliers
        single = SingleRowProofs(y.argmax(axis=1), y.max(axis=1)).bounds(task)
        if n_rows == 1:
            np.testing.assert_allclose(single, bounds, rtol=1e-9)
        for i, point in enumerate(found.points):
            cost = feasible_cost(cell, point, inside, centers[i], weights)
            assert Fraction(float(single[i])) <= cost
    assert "LinearProofs" in kinds


def curved_problem(rng, odd, convex):
    """Return one or two quadratic rows that the origin does not satisfy, and a point inside."""
    unit, weights = in_units(rng, odd)
    inside = 4.0 * np.sign(rng.normal(size=DIM))
    rows = []
    for _ in range(rng.integers(1, 3)):
        plus, minus = rng.normal(size=(2, DIM, DIM))
        shape = (np.linalg.cholesky(np.eye(DIM) + plus @ plus.T).T, np.zeros((0, DIM)))
        if not convex:
            shape = (plus, minus)
        q = 0.2 * rng.normal(size=DIM)
        row = Quadratic(shape[0] / unit, shape[1] / unit, q / unit, 0.0, inside * unit)
        value = float(row.value(np.zeros((1, DIM)))[0])
        rows.append(row.raised(-abs(value) / 2))
    centers = rng.normal(scale=0.1, size=(3, DIM)) * unit
    return Cell(np.zeros((0, DIM)), np.zeros(0), tuple(rows)), centers, weights, inside * unit


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("convex", [False, True])
def test_curved_rows(odd, convex):
    rng, kinds = np.random.default_rng(3), set()
    for _ in range(8):
        cell, centers, weights, inside = curved_problem(rng, odd, convex)
        keep = np.array([row.value(centers) > 0 for row in cell.quadratics]).any(axis=0)
        if not keep.any():
            continue
        centers = centers[keep]
        found = project(centers, cell, weights)
        solved = np.flatnonzero(found.piece >= 0).tolist()
        task = Task.of(cell, centers, weights)
        assert_sound(cell, found, task, inside, solved)
        kinds |= proof_kinds(found.certificate)
    assert kinds & ({"TangentProofs"} if convex else {"CopositiveProofs", "LagrangeProofs"})


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
def test_separable_rows(odd, bounded):
    """Sweeps, boxes and halving: rows that are sums over features."""
    rng, kinds = np.random.default_rng(5), set()
    for _ in range(12):
        unit, weights = in_units(rng, odd)
        inside = 4.0 * np.sign(rng.normal(size=DIM))
        plus, minus = rng.uniform(0.2, 2.0, size=(2, DIM))
        plus[0] = minus[0] * (1 + 1e-12)  # what is left of the difference is nearly nothing
        q = rng.normal(size=DIM)
        row = Quadratic(np.diag(plus / unit), np.diag(minus / unit), q / unit, 0.0, inside * unit)
        center = rng.normal(scale=0.1, size=(1, DIM)) * unit
        row = row.raised(-0.5 * abs(float(row.value(center)[0])))
        if row.value(center)[0] <= 0:
            continue
        cell = Cell(np.zeros((0, DIM)), np.zeros(0), (row,))
        low, high = (-6 * unit, 6 * unit) if bounded else (None, None)
        found = project(center, cell, weights, low, high)
        if found.piece[0] < 0:
            continue
        task = Task.of(cell, center, weights, low, high)
        bounds = assert_sound(cell, found, task, inside * unit)
        claims = HalvingProofs(bounds * (1 + 1e-3) + 1e-3 * bounds).bounds(task)
        cost = feasible_cost(cell, found.points[0], inside * unit, center[0], weights)
        assert Fraction(float(claims[0])) <= cost
        kinds |= proof_kinds(found.certificate)
    assert kinds & {"SweepProofs", "SeparableProofs"}


@pytest.mark.parametrize("odd", [False, True])
def test_trees_of_cases(odd):
    """Whole numbers: the answer itself is exact, so its own cost is the judge."""
    rng = np.random.default_rng(7)
    for _ in range(15):
        unit, weights = in_units(rng, odd)
        unit[0] = 1.0
        cell, centers, _, _ = linear_problem(rng, False, 2)
        cell = Cell(cell.G / unit, cell.h)
        centers = np.round(centers * unit)
        domain = Domain(np.array([0.0, np.nan, np.nan]))
        low, high = np.round(-9 * unit) - 1, np.round(9 * unit) + 1
        found = project(centers, cell, weights, low, high, domain=domain)
        task = Task.of(cell, centers, weights, low, high, domain)
        bounds = found.certificate.bounds(task)
        for i, point in enumerate(found.points):
            if holds_exactly(cell, exactly(point)):
                cost = exact_cost(exactly(point), centers[i], weights)
                assert Fraction(float(bounds[i])) <= cost


def test_a_multiplier_that_rounding_helps():
    """``y'h`` of huge terms: what is left of them in floating point is not there."""
    big = 2.0**53
    G, h = np.array([[-1.0], [1.0], [-1.0]]), np.array([-big, big + 2, -1.0])
    y = np.array([[1.0, 1.0, 1.0]])
    task = Task.of(Cell(G, h), np.zeros((1, 1)), np.ones(1))
    # In real numbers: big - (big + 2) + 1 = -1; the nearest point is big itself.
    assert LinearProofs(y, np.array([False])).bounds(task)[0] <= 0
    ray = LinearProofs(np.array([[1.0, 1.0, 0.0]]), np.array([True]))
    assert ray.bounds(task)[0] < np.inf


def test_a_ray_in_small_units_is_no_more_than_rounding():
    """x <= 1 and x >= 1 + 1e-16, both times 1e-20: nothing shows that there is no point."""
    G, h = np.array([[1.0], [-1.0]]), np.array([0.1 + 0.2, -0.3])
    h[1] = -np.nextafter(0.30000000000000004, 1)
    for unit in (1e-20, 1.0, 1e20):
        task = Task.of(Cell(G / unit, h / unit * unit), np.zeros((1, 1)), np.ones(1), -9.0, 9.0)
        ray = LinearProofs(np.array([[1.0, 1.0]]) * unit, np.array([True]))
        assert ray.bounds(task)[0] < np.inf


def test_convex_rows_far_away():
    """A tangent whose slope is the small difference of two large ones."""
    row = Quadratic(np.array([[1e8]]), np.zeros((0, 1)), np.array([-2e16 * 3.0]), 9e16 - 1.0)
    cell = Cell(np.zeros((0, 1)), np.zeros(0), (row,))  # |1e8 (x - 3)|^2 <= 1
    task = Task.of(cell, np.zeros((1, 1)), np.ones(1))
    for off in np.linspace(-4, 4, 33):
        p = np.array([[1e8 * 3.0 - 1.0 + off * 1e-8]])
        for y in (1e-8 / 2, 1e-8 / 2 * (1 + 1e-9)):
            found = TangentProofs((p,), np.array([[y]]), np.array([False])).bounds(task)[0]
            assert found <= 3.0 - 1e-8 + 1e-15


def test_what_is_not_definite_for_sure_proves_nothing():
    a = 1e8 * (1 + 1e-15)
    row = Quadratic(np.array([[a]]), np.array([[1e8]]), np.array([0.0]), 1.0)
    cell = Cell(np.zeros((0, 1)), np.zeros(0), (row,))
    task = Task.of(cell, np.zeros((1, 1)), np.ones(1))
    zeros = np.zeros((1, 1))
    assert LagrangeProofs(zeros, np.ones((1, 1)), zeros, np.array([True])).bounds(task)[0] < np.inf


def test_rivals():
    """One row a piece, in odd units."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        unit, weights = in_units(rng, True)
        own, rivals = (Scores(rng.normal(size=(2, DIM)) / unit, rng.normal(size=2)) for _ in "ab")
        region = WinnerRegion(own, rivals)
        centers = rng.normal(size=(3, DIM)) * unit
        rival = rng.integers(2, size=(3, 2)).astype(np.int32)
        bounds = RivalProofs(rival).piece_bounds(Task.of(region, centers, weights))
        for i, p in np.ndindex(*rival.shape):
            g = [
                Fraction(float(a)) - Fraction(float(b))
                for a, b in zip(rivals.W[rival[i, p]], own.W[p], strict=True)
            ]
            h = Fraction(float(own.b[p])) - Fraction(float(rivals.b[rival[i, p]]))
            over = dot(g, exactly(centers[i])) - h
            steep = max(abs(a) / w for a, w in zip(g, exactly(weights), strict=True))
            assert Fraction(float(bounds[i, p])) <= max(over / steep, Fraction(0))


@pytest.mark.parametrize("shift", [0.0, 1e14])
def test_supports(shift):
    """Rows that hold exactly, or miss by rounding, at points far from the origin: sizes."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        unit = 10.0 ** rng.uniform(-8, 8, DIM)
        x, baseline = (rng.normal(size=DIM) + shift) * unit, (rng.normal(size=DIM) + shift) * unit
        g = rng.normal(size=DIM) / unit
        switched = x.copy()
        switched[1:] = baseline[1:]  # feature 0 alone: exactly on the boundary, or just inside
        side = dot(exactly(g), exactly(switched))
        h = float(side)
        while Fraction(h) < side:
            h = float(np.nextafter(h, np.inf))
        cell = Cell(g[None], np.array([h]))
        one = np.zeros(1)
        task = Task.of(cell, x[None], np.ones(DIM))
        assert StrictProofs(baseline, one + 2.0).bounds(task)[0] <= 1
        low, high = np.minimum(x, baseline)[None], np.maximum(x, baseline)[None]
        task = Task.of(cell, x[None], np.ones(DIM), low, high)
        task.rest = baseline[None]
        argument = Argument(np.ones((1, 1)), np.array([True]))
        assert FewestProofs(one + 2.0, one, (argument,), "size").bounds(task)[0] <= 1
        # As seen from the other side: holding feature 0 suffices if nothing else can break it.
        worst = np.where(g > 0, high[0], low[0])
        worst[0] = x[0]
        side = dot(exactly(g), exactly(worst))
        h = float(side)
        while Fraction(h) < side:
            h = float(np.nextafter(h, np.inf))
        task = Task.of(Cell(g[None], np.array([h])), x[None], np.ones(DIM), low, high)
        assert SufficientProofs(one + 2.0).bounds(task)[0] <= 1


def test_the_closest_single_feature():
    rng = np.random.default_rng(4)
    for _ in range(60):
        unit, weights = in_units(rng, True)
        rest = (rng.normal(size=DIM) + rng.choice([0.0, 1e6])) * unit
        g = rng.normal(size=DIM) / unit
        cell = Cell(g[None], np.array([float(g @ rest) - 1.0]))
        task = Task.of(cell, rest[None], weights)
        task.rest = rest[None]
        claim = np.ones(1), np.full(1, np.inf)
        bound = FewestProofs(*claim, (Argument.empty(1),), "cost").bounds(task)[0]
        over = dot(exactly(g), exactly(rest)) - Fraction(float(cell.h[0]))
        costs = [
            Fraction(float(w)) * over / abs(Fraction(float(a)))
            for w, a in zip(weights, g, strict=True)
        ]
        assert Fraction(float(bound)) <= min(costs)
        assert bound >= 0.99 * float(min(costs))


def test_squares_that_cancel_count_far_away():
    """Equal covariances up to rounding: 1e13 spreads away the rounding is a share of the row."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, DIM)), np.repeat([0, 1], 30)
    X[y == 1] += 1.0
    model = QuadraticDiscriminantAnalysis(reg_param=1.0).fit(X, y)
    cell = pertinent.decision_region(model, 1).cells[0]
    assert cell.is_linear
    g = cell.G[0]
    steepest = int(np.abs(g).argmax())
    for far in (1e3, 1e13):
        center = np.zeros((1, DIM))
        center[0, steepest] = far * np.sign(g[steepest])
        multiplier = np.array([[1 / abs(g[steepest])]])
        proofs = LinearProofs(multiplier, np.array([False]))
        bound = Certificate(1, (Block(0, np.zeros(1, dtype=np.int64), proofs),)).bounds(
            Task.of(CellUnion((cell,)), center, np.ones(DIM))
        )[0]
        cost = (g @ center[0] - cell.h[0]) / abs(g[steepest])
        assert (bound >= (1 - 1e-9) * cost) == (far == 1e3)
        assert bound > 0
