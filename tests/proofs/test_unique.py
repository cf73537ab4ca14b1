"""Uniqueness read off the multipliers, judged by the extent of the optimal face."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from pertinent.geometry.region import Cell, CellUnion
from pertinent.geometry.task import Task
from pertinent.proofs.linear import leaves_one_point
from pertinent.solvers import project

small = st.integers(-2, 2).map(float)


def widest_extent(cell, center, weights, lower, upper, cost):
    """Return how far any feature ranges over all optimal points, by linear programs."""
    d = cell.dim
    # Variables x and t >= |x - c|; the cost must not exceed the optimum.
    eye = np.eye(d)
    rows = np.block(
        [
            [cell.G, np.zeros((len(cell.G), d))],
            [eye, -eye],
            [-eye, -eye],
            [np.zeros((1, d)), weights[None]],
        ]
    )
    right = np.concatenate([cell.h, center, -center, [cost + 1e-9]])
    limits = [*zip(lower, upper, strict=True), *[(0, None)] * d]
    extent = 0.0
    for i in range(d):
        ends = [
            linprog(np.eye(2 * d)[i] * sign, A_ub=rows, b_ub=right, bounds=limits)
            for sign in (1, -1)
        ]
        assert all(end.status == 0 for end in ends)
        extent = max(extent, -ends[1].fun - ends[0].fun)
    return extent


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_face_decides_as_linear_programs_do(data):
    d, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    G = np.array(data.draw(st.lists(small, min_size=m * d, max_size=m * d))).reshape(m, d)
    h = np.array(data.draw(st.lists(small, min_size=m, max_size=m)))
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=d, max_size=d)))
    center = np.array(data.draw(st.lists(small, min_size=d, max_size=d)))
    cell, lower, upper = Cell(G, h), np.full(d, -3.0), np.full(d, 3.0)
    found = project(center[None], cell, weights, lower[None], upper[None])
    if found.status[0] != 0:
        return
    every = [np.maximum(block.proofs.multipliers[0], 0.0) for block in found.certificate.blocks]
    one = any(leaves_one_point(cell, y, center, weights, lower, upper) for y in every)
    extent = widest_extent(cell, center, weights, lower, upper, found.objective[0])
    if one:
        assert extent < 1e-6
    if found.unique[0] == 1:
        assert extent < 1e-6
        assert one
    if found.unique[0] == 0:
        assert extent > 1e-6
        assert not one


def test_a_corner_that_only_an_idle_row_makes_the_only_one():
    """x1 + x2 >= 2 costs the same with either feature, but x1 - x2 <= -2 leaves (0, 2) alone."""
    cell = Cell(np.array([[-1.0, -1.0], [1.0, -1.0]]), np.array([-2.0, -2.0]))
    lower, upper = np.zeros(2), np.full(2, 3.0)
    found = project(np.zeros((1, 2)), cell, np.ones(2), lower[None], upper[None])
    np.testing.assert_array_equal(found.points, [[0.0, 2.0]])
    assert found.unique[0] == 1
    plain, *strict = [block.proofs.multipliers[0] for block in found.certificate.blocks]
    args = (np.zeros(2), np.ones(2), lower, upper)
    assert not leaves_one_point(cell, plain, *args)
    assert [leaves_one_point(cell, y, *args) for y in strict] == [True]
    bounds = found.certificate.bounds(
        Task.of(CellUnion((cell,)), np.zeros((1, 2)), np.ones(2), lower, upper)
    )
    np.testing.assert_allclose(bounds, 2.0)
