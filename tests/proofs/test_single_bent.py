"""Rows over bent columns, each check of their proofs by itself.

Every bound that is refused here is false by hand, or would be lost without the check.
"""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.affine import BentRows
from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Domain
from pertinent.geometry.rounding import MarginRows
from pertinent.geometry.task import Task
from pertinent.proofs.boxes import lies_in
from pertinent.proofs.cases import bent as proved
from pertinent.proofs.cases.bent import BentProofs
from pertinent.proofs.cases.branch import Tree
from pertinent.proofs.supports.curves import most_of_curves, switched_curves
from tests.proofs.planted_bent import bent, cube, log

INF, ROOT = np.inf, np.zeros(1, dtype=np.int64)
LEAF = Tree(np.zeros(1, np.int8), ROOT, np.zeros(1), np.zeros(1), ROOT - 1, ROOT - 1, ROOT)
UNIT = 1e-15


def task(cell, low, high, center=0.0, domain=None, weights=1.0):
    shape = (1, cell.dim)
    spread = [np.broadcast_to(np.asarray(v, float), shape).copy() for v in (center, low, high)]
    weights = np.broadcast_to(weights, cell.dim).astype(float)
    return Task(cell, spread[0], weights, *spread[1:], domain=domain)


def shown(asked, multipliers, cap=INF, ray=False):
    """Return what one leaf shows."""
    rows = np.array([multipliers], dtype=float)
    return BentProofs(ROOT, LEAF, rows, np.array([ray]), np.array([cap])).bounds(asked)[0]


#: log(1 + x) >= 1 begins at e - 1; its slope there is 1 / e.
LOG = bent([log(0)], [0.0], [-1.0], -1.0)
EDGE = np.e - 1
#: The same for a number beside one that is not bent: log(1 + x) + z >= 2.
BESIDE = bent([log(0)], [0.0, -1.0], [-1.0], -2.0)


# -- One leaf ------------------------------------------------------------------------------------


def test_what_a_multiplier_shows():
    assert shown(task(LOG, 0.0, 9.0), [np.e], EDGE) == pytest.approx(EDGE, rel=1e-4)
    assert shown(task(LOG, 0.0, 9.0), [1.0], 9.0) < EDGE
    steep = shown(task(bent([cube(0)], [0.0], [-1.0], -8.0), -9.0, 9.0), [1.0], 2.0)
    assert steep <= 2.0


def test_multipliers_are_no_less_than_0():
    """log(1 + x) <= 1 holds at once; the other way round it would cost e - 1."""
    below = bent([log(0)], [0.0], [1.0], 1.0)
    assert shown(task(below, 0.0, 9.0), [-np.e], EDGE) == 0.0


@pytest.mark.parametrize("multipliers", [[np.e, 1.0], []])
def test_there_is_one_multiplier_for_each_row(multipliers):
    assert shown(task(LOG, 0.0, 9.0), multipliers, EDGE) == 0.0


def test_nothing_is_shown_beyond_the_cap():
    """Up to a cap of 1 every number is looked at, and none is in: 1 is shown, and no more."""
    assert shown(task(LOG, 0.0, 9.0), [50.0], 1.0) == 1.0
    assert shown(task(LOG, 0.0, 9.0), [50.0], 1.0, ray=True) == 1.0
    for none in (np.nan, -1.0):
        assert shown(task(LOG, 0.0, 9.0), [np.e], none) == 0.0


def test_a_ray_is_shown_where_the_row_holds_nowhere():
    """log(1 + x) >= 1 is nowhere below e - 1, and begins there."""
    assert shown(task(LOG, 0.0, 1.7), [1.0], ray=True) == INF
    assert shown(task(LOG, 0.0, 1.8), [1.0], ray=True) == 0.0


@pytest.mark.parametrize(("sign", "low", "high"), [(-1.0, -0.5, INF), (1.0, -INF, 0.5)])
def test_a_number_beside_that_falls_without_end_shows_nothing(sign, low, high):
    """z >= 2 - log(1 + x) costs at most 2, however large the multiplier."""
    cell = bent([log(0)], [0.0, sign], [-1.0], -2.0)
    asked = task(cell, [0.0, low], [0.0, high])
    assert shown(asked, [5.0]) == 0.0
    assert shown(asked, [5.0], ray=True) == 0.0
    assert shown(asked, [1.0]) == pytest.approx(2.0)


