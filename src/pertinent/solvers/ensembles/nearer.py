"""A point of the class moved towards the center, one or two columns at a time.

The first point that a search finds may cost many times the optimum. Of all choices of one column,
the others fixed, the class wins at those where the leaves that hold the point lead by enough: sums
over intervals, computed for all choices at once. A column goes back to the cheapest of them; then
one column goes back to its center, and another one makes up for it where that is cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.solvers.ensembles.problem import RowProblem

#: How often all columns are tried, alone and in pairs; how often a column is tried in all.
SWEEPS, SWAPS, TRIES = 4, 3, 600


@dataclass(eq=False)
class Nearer:
    """One row's problem, with its conditions sorted by column."""

    problem: RowProblem

    def __post_init__(self) -> None:
        problem, leads = self.problem, self.problem.leads
        owner = np.repeat(np.arange(len(problem.leaf)), np.diff(problem.start))
        order = np.argsort(problem.column, kind="stable")
        self.owner, self.column = owner[order], problem.column[order]
        self.first, self.last = problem.first[order], problem.last[order]
        dim = len(problem.choices.center)
        self.begin = np.searchsorted(self.column, np.arange(dim + 1))
        self.lead = leads.lead[problem.leaf]
        self.enough = leads.needed + leads.error
        self.left = 0
        self.fixed = np.zeros(dim, dtype=bool)  # columns of categories stay as they are
        for group in problem.groups:
            self.fixed[group] = True

    def point(self, chosen: IntArray) -> tuple[float, IntArray]:
        """Return a point that costs no more than the one given, and what it costs."""
        self.left = TRIES
        best = self._pulled_back(chosen)
        for _ in range(SWAPS):
            other = self._swapped(best)
            if other is None:
                break
            best = self._pulled_back(other)
        return float(self._costs(best).sum()), best

    def _costs(self, chosen: IntArray) -> FloatArray:
        choices = self.problem.choices
        return np.asarray(choices.cost[choices.offset[:-1] + chosen])

    def _misses(self, chosen: IntArray) -> IntArray:
        """Return how many conditions of each leaf a point does not meet."""
        place = chosen[self.column]
        missed = (place < self.first) | (place > self.last)
        return np.bincount(self.owner[missed], minlength=len(self.lead))

    def _wins(self, chosen: IntArray, misses: IntArray, j: int) -> BoolArray:
        """Return at which choices of column j the class wins for sure, the others as they are."""
        self.left -= 1
        own = slice(self.begin[j], self.begin[j + 1])
        owner, first, last = self.owner[own], self.first[own], self.last[own]
        missed = (chosen[j] < first) | (chosen[j] > last)
        left = misses.copy()
        left[owner[missed]] -= 1
        held = left[owner] == 0
        left[owner] = 1
        n = int(np.diff(self.problem.choices.offset)[j])
        wins = np.ones(n, dtype=bool)
        for lead, enough in zip(self.lead.T, self.enough, strict=True):
            change = np.bincount(first[held], lead[owner[held]], n + 1)
            change -= np.bincount(last[held] + 1, lead[owner[held]], n + 1)
            # Sums of differences are rounded: a little more than enough is asked for.
            sums = lead[left == 0].sum() + np.cumsum(change)[:n]
            wins &= sums > enough + 1e-9 * np.abs(lead).max(initial=0.0) * len(change)
        return wins

    def _moves(self, chosen: IntArray) -> IntArray:
        """Return the columns that cost something, the dearest first."""
        cost = self._costs(chosen) - self._costs(self.problem.choices.center)
        order = np.argsort(-cost, kind="stable")
        return order[(cost[order] > 0) & ~self.fixed[order]]

    def _pulled_back(self, chosen: IntArray) -> IntArray:
        """Return a point that no single column can be moved towards its center from."""
        chosen, center = chosen.copy(), self.problem.choices.center
        for _ in range(SWEEPS):
            before = chosen.copy()
            for j in self._moves(chosen).tolist():
                wins = self._wins(chosen, self._misses(chosen), j)
                step = 1 if chosen[j] >= center[j] else -1
                way = np.arange(center[j], chosen[j], step)
                good = way[wins[way]]
                if len(good):
                    chosen[j] = good[0]
            if (chosen == before).all():
                break
        return chosen

    def _swapped(self, chosen: IntArray) -> IntArray | None:
        """Return a cheaper point that differs in two columns, one of them at its center."""
        choices, total = self.problem.choices, float(self._costs(chosen).sum())
        best, found = total * (1 - 1e-9), None
        for j in self._moves(chosen).tolist():
            trial = chosen.copy()
            trial[j] = choices.center[j]
            misses, rest = self._misses(trial), self._costs(trial)
            for k in np.flatnonzero(~self.fixed & (np.arange(len(trial)) != j)).tolist():
                if self.left <= 0 or self._is_new(chosen, j, k):
                    continue
                at = choices.offset[k]
                cost = rest.sum() - rest[k] + choices.cost[at : choices.offset[k + 1]]
                if cost.min() >= best:
                    continue
                good = np.flatnonzero(self._wins(trial, misses, k) & (cost < best))
                if len(good):
                    c = good[cost[good].argmin()]
                    best, found = float(cost[c]), trial.copy()
                    found[k] = c
        return found

    def _is_new(self, chosen: IntArray, j: int, k: int) -> bool:
        """Return whether column k may not change: only so many features may, and j still does."""
        problem = self.problem
        changed = chosen != problem.choices.center
        changed[j] = False
        units = set(problem.unit[changed].tolist()) | {int(problem.unit[k])}
        return len(units) > problem.most_changes
