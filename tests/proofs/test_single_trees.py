"""Single steps of the check of sums of trees: whatever a proof says, no point is lost."""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.task import Task
from pertinent.proofs.ensembles import inside, replay, rest
from pertinent.proofs.ensembles.boxes import Rules
from pertinent.proofs.ensembles.conditions import Conditions
from pertinent.proofs.ensembles.inside import lies_inside
from pertinent.proofs.ensembles.nodes import Nodes
from pertinent.proofs.ensembles.proof import EnsembleProofs
from pertinent.proofs.ensembles.rest import Rest
from pertinent.proofs.ensembles.tables import Tables
from pertinent.proofs.ensembles.weights import Sections, Weights
from tests.proofs.small_trees import drawn_proof, drawn_task, ensemble_of
from tests.solvers.every_cell import least_cost

at = np.array

STATED = Weights((at([1]),), (at([[0], [0], [0]]),), (at([0]),), (at([1]),))


def step_proof(column, cut, claimed=3.0, weights=None, price=0.0):
    n = len(column)
    if weights is not None:
        weights = replace(weights, count=(np.eye(1, n, dtype=np.int64)[0],))
    return EnsembleProofs(
        at([claimed]), (at(column, dtype=np.int64),), (at(cut, dtype=np.int64),),
        (np.zeros(n, dtype=np.int64),), (np.full(n, price),), weights,
    )  # fmt: skip


STATES = pytest.mark.parametrize("weights", [None, STATED], ids=["guessed", "stated"])


# -- Boxes, costs, categories and changes: against every cell ------------------------------------

#: What is allowed, and the seeds of the questions about it.
DRAWN = {
    "plain": (1,),
    "bounds": (0,),
    "margin": (0,),
    "three": (1,),
    "groups": (0, 2),
    "whole": (1, 2),
    "changes": (1,),
    "whole bounds": (1,),
    "groups changes": (0,),
}
CASES = [(kind, seed) for kind, seeds in DRAWN.items() for seed in seeds]


@pytest.mark.parametrize("weights", [True, False], ids=["stated", "guessed"])
@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_the_truth_is_confirmed_and_no_more(kind, seed, weights):
    """By branchings, prices and weights that nobody thought about."""
    rng = np.random.default_rng(seed)
    task = drawn_task(rng, kind)
    best = least_cost(task.region, task, 0)
    proved = drawn_proof(rng, task, best * 1.01, weights).bounds(task)[0]
    assert proved <= best * (1 + 1e-12)
    proved = drawn_proof(rng, task, best, weights).bounds(task)[0]
    assert proved == pytest.approx(best, rel=1e-9)


def test_what_leaves_ask_of_categories():
    """Columns 0 and 1 are a group: of their cuts only 1/2 divides 0 from 1."""
    parts = [(0, cut, [0.0, 0.0], [1.0, 0.0]) for cut in (0.5, -0.5, 1.5)]
    region = EnsembleRegion.of(ensemble_of(parts, 2), 0)
    found = Conditions.of(region, (at([0, 1]),))
    asked = np.stack([found.leaf, found.column, found.first, found.last], axis=1).tolist()
    assert sorted(asked) == [
        [0, 0, 0, 0],
        [1, 0, 1, 1], [1, 1, 0, 0],  # where one column is 1, the other one is 0
        [2, 0, 1, 0],  # no point
        [3, 0, 0, 1],
        [4, 0, 0, 1],
        [5, 0, 1, 0],  # no point
    ]  # fmt: skip


@STATES
def test_another_category_is_one_change(weights):
    """It moves two columns, of one feature."""
    region = EnsembleRegion.of(ensemble_of([(1, 0.5, [0.0, 1.0], [1.0, 0.0])], 2), 0)
    start = at([[1.0, 0.0]])
    owner, groups = at([0, 0]), (at([0, 1]),)
    one = Domain(np.zeros(2), groups, owner, max_changes=1, own=start)
    task = Task.of(region, start, np.ones(2), domain=one)
    assert step_proof([-1], [0], 2.0, weights).bounds(task)[0] == pytest.approx(2.0)
    assert step_proof([-1], [0], 2.1, weights).bounds(task)[0] <= 2.0


def test_a_category_that_is_not_allowed_is_no_way():
    region = EnsembleRegion.of(ensemble_of([(1, 0.5, [0.0, 1.0], [1.0, 0.0])], 2), 0)
    start, upper = at([[1.0, 0.0]]), at([[1.0, 0.0]])
    one = Domain(np.zeros(2), (at([0, 1]),), at([0, 0]), own=start)
    task = Task.of(region, start, np.ones(2), upper=upper, domain=one)
    assert step_proof([-1], [0], np.inf).bounds(task)[0] == np.inf


