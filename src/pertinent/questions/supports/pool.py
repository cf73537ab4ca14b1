"""Fewest features whose values may move, then the closest of them: one sample at a time.

A support is proposed by the search over additive rows (`supports.subsets`), and judged by
a projection with all other features held at rest. The multipliers of that projection become a
new additive row that excludes this support and usually many more:

    a Farkas ray y        sum_{i in S} max_x -s_i (x - r_i)                >=  y'(G r - h)
    dual multipliers y    sum_{i in S} max_x -s_i (x - r_i) - w_i|x - c_i|  >=  y'(G r - h) - best

with s = y'G. When no support meets all rows any more, the best one found is optimal, and the
multipliers are the proof (`pertinent.proofs.FewestProofs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Limits
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import is_over
from pertinent.proofs import Argument, Block, Certificate, LinearProofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.questions.supports.gains import Choices, any_of, with_forced
from pertinent.questions.supports.smallest import RegionPiece, exclude
from pertinent.questions.supports.subsets import Budget, Gains, Outcome, find_supports
from pertinent.questions.tolerances import (
    CANDIDATES,
    COST_ROUNDING,
    EQUAL_SLOPE,
    MOST_PARTS,
    REACH,
    SCALED,
    TIE,
)
from pertinent.setting.claims.bounds import search_gap
from pertinent.setting.margins import CLOSED
from pertinent.setting.options import Options
from pertinent.solvers import Projections, project
from pertinent.solvers.curved.halving import closes
from pertinent.solvers.problem import Task
from pertinent.solvers.search.engine import LastFirst, search


@dataclass(frozen=True, eq=False)
class Best:
    """The best support so far."""

    mask: BoolArray
    point: FloatArray
    cost: float


class Pool:
    """One sample and one piece of a region, with all that is known about its supports.

    Parameters
    ----------
    region : Cell or Region
        The piece.
    choices : Choices
        Of the one sample; the cell's own bounds are added.
    center : ndarray of shape (n_columns,)
        Columns of features that are on pay for their distance to it.
    weights : ndarray of shape (n_columns,)
    options : Options
    """

    def __init__(
        self,
        region: Cell | Region,
        choices: Choices,
        center: FloatArray,
        weights: FloatArray,
        options: Options,
    ) -> None:
        self.region, self.center, self.weights, self.options = region, center, weights, options
        self.piece = RegionPiece(region, choices)
        self.cell = cell = self.piece.cell
        #: How close to the best a cost counts as no better.
        self.gap = search_gap(region)
        self.choices = self.piece.choices
        self.domain, self.rest = self.choices.domain, self.choices.rest[0]
        self.low, self.high = self.choices.low[0], self.choices.high[0]
        self.over = cell.G @ self.rest - cell.h
        self.forced, self.granted = self.piece.forced[0], int(self.piece.granted[0])
        #: No support has fewer features, or more.
        self.least, self.most = float(self.piece.least[0]), int(self.piece.most[0])
        self.multipliers: list[FloatArray] = []
        self.ray: list[bool] = []
        self.excluded: list[tuple[BoolArray, Certificate, float]] = []
        self.doubtful: list[BoolArray] = []

    def argument(self, listed: Sequence[BoolArray] = ()) -> Argument:
        """Return what the proof rests on."""
        shape = (len(self.ray), len(self.cell.G))
        multipliers = np.array(self.multipliers).reshape(shape)
        excluded = tuple((mask, proof) for mask, proof, _ in self.excluded)
        return Argument(multipliers, np.array(self.ray, dtype=bool), excluded, tuple(listed))

    def moved(self, point: FloatArray) -> BoolArray:
        """Return which features do not rest."""
        away = point != self.rest
        if self.domain is not None:
            away &= ~self.domain.follows
        return np.asarray(any_of(away[None], self.choices.owner)[0])

    def gains(self, size: int, best: float, listed: list[BoolArray]) -> Gains:
        """Return the rows that a support of this size, cheaper than ``best``, has to meet."""
        gains, extra = self.piece.gains(size), self._rows(best)
        more = with_forced(extra[0][None], extra[1][None], self.choices)
        gains = Gains(
            np.concatenate([gains.gain, more.gain], axis=1),
            np.concatenate([gains.need, more.need], axis=1),
            gains.usable,
        )
        doubtful = [mask for mask in self.doubtful if mask.sum() == size]
        return exclude(gains, self.forced, [*listed, *doubtful])

    def _rows(self, best: float) -> tuple[FloatArray, FloatArray]:
        """Return the rows learned so far: of multipliers, and of supports that are excluded."""
        # Some feature outside an excluded support must be on.
        masks = [mask for mask, _, value in self.excluded if value >= best * (1 - self.gap)]
        outside = ~np.array(masks, dtype=bool).reshape(len(masks), len(self.forced))
        if not self.ray:
            return outside.astype(float), np.ones(len(masks))
        y, ray = np.array(self.multipliers), np.array(self.ray, dtype=bool)
        slopes = y @ self.cell.G
        gain = np.where(ray[:, None], self._feasible(slopes), self._cheap(slopes))
        need = y @ self.over - np.where(ray, 0.0, best)
        keep = np.isfinite(need)
        return (
            np.concatenate([gain[keep], outside.astype(float)]),
            np.concatenate([need[keep], np.ones(len(masks))]),
        )

    def _feasible(self, slopes: FloatArray) -> FloatArray:
        reach = REACH * (1.0 + np.abs(self.rest))
        down = np.maximum(self.low - self.rest, -reach)
        up = np.minimum(self.high - self.rest, reach)
        return np.asarray(np.maximum(-slopes * down, -slopes * up))

    def _cheap(self, slopes: FloatArray) -> FloatArray:
        best = np.full(slopes.shape, -np.inf)
        for end in (self.low, self.high, np.clip(self.center, self.low, self.high)):
            finite = np.where(np.isinf(end), self.rest, end)
            gain = -slopes * (finite - self.rest) - self.weights * np.abs(finite - self.center)
            best = np.maximum(best, np.where(np.isinf(end), -np.inf, gain))
        steep = ((slopes > self.weights) & np.isinf(self.low)) | (
            (-slopes > self.weights) & np.isinf(self.high)
        )
        return np.where(steep, np.inf, best)

    def judge(self, supports: BoolArray, best: float) -> tuple[FloatArray, FloatArray]:
        """Project onto each support; return points and costs, and learn from the multipliers."""
        on = self.choices.columns(supports)
        found = self._project(*self._held(on))
        cost = np.where(on, self.weights * np.abs(found.points - self.center), 0.0).sum(axis=1)
        cost = np.where(np.isnan(found.objective), np.inf, cost)
        reached = min(best, float(cost.min(initial=np.inf)))
        spent = np.where(on, 0.0, self.weights * np.abs(self.rest - self.center)).sum(axis=1)
        before = len(self.doubtful)
        # What a check does not show, by a rounding perhaps, can be halved now and not later on.
        known = found.bound if self._can_halve else found.believed
        none = np.isinf(found.believed) & (self.cell is not self.region)
        if none.any():
            self._rule_out(supports[none])
        for k in np.flatnonzero(~none).tolist():
            self._learn(k, supports[k], found, float(known[k] - spent[k]), reached)
        points = found.points
        if self.domain is None:
            for mask in self.doubtful[before:]:
                if is_over():
                    break
                k = int((supports == mask).all(axis=1).argmax())
                point, least = self._in_parts(mask)
                if least < cost[k]:
                    points[k], cost[k] = point, least
            self._settle(before, min(reached, float(cost.min(initial=np.inf))))
        return points, cost

    def _held(self, on: BoolArray) -> Limits:
        """Return the box in which columns that are off rest."""
        return np.where(on, self.low, self.rest), np.where(on, self.high, self.rest)

    def _rule_out(self, supports: BoolArray) -> None:
        """Learn that supports hold no point, after each has grown as far as that stays so.

        A region without rows says nothing of other supports: the largest rule out the most.
        """
        for j in np.flatnonzero(self.choices.usable[0]):
            if is_over():
                break
            more = supports.copy()
            more[:, j] = True
            none = np.isinf(self._project(*self._held(self.choices.columns(more))).believed)
            supports = np.unique(np.where(none[:, None], more, supports), axis=0)
        found = self._project(*self._held(self.choices.columns(supports)))
        for k, mask in enumerate(supports):
            self.excluded.append((mask, found.certificate.take(np.array([k])), np.inf))

    def _project(self, low: FloatArray, high: FloatArray) -> Projections:
        """Return the nearest points of the cell within several boxes."""
        n = len(low)
        centers = np.broadcast_to(self.center, low.shape)
        domain = None if self.domain is None else self.domain.take(np.zeros(n, dtype=np.int64))
        args = (centers, self.region, self.weights, low, high, self.options)
        return project(*args, domain=domain)

    def _in_parts(self, mask: BoolArray) -> tuple[FloatArray, float]:
        """Return the nearest point over parts of the range: a local method may have missed it."""
        on = np.flatnonzero(mask)
        ends = [self._cuts(int(j)) for j in on]
        if self.cell.is_linear or np.prod([len(e) - 1 for e in ends]) > MOST_PARTS:
            return self.rest, np.inf
        parts = list(product(*(pairwise(e) for e in ends)))
        low = np.repeat(self.rest[None], len(parts), axis=0)
        high = low.copy()
        low[:, on], high[:, on] = np.moveaxis(np.array(parts), 2, 0)
        found = self._project(low, high)
        cost = (self.weights * np.abs(found.points - self.center))[:, mask].sum(axis=1)
        cost = np.where(np.isnan(found.objective), np.inf, cost)
        return found.points[cost.argmin()], float(cost.min())

    def _cuts(self, j: int) -> FloatArray:
        """Return where to cut a feature's range: at the center, and halfway from it to an end."""
        low, high, center = self.low[j], self.high[j], self.center[j]
        cuts = [low, (low + center) / 2, center, (high + center) / 2, high]
        inside = [v for v in cuts if low <= v <= high]
        return np.unique([*(v for v in inside if np.isfinite(v)), low, high])

    def _settle(self, before: int, best: float) -> None:
        """Look again at doubtful supports now that the best is known better."""
        left = []
        for mask in self.doubtful[before:]:
            proof = self._halve(mask, best)
            if proof is None:
                left.append(mask)
            else:
                self.excluded.append((mask, proof, best))
        self.doubtful[before:] = left

    def _learn(
        self, k: int, mask: BoolArray, found: Projections, bound: float, best: float
    ) -> None:
        none = bool(np.isinf(bound))
        proofs = found.certificate.blocks[0].proofs if found.certificate.blocks else None
        of_rows = self.domain is None and self.cell is self.region
        if of_rows and isinstance(proofs, LinearProofs):
            y = np.maximum(proofs.multipliers[k], 0.0)
            self.multipliers.append(y if none else self._shrunk(y, mask))
            self.ray.append(bool(none))
            if self._excludes(-1, mask, best):
                return
            del self.multipliers[-1], self.ray[-1]
        rounding = COST_ROUNDING * float(
            (self.weights * (np.abs(self.center) + np.abs(self.rest))).sum()
        )
        proof = found.certificate.take(np.array([k]))
        value = np.inf if none else bound + rounding
        if not proof.trusted().all():
            value = 0.0  # a solver's word
        if value < best * (1 - self.gap):
            halved = self._halve(mask, best)
            proof, value = (proof, value) if halved is None else (halved, best)
        # What excludes this support no more than at a lower cost may still do so later on.
        self.excluded.append((mask, proof, value))
        if value < best * (1 - self.gap):
            self.doubtful.append(mask)

    @property
    def _can_halve(self) -> bool:
        return not self.cell.is_linear and self.domain is None

    def _halve(self, mask: BoolArray, best: float) -> Certificate | None:
        """Return the proof that a support costs no less than the best, by halving boxes."""
        if not self._can_halve:
            return None
        low, high = self._held(mask)
        spent = float((self.weights * np.abs(self.rest - self.center))[~mask].sum())
        claim = spent + best * (1 - self.gap / 2)
        limits = low[None], high[None], np.full(1, np.inf)
        task = Task(self.cell, self.center[None], self.weights, *limits)
        if not closes(task, claim):
            return None
        return Certificate(1, (Block(0, np.array([0]), HalvingProofs(np.array([claim]))),))

    def _shrunk(self, y: FloatArray, mask: BoolArray) -> FloatArray:
        """Return multipliers whose slopes stay below the weights where a feature has no end."""
        slopes = y @ self.cell.G
        endless = mask & np.where(slopes > 0, np.isinf(self.low), np.isinf(self.high))
        ratio = float((np.abs(slopes) / self.weights)[endless].max(initial=0.0))
        return y / ratio * (1 - SCALED) if 1 < ratio < 1 + EQUAL_SLOPE else y

    def _excludes(self, row: int, mask: BoolArray, best: float) -> bool:
        """Whether a row rules a support out (at a cost of ``best``, less what is a tie)."""
        y = self.multipliers[row]
        slopes = (y @ self.cell.G)[None]
        if self.ray[row]:
            return bool(self._feasible(slopes)[0][mask].sum() < y @ self.over)
        reach = self._cheap(slopes)[0][mask].sum()
        return bool(reach < y @ self.over - best * (1 - CLOSED))


