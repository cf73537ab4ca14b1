"""Whole numbers, categories and rules of change under separable rows, all samples in lock step.

A case is a box. Multipliers of the rows show what its points cost at least, and the sum that shows
it falls apart into numbers and categories: each is asked for by itself. Where the sum is least the
row jumps from violated to satisfied; the part that makes it jump is split. The tree with the
multipliers of its leaves is the certificate (`pertinent.proofs.cases.separable_branch`).
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.running import is_over
from pertinent.proofs.cases.separable_branch import SeparableBranchProofs
from pertinent.solvers.problem import Solved, Task
from pertinent.solvers.search.cases import CaseSearch, Open, TreeBuilder
from pertinent.solvers.search.narrow import Boxes, narrow, whole_boxes
from pertinent.solvers.search.separable.ascent import Shown, ascend
from pertinent.solvers.search.separable.cuts import choose_cuts
from pertinent.solvers.search.separable.points import pulled_back
from pertinent.solvers.search.separable.sums import Cases, SeparableRows
from pertinent.solvers.tolerances import CASE_CLOSED, CASE_EXACT, EMPTY_REACH, WHOLE_CHOICE

#: Cases of one sample that are looked at in one round, and in all.
WIDTH, MOST_CASES = 4, 2000
#: Until a sample has this many cases its optimum is sought exactly; then within a gap.
EXACT_CASES = 40
#: Where nothing is known, points are looked for in balls of these radii, each larger than the last.
FIRST_RADIUS, LARGER, RADII = 0.125, 4.0, 8


def is_separable_choice(task: Task) -> bool:
    """Return whether rows are sums over numbers and groups, and nothing else is asked for."""
    domain, cell = task.domain, task.cell
    if domain is None or domain.bins or domain.together or cell.has_other_rows:
        return False
    part = np.arange(domain.dim)
    for group in domain.groups:
        part[group] = group[0]
    apart = part[:, None] != part
    coupled = any((row.A[apart] != 0).any() for row in cell.quadratics)
    return not coupled and bool((task.weights > 0).all())


def solve_separable_choice(task: Task) -> tuple[Solved, BoolArray]:
    """Return the best allowed point of every row with a tree as its proof, and what is open."""
    assert task.domain is not None
    search = _Search(task, task.domain)
    search.look_around()
    search.run(task.lower, task.upper)
    tree, stored, _ = search.tree.finish()
    proofs = SeparableBranchProofs(search.roots, tree, stored[:, :-1], stored[:, -1])
    every = np.arange(len(task))
    open_ = search.left < search.limit(every)
    bound = np.where(np.isfinite(search.best), np.minimum(search.least, search.best), search.least)
    return Solved(search.points, search.outcome(), proofs, bound), open_


class _Search(CaseSearch):
    """The search of all samples."""

    def __init__(self, task: Task, domain: Domain) -> None:
        super().__init__(task, WIDTH, MOST_CASES)
        self.rows = SeparableRows.of(task, domain)
        #: Beside the multipliers, the reach of each leaf is stored.
        self.tree = TreeBuilder(self.rows.value.shape[1] + 1)
        self.roots = self.tree.add(len(task))

    def gap(self, row: IntArray) -> FloatArray:
        """Return how close to the best, relatively, a case is of no interest."""
        return np.where(self.looked_at[row] < EXACT_CASES, CASE_EXACT, CASE_CLOSED)

    def look_around(self) -> None:
        """Look for a first point of each sample, in larger and larger balls."""
        task = self.task
        boxes, empty = narrow(self.domain, whole_boxes(self.domain, task.lower, task.upper))
        here = task.cell.contains(task.start()) & ~self.domain.violation(task.start()) & ~empty
        self.offer(np.flatnonzero(here), task.start()[here])
        boxes = boxes.take(~empty)
        for k in range(RADII):
            boxes = boxes.take(np.isinf(self.best[boxes.row]))
            if not len(boxes) or (k and is_over()):
                return
            radius = np.full(len(boxes), FIRST_RADIUS * LARGER**k) + self.rows.base[boxes.row]
            cases = self.rows.of_cases(boxes, radius)
            shown = ascend(cases, radius)
            for steps in (shown.after, shown.before):
                self._offer(cases, steps, shown)

    def _offer(self, cases: Cases, steps: FloatArray, shown: Shown) -> None:
        jump = np.abs(shown.after - shown.before).argmax(axis=1)
        points = pulled_back(cases, steps, jump, self.task.cell)
        found = ~np.isnan(points).any(axis=1)
        self.offer(cases.boxes.row[found], points[found])

    def _reach(self, boxes: Boxes) -> FloatArray:
        """Return up to which cost points are looked at: a little more than what a box can cost."""
        row, rows = boxes.row, self.rows
        best = np.minimum(self.best[row], self.task.cutoff[row])
        number = np.where(self.domain.in_group, 0.0, rows.weights)
        ends = [(end - rows.start[row]) * number for end in (boxes.lower, boxes.upper)]
        far = rows.base[row] + np.maximum(np.abs(ends[0]), np.abs(ends[1])).sum(axis=1)
        far += rows.choice[row].sum(axis=1)
        far = np.where(np.isfinite(far), far * (1.0 + WHOLE_CHOICE), self._endless(row))
        return np.asarray(np.minimum(best, far))

    def _endless(self, row: IntArray) -> FloatArray:
        return np.asarray(EMPTY_REACH * (1.0 + self.rows.base[row]))

    def advance(self, chosen: Open) -> Open:
        """Bound some cases, look for points in them, and return the cases they are split into."""
        boxes, row = chosen.boxes, chosen.row
        np.add.at(self.looked_at, row, 1)
        reach = self._reach(boxes)
        cases = self.rows.of_cases(boxes, reach)
        shown = ascend(cases, reach)
        bound = np.minimum(np.nan_to_num(shown.bound, nan=0.0, neginf=0.0), reach)
        nothing = np.isinf(np.minimum(self.best[row], self.task.cutoff[row]))
        bound[nothing & (shown.bound >= reach) & (reach < self._endless(row))] = np.inf
        better = bound >= chosen.bound
        chosen.bound[better] = bound[better]
        stored = np.hstack([shown.y, reach[:, None]])[better]
        chosen.proof[better] = self.tree.keep_proofs(stored, np.zeros(len(stored), dtype=bool))
        self.tree.proof[chosen.node] = chosen.proof
        for steps in (shown.after, shown.before):
            self._offer(cases, steps, shown)
        still = chosen.bound < self.limit(row)
        self.close(chosen.take(~still))
        return self.split(
            chosen.take(still), choose_cuts(cases.take(still), shown.take(still), self.task)
        )
