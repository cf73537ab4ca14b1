"""Whole numbers, categories and rules of change under curved rows: branch and bound over boxes.

Each case is a box in which nothing is discrete, solved by the cell's own method. Where its point
is allowed, or can be rounded to one that is, it may be the best; a case whose bound cannot beat
the best is a leaf. What the method cannot prove of a box with few free columns is proved by
halving it. The tree with the proofs of its leaves is the certificate
(`pertinent.proofs.cases.curved`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import Cell
from pertinent.geometry.running import is_over
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs
from pertinent.proofs.cases.branch import CHANGE, SPLIT
from pertinent.proofs.cases.curved import CurvedBranchProofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.halving import MOST_FREE, closes
from pertinent.solvers.problem import SOLVED, Method, Solved, Task
from pertinent.solvers.search.cases import CaseSearch, Open
from pertinent.solvers.search.leaf import Leaf
from pertinent.solvers.search.narrow import UNDECIDED, Boxes, narrow
from pertinent.solvers.search.split import Splits, choose_splits, rounded_boxes
from pertinent.solvers.tolerances import CASE_CLOSED

#: Cases of one row; then the row is handed out as it is, with the bound so far.
MAX_NODES = 600
#: A box with so few free columns is halved before it is split.
HALVED_COLUMNS = 3
#: Cases of one row that are solved at once, where many cost little more than one.
AT_ONCE = 16

Continuous = Callable[[Cell], Method]


def solve_mixed_curved(
    task: Task, continuous: Continuous, known: FloatArray | None = None, most: int | None = None
) -> tuple[Solved, BoolArray]:
    """Return the best allowed point of every row with a tree of cases as proof, and what is open.

    A row is open if the search ended before it was proved.

    Parameters
    ----------
    task : Task
        With a domain.
    continuous : callable
        The method of a cell, once nothing is discrete.
    known : ndarray of shape (n, n_columns), optional
        Allowed points of the cell: only what is nearer is of interest.
    most : int, optional
        Cases of one row that are looked at; `MAX_NODES` by default.
    """
    search = _Search(task, continuous, MAX_NODES if most is None else most)
    if known is not None:
        search.offer(np.arange(len(task)), known)
    search.run(task.lower, task.upper)
    tree, _, _ = search.tree.finish()
    proofs = CurvedBranchProofs(search.roots, tree, tuple(search.leaves))
    open_ = search.left < search.limit(np.arange(len(task)))
    return Solved(search.points, search.outcome(), proofs), open_


class _Search(CaseSearch):
    """The search over leaves, solved one by one or many at once, as the cell's method can."""

    def __init__(self, task: Task, continuous: Continuous, most: int) -> None:
        self.continuous = continuous
        self.together = continuous(task.cell).together
        super().__init__(task, 1 if self.together is None else AT_ONCE, most)
        self.leaves: list[Proofs] = []
        # Solvers must prove what they say: no word of another solver counts in a leaf.
        self.options = replace(task.options, exact=False, unique=False)

    def gap(self, row: IntArray) -> float:
        """Return how close to the best, relatively, a case is of no interest."""
        return CASE_CLOSED

    def advance(self, chosen: Open) -> Open:
        """Solve some cases, and return the cases they are split into: those worth it.

        What is solved first is solved, whatever the time; the others are given up when it is over.
        """
        self.looked_at += np.bincount(chosen.row, minlength=len(self.looked_at))
        splits, done = Splits.none(len(chosen)), list[bool]()
        # All at once or one by one: what is found of a row must not depend on its neighbours.
        step = 1 if self.together is None else len(chosen)
        while len(done) < len(chosen) and not (done and is_over()):
            done += self._are_done(chosen, np.arange(len(done), len(done) + step), splits)
        closed, solved = np.array(done, dtype=bool), np.arange(len(done))
        self.leave(chosen.take(np.arange(len(done), len(chosen))))
        chosen, splits = chosen.take(solved), splits.take(solved)
        self.close(chosen.take(closed))
        return self.split(chosen.take(~closed), splits.take(~closed))

    def _are_done(self, chosen: Open, some: IntArray, splits: Splits) -> list[bool]:
        """Solve some cases; return which bounds will do, or else choose how to split each."""
        leaves = [self._leaf(chosen.boxes, k, self._limit_of(chosen, k)) for k in some]
        solved = list(zip(some, leaves, self._solve(leaves), strict=True))
        for k, leaf, answer in solved:
            bound = leaf.bound(answer)
            if bound > chosen.bound[k]:
                self._keep(chosen, k, bound, answer.proofs)
        points = [
            (chosen.boxes.take(np.array([k])), leaf.completed(answer.points))
            for k, leaf, answer in solved
            if answer.outcome[0] == SOLVED and chosen.bound[k] < self._limit_of(chosen, k)
        ]
        self._try(points)
        return [self._is_done(chosen, k, leaf, answer, splits) for k, leaf, answer in solved]

    def _is_done(self, chosen: Open, k: int, leaf: Leaf, answer: Solved, splits: Splits) -> bool:
        """Return whether the bound of a solved case will do, or else choose how to split it."""
        if chosen.bound[k] >= self._limit_of(chosen, k):
            return True
        found = bool(answer.outcome[0] == SOLVED)
        point = answer.points if found else leaf.task.start()
        box = chosen.boxes.take(np.array([k]))
        undercut = found and self._undercuts(chosen, k, leaf, point)
        if not undercut and self._is_halved(chosen, k, leaf, HALVED_COLUMNS):
            return True
        self._choose_split(box, point, found, splits, k)
        whole = bool(splits.is_leaf[k]) and not undercut
        return whole and self._is_halved(chosen, k, leaf, MOST_FREE)

    def _undercuts(self, chosen: Open, k: int, leaf: Leaf, point: FloatArray) -> bool:
        """Return whether a point of a case is below the limit: halving would show nothing."""
        cost = distance(point, leaf.task.centers, leaf.task.weights)[0]
        return bool(cost < self._limit_of(chosen, k) + leaf.toll)

    def _leaf(self, boxes: Boxes, k: int, cutoff: float) -> Leaf:
        """Return the leaf of a case; what is solved with others is cut where it is of no interest.

        The cutoff is what a leaf may cost, its toll included.
        """
        leaf = Leaf.of(self.task, boxes, k, self.options)
        if self.together is not None:
            leaf.task.cutoff = np.array([cutoff + leaf.toll])
        return leaf

    def _solve(self, leaves: list[Leaf]) -> list[Solved]:
        """Return the answers to leaves, each by itself."""
        if self.together is None:
            return [self.continuous(leaf.task.cell).solve(leaf.task) for leaf in leaves]
        return self.together([leaf.task for leaf in leaves])

    def _limit_of(self, chosen: Open, k: int) -> float:
        return float(self.limit(chosen.row[[k]])[0])

    def _keep(self, chosen: Open, k: int, bound: float, proofs: Proofs) -> None:
        """Take proofs as those of a case."""
        chosen.bound[k], chosen.proof[k] = bound, len(self.leaves)
        self.leaves.append(proofs)
        self.tree.proof[chosen.node[k]] = chosen.proof[k]

    def _is_halved(self, chosen: Open, k: int, leaf: Leaf, most: int) -> bool:
        """Return whether halving shows that a case with few free columns is of no interest."""
        limit = self._limit_of(chosen, k)
        if chosen.bound[k] >= limit:
            return True
        claim = limit + leaf.toll
        if not closes(leaf.task, claim, most):
            return False
        self._keep(chosen, k, limit, HalvingProofs(np.array([claim])))
        return True

    def _try(self, near: list[tuple[Boxes, FloatArray]]) -> None:
        """Take the points of boxes, or those rounded from them, if allowed and the best."""
        good: list[tuple[int, FloatArray]] = []
        leaves: list[tuple[int, Leaf]] = []
        for box, point in near:
            i = int(box.row[0])
            if not self.domain.take(box.row).violation(point)[0]:
                good.append((i, point))
                continue
            rounded, empty = narrow(self.domain, rounded_boxes(self.domain, box, point, self.task))
            if not empty[0]:
                reach = min(float(self.best[i]), float(self.task.cutoff[i]))
                leaves.append((i, self._leaf(rounded, 0, reach)))
        answers = self._solve([leaf for _, leaf in leaves])
        for (i, leaf), answer in zip(leaves, answers, strict=True):
            point = leaf.completed(answer.points)
            own = self.domain.take(np.array([i]))
            if answer.outcome[0] == SOLVED and not own.violation(point)[0]:
                good.append((i, point))
        for i, point in good:
            self.offer(np.array([i]), point)

    def _choose_split(
        self, box: Boxes, point: FloatArray, found: bool, splits: Splits, k: int
    ) -> None:
        """Choose how to split a case: where its point breaks a rule, else anywhere."""
        at = np.array([k])
        if found:
            chosen = choose_splits(self.domain, box, point, self.task)
            place = chosen.place[0]
            # The relaxation does not know that a group has a 1: a part of 0 splits nothing.
            idle = chosen.kind[0] == SPLIT and box.lower[0, place] == box.upper[0, place]
            if not (chosen.is_leaf[0] or idle):
                splits.put(at, chosen)
                return
        self._split_anywhere(box, point, splits, at)

    def _split_anywhere(self, box: Boxes, point: FloatArray, splits: Splits, at: IntArray) -> None:
        """Split what is not decided yet: a unit, a group, or a whole number."""
        domain, lower, upper = self.domain, box.lower[0], box.upper[0]
        wide = upper > lower
        if box.state.shape[1]:
            moved = np.abs(point[0] - self.task.centers[box.row[0]]) * self.task.weights
            undecided = (box.state[0] == UNDECIDED)[domain.unit_of_column] & wide
            if undecided.any():
                column = int(np.where(undecided, moved, -1.0).argmax())
                splits.choose(at, CHANGE, int(domain.unit_of_column[column]))
                return
        own_bins = [bins.columns[bins.of(point[0, bins.column])] for bins in domain.bins]
        for group in domain.groups:
            can = group[upper[group] >= 1.0]
            if len(can) > 1:
                near = point[0, can] + 2.0 * np.isin(can, own_bins)
                splits.choose(at, SPLIT, int(can[near.argmax()]), 0.0, 1.0)
                return
        for j in domain.lattice:
            if wide[j] and np.isfinite(upper[j] - lower[j]):
                middle = np.array([(lower[j] + upper[j]) / 2])
                low = domain.floor(int(j), middle, box.row)
                high = domain.ceil(int(j), np.nextafter(low, np.inf), box.row)
                splits.choose(at, SPLIT, int(j), low, high)
                return