class SampleSearch(LastFirst[Pool]):
    """All pieces of a region, for one sample.

    Parameters
    ----------
    pools : list of Pool
    budget : Budget

    Attributes
    ----------
    listed : list of ndarray of bool
        Supports already listed: they, and whatever contains them, are left out.
    proved_size : float
        No support, listed ones aside, has fewer features.
    stopped : bool
        Whether the search ended before all was decided.
    gap : float
        How close to the best cost the proof comes.
    """

    def __init__(self, pools: list[Pool], budget: Budget) -> None:
        self.pools, self.budget = pools, budget
        self.listed: list[BoolArray] = []
        self.spent, self.proved_size, self.stopped = 0, 0.0, False
        self.gap = max((pool.gap for pool in pools), default=CLOSED)

    def fewest(self, start: int) -> Best | None:
        """Return the closest of the smallest supports, from a size on."""
        last = max((p.most for p in self.pools if np.isfinite(p.least)), default=-1)
        for size in range(start, last + 1):
            if not self.stopped:
                self.proved_size = size
            best = self.closest(size)
            if best is not None:
                return best
            if self.budget.expired():
                self.stopped = True
                break
        if not self.stopped:
            self.proved_size = np.inf
        return None

    def closest(self, size: int, best: Best | None = None) -> Best | None:
        """Return the closest support with ``size`` features, over all pieces."""
        self.size, self.best = size, best
        self.seen: set[bytes] = set()
        search(self, [pool for pool in self.pools[::-1] if pool.least <= size <= pool.most])
        return self.best

    def kept(self, waiting: list[Pool]) -> list[Pool]:
        """Return the pieces that may hold a better support."""
        return [] if self.best is not None and self.best.cost <= 0 else waiting

    def leave(self, waiting: list[Pool]) -> None:
        """Note that pieces were not looked at."""
        self.stopped = True

    def advance(self, chosen: list[Pool]) -> list[Pool]:
        """Judge the supports that a piece proposes next; return the piece if it may have more."""
        pool, best, seen = chosen[0], self.best, self.seen
        cost = np.inf if best is None else best.cost
        gains = pool.gains(self.size, cost * (1 - TIE), self.listed)
        budget = Budget(max(0, self.budget.nodes - self.spent), self.budget.deadline)
        found = find_supports(gains, self.size - pool.granted, budget, most=CANDIDATES)
        self.spent += int(found.nodes.sum())
        self.stopped |= bool((found.outcome == Outcome.STOPPED).any())
        masks = np.repeat(pool.forced[None], len(found.features), axis=0)
        masks[np.arange(len(masks))[:, None], found.features] = True
        judged, self.seen = {mask.tobytes() for mask in masks}, set()
        if judged <= seen:
            # None, or judged before and not better: rounding keeps proposing them.
            return []
        points, costs = pool.judge(masks, cost)
        first = int(costs.argmin())
        if costs[first] < cost * (1 - TIE) or (best is None and np.isfinite(costs[first])):
            # A feature that did not move is not on.
            on = masks[first] & pool.moved(points[first])
            self.best = Best(on, points[first], float(costs[first]))
        if self.budget.expired() or self.spent > self.budget.nodes:
            self.stopped = True
            return []
        self.seen = seen | judged
        return chosen
