"""Proofs for rows of bent columns: a tree of boxes, each with its multipliers.

For multipliers ``y >= 0`` of the rows ``G x + B f(x) <= h`` every point of a box costs at least

    min over the box of  cost(x) + y'(G x + B f(x) - h),

a sum of one small problem for each number, group of categories or bin. That of a number seen
through curves, ``min w |x - c| + s x + sum_m b_m f_m(x)``, is bounded by halving: between two
numbers p < q the first terms are least at an end or at c, and a curve that rises lies between its
values at p and q. Nothing else is used of it, so corners, steps and flat parts do not matter; what
its values may be rounded by is taken off.

A point that costs more than a *cap* need not be looked at to see that no point costs less: each
number stays within ``cap / w`` of its center, and the bound is never above the cap.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pertinent.geometry.affine import BentRows, Curve
from pertinent.geometry.arrays import SHARED, BoolArray, FloatArray, IntArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import as_cell
from pertinent.geometry.region import Cell, row_products
from pertinent.geometry.rounding import ROUNDOFF
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.cases.branch import TreeProofs
from pertinent.proofs.cases.leaves import Parts, start_of
from pertinent.proofs.cases.narrowing import Boxes
from pertinent.proofs.rounding import RowTerms, rounding_unit
from pertinent.proofs.tolerances import CURVES, MOST_PIECES, PIECE, PIECES_ROUNDS, REACH


@record_as("bent-branch")
@dataclass(frozen=True, eq=False)
class BentProofs(TreeProofs):
    """Trees of boxes, one for each row, with multipliers for each leaf.

    Parameters
    ----------
    roots, tree
        As in `TreeProofs`.
    multipliers : ndarray of shape (n_proofs, n_rows)
        Of the linear rows of the cell, then of those over bent columns.
    ray : ndarray of bool, shape (n_proofs,)
        Whether they are to show that there is no point.
    cap : ndarray of shape (n,)
        The cost beyond which nothing is looked at; ``inf`` where everything is.
    """

    multipliers: FloatArray = field(metadata=SHARED)
    ray: BoolArray = field(metadata=SHARED)
    cap: FloatArray

    def bounds(self, task: Task) -> FloatArray:
        """Return the smallest bound over the leaves of each row, at most its cap."""
        if as_cell(task.region) is None:
            return np.zeros(len(self))
        domain = task.domain
        if domain is None:
            domain = Domain(np.full(task.centers.shape[1], np.nan))
        cap = np.where(self.cap >= 0, self.cap, 0.0)  # no number is no cap
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(task.weights > 0, cap[:, None] / task.weights, np.inf)
        reach = reach * (1.0 + PIECE) + PIECE * np.abs(task.centers)
        lower = np.maximum(task.lower, task.centers - reach)
        upper = np.minimum(task.upper, task.centers + reach)
        near = replace(task, domain=domain, lower=lower, upper=upper)
        return np.minimum(super().bounds(near), cap)

    def leaf_bounds(self, used: IntArray, task: Task, domain: Domain, boxes: Boxes) -> FloatArray:
        """Return what rows of multipliers prove about leaves."""
        rows = task.cell.sums_of_curves
        if self.multipliers.shape[1:] != rows.h.shape:
            return np.zeros(len(used))  # one for each row, or nothing is known of any
        y = np.nan_to_num(np.maximum(self.multipliers[used], 0.0), posinf=0.0)
        ray, cap = self.ray[used], self.cap[boxes.row]
        leaves = _Leaves(rows, y, ray, cap, task.centers[boxes.row], task.weights, boxes, domain)
        return leaves.bounds()

    def _kept(self, used: IntArray) -> dict[str, Any]:
        return {"multipliers": self.multipliers[used], "ray": self.ray[used]}


@dataclass(frozen=True, eq=False)
class _Leaves:
    """Some boxes with the multipliers that say something of each."""

    rows: BentRows
    y: FloatArray
    ray: BoolArray
    cap: FloatArray
    centers: FloatArray
    weights: FloatArray
    boxes: Boxes
    domain: Domain

    def bounds(self) -> FloatArray:
        """Return what is proved; ``inf`` for a ray that holds."""
        out = np.zeros(len(self.y))
        for is_ray in (False, True):
            some = np.flatnonzero(self.ray == is_ray)
            if not len(some):
                continue
            part = replace(
                self, y=self.y[some], ray=self.ray[some], cap=self.cap[some],
                centers=self.centers[some], boxes=self.boxes.take(some),
            )  # fmt: skip
            least = part.least(np.zeros_like(self.weights) if is_ray else self.weights)
            out[some] = np.where(least > 0, np.inf, 0.0) if is_ray else least
        return np.where(np.isnan(out), 0.0, out)

    def least(self, weights: FloatArray) -> FloatArray:
        """Return less than ``cost + y'(rows)`` is anywhere in each box, with these weights."""
        rows, y, boxes = self.rows, self.y, self.boxes
        slopes = row_products(y, np.ascontiguousarray(rows.G.T))
        factors = row_products(y, np.ascontiguousarray(rows.B.T))
        columns: dict[int, list[int]] = {}
        for m, curve in enumerate(rows.curves):
            columns.setdefault(curve.column, []).append(m)
        parts = Parts.of(self.domain, frozenset(columns))
        others = np.ones(rows.dim, dtype=bool)
        others[list(columns)] = False
        start = np.where(others, start_of(self.domain, self.centers, boxes), 0.0)
        price = np.where(others, weights, 0.0)
        plain = np.where(others, slopes, 0.0)
        cost = (price * np.abs(start - self.centers)).sum(axis=1)
        beside = row_products(y, rows.h[None])[:, 0]
        total = cost + (plain * start).sum(axis=1) - beside
        total = total + parts.least(plain, price, self.centers, start, boxes)
        total[parts.falls_beyond(plain, price, boxes)] = -np.inf
        # What rounding may have added: every term, wherever in its box.
        flat = Cell(np.where(others, rows.G, 0.0), rows.h)
        terms = parts.folded(RowTerms(y, flat, start).full)
        reach = np.maximum(boxes.upper - start, start - boxes.lower)
        reach = np.where(np.isfinite(reach), reach, REACH * (1.0 + np.abs(start)))
        unit = rounding_unit(rows.dim + len(rows.curves), len(rows))
        total = total - terms.rounded(np.where(others, reach, 0.0))
        total = total - unit * (cost + np.abs(np.where(np.isfinite(total), total, 0.0)))
        for j, places in columns.items():
            curves = [rows.curves[m] for m in places]
            number = _Number(
                j, curves, weights[j], self.centers[:, j], slopes[:, j], factors[:, places],
                boxes.lower[:, j], boxes.upper[:, j], boxes.row, self.domain,
            )  # fmt: skip
            total = total + number.least(self._allowed(len(columns)))
        return np.asarray(total)

    def _allowed(self, count: int) -> FloatArray:
        """Return how much each number may be off by: a share of the cap, or next to nothing."""
        near = PIECE * np.abs(self.y * self.rows.h).sum(axis=1)
        return np.where(np.isfinite(self.cap), CURVES * self.cap, near) / count


