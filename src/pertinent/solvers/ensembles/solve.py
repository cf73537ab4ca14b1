"""The nearest points of a class of a tree ensemble, row by row, with the branchings as proof.

A box search is fast if its budget is close to the optimum: near the optimum it needs 4 to 50 times
fewer boxes than below the first point found. So the budget begins at what the bound of the whole
box says, and grows until a search finds a point below it; that search then also proves its best
one. Every budget that fails is a proved lower bound, for rows whose time is over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Protocol

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry import task as task_of
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, Trees, as_ensemble
from pertinent.geometry.running import deadline, is_over
from pertinent.proofs.ensembles.proof import EnsembleProofs
from pertinent.proofs.ensembles.weights import Weights
from pertinent.setting.effort import SEARCHING
from pertinent.solvers.ensembles.problem import Branchings, Leads, Left, RowProblem, is_too_late
from pertinent.solvers.ensembles.search import NumpySearch
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Method, Solved, Task
from pertinent.solvers.select import choose_method, make_ready
from pertinent.solvers.tolerances import CLOSER

#: Where the bound of the whole box is not known: the first budget, as a share of the first point's
#: cost, and how it grows while the whole box is closed at once. How it grows at first then.
FIRST, FASTER, SLOWER = 1 / 64, 1.4, 1.2
#: Budgets grow so that a search looks at so many times the boxes of the one before; they grow by
#: factors between these. Fewer boxes than this say nothing about it. Once a close point is known,
#: no budget goes beyond it, and they grow faster.
GROWTH, FACTORS, TELLING = 3.0, (1.04, 1.3), 10
GROWTH_BELOW, FACTORS_BELOW = 6.0, (1.04, 1.5)
#: Boxes of one row after which it is handed out as it is, with its bound; and for the first point.
MOST_BOXES, FIRST_BOXES = 100_000, 2_000
#: A point that was pulled closer is often the nearest one: a budget beyond this share of its cost
#: is all of it.
NEARLY = 0.85
#: The first box with weights takes about so many times as long as without.
WEIGHING = 16
#: Boxes between two looks at the clock: at most so many, and so many leaves of the whole box.
MOST_STEP, STEP_LEAVES = 32, 1 << 15


class BoxSearch(Protocol):
    """All boxes below a budget, looked at step by step; see `CompiledSearch`."""

    boxes: int

    def begin(self, budget: float) -> None:
        """Begin with the whole box, looking for points that cost less than the budget."""

    def run(self, boxes: int) -> bool:
        """Look at so many boxes; return whether all are closed."""

    @property
    def least(self) -> float:
        """What points cost at least, as the bound of the whole box has it; 0: unknown."""

    @property
    def found(self) -> tuple[float, IntArray] | None:
        """The best point so far: its cost (what is fixed aside) and its choices."""

    def closer(self, chosen: IntArray | None) -> tuple[float, IntArray] | None:
        """Return a point of the class that lies closer than one that is known, if one is seen."""

    def branchings(self) -> Branchings:
        """Return the cases of a search that is done."""


@dataclass(eq=False)
class Row:
    """One row's search.

    Attributes
    ----------
    cost : float
        Of the best point so far, what is fixed aside; ``inf`` without one.
    chosen : ndarray of int, shape (n_columns,), optional
    proved : float
        No point costs less; ``inf``: there is none.
    cases : Branchings
        What shows it.
    """

    search: BoxSearch
    end: float
    cutoff: float
    step: int = MOST_STEP
    cost: float = np.inf
    chosen: IntArray | None = None
    proved: float = 0.0
    cases: Branchings | None = None
    is_pulled: bool = False

    def solve(self) -> None:
        """Find the nearest point below the cutoff, or as much as time allows."""
        if not self._first_point():
            return
        is_pulled = self.is_pulled or self._pull_closer()
        growth, factors = (GROWTH_BELOW, FACTORS_BELOW) if is_pulled else (GROWTH, FACTORS)
        top = min(self.cost, self.cutoff)
        if self._closes(top, 1):
            return
        least, factor, last = SLOWER * self.search.least, SLOWER, 0
        budget = least if least > FIRST * top else self._first_budget(top)
        while self.proved < top and not self._is_over():
            budget = top if is_pulled and budget > NEARLY * top else min(budget, top)
            before = self.search.boxes
            if not self._closes(budget, MOST_BOXES - before):
                return
            if self.cost <= self.proved:
                return
            boxes = self.search.boxes - before
            factor = _next_factor(factor, last, boxes, growth, factors)
            last = boxes
            budget *= factor

    def _first_budget(self, top: float) -> float:
        """Return a budget at which the whole box is not closed at once."""
        budget = FIRST * top
        while budget < top and not self._is_over() and self._closes(budget, 1):
            budget *= FASTER
        return budget

    def _first_point(self) -> bool:
        """Look for any point; return whether there may be one worth looking for."""
        begun = monotonic()
        self.search.begin(np.inf)
        done = self.search.run(1)
        weighing = WEIGHING * (monotonic() - begun)
        if not done and self.search.found is None:
            self.is_pulled = self._pull_closer()
        while not (done or self.is_pulled or self.search.found):
            if self.search.boxes >= FIRST_BOXES or self._is_over():
                break
            done = self.search.run(1)
        self._note_point()
        if done and self.search.found is None:
            self.proved, self.cases = np.inf, self.search.branchings()
            return False
        return not is_over(self.end - weighing)

    def _closes(self, budget: float, boxes: int) -> bool:
        """Search below a budget; return whether all boxes were closed, and note what that shows."""
        self.search.begin(budget)
        most = self.search.boxes + boxes
        while not self.search.run(min(self.step, most - self.search.boxes)):
            if self.search.boxes >= most or self._is_over():
                self._note_point()
                return False
        self._note_point()
        self.proved = budget if self.search.found is None else self.cost
        self.cases = self.search.branchings()
        return True

    def _pull_closer(self) -> bool:
        """Note a closer point; return whether any was looked for and seen."""
        found = self.search.closer(self.chosen)
        if found is not None and found[0] < self.cost:
            self.cost, self.chosen = found
        return found is not None

    def _note_point(self) -> None:
        found = self.search.found
        if found is not None and found[0] < self.cost:
            self.cost, self.chosen = found

    def _is_over(self) -> bool:
        return is_over(self.end)


def _next_factor(
    factor: float, last: int, boxes: int, growth: float, factors: tuple[float, float]
) -> float:
    """Return the factor of the next budget after one that looked at so many boxes.

    Boxes grow like a power of the budget: ``(boxes / last) = factor ** power``.
    """
    if last >= TELLING and boxes > last:
        power = np.log(boxes / last) / np.log(factor)
        return float(np.clip(growth ** (1 / power), *factors))
    return factor


def solve_ensemble(task: Task) -> Solved:
    """Return the nearest points of an ensemble's class."""
    region = as_ensemble(task.region)
    assert region is not None  # `_method_of_ensemble` chose this
    n, leads = len(task), Leads.of(region)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    believed, cases = np.zeros(n), []
    make = search_class()
    end = deadline()
    if end < np.inf:  # proofs are checked when the search has ended
        end = monotonic() + SEARCHING * max(end - monotonic(), 0.0)
    for i in range(n):
        if i and is_over(end):  # one row is tried, whatever the time
            cases.append(Branchings.closed())
            continue
        left = None if is_too_late(leads, deadline()) else Left.of(leads, task, i)
        if left is None or left.is_too_much(deadline()):
            cases.append(Branchings.closed())
            continue
        problem = RowProblem.of(left)
        fixed = problem.choices.fixed
        if problem.is_empty:
            outcome[i], believed[i] = EMPTY, np.inf
            cases.append(Branchings.closed())
            continue
        step = max(1, min(MOST_STEP, STEP_LEAVES // len(problem.leaf)))
        row = Row(make(problem), _end_of_row(end, n - i), float(task.cutoff[i]) - fixed, step)
        row.solve()
        believed[i] = row.proved + fixed
        cases.append(Branchings.closed() if row.cases is None else row.cases.in_cells(problem))
        if row.chosen is not None and row.cost + fixed < task.cutoff[i]:
            points[i], outcome[i] = problem.choices.points(row.chosen), SOLVED
        elif row.proved == np.inf:
            outcome[i] = EMPTY
        elif row.proved + fixed >= task.cutoff[i]:
            outcome[i] = CUT
    return Solved(points, outcome, proofs_of(believed, cases), believed)


def proofs_of(claimed: FloatArray, cases: list[Branchings]) -> EnsembleProofs:
    """Return the branchings of all rows as proofs of what is claimed."""
    return EnsembleProofs(
        claimed * (1 - 2 * CLOSER),
        tuple(case.column.astype(np.int64) for case in cases),
        tuple(case.cut.astype(np.int64) for case in cases),
        tuple(case.rival.astype(np.int64) for case in cases),
        tuple(case.price.astype(float) for case in cases),
        Weights(
            tuple(case.weights.count for case in cases),
            tuple(case.weights.where for case in cases),
            tuple(case.weights.section for case in cases),
            tuple(case.weights.weight.astype(np.int64) for case in cases),
        ),
    )


def _end_of_row(end: float, rows: int) -> float:
    """Return when a row has to end, if so many rows share the time until ``end``."""
    return end if end == np.inf else monotonic() + max(end - monotonic(), 0.0) / rows


def search_class() -> Callable[[RowProblem], BoxSearch]:
    """Return the search: compiled where numba is installed (extra ``fast``), else in NumPy."""
    try:
        from pertinent.solvers.ensembles.compiled import CompiledSearch
    except ImportError:
        return NumpySearch
    return CompiledSearch


@make_ready.register
def _compile(region: EnsembleRegion) -> None:
    """Compile the kernel, or read numba's cache, once in every process; list the leaves."""
    _try_out(search_class())
    _ = region.ensemble.ends


@cache
def _try_out(make: Callable[[RowProblem], BoxSearch]) -> None:
    """Search two trees of one leaf."""
    one = np.zeros(1, dtype=np.int64)
    leaf = np.array([[1.0, 0.0]])
    trees = Trees(one, one - 1, np.zeros(1), one, one, leaf)
    small = EnsembleRegion.of(Ensemble(trees, 1, Tally(np.zeros(2))), 0)
    task = task_of.Task.of(small, np.zeros((1, 1)), np.ones(1))
    search = make(RowProblem.of(Left.of(Leads.of(small), task, 0)))
    search.begin(1.0)
    search.run(1)
    search.closer(None)


_FOUND = (
    "of a classifier, Explainer(model, data=..., search=True) finds answers that obey them, not "
    "proved"
)
_OTHER = "bounds, frozen features and directions are proved, and so is method='strict'"


def _refusal(what: str, instead: str) -> UnsupportedModelError:
    """Return three lines: what is not supported, why, and what to do."""
    return UnsupportedModelError(
        f"{what}: not supported for sums of trees.\n"
        "Why there is no exact answer: the search and its proof look for the nearest point of a "
        "box column by column, and this ties columns together.\n"
        f"What to do: {instead}."
    )


@choose_method.register
def _method_of_ensemble(region: EnsembleRegion, domain: Domain | None = None) -> Method:
    if region.common is not None and region.common.quadratics:
        raise _refusal(
            "Plausibility (a density)",
            "leave it out; Explainer(data=...) keeps values within the range of the data",
        )
    if region.common is not None:
        raise _refusal("Relations between features (Constraints.relations)", f"{_FOUND}; {_OTHER}")
    if domain is not None and domain.together:
        raise _refusal("Features that change together (Constraints.together)", _FOUND)
    if domain is not None and domain.bins:
        raise _refusal(
            "A step that bins or clips features in front of them", "train the trees without it"
        )
    why = f"a sum of {len(region.ensemble.trees)} trees: branch and bound over boxes of cells"
    return Method("boxes of cells", why, solve_ensemble)
