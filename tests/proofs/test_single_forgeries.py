"""Numbers of a proof, perhaps from a file, that are wrong in exactly one way: each is refused.

Each table holds sound numbers and, line by line, what is changed in them. Nothing else refuses the
line: the check behind it cannot be left out unnoticed.
"""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.exceptions import InputError
from pertinent.geometry.cell import Cell
from pertinent.geometry.rounding import MarginRows
from pertinent.geometry.task import Task
from pertinent.proofs.boxes import _is_sliver, _worst_parabola, lies_in
from pertinent.proofs.cases.branch import LEAF, SPLIT, Tree
from pertinent.proofs.cases.near import Near
from pertinent.proofs.copositive.simplices import Simplices
from pertinent.proofs.ensembles.weights import Weights
from pertinent.proofs.linear import LinearProofs, leaves_one_point

NO, INF = np.array([False]), np.inf

# -- A partition of a simplex: 2 rows, 2 features (4 corners, the third without an end) ----------

ROOM = np.array([1.0, 2.0, INF, 3.0])
SIMPLICES = Simplices(
    radius=0.5,
    rows=np.array([[1.0, 0.0], [0.0, 2.0]]),
    caps=np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
    cuts=np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
    option=np.array([-1, 0, 1]),
    first=np.array([0, 0, 0]),
    second=np.array([4, 0, 0]),
    share=np.array([0.5, 0.0, 0.0]),
    products=np.ones((1, 15)),
    product=np.array([-1, 0, -1]),
    varying=np.zeros((1, 6, 5)),
    variation=np.array([-1, -1, 0]),
)


def put(name, place, value):
    """Return the simplices with one number of one array changed."""
    array = getattr(SIMPLICES, name).copy()
    array[place] = value
    return {name: array}


NODES = ("option", "first", "second", "share", "product", "variation")
WRONG_SIMPLICES = {
    "a radius that is no float": {"radius": 1},
    "a radius of 0": {"radius": 0.0},
    "an endless radius": {"radius": INF},
    "no options": {"option": None},
    "options that are no whole numbers": {"option": np.array([-1.0, 0.0, 1.0])},
    "nodes in two dimensions": {name: getattr(SIMPLICES, name)[None] for name in NODES},
    "an option that there is not": put("option", 2, 2),
    "no rows": {"rows": None},
    "rows of whole numbers": {"rows": np.array([[1, 0], [0, 2]])},
    "a row too many": {"rows": np.ones((2, 3))},
    "a negative multiplier of a row": put("rows", (0, 1), -1.0),
    "a multiplier that is too small": put("rows", (0, 1), 1e-200),
    "a multiplier that is too large": put("rows", (0, 1), 1e200),
    "a multiplier that is no number": put("rows", (0, 1), np.nan),
    "a negative multiplier of a cap": put("caps", (0, 0), -1.0),
    "caps of whole numbers": {"caps": np.array([[1, 0, 0, 0], [0, 0, 0, 1]])},
    "caps of another number of features": {"caps": np.zeros((2, 5))},
    "caps of fewer options": {"caps": SIMPLICES.caps[:1]},
    "a cap where there is no end": put("caps", (0, 2), 1.0),
    "a negative multiplier of a cut": put("cuts", (0, 0), -1.0),
    "a cut where there is no end": put("cuts", (0, 2), 1.0),
    "a first corner that there is not": put("first", 0, 5),
    "a negative first corner": put("first", 0, -1),
    "first corners that are no whole numbers": {"first": np.zeros(3)},
    "a first corner too few": {"first": np.zeros(2, dtype=np.int64)},
    "a second corner that there is not": put("second", 0, 5),
    "a negative second corner": put("second", 0, -1),
    "shares of whole numbers": {"share": np.array([1, 0, 0])},
    "a share too few": {"share": np.array([0.5, 0.0])},
    "products without their places": {"product": None},
    "places without products": {"products": None},
    "products of whole numbers": {"products": np.ones((1, 15), dtype=np.int64)},
    "products of another number of corners": {"products": np.ones((1, 14))},
    "an endless product": put("products", (0, 3), INF),
    "places of products that are no whole numbers": {"product": np.array([-1.0, 0.0, -1.0])},
    "a place of a product too few": {"product": np.array([-1, 0])},
    "a product that there is not": put("product", 1, 1),
    "multipliers at corners without their places": {"variation": None},
    "multipliers at corners of whole numbers": {"varying": np.zeros((1, 6, 5), dtype=np.int64)},
    "multipliers in two dimensions": {"varying": np.zeros((6, 5))},
    "one number for all multipliers": {"varying": np.array(1.0)},
    "multipliers at too few corners": {"varying": np.zeros((1, 6, 4))},
    "a negative multiplier at a corner": put("varying", (0, 0, 0), -1.0),
    "a multiplier where there is no end": put("varying", (0, 4, 0), 1.0),
    "places of multipliers that are no whole numbers": {"variation": np.array([-1.0, -1.0, 0.0])},
    "a place of multipliers too few": {"variation": np.array([-1, 0])},
    "multipliers that there are not": put("variation", 2, 1),
}


