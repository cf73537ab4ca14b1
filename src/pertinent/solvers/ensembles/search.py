"""The box search in NumPy, for where numba is not installed: the same search as the kernel's.

A box holds an interval of choices of each column (see `Choices`). Its *nearest point* takes the
choice next to the center in every column; no point of the box is cheaper. Of every tree those
leaves are kept that a point below the budget may lie in:

R1  a leaf that misses the box goes;
R2  so does one whose nearest point in the box costs the budget, or changes too many features;
R3  with ``slack = sum_t (largest lead of tree t) - needed``: the box is closed where it is below 0,
    and a leaf goes whose lead is smaller than its tree's largest by more than the slack;
R4  the box shrinks to what the leaves of each tree span;
R5  of each group of categories exactly one column is 1;
R6  where as many features change as may, all others keep their choice.

The shared-cost bound: every step from one choice to the next is paid by the trees that have a leaf
beyond it, in proportion to weights. At any price ``p >= 0`` of cost, no point within ``room`` of
the nearest one has a lead above ``sum_t max over leaves (lead - p share) + p room``. The best price
is sought once; then weights move to the directions that the winners need, several times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.solvers.ensembles.problem import Branchings, RowProblem
from pertinent.solvers.tolerances import CLOSER, LEAST_GAIN

#: As in the kernel: rounds of rules, of weighing anew, of prices.
ROUNDS, WEIGHINGS, PRICES = 20, 9, 12
#: Weights of directions are multiplied by this, and by this beside where a winner needs them.
LESS, MORE = 0.6, 2.0


@dataclass(eq=False)
class _Box:
    """A box with its leaves, in the order of their trees, and their conditions.

    ``spot`` are conditions sorted by tree, column and leaf, ``at`` the place of their leaf in
    ``leaf``.
    """

    low: IntArray
    high: IntArray
    leaf: IntArray
    spot: IntArray
    at: IntArray
    price: float
    near: float = 0.0

    def without(self, dropped: BoolArray) -> _Box:
        if not dropped.any():
            return self
        kept = ~dropped
        number, mine = np.cumsum(kept) - 1, kept[self.at]
        return replace(self, leaf=self.leaf[kept], spot=self.spot[mine], at=number[self.at[mine]])

    def half(self, column: int, cut: int, side: int) -> _Box:
        low, high = self.low.copy(), self.high.copy()
        if side:
            low[column] = max(low[column], cut + 1)
        else:
            high[column] = min(high[column], cut)
        return replace(self, low=low, high=high)


class NumpySearch:
    """All boxes below a budget, looked at step by step."""

    #: The bound of the whole box without a budget: not known here.
    least = 0.0

    def __init__(self, problem: RowProblem) -> None:
        self.problem, leads = problem, problem.leads
        leaves, choices = leads.region.ensemble.leaves, problem.choices
        self.tree, self.lead = leaves.tree[problem.leaf], leads.lead[problem.leaf]
        self.n_trees, self.dim = len(leads.region.ensemble.trees), leads.region.dim
        owner = np.repeat(np.arange(len(problem.leaf)), np.diff(problem.start))
        order = np.lexsort((owner, problem.column, self.tree[owner]))
        self.owner, self.column = owner[order], problem.column[order]
        self.first, self.last = problem.first[order], problem.last[order]
        self.cost, self.offset, self.center = choices.cost, choices.offset[:-1], choices.center
        self.span = float(np.ptp(self.lead, axis=0).max(initial=0.0)) * self.n_trees or 1.0
        n_units = len(np.unique(problem.unit))
        self.counts = problem.most_changes < n_units
        self.lone = n_units == len(problem.unit)  # no two columns change as one
        self.boxes = 0

    def begin(self, budget: float) -> None:
        """Begin with the whole box, looking for points that cost less than the budget."""
        choices = self.problem.choices
        price = 0.1 * self.span / budget if 0 < budget < np.inf else 1.0
        every = np.arange(len(self.tree)), np.arange(len(self.owner)), self.owner
        self.waiting: list[_Box | None] = [_Box(choices.first, choices.last, *every, price)]
        self.budget, self.found = budget, None
        self.rows: list[tuple[int, int, float, int]] = []

    found: tuple[float, IntArray] | None = None

    def run(self, boxes: int) -> bool:
        """Look at so many boxes; return whether all are closed."""
        end = self.boxes + boxes
        while self.waiting:
            if self.boxes >= end:
                return False
            box = self.waiting.pop()
            if box is None or box.near >= self.budget:
                self.rows.append((-1, 0, 0.0, 0))
                continue
            self.boxes += 1
            self._look_at(box)
        return True

    def closer(self, chosen: IntArray | None) -> tuple[float, IntArray] | None:
        """Return no point: moves of single columns are seen by the compiled search alone."""
        return None

    def branchings(self) -> Branchings:
        """Return the cases of a search that is done."""
        column, cut, price, rival = zip(*self.rows, strict=True)
        small = np.int32
        return Branchings(
            np.array(column, small), np.array(cut, small), np.array(price, np.float32),
            np.array(rival, small),
        )  # fmt: skip

    def _look_at(self, box: _Box) -> None:
        """Close a box, note its nearest point, or halve it: the side farther away comes first."""
        rival = 0
        left = self._narrowed(box)
        if left is None:
            self.rows.append((-1, 0, 0.0, 0))
            return
        box = left
        for _ in range(3):
            rival = self._tightest(box)
            if self._is_answer(box):
                self._note(box, rival)
                return
            if (len(box.leaf) == self.n_trees and self._all_inside(box)) or self.budget == np.inf:
                break
            kept = self._shared(box, rival)
            left = None if kept is None else self._narrowed(kept)
            if left is None:
                self.rows.append((-1, 0, box.price, rival))
                return
            few = len(left.leaf) > 0.9 * len(box.leaf)
            box = replace(left, price=kept.price if kept is not None else box.price)
            if few:
                break
        if self._is_answer(box):
            self._note(box, rival)
            return
        column, cut = self._branch(box, rival)
        if column < 0:
            self.rows.append((-1, 0, box.price, rival))
            return
        p = min(max(int(self.center[column]), int(box.low[column])), int(box.high[column]))
        away = 1 if p <= cut else 0
        self.rows.append((column, 2 * cut + away, box.price, rival))
        self.waiting.append(box.half(column, cut, 1 - away))
        self.waiting.append(box.half(column, cut, away))

    def _note(self, box: _Box, rival: int) -> None:
        self.found = box.near, self._nearest(box)
        self.budget = box.near * (1.0 - CLOSER)
        self.rows.append((-1, 0, box.price, rival))

    def _nearest(self, box: _Box) -> IntArray:
        return np.minimum(np.maximum(self.center, box.low), box.high)

    def _narrowed(self, box: _Box) -> _Box | None:
        """Apply R1-R6 until nothing changes; None where nothing is left."""
        box = replace(box, low=box.low.copy(), high=box.high.copy())
        for turn in range(ROUNDS):
            more = self._choose(box)
            if more < 0:
                return None
            p = self._nearest(box)
            here = self.cost[self.offset + p]
            box.near = float(here.sum())
            if box.near >= self.budget:
                return None
            before = len(box.leaf)
            left = self._enough(self._reachable(box, p, here, more))
            if left is None or len(self._runs(left)) < self.n_trees:
                return None
            box = left
            moved = self._hull(box)
            if (box.low > box.high).any():
                return None
            if not moved and (len(box.leaf) == before or turn >= 1):
                break
        box.near = float(self.cost[self.offset + self._nearest(box)].sum())
        return box

    def _choose(self, box: _Box) -> int:
        """R5 and R6, in place; return how many more features may change, -1 if none is allowed."""
        for group in self.problem.groups:
            can, must = box.high[group] == 1, box.low[group] == 1
            if must.sum() > 1 or not can.any():
                return -1
            if must.any():
                box.high[group[~must]] = 0
            elif can.sum() == 1:
                box.low[group[can]] = 1
        if not self.counts:
            return self.dim
        changed = (self.center < box.low) | (self.center > box.high)
        units = np.unique(self.problem.unit[changed])
        if len(units) == self.problem.most_changes:
            stay = ~np.isin(self.problem.unit, units)
            box.low[stay] = box.high[stay] = self.center[stay]
        return self.problem.most_changes - len(units)

    def _reachable(self, box: _Box, p: IntArray, here: FloatArray, more: int) -> _Box:
        """R1 and R2."""
        column = self.column[box.spot]
        a = np.maximum(self.first[box.spot], box.low[column])
        b = np.minimum(self.last[box.spot], box.high[column])
        center = self.center[column]
        dropped = np.zeros(len(box.leaf), dtype=bool)
        dropped[box.at[a > b]] = True
        out = np.flatnonzero(((center < a) | (center > b)) & (a <= b))
        place = np.minimum(np.maximum(center[out], a[out]), b[out])
        extra = self.cost[self.offset[column[out]] + place] - here[column[out]]
        dropped |= box.near + np.bincount(box.at[out], extra, len(box.leaf)) >= self.budget
        if self.counts and self.lone:
            new = out[p[column[out]] == center[out]]
            dropped |= np.bincount(box.at[new], minlength=len(box.leaf)) > more
        return box.without(dropped)

    def _runs(self, box: _Box) -> IntArray:
        return np.flatnonzero(np.diff(self.tree[box.leaf], prepend=-1))

    def _enough(self, box: _Box) -> _Box | None:
        """R3; None where some tree has no leaf, or leads are not enough."""
        if not len(box.leaf):
            return None
        run = self._runs(box)
        if len(run) < self.n_trees:
            return None
        leads, lead = self.problem.leads, self.lead[box.leaf]
        most = np.maximum.reduceat(lead, run, axis=0)
        slack = most.sum(axis=0) - leads.needed + leads.error
        if (slack < 0).any():
            return None
        return box.without((lead < (most - slack)[self.tree[box.leaf]]).any(axis=1))

    def _hull(self, box: _Box) -> bool:
        """R4, in place; return whether the box has moved."""
        if not len(box.spot):
            return False
        tree, column = self.tree[box.leaf[box.at]], self.column[box.spot]
        key = tree * self.dim + column
        new = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        count = np.diff(np.append(new, len(key)))
        sizes = np.bincount(self.tree[box.leaf], minlength=self.n_trees)
        every = count == sizes[tree[new]]
        low = np.minimum.reduceat(self.first[box.spot], new)[every]
        high = np.maximum.reduceat(self.last[box.spot], new)[every]
        column = column[new[every]]
        before = box.low.copy(), box.high.copy()
        np.maximum.at(box.low, column, low)
        np.minimum.at(box.high, column, high)
        return bool((box.low != before[0]).any() or (box.high != before[1]).any())

    def _needs(self, box: _Box) -> tuple[IntArray, IntArray]:
        """Return the conditions that the nearest point does not meet, up (1) or down (0)."""
        p = self._nearest(box)[self.column[box.spot]]
        up, down = p < self.first[box.spot], p > self.last[box.spot]
        some = np.flatnonzero(up | down)
        return some, up[some].astype(np.int64)

    def _all_inside(self, box: _Box) -> bool:
        return not len(self._needs(box)[0])

    def _inside(self, box: _Box) -> BoolArray:
        inside = np.ones(len(box.leaf), dtype=bool)
        inside[box.at[self._needs(box)[0]]] = False
        return inside

    def _tightest(self, box: _Box) -> int:
        """Return the rival against which the nearest point lacks most."""
        total = self.lead[box.leaf[self._inside(box)]].sum(axis=0) - self.problem.leads.needed
        return int(total.argmin())

    def _is_answer(self, box: _Box) -> bool:
        """Return whether the nearest point is chosen in full, and the label wins there."""
        p = self._nearest(box)
        if any(p[group].sum() != 1 for group in self.problem.groups):
            return False
        inside, leads = self._inside(box), self.problem.leads
        if inside.sum() < self.n_trees:
            return False
        total = self.lead[box.leaf[inside]].sum(axis=0) - leads.needed
        if (total < -leads.error).any():
            return False
        if (total > leads.error).all():
            return True
        region, leaf = leads.region, self.problem.leaf[box.leaf[inside]]
        tally = region.ensemble.tally
        totals = tally.totals(region.ensemble.leaves.value[leaf][None])
        return all(tally.beats(totals, region.label, rival)[0] for rival in region.rivals)

    def _shared(self, box: _Box, rival: int) -> _Box | None:
        """Use the shared-cost bound: None where it closes the box, else what it leaves."""
        leads = self.problem.leads
        lead, run, tree = self.lead[box.leaf, rival], self._runs(box), self.tree[box.leaf]
        room, short = self.budget - box.near, leads.error - float(leads.needed[rival])
        ways = _Ways(self, box, lead, run)
        share = ways.shares()

        def at(price: float) -> tuple[float, FloatArray, FloatArray]:
            value = lead - price * share
            most = np.maximum.reduceat(value, run)
            return float(most.sum() + price * room + short), value, most[tree]

        price, below, above, best, x = box.price, 0.0, -1.0, np.inf, box.price
        for _ in range(PRICES):
            total, value, most = at(x)
            if total < best:
                best, price = total, x
                if total < 0:
                    return None
            winners = np.maximum.reduceat(np.where(value == most, share, -1.0), run)
            above, below = (x, below) if room - winners.sum() > 0 else (above, x)
            if above < 0:
                x *= 2.5
            elif below == 0:
                x /= 2.5
            elif above - below < 0.05 * above:
                break
            else:
                x = 0.5 * (below + above)
        dropped = np.zeros(len(lead), dtype=bool)
        for turn in range(WEIGHINGS + 1):
            if turn:
                share = ways.shares()
            total, value, most = at(price)
            if total < 0:
                box.price = price
                return None
            dropped |= value < most - total
            if turn < WEIGHINGS:
                ways.move(value == most)
        return replace(box.without(dropped), price=price)

    def _branch(self, box: _Box, rival: int) -> tuple[int, int]:
        """Return the column, and the last choice of its lower side, on which most depends."""
        p = self._nearest(box)
        for group in self.problem.groups:
            if p[group].sum() == 0:
                return int(group[box.high[group] == 1][-1]), 0
        lead, run, tree = self.lead[box.leaf, rival], self._runs(box), self.tree[box.leaf]
        inside = self._inside(box)
        most, least = np.maximum.reduceat(lead, run), np.minimum.reduceat(lead, run)
        here = least - 1e-3
        here[tree[inside]] = lead[inside]
        top = np.zeros(len(lead), dtype=bool)
        place = np.flatnonzero(lead == most[tree])
        top[place[np.unique(tree[place], return_index=True)[1]]] = True
        some, up = self._needs(box)
        count = np.bincount(box.at[some], minlength=len(lead))
        some_top = top[box.at[some]] & ((most - here)[tree[box.at[some]]] > 0)
        some, up = some[some_top], up[some_top]
        if not len(some):
            return self._any_cut(box)
        column = self.column[box.spot[some]]
        goal = np.where(up == 1, self.first[box.spot[some]], self.last[box.spot[some]])
        gain = (most - here)[tree[box.at[some]]] / count[box.at[some]]
        # A cut gets what lies beyond it, the more the farther it is.
        far = np.where(up == 1, -goal, goal)
        order = np.lexsort((far, up, column))
        column, up, goal, gain = column[order], up[order], goal[order], gain[order]
        way = 2 * column + up
        total = np.cumsum(gain)
        start = np.flatnonzero(np.concatenate([[True], way[1:] != way[:-1]]))
        total -= np.repeat((total - gain)[start], np.diff(np.append(start, len(way))))
        room = self.budget - box.near if self.budget < np.inf else 1.0
        away = self.cost[self.offset[column] + goal] - self.cost[self.offset[column] + p[column]]
        # Leaves with the same goal count together.
        last = np.concatenate([(way[1:] != way[:-1]) | (goal[1:] != goal[:-1]), [True]])
        score = np.where(last, total * (0.1 + away / room), -np.inf)
        best = int(score.argmax())
        return int(column[best]), int(goal[best] - 1 if up[best] else goal[best])

    def _any_cut(self, box: _Box) -> tuple[int, int]:
        """Return any cut inside the box that a leaf asks about; (-1, -1) if there is none."""
        column = self.column[box.spot]
        first, last = self.first[box.spot], self.last[box.spot]
        low, high = box.low[column], box.high[column]
        for place, cut in (
            ((first > low) & (first <= high), first - 1),
            (
                (last >= low) & (last < high),
                last,
            ),
        ):
            if place.any():
                i = int(place.argmax())
                return int(column[i]), int(cut[i])
        return -1, -1


class _Ways:
    """How trees share the cost of the directions that their leaves need."""

    def __init__(self, search: NumpySearch, box: _Box, lead: FloatArray, run: IntArray) -> None:
        some, up = search._needs(box)
        self.at, self.n, n_choices = box.at[some], len(lead), len(search.cost)
        column, tree = search.column[box.spot[some]], search.tree[box.leaf]
        goal = np.where(up == 1, search.first[box.spot[some]], search.last[box.spot[some]])
        p = search._nearest(box)
        self.spot = search.offset[column] + goal
        extra = search.cost[self.spot] - search.cost[search.offset + p][column]
        spent = np.bincount(self.at, extra, self.n)
        inside = np.ones(self.n, dtype=bool)
        inside[self.at] = False
        here = np.minimum.reduceat(lead, run)
        here[tree[inside]] = lead[inside]
        gain = np.maximum(lead - here[tree], LEAST_GAIN)[self.at]
        part = gain * extra / np.maximum(spent[self.at], np.finfo(float).tiny)
        key = (tree[self.at] * search.dim + column) * 2 + up
        _, first, self.way = np.unique(key, return_index=True, return_inverse=True)
        self.way = self.way.reshape(-1)
        self.weight = np.zeros(len(first))
        np.maximum.at(self.weight, self.way, part)
        signed = np.where(up == 1, goal, -goal)
        reach = np.full(len(first), np.iinfo(np.int64).min)
        np.maximum.at(reach, self.way, signed)
        self.end = search.offset[column[first]] + np.abs(reach)
        # Where each column begins and ends, and the nearest choice, for sums along it.
        width = np.diff(np.append(search.offset, n_choices))
        self.of = np.repeat(np.arange(search.dim), width)
        self.begin, self.close = search.offset[self.of], (search.offset + width - 1)[self.of]
        at_p, place = (search.offset + p)[self.of], np.arange(n_choices)
        self.above, self.below = place > at_p, place < at_p
        step = np.abs(np.diff(search.cost, prepend=search.cost[:1]))
        self.up = np.where(self.above, step, 0.0)
        self.down = np.where(self.below, np.append(step[1:], 0.0), 0.0)

    def shares(self) -> FloatArray:
        """Return what each leaf pays."""
        weight = np.bincount(self.end, self.weight, len(self.of))
        sums = np.cumsum(np.where(self.above, weight, 0.0))
        beyond = sums[self.close] - sums + weight
        each = np.where(self.above & (beyond > 0), self.up / np.where(beyond > 0, beyond, 1.0), 0.0)
        paid = np.cumsum(each)
        rate = paid - paid[self.begin] + each[self.begin]
        under = np.where(self.below, weight, 0.0)
        sums = np.cumsum(under)
        beyond = sums - sums[self.begin] + under[self.begin]
        each = np.where(
            self.below & (beyond > 0), self.down / np.where(beyond > 0, beyond, 1.0), 0.0
        )
        paid = np.cumsum(each)
        rate = np.where(self.below, paid[self.close] - paid + each, rate)
        share = np.bincount(self.at, self.weight[self.way] * rate[self.spot], self.n)
        return np.asarray(share, dtype=float)

    def move(self, wins: BoolArray) -> None:
        """Move weight to the ways that the winners need."""
        needed = np.zeros(len(self.weight), dtype=bool)
        needed[self.way[wins[self.at]]] = True
        self.weight *= np.where(needed, LESS * MORE, LESS)
