"""Copositive matrices as a definite and a nonnegative part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.solvers.curved.copositive.split_matrix import split

#: Copositive, but not a definite plus a nonnegative matrix (A. Horn).
HORN = np.array(
    [
        [1.0, -1, 1, 1, -1],
        [-1, 1, -1, 1, 1],
        [1, -1, 1, -1, 1],
        [1, 1, -1, 1, -1],
        [-1, 1, 1, -1, 1],
    ]
)


def nowhere(n: int):
    return np.zeros((n, n), dtype=bool)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12))
@settings(max_examples=40, deadline=None)
def test_what_was_put_together_is_taken_apart(seed, n):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    nonnegative = rng.exponential(size=(n, n)) * rng.integers(0, 2, size=(n, n))
    units = 10.0 ** rng.uniform(-3, 3, size=n)
    M = factor @ factor.T + 0.1 * np.eye(n) + nonnegative + nonnegative.T
    M *= np.outer(units, units)
    found = split(M, nowhere(n), 3500)
    N = found.nonnegative
    assert N is not None
    assert (N >= 0).all()
    np.testing.assert_array_equal(N, N.T)
    scale = np.sqrt(np.diagonal(M))
    assert np.linalg.eigvalsh((M - N) / np.outer(scale, scale))[0] > 0


def test_free_entries_may_have_any_sign():
    M = np.array([[1.0, -5.0], [-5.0, 1.0]])
    assert split(M, nowhere(2), 200).nonnegative is None
    N = split(M, ~np.eye(2, dtype=bool), 200).nonnegative
    assert N is not None
    assert np.linalg.eigvalsh(np.diag(np.diagonal(M)) - N)[0] > 0


def test_a_point_where_the_matrix_is_negative_is_met():
    rng = np.random.default_rng(0)
    y = np.array([0.5, 0.2, 0.3, 0.0])
    factor = rng.normal(size=(4, 4))
    M = factor @ factor.T + np.eye(4)
    M -= 1.5 * (y @ M @ y) / (y @ y) ** 2 * np.outer(y, y)
    M[np.diag_indices(4)] = np.maximum(np.diagonal(M), 0.1)
    found = split(M, nowhere(4), 3500)
    assert found.nonnegative is None
    assert found.y.sum() == pytest.approx(1)
    assert (found.y >= 0).all()
    assert found.y @ M @ found.y <= 0
    assert found.steps < 3500  # it ends as soon as the point is met


@pytest.mark.parametrize("lifted", [0.0, 0.01, 0.3])
def test_horns_matrix_needs_more_than_a_splitting(lifted):
    """Its bound is 1 + (sqrt(5) - 2) = sqrt(5) - 1 on the diagonal: below, nothing is claimed."""
    N = split(HORN + lifted * np.eye(5), nowhere(5), 3500).nonnegative
    assert (N is not None) == (lifted > np.sqrt(5) - 2)
