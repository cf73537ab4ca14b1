"""Proofs of the wrong shape, perhaps from a file: arrays too short, containers that hide a proof.

Every kind of proof is asked about rows of which it has too few, or too many, multipliers.
"""

import numpy as np
import pytest

from pertinent.exceptions import InputError
from pertinent.geometry.affine import Scores, row_products
from pertinent.geometry.cell import Cell
from pertinent.geometry.codec import decode, encode, nested
from pertinent.geometry.domain import Domain
from pertinent.geometry.task import Task
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import BranchProofs, HullProofs, LinearProofs, RivalProofs, StrictProofs
from pertinent.proofs.cases.branch import Tree
from pertinent.proofs.cases.near import Near
from pertinent.proofs.cases.separable import SeparableProofs
from pertinent.proofs.core import WHOLE, Block, Certificate
from pertinent.proofs.supports.fewest import FewestProofs, Goal
from pertinent.proofs.supports.fewest_mixed import Argument
from pertinent.proofs.tangent import CutProofs, TangentProofs

NO, ROOT = np.array([False]), np.zeros(1, dtype=np.int64)
LEAF = Tree(np.zeros(1, np.int8), ROOT, np.zeros(1), np.zeros(1), ROOT - 1, ROOT - 1, ROOT)

KINDS = {
    "linear": lambda y: LinearProofs(y, NO),
    "tangent": lambda y: TangentProofs((), y, NO),
    "blends": lambda y: HullProofs(np.full((1, 1, 1), 5.0), y, np.zeros((1, 1)), NO),
    "cases": lambda y: BranchProofs(ROOT, LEAF, y, NO),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y", [[1.0, 0.0], [1.0], [1.0, 0.0, 0.0]])
def test_one_multiplier_speaks_of_one_row(kind, y):
    """x >= 1 and x >= 0.9 cost 1: a single multiplier must not stand for both."""
    cell = Cell(np.array([[-1.0], [-1.0]]), np.array([-1.0, -0.9]))
    ends = np.full((1, 1), 9.0)
    asked = Task(cell, np.zeros((1, 1)), np.ones(1), -ends, ends, domain=Domain(np.full(1, np.nan)))
    proof = KINDS[kind](np.array([y]))
    assert proof.bounds(asked)[0] == pytest.approx(1.0 if len(y) == 2 else 0.0)
    near = Near(np.ones((1, 1)), np.array([1.01]), *np.array([[[0.5]], [[1.5]]]))
    assert proof.only_near(asked, near)[0] == (len(y) == 2 and kind in ("linear", "tangent"))


def test_products_of_rows_of_another_length_are_none():
    for points in (np.ones((1, 1)), np.ones((2, 1)), np.ones((1, 3))):
        with pytest.raises(ValueError, match="shapes|mismatch"):
            row_products(points, np.ones((1, 2)))


@pytest.mark.parametrize(("rivals", "proved"), [([0, 0], 1.0), ([0], 0.0)])
def test_one_rival_speaks_of_one_piece(rivals, proved):
    """Own items at 10 and 2, a rival at 0: the region begins at 1, the first item's piece at 5."""
    items, zero = np.array([10.0, 2.0]), Scores(np.zeros((1, 1)), np.zeros(1))
    region = WinnerRegion(Scores(2 * items[:, None], -(items**2)), zero)
    asked = Task.of(region, np.zeros((1, 1)), np.ones(1), -99.0, 99.0)
    proof = Certificate(1, (Block(WHOLE, ROOT, RivalProofs(np.array([rivals]))),))
    assert proof.bounds(asked)[0] == pytest.approx(proved)


#: Counted features, not distances: nobody may take its 7 for a cost.
COUNTED = StrictProofs(np.zeros(2), np.array([7.0]))


def boxed(proof):
    """Return an array of objects that holds a proof."""
    out = np.empty(1, dtype=object)
    out[0] = proof
    return out


HIDDEN = {"a tuple": (COUNTED,), "an array": boxed(COUNTED), "a mapping": {0: COUNTED},
          "keys of a mapping": {COUNTED: 0}}  # fmt: skip


@pytest.mark.parametrize("where", HIDDEN)
def test_a_proof_is_seen_wherever_it_is_hidden(where):
    proof = decode(encode(CutProofs((np.zeros((0, 2)),), HIDDEN[where])))
    assert any(isinstance(one, StrictProofs) for one in nested(proof))


@pytest.mark.parametrize("where", ["a tuple", "an array", "keys of a mapping"])
def test_a_set_is_not_excluded_by_what_is_hidden(where):
    """x + y >= 1 costs 1: that no mix of sample and baseline is there proves no cost of 2."""
    asked = Task.of(Cell(-np.ones((1, 2)), -np.ones(1)), np.zeros((1, 2)), np.ones(2), -9.0, 9.0)
    inner = CutProofs((np.zeros((0, 2)),), HIDDEN[where])
    about = Certificate(1, (Block(0, np.array([0]), inner),))
    excluded = ((np.array([True, True]), about),)
    argument = Argument(np.zeros((0, 1)), np.zeros(0, dtype=bool), excluded)
    proof = FewestProofs(np.array([2.0]), np.array([2.0]), (argument,), Goal.COST)
    assert proof.bounds(asked)[0] <= 1.0


# -- Trees of boxes that are none ----------------------------------------------------------------


def boxes(*feature):
    nodes = len(feature)
    return SeparableProofs(
        np.array([1.0]), np.array(feature), np.zeros(nodes), np.zeros((nodes, 1))
    )


@pytest.mark.parametrize("feature", [(-1, 0, -1), (0, -1), (0, -1, -1, -1), (-1, 0, -1, -1, 0)])
def test_boxes_without_an_end_are_refused(feature):
    """Node 1 would be a child of itself, and its root looked for in vain; or nodes are missing."""
    decode(encode(boxes(0, -1, -1)))
    with pytest.raises(InputError, match="is not a tree"):
        decode(encode(boxes(*feature)))