def test_a_whole_number_lies_in_its_own_cell():
    """Class 0 wins up to 1, and 2 is the least number that is allowed."""
    region = EnsembleRegion.of(ensemble_of([(0, 1.0, [1.0, 0.0], [0.0, 1.0])], 1), 0)
    start, lower = at([[3.0]]), at([[2.0]])
    task = Task.of(region, start, np.ones(1), lower, domain=Domain(np.zeros(1), own=start))
    assert step_proof([-1], [0], np.inf).bounds(task)[0] == np.inf


def test_a_tie_is_lost_by_the_later_class():
    """Its lead is as large as is needed, to the bit: only the order of classes tells."""
    region = EnsembleRegion.of(ensemble_of([(0, 1.0, [1.0, 0.0], [0.5, 0.5])], 1), 1)
    task = Task.of(region, np.zeros((1, 1)), np.ones(1))
    assert step_proof([-1], [0], np.inf).bounds(task)[0] == np.inf


def two_of_three(center, cost):
    """Return a task: class 0 needs two trees of three.

    Two are cut at 1 and at 2 of x0, which costs 1 for each unit; the third one at 1 of x1.
    """
    own = [[0.0, 0.0], [1.0, 0.0]]
    x0 = own if center == 0 else own[::-1]
    trees = [(0, 1.0, *x0), (0, 2.0, *x0), (1, 1.0, *own)]
    region = EnsembleRegion.of(ensemble_of(trees, 2, [0.0, 1.5]), 0)
    return Task.of(region, at([[center, 0.0]]), at([1.0, cost]))


def shared(column, cut, claimed, weight, price):
    """Return a proof whose first box states one weight for each tree."""
    where, sections = at([[0, 1, 2], [0, 0, 1], [0, 1, 0]]), at([0, 1, 2])
    count = 3 * np.eye(1, len(column), dtype=np.int64)[0]
    stated = Weights((count,), (where,), (sections,), (at(weight),))
    return replace(step_proof(column, cut, claimed, price=price), weights=stated)


@pytest.mark.parametrize(("center", "cut"), [(0.0, 0), (3.0, 2)], ids=["from below", "from above"])
def test_what_the_way_to_a_box_costs_is_paid_once(center, cut):
    """The list divides x0, so that one box lies a step away: its nearest point pays for that."""
    task = two_of_three(center, 1.09)
    assert least_cost(task.region, task, 0) == pytest.approx(2.0)
    for claimed, proved in ((2.01, 0.0), (2.0, 2.0)):
        proof = shared([0, -1, -1], [cut, 0, 0], claimed, [1, 1, 1], 0.9)
        assert proof.bounds(task)[0] == pytest.approx(proved, rel=1e-9)


def test_a_step_without_any_weight_is_paid_by_nobody():
    proof = shared([-1], [0], 2.05, [1, 0, 1], 0.9)
    with np.errstate(divide="raise"):
        assert proof.bounds(two_of_three(0.0, 1.09))[0] == 0.0


def test_leaves_that_are_out_of_reach_ask_nothing_of_others(monkeypatch):
    """In the box above 1 no point lies in the first leaf: the last one is not asked to."""
    monkeypatch.setattr(replay, "MOST_BOXES", 1)
    task = two_of_three(0.0, 0.5)
    for claimed, proved in ((2.6, 0.0), (1.5, 1.5)):
        proof = shared([0, -1, -1], [0, 0, 0], claimed, [1, 1, 1], 0.9)
        assert proof.bounds(task)[0] == pytest.approx(proved, rel=1e-9)


def test_sections_follow_each_other_away_from_the_nearest_place():
    """From 2.5, cuts at 1 and 2 lie below, 3 and 4 above."""
    none = [0.0, 0.0]
    whole = (0, 2.0, (0, 1.0, none, none), (0, 3.0, none, (0, 4.0, none, none)))
    ends = (0, 1.0, none, (0, 4.0, none, none))
    single = [(0, cut, none, none) for cut in (4.0, 2.0, 1.0)]
    region = EnsembleRegion.of(ensemble_of([whole, ends, *single], 1), 0)
    task = Task.of(region, at([[2.5]]), np.ones(1))
    tables = Tables.of(task, region)
    sections = Sections.of(Conditions.of(region, ()), tables.offset)
    found = sections.of_row(tables, 0, STATED.of_row(0, 1))
    steps = list(zip(found.low.tolist(), found.high.tolist(), strict=True))
    assert steps == [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (2, 4), (2, 4), (1, 2), (0, 2)]


