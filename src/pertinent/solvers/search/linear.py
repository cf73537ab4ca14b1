"""Whole numbers, categories and bins: branch and bound over the batched dual simplex.

All rows advance together: each round takes every row's most promising cases, solves their linear
relaxations in lock step, tries to round each solution to an allowed point, and splits what is
left. Cases whose bound cannot beat the row's best point become leaves. The tree with the
multipliers of its leaves is the certificate (`pertinent.proofs.cases.branch`).

A relaxation lets each category of a group take part of the 1, ``sum_k z_k = 1``, and a binned
number lie between the mixed ends of its bins, ``sum_k low_k z_k <= x <= sum_k high_k z_k``. A
number that the model cuts off at two edges has three bins, and what is cut off is a column too.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from pertinent.proofs import LinearProofs, SeveralProofs
from pertinent.proofs.cases.branch import BranchProofs
from pertinent.solvers.linear.polyhedron import solve_polyhedron
from pertinent.solvers.problem import SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.search.cases import CaseSearch, Open
from pertinent.solvers.search.duality import case_bounds
from pertinent.solvers.search.knapsack.solve import is_knapsack, solve_knapsack
from pertinent.solvers.search.narrow import Boxes, narrow
from pertinent.solvers.search.split import choose_splits, rounded_boxes, split_on_edges
from pertinent.solvers.tolerances import CASE_CLOSED, CASE_EXACT, NO_COEFFICIENT, ROUNDED

#: Cases of one row that are solved in one round.
WIDTH = 4
#: Until a row has this many cases its optimum is sought exactly; then within a gap.
EXACT_NODES = 300
#: A binned number that other rows speak of too may have to go this much farther.
FARTHER = 2.0**10
#: Rows that need more cases than this are handed out as they are, with the bound so far.
MAX_NODES = 3000


def solve_mixed(task: Task) -> Solved:
    """Return the best allowed point of every row, with a tree of cases as proof."""
    if is_knapsack(task):
        return solve_knapsack(task)
    answer = _solve_within(task, 1.0)
    lost = np.flatnonzero(answer.outcome == TROUBLE)
    if task.domain is None or not task.domain.bins or not len(lost):
        return answer
    # A relation may ask a binned number to go farther than anything that is known of it.
    again, rest = _solve_within(task.take(lost), FARTHER), np.flatnonzero(answer.outcome != TROUBLE)
    answer.points[lost], answer.outcome[lost] = again.points, again.outcome
    parts = ((rest, answer.proofs.take(rest)), (lost, again.proofs))
    return Solved(answer.points, answer.outcome, SeveralProofs(len(task), parts))


def _solve_within(task: Task, times: float) -> Solved:
    """Search as far as is known to matter, times a factor."""
    if task.domain is None:
        raise ValueError("This task has no domain; its cell has methods of its own.")
    reach = far_ends(task, task.domain, times)
    ends, member = np.unique(reach, axis=0, return_inverse=True)
    if len(ends) <= 1:
        return _Search(task, ends[0] if len(ends) else np.zeros(0)).solved()
    # Rows of one reach are solved together, whatever other rows there are.
    points = np.empty(task.centers.shape)
    outcome, parts = np.empty(len(task), dtype=np.int8), []
    for k, far in enumerate(ends):
        rows = np.flatnonzero(member.reshape(-1) == k)
        answer = _Search(task.take(rows), far).solved()
        points[rows], outcome[rows] = answer.points, answer.outcome
        parts.append((rows, answer.proofs))
    return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)))


def far_ends(task: Task, domain: Domain, times: float = 1.0) -> FloatArray:
    """Return, for each row and binned number, how far down and up the number need go.

    Twice as many columns as bins: all lower ends, then all upper ones.
    """
    low, high = (np.empty((len(task), len(domain.bins))) for _ in range(2))
    for k, bins in enumerate(domain.bins):
        far = times * _known_reach(task, domain, bins)
        low[:, k], high[:, k] = -far, far
        if is_only_cut(task.cell, domain, bins):
            low[:, k], high[:, k] = useful_reach(task, domain, bins)
    return np.hstack([low, high])


def _known_reach(task: Task, domain: Domain, bins: Bins) -> FloatArray:
    """Return a power of two beyond all that is asked for."""
    j = bins.column
    known = np.full(len(task), np.abs(bins.edges).max())
    for values in (task.centers, task.lower, task.upper, domain.own):
        if values is not None:
            size = np.where(np.isfinite(values[:, j]), np.abs(values[:, j]), 0.0)
            known = np.maximum(known, size)
    return np.asarray(2.0 ** (1.0 + np.ceil(np.log2(1e-300 + known))))


def relaxed(cell: Cell, domain: Domain, ends: FloatArray) -> Cell:
    """Return the cell with the rows that tie groups and bins together."""
    rows, sides = [], []
    for group in domain.groups:
        one = np.zeros(domain.dim)
        one[group] = 1.0
        rows += [one, -one]  # sum_k z_k <= 1 and >= 1
        sides += [1.0, -1.0]
    for bins, first, last in zip(domain.bins, *np.split(ends, 2), strict=True):
        # The outer bins are endless; where nothing is asked for is end enough.
        low, high = bins.low.copy(), bins.high.copy()
        low[0], high[-1] = min(first, high[0]), max(last, low[-1])
        if bins.excess is None:
            ties = _ties(domain, bins, low, high)
        else:
            ties = _ties_of_excess(domain, bins, low, high)
        rows += list(ties)
        # A number on an edge must not fail by a rounding error; bounds keep it in its bin.
        sides += [ROUNDED * np.abs(np.concatenate([low, high])).max()] * len(ties)
    G = np.vstack([cell.G, np.array(rows).reshape(len(rows), domain.dim)])
    return Cell(G, np.concatenate([cell.h, sides]), (), cell.lower, cell.upper)


def _ties(domain: Domain, bins: Bins, low: FloatArray, high: FloatArray) -> FloatArray:
    """``sum_k low_k z_k <= x <= sum_k high_k z_k``."""
    row = np.zeros((2, domain.dim))
    row[0, bins.columns], row[0, bins.column] = low, -1.0
    row[1, bins.columns], row[1, bins.column] = -high, 1.0
    return row


def _ties_of_excess(domain: Domain, bins: Bins, low: FloatArray, high: FloatArray) -> FloatArray:
    """Both parts of a number that is cut off, what is left and the excess e, lie in their bin.

    ``sum_k left(low_k) z_k <= x - e <= sum_k left(high_k) z_k``, and
    ``sum_k beyond(low_k) z_k <= e <= sum_k beyond(high_k) z_k``: their sum ties x itself.
    """
    left = _ties(domain, bins, low - bins.beyond(low), high - bins.beyond(high))
    left[:, bins.excess] = [1.0, -1.0]
    cut = _ties(domain, bins, bins.beyond(low), bins.beyond(high))
    cut[:, bins.excess], cut[:, bins.column] = cut[:, bins.column], 0.0
    return np.vstack([left, cut])


class _Search(CaseSearch):
    """The search over linear relaxations.

    Parameters
    ----------
    task : Task
    ends : ndarray of shape (2 * n_bins,)
        How far down, then how far up, each binned number may go.
    """

    def __init__(self, task: Task, ends: FloatArray) -> None:
        super().__init__(task, WIDTH, MAX_NODES)
        self.cell = relaxed(task.cell, self.domain, ends)
        # Bins cost nothing, and the simplex needs costs: little, in units of a bin's width.
        self.weights = task.weights.copy()
        for bins in self.domain.bins:
            width = float(np.ptp(bins.edges)) / len(bins.edges) or 1.0
            self.weights[bins.columns] = 1e-3 * width * task.weights[bins.column]
            if bins.excess is not None:
                self.weights[bins.excess] = 1e-3 * task.weights[bins.column]

    def solved(self) -> Solved:
        """Return points, outcomes and proofs."""
        self.run(*within_reach(self.task, self.domain))
        proofs = BranchProofs(self.roots, *self.tree.finish())
        return Solved(self.points, self.outcome(), proofs)

    def gap(self, row: IntArray) -> FloatArray:
        """Return how close to the best, relatively, a case is of no interest."""
        return np.where(self.looked_at[row] < EXACT_NODES, CASE_EXACT, CASE_CLOSED)

    def _relax(self, boxes: Boxes) -> tuple[FloatArray, CodeArray, FloatArray, BoolArray]:
        """Return the relaxations' points and outcomes, with multipliers of the cell's own rows."""
        t, endless = self.task, np.full(len(boxes), np.inf)
        limits = boxes.lower, boxes.upper, endless
        answer = solve_polyhedron(
            Task(self.cell, t.centers[boxes.row], self.weights, *limits, t.options)
        )
        proofs = answer.proofs
        assert isinstance(proofs, LinearProofs)
        own = proofs.multipliers[:, : len(t.cell.G)]
        return answer.points, answer.outcome, own, proofs.ray

    def advance(self, chosen: Open) -> Open:
        """Solve the relaxations of some cases, and return the cases they are split into."""
        boxes, row, t = chosen.boxes, chosen.row, self.task
        np.add.at(self.looked_at, row, 1)
        points, outcome, y, ray = self._relax(boxes)
        proved = case_bounds(y, ray, t.cell, self.domain, t.centers[row], t.weights, boxes)
        # A child's own multipliers may prove less than its parent's, where a solver had trouble.
        better = proved >= chosen.bound
        chosen.bound[better] = proved[better]
        chosen.proof[better] = self.tree.keep_proofs(y[better], ray[better])
        self.tree.proof[chosen.node] = chosen.proof
        solved = np.flatnonzero((outcome == SOLVED) & (chosen.bound < self.limit(row)))
        self._try_rounding(boxes.take(solved), points[solved])
        still = (outcome == SOLVED) & (chosen.bound < self.limit(row))
        self.close(chosen.take(~still))
        self.leave(chosen.take(outcome == TROUBLE))
        some = chosen.take(still)
        splits = choose_splits(self.domain, some.boxes, points[still], t)
        split_on_edges(self.domain, some.boxes, points[still], splits)
        return self.split(some, splits)

    def _try_rounding(self, boxes: Boxes, points: FloatArray) -> None:
        """Fix what must be discrete near the relaxed points, and solve for the rest."""
        tight, empty = narrow(self.domain, rounded_boxes(self.domain, boxes, points, self.task))
        tight = tight.take(~empty)
        if not len(tight):
            return
        found, good = self._points_in(tight)
        row, found = tight.row[good], self.domain.completed(found)[good]
        allowed = ~self.domain.take(row).violation(found)
        allowed &= self.task.cell.violation(found) <= self._slack(found)
        self.offer(row[allowed], found[allowed])

    def _points_in(self, boxes: Boxes) -> tuple[FloatArray, BoolArray]:
        """Return the relaxations' points, and which boxes have one.

        A box in which nothing is left to decide is its own point, if the rows hold there.
        """
        # A column that the model does not use may have no end; its box is open, and solved for.
        points = np.where(np.isfinite(boxes.lower), boxes.lower, 0.0)
        excess = self.task.cell.violation(points)
        open_ = (boxes.lower < boxes.upper).any(axis=1) | bool(self.domain.bins)
        open_ |= (excess > 0) & (excess <= self._slack(points))  # the simplex says what holds
        good = ~open_ & (excess <= 0)
        if np.count_nonzero(open_):
            points[open_], outcome, _, _ = self._relax(boxes.take(open_))
            good[open_] = outcome == SOLVED
        return points, good

    def _slack(self, points: FloatArray) -> FloatArray:
        """Return the violation that rounding errors explain."""
        G, h = self.task.cell.G, self.task.cell.h
        size = (np.abs(points) @ np.abs(G).T).max(axis=1, initial=0.0) + np.abs(h).max(initial=0.0)
        return np.asarray(ROUNDED * (1.0 + size))


def is_only_cut(cell: Cell, domain: Domain, bins: Bins) -> bool:
    """Return whether nothing but the part of a number between the edges matters.

    A row ``g_x x + g_e e`` with the excess ``e`` reads ``g_x (x - e)`` where ``g_e = -g_x``.
    """
    if bins.excess is None:
        return False
    rest = np.abs(cell.G[:, bins.column] + cell.G[:, bins.excess])
    if (rest > NO_COEFFICIENT * np.abs(cell.G).max(axis=1, initial=0.0)).any():
        return False
    if any(other is not bins and other.column == bins.column for other in domain.bins):
        return False
    return not any(domain.owner[bins.column] in group for group in domain.together)


def useful_reach(task: Task, domain: Domain, bins: Bins) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value that an answer can need."""
    j = bins.column
    near = np.clip(task.centers[:, j], task.lower[:, j], task.upper[:, j])
    first, last = (np.full(len(task), edge) for edge in bins.edges[[0, -1]])
    if j in domain.confined:  # an edge between two allowed values: the outer one
        first, last = domain.floor(j, first), domain.ceil(j, last)
    return np.minimum(near, first), np.maximum(near, last)


def within_reach(task: Task, domain: Domain) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of the search: what lies farther out than it need be is left out."""
    cut = [bins for bins in domain.bins if is_only_cut(task.cell, domain, bins)]
    if not cut:
        return task.lower, task.upper
    lower, upper = task.lower.copy(), task.upper.copy()
    for bins in cut:
        j, (first, last) = bins.column, useful_reach(task, domain, bins)
        # Where the bounds begin beyond, they stay as they are: coming back is not allowed.
        lower[:, j], upper[:, j] = np.maximum(lower[:, j], first), np.minimum(upper[:, j], last)
        # Strictly inside, so that a value on an edge keeps the bin it is in.
        below, above = bins.columns[[0, -1]]
        near = np.clip(task.centers[:, j], task.lower[:, j], task.upper[:, j])
        upper[(first >= bins.edges[0]) & (near > bins.edges[0]), below] = 0.0
        upper[(last <= bins.edges[-1]) & (near < bins.edges[-1]), above] = 0.0
    return lower, upper
