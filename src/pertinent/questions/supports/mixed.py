"""Fewest features where some are categories, bins or whole numbers.

The search is that of `supports.fewest`, over features instead of columns. What a feature can
do for a linear row is the most over all of its values; a support that meets every row is judged by
a projection onto it, whose certificate excludes it. There are no closed forms here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, Region
from pertinent.questions.supports.engine import Pool, Search
from pertinent.questions.supports.fewest import Ask, Batch, Fewest
from pertinent.questions.supports.gains import Choices, with_forced
from pertinent.questions.supports.reach import corners, most_by_feature
from pertinent.questions.supports.subsets import Gains, smallest_size
from pertinent.setting.answers import Answers
from pertinent.setting.options import Options
from pertinent.setting.setting import Setting
from pertinent.solvers import project
from pertinent.solvers.search.narrow import Boxes, narrow
from pertinent.tables.features import Features
from pertinent.tables.table import Table


def fewest_mixed(prepared: Setting, table: Table, ask: Ask, domain: Domain) -> Fewest:
    """Return, for each sample, the smallest set of features and the closest point it holds."""
    return MixedBatch(prepared, table, ask, domain).run()


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """One sample, one cell: what each feature, turned on, can do for the linear rows.

    Attributes
    ----------
    low, high : ndarray of shape (n_columns,)
        Narrowed to what the domain leaves.
    rest : ndarray of shape (n_columns,)
    forced, free : ndarray of bool, shape (n_features,)
        Must be on, as the rest value is not allowed; may be on or off.
    stuck : bool
        Nothing at all is allowed.
    gain : ndarray of shape (n_rows, n_features)
        The most by which a feature lowers a row.
    need : ndarray of shape (n_rows,)
        By how much a row is too high at rest.
    """

    low: FloatArray
    high: FloatArray
    rest: FloatArray
    forced: BoolArray
    free: BoolArray
    stuck: bool
    gain: FloatArray
    need: FloatArray

    @classmethod
    def of(
        cls,
        cell: Cell,
        rest: FloatArray,
        low: FloatArray,
        high: FloatArray,
        tol: float,
        domain: Domain,
    ) -> FeatureRows:
        """Return the rows of one sample; ``domain`` is that of the sample."""
        state = np.zeros((1, 0), dtype=np.int8)
        box = Boxes(np.zeros(1, dtype=np.int64), low[None], high[None], state)
        tight, empty = narrow(domain, box)
        low, high = tight.lower[0], tight.upper[0]
        shown = ~domain.follows
        features = int(domain.owner.max()) + 1
        away = np.maximum(np.maximum(low - rest, rest - high), 0.0) > tol
        forced, moves = (np.zeros(features, dtype=bool) for _ in range(2))
        np.logical_or.at(forced, domain.owner[shown], away[shown])
        np.logical_or.at(moves, domain.owner[shown], ((low != rest) | (high != rest))[shown])
        free = ~forced & moves
        if empty[0]:
            none = np.zeros((len(cell.G), features))
            return cls(low, high, rest, forced, free, True, none, np.zeros(len(cell.G)))
        gain = most_by_feature(-cell.G, rest, corners(domain, low, high))
        return cls(low, high, rest, forced, free, False, gain, cell.G @ rest - cell.h)


@dataclass(eq=False)
class MixedPool(Pool):
    """One sample and one cell, with all that is known about its sets of features."""

    domain: Domain = field(kw_only=True)
    features: Features = field(kw_only=True)
    rows: FeatureRows = field(kw_only=True)

    @classmethod
    def about(
        cls,
        cell: Cell,
        center: FloatArray,
        rows: FeatureRows,
        domain: Domain,
        prepared: Setting,
        options: Options,
    ) -> MixedPool:
        """Return the pool of one sample's rows."""
        forced, barred = rows.forced[None], ~(rows.forced | rows.free)[None]
        off, on = np.zeros(forced.shape), np.ones(forced.shape)
        choices = Choices(off, on, on, forced, barred)
        weights, features = prepared.weights, prepared.features
        return cls(
            cell, choices, center, weights, options, domain=domain, features=features, rows=rows
        )

    def __post_init__(self) -> None:
        self.rest, self.low, self.high = self.rows.rest, self.rows.low, self.rows.high
        self.forced = self.rows.forced
        self.granted = int(self.forced.sum())
        self.usable = self.rows.free
        size, _ = smallest_size(self.base_gains(len(self.forced)))
        none = size[0] > self.usable.sum() or self.rows.stuck
        self.least = np.inf if none else float(self.granted + size[0])

    def base_gains(self, size: int) -> Gains:
        """Return what each feature can do for each linear row."""
        return with_forced(self.rows.gain[None], self.rows.need[None], self.choices)

    def moved(self, point: FloatArray) -> BoolArray:
        """Return which features do not rest."""
        return np.asarray(self.features.by_feature((point != self.rest)[None])[0])

    def _rows(self, best: float) -> tuple[FloatArray, FloatArray]:
        # Some feature outside an excluded support must be on.
        masks = [mask for mask, _, value in self.excluded if value >= best * (1 - self.gap)]
        outside = ~np.array(masks, dtype=bool).reshape(len(masks), len(self.forced))
        return outside.astype(float), np.ones(len(masks))

    def judge(self, supports: BoolArray, best: float) -> tuple[FloatArray, FloatArray]:
        """Project onto each support; return points and costs, and keep the certificates."""
        on = self.features.by_column(supports)
        low, high = np.where(on, self.low, self.rest), np.where(on, self.high, self.rest)
        centers = np.broadcast_to(self.center, low.shape)
        domain = self.domain.take(np.zeros(len(supports), dtype=np.int64))
        found = project(centers, self.cell, self.weights, low, high, self.options, domain=domain)
        cost = np.where(on, self.weights * np.abs(found.points - self.center), 0.0).sum(axis=1)
        cost = np.where(np.isnan(found.objective), np.inf, cost)
        reached = min(best, float(cost.min(initial=np.inf)))
        spent = np.where(on, 0.0, self.weights * np.abs(self.rest - self.center)).sum(axis=1)
        rounding = 1e-12 * float((self.weights * (np.abs(self.center) + np.abs(self.rest))).sum())
        for k, mask in enumerate(supports):
            proof = found.certificate.take(np.array([k]))
            value = float(found.bound[k] - spent[k]) + rounding
            value = value if proof.trusted().all() else 0.0  # a solver's word
            self.excluded.append((mask, proof, value))
            if value < reached * (1 - self.gap):
                self.doubtful.append(mask)
        return found.points, cost


