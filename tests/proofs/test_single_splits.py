"""Splits of cases, boxes and what is near, each check by itself.

A split that loses an allowed value must not pass, and one that loses none must: what is left out
of a condition is seen at the very values that only this condition tells apart.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import Exponential
from pertinent.geometry.rounding import MarginRows
from pertinent.proofs.boxes import _corners, _cut, _worst_exponential, lies_in, worst_quadratic
from pertinent.proofs.cases.axes import AxisRow, seen_from
from pertinent.proofs.cases.axis_boxes import OneRow, Sums, _halved
from pertinent.proofs.cases.branch import CHANGE, SPLIT, Replay, Tree, next_allowed
from pertinent.proofs.cases.narrowing import CHANGED, UNCHANGED, Boxes

INF, NAN = np.inf, np.nan

# -- Columns 0 and 1: a group; 2: whole numbers; 3: any number; 4 and 5 change together ----------

OWN = np.array([[1.0, 0.0, 2.0, 0.5, 0.0, 0.0]])
DOMAIN = Domain(
    decimals=np.array([0.0, 0.0, 0.0, NAN, NAN, NAN]),
    groups=(np.array([0, 1]),),
    owner=np.array([0, 0, 1, 2, 3, 4]),
    together=(np.array([3, 4]),),
    own=OWN,
    scale=np.ones(6),
)
UNITS = len(DOMAIN.units)


def is_lossless(kind, place, low, high, changed=(), domain=DOMAIN):
    """Return whether one split of the only box is let through."""
    one = np.array([0])
    tree = Tree(
        np.array([kind], dtype=np.int8), np.array([place]), np.array([low]), np.array([high]),
        one, one, one,
    )  # fmt: skip
    state = np.full((1, len(domain.units)), UNCHANGED, dtype=np.int8)
    state[0, list(changed)] = CHANGED
    boxes = Boxes(one, np.full((1, domain.dim), -9.0), np.full((1, domain.dim), 9.0), state)
    replay = Replay(SimpleNamespace(tree=tree), SimpleNamespace(), domain)
    return bool(replay._is_lossless(boxes, one)[0])


@pytest.mark.parametrize(
    ("split", "right"),
    [
        ((CHANGE, 0, 0.0, 0.0), True),
        ((CHANGE, UNITS, 0.0, 0.0), False),  # no such unit, though both ends are the same
        ((CHANGE, UNITS, 0.0, 0.5), False),  # the group of column 0 has nothing in between
        ((CHANGE, -1, 0.0, 0.5), False),
        ((CHANGE, -1, 0.0, 0.0), False),
        ((SPLIT, 3, 0.1, 0.1), True),
        ((SPLIT, 3, 0.0, 1.0), False),  # any number may lie between
        ((SPLIT, 1, 0.0, 1.0), True),
        ((SPLIT, 1, -0.5, 0.5), False),  # a category that is not chosen is lost
        ((SPLIT, 1, 0.5, 1.5), False),  # and one that is
        ((SPLIT, 2, 4.0, 5.0), True),
        ((SPLIT, 2, 4.0, 6.0), False),
        ((SPLIT, 2, 0.0, 1.0), True),
    ],
)
def test_a_split_loses_nothing(split, right):
    assert is_lossless(*split) == right


def test_a_change_of_no_unit_is_no_split_of_the_first_column():
    """Between 0 and 0.5 the first column, of whole numbers, has nothing; no column is split."""
    domain = Domain(decimals=np.zeros(1), own=np.zeros((1, 1)), max_changes=1)
    assert not is_lossless(CHANGE, 5, 0.0, 0.5, domain=domain)
    assert is_lossless(SPLIT, 0, 0.0, 0.5, domain=domain)


@pytest.mark.parametrize(
    ("split", "changed", "right"),
    [
        ((SPLIT, 4, -5e-4, 5e-4), [3], True),  # 4 changes: it moves by 1e-3 at least
        ((SPLIT, 4, -5e-4, 5e-4), [], False),
        ((SPLIT, 4, -2e-3, 5e-4), [3], False),
        ((SPLIT, 4, -5e-4, 2e-3), [3], False),
        ((SPLIT, 3, 0.4999, 0.5001), [2], False),  # changes, but not together with others
        ((SPLIT, 4, 7.0, 7.0), [3], True),  # both sides share an end, far from the own value
        ((CHANGE, -1, 0.0, 0.0), [3], False),
    ],
)
def test_a_value_that_must_change_leaves_its_own(split, changed, right):
    assert is_lossless(*split, changed=changed) == right


@pytest.mark.parametrize(
    ("own", "value", "following"),
    [(2.0, -1.0, 0.0), (2.0, 0.0, 1.0), (2.0, 1.0, 2.0), (2.0, 2.0, 4.0), (2.0, 5.0, 6.0)],
)
def test_the_next_allowed_value_beside_a_gap(own, value, following):
    """Whole numbers; 2 is the own value, and nothing else between 1 and 4 is allowed."""
    gap = np.array([[1.0]]), np.array([[4.0]])
    domain = Domain(decimals=np.array([0.0]), own=np.array([[own]]), gap=gap)
    column = np.array([0])
    assert next_allowed(domain, column, np.array([value]), column)[0] == following


# -- Boxes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [0, 1])
def test_a_mixed_row_has_no_largest_value_without_an_end(end):
    """-x^2 - y^2 + x y, without a corner to be asked about."""
    root = np.sqrt(0.5)
    minus = np.array([[root, -root], [root, 0.0], [0.0, root]])
    row = Quadratic(np.zeros((0, 2)), minus, np.zeros(2), 0.0)
    box = [np.zeros(2), np.ones(2)]
    assert worst_quadratic(row, *box, 1e-15) < 1.0
    box[end] = np.array([0.0, -INF] if end == 0 else [1.0, INF])
    assert worst_quadratic(row, *box, 1e-15) == INF


@pytest.mark.parametrize(("low", "high"), [(-INF, 1.0), (1.0, INF)])
def test_an_exponential_row_towards_an_open_end(low, high):
    """log(exp(w x) + exp(y)) with w x <= 1 and y = 2, computed without a number that is none."""
    w = 1.0 if high == 1.0 else -1.0
    bend = Exponential(np.array([[w, 0.0], [0.0, 1.0]]), np.zeros(2))
    with np.errstate(all="raise"):
        worst = _worst_exponential(bend, np.array([low, 2.0]), np.array([high, 2.0]))
    assert worst == pytest.approx(np.log(np.exp(w) + np.exp(2.0)))


def test_two_columns_of_an_exponential_row_are_largest_at_a_corner_of_any_kind():
    """log(exp(x - y)) over the unit square is 1 at (1, 0), and 0 where both are low, or high."""
    bend = Exponential(np.array([[1.0, -1.0]]), np.zeros(1))
    assert _worst_exponential(bend, np.zeros(2), np.ones(2)) == pytest.approx(1.0)


def test_a_concave_row_is_largest_inside():
    """1 - x^2 between -1 and 1: 0 at both ends."""
    row = Quadratic(np.zeros((0, 1)), np.ones((1, 1)), np.zeros(1), 1.0)
    assert worst_quadratic(row, -np.ones(1), np.ones(1), 1e-15) >= 1.0
    piece = MarginRows.as_written(Cell(np.zeros((0, 1)), np.zeros(0), (row,)))
    assert not lies_in(piece, -np.ones(1), np.ones(1), 1e-15)
    assert lies_in(piece, np.full(1, 1.5), np.full(1, 2.0), 1e-15)


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [([0, 0], [1, 1], 4), ([0, 0], [1, 0], 2), ([-INF, 0], [1, 1], None), ([0, 0], [1, INF], None)],
)
def test_corners_of_a_box(low, high, count):
    corners = _corners(np.array(low, float), np.array(high, float))
    assert (corners if corners is None else len(corners)) == count


def test_a_box_of_many_columns_has_too_many_corners():
    assert _corners(np.zeros(11), np.ones(11)) is None


def leaf(low, high):
    return MarginRows.as_written(
        Cell(np.zeros((0, 1)), np.zeros(0), (), np.array([low]), np.array([high]))
    )


@pytest.mark.parametrize(
    ("ends", "parts"),
    [((-1.0, 9.0), None), ((0.0, 4.0), None), ((0.0, 1.0), 2), ((3.0, 9.0), 2), ((5.0, 6.0), None)],
)
def test_a_box_is_cut_where_a_piece_ends_inside(ends, parts):
    halves = _cut([leaf(*ends)], (np.array([0.0]), np.array([4.0])))
    assert (halves if halves is None else len(halves)) == parts


# -- Rows that are sums over features ------------------------------------------------------------


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_row_that_mixes_features_keeps_its_mixed_terms(sign):
    factor, none = np.array([[1.0, 1.0]]), np.zeros((0, 2))
    row = Quadratic(factor if sign > 0 else none, none if sign > 0 else factor, np.zeros(2), 0.0)
    assert (sign * np.ones((2, 2)) == seen_from(row, np.zeros(2)).A).all()


def sums(value, square, slope):
    rows = [np.atleast_2d(np.asarray(part, float)) for part in (square, slope)]
    return Sums(np.array([value]), *rows, np.zeros_like(rows[0]))


@pytest.mark.parametrize(
    ("low", "high", "cost", "below", "above"),
    [
        (-4.0, 4.0, 3.0, True, True),
        (-4.0, 4.0, 0.5, False, False),  # what is near costs 1
        (-1.0, 4.0, 3.0, False, True),  # it ends where near begins
        (-4.0, 1.0, 3.0, True, False),
    ],
)
def test_what_may_lie_beyond(low, high, cost, below, above):
    """|s| in a box, with -1 <= s <= 1 near."""
    near = np.array([-1.0]), np.array([1.0])
    box = np.array([[low]]), np.array([[high]])
    found = sums(0.0, [0.0], [0.0]).beyond(*box, np.array([cost]), near)
    assert [side.tolist() for side in found] == [[[below]], [[above]]]


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (-2.0, 4.0, 2.0),
        (-4.0, 2.0, -2.0),
        (0.0, 4.0, 2.0),
        (-4.0, 0.0, -2.0),
        (1.0, 4.0, 2.5),
        (-4.0, -1.0, -2.5),
    ],
)
def test_where_a_box_is_halved(low, high, cut):
    first, last = _halved(np.array([[low]]), np.array([[high]]), np.array([[-1.0]]))
    assert (first.ravel().tolist(), last.ravel().tolist()) == ([low, cut], [cut, high])


def test_a_box_across_the_start_is_halved_before_a_narrower_one_beside_it():
    """Across 0 the farther end counts, beside it the width: 2 against 1.5, however far it is."""
    low, high, square = np.array([[-2.0, 5.0]]), np.array([[2.0, 6.5]]), np.array([[-1.0, -1.0]])
    first, _ = _halved(low, high, square)
    assert first.tolist() == [[-2.0, 5.0], [1.0, 5.0]]
    first, _ = _halved(-high, -low, square)
    assert first.tolist() == [[-2.0, -6.5], [1.0, -6.5]]


def test_a_convex_box_is_not_halved():
    assert _halved(np.array([[-1.0]]), np.array([[1.0]]), np.array([[1.0]])) is None


def only_near(square, slope, value, cost, near, low=-9.0, high=9.0):
    none = np.zeros((1, 1))
    row = AxisRow(
        np.array([square]), np.array([[slope]]), np.array([value]), np.zeros(1), none, np.zeros(1)
    )
    ends = np.array([low]), np.array([high])
    return OneRow(row).only_near(*ends, cost, (np.array([near[0]]), np.array([near[1]])))


@pytest.mark.parametrize(
    ("row", "cost", "near", "right"),
    [
        ((1.0, -4.0, 3.0), 1.1, (0.5, 1.5), True),  # 1 <= s <= 3
        ((1.0, -4.0, 3.0), 1.1, (1.05, 1.5), False),
        ((1.0, -4.0, 3.0), 2.0, (0.5, 1.5), False),
        ((-1.0, 0.0, 1.0), 1.1, (-1.5, 1.5), True),  # s^2 >= 1, on both sides
        ((-1.0, 0.0, 1.0), 1.1, (0.5, 1.5), False),
    ],
)
def test_all_points_of_a_row_are_near(row, cost, near, right):
    assert only_near(*row, cost, near) == right