# -- Lists of branchings that are none -----------------------------------------------------------

#: Class 0 needs three columns above 1. From 0 that costs 3, and no bound of the whole box says so.
MOST = ensemble_of([(j, 1.0, [0.0, 0.0], [1.0, 0.0]) for j in range(5)], 5, [0.0, 2.5])
ABOVE, START = EnsembleRegion.of(MOST, 0), np.zeros((1, 5))
TASK = Task.of(ABOVE, START, np.ones(5))


@STATES
@pytest.mark.parametrize(
    ("column", "cut"),
    [
        ([-1], [0]),
        ([0, -1, -1], [0, 0, 0]),
        ([0, -1, -1], [1, 0, 0]),
        ([1, -1, 0, -1, -1], [0, 0, 0, 0, 0]),
        # The cut of an end means nothing.
        ([-1], [-2]),
        ([-1], [98]),
        ([1, -1, -1], [0, -2, 98]),
    ],
)
def test_any_tree_of_branchings_confirms_the_truth(column, cut, weights):
    bound = step_proof(column, cut, weights=weights).bounds(TASK)[0]
    assert bound == pytest.approx(3.0, rel=1e-9)


@STATES
@pytest.mark.parametrize(
    ("column", "cut"),
    [
        ([], []),
        ([-1, -1], [0, 0]),
        ([0, -1], [0, 0]),
        ([5, -1, -1], [0, 0, 0]),
        ([1, -1, -1], [-2, 0, 0]),
        ([1, -1, -1], [2, 0, 0]),
        ([1, -1, -1], [98, 0, 0]),
    ],
    ids=["no box", "a box too many", "a box too few", "no such column", "before the first cut",
         "after the last cut", "far beyond"],
)  # fmt: skip
def test_a_list_that_is_no_tree_of_branchings_proves_nothing(column, cut, weights):
    assert step_proof(column, cut, weights=weights).bounds(TASK)[0] == 0.0


def test_a_claim_that_is_no_number_proves_nothing():
    """Not even where there is no point at all."""
    none = Task.of(ABOVE, START, np.ones(5), upper=np.full((1, 5), 0.5))
    assert step_proof([-1], [0], np.inf).bounds(none)[0] == np.inf
    assert step_proof([-1], [0], np.nan).bounds(none)[0] == 0.0


def test_a_claim_is_lowered_no_more_than_it_has_to():
    """What costs much already may have been rounded: a claim is lowered where it must be."""
    far = Task.of(ABOVE, at([[0.0, 0.0, 0.0, -1e6, -1e6]]), np.ones(5))
    assert step_proof([-1], [0]).bounds(far)[0] == pytest.approx(3.0, abs=1e-10)
    assert step_proof([-1], [0], 3.0 + 1e-7).bounds(far)[0] == pytest.approx(3.0, abs=1e-5)


def test_what_is_no_sum_of_trees_or_has_other_rules_is_not_looked_at():
    cell = Cell(-np.eye(5)[:1], at([-1.0]))
    assert step_proof([-1], [0]).bounds(Task.of(cell, START, np.ones(5)))[0] == 0.0
    both = Domain(np.full(5, np.nan), together=(at([0, 1]),), own=START)
    assert step_proof([-1], [0]).bounds(replace(TASK, domain=both))[0] == 0.0


def test_time_that_is_over_confirms_nothing(monkeypatch):
    assert step_proof([-1], [0], weights=STATED).bounds(TASK)[0] > 2.9
    monkeypatch.setattr(replay, "is_over", lambda: True)
    assert step_proof([-1], [0], weights=STATED).bounds(TASK)[0] == 0.0


def test_boxes_that_stay_open_are_made_as_long_as_there_is_time(monkeypatch):
    """A box of a large forest takes longer to look at than many a limit."""
    one = step_proof([-1], [0])
    nodes = Nodes.of(one.column, one.cut, one.rival, one.price, None)
    conditions, tables = Conditions.of(TASK.region, ()), Tables.of(TASK, TASK.region)
    rules, made = Rules(conditions, tables, at([2.9]), None), []

    def boxes():
        for _ in range(3):
            made.append(rules.whole(at([0]), at([0])))
            yield made[-1]

    left = Rest(rules, TASK.region, nodes)
    assert left.run(at([0]), boxes()).tolist() == [True]
    assert len(made) == 3
    made.clear()
    monkeypatch.setattr(rest, "is_over", lambda: True)
    assert left.run(at([0]), boxes()).tolist() == [False]
    assert len(made) == 1


