"""Leaves of cases, and boxes of few features that are halved, each check by itself.

Every bound that is refused here is false by hand, or would be lost without the check.
"""

import time

import numpy as np
import pytest

from pertinent.geometry.cell import Cell, Exponential
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.running import until
from pertinent.geometry.task import Task
from pertinent.proofs import BranchProofs, LinearProofs
from pertinent.proofs.cases import halving
from pertinent.proofs.cases.branch import Tree
from pertinent.proofs.cases.curved import CurvedBranchProofs, Leaf, _is_cut
from pertinent.proofs.cases.halving import HalvingProofs, _end, _extent, _Few
from pertinent.proofs.cases.leaves import Parts, leaf_bounds
from pertinent.proofs.cases.narrowing import Boxes
from pertinent.proofs.cases.near import Near
from pertinent.proofs.cases.separable_branch import SeparableBranchProofs

INF, NO, ROOT = np.inf, np.array([False]), np.zeros(1, dtype=np.int64)
LEAF = Tree(np.zeros(1, np.int8), ROOT, np.zeros(1), np.zeros(1), ROOT - 1, ROOT - 1, ROOT)


def rows(*lines):
    """Return ``g'x <= h`` for lines ``(*g, h)``."""
    table = np.array(lines, dtype=float)
    return Cell(table[:, :-1], table[:, -1])


def task(cell, low, high, center=0.0, domain=None, weights=1.0):
    shape = (1, cell.dim)
    spread = [np.broadcast_to(np.asarray(v, float), shape).copy() for v in (center, low, high)]
    return Task(
        cell, spread[0], np.broadcast_to(weights, cell.dim).astype(float), *spread[1:],
        domain=Domain(np.full(cell.dim, np.nan)) if domain is None else domain,
    )  # fmt: skip


# -- One case of linear rows -----------------------------------------------------------------


def by_cases(multipliers, ray=False):
    return BranchProofs(ROOT, LEAF, np.array([multipliers], dtype=float), np.array([ray]))


def test_a_ray_does_not_empty_what_has_no_end():
    """x >= 1e7 lies beyond the reach of what cancellation leaves, and is there."""
    far = rows((-1.0, -1e7))
    assert by_cases([1.0], ray=True).bounds(task(far, 0.0, INF))[0] <= 1e7
    assert by_cases([1.0], ray=True).bounds(task(far, 0.0, 1e6))[0] == INF


def test_a_ray_whose_slopes_cancel_needs_no_end():
    """x <= -1 and x >= 1"""
    asked = task(rows((1.0, -1.0), (-1.0, -1.0)), -INF, INF)
    assert by_cases([1.0, 1.0], ray=True).bounds(asked)[0] == INF


@pytest.mark.parametrize(("sign", "low", "high"), [(1.0, -INF, 9.0), (-1.0, -9.0, INF)])
def test_no_slope_exceeds_its_weight_towards_an_open_end(sign, low, high):
    """x <= -1, or x >= 1, costs 1, whatever multiplier is taken."""
    assert by_cases([5.0]).bounds(task(rows((sign, -1.0)), low, high))[0] == pytest.approx(1.0)


def test_multipliers_are_shrunk_for_open_ends_alone():
    """x + y >= 2 with x up to 1/2, at a tenth of the cost: x = 1/2 and y = 3/2 cost 1.55."""
    asked = task(rows((-1.0, -1.0, -2.0)), -9.0, [0.5, INF], weights=[0.1, 1.0])
    assert by_cases([1.0]).bounds(asked)[0] == pytest.approx(1.55)
    with np.errstate(all="raise"):  # y is in no row, and nothing is divided by its slope
        unused = task(rows((-1.0, 0.0, -2.0)), -9.0, [9.0, INF])
        assert by_cases([1.0]).bounds(unused)[0] == pytest.approx(2.0)


