"""What proofs say of all points that cost no more than an answer, attacked with such points."""

from collections import Counter

import numpy as np
import pytest

from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import Task, distance
from pertinent.proofs import (
    CutProofs,
    HalvingProofs,
    LinearProofs,
    NoProofs,
    SeveralProofs,
    SweepProofs,
    TangentProofs,
)
from pertinent.proofs.cases.near import Near
from pertinent.proofs.copositive.cone import Cone
from pertinent.solvers import project

SHARE = 1e-2


def near(point, cost, weights, share=SHARE):
    """Return the box around one point, and a little more than its cost."""
    reach = share * cost / weights
    return Near(
        point[None], np.array([cost * (1 + 1e-12)]), (point - reach)[None], (point + reach)[None]
    )


def ball(rng, n, d, cost, weights):
    """Return steps of at most a cost, most of them of nearly all of it."""
    steps = rng.dirichlet(np.full(d, 0.4), n) * rng.choice([-1.0, 1.0], (n, d))
    return steps * (cost * rng.random((n, 1)) ** 0.02) / weights


def leaves(proofs, task):
    """Yield the proofs that others are made of, with their tasks."""
    if isinstance(proofs, SeveralProofs):
        for rows, part in proofs.parts:
            yield from leaves(part, task.take(rows))
    else:
        yield proofs, task


def row(rng, d, kind):
    """Return a random row that the origin does not satisfy."""
    A = rng.normal(size=(d, d))
    A = {"convex": A @ A.T, "mixed": A + A.T, "axes": np.diag(np.diag(A))}[kind]
    return Quadratic.from_matrix(A, rng.normal(size=d) * 2, rng.uniform(0.5, 2))


def points_of(rng, cell, cost, weights, lower, upper):
    """Return points of a cell that cost at most so much, around the origin."""
    steps = ball(rng, 40_000, cell.dim, cost, weights)
    inside = ((steps >= lower) & (steps <= upper)).all(axis=1)
    return steps[inside & (cell.violation(steps) <= 0)]


@pytest.mark.matrix(3)
@pytest.mark.parametrize("kind", ["convex", "mixed", "axes"])
@pytest.mark.parametrize("d", [2, 3, 7])
def test_no_point_that_costs_no_more_lies_beside_the_box(kind, d):
    rng, said = np.random.default_rng(d), Counter()
    for _ in range(20):
        weights = rng.choice([1.0, 2.0, 0.3], d)
        bounded = rng.random() < 0.3
        lower, upper = (np.full((1, d), s * (3.0 if bounded else np.inf)) for s in (-1, 1))
        rows = tuple(row(rng, d, kind) for _ in range(int(rng.integers(1, 3))))
        G = rng.normal(size=(int(rng.integers(0, 2)), d))
        cell = Cell(G, np.abs(rng.normal(size=len(G))), rows)
        found = project(np.zeros((1, d)), cell, weights, lower, upper)
        if found.status[0] > 1 or found.objective[0] == 0:
            continue
        cost = float(found.objective[0])
        here = near(found.points[0], cost, weights)
        task = Task(cell, np.zeros((1, d)), weights, lower, upper)
        own = [part for block in found.certificate.blocks for part in leaves(block.proofs, task)]
        own.append((HalvingProofs(here.cost), task))
        shown = [type(p).__name__ for p, t in own if p.only_near(t, here)[0]]
        said.update(shown)
        if shown:
            others = points_of(rng, cell, cost, weights, lower, upper)
            assert (others >= here.lower).all(), shown
            assert (others <= here.upper).all(), shown
    assert sum(said.values()) > 8, said


@pytest.mark.parametrize("seed", range(12))
def test_two_answers_of_the_same_cost_are_never_called_one(seed):
    """The first feature counts by its square alone: what it moves up it may as well move down."""
    rng, d = np.random.default_rng(seed), 3
    A = np.diag([-rng.uniform(1, 3), rng.uniform(-1, 1), rng.uniform(0, 1)])
    if seed % 2:
        A[1, 2] = A[2, 1] = 0.3
    q = np.append(0.0, 0.3 * rng.normal(size=2))
    cell = Cell(np.zeros((0, d)), np.zeros(0), (Quadratic.from_matrix(A, q, 1.0),))
    weights = np.ones(d)
    found = project(np.zeros((1, d)), cell, weights)
    point, cost = found.points[0], float(found.objective[0])
    assert point[0] != 0
    free = np.full((1, d), np.inf)
    task, here = Task(cell, np.zeros((1, d)), weights, -free, free), near(point, cost, weights)
    other = point * [-1, 1, 1]
    assert distance(other[None], np.zeros((1, d)), weights)[0] == cost
    assert cell.violation(other[None])[0] <= 1e-9
    for block in found.certificate.blocks:
        for proofs, own in leaves(block.proofs, task):
            assert not proofs.only_near(own, here)[0], type(proofs)
    assert not HalvingProofs(here.cost).only_near(task, here)[0]
    sweep = SweepProofs(np.array([cost]), np.array([[1.0, 0.5]]))
    assert not sweep.only_near(task, here)[0]
    # With one of the two shut out the other is alone.
    shut = Task(cell, np.zeros((1, d)), weights, np.where(point > 0, 0.0, -np.inf)[None], free)
    if point[0] > 0:
        assert HalvingProofs(here.cost).only_near(shut, here)[0]


