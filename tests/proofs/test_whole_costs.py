"""Where every cost is a whole number, a bound that is none is raised to the next one."""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs import Block, Certificate, LinearProofs

#: 3 x0 + 2 x1 + 2 x2 >= 4 of truth values: two of them are needed, and at least 4 / 3 by the row.
CELL = Cell(np.array([[-3.0, -2.0, -2.0]]), np.array([-4.0]))
TRUTH = Domain(np.zeros(3))


def bound(domain=TRUTH, weights=(1.0, 1.0, 1.0), center=(0.0, 0.0, 0.0), multiplier=0.5):
    task = Task.of(
        CELL, np.array([center]), np.array(weights), np.zeros((1, 3)), np.ones((1, 3)), domain
    )
    proofs = LinearProofs(np.array([[multiplier]]), np.zeros(1, dtype=bool))
    return float(Certificate(1, (Block(0, np.zeros(1, dtype=np.int64), proofs),)).bounds(task)[0])


def test_the_next_whole_number_is_proved():
    assert bound() == 2.0
    assert bound(multiplier=0.4) == 2.0  # 1.4 by the row


@pytest.mark.parametrize(
    "given",
    [
        {"domain": None},
        {"domain": Domain(np.array([0.0, 0.0, np.nan]))},
        {"domain": Domain(np.array([0.0, 0.0, 1.0]))},
        {"center": (0.0, 0.0, 0.25)},
        {"domain": replace(TRUTH, own=np.array([[0.0, 0.5, 0.0]]))},
    ],
    ids=["any number", "one number", "tenths", "a center between", "an own value between"],
)
def test_else_the_bound_stays(given):
    found = bound(**given)
    assert 1.0 < found < 1.6
    assert found % 1 != 0


def test_weights_that_are_no_whole_numbers():
    assert bound(weights=(1.0, 1.0, 0.9)) < 1.6
    assert bound(weights=(2.0, 3.0, 2.0), multiplier=0.8) == 3.0  # 2.8 by the row


@pytest.mark.filterwarnings("error")
def test_that_there_is_no_point_stays_so():
    never = Cell(np.array([[-1.0, 0.0, 0.0]]), np.array([-4.0]))
    task = Task.of(never, np.zeros((1, 3)), np.ones(3), np.zeros((1, 3)), np.ones((1, 3)), TRUTH)
    proofs = LinearProofs(np.ones((1, 1)), np.ones(1, dtype=bool))
    assert (
        Certificate(1, (Block(0, np.zeros(1, dtype=np.int64), proofs),)).bounds(task)[0] == np.inf
    )


def test_a_bound_next_to_a_whole_number_is_left_as_it_is():
    one = Cell(np.array([[-1.0, -1.0, -1.0]]), np.array([-2.0 + 1e-9]))
    task = Task.of(one, np.zeros((1, 3)), np.ones(3), np.zeros((1, 3)), np.ones((1, 3)), TRUTH)
    proofs = LinearProofs(np.ones((1, 1)), np.zeros(1, dtype=bool))
    found = Certificate(1, (Block(0, np.zeros(1, dtype=np.int64), proofs),)).bounds(task)[0]
    assert 1.99 < found < 2.0