def test_categories_count_once():
    """The second of two categories, from the first: 1 for leaving one, 1 for taking the other."""
    domain = Domain(np.zeros(2), groups=(np.array([0, 1]),))
    asked = task(rows((0.0, -1.0, -1.0)), 0.0, 1.0, [[1.0, 0.0]], domain)
    assert by_cases([2.0]).bounds(asked)[0] == pytest.approx(2.0)


#: Column 0 is cut off at -5 and 1, its bins are columns 1 to 3, and column 4 what is cut off.
CUT = Bins(0, np.array([1, 2, 3]), np.array([-5.0, 1.0]), excess=4)
BINNED = Domain(np.full(5, np.nan), (np.array([1, 2, 3]),), np.zeros(5, dtype=int), (CUT,))


def test_a_binned_number_and_what_is_cut_off_count_once():
    """At most 1 is cut off: x <= 2, from 3."""
    parts = Parts.of(BINNED)
    assert (parts.numbers, parts.groups, parts.binned) == ([], [], [CUT])
    cell = rows((0.0, 0.0, 0.0, 0.0, 1.0, 1.0))
    ends = np.array([-9.0, 0, 0, 0, -9.0]), np.array([9.0, 1, 1, 1, 9.0])
    asked = task(cell, *ends, [[3.0, 0, 0, 1, 2.0]], BINNED, [1.0, 0, 0, 0, 0])
    assert by_cases([1.0]).bounds(asked)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("low", "middle", "proved"), [(0.0, 0.0, 3.0), (2.5, 1.0, 3.0), (0.0, 1.0, 0.0)]
)
def test_a_bin_counts_where_it_may_be_chosen_and_the_number_meets_it(low, middle, proved):
    """x + 5 >= 3 in the bin from 1 to 2, x >= 3 elsewhere: all of it costs 3 without that bin."""
    bins = Bins(0, np.array([1, 2, 3]), np.array([1.0, 2.0]))
    domain = Domain(np.full(4, np.nan), (np.array([1, 2, 3]),), np.zeros(4, dtype=int), (bins,))
    cell, center = rows((-1.0, 0.0, -5.0, 0.0, -3.0)), np.array([[0.0, 1.0, 0.0, 0.0]])
    case = box([low, 0, 0, 0], [9.0, 1, middle, 1])
    found = leaf_bounds(np.ones((1, 1)), NO, cell, center, np.array([1.0, 0, 0, 0]), case, domain)
    assert max(found[0], 0.0) == pytest.approx(proved)


# -- One case of curved rows ---------------------------------------------------------------------


def box(low, high):
    return Boxes(ROOT, np.array([low], float), np.array([high], float), np.zeros((1, 0), np.int8))


def test_a_leaf_without_anything_discrete():
    """A fixed column that costs stays where it is; one that is free moves, or pays its toll."""
    center, weights = np.array([[0.0, 0.5, 0.0]]), np.array([2.0, 0.0, 0.0])
    alone = Leaf.of(rows((1.0, 1.0, 1.0, 9.0)), Domain(np.full(3, np.nan)), center, weights,
                    box([3, 0, 4], [3, 1, 4]))  # fmt: skip
    assert alone.center.tolist() == [[0.0, 0.5, 4.0]]
    assert alone.weights.tolist() == [2.0, 0.002, 0.002]
    assert alone.toll == 0.001
    assert alone.bound(LinearProofs(np.zeros((1, 1)), NO)) == pytest.approx(6.0, abs=0.01)


