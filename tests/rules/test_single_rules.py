"""Each rule by itself: a point that breaks exactly this one, and one that does not."""

from __future__ import annotations

import numpy as np
import pytest

from pertinent import Constraints
from pertinent.rules.obeyed import broken_rules
from pertinent.tables.features import Features

NUMBERS = Features(("a", "b"))
CATEGORY = Features(("c",), levels=(("x", "y", "z"),))


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ({"bounds": {"a": (0, None)}}, 0.0, -0.5),
        ({"bounds": {"a": (None, 2)}}, 2.0, 2.5),
        ({"increase_only": ["a"]}, 1.5, 0.5),
        ({"decrease_only": ["a"]}, 0.5, 1.5),
        ({"frozen": ["a"]}, 1.0, 1.5),
    ],
    ids=["lower bound", "upper bound", "increase only", "decrease only", "frozen"],
)
def test_the_look_at_the_values_finds_one_that_is_off(rules, good, bad):
    points = np.array([[good, 1.0], [bad, 1.0]])
    [(_, wrong)] = broken_rules(Constraints(**rules), NUMBERS, points, np.ones((2, 2)))
    assert wrong.tolist() == [False, True]


@pytest.mark.parametrize(
    ("rules", "low", "high"),
    [
        ({"increase_only": ["a"]}, 1.0, np.inf),
        ({"decrease_only": ["a"]}, -np.inf, 1.0),
        ({"frozen": ["a"]}, 1.0, 1.0),
        ({"bounds": {"a": (0, 2)}, "increase_only": ["a"]}, 1.0, 2.0),
    ],
    ids=["increase only", "decrease only", "frozen", "bounds and increase only"],
)
def test_limits_end_where_the_rule_says(rules, low, high):
    lower, upper = Constraints(**rules).limits(NUMBERS, np.ones((1, 2)))
    assert (lower[0, 0], upper[0, 0]) == (low, high)


def test_categories_change_as_they_may_forwards_and_backwards():
    """From y to x and to z, from x and from z nowhere."""
    rules = Constraints(transitions={"c": {"y": ["x", "z"]}})
    _, upper = rules.limits(CATEGORY, np.eye(3))
    assert upper.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 1]]


def test_a_whole_number_has_no_decimals_whatever_else_is_said():
    lattice = Constraints(integer=["a"], decimals={"a": 2}).lattice(NUMBERS)
    assert lattice[0].has(np.array([1.0, 1.25])).tolist() == [True, False]
