"""Each single check of proofs by cases, by forms and by sets: wrong numbers show nothing.

As in `test_single_checks`, the answer of every problem is known by hand, and the numbers would
prove more than it, were the check behind them left out.
"""

import warnings

import numpy as np
import pytest

from pertinent.geometry.domain import Domain
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.region import Cell, CellUnion
from pertinent.geometry.task import Task
from pertinent.proofs import (
    Argument,
    BranchProofs,
    FewestProofs,
    HullProofs,
    LinearProofs,
    StrictProofs,
    SufficientProofs,
)
from pertinent.proofs.cases.branch import LEAF, SPLIT, Tree
from pertinent.proofs.cases.curved import CurvedBranchProofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.proofs.copositive.replay import CopositiveProofs
from pertinent.proofs.copositive.simplices import Simplices
from pertinent.proofs.core import Block, Certificate
from pertinent.proofs.supports.sufficient import RivalSetProofs, _one_row_suffices

NO, ROOT = np.array([False]), np.zeros(1, dtype=np.int64)


def task(cell, low=-10.0, high=10.0, domain=None, weights=None):
    """Return the task of going to a cell, or region, from 0."""
    weights = np.ones(cell.dim) if weights is None else np.asarray(weights)
    return Task.of(cell, np.zeros((1, cell.dim)), weights, low, high, domain)


def linear(*row, at_most):
    return Cell(np.array([row]), np.array([at_most]))


def curved(A, q, c):
    """Return the cell of ``x'Ax + q'x + c <= 0``."""
    row = Quadratic.from_matrix(np.asarray(A, float), np.asarray(q, float), c)
    return Cell(np.zeros((0, len(A))), np.zeros(0), (row,))


#: |x - 1| <= 1/2, that is, x^2 - 2x + 3/4 <= 0: from 0 it is 1/2 away.
AROUND_ONE = curved([[1.0]], [-2.0], 0.75)


# -- Trees of cases --------------------------------------------------------------------------


def split(low, high):
    """Return x <= low, closed by a ray, or x >= high, which nobody has to prove anything of."""
    kind = np.array([SPLIT, LEAF, LEAF], dtype=np.int8)
    ends = (np.array([end, 0.0, 0.0]) for end in (low, high))
    children = np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([-1, 0, 1])
    tree = Tree(kind, np.zeros(3, dtype=np.int64), *ends, *children)
    return BranchProofs(ROOT, tree, np.array([[1.0], [0.0]]), np.array([True, False]))


def test_a_case_holds_the_end_of_its_split():
    """Whole numbers of at least 2.5: the nearest is 3, which no case may leave out."""
    whole = task(linear(-1.0, at_most=-2.5), domain=Domain(np.zeros(1)))
    assert split(2.0, 3.0).bounds(whole)[0] == pytest.approx(3.0)
    assert split(3.0, 4.0).bounds(whole)[0] <= 3.0


def test_what_a_free_column_pays_is_taken_off():
    """x + y >= 3 costs 2 if y, which is free, is 1."""
    leaf = Tree(np.zeros(1, np.int8), ROOT, np.zeros(1), np.zeros(1), ROOT - 1, ROOT - 1, ROOT)
    proof = CurvedBranchProofs(ROOT, leaf, (LinearProofs(np.ones((1, 1)), NO),))
    domain = Domain(np.full(2, np.nan))
    free = task(linear(-1.0, -1.0, at_most=-3.0), [-10, 0], [10, 1], domain, [1.0, 0.0])
    assert 1.99 <= proof.bounds(free)[0] <= 2.0


@pytest.mark.parametrize("claim", [0.6, 1.5, np.inf])
def test_halving_finds_the_lowest_point_of_a_box(claim):
    """In a box around 0 the row is lowest at 1, inside of the box and of the cell."""
    assert HalvingProofs(np.array([claim])).bounds(task(AROUND_ONE))[0] <= 0.5
    assert HalvingProofs(np.array([0.45])).bounds(task(AROUND_ONE))[0] == pytest.approx(0.45)


# -- Copositive forms ------------------------------------------------------------------------


def form(radius, **more):
    """Return that no point costs less than the radius, by the row itself in one part."""
    nodes = len(more.get("option", [0]))
    plain = {
        "rows": np.ones((1, 1)), "caps": np.zeros((1, 2)), "cuts": np.zeros((1, 2)),
        "option": np.zeros(1, dtype=np.int64), "first": np.zeros(nodes, dtype=np.int64),
        "second": np.zeros(nodes, dtype=np.int64), "share": np.zeros(nodes),
    }  # fmt: skip
    return CopositiveProofs((Simplices(radius, **plain | more),))


def test_a_form_proves_the_distance():
    assert form(0.4).bounds(task(AROUND_ONE))[0] == pytest.approx(0.4)
    assert form(0.9).bounds(task(linear(-1.0, at_most=-1.0)))[0] == pytest.approx(0.9)


def test_a_form_that_is_negative_at_a_corner_is_refused_quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert form(1.0).bounds(task(AROUND_ONE))[0] == 0.0


@pytest.mark.parametrize("name", ["caps", "cuts"])
def test_negative_multipliers_of_forms(name):
    """x >= 1 from 0 costs 1: x (x - 10) taken -1 times would raise the row where x is larger."""
    more = {name: np.array([[-1.0, 0.0]])}
    assert form(5.0, **more).bounds(task(linear(-1.0, at_most=-1.0)))[0] <= 1.0