def test_what_is_cut_off_is_put_in_only_where_the_bin_is_known():
    """At most 1 is cut off: from 3 it is 1 away; in the first bin it would be 7."""
    low, high = [-9.0, 0, 0, 0, -9.0], [9.0, 1, 1, 1, 9.0]
    assert not _is_cut(CUT, box(low, high))
    assert _is_cut(CUT, box([1.0, 0, 0, 1, 0.0], [9.0, 0, 0, 1, 9.0]))
    asked = task(
        rows((0.0, 0.0, 0.0, 0.0, 1.0, 1.0)), low, high, [[3.0, 0, 0, 1, 2.0]], BINNED,
        [1.0, 0, 0, 0, 0],
    )  # fmt: skip
    proof = CurvedBranchProofs(ROOT, LEAF, (LinearProofs(np.ones((1, 1)), NO),))
    assert proof.bounds(asked)[0] <= 1.0


# -- Few features ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "g", "c", "end"),
    [
        (1.0, 0.0, -4.0, 4.0),  # t^2 <= 4 ends at 2: twice that is more than enough
        (0.0, 1.0, -4.0, 8.0),
        (0.0, -1.0, 1.0, INF),  # t >= 1 has no end
        (0.0, 0.0, -1.0, INF),
        (-1.0, 1.0, 5.0, INF),  # t - t^2 + 5 <= 0 holds far out
    ],
)
def test_where_a_row_ends(a, g, c, end):
    assert _end(*np.array([a, g, c])) == end


def forms(diagonal, beside, dim):
    return np.full((dim, dim), beside) + (diagonal - beside) * np.eye(dim)


@pytest.mark.parametrize(
    ("A", "ends"),
    [
        (forms(1.0, 0.5, 2), True),
        (forms(1.0, -2.0, 3), False),  # no ellipsoid, though its inverse has the diagonal of one
        (forms(1.0, 1.0, 2), False),
        (forms(-1.0, 0.0, 2), False),
        (np.diag([1.0, 0.0]), False),
        (np.diag([1.0, INF]), False),
        (np.diag([1.0, np.nan]), False),
    ],
)
def test_how_far_an_ellipsoid_reaches(A, ends):
    """Refused quietly: nothing is divided by what is none."""
    with np.errstate(all="raise"):
        far = _extent(A, np.zeros(len(A)), -1.0)
    assert np.isfinite(far).tolist() == [ends] * len(A)


#: x^2 >= 4: -2 and 2 are as near.
OUTSIDE = Cell(
    np.zeros((0, 1)),
    np.zeros(0),
    (Quadratic(np.zeros((0, 1)), np.ones((1, 1)), np.zeros(1), 4.0),),
)


@pytest.mark.parametrize(
    ("low", "high", "lower", "upper", "near"),
    [
        (-1.0, 9.0, 1.5, 2.5, True),
        (-9.0, 9.0, 1.5, 2.5, False),  # -2 lies below the box
        (-9.0, 9.0, -2.5, -1.5, False),  # 2 lies above
        (-9.0, 9.0, -2.5, 2.5, True),
    ],
)
def test_halving_leaves_the_box_of_the_answer_alone(low, high, lower, upper, near):
    asked = Near(np.array([[2.0]]), np.array([2.1]), np.array([[lower]]), np.array([[upper]]))
    assert HalvingProofs(np.array([2.0])).only_near(task(OUTSIDE, low, high), asked)[0] == near


def test_the_lagrangian_closes_a_box_at_once():
    """x + y >= 2 costs 2 wherever it holds in the box between 0 and 2."""
    cell = rows((-1.0, -1.0, -2.0))
    few = _Few.of(cell, np.ones(2, bool), np.zeros(2), np.zeros(2), np.ones(2))
    square = np.zeros((1, 2)), np.full((1, 2), 2.0)
    assert not few._open(*square, 1.99)[0]
    assert few._open(*square, 2.01)[0]


def test_halving_stops_at_too_many_boxes(monkeypatch):
    """x y >= 1 costs 2: less than 1.5 is ruled out, but not in a single box."""
    row = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    asked = task(Cell(np.zeros((0, 2)), np.zeros(0), (row,)), -9.0, 9.0)
    assert HalvingProofs(np.array([1.5])).bounds(asked)[0] == 1.5
    monkeypatch.setattr(halving, "MOST_BOXES", 1)
    assert HalvingProofs(np.array([1.5])).bounds(asked)[0] == 0.0


