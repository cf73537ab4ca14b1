"""The lock-step simplex against HiGHS, against a checker of its own, and against itself."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from pertinent.solvers.linear import highs
from pertinent.solvers.linear.simplex import lockstep
from pertinent.solvers.linear.simplex import scaled as _steps
from pertinent.solvers.linear.simplex.lockstep import solve_cells
from pertinent.solvers.linear.simplex.scaled import Asked
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE

INF = np.inf


def solve_lockstep(G, weights, demand, up, down, cutoff=None, **options):
    return lockstep.solve_lockstep(Asked.of(G, weights, demand, up, down, cutoff), **options)


def solve_highs(*asked):
    return highs.solve_highs(Asked.of(*asked))


def check_row(G, weights, demand, up, down, steps, i, tol=1e-9, cutoff=None):
    """Feasibility, complementarity and weak duality of one answer, in extended precision."""
    long = np.longdouble
    G, weights, demand = (np.asarray(x).astype(long) for x in (G, weights, demand[i]))
    up = np.broadcast_to(up, steps.step.shape)[i].astype(long)
    down = np.broadcast_to(down, steps.step.shape)[i].astype(long)
    y = steps.multipliers[i].astype(long)
    assert (y >= 0).all()
    pull = -(y @ G)  # what the rows pay for one unit of a feature, upwards
    is_ray = steps.status[i] == EMPTY
    excess = np.maximum(np.abs(pull) - (0 if is_ray else weights), 0)
    scale = np.abs(y) @ np.abs(G) if is_ray else weights
    room = np.where(pull > 0, up, down)
    assert (
        excess[np.isinf(room)] <= tol * np.broadcast_to(scale, excess.shape)[np.isinf(room)]
    ).all()
    bounded = np.isfinite(room)
    bound = y @ demand - (excess[bounded] * room[bounded]).sum()
    if is_ray:
        assert bound > 0
        return
    if steps.status[i] == CUT:
        assert bound >= cutoff[i] * (1 - tol)
        return
    assert steps.status[i] == SOLVED
    step = steps.step[i].astype(long)
    assert (step <= up).all()
    assert (step >= -down).all()
    value = weights @ np.abs(step)
    assert abs(value - bound) <= tol * value
    lacking = (demand + G @ step) / np.maximum(np.abs(G / weights).max(axis=1), long(1e-300))
    assert (lacking <= 1e-11 * max(value, long(0))).all()
    # A row with a price is tight, a feature between its ends has the pull of its cost.
    assert (np.abs(lacking[y > 0]) <= 1e-12 * value).all()
    moving = (step != 0) & (step != up) & (step != -down)
    assert np.allclose((pull * np.sign(step))[moving] / weights[moving], 1.0, atol=tol)


def check(G, weights, demand, up, down, cutoff=None, solve=solve_lockstep):
    steps = solve(G, weights, demand, up, down, **({} if cutoff is None else {"cutoff": cutoff}))
    for i in range(len(demand)):
        check_row(G, weights, demand, up, down, steps, i, cutoff=cutoff)
    return steps


def same_bytes(left, right, rows=slice(None)):
    names = ("step", "multipliers", "status", "pivots")
    return all(getattr(left, n)[rows].tobytes() == getattr(right, n).tobytes() for n in names)


def softmax_negatives(X, y, label, margin=1e-9):
    """Rows of 'the label wins', and the samples of other classes as start points."""
    model = LogisticRegression(max_iter=2000).fit(X, y)
    others = np.arange(len(model.coef_)) != label
    G = model.coef_[others] - model.coef_[label]
    h = model.intercept_[label] - model.intercept_[others] - margin
    X = X[model.predict(X) != label]
    return G, X, X @ G.T - h


def digits_negatives():
    X, y = load_digits(return_X_y=True)
    return softmax_negatives(X / 16.0, y, 3)


def random_problem(seed):
    """A small problem of one of the kinds that go wrong: ties, copies, scales, frozen features."""
    rng = np.random.default_rng(seed)
    n, m, d = 6, int(rng.integers(1, 12)), int(rng.integers(1, 10))
    G = rng.normal(size=(m, d))
    kind = rng.integers(5)
    if kind == 1:
        G = rng.integers(-2, 3, size=(m, d)).astype(float)
    elif kind == 2:
        G = G[rng.integers(m, size=m)]
    elif kind == 3:
        G = G[:, rng.integers(d, size=d)]
    elif kind == 4:
        G = G * 10.0 ** rng.integers(-4, 5, size=(m, 1)) * 10.0 ** rng.integers(-2, 3, size=d)
    weights = rng.choice([0.5, 1.0, 2.0], size=d) if rng.random() < 0.5 else rng.uniform(0.2, 3, d)
    if rng.random() < 0.5:  # feasible, were it not for the rooms
        demand = -rng.normal(size=(n, d)) @ G.T
        demand -= np.abs(rng.normal(size=(n, m))) * (rng.random((n, m)) < 0.7)
    else:
        demand = rng.integers(-3, 4, size=(n, m)).astype(float)
    rooms = []
    for _ in range(2):
        if rng.random() < 0.5:
            rooms.append(rng.choice([0.0, 1.0, 3.0, INF], size=(n, d)))
        else:
            rooms.append(rng.uniform(0, 2, size=(n, d)))
    if rng.random() < 0.3:
        rooms = [np.full((n, d), INF)] * 2
    return G, weights, demand, *rooms


@pytest.mark.parametrize(
    ("G", "demand", "up", "down", "step"),
    [
        # x0 + 2 x1 >= 4: all by the feature with the larger coefficient ...
        ([[-1, -2]], [4], INF, INF, [0, 2]),
        # ... until its room is used up,
        ([[-1, -2]], [4], 1.5, INF, [1, 1.5]),
        # exactly used up,
        ([[-1, -2]], [4], [9, 2], INF, [0, 2]),
        # or it is frozen.
        ([[-1, -2]], [4], [9, 0], INF, [4, 0]),
        # x0 >= 3 and x0 <= 3.
        ([[-1, 0], [1, 0]], [3, -3], INF, INF, [3, 0]),
        # x0 + x1 >= 4, x0 <= 1: two rows tight, then only one of them.
        ([[-1, -0.9], [1, 0]], [4, -1], INF, INF, [1, 3 / 0.9]),
        # Falling features: x0 <= -2, x1 <= -1.
        ([[1, 0], [0, 1]], [2, 1], INF, INF, [-2, -1]),
        # Nothing demanded, and a row of zeros that holds.
        ([[1, 1], [0, 0]], [-1, -1], INF, INF, [0, 0]),
        ([[-1, 1], [0, 0]], [1, 0], INF, INF, [1, 0]),
        # Equal features: the first moves.
        ([[-1, -1, -1]], [2], INF, INF, [2, 0, 0]),
        ([[-1, -1, -1]], [2], 1.25, INF, [1.25, 0.75, 0]),
        # Equal up to rounding (0.1 * 3 != 0.3), in units of cost: still the first.
        ([[-0.1 * 3, -0.3]], [0.6], INF, INF, [2, 0]),
        ([[-0.3, -0.1 * 3]], [0.6], INF, INF, [2, 0]),
    ],
)
def test_textbook(G, demand, up, down, step):
    G, demand = np.array(G, dtype=float), np.array([demand], dtype=float)
    steps = check(G, np.ones(G.shape[1]), demand, up, down)
    np.testing.assert_allclose(steps.step, [step], rtol=1e-15)
    assert (steps.step[0][np.array(step) == 0] == 0).all()


def test_a_flipped_feature_comes_back():
    # Filling row 0 first moves x1 to its bound; row 1 then wants it at 0 again.
    G = np.array([[-1.0, -2.0], [0.0, 1.0]])
    steps = check(G, np.ones(2), np.array([[5.0, 0.0]]), [INF, 1.0], INF)
    np.testing.assert_array_equal(steps.step, [[5.0, 0.0]])


@pytest.mark.parametrize(
    ("G", "demand", "up", "down"),
    [
        ([[-1.0, 0.0], [1.0, 0.0]], [3.0, -2.0], INF, INF),  # x0 >= 3, x0 <= 2
        ([[-1.0, -2.0]], [4.0], 1.0, INF),  # x0 + 2 x1 >= 4 within 1
        ([[-1.0, -2.0]], [4.0], 0.0, INF),  # everything frozen upwards
        ([[-1.0, -2.0], [0.0, 0.0]], [4.0, 1.0], INF, INF),  # 0 <= -1
        ([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]], [3.0, -1.0, -1.0], INF, INF),
    ],
)
def test_infeasible_with_a_ray(G, demand, up, down):
    steps = check(np.array(G), np.ones(2), np.array([demand]), up, down)
    assert steps.status.tolist() == [EMPTY]
    assert np.isnan(steps.step).all()


def test_a_violated_row_of_zeros_is_the_whole_proof():
    G = np.array([[-1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    steps = solve_lockstep(G, np.ones(2), np.array([[1.0, -1.0, 1e-20]]), INF, INF)
    np.testing.assert_array_equal(steps.multipliers, [[0.0, 0.0, 1.0]])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_random_problems_against_highs(seed):
    problem = random_problem(seed)
    steps, judge = check(*problem), solve_highs(*problem)
    clear = judge.status != TROUBLE
    np.testing.assert_array_equal(steps.status[clear], judge.status[clear])
    solved = clear & (steps.status == SOLVED)
    value, expected = (np.abs(s.step[solved]) @ problem[1] for s in (steps, judge))
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("what", ["rows", "lengths", "costs", "one row", "one feature"])
def test_units_do_not_matter(what, factor):
    rng = np.random.default_rng(1)
    G, weights = rng.normal(size=(8, 6)), rng.uniform(0.5, 2.0, 6)
    demand, room = rng.normal(size=(30, 8)), rng.uniform(0.0, 3.0, size=(30, 6))
    plain = check(G, weights, demand, room, room)
    expected = plain.step.copy()
    if what == "rows":
        G, demand = G * factor, demand * factor
    elif what == "lengths":
        demand, room, expected = demand * factor, room * factor, expected * factor
    elif what == "costs":
        weights = weights * factor
    elif what == "one row":
        by_row = np.where(np.arange(8) == 3, factor, 1.0)
        G, demand = G * by_row[:, None], demand * by_row
    else:
        unit = np.where(np.arange(6) == 2, factor, 1.0)
        G, weights, room, expected = G * unit, weights * unit, room / unit, expected / unit
    steps = check(G, weights, demand, room, room)
    np.testing.assert_array_equal(steps.status, plain.status)
    np.testing.assert_allclose(steps.step, expected, rtol=1e-11)


def test_copies_of_rows_and_features():
    G, X, demand = digits_negatives()
    G, X, demand = G[:, 20:40], X[:40, 20:40], demand[:40]
    once = check(G, np.ones(20), demand, 1.0 - X, X)
    rows = check(np.tile(G, (3, 1)), np.ones(20), np.tile(demand, 3), 1.0 - X, X)
    np.testing.assert_allclose(rows.step, once.step, atol=1e-12)
    # Two copies of a feature are as good as one with twice the room.
    features = check(np.tile(G, 2), np.ones(40), demand, np.tile(1.0 - X, 2), np.tile(X, 2))
    wide = check(G, np.ones(20), demand, 2.0 * (1.0 - X), 2.0 * X)
    np.testing.assert_array_equal(features.status, wide.status)
    value, expected = np.abs(features.step).sum(axis=1), np.abs(wide.step).sum(axis=1)
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_bounds_are_met_exactly_and_the_rest_does_not_move():
    G, X, demand = digits_negatives()
    up, down = np.minimum(1.0 - X, 0.3), np.minimum(X, 0.3)
    steps = check(G[:, :], 1.0 / (0.1 + X.std(axis=0)), demand[:200], up[:200], down[:200])
    assert set(steps.status.tolist()) == {SOLVED, EMPTY}
    step = steps.step[steps.status == SOLVED]
    up, down = up[:200][steps.status == SOLVED], down[:200][steps.status == SOLVED]
    near = (np.abs(step - up) < 1e-9) & (up > 1e-9)
    assert near.any()
    assert (step[near] == up[near]).all()
    near = (np.abs(step + down) < 1e-9) & (down > 1e-9)
    assert near.any()
    assert (step[near] == -down[near]).all()
    assert not ((np.abs(step) < 1e-12) & (step != 0)).any()
    assert not np.signbit(step[step == 0]).any()


def test_rooms_broadcast():
    G, _, demand = digits_negatives()
    weights, demand = np.ones(64), demand[:50]
    full = solve_lockstep(G, weights, demand, np.full((50, 64), 0.4), np.full((50, 64), INF))
    assert same_bytes(full, solve_lockstep(G, weights, demand, 0.4, INF))
    assert same_bytes(full, solve_lockstep(G, weights, demand, np.full(64, 0.4), np.full(64, INF)))
    free = solve_lockstep(G, weights, demand, INF, INF)
    assert same_bytes(free, solve_lockstep(G, weights, demand, *np.full((2, 50, 64), INF)))


def test_a_cutoff_stops_rows_with_a_proof():
    G, X, demand = digits_negatives()
    demand, up, down = demand[:200], 1.0 - X[:200], X[:200]
    full = check(G, np.ones(64), demand, up, down)
    value = np.abs(full.step).sum(axis=1)
    high = solve_lockstep(G, np.ones(64), demand, up, down, cutoff=value * 1.001)
    assert same_bytes(full, high)
    low = check(G, np.ones(64), demand, up, down, cutoff=value * 0.6)
    assert np.mean(low.status == CUT) > 0.3
    assert np.isnan(low.step[low.status == CUT]).all()
    # What finished before anyone looked at the cutoff is as good as without it.
    done = np.flatnonzero(low.status == SOLVED)
    np.testing.assert_array_equal(low.step[done], full.step[done])
    assert low.pivots.sum() < full.pivots.sum()


def test_out_of_pivots_is_trouble_without_an_answer():
    G, _, demand = digits_negatives()
    full = solve_lockstep(G, np.ones(64), demand, INF, INF)
    short = solve_lockstep(G, np.ones(64), demand, INF, INF, max_pivots=2)
    late = full.pivots > 2
    np.testing.assert_array_equal(short.status == TROUBLE, late)
    assert np.isnan(short.step[late]).all()
    assert (short.multipliers[late] == 0).all()
    np.testing.assert_array_equal(short.step[~late], full.step[~late])


@pytest.mark.parametrize(("n", "m"), [(0, 3), (4, 0)])
def test_nothing_to_do(n, m):
    steps = solve_lockstep(np.ones((m, 2)), np.ones(2), np.ones((n, m)), INF, INF)
    assert steps.step.shape == (n, 2)
    assert steps.multipliers.shape == (n, m)
    assert (steps.step == 0).all()
    assert (steps.status == SOLVED).all()


def wine_negatives():
    X, y = load_wine(return_X_y=True)
    G, X, demand = softmax_negatives(StandardScaler().fit_transform(X), y, 1)
    return G, demand, X.max(axis=0) - X, X - X.min(axis=0)


def mixed_problem():
    """Free rows, boxed rows and frozen features in one batch."""
    rng = np.random.default_rng(0)
    demand = rng.normal(size=(120, 16)) - 0.5
    up, down = rng.choice([0.0, 0.5, 2.0, INF], size=(2, 120, 24))
    up[:40], down[:40] = INF, INF
    return rng.normal(size=(16, 24)), demand, up, down


def boxed_digits():
    G, X, demand = digits_negatives()
    return G, demand, np.minimum(1.0 - X, 0.3), np.minimum(X, 0.3)


def free_digits():
    G, X, demand = digits_negatives()
    return G, demand, np.full_like(X, INF), np.full_like(X, INF)


@pytest.mark.parametrize("make", [free_digits, boxed_digits, wine_negatives, mixed_problem])
def test_an_answer_does_not_depend_on_the_batch(make, monkeypatch):
    G, demand, up, down = make()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, G.shape[1])
    full = solve_lockstep(G, weights, demand, up, down)
    for size in (1, 2, 7, 64):
        for first in range(0, min(len(demand), 12 * size), size):
            part = slice(first, first + size)
            alone = solve_lockstep(G, weights, demand[part], up[part], down[part])
            assert same_bytes(full, alone, part)
    mixed = np.random.default_rng(0).permutation(len(demand))
    shuffled = solve_lockstep(G, weights, demand[mixed], up[mixed], down[mixed])
    assert same_bytes(full, shuffled, mixed)
    for chunk in (20_000, 300_000):
        monkeypatch.setattr(_steps, "CHUNK_BYTES", chunk)
        assert same_bytes(full, solve_lockstep(G, weights, demand, up, down))


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("stop", [True, False])
def test_an_answer_does_not_depend_on_the_other_cells(bounded, stop):
    rng = np.random.default_rng(1)
    weights, sizes = rng.uniform(0.5, 2.0, 24), np.array([30, 1, 0, 45, 12])
    cells = [rng.normal(size=(16, 24)) for _ in sizes]
    cells[3][2] = 0.0  # asks for nothing, or for what no point has
    demand = rng.normal(size=(sizes.sum(), 16)) - 0.5
    up, down = rng.choice([0.0, 0.5, 2.0, INF], size=(2, sizes.sum(), 24))
    if not bounded:
        up[:], down[:] = INF, INF
    cutoff = rng.uniform(0.1, 3.0, sizes.sum()) if stop else None
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    asked = [
        Asked.of(G, weights, demand[part], up[part], down[part], cutoff[part] if stop else None)
        for G, part in zip(cells, parts, strict=True)
    ]
    stacked = solve_cells(asked)
    status = np.concatenate([steps.status for steps in stacked])
    assert {SOLVED, EMPTY} <= set(status)
    assert (CUT in status) == stop
    for own, steps in zip(asked, stacked, strict=True):
        assert same_bytes(steps, lockstep.solve_lockstep(own))


def test_many_rows_need_little_memory():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(400, 100)) * 0.5
    G = means[1:] - means[0]
    X = means[rng.integers(1, 400, size=2000)] + rng.normal(size=(2000, 100))
    demand = X @ G.T + 0.5 * (means[0] @ means[0] - (means[1:] ** 2).sum(axis=1))
    tracemalloc.start()
    try:
        steps = solve_lockstep(G, np.ones(100), demand, INF, INF)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    answers = steps.step.nbytes + steps.multipliers.nbytes
    assert (steps.status == SOLVED).all()
    assert peak < answers + 50e6  # one explicit inverse per row would take 2.5 GB
