"""Multipliers that vary over a simplex: where they are found, some row is positive everywhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.solvers.curved.copositive import varying
from pertinent.solvers.curved.copositive.varying import MOST_CORNERS, varying_multipliers


def nowhere(n: int):
    return np.zeros((n, n), dtype=bool)


def highest_row(matrices, points):
    return np.einsum("si,kij,sj->sk", points, matrices, points).max(axis=1)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 8), m=st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_some_row_is_positive_wherever_multipliers_were_found(seed, n, m):
    rng = np.random.default_rng(seed)
    matrices = rng.normal(loc=0.4, size=(m, n, n))
    matrices = matrices + matrices.transpose(0, 2, 1)
    found = varying_multipliers(matrices, nowhere(n))
    points = np.vstack([np.eye(n), rng.dirichlet(np.full(n, 0.4), size=3000)])
    highest = highest_row(matrices, points)
    if found.multipliers is None:
        assert (found.pairs >= 0).all()
        assert found.pairs.any()
    else:
        assert (found.multipliers >= 0).all()
        weights = np.einsum("ki,si->sk", found.multipliers, points)
        forms = np.einsum("si,kij,sj->sk", points, matrices, points)
        assert ((weights * forms).sum(axis=1) > 0).all()
        assert (highest > 0).all()


def test_rows_that_no_constant_combination_makes_positive():
    """At the first corner only the first row is positive, at the second only the second."""
    M = np.array([[[1.0, 2.0], [2.0, -3.0]], [[-3.0, 2.0], [2.0, 1.0]]])
    mixed = np.linspace(0, 1, 101)[:, None, None]
    combined = mixed * M[0] + (1 - mixed) * M[1]
    assert (np.diagonal(combined, axis1=1, axis2=2) <= 0).any(axis=1).all()
    assert varying_multipliers(M, nowhere(2)).multipliers is not None


def test_a_common_point_leaves_no_multipliers_and_says_where():
    rng = np.random.default_rng(1)
    M = np.abs(rng.normal(size=(2, 6, 6))) + 1
    M = M + M.transpose(0, 2, 1)
    M[:, 2, 4] = M[:, 4, 2] = -30.0  # between corners 2 and 4 both rows are negative
    found = varying_multipliers(M, nowhere(6))
    assert found.multipliers is None
    off = found.pairs - np.diag(np.diagonal(found.pairs))
    assert set(np.unravel_index(off.argmax(), off.shape)) == {2, 4}
    apart = nowhere(6)
    apart[2, 4] = apart[4, 2] = True  # unless they never meet
    assert varying_multipliers(M, apart).multipliers is not None


def test_too_many_corners_are_left_alone():
    n = MOST_CORNERS + 1
    assert varying_multipliers(np.ones((2, n, n)), nowhere(n)).multipliers is None


def test_a_program_that_does_not_end_is_given_up(monkeypatch):
    """The simplex method may cycle: then nothing was found, which is an answer."""
    M = np.random.default_rng(0).normal(loc=0.4, size=(3, 6, 6))
    M = M + M.transpose(0, 2, 1)
    assert varying_multipliers(M, nowhere(6)).multipliers is not None
    monkeypatch.setattr(varying, "STEPS", 0)
    found = varying_multipliers(M, nowhere(6))
    assert found.multipliers is None
    assert found.pairs.shape == (6, 6)