@dataclass(frozen=True, eq=False)
class _Number:
    """The small problems of one number seen through curves, one for each box.

    ``min w |x - c| + s x + sum_m b_m f_m(x)`` over the allowed numbers of ``low <= x <= high``.
    """

    column: int
    curves: list[Curve]
    weight: float
    center: FloatArray
    slope: FloatArray
    factors: FloatArray
    low: FloatArray
    high: FloatArray
    row: IntArray
    domain: Domain

    def least(self, allowed: FloatArray) -> FloatArray:
        """Return a lower bound of each, which halving ends as soon as it is off by ``allowed``."""
        n = len(self.low)
        box, left, right = np.arange(n), self.low, self.high
        near = np.clip(self.center, left, right)
        best = np.minimum(self._at(box, near), np.full(n, np.inf))
        if self._is_confined:  # the center may not be one of the numbers: the ends are
            best = np.full(n, np.inf)
        at_left, at_right = self._curves(box, left), self._curves(box, right)
        floor, rounds = np.full(n, np.inf), 0
        while len(box):
            for end, bent in ((left, at_left), (right, at_right)):
                with np.errstate(invalid="ignore"):
                    value = self._straight(box, end) + (self.factors[box] * bent).sum(axis=1)
                np.minimum.at(best, box[np.isfinite(value)], value[np.isfinite(value)])
            lowest = self._below(box, left, right, at_left, at_right)
            middle = self._middle(left, right)
            cut = (left < middle) & (middle < right)
            cut &= lowest < best[box] - allowed[box]
            if rounds >= PIECES_ROUNDS or np.count_nonzero(cut) > MOST_PIECES or is_over():
                cut[:] = False
            np.minimum.at(floor, box[~cut], lowest[~cut])
            box, left, right, middle = box[cut], left[cut], right[cut], middle[cut]
            at_left, at_right = at_left[cut], at_right[cut]
            first, last = middle, middle
            if self._is_confined:
                rows = self.row[box]
                first = self.domain.floor(self.column, middle, rows)
                last = self.domain.ceil(self.column, np.nextafter(first, np.inf), rows)
            at_first = self._curves(box, first)
            at_last = self._curves(box, last) if self._is_confined else at_first
            box = np.concatenate([box, box])
            left, right = np.concatenate([left, last]), np.concatenate([first, right])
            at_left = np.concatenate([at_left, at_last])
            at_right = np.concatenate([at_first, at_right])
            some = left <= right
            box, left, right = box[some], left[some], right[some]
            at_left, at_right = at_left[some], at_right[some]
            rounds += 1
        return floor

    @property
    def _is_confined(self) -> bool:
        return bool(self.column in self.domain.confined)

    @staticmethod
    def _middle(left: FloatArray, right: FloatArray) -> FloatArray:
        """Return a number between; of endless ones, one far out on the scale of their ends."""
        low = np.where(np.isfinite(left), left, np.minimum(-1.0, 4 * right))
        high = np.where(np.isfinite(right), right, np.maximum(1.0, 4 * left))
        return np.asarray(low + (high - low) / 2)

    def _curves(self, box: IntArray, x: FloatArray) -> FloatArray:
        """Return the curves at some numbers, shape (n, n_curves); infinite ones at no number."""
        out = np.empty((len(x), len(self.curves)))
        for m, curve in enumerate(self.curves):
            out[:, m] = curve(x)
        return out

    def _straight(self, box: IntArray, x: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            value = self.weight * np.abs(x - self.center[box]) if self.weight else 0.0 * x
            sloped = np.where(self.slope[box] == 0, 0.0, self.slope[box] * x)
            return np.asarray(np.where(np.isnan(value), 0.0, value) + sloped)

    def _at(self, box: IntArray, x: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            value = self._straight(box, x) + (self.factors[box] * self._curves(box, x)).sum(axis=1)
        return np.where(np.isfinite(value), value, np.inf)

    def _below(
        self,
        box: IntArray,
        left: FloatArray,
        right: FloatArray,
        at_left: FloatArray,
        at_right: FloatArray,
    ) -> FloatArray:
        """Return less than the sum is anywhere between two numbers."""
        near = np.clip(self.center[box], left, right)
        ends = [self._straight(box, x) for x in (left, near, right)]
        # Towards an open end the straight part must not fall.
        falls = np.where(np.isinf(left), self.slope[box] > self.weight, False)
        falls |= np.where(np.isinf(right), self.slope[box] < -self.weight, False)
        finite = [np.where(np.isnan(value), np.inf, value) for value in ends]
        straight = np.where(falls, -np.inf, np.minimum.reduce(finite))
        factors = self.factors[box]
        with np.errstate(invalid="ignore"):
            one, other = factors * at_left, factors * at_right
        bent = np.minimum(np.where(factors == 0, 0.0, one), np.where(factors == 0, 0.0, other))
        beside = np.array([curve.beside for curve in self.curves])
        known = (np.where(np.isfinite(at), np.abs(at), 0.0) for at in (at_left, at_right))
        size = np.maximum(*known) + beside
        off = 32 * ROUNDOFF * np.where(factors == 0, 0.0, np.abs(factors) * size)
        sizes = self.weight * (np.abs(near) + np.abs(self.center[box])) + np.abs(straight)
        lowest = straight + (bent - off).sum(axis=1) - 32 * ROUNDOFF * sizes
        return np.where(np.isnan(lowest), -np.inf, lowest)