@pytest.mark.parametrize("share", [np.nan, np.inf, -1.0, 0.0, 1.0, 2.0])
def test_an_edge_is_split_between_its_ends(share):
    """From 0 to 2 the row is positive at both ends, and not between them; down is no way to go."""
    nodes = np.array([-1, -1, -1])
    places = {"first": nodes * 0, "second": nodes * 0 + 2, "share": np.full(3, share)}
    varying = np.zeros((1, 3, 3))
    varying[0, 0] = 1.0
    proof = form(2.0, option=nodes, varying=varying, variation=np.array([-1, 0, 0]), **places)
    with np.errstate(invalid="ignore"):
        assert proof.bounds(task(AROUND_ONE, low=0.0))[0] <= 0.5


# -- Sets of features ------------------------------------------------------------------------


def fewest(size, argument):
    return FewestProofs(np.array([size]), np.zeros(1), (argument,))


def test_negative_multipliers_of_sets():
    """x <= 5 holds at 0: no feature has to move."""
    proof = fewest(1.0, Argument(np.array([[-1.0]]), np.array([True])))
    assert proof.bounds(task(linear(1.0, at_most=5.0)))[0] == 0.0


def test_pairs_of_features_gain_more_than_each_alone():
    """x y >= 1 from 0, with a third feature that changes nothing: two have to move, not three."""
    A = np.zeros((3, 3))
    A[0, 1] = A[1, 0] = -0.5
    product = task(curved(A, np.zeros(3), 1.0))
    assert fewest(2.0, Argument.empty(0)).bounds(product)[0] == 2.0
    assert fewest(3.0, Argument.empty(0)).bounds(product)[0] <= 2.0


def test_one_row_shows_at_once_how_many_values_are_needed():
    """x + y + z <= 1.5 within [0, 1], from 0: two of the three must be kept."""
    cell = linear(1.0, 1.0, 1.0, at_most=1.5)
    unit, size = task(cell, 0.0, 1.0), np.array([2.0])
    assert _one_row_suffices(cell, unit.centers, unit.lower, unit.upper, size).all()
    assert SufficientProofs(size).bounds(unit)[0] == 2.0
    assert SufficientProofs(size + 1).bounds(unit)[0] <= 2.0


def test_a_rival_of_the_own_class_is_none():
    """(1, 0) and (0, 1) show that both features are needed, if they are of the other class."""
    proof = RivalSetProofs(np.array([2.0]), (np.eye(2),))
    others = {end: CellUnion((linear(-1.0, -1.0, at_most=-end),)) for end in (1.0, 1.5)}
    assert proof.piece_bounds(task(others[1.0]))[0, 0] == 2.0
    assert proof.piece_bounds(task(others[1.0], high=0.5))[0, 0] == 0.0
    assert proof.piece_bounds(task(others[1.5]))[0, 0] == 0.0


@pytest.mark.parametrize("size", [2.001, 2.4, 2.9999])
def test_a_claim_that_counts_nothing_proves_no_more_than_what_counts(size):
    """Two features are needed and enough: "fewer than 2.4" are 2 at most, and those are enough."""
    claimed, three = np.array([size]), linear(1.0, 1.0, 1.0, at_most=1.5)
    kept = task(three, 0.0, 1.0)
    assert SufficientProofs(claimed).bounds(kept)[0] <= 2.0
    rivals = RivalSetProofs(claimed, (np.eye(2),))
    assert rivals.piece_bounds(task(CellUnion((linear(-1.0, -1.0, at_most=-1.0),))))[0, 0] <= 2.0
    away = linear(-1.0, -1.0, -1.0, at_most=-1.5)  # x + y + z >= 1.5
    own = Task.of(away, np.ones((1, 3)), np.ones(3), 0.0, 1.0)
    assert StrictProofs(np.zeros(3), claimed).bounds(own)[0] <= 2.0
    together = StrictProofs(np.zeros(3), claimed, owner=np.arange(3))
    assert together.bounds(own)[0] <= 2.0
    assert fewest(size, Argument.empty(1)).bounds(task(away, 0.0, 1.0))[0] <= 2.0
    assert StrictProofs(np.zeros(3), np.array([2.0])).bounds(own)[0] == 2.0


@pytest.mark.parametrize("domain", [None, Domain(np.zeros(2))], ids=["numbers", "whole numbers"])
@pytest.mark.parametrize(
    "inner",
    [
        FewestProofs(np.array([1.0]), np.zeros(1), (Argument.empty(1),), "size"),
        FewestProofs(np.array([0.0]), np.array([0.9]), (Argument.empty(1),), "cost"),
        StrictProofs(np.zeros(2), np.array([7.0])),
        SufficientProofs(np.array([1.0])),
        HullProofs(9.0 * np.eye(2)[None], np.zeros((1, 1)), np.full((1, 2), -0.1), NO),
    ],
    ids=["fewest", "cost of none", "strict", "sufficient", "blends"],
)
def test_a_set_is_excluded_by_what_is_proved_of_all_its_points_only(inner, domain):
    """x + y >= 1 costs 0.1: that one feature is needed says nothing of a cost of 0.9."""
    about = Certificate(1, (Block(0, np.array([0]), inner),))
    excluded = ((np.array([True, True]), about),)
    argument = Argument(np.zeros((0, 1)), np.zeros(0, dtype=bool), excluded)
    proof = FewestProofs(np.array([2.0]), np.array([0.9]), (argument,), "cost")
    cell = linear(-1.0, -1.0, at_most=-1.0)
    assert proof.bounds(task(cell, -5.0, 5.0, domain, [0.1, 0.1]))[0] <= 0.1 + 1e-12
