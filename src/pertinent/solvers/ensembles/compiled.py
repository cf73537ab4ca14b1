"""The search of one row by the compiled kernel; numba is not touched before a call."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import IntArray
from pertinent.solvers.ensembles import kernel
from pertinent.solvers.ensembles.moves.closer import Closer
from pertinent.solvers.ensembles.problem import Branchings, RowProblem, Weighing
from pertinent.solvers.ensembles.sections import Sections
from pertinent.solvers.tolerances import CLOSER

#: Depth of the stack, branchings and lists of leaves to begin with; each grows where needed.
DEPTH, RECORDED, LISTS = 64, 1024, 16


class CompiledSearch:
    """All boxes below a budget, looked at step by step."""

    def __init__(self, problem: RowProblem) -> None:
        self.problem = problem
        ensemble, leads = problem.leads.region.ensemble, problem.leads
        tree, tally = ensemble.leaves.tree[problem.leaf], ensemble.tally
        n_trees, self.sections = len(ensemble.trees), Sections.of(problem)
        sections = self.sections
        self.forest = kernel.Forest(
            _small(tree), _small(problem.start), _small(problem.column), _small(problem.first),
            _small(problem.last), np.ascontiguousarray(leads.lead[problem.leaf]), leads.needed,
            leads.error, n_trees,
            _small(sections.need_start), _small(sections.need_low), _small(sections.need_high),
            _small(sections.low), _small(sections.high), _small(sections.column),
        )  # fmt: skip
        has_threshold = tally.threshold is not None
        self.tally = kernel.Tally(
            np.ascontiguousarray(ensemble.leaves.value[problem.leaf]), tally.base,
            tally.dtype == "float32", tally.divisor, tally.threshold or 0.0, has_threshold,
            tally.doubt, tally.late, tally.least or 0.0, tally.most or 0.0, leads.region.label,
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
        self.is_weighed = False
        self.weights = np.full(len(sections.cut), kernel.FIRST_WEIGHT, np.int32)
        span = leads.lead[problem.leaf]
        self._span = float(np.ptp(span, axis=0).max(initial=0.0)) * n_trees or 1.0

    def _scratch(self, n_units: int) -> kernel.Scratch:
        n_leaves, n_rivals = self.forest.lead.shape
        dim, n_choices = len(self.costs.center), len(self.costs.cost)
        n_trees, n_sections = self.forest.n_trees, len(self.sections.cut)
        single = np.int32
        return kernel.Scratch(
            np.empty((n_trees, n_rivals)), np.empty(n_rivals),
            np.zeros(dim, single), np.zeros(dim, single), np.zeros(dim, single),
            np.zeros(n_choices + 1), np.zeros(n_choices + 1),
            np.empty(n_sections), np.empty(n_sections), np.zeros(n_sections + 1),
            np.empty(n_sections, single), np.empty(n_sections, single),
            np.zeros(n_sections + 1, single), np.empty(n_sections + 1, single),
            np.empty(n_leaves), np.empty(n_trees, single), np.empty(n_leaves, bool),
            np.zeros(n_units, single), np.empty(n_leaves, bool),
            np.empty(dim, single), np.empty(dim, single),
            np.empty(n_leaves), np.empty(n_trees + 1, single),
            np.empty(2 * dim), np.empty(2 * dim, single), np.empty(2 * dim, single),
        )  # fmt: skip

    def begin(self, budget: float) -> None:
        """Begin with the whole box, looking for points that cost less than the budget."""
        dim, n_leaves = len(self.costs.center), len(self.forest.tree)
        leaves = np.empty(LISTS * n_leaves + 1, np.int32)
        leaves[:n_leaves] = np.arange(n_leaves)
        small = np.int32
        self.state = kernel.State(
            np.array([0, 0, 0, 0, 0, self.is_weighed]), np.array([budget, np.inf, 0.0, CLOSER]),
            np.empty((DEPTH, dim), small), np.empty((DEPTH, dim), small),
            np.zeros(DEPTH + 1, np.int64), np.zeros(DEPTH, np.int64), np.zeros(DEPTH),
            np.zeros((DEPTH, 3), small), np.zeros(DEPTH, small), np.zeros(DEPTH),
            np.full(dim, -1, small), leaves, np.empty((DEPTH, len(self.weights)), small),
        )  # fmt: skip
        self.state.low[0], self.state.high[0] = (
            self.problem.choices.first,
            self.problem.choices.last,
        )
        self.state.size[0] = n_leaves
        self.state.weights[0] = self.weights
        self.state.price[0] = 0.1 * self._span / budget if 0 < budget < np.inf else 1.0
        self.record = kernel.Record(
            np.empty(RECORDED, small), np.empty(RECORDED, small),
            np.empty(RECORDED, np.float32), np.empty(RECORDED, small), np.empty(RECORDED, np.int64),
            np.empty(LISTS * len(self.weights) + 1, small),
            np.empty(LISTS * len(self.weights) + 1, small),
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
                self._keep_first(before)
                return bool(said == kernel.DONE)
            self._widen()

    def _widen(self) -> None:
        """Make room in whatever is full."""
        s, r = self.state, self.record
        if s.numbers[kernel.RECORDED] >= len(r.column):
            boxes = ("column", "cut", "price", "rival", "end")
            r = r._replace(**{name: _longer(getattr(r, name)) for name in boxes})
        if s.numbers[kernel.WEIGHTS] + s.weights.shape[1] > len(r.section):
            r = r._replace(section=_longer(r.section), weight=_longer(r.weight))
        self.record = r
        depth = int(s.numbers[kernel.DEPTH])
        if depth + 2 >= len(s.phase):
            stacks = ("low", "high", "begin", "size", "near", "split", "phase", "price", "weights")
            self.state = s = s._replace(**{name: _longer(getattr(s, name)) for name in stacks})
        if s.begin[depth] + 2 * s.size[depth] > len(s.leaves):
            self.state = s._replace(leaves=_longer(s.leaves))

    def _keep_first(self, before: int) -> None:
        """Keep the weights of the whole box: the next budget begins with them."""
        if (
            before == 0
            and self.state.numbers[kernel.BOXES]
            and self.state.floats[kernel.BUDGET] < np.inf
        ):
            self.weights = self.state.weights[0].copy()
            self.is_weighed = True

    @property
    def least(self) -> float:
        """What all points cost by the bound of the whole box, what is fixed aside."""
        return float(self.state.floats[kernel.LEAST])

    @property
    def found(self) -> tuple[float, IntArray] | None:
        """The best point so far: its cost (what is fixed aside) and its choices."""
        if not self.state.numbers[kernel.FOUND]:
            return None
        return float(self.state.floats[kernel.BEST]), self.state.best.astype(np.int64)

    def closer(self, chosen: IntArray | None) -> tuple[float, IntArray] | None:
        """Return a point of the class that lies closer than one that is known, if one is seen."""
        if self.costs.most_changes < self.costs.n_units or not len(self.costs.center):
            return None  # moves do not count changes
        return Closer(self.problem).point(chosen)

    @cached_property
    def _where(self) -> IntArray:
        """Tree, column and cell of each section."""
        some = self.sections
        return np.stack([some.tree, some.column, some.lower_cell(self.problem)])

    def branchings(self) -> Branchings:
        """Return the cases of a search that is done."""
        n, r = int(self.state.numbers[kernel.RECORDED]), self.record
        used = int(self.state.numbers[kernel.WEIGHTS])
        count = np.diff(r.end[:n], prepend=0)
        section = r.section[:used].astype(np.int64)
        weighing = Weighing(count, self._where, section, r.weight[:used])
        return Branchings(
            r.column[:n].copy(), r.cut[:n].copy(), r.price[:n].copy(), r.rival[:n].copy(), weighing
        )


def _small(values: IntArray) -> NDArray[np.int32]:
    return np.ascontiguousarray(values, dtype=np.int32)


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy with twice the room."""
    room = np.zeros((2 * len(array) + 1, *array.shape[1:]), dtype=array.dtype)
    room[: len(array)] = array
    return room