# -- Boxes that lie in a class -------------------------------------------------------------------

ROW = ensemble_of([(0, 1.0, [1.0, 0.0], [0.0, 1.0])], 1)
BELOW = EnsembleRegion.of(ROW, 0)
EVERYWHERE = EnsembleRegion.of(ensemble_of([(0, 1.0, [1.0, 0.0], [1.0, 0.0])], 1), 0)


def many_cuts(count):
    """Return trees of which each is the same on both sides of its cut, so that class 0 wins."""
    return ensemble_of([(0, float(k), [1.0, 0.0], [1.0, 0.0]) for k in range(count)], 1)


def test_a_margin_of_nothing_is_none():
    assert lies_inside(replace(EVERYWHERE, keep=np.zeros(3)), at([0.0]), at([2.0]))
    assert not lies_inside(EVERYWHERE.tighten(0.1), at([0.0]), at([2.0]))


@pytest.mark.parametrize(
    ("low", "high", "kept"),
    [(0.0, 0.8, True), (0.0, 0.95, False), (1.05, 2.0, False), (1.2, 2.0, True)],
)
def test_a_margin_is_kept_on_both_sides_of_a_cut(low, high, kept):
    assert lies_inside(EVERYWHERE.tighten(0.1), at([low]), at([high])) == kept


def test_a_margin_that_rounding_uses_up_is_not_kept():
    near = EVERYWHERE.tighten(1e-12)
    end = at([1.0 - 1e-11])
    assert lies_inside(near, end - 1, end)
    assert not lies_inside(near, end - 1, end, share=1e-9)


def test_other_rules_hold_in_all_of_a_box():
    def within(*parts):
        return replace(EVERYWHERE, common=Cell(*parts))

    none, no_row = np.zeros((0, 1)), np.zeros(0)
    box = at([0.0]), at([2.0])
    assert lies_inside(within(at([[1.0]]), at([2.0])), *box)
    assert not lies_inside(within(at([[1.0]]), at([1.9])), *box)
    assert not lies_inside(within(at([[-1.0]]), at([-0.1])), *box)
    assert lies_inside(within(none, no_row, (), at([0.0]), at([2.0])), *box)
    assert not lies_inside(within(none, no_row, (), at([0.1]), at([2.0])), *box)
    assert not lies_inside(within(none, no_row, (), at([0.0]), at([1.9])), *box)
    curved = Quadratic(np.eye(1), np.zeros((0, 1)), np.zeros(1), -100.0)
    assert not lies_inside(within(none, no_row, (curved,)), *box)


def test_more_sides_than_are_tried(monkeypatch):
    assert not lies_inside(BELOW, at([1.0]), at([1.0]), share=1e-9)
    assert lies_inside(EVERYWHERE, at([1.0]), at([1.0]), share=1e-9)
    monkeypatch.setattr(inside, "MOST_SIDES", 1)
    assert not lies_inside(EVERYWHERE, at([1.0]), at([1.0]), share=1e-9)


@pytest.mark.parametrize("ends", [(np.nan, 0.0), (0.0, np.nan), (np.nan, np.nan), (2.0, 0.0)])
def test_a_box_has_its_ends_in_order(ends):
    assert not lies_inside(EVERYWHERE, *(at([end]) for end in ends))


def test_a_range_of_many_cells_is_no_side():
    assert lies_inside(EnsembleRegion.of(many_cuts(70), 0), at([-1.0]), at([70.0]))


def test_a_point_that_is_not_of_the_class_shows_nothing():
    point = at([3.0])
    assert not lies_inside(BELOW, point, point, 1e-12, known=point)


def test_a_known_point_tells_of_its_single_numbers_only():
    """x0 = 1 and x1 = 1 are next to cuts. The box has one number of x0 and many of x1.

    The class is lost at x0 <= 1, x1 <= 1. The known point may be above both, so that x0 of the box
    may be on either side.
    """
    trees = [(0, 1.0, (1, 1.0, [0.0, 1.0], [1.0, 0.0]), [1.0, 0.0])]
    region = EnsembleRegion.of(ensemble_of(trees, 2), 0)
    low, high = at([1.0, 1.0]), at([1.0, 2.0])
    assert not lies_inside(region, low, high, 1e-9, known=low)
    # With another number of x0 the known point tells nothing of it, either.
    assert not lies_inside(region, low, high, 1e-9, known=at([3.0, 1.0]))
    # A known point that is surely below in x1 is above in x0: so is the box.
    assert lies_inside(region, low, high, 1e-9, known=at([1.0, 0.0]))