def test_a_slope_may_outweigh_its_weight_where_there_is_an_end():
    """z <= 3 alone, at a third of the cost of x, which stays at 0."""
    asked = task(BESIDE, [0.0, -3.0], [0.0, 3.0], weights=[1.0, 0.3])
    assert shown(asked, [0.3]) == pytest.approx(0.6)
    assert shown(task(BESIDE, [0.0, -3.0], [0.0, 1.5]), [9.0]) > 1.5
    endless = task(BESIDE, [0.0, 0.0], [0.0, INF], weights=[1.0, 0.3])
    assert shown(endless, [0.3]) == pytest.approx(0.6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_bent_number_that_falls_without_end_shows_nothing(sign):
    """2 sign x + arctan(sign x) >= 4 costs less than 2, not what y = 9 says of one end."""
    arctan = replace(cube(0), function=np.arctan, inverse=np.tan)
    cell = bent([arctan], [-2.0 * sign], [-sign], -4.0)
    asked = task(cell, -INF, INF)
    assert shown(asked, [9.0]) == 0.0
    assert shown(asked, [0.4], 1.4) > 1.3
    assert shown(asked, [9.0], ray=True) == 0.0


def test_halving_ends_where_it_is_close_enough_and_may_end_at_once(monkeypatch):
    """What is cut less is shown less of, never more."""
    asked = task(LOG, 0.0, 9.0)
    fine = shown(asked, [np.e], EDGE)
    monkeypatch.setattr(proved, "PIECES_ROUNDS", 3)
    coarse = shown(asked, [np.e], EDGE)
    assert 0.0 <= coarse < fine <= EDGE
    monkeypatch.setattr(proved, "MOST_PIECES", 0)
    assert shown(asked, [np.e], EDGE) <= coarse


def test_only_allowed_numbers_are_looked_at():
    """1 + y (1 - log 2) and 2 - y (log 3 - 1), at whole numbers, are more than y shows between."""
    whole = Domain(np.zeros(1), own=np.zeros((1, 1)))
    asked, y = task(LOG, 0.0, 9.0, domain=whole), 1 / np.log(1.5)
    assert shown(asked, [y], 2.0) == pytest.approx(2 - y * (np.log(3) - 1))
    assert shown(asked, [y], 2.0) > EDGE
    assert shown(task(LOG, 0.0, 9.0), [y], 2.0) < EDGE
    # The center need not be one of them: 1.5 is none.
    asked = task(LOG, 0.0, 9.0, 1.5, domain=whole)
    assert shown(asked, [0.0], 2.0) == pytest.approx(0.5)


# -- Boxes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "low", "high", "inside"),
    [
        (1.0, [0.0, 0.0], [1.0, 1.0], True),  # log(1 + x) + z <= 2
        (1.0, [0.0, 0.0], [9.0, 1.0], False),
        (1.0, [0.0, 0.0], [1.0, 1.5], False),
        (1.0, [-1.5, 0.0], [1.0, 1.0], False),  # not defined below -1
        (-1.0, [1.0, 3.0], [9.0, 2.0], False),  # no box
        (-1.0, [1.0, 2.0], [9.0, 2.5], True),  # z <= 2 + log(1 + x)
        (-1.0, [0.1, 2.0], [9.0, 2.5], False),
    ],
)
def test_a_box_lies_in_rows_over_bent_columns(factor, low, high, inside):
    piece = MarginRows.as_written(bent([log(0)], [0.0, 1.0], [factor], 2.0))
    assert lies_in(piece, np.array(low), np.array(high), UNIT) == inside


def test_a_box_keeps_off_by_what_curves_round():
    """log(1 + x) <= 1 up to its edge, but for what is rounded."""
    at = np.array([EDGE])
    piece = bent([log(0)], [0.0], [1.0], float(np.log1p(at)[0]))
    assert not lies_in(MarginRows.as_written(piece), at - 1, at, UNIT)
    rough = bent([replace(log(0), beside=1e9)], [0.0], [1.0], 1.0 + 1e-7)
    assert not lies_in(MarginRows.as_written(rough), at - 1, at, UNIT)
    assert lies_in(MarginRows.as_written(rough), at - 1, at, 1e-18)


# -- What turning features on can do -------------------------------------------------------------


@pytest.mark.parametrize(("start", "x"), [(-2.0, 1.0), (1.0, -2.0), (-2.0, -3.0)])
@pytest.mark.parametrize("factor", [1.0, -1.0])
def test_where_a_curve_is_not_defined_nothing_is_known_of_a_gain(start, x, factor):
    (rows,) = bent([log(0)], [0.0, -1.0], [factor], -3.0).bent
    gain, short = switched_curves(rows, np.array([[start, 0.0]]), np.array([[x, 1.0]]))
    assert gain[0, 0, 0] == INF
    assert gain[0, 0, 1] == pytest.approx(1.0)
    assert short[0, 0] <= 3.0 + abs(np.log(2))


@pytest.mark.parametrize("factor", [1.0, -1.0])
def test_what_switching_takes_off_a_row(factor):
    """factor log(1 + x) - z <= -3 at 0: from 0 to e - 1, and from 0 to 1."""
    (rows,) = bent([log(0)], [0.0, -1.0], [factor], -3.0).bent
    gain, short = switched_curves(rows, np.zeros((1, 2)), np.array([[EDGE, 1.0]]))
    assert gain[0, 0] == pytest.approx([-factor, 1.0])
    assert (gain[0, 0] >= [-factor, 1.0]).all()
    assert short[0, 0] == pytest.approx(3.0)
    assert short[0, 0] <= 3.0
    # At most what both ends say; a number that may stay takes nothing off.
    most, least = most_of_curves(rows, np.zeros(2), np.array([-0.5, 0.0]), np.array([EDGE, 1.0]))
    assert most[0] == pytest.approx([1.0 if factor < 0 else np.log(2), 1.0])
    assert least[0] == pytest.approx(3.0)


def test_sums_are_those_of_linear_rows_and_of_several_blocks():
    """x >= 1 beside log(1 + x) >= 1: each has its own multiplier, linear rows first."""
    cell = Cell(np.array([[-1.0]]), np.array([-1.0]), bent=(*LOG.bent, *LOG.bent))
    assert isinstance(cell.sums_of_curves, BentRows)
    assert shown(task(cell, 0.0, 9.0), [1.0, 0.0, 0.0], 1.0) == pytest.approx(1.0)
    assert shown(task(cell, 0.0, 9.0), [0.0, 0.0, np.e], EDGE) == pytest.approx(EDGE, rel=1e-4)