def test_a_linear_row_leaves_one_point_or_a_face():
    here = near(np.array([0.0, 1.0]), 1.0, np.ones(2))
    free = np.full((1, 2), np.inf)
    for row, alone in (([-1.0, -2.0], True), ([-2.0, -2.0], False)):
        cell = Cell(np.array([row]), np.array([-2.0]))
        task = Task(cell, np.zeros((1, 2)), np.ones(2), -free, free)
        proofs = LinearProofs(np.array([[0.5]]), np.array([False]))
        assert proofs.only_near(task, here).tolist() == [alone]
        assert not LinearProofs(np.zeros((1, 1)), np.array([False])).only_near(task, here)[0]
        assert not LinearProofs(np.full((1, 1), 0.5), np.array([True])).only_near(task, here)[0]
        assert not NoProofs(1).only_near(task, here)[0]
        cut = CutProofs((np.zeros((0, 2)),), (proofs,))
        assert cut.only_near(task, here).tolist() == [alone]


def test_a_row_that_is_flat_in_one_direction_bends_in_the_others_only():
    """A cylinder x1^2 + (x2 - 3)^2 <= 1 leaves x3 to its weight; without one it may be anywhere."""
    P = np.diag([1.0, 1.0, 0.0])[:2]
    cell = Cell(
        np.zeros((0, 3)),
        np.zeros(0),
        (Quadratic(P, np.zeros((0, 3)), np.zeros(3), -1.0, np.array([0.0, 3.0, 0.0])),),
    )
    free = np.full((1, 3), np.inf)
    task = Task(cell, np.zeros((1, 3)), np.ones(3), -free, free)
    proofs = TangentProofs((np.array([[0.0, -1.0]]),), np.array([[0.5]]), np.array([False]))
    np.testing.assert_allclose(proofs.bounds(task), 2.0)
    here = near(np.array([0.0, 2.0, 0.0]), 2.0, np.ones(3))
    assert proofs.only_near(task, here)[0]
    beside = near(np.array([0.1, 2.0, 0.0]), 2.1, np.ones(3))
    assert not proofs.only_near(task, beside)[0]  # much more than what was proved
    weightless = Task(cell, np.zeros((1, 3)), np.array([1.0, 1.0, 0.0]), -free, free)
    with np.errstate(invalid="ignore"):
        assert not proofs.only_near(weightless, here)[0]


def test_points_of_a_form_that_is_not_positive_lie_in_its_cone():
    rng = np.random.default_rng(0)
    shown = 0
    for _ in range(200):
        n = int(rng.integers(2, 6))
        v = np.abs(rng.normal(size=n)) * (rng.random(n) < 0.7)
        B = rng.normal(size=(n, n))
        if not v.any():
            continue
        B -= np.outer(B @ v, v) / (v @ v)
        M = B.T @ B + np.abs(rng.normal(size=(n, n))) * 0.1 * (np.outer(v, v) == 0)
        M = (M + M.T) / 2 - 10.0 ** rng.uniform(-7, -3)
        cone = Cone.of(M, np.ones(n, dtype=bool))
        if cone is None:
            continue
        middle, far = cone.images(np.eye(n))
        z = rng.dirichlet(np.full(n, 0.5), 20_000)
        z = np.vstack([z, v / v.sum() + 1e-2 * rng.normal(size=(20_000, n))])
        z = np.maximum(z, 0.0)
        z = np.vstack([z / z.sum(axis=1, keepdims=True), v / v.sum()])
        left = z[((z @ M) * z).sum(axis=1) <= 0]
        assert (np.abs(left - middle) <= far + 1e-12).all()
        shown += bool(len(left)) and bool((far < 0.1).all())
    assert shown > 20