def test_a_sound_partition_is_wellformed():
    assert SIMPLICES.is_wellformed(2, ROOM)
    bare = replace(SIMPLICES, products=None, product=None, varying=None, variation=None)
    assert bare.is_wellformed(2, ROOM)


@pytest.mark.parametrize("wrong", WRONG_SIMPLICES)
def test_a_partition_that_cannot_be(wrong):
    assert not replace(SIMPLICES, **WRONG_SIMPLICES[wrong]).is_wellformed(2, ROOM)


# -- Weights of the boxes of a tree ensemble: two boxes, three sections --------------------------

WEIGHTS = {
    "count": np.array([2, 1]),
    "where": np.array([[0, 0, 1], [0, 1, 0], [1, 2, 3]]),
    "section": np.array([0, 2, 1]),
    "weight": np.array([5, 7, 1]),
}
WRONG_WEIGHTS = {
    "weights that are no whole numbers": {"weight": np.array([5.0, 7.0, 1.0])},
    "sections that are no whole numbers": {"section": np.array([0.0, 2.0, 1.0])},
    "sections in a row": {"where": np.array([0, 1, 2])},
    "sections without places": {"where": np.array([[0, 0, 1], [0, 1, 0]])},
    "a box too many": {"count": np.array([2, 1, 0])},
    "no sections": {"section": np.zeros(0, dtype=np.int64), "count": np.array([0, 0])},
    "sections in a table": {"section": np.array([[0], [2], [1]]), "weight": np.ones((3, 1), int)},
    "a negative number of weights": {"count": np.array([4, -1])},
    "fewer weights than are counted": {"count": np.array([2, 2])},
    "a negative section": {"section": np.array([0, 2, -1])},
    "a section that there is not": {"section": np.array([0, 3, 1])},
    "a section without a weight": {"weight": np.array([5, 7])},
}


def weights(**changed):
    return Weights(**{name: (part,) for name, part in {**WEIGHTS, **changed}.items()})


def test_sound_weights_are_read():
    found = weights().of_row(0, 2)
    assert found.start.tolist() == [0, 2]
    assert found.weight.tolist() == [5, 7, 1]


@pytest.mark.parametrize("wrong", WRONG_WEIGHTS)
def test_weights_that_cannot_be(wrong):
    assert weights(**WRONG_WEIGHTS[wrong]).of_row(0, 2) is None


# -- A tree of cases -----------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("child", [0, -1, 3], ids=["itself", "before the first", "after the last"])
def test_a_tree_that_is_none(side, child):
    none, ends = np.zeros(3, dtype=np.int64), np.zeros(3)
    kind = np.array([SPLIT, LEAF, LEAF], dtype=np.int8)
    tree = Tree(kind, none, ends, ends, np.array([1, 0, 0]), np.array([2, 0, 0]), none)
    tree.require_sound()
    with pytest.raises(InputError, match="is not a tree"):
        replace(tree, **{side: np.array([child, 0, 0])}).require_sound()


def test_a_case_has_one_parent():
    """Both sides of 40 splits go on with the same split: 2^40 cases of 41 nodes."""
    n = 41
    none, ends, here = np.zeros(n, dtype=np.int64), np.zeros(n), np.arange(n)
    kind = np.where(here < n - 1, SPLIT, LEAF).astype(np.int8)
    following = np.minimum(here + 1, n - 1)
    tree = Tree(kind, none, ends, ends, following, following, none)
    with pytest.raises(InputError, match="is not a tree"):
        tree.require_sound()


# -- Boxes that are said to lie in a piece -------------------------------------------------------


