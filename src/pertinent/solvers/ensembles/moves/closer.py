"""A point of the class that lies closer than one that is known."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import IntArray
from pertinent.solvers.ensembles.moves import kernel
from pertinent.solvers.ensembles.problem import RowProblem
from pertinent.solvers.tolerances import BETTER, FREE, ROUNDED


class Closer:
    """The trees of one row's problem, as moves of single columns take them."""

    def __init__(self, problem: RowProblem) -> None:
        region, choices = problem.leads.region, problem.choices
        trees, ensemble, leads = region.ensemble.trees, region.ensemble, problem.leads
        lead = [ensemble.tally.lead(trees.value, region.label, r)[0] for r in region.rivals]
        column = np.maximum(trees.column, 0)
        highest = problem.last_choices()
        place = np.concatenate([[0], np.cumsum(ensemble.n_cells)])
        last = np.where(ensemble.rank < 0, -1, highest[place[column] + ensemble.rank])
        small = np.int32
        # Sums here go up and down the choices: more is asked than rounding of one sum.
        safe = 4.0 * leads.error + ROUNDED * float(np.abs(leads.needed).max(initial=1.0))
        self.nodes = kernel.Nodes(
            trees.root.astype(small), trees.column.astype(small), last.astype(small),
            trees.lower.astype(small), trees.upper.astype(small),
            np.ascontiguousarray(np.stack(lead, axis=1)), leads.needed + safe,
        )  # fmt: skip
        moves = np.ones(len(choices.center), dtype=bool)
        for group in problem.groups:
            moves[group] = False
        self.columns = kernel.Columns(
            choices.cost, choices.offset.astype(np.int64), choices.center.astype(small),
            choices.first.astype(small), choices.last.astype(small), moves,
        )  # fmt: skip
        width = int(np.diff(choices.offset).max(initial=1))
        self._lead = np.empty((width + 1, len(region.rivals)))
        self._stack = np.empty((width + 1, 3), small)

    def point(self, chosen: IntArray | None) -> tuple[float, IntArray] | None:
        """Return the cheapest point that moves lead to, from a known one and from the center."""
        best: tuple[float, IntArray] | None = None
        room = self.nodes, self.columns
        for known in (None,) if chosen is None else (chosen, None):
            x = np.array(self.columns.center if known is None else known, dtype=np.int32)
            if known is None and not kernel.reach(*room, x, self._lead, self._stack, FREE):
                continue
            kernel.pull(*room, x, self._lead, self._stack, kernel.WALKS, BETTER)
            if not kernel.is_inside(*room, x, self._lead, self._stack):
                continue
            cost = 0.0
            for place in self.columns.offset[:-1] + x:  # as the search adds up
                cost += float(self.columns.cost[place])
            if best is None or cost < best[0]:
                best = cost, x.astype(np.int64)
        return best
