"""Sufficient sets for one cell with separable rows: a search against the worst case."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import SHARED, BoolArray, FloatArray, IntArray, Rows
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, row_products
from pertinent.proofs import Certificate
from pertinent.questions.supports.gains import best_alone
from pertinent.questions.supports.reach import corners, pushes, worst_place
from pertinent.questions.supports.smallest import smallest
from pertinent.questions.supports.subsets import Gains
from pertinent.setting.effort import Effort
from pertinent.setting.judge import judge_points
from pertinent.setting.nearest.ladder import climb
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is, Kind
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class Varying(Rows):
    """Samples of class k, and between which values their features vary that are not kept.

    ``rest`` is where these are in the point that is handed out, where the setting is one for an
    only sample; None elsewhere.
    """

    setting: Setting = field(metadata=SHARED)
    table: Table
    k: int
    lower: FloatArray
    upper: FloatArray
    effort: Effort = field(metadata=SHARED)
    domain: Domain | None = None
    rest: FloatArray | None = None


@dataclass(eq=False)
class Suffices:
    """Sufficient sets for some samples of one class.

    Attributes
    ----------
    mask : ndarray of bool, shape (n, n_features)
    found : ndarray of bool, shape (n,)
    size : ndarray of shape (n,)
        Claimed: no smaller set suffices; ``inf``: not even all features do.
    reason : ndarray of object, shape (n,)
    rivals : tuple of ndarray, or None
        Points of other classes that every sufficient set must rule out.
    extra : dict of int to ndarray
        Multipliers of further rows that the proof needs.
    none_left : Certificate, optional
        That no point of another class has the values of the set, where a solver told so.
    """

    mask: BoolArray
    found: BoolArray
    size: FloatArray
    reason: NDArray[np.object_]
    rivals: tuple[FloatArray, ...] | None = None
    extra: dict[int, FloatArray] = field(default_factory=dict)
    none_left: Certificate | None = None


def keep_worst_case(asked: Varying) -> Suffices:
    """Return the fewest features that hold every row in its worst case."""
    setting, table = asked.setting, asked.table
    margin, least = setting.margin_for(table), setting.enough_for_rounding(table)
    answer, wrong = _attempt(asked, margin)
    answer.found[wrong], answer.reason[wrong] = False, Reason(Why.WORST_CASE)

    def again(rows: IntArray, margins: FloatArray) -> IntArray:
        found, still = _attempt(asked.take(rows), setting.asked_margin + float(margins[0]))
        found.found[still] = False
        answer.mask[rows], answer.found[rows] = found.mask, found.found
        # That no set keeps a larger margin is no reason why none keeps the one asked for.
        answer.reason[rows[found.found]] = None
        return np.asarray(rows[still])

    climb(wrong, np.full(len(table), margin - setting.asked_margin), again, least=least)
    return answer


def _attempt(asked: Varying, margin: float) -> tuple[Suffices, IntArray]:
    """Return the smallest sets that meet the rows of the class, and those the judge refuses."""
    cell = require_cells(asked.setting.region(Is(asked.k), margin))[0]
    gains = worst_gains(cell, asked.table.values, asked.lower, asked.upper, asked.domain)
    found = smallest(gains, asked.effort.budget(len(gains)))
    reason: NDArray[np.object_] = np.full(len(gains), None, dtype=object)
    reason[~found.found] = Reason(Why.STOPPED)
    reason[np.isinf(found.bound)] = Reason(Why.TOO_CLOSE)
    extra = {row: y for (row, _), y in found.extra.items()}
    answer = Suffices(found.mask, found.found, found.bound, reason, None, extra)
    return answer, _refused(asked, cell, answer)


def worst_gains(
    cell: Cell,
    x: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    domain: Domain | None = None,
) -> Gains:
    """Return what fixing each feature takes off each row's worst case."""
    if domain is not None:
        return _mixed_gains(cell, x, lower, upper, domain)
    low, high = lower - x, upper - x
    gain = np.maximum(-cell.G[None] * -low[:, None, :], cell.G[None] * high[:, None, :])
    over = row_products(x, cell.G) - cell.h
    parts, overs = [gain], [over]
    for row in cell.quadratics:
        a = np.diag(row.A)
        slope = row.gradient(x)
        parts.append(best_alone(-a, -slope, low, high)[:, None, :])
        overs.append(row.value(x)[:, None])
    gain, over = np.concatenate(parts, axis=1), np.concatenate(overs, axis=1)
    return Gains(np.maximum(gain, 0.0), over + np.maximum(gain, 0.0).sum(axis=2), upper > lower)


def _mixed_gains(
    cell: Cell, x: FloatArray, lower: FloatArray, upper: FloatArray, domain: Domain
) -> Gains:
    """Return the same where a feature is a category, bins or a whole number."""
    parts = [
        pushes(cell, x[i], lower[i], upper[i], domain.take(np.array([i]))) for i in range(len(x))
    ]
    gain, need = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    return Gains(gain, need, np.ones((len(x), gain.shape[2]), dtype=bool))


def _refused(asked: Varying, cell: Cell, answer: Suffices) -> IntArray:
    """Return the samples for which the judge refuses the worst case of some linear row."""
    table, (m, d), n = asked.table, cell.G.shape, len(asked.table)
    if not m:
        return np.zeros(0, dtype=np.int64)
    if asked.domain is None:
        g = cell.G[:, None]
        corner = np.where(g > 0, asked.upper, np.where(g < 0, asked.lower, table.values))
    else:
        corner = _worst_places(cell.G, table.values, asked.lower, asked.upper, asked.domain)
    kept = asked.setting.features.by_column(answer.mask)
    points = np.where(kept, table.values, corner).reshape(m * n, d)
    if asked.rest is not None:  # a call costs more than a point: ask about what is handed out, too
        handed = np.where(kept, table.values, asked.rest)
        asked.setting.foresee(table, np.concatenate([points, handed]))
    rows = np.tile(np.arange(n), m)  # all samples for the first row, then for the next
    limits, labels = (asked.lower[rows], asked.upper[rows]), np.full(m * n, asked.k)
    judged = judge_points(asked.setting, table.take(rows), points, Kind.IS, labels, limits)
    # A corner stands for the points around it: no rule about single values speaks of it.
    bad = ~(judged.right & judged.deep).reshape(m, n).all(axis=0)
    return np.flatnonzero(bad & answer.found)


def _worst_places(
    G: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray, domain: Domain
) -> FloatArray:
    """Return where each linear row is largest for each sample, among what is allowed.

    Of shape (n_rows, n, n_columns).
    """
    out = np.empty((len(G), *x.shape))
    for i in range(len(x)):
        places = corners(domain.take(np.array([i])), lower[i], upper[i])
        for k, g in enumerate(G):
            out[k, i] = worst_place(g, x[i], places)
    # A number on the edge of two bins has the columns of the one it falls in.
    return domain.completed(out.reshape(-1, x.shape[1])).reshape(out.shape)