def piece(low, high):
    """Return x + y <= 3 within ends."""
    cell = Cell(np.array([[1.0, 1.0]]), np.array([3.0]), (), np.array(low), np.array(high))
    return MarginRows.as_written(cell)


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [
        ([-1.5, 0.0], [1.0, 1.0], False),
        ([0.0, 0.0], [1.0, 2.5], False),
        ([0.0, 0.0], [1.8, 1.8], False),
        ([-INF, 0.0], [1.0, 1.0], False),
        ([0.0, 0.0], [1.0, 1.0], True),
        ([np.nan, 0.0], [1.0, 1.0], False),
    ],
)
def test_a_box_lies_within_ends_and_rows(low, high, inside):
    assert lies_in(piece([-1, -1], [2, 2]), np.array(low), np.array(high), 1e-15) == inside


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "cell",
    [
        Cell(np.zeros((0, 1)), np.zeros(0), (), -np.ones(1), np.ones(1)),
        Cell(np.ones((1, 1)), np.ones(1)),
        Cell(-np.ones((1, 1)), np.ones(1)),
    ],
    ids=["a leaf", "a row", "another row"],
)
def test_ends_that_are_no_numbers_lie_in_no_piece(cell, place):
    box = [np.zeros(1), np.zeros(1)]
    assert lies_in(MarginRows.as_written(cell), *box, 1e-15)
    box[place] = np.array([np.nan])
    assert not lies_in(MarginRows.as_written(cell), *box, 1e-15)


@pytest.mark.parametrize(
    ("a", "b", "end", "most"),
    [
        (-1.0, 4.0, 9.0, 4.0),  # the peak, at 2
        (-1.0, 4.0, 1.0, 3.0),  # the end comes before the peak
        (1.0, -1.0, 3.0, 6.0),  # falls at first
        (-1.0, -1.0, 3.0, 0.0),
        (1.0, 1.0, INF, INF),
        (0.0, 2.0, 3.0, 6.0),
        (1.0, 1.0, 0.0, 0.0),
    ],
)
def test_the_largest_value_of_a_parabola(a, b, end, most):
    assert _worst_parabola(a, b, end) == most


@pytest.mark.parametrize(
    ("low", "high", "free", "sliver"),
    [
        (1.0, 1.1, True, False),
        (1.0, 1.0, False, False),  # fixed from the start: no part of a cut
        (-INF, 1.0, True, False),
        (1.0, INF, True, False),
        (1.0, np.nextafter(1.0, 2.0), True, True),
    ],
)
def test_a_sliver_holds_a_few_numbers_only(low, high, free, sliver):
    assert _is_sliver(np.array([low]), np.array([high]), np.array([free])) == sliver


# -- The only answer -----------------------------------------------------------------------------

FREE = np.full(2, -INF), np.full(2, INF)


@pytest.mark.parametrize(
    ("G", "y", "weights", "limits", "one"),
    [
        ([[-1.0, -2.0]], [0.5], [0.0, 1.0], FREE, False),  # the first feature costs nothing
        ([[-1.0, -1.0]], [1.0], [1.0, 1.0], FREE, False),  # either feature will do
        ([[-1.0, -1.0]], [1.0], [1.0, 1.0], (np.zeros(2), np.array([0.0, 9.0])), True),
        ([[-1.0, -1.0], [-1.0, -2.0]], [1.0, 0.0], [1.0, 1.0], FREE, False),
        ([[-1.0, -2.0]], [0.5], [1.0, 1.0], FREE, True),
    ],
)
def test_multipliers_that_leave_one_point(G, y, weights, limits, one):
    cell = Cell(np.array(G), np.full(len(G), -2.0))
    numbers = np.array(y), np.zeros(2), np.array(weights), *limits
    assert leaves_one_point(cell, *numbers) == one


#: x + 2 y >= 2 from 0 costs 1, at (0, 1) alone.
STEEP = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))


@pytest.mark.parametrize(
    ("cost", "multiplier", "weights", "lower", "upper", "near"),
    [
        (0.999, 0.5, (1.0, 1.0), (-0.1, 0.9), (0.1, 1.1), False),  # no more than what is proved
        (1.001, np.nan, (1.0, 1.0), (-0.1, 0.9), (0.1, 1.1), False),
        (1.001, 0.5, (0.0, 1.0), (-0.1, 0.9), (0.1, 1.1), False),
        (1.001, 0.5, (1.0, 1.0), (0.0, 0.9), (0.1, 1.1), False),  # it may lie below the box
        (1.001, 0.5, (1.0, 1.0), (-0.1, 0.9), (0.1, 1.0), False),  # or above
        (1.5, 0.5, (1.0, 1.0), (-0.1, 0.9), (0.1, 1.1), False),
        (1.001, 0.5, (1.0, 1.0), (-0.1, 0.9), (0.1, 1.1), True),
    ],
)
def test_points_that_cost_no_more_lie_near(cost, multiplier, weights, lower, upper, near):
    free = np.full((1, 2), INF)
    task = Task(STEEP, np.zeros((1, 2)), np.array(weights), -free, free)
    box = np.array([lower], dtype=float), np.array([upper], dtype=float)
    asked = Near(np.array([[0.0, 1.0]]), np.array([cost]), *box)
    assert LinearProofs(np.array([[multiplier]]), NO).only_near(task, asked)[0] == near