def test_more_parts_than_are_tried(monkeypatch):
    monkeypatch.setattr(inside, "MOST_CELLS", 1)
    region = EnsembleRegion.of(
        ensemble_of([(0, 0.0, [2.0, 0.0], [0.0, 1.0]), (0, 0.0, [0.0, 1.0], [2.0, 0.0])], 1), 0
    )
    box = at([-1.0]), at([1.0])
    assert lies_inside(region, *box)
    monkeypatch.setattr(inside, "MOST_PARTS", 0)
    assert not lies_inside(region, *box)


@pytest.mark.parametrize("most", [1, 256])
def test_a_cell_between_others_that_is_lost(monkeypatch, most):
    """The class is lost where 1 < x <= 2, and a first look at some of the sums does not see it."""
    monkeypatch.setattr(inside._Part, "some", lambda part: part.first[None])
    monkeypatch.setattr(inside, "MOST_CELLS", most)
    tree = (0, 1.0, [1.0, 0.0], (0, 2.0, [0.0, 1.0], [1.0, 0.0]))
    region = EnsembleRegion.of(ensemble_of([tree], 1), 0)
    assert not lies_inside(region, at([0.0]), at([3.0]))
    assert lies_inside(region, at([2.5]), at([3.0]))


def test_a_first_look_sees_both_ends_of_each_column():
    region = EnsembleRegion.of(
        ensemble_of([(j, 1.0, [1.0, 0.0], [1.0, 0.0]) for j in (0, 1)], 2), 0
    )
    first, last = np.zeros(2, dtype=int), at([7, 10**6])
    some = inside._Part.of(region, first, last, ()).some()
    assert ((some >= first) & (some <= last)).all()
    assert {0, 7} <= set(some[:, 0].tolist())
    assert {0, 10**6} <= set(some[:, 1].tolist())


@pytest.mark.parametrize("most", [1, 256])
@pytest.mark.parametrize("seen", [2, 3])
def test_one_of_a_group_and_no_more(monkeypatch, most, seen):
    """The class is lost where both or none of two columns are 1: with a third, none may be."""
    monkeypatch.setattr(inside, "MOST_CELLS", most)
    lost, kept = [0.0, 1.0], [1.0, 0.0]
    tree = (0, 0.5, (1, 0.5, lost, kept), (1, 0.5, kept, lost))
    region = EnsembleRegion.of(ensemble_of([tree], 3), 0)
    low, high = np.zeros(3), np.array([1.0, 1.0, seen == 3])
    groups = [np.arange(3)]
    assert not lies_inside(region, low, high)
    assert lies_inside(region, low, high, groups=groups) == (seen == 2)
    assert not lies_inside(region, low, np.array([0.0, 0.0, 1.0]), groups=groups)
    assert lies_inside(region, low, np.array([1.0, 0.0, 0.0]), groups=groups)


def test_a_category_that_no_cut_tells_is_not_forgotten(monkeypatch):
    """Where none of two columns is 1 the class is lost: a first look that misses it, and parts."""
    monkeypatch.setattr(inside, "MOST_CELLS", 1)
    monkeypatch.setattr(inside._Part, "some", lambda part: np.array([[1, 0, 0], [0, 1, 0]]))
    tree = (0, 0.5, (1, 0.5, [0.0, 1.0], [1.0, 0.0]), [1.0, 0.0])
    region = EnsembleRegion.of(ensemble_of([tree], 3), 0)
    for third in (0.0, 1.0):
        high, groups = np.array([1.0, 1.0, third]), [np.arange(3)]
        assert lies_inside(region, np.zeros(3), high, groups=groups) == (third == 0)


@pytest.mark.parametrize("cuts", [(1e-12, 0.5), (0.5, 1 - 1e-12)])
def test_a_category_that_a_step_may_round_beyond_a_cut_is_a_number(cuts):
    """The class is lost between two cuts: neither 0 nor 1 is there, but for what rounds."""
    tree = (0, cuts[0], [1.0, 0.0], (0, cuts[1], [0.0, 1.0], [1.0, 0.0]))
    region = EnsembleRegion.of(ensemble_of([tree], 2), 0)
    box, groups = (np.zeros(2), np.ones(2)), [np.arange(2)]
    assert lies_inside(region, *box, groups=groups)
    assert not lies_inside(region, *box, share=1e-9, groups=groups)