def test_halving_has_no_time_left():
    claim = HalvingProofs(np.array([1.9]))
    assert claim.bounds(task(OUTSIDE, -9.0, 9.0))[0] == 1.9
    with until(time.monotonic() - 1.0):
        assert claim.bounds(task(OUTSIDE, -9.0, 9.0))[0] == 0.0


@pytest.mark.parametrize(("dim", "proved"), [(6, 0.5), (7, 0.0)])
def test_halving_of_more_than_six_features_is_not_tried(dim, proved):
    first = np.eye(dim)[:1]
    asked = task(Cell(-first, -np.ones(1)), -9.0, 9.0)
    near = Near(first, np.array([1.01]), first - 0.5, first + 0.5)
    assert HalvingProofs(np.array([0.5])).bounds(asked)[0] == proved
    assert HalvingProofs(np.array([0.5])).only_near(asked, near)[0] == (dim == 6)


def test_halving_without_the_exponential_rows_proves_no_less():
    """log(exp(x) + exp(-9)) <= 9 beside x^2 >= 4: what fewer rows show holds for all."""
    bend = Exponential(np.array([[1.0], [0.0]]), np.array([-9.0, -18.0]))
    cell = Cell(np.zeros((0, 1)), np.zeros(0), OUTSIDE.quadratics, exponentials=(bend,))
    assert HalvingProofs(np.array([1.9])).bounds(task(cell, -9.0, 9.0))[0] == 1.9
    assert HalvingProofs(np.array([2.1])).bounds(task(cell, -9.0, 9.0))[0] <= 2.0


@pytest.mark.parametrize("claim", [1e160, 1e300, 1.7e308, INF])
@pytest.mark.parametrize("end", [1e200, INF])
@pytest.mark.parametrize("dim", [1, 2])
def test_boxes_too_large_to_compute_with_are_not_closed(claim, end, dim):
    """|x - 1| <= 1/2 is 1/2 away, whatever overflows in a box of that size."""
    form, slope = np.eye(dim), -2.0 * np.eye(dim)[0]
    cell = Cell(np.zeros((0, dim)), np.zeros(0), (Quadratic.from_matrix(form, slope, 0.75),))
    with np.errstate(over="ignore", invalid="ignore"):
        assert HalvingProofs(np.array([claim])).bounds(task(cell, -end, end))[0] <= 0.5


# -- One case of rows that are sums over parts -------------------------------------------------


def by_sums(multipliers, reach):
    return SeparableBranchProofs(
        ROOT, LEAF, np.array([multipliers], dtype=float), np.array([reach])
    )


def test_sums_speak_of_linear_and_quadratic_rows_alone():
    """x >= 2 costs 2; where there is another row, or bins follow from x, nothing is said."""
    asked = task(rows((-1.0, -2.0)), -9.0, 9.0)
    assert by_sums([1.0], 3.0).bounds(asked)[0] == pytest.approx(2.0)
    also = Cell(*(asked.cell.G, asked.cell.h), exponentials=(Exponential(np.eye(1), np.zeros(1)),))
    assert by_sums([1.0], 3.0).bounds(task(also, -9.0, 9.0))[0] == 0
    binned = Domain(
        np.full(3, np.nan), (np.array([1, 2]),), np.zeros(3, dtype=int),
        (Bins(0, np.array([1, 2]), np.array([0.5])),),
    )  # fmt: skip
    with_bins = task(rows((-1.0, 0.0, 0.0, -2.0)), [-9.0, 0.0, 0.0], [9.0, 1.0, 1.0], domain=binned)
    assert by_sums([1.0], 3.0).bounds(with_bins)[0] == 0


def test_sums_have_a_multiplier_for_each_row():
    asked = task(rows((-1.0, -2.0)), -9.0, 9.0)
    assert by_sums([1.0, 1.0], 3.0).bounds(asked)[0] == 0


