"""Branch and bound over the cases of a knapsack, best first.

What the relaxation takes in part is rounded up for a point, or split for two cases; the tree of
cases is the proof, as in `pertinent.solvers.search.linear`. A sample has few numbers and few cases:
Python's own numbers are quicker here than arrays of a few entries.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf, isfinite

import numpy as np

from pertinent.geometry.running import is_over
from pertinent.proofs.cases.branch import BranchProofs
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.search.engine import Limits
from pertinent.solvers.search.knapsack.case import Case, Relaxed, Sample
from pertinent.solvers.search.knapsack.row import Allowed, Row
from pertinent.solvers.search.knapsack.tree import Growing
from pertinent.solvers.search.narrow import narrow, whole_boxes
from pertinent.solvers.tolerances import CASE_CLOSED, CASE_EXACT, ON_LATTICE, ROUNDED

#: Until a sample has this many cases its optimum is sought exactly; then within a gap.
EXACT_CASES = 300
#: Samples that need more cases than this are handed out as they are, with the bound so far.
MOST_CASES = 3000


def is_knapsack(task: Task) -> bool:
    """Return whether a task with a domain has one linear row, and no bins or counted changes."""
    domain = task.domain
    if domain is None or domain.bins or domain.counts_changes:
        return False
    return len(task.cell.G) == 1 and task.cell.is_linear


def solve_knapsack(task: Task) -> Solved:
    """Return the best allowed point of every sample, with a tree of cases as proof."""
    domain = task.domain
    if domain is None:
        raise ValueError("This task has no domain; its cell has methods of its own.")
    n, row, tree = len(task), Row.of(task, domain), Growing()
    boxes, empty = narrow(domain, whole_boxes(domain, task.lower, task.upper))
    lower, upper = boxes.lower.tolist(), boxes.upper.tolist()
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, EMPTY, dtype=np.int8)
    roots, limits = np.empty(n, dtype=np.int64), Limits.of(task.options, n)
    for i, center in enumerate(task.centers.tolist()):
        roots[i] = root = tree.leaf()
        if empty[i]:
            continue
        sample = Sample(row, center, Allowed.of(row, domain, i))
        search = _Search(sample, float(task.cutoff[i]), tree)
        outcome[i] = search.run(root, sample.whole(lower[i], upper[i]), limits)
        if search.point is not None:
            points[i] = search.point
    return Solved(points, outcome, BranchProofs(roots, *tree.finish()))


class _Search:
    """The search of one sample."""

    def __init__(self, sample: Sample, cutoff: float, tree: Growing) -> None:
        self.sample, self.cutoff, self.tree = sample, cutoff, tree
        self.best, self.looked_at = inf, 0
        self.point: list[float] | None = None
        #: The least bound of all leaves, and of those that were given up.
        self.least = self.left = inf
        #: By bound, then by age.
        self.waiting: list[tuple[float, int, Case, Relaxed]] = []

    def run(self, root: int, whole: Case, limits: Limits) -> int:
        """Search a case, and return the outcome."""
        self._enter(root, whole, 0.0)
        while self.waiting:
            bound, node, case, relaxed = heappop(self.waiting)
            over = self.looked_at >= MOST_CASES or is_over(limits.deadline)
            if over or bound >= self.limit():
                self._close(bound, given_up=over)
            else:
                self._split(bound, node, case, relaxed)
        if self.point is not None:
            return SOLVED
        if self.least == inf:
            return EMPTY
        return CUT if isfinite(self.cutoff) and self.left >= self.limit() else TROUBLE

    def limit(self) -> float:
        """Return the bound from which on a case is of no interest."""
        gap = CASE_EXACT if self.looked_at < EXACT_CASES else CASE_CLOSED
        return min(self.best, self.cutoff) * (1.0 - gap)

    def _close(self, bound: float, *, given_up: bool) -> None:
        """Note a leaf, which may hold something better where it is given up."""
        self.least = min(self.least, bound)
        if given_up:
            self.left = min(self.left, bound)

    def _enter(self, node: int, case: Case | None, known: float) -> None:
        """Bound a case, look for a point in it, and let it wait if it may hold a better one."""
        if case is None:
            return  # the checker sees that it is empty
        self.looked_at += 1
        relaxed = self.sample.relaxed(case)
        if relaxed.bound >= known:  # else what is known of the case that this is a part of
            self.tree.prove(node, relaxed.multiplier, relaxed.bound == inf)
            known = relaxed.bound
        if known >= self.limit():
            self._close(known, given_up=False)
            return
        self._offer(case, relaxed)
        heappush(self.waiting, (known, node, case, relaxed))

    def _split(self, bound: float, node: int, case: Case, relaxed: Relaxed) -> None:
        """Split a case where its relaxed point is not allowed; else it is a leaf."""
        where = self._place(case, relaxed)
        if where is None:
            self._close(bound, given_up=True)
            return
        column, low, high = where
        left, right = self.tree.split(node, column, low, high)
        self._enter(left, self.sample.below(case, column, low), bound)
        self._enter(right, self.sample.above(case, column, high), bound)

    def _place(self, case: Case, relaxed: Relaxed) -> tuple[int, float, float] | None:
        """Return the column to split a case at, and both sides of the split."""
        x, last = relaxed.point, relaxed.taken[-1:]
        if relaxed.divides:
            step = last[0]
            return step.column if x[step.column] >= 0.5 else step.given_up, 0.0, 1.0
        found, most, row = None, -1.0, self.sample.row
        for j in [*[step.column for step in last], *case.unsettled]:
            if row.is_confined[j]:
                low, high = self.sample.allowed.sides(j, x[j])
                off = min(x[j] - low, high - x[j]) * row.weights[j]
                if low < high and off > most:
                    found, most = (j, low, high), off
        return found

    def _offer(self, case: Case, relaxed: Relaxed) -> None:
        """Make an allowed point of a relaxed one, and take it where it is better than the best."""
        sample, row, x = self.sample, self.sample.row, relaxed.point.copy()
        last = relaxed.taken[-1].column if relaxed.taken else -1
        if relaxed.divides:
            x[last], x[relaxed.taken[-1].given_up] = 1.0, 0.0
        for j in {last, *case.unsettled} - {-1}:
            if row.is_confined[j]:
                low, high = sample.allowed.sides(j, x[j])
                nearest = low if x[j] - low <= high - x[j] else high
                near = j != last or abs(x[j] - nearest) <= ON_LATTICE * (1.0 + abs(x[j]))
                x[j] = nearest if near else low if row.slopes[j] > 0 else high
        room = -row.excess(x)
        for step in reversed(relaxed.taken):
            if room <= 0:
                break
            room -= (self._move_back if step.given_up < 0 else self._choose_again)(
                case, x, step.column, room
            )
        cost = row.cost(x, sample.center)
        if cost < self.best and row.excess(x) <= ROUNDED * (1.0 + row.size(x)):
            self.best, self.point = cost, x

    def _move_back(self, case: Case, x: list[float], j: int, room: float) -> float:
        """Move a number towards its start as far as there is room; return what that takes."""
        slope, here = self.sample.row.slopes[j], x[j]
        up, end = slope > 0, here + room / slope
        end = min(end, case.start[j]) if up else max(end, case.start[j])
        if self.sample.row.is_confined[j]:
            end = self.sample.allowed.beside(j, end, up=not up)
        if not (here < end if up else here > end):
            return 0.0
        x[j] = end
        return abs(slope * (end - here))

    def _choose_again(self, case: Case, x: list[float], j: int, room: float) -> float:
        """Choose the cheapest category of a group that there is room for; return what it takes."""
        slope, cost, group = (
            self.sample.row.slopes, self.sample.category_costs, self.sample.row.group_of[j]
        )  # fmt: skip
        now = next(k for k in group if x[k] == 1.0)
        can = [k for k in group if case.upper[k] >= 1 and slope[k] - slope[now] <= room]
        best = min(can, key=lambda k: (cost[k], slope[k], k))
        if cost[best] >= cost[now]:
            return 0.0
        x[now], x[best] = 0.0, 1.0
        return slope[best] - slope[now]
