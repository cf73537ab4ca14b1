"""Whole numbers, categories and rules of change under curved rows: branch and bound over boxes.

Each case is a box in which nothing is discrete, solved by the cell's own method. Where its point
is allowed, or can be rounded to one that is, it may be the best; a case whose bound cannot beat
the best is a leaf. What the method cannot prove of a box with few free columns is proved by
halving it. The tree with the proofs of its leaves is the certificate
(`pertinent.proofs.cases.curved`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell
from pertinent.proofs import Proofs
from pertinent.proofs.cases.branch import CHANGE, LEAF, SPLIT
from pertinent.proofs.cases.branch import Boxes as LeafBoxes
from pertinent.proofs.cases.curved import CurvedBranchProofs, Leaf
from pertinent.proofs.cases.halving import MOST_FEATURES, HalvingProofs
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Method, Solved, Task
from pertinent.solvers.search.narrow import UNDECIDED, Boxes, narrow, whole_boxes
from pertinent.solvers.search.split import choose_splits, rounded_boxes
from pertinent.solvers.search.tree import TreeBuilder

#: A case is of no interest if it is this close, relatively, to the best point.
CLOSE = 5e-5
#: Cases of one row; then the row is handed out as it is, with the bound so far.
MAX_NODES = 600
#: A box with so few free columns is halved before it is split.
FEW = 3

Continuous = Callable[[Cell], Method]


def solve_mixed_curved(task: Task, continuous: Continuous) -> tuple[Solved, BoolArray]:
    """Return the best allowed point of every row with a tree of cases as proof, and what is open.

    A row is open if the search ended before it was proved.

    Parameters
    ----------
    task : Task
        With a domain.
    continuous : callable
        The method of a cell, once nothing is discrete.
    """
    if task.domain is None:
        raise ValueError("This task has no domain; its cell has methods of its own.")
    builder = TreeBuilder(0)
    leaves: list[Proofs] = []
    rows = [
        _Row(task.take(np.array([i])), continuous, builder, leaves).run() for i in range(len(task))
    ]
    tree, _, _ = builder.finish()
    roots = np.array([row.root for row in rows], dtype=np.int64)
    proofs = CurvedBranchProofs(roots, tree, tuple(leaves))
    points = np.array([row.point for row in rows]).reshape(task.centers.shape)
    outcome = np.array([row.outcome for row in rows], dtype=np.int8)
    return Solved(points, outcome, proofs), np.array([row.is_open for row in rows], dtype=bool)


def leaf_of(task: Task, box: Boxes) -> Leaf:
    """Return what is left to solve in a box of a task of one row."""
    assert task.domain is not None
    mine = LeafBoxes(box.row, box.lower, box.upper, box.state)
    return Leaf.of(task.cell, task.domain, task.centers, task.weights, mine)


@dataclass(order=True)
class _Case:
    """A case that waits, the one of least bound first."""

    bound: float
    node: int
    proof: int = field(compare=False)
    box: Boxes = field(compare=False)


@dataclass(eq=False)
class _Row:
    """The search of one row."""

    task: Task
    continuous: Continuous
    tree: TreeBuilder
    leaves: list[Proofs]
    root: int = -1
    best: float = np.inf
    waiting: list[_Case] = field(default_factory=list)
    nodes: int = 0
    #: Least bound of the cases that were given up.
    left: float = np.inf

    def __post_init__(self) -> None:
        self.point: FloatArray = np.full(self.task.centers.shape[1], np.nan)
        # Solvers must prove what they say: no word of another solver counts in a leaf.
        self.options = replace(self.task.options, exact=False, unique=False)

    @property
    def domain(self) -> Domain:
        assert self.task.domain is not None
        return self.task.domain

    @property
    def limit(self) -> float:
        """The bound from which on a case is of no interest."""
        return min(self.best, float(self.task.cutoff[0])) * (1.0 - CLOSE)

    @property
    def is_open(self) -> bool:
        """Whether a case was given up that might hold a better point."""
        return self.left < self.limit

    @property
    def outcome(self) -> int:
        """What became of the row."""
        if np.isfinite(self.best):
            return SOLVED
        if np.isinf(self.left):
            return CUT if np.isfinite(self.task.cutoff[0]) else EMPTY
        return TROUBLE

    def run(self) -> _Row:
        """Search until no case is of interest, or there are too many."""
        self.root = int(self.tree.add(1)[0])
        box = whole_boxes(self.domain, self.task.lower, self.task.upper)
        self._enter(_Case(0.0, self.root, -1, box))
        while self.waiting:
            case = heappop(self.waiting)
            if case.bound >= self.limit:
                continue
            self.nodes += 1
            if self.nodes > MAX_NODES:
                self.left = min(self.left, case.bound)
                continue
            self._advance(case)
        return self

    def _enter(self, case: _Case) -> None:
        """Let a case wait; an empty one is a leaf that needs no proof."""
        self.tree.proof[case.node] = case.proof
        case.box, empty = narrow(self.domain, case.box)
        if not empty[0]:
            heappush(self.waiting, case)

    def _leaf(self, box: Boxes) -> Leaf:
        return leaf_of(self.task, box)

    def _solve(self, leaf: Leaf) -> Solved:
        task = Task(
            leaf.cell,
            leaf.center,
            leaf.weights,
            leaf.lower,
            leaf.upper,
            np.full(1, np.inf),
            self.options,
        )
        return self.continuous(leaf.cell).solve(task)

    def _advance(self, case: _Case) -> None:
        """Solve a case; split it unless its bound will do."""
        leaf = self._leaf(case.box)
        answer = self._solve(leaf)
        self._keep(case, leaf, answer.proofs)
        if case.bound >= self.limit:
            return
        found = answer.outcome[0] == SOLVED
        point = answer.points if found else np.clip(leaf.center, leaf.lower, leaf.upper)
        if found:
            self._try(case.box, leaf.completed(point))
        if case.bound >= self.limit or self._halved(case, leaf, FEW):
            return
        kind, place, low, high = self._split_at(case.box, point, found)
        if kind == LEAF:
            if not self._halved(case, leaf, MOST_FEATURES):
                self.left = min(self.left, case.bound)
            return
        self._split(case, kind, place, low, high)

    def _keep(self, case: _Case, leaf: Leaf, proofs: Proofs) -> bool:
        """Take proofs as those of a case, if they show more than is known of it."""
        bound = leaf.bound(proofs)
        if bound <= case.bound or not proofs.trusted().all():
            return False
        case.bound, case.proof = bound, len(self.leaves)
        self.leaves.append(proofs)
        self.tree.proof[case.node] = case.proof
        return True

    def _halved(self, case: _Case, leaf: Leaf, most: int) -> bool:
        """Return whether halving shows that a case with few free columns is of no interest."""
        free = int((leaf.upper > leaf.lower).sum())
        if free > min(most, MOST_FEATURES):
            return False
        claim = self.limit if np.isinf(self.limit) else self.limit + leaf.toll
        return self._keep(case, leaf, HalvingProofs(np.array([claim])))

    def _try(self, box: Boxes, point: FloatArray) -> None:
        """Take the point of a box, or one rounded from it, if it is allowed and the best."""
        if not self.domain.violation(point)[0]:
            self._offer(point[0])
            return
        rounded = rounded_boxes(self.domain, box, point, self.task.centers, self.task)
        fixed, empty = narrow(self.domain, rounded)
        if empty[0]:
            return
        leaf = self._leaf(fixed)
        answer = self._solve(leaf)
        point = leaf.completed(answer.points)
        if answer.outcome[0] == SOLVED and not self.domain.violation(point)[0]:
            self._offer(point[0])

    def _offer(self, point: FloatArray) -> None:
        cost = float((self.task.weights * np.abs(point - self.task.centers[0])).sum())
        if cost < self.best:
            self.best, self.point = cost, point

    def _split_at(
        self, box: Boxes, point: FloatArray, found: bool
    ) -> tuple[int, int, float, float]:
        """Return how to split a case: where its point breaks a rule, else anywhere."""
        if found:
            chosen = choose_splits(self.domain, box, point, self.task.centers, self.task)
            kind, place, low, high = (part[0] for part in chosen)
            # The relaxation does not know that a group has a 1: a part of 0 splits nothing.
            idle = kind == SPLIT and box.lower[0, place] == box.upper[0, place]
            if kind != LEAF and not idle:
                return int(kind), int(place), float(low), float(high)
        return self._any_split(box, point)

    def _any_split(self, box: Boxes, point: FloatArray) -> tuple[int, int, float, float]:
        """Return a split of what is not decided yet: a unit, a group, or a whole number."""
        domain, lower, upper = self.domain, box.lower[0], box.upper[0]
        wide = upper > lower
        if box.state.shape[1]:
            moved = np.abs(point[0] - self.task.centers[0]) * self.task.weights
            undecided = (box.state[0] == UNDECIDED)[domain.unit_of_column] & wide
            if undecided.any():
                column = int(np.where(undecided, moved, -1.0).argmax())
                return CHANGE, int(domain.unit_of_column[column]), 0.0, 0.0
        own_bins = [bins.columns[bins.of(point[0, bins.column])] for bins in domain.bins]
        for group in domain.groups:
            can = group[upper[group] >= 1.0]
            if len(can) > 1:
                near = point[0, can] + 2.0 * np.isin(can, own_bins)
                return SPLIT, int(can[near.argmax()]), 0.0, 1.0
        for j in domain.lattice:
            if wide[j] and np.isfinite(upper[j] - lower[j]):
                own = None if domain.own is None else domain.own[0, [j]]
                middle = np.array([(lower[j] + upper[j]) / 2])
                low = domain.floor(int(j), middle, own)
                high = domain.ceil(int(j), np.nextafter(low, np.inf), own)
                return SPLIT, int(j), float(low[0]), float(high[0])
        return LEAF, 0, 0.0, 0.0

    def _split(self, case: _Case, kind: int, place: int, low: float, high: float) -> None:
        boxes, nodes = self.tree.split(
            case.box,
            np.array([case.node]),
            np.array([kind], dtype=np.int8),
            np.array([place]),
            np.array([low]),
            np.array([high]),
        )
        for k, node in enumerate(nodes):
            self._enter(_Case(case.bound, int(node), case.proof, boxes.take(np.array([k]))))
