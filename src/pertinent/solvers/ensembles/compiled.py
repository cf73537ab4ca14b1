"""The search of one row by the compiled kernel; numba is not touched before a call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import IntArray
from pertinent.solvers.ensembles import kernel
from pertinent.solvers.ensembles.problem import Branchings, RowProblem

#: Depth of the stack, branchings and lists of leaves to begin with; each grows where needed.
DEPTH, RECORDED, LISTS = 128, 1024, 16


class CompiledSearch:
    """All boxes below a budget, looked at step by step."""

    def __init__(self, problem: RowProblem) -> None:
        self.problem = problem
        ensemble, leads = problem.leads.region.ensemble, problem.leads
        tree, tally = ensemble.leaves.tree[problem.leaf], ensemble.tally
        n_trees = len(ensemble.trees)
        self.forest = kernel.Forest(
            _small(tree), _small(problem.start), _small(problem.column), _small(problem.first),
            _small(problem.last), np.ascontiguousarray(leads.lead[problem.leaf]), leads.needed,
            leads.error, n_trees,
        )  # fmt: skip
        has_threshold = tally.threshold is not None
        self.tally = kernel.Tally(
            np.ascontiguousarray(ensemble.leaves.value[problem.leaf]), tally.base,
            tally.dtype == "float32", tally.divisor, tally.threshold or 0.0, has_threshold,
            tally.doubt, tally.late, tally.least or 0.0, leads.region.label,
            _small(np.array(leads.region.rivals)),
        )  # fmt: skip
        choices, groups = problem.choices, problem.groups
        n_units = int(problem.unit.max(initial=-1)) + 1
        self.costs = kernel.Costs(
            choices.cost, choices.offset, _small(choices.center),
            _small(np.cumsum([0, *(len(group) for group in groups)])),
            _small(np.concatenate([*groups, np.zeros(0, dtype=np.int64)])),
            _small(problem.unit), n_units, min(problem.most_changes, n_units),
        )  # fmt: skip
        self.scratch = self._scratch(n_units)
        self.boxes = 0
        span = leads.lead[problem.leaf]
        self._span = float(np.ptp(span, axis=0).max(initial=0.0)) * n_trees or 1.0

    def _scratch(self, n_units: int) -> kernel.Scratch:
        n_leaves, n_rivals = self.forest.lead.shape
        dim, n_choices = len(self.costs.center), len(self.costs.cost)
        n_trees, conditions = self.forest.n_trees, len(self.forest.column) + 1
        single, double = np.int32, np.float64
        return kernel.Scratch(
            np.empty((n_trees, n_rivals)), np.empty(n_rivals),
            np.zeros(dim, single), np.zeros(dim, single), np.zeros(dim, single),
            np.zeros(n_choices), np.zeros(n_choices),
            np.zeros(2 * dim), np.full(2 * dim, -1, single),
            np.empty(conditions, single), np.empty(conditions), np.empty(conditions, single),
            np.empty(n_trees + 1, single), np.empty(n_leaves), np.empty(n_trees, single),
            np.empty(n_leaves, bool), np.empty(n_trees, double), np.zeros(n_units, single),
            np.empty(n_leaves, bool),
        )  # fmt: skip

    def begin(self, budget: float) -> None:
        """Begin with the whole box, looking for points that cost less than the budget."""
        dim, n_leaves = len(self.costs.center), len(self.forest.tree)
        leaves = np.empty(LISTS * n_leaves + 1, np.int32)
        leaves[:n_leaves] = np.arange(n_leaves)
        small = np.int32
        self.state = kernel.State(
            np.zeros(4, np.int64), np.array([budget, np.inf]),
            np.empty((DEPTH, dim), small), np.empty((DEPTH, dim), small),
            np.zeros(DEPTH + 1, np.int64), np.zeros(DEPTH, np.int64), np.zeros(DEPTH),
            np.zeros((DEPTH, 3), small), np.zeros(DEPTH, small), np.zeros(DEPTH),
            np.full(dim, -1, small), leaves,
        )  # fmt: skip
        self.state.low[0], self.state.high[0] = (
            self.problem.choices.first,
            self.problem.choices.last,
        )
        self.state.size[0] = n_leaves
        self.state.price[0] = 0.1 * self._span / budget if 0 < budget < np.inf else 1.0
        self.record = kernel.Record(
            np.empty(RECORDED, small), np.empty(RECORDED, small),
            np.empty(RECORDED, np.float32), np.empty(RECORDED, small),
        )  # fmt: skip

    def run(self, boxes: int) -> bool:
        """Look at so many boxes; return whether all are closed."""
        before = int(self.state.numbers[kernel.BOXES])
        end = before + boxes
        while True:
            left = end - int(self.state.numbers[kernel.BOXES])
            said = kernel.run(
                self.forest, self.tally, self.costs, self.state, self.record, self.scratch, left
            )
            if said != kernel.NARROW:
                self.boxes += int(self.state.numbers[kernel.BOXES]) - before
                return bool(said == kernel.DONE)
            self._widen()

    def _widen(self) -> None:
        """Make room in whatever is full."""
        s, r = self.state, self.record
        if s.numbers[kernel.RECORDED] >= len(r.column):
            self.record = kernel.Record._make(_longer(a) for a in r)
        depth = int(s.numbers[kernel.DEPTH])
        if depth + 2 >= len(s.phase):
            stacks = ("low", "high", "begin", "size", "near", "split", "phase", "price")
            self.state = s = s._replace(**{name: _longer(getattr(s, name)) for name in stacks})
        if s.begin[depth] + 2 * s.size[depth] > len(s.leaves):
            self.state = s._replace(leaves=_longer(s.leaves))

    @property
    def found(self) -> tuple[float, IntArray] | None:
        """The best point so far: its cost (what is fixed aside) and its choices."""
        if not self.state.numbers[kernel.FOUND]:
            return None
        return float(self.state.floats[kernel.BEST]), self.state.best.astype(np.int64)

    def branchings(self) -> Branchings:
        """Return the cases of a search that is done."""
        n = int(self.state.numbers[kernel.RECORDED])
        column, cut, price, rival = self.record
        return Branchings(column[:n].copy(), cut[:n].copy(), price[:n].copy(), rival[:n].copy())


def _small(values: IntArray) -> NDArray[np.int32]:
    return np.ascontiguousarray(values, dtype=np.int32)


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy with twice the room."""
    room = np.zeros((2 * len(array) + 1, *array.shape[1:]), dtype=array.dtype)
    room[: len(array)] = array
    return room
