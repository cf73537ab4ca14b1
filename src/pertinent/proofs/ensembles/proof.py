"""The proof of a distance: branchings, replayed box by box with bounds of this folder.

A branching halves a box at a cut of one column; nothing is lost, wherever it is. A box is closed
where its nearest point costs the claim, where no leaf of some tree is left, where the shared-cost
bound says so, or where the trees are down to one leaf each and the label does not win there: the
sums are then those of the library, to the bit. Boxes that stay open at the end of the list are
split here, up to a number of times, so that no proof hangs on how well weights were guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion, as_ensemble
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.core import Proofs
from pertinent.proofs.ensembles.boxes import Boxes, Rules
from pertinent.proofs.ensembles.conditions import AT_ONCE, Conditions
from pertinent.proofs.ensembles.nodes import Nodes
from pertinent.proofs.ensembles.part import OneRow
from pertinent.proofs.ensembles.replay import Ends, Replay
from pertinent.proofs.ensembles.rest import Rest
from pertinent.proofs.ensembles.tables import Tables
from pertinent.proofs.ensembles.weights import Sections, Weights
from pertinent.proofs.tolerances import ENSEMBLE_COSTS, LOWERED_TREES

#: Numbers of tables (rows times places) that are made together.
TABLES = 4_000_000


@record_as("trees")
@dataclass(frozen=True, eq=False)
class EnsembleProofs(Proofs):
    """Branchings of one row each, in the order of a search that goes down first.

    Parameters
    ----------
    claimed : ndarray of shape (n,)
        What no point costs less than; ``inf``: there is no point.
    column : tuple of ndarray of int
        The column that each box is halved at; -1 where it is closed.
    cut : tuple of ndarray of int
        Twice the last cell of the lower side, plus 1 where the upper side comes first.
    rival : tuple of ndarray of int
        The rival against which the shared-cost bound is computed.
    price : tuple of ndarray
        Its price; 0: the other rules close the box.
    weights : Weights, optional
        Its weights; without them weights are guessed (see `shares`).
    """

    claimed: FloatArray
    column: tuple[IntArray, ...]
    cut: tuple[IntArray, ...]
    rival: tuple[IntArray, ...]
    price: tuple[FloatArray, ...]
    weights: Weights | None = None

    def bounds(self, task: Task) -> FloatArray:
        """Return the claims that replaying confirms, else the cost of the nearest point."""
        region = as_ensemble(task.region)
        start = np.minimum(np.maximum(task.centers, task.lower), task.upper)
        known = np.asarray((task.weights * np.abs(start - task.centers)).sum(axis=1))
        known[(task.lower > task.upper).any(axis=1)] = np.inf
        claiming = np.flatnonzero(self.claimed > known)
        if region is None or not len(claiming) or not _is_covered(task.domain) or is_over():
            return known
        conditions = Conditions.of(region, () if task.domain is None else task.domain.groups)
        size = max(1, TABLES // int(region.ensemble.n_cells.sum() + region.dim))
        for first in range(0, len(claiming), size):
            rows = claiming[first : first + size]
            proved = self.take(rows)._replayed(task.take(rows), region, conditions, known[rows])
            known[rows] = np.maximum(known[rows], proved)
        return known

    def _replayed(
        self, task: Task, region: EnsembleRegion, conditions: Conditions, known: FloatArray
    ) -> FloatArray:
        tables = Tables.of(task, region)
        sizes = (task.weights * np.abs(task.centers)).sum(axis=1)
        proved: FloatArray = np.full(len(task), -np.inf)
        nodes = Nodes.of(self.column, self.cut, self.rival, self.price, self.weights)
        for share in LOWERED_TREES:
            claim = self.claimed - share * sizes
            rows = np.flatnonzero(np.isneginf(proved) & (claim > known) & nodes.sound)
            if share:
                rows = rows[np.isfinite(self.claimed[rows])]
            if not len(rows) or is_over():
                break
            met = claim * (1 - ENSEMBLE_COSTS)
            rules = Rules(conditions, tables, met - tables.fixed, task.domain)
            holds = _Check(rules, region, nodes).run(rows)
            proved[rows[holds]] = met[rows[holds]]
        return proved


def _is_covered(domain: Domain | None) -> bool:
    """Return whether the rules here speak of all that the task allows.

    Inequalities that are kept beside may be left out: a bound on more points is one on fewer.
    """
    return domain is None or not (domain.bins or domain.together)


@dataclass(eq=False)
class _Check:
    """The proofs of some rows, replayed: with the weights that they state, then with guessed ones.

    The rules are applied to the whole boxes of all rows at once. Rows that state weights go on by
    themselves (`Replay`); what that leaves open, and rows that state none, are `Rest`.
    """

    rules: Rules
    region: EnsembleRegion
    nodes: Nodes
    sections: Sections | None = None

    def run(self, rows: IntArray) -> BoolArray:
        """Return for which rows every box is closed."""
        stated = np.array([row for row in rows.tolist() if row in self.nodes.stated], dtype=int)
        others = np.setdiff1d(rows, stated)
        holds = np.zeros(len(self.rules.claim), dtype=bool)
        for some in self._few(others):
            if is_over():  # what is not looked at shows nothing
                break
            holds[some] = self._rest(some, [self.rules.whole(some, self.nodes.root[some])])
        for some in self._few(stated):
            if is_over():
                break
            wrong = np.zeros(len(holds), dtype=bool)
            holds[some] = self._rest(some, self._replayed(some, wrong)) & ~wrong[some]
        return holds[rows]

    def _few(self, some: IntArray) -> list[IntArray]:
        """Return some rows or boxes in parts, so few that their whole boxes fit into memory."""
        size = max(1, AT_ONCE // max(1, len(self.rules.conditions.leaf)))
        return [some[first : first + size] for first in range(0, len(some), size)]

    def _rest(self, rows: IntArray, boxes: Iterable[Boxes]) -> BoolArray:
        return Rest(self.rules, self.region, self.nodes).run(rows, boxes)

    def _sections(self) -> Sections | None:
        """Return the sections of all trees, the same for all rows; None if it is too late."""
        if self.sections is None:
            self.sections = Sections.of(self.rules.conditions, self.rules.tables.offset)
        return self.sections

    def _replayed(self, rows: IntArray, wrong: BoolArray) -> Iterator[Boxes]:
        """Yield the boxes that stay open of some rows; note rows whose list is wrong."""
        whole = self.rules.reached(self.rules.whole(rows, self.nodes.root[rows]))
        if whole is None:
            wrong[rows] = True  # what is not looked at shows nothing
            return
        closed = np.zeros(len(rows), dtype=bool)
        whole = self.rules.narrow(whole, closed)
        for i in np.flatnonzero(~closed).tolist():
            row, one = int(rows[i]), whole.take(np.array([i]))
            sections = None if is_over() else self._sections()
            if sections is None:
                wrong[row] = True
                continue
            seen = OneRow.of(self.rules, sections, row, self.nodes.stated[row], one.place)
            replay = Replay(seen, self.region, self.nodes)
            wrong[row] = not replay.run(one.low[0], one.high[0], one.leaf, int(one.node[0]))
            for ends in () if wrong[row] else replay.left:
                for few in self._few(np.arange(len(ends.node))):
                    yield self._open(row, ends.take(few))

    def _open(self, row: int, ends: Ends) -> Boxes:
        """Return ends that stay open as boxes."""
        some = self.rules.whole(np.full(len(ends.node), row), ends.node)
        return replace(some, low=ends.low.copy(), high=ends.high.copy())
