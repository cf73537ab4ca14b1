"""Multipliers that are no numbers, from a bug or from a file, prove nothing."""

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs import (
    Argument,
    BranchProofs,
    FewestProofs,
    HullProofs,
    LagrangeProofs,
    LinearProofs,
    StrictProofs,
    TangentProofs,
    refutes,
)
from pertinent.proofs.cases.branch import LEAF, Tree

# x0 + x1 >= 1 inside of a ball: the nearest point to 0 costs 1, and one feature is enough.
BALL = Quadratic.from_matrix(np.eye(2), np.zeros(2), -9.0)
ROW = np.array([[-1.0, -1.0]]), np.array([-1.0])
CURVED = Task.of(Cell(*ROW, (BALL,)), np.zeros((1, 2)), np.ones(2), -5.0, 5.0)
LINEAR = Task.of(Cell(*ROW), np.zeros((1, 2)), np.ones(2), -5.0, 5.0, Domain(np.zeros(2)))
NO_RAY, RAY, ONE = np.array([False]), np.array([True]), np.zeros(1, dtype=np.int64)
LEAF_ALONE = Tree(
    np.full(1, LEAF, dtype=np.int8), ONE, np.zeros(1), np.zeros(1), ONE - 1, ONE - 1, ONE
)


def made(odd, ray):
    """Return proofs of every kind with odd numbers in place of multipliers."""
    one, two = np.full((1, 1), odd), np.full((1, 2), odd)
    fewest = Argument(one, ray)
    yield LINEAR, LinearProofs(one, ray), 1.0
    yield LINEAR, BranchProofs(ONE, LEAF_ALONE, one, ray), 1.0
    yield LINEAR, HullProofs(np.eye(2)[None], one, two, ray), 1.0
    yield CURVED, TangentProofs((two,), two, ray), 1.0
    yield CURVED, TangentProofs((np.zeros((1, 2)),), two, ray), 1.0
    yield CURVED, LagrangeProofs(two, two, two, ray), 1.0
    for goal in ("size", "cost"):
        claim = np.array([2.0]), np.array([3.0])
        yield Task.of(LINEAR.region, *_plain()), FewestProofs(*claim, (fewest,), goal), 1.0
    samples = Task.of(LINEAR.region, np.ones((1, 2)), np.ones(2))
    yield samples, StrictProofs(np.zeros(2), np.array([2.0]), extra={0: one}), 1.0


def _plain():
    return np.zeros((1, 2)), np.ones(2), -5.0, 5.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 1e308])
@pytest.mark.parametrize("ray", [NO_RAY, RAY])
def test_odd_multipliers_prove_nothing_false(odd, ray):
    for task, proofs, truth in made(odd, ray):
        assert proofs.bounds(task)[0] <= truth + 1e-9, proofs


def test_a_row_without_numbers_refutes_nothing():
    for odd in (np.nan, np.inf):
        assert not refutes(np.array([[1.0, 1.0]]), np.array([odd]), 1)
        assert not refutes(np.array([[odd, 1.0]]), np.array([5.0]), 1)
    assert refutes(np.array([[np.nan, 1.0], [1.0, 1.0]]), np.array([5.0, 5.0]), 1)