class MixedBatch(Batch):
    """One batch on its way from sets of features to checked answers."""

    def __init__(self, prepared: Setting, table: Table, ask: Ask, domain: Domain) -> None:
        super().__init__(prepared, table, ask)
        self.domain = domain
        self.mask = np.zeros((len(table), len(prepared.features)), dtype=bool)

    def _supports(self, rows: IntArray, region: Region) -> None:
        for row in rows:
            self._search(int(row), region, self.margin)

    def begin(self, row: int, region: Region, listed: list[BoolArray]) -> Search:
        """Return a fresh search for one sample."""
        ask, domain = self.ask, self.domain.take(np.array([row]))
        options = replace(self.prepared.options, unique=False)
        pools: list[Pool] = []
        for cell in require_cells(region):
            low = np.maximum(ask.lower[row], cell.lower)
            high = np.minimum(ask.upper[row], cell.upper)
            rows = FeatureRows.of(cell, ask.rest[row], low, high, ask.off_tol, domain)
            center = self.samples[row]
            pools.append(MixedPool.about(cell, center, rows, domain, self.prepared, options))
        return Search(pools, self.ask.effort.limits(), listed)

    def columns(self, mask: BoolArray) -> BoolArray:
        """Return the columns of features."""
        return self.prepared.features.by_column(mask)

    def changed(self, row: int, point: FloatArray) -> BoolArray:
        """Return which features of a point do not rest."""
        away = np.abs(point - self.ask.rest[row]) > self.ask.off_tol
        return np.asarray(self.prepared.features.by_feature(away[None])[0])

    def proof_domain(self, rows: IntArray) -> Domain | None:
        """Return the domain that proofs about some samples speak of."""
        return self.domain.take(rows)

    @property
    def in_boxes(self) -> bool:
        """Whether closed forms for boxes apply: not to categories."""
        return False

    def _towards_hints(self, rows: IntArray, answers: Answers) -> Answers:
        return answers
