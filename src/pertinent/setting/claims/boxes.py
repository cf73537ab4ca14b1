"""Points whose values may move, and whether all of a box around one is as it must be.

`proofs.boxes` (of sums of trees `proofs.ensembles.inside`) shows of a box that it is surely of the
class, and dense enough where that is asked for; no relation fails at its worst corner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product

import numpy as np

from pertinent.density import Densities
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits, read_only
from pertinent.geometry.domain import Lattice
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE, Leading, MarginRows
from pertinent.geometry.running import is_late
from pertinent.models.steps.pipeline import inside, is_pipeline
from pertinent.proofs.boxes import gaps
from pertinent.proofs.ensembles.inside import lies_inside
from pertinent.rules.reference import RuleRef
from pertinent.rules.tolerances import SATISFIED
from pertinent.setting.answers import Ask, RowRules
from pertinent.setting.claims.sums import sums_of
from pertinent.setting.judge import judge
from pertinent.setting.region_key import Is, Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: Free categories are looked at one after the other up to so many.
MOST_CATEGORIES = 64
#: The model is asked about each number of a sliver, up to so many.
MOST_ASKED = 16


@dataclass(frozen=True, eq=False)
class Answer:
    """Points whose values may move, one for each sample.

    Parameters
    ----------
    table : Table
        The samples.
    points : ndarray of shape (n, n_columns)
    labels : ndarray of int, shape (n,)
        The class that each must keep.
    limits : tuple of ndarray broadcastable to (n, n_columns)
        What the rules allow, value by value.
    chosen : ndarray of bool, shape (n, n_features)
        The features that may move.
    changes : bool
        Whether the rules about changes apply.
    free : ndarray of bool, shape (n, n_features), optional
        The features that take every value within the limits, whatever else moves.
    """

    table: Table
    points: FloatArray
    labels: IntArray
    limits: Limits
    chosen: BoolArray
    changes: bool
    free: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: IntArray) -> Answer:
        """Return some of the answers, for a search to look at: nothing can be written to them."""
        low, high = (np.broadcast_to(side, self.points.shape)[rows] for side in self.limits)
        return Answer(
            self.table.take(rows),
            read_only(self.points[rows]),
            read_only(self.labels[rows]),
            (read_only(low), read_only(high)),
            read_only(self.chosen[rows]),
            self.changes,
            None if self.free is None else read_only(self.free[rows]),
        )

    def is_free(self, row: int) -> bool:
        """Return whether some features of an answer take every value."""
        return self.free is not None and bool(self.free[row].any())

    def around(self, row: int, columns: IntArray, ends: Limits) -> Limits:
        """Return a box: free features take every value, some columns those between these ends."""
        free = np.zeros(self.chosen.shape[1], bool) if self.free is None else self.free[row]
        moves = self.table.features.by_column(free)
        low, high = (
            np.where(moves, np.broadcast_to(side, self.points.shape)[row], self.points[row])
            for side in self.limits
        )
        # What is hidden follows from a number that moves: it may be anything.
        features = self.table.features
        moves = moves | np.isin(features.owner, features.owner[columns])
        low[moves & features.hidden], high[moves & features.hidden] = -np.inf, np.inf
        low[columns], high[columns] = ends
        for bins in (bins for bins in features.bins if moves[bins.column]):
            # Its bin is one of those it reaches; a guard is for sums in double precision.
            known = bins.guard == 0 or not self.table.single_precision
            span = (low[bins.column], high[bins.column]) if known else (-np.inf, np.inf)
            reached = bins.between(*span)
            low[bins.columns], high[bins.columns] = reached & (reached.sum() == 1), reached
        return low, high


def unions_of(
    setting: Setting, label: int, table: Table
) -> list[tuple[Sequence[MarginRows], float]]:
    """Return the unions that a box must lie in, each with its unit of rounding.

    The class with what rounds in it; with a margin asked for, that as well; with a density, its
    ellipsoids. Empty where the region is no union of cells: see `sums_of`, else nothing can be
    shown.
    """
    plain = setting.without_plausibility()
    region, rounding = plain.region(Is(label), 0.0), plain.rounding(Is(label))
    sums = setting.features.dim + 4
    double = sums * ROUNDOFF
    cells = cells_of(region)
    pieces: Sequence[MarginRows] = () if rounding is None else rounding.pieces
    # Who made the sums knew the model's precision, and not that of the steps before it.
    known = (
        rounding is not None and rounding.knows_precision and not is_pipeline(inside(setting.model))
    )
    in_single = setting.sums_in_single(table) and not known
    if not len(pieces):
        if cells is None or not len(cells):
            return []
        pieces = [MarginRows.as_written(cell) for cell in cells]
    out = [(pieces, sums * ROUNDOFF_SINGLE if in_single else double)]
    if setting.asked_margin > 0:
        inner = cells_of(plain.region(Is(label), setting.asked_margin))
        if inner is None:
            return []
        out.append(([MarginRows.as_written(cell) for cell in inner], double))
    if isinstance(setting.within, Densities):
        dense = setting.within.region(label, 0.0)
        out.append(([MarginRows.as_written(cell) for cell in dense], double))
    return out


def _is_exact(pieces: Sequence[MarginRows]) -> bool:
    """Return whether a box that none of these pieces is shown to hold reaches out of all."""
    if isinstance(pieces, Leading):
        return False
    bent = any(piece.curved or piece.bends or piece.bent for piece in pieces)
    return not bent and (len(pieces) == 1 or not any(len(piece.G) for piece in pieces))


def steps_of(setting: Setting, answer: Answer) -> dict[int, Lattice]:
    """Return the steps of the columns that have some."""
    domain = setting.domain_of(answer.table, changes=answer.changes)
    return {} if domain is None else domain.steps


class ShownBoxes:
    """What is shown of boxes around the answers of a batch."""

    def __init__(self, setting: Setting, answer: Answer) -> None:
        self.setting, self.answer = setting, answer
        self.low, self.high = (np.broadcast_to(s, answer.points.shape) for s in answer.limits)
        self.unions: dict[int, list[tuple[Sequence[MarginRows], float]]] = {}
        self.sums: dict[int, list[tuple[EnsembleRegion, float]]] = {}
        self.exact: dict[int, bool] = {}
        related = setting.constraints.relation_cell(setting.features)
        self.relations = [] if related is None else list(zip(related.G, related.h, strict=True))

    def ask(self, rows: IntArray, points: FloatArray) -> Ask:
        """Return what `judge` is asked about points of the samples of these rows."""
        answer, rules = self.answer, RowRules(None, self.answer.changes)
        labels, limits = answer.labels[rows], (self.low[rows], self.high[rows])
        return Ask(answer.table.lend(rows), points, Kind.IS, labels, *limits, rules)

    def holds(self, i: int, low: FloatArray, high: FloatArray) -> bool:
        """Return whether a box lies in the class, obeys relations and is dense enough."""
        label = int(self.answer.labels[i])
        unions, sums = self.unions_of(label), self.sums_of(label)
        known = unions or sums
        if is_late() or not known or self.relation(low, high) is not None:
            return False
        if ((low < self.low[i]) | (high > self.high[i]))[self._visible].any():
            return False
        groups = self._free_groups(low < high)
        if not all(self._in_trees(i, *one, low, high, groups) for one in sums):
            return False
        for pieces, unit in unions:
            left = gaps(pieces, low, high, unit, groups, partial(self._is_between_steps, i))
            if left is None or not all(self._asked(i, *sliver) for sliver in left):
                return False
        return True

    def _free_groups(self, free: BoolArray) -> list[IntArray]:
        """Return the groups of which some column is free."""
        groups = self.setting.features.groups
        if not groups or not free[self._in_groups].any():  # most often
            return []
        return [group for group in groups if free[group].any()]

    @cached_property
    def _in_groups(self) -> IntArray:
        return np.concatenate(self.setting.features.groups)

    def _is_between_steps(self, i: int, low: FloatArray, high: FloatArray) -> bool:
        """Return whether some column of a box has no value in it: neither a step nor the own."""
        own, steps = self.answer.table.values[i], self._steps
        return any(
            steps[j].ceil(low[[j]])[0] > high[j] and not low[j] <= own[j] <= high[j]
            for j in np.flatnonzero(low < high).tolist()
            if j in steps
        )

    @cached_property
    def _steps(self) -> dict[int, Lattice]:
        return steps_of(self.setting, self.answer)

    def unions_of(self, label: int) -> list[tuple[Sequence[MarginRows], float]]:
        """Return the unions that a box of a class must lie in: see `unions_of`."""
        if label not in self.unions:
            self.unions[label] = unions_of(self.setting, label, self.answer.table)
        return self.unions[label]

    def is_exact(self, label: int) -> bool:
        """Return whether a box that is not shown to be of a class has a point that is not.

        So it is of one cell of linear rows, of cells that are boxes, and of sums of trees.
        """
        if label not in self.exact:
            self.exact[label] = all(_is_exact(pieces) for pieces, _ in self.unions_of(label))
        return self.exact[label]

    def sums_of(self, label: int) -> list[tuple[EnsembleRegion, float]]:
        """Return the sums of trees that a box of a class must lie in: see `sums_of`."""
        if label not in self.sums:
            self.sums[label] = sums_of(self.setting, label, self.answer.table)
        return self.sums[label]

    def whatever(self, i: int, columns: IntArray, ends: Limits) -> bool:
        """Return whether the class is kept by every value of the free features.

        Some ``columns`` lie between these ends; the others are those of the answer. Free categories
        are taken together, or, if that shows nothing and they are few, one after the other.
        """
        low, high = self.answer.around(i, columns, ends)
        if self.holds(i, low, high):
            return True
        if self.sums_of(int(self.answer.labels[i])):
            return False  # categories were looked at one after the other, as far as that helps
        groups = [g[high[g] >= 1] for g in self._free_groups(low < high)]
        if not groups or math.prod(map(len, groups)) > MOST_CATEGORIES:
            return False
        every = np.concatenate([g for g in self.setting.features.groups if low[g].max() < 1])
        for chosen in product(*groups):
            for side in (low, high):
                side[every], side[list(chosen)] = 0.0, 1.0
            if not self.holds(i, low, high):
                return False
        return True

    def relation(self, low: FloatArray, high: FloatArray) -> RuleRef | None:
        """Return a relation that fails somewhere in a box; None if all hold everywhere."""
        for g, h, rule in zip(*self._rows_of_relations(), strict=True):
            used = g != 0
            ends = np.where(g > 0, high, low)[used]
            worst = float((g[used] * ends).sum()) - h
            least = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
            slack = SATISFIED * (float((np.abs(g) * least)[used].sum()) + abs(h))
            if not worst <= slack:
                return rule
        return None

    def _in_trees(
        self, i: int, region: EnsembleRegion, share: float, low: FloatArray, high: FloatArray,
        groups: Sequence[IntArray],
    ) -> bool:  # fmt: skip
        """Return whether a box lies in a class of a sum of trees."""
        known = self.answer.points[i] if share > 0 and self._said[i] else None
        return lies_inside(region, low, high, share, known, groups)

    @cached_property
    def _said(self) -> BoolArray:
        """Which answers the model itself puts into their class."""
        answer = self.answer
        return np.asarray(self.setting.predict(answer.table, answer.points) == answer.labels)

    @property
    def _visible(self) -> BoolArray:
        return ~self.setting.features.hidden

    def _asked(self, i: int, low: FloatArray, high: FloatArray) -> bool:
        """Return whether the model gives the class to every number of a sliver in one column."""
        free = np.flatnonzero(low < high)
        if len(free) > 1:
            return False
        points = [low]
        while len(free) and points[-1][free[0]] < high[free[0]] and len(points) <= MOST_ASKED:
            points.append(points[-1].copy())
            points[-1][free[0]] = np.nextafter(points[-1][free[0]], np.inf)
        if len(points) > MOST_ASKED:
            return False
        rows, stacked = np.full(len(points), i), np.array(points)
        judged = judge(self.setting, self.ask(rows, stacked), stacked)
        return bool((judged.right & judged.deep).all())

    def _rows_of_relations(self) -> tuple[list[FloatArray], list[float], list[RuleRef]]:
        rules, features = self.setting.constraints, self.setting.features
        named = rules.named_relations(features) if self.relations else []
        pairs = zip(named, rules.read_relations, strict=True) if self.relations else ()
        refs = [rule for rule, relation in pairs for _ in relation.rows()]
        return [g for g, _ in self.relations], [float(h) for _, h in self.relations], refs