def test_multipliers_of_sums_are_no_less_than_0():
    """x <= 5 holds at once; the other way round it would cost 5."""
    assert by_sums([-1.0], 9.0).bounds(task(rows((1.0, 5.0)), -9.0, 9.0))[0] == 0


def test_sums_of_what_costs_nothing_prove_nothing():
    """x >= 2 costs nothing where x does not; y is paid for."""
    free = task(rows((-1.0, 0.0, -2.0)), -9.0, 9.0, weights=[0.0, 1.0])
    assert by_sums([1.0], 3.0).bounds(free)[0] == 0


def test_sums_show_no_more_than_their_reach():
    """x >= 2 or x <= -2; what lies beyond the reach was not looked at."""
    outside = Cell(
        np.zeros((0, 1)), np.zeros(0), (Quadratic.from_matrix(-np.eye(1), np.zeros(1), 4.0),)
    )
    asked = task(outside, -9.0, 9.0)
    assert by_sums([100.0], 1.5).bounds(asked)[0] == 1.5
    assert by_sums([100.0], 2.5).bounds(asked)[0] < 2.0


def test_sums_are_empty_only_where_all_was_looked_at():
    """x >= 2 within [-1, 1] is nowhere; a reach of 1 leaves the ends out."""
    asked = task(rows((-1.0, -2.0)), -1.0, 1.0)
    assert by_sums([10.0], 1.1).bounds(asked)[0] == INF
    assert by_sums([10.0], 1.0).bounds(asked)[0] == 1.0


def test_sums_of_parts_that_are_coupled_prove_nothing():
    """-x y <= -4 is met by x = y = 2 at a cost of 4."""
    row = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 4.0)
    asked = task(Cell(np.zeros((0, 2)), np.zeros(0), (row,)), -9.0, 9.0)
    assert by_sums([1.0], 99.0).bounds(asked)[0] == 0


def test_sums_count_features_that_change():
    """x + y >= 2 with one change costs 2; each by itself may move."""
    own = np.zeros((1, 2))
    few = Domain(np.full(2, np.nan), max_changes=1, own=own)
    asked = task(rows((-1.0, -1.0, -2.0)), -1.5, 1.5, domain=few)
    assert by_sums([4.0], 1.9).bounds(asked)[0] == pytest.approx(1.9)  # 1.5 + 4 * 0.5
    free = task(rows((-1.0, -1.0, -2.0)), -1.5, 1.5)
    assert by_sums([4.0], 1.9).bounds(free)[0] < 1.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sums_know_which_features_have_changed(sign):
    """x + y >= 2 for |x| >= 1/2 and no more changes: x = 2 alone; y may not help."""
    few = Domain(np.full(2, np.nan), max_changes=1, own=np.zeros((1, 2)))
    near, far = sorted([sign * 0.5, sign * 9.0])
    asked = task(rows((-sign, -1.0, -2.0)), [near, -9.0], [far, 9.0], domain=few)
    assert by_sums([1.0], 9.0).bounds(asked)[0] == pytest.approx(2.0)
    assert by_sums([1.5], 2.0).bounds(asked)[0] == pytest.approx(2.0)


def test_sums_know_when_a_category_has_changed():
    """Another category by itself costs 2, and is all that may change: x >= 2 is nowhere."""
    own, group = np.array([[0.0, 1.0, 0.0]]), (np.array([1, 2]),)
    few = Domain(np.full(3, np.nan), group, np.array([0, 1, 1]), max_changes=1, own=own)
    low, high = [-9.0, 0.0, 1.0], [9.0, 0.0, 1.0]
    asked = task(rows((-1.0, 0.0, 0.0, -2.0)), low, high, own, domain=few)
    assert by_sums([9.0], 9.0).bounds(asked)[0] >= 9.0
