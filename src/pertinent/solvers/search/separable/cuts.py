"""How a case is split: where the least point of its sum jumps, or where its sum is concave."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.proofs.cases.branch import LEAF, SPLIT
from pertinent.solvers.problem import Task
from pertinent.solvers.search.separable.ascent import Shown
from pertinent.solvers.search.separable.sums import Cases
from pertinent.solvers.search.split import Splits, choose_splits
from pertinent.solvers.tolerances import THIN

#: A number that jumps is cut where its row is met, but not this close to either end.
ENDS = 0.1


def choose_cuts(cases: Cases, shown: Shown, task: Task) -> Splits:
    """Return how to split cases; LEAF where nothing is left to split.

    A unit is decided first where the rules of change are broken.
    """
    points = cases.rows.points(cases.boxes.row, shown.after)
    by_rule = choose_splits(cases.rows.domain, cases.boxes, points, task)
    splits = Splits(
        np.where(by_rule.kind == SPLIT, LEAF, by_rule.kind),
        by_rule.place,
        by_rule.low,
        by_rule.high,
    )
    _cut(cases, splits, *_jumps(cases, shown))
    _cut(cases, splits, *_bends(cases, shown))
    rest = np.flatnonzero(splits.is_leaf)
    splits.put(rest, by_rule.take(rest))
    return splits


def _jumps(cases: Cases, shown: Shown) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the column that jumps most, where to cut it, and by how much it jumps."""
    before, after, rows = shown.before, shown.after, cases.rows
    row, every = cases.boxes.row, np.arange(len(before))
    size = np.abs(after - before)
    size[size <= THIN * (np.abs(after) + np.abs(before))] = 0.0
    size[rows.domain.in_group & (after < before)] = 0.0  # the category that is given up
    column = size.argmax(axis=1)
    first, last = before[every, column], after[every, column]
    missed, met = rows.values(row, before), rows.values(row, after)
    k = missed.argmax(axis=1)
    fall = (missed - met)[every, k]
    share = np.where(fall > 0, missed[every, k] / np.where(fall > 0, fall, 1.0), 0.5)
    at = first + np.clip(share, ENDS, 1.0 - ENDS) * (last - first)
    return column, np.where(first * last < 0, 0.0, at), size[every, column]


def _bends(cases: Cases, shown: Shown) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the number whose part of the sum is most concave, its middle, and by how much."""
    with np.errstate(invalid="ignore"):
        bent = np.maximum(-(shown.y @ cases.rows.square), 0.0) * (cases.high - cases.low) ** 2
    bent = np.where(cases.rows.domain.in_group | ~np.isfinite(bent), 0.0, bent)
    column, every = bent.argmax(axis=1), np.arange(len(bent))
    middle = (cases.low[every, column] + cases.high[every, column]) / 2
    return column, middle, bent[every, column]


def _cut(cases: Cases, splits: Splits, column: IntArray, at: FloatArray, much: FloatArray) -> None:
    """Split cases for which nothing is chosen yet, between two allowed values."""
    domain, boxes, rows = cases.rows.domain, cases.boxes, cases.rows
    some = np.flatnonzero(splits.is_leaf & (much > 0))
    grouped = some[domain.in_group[column[some]]]
    splits.choose(grouped, SPLIT, column[grouped], 0.0, 1.0)
    some = some[~domain.in_group[column[some]]]
    for j in np.unique(column[some]).tolist():
        here = some[column[some] == j]
        row = boxes.row[here]
        low = high = rows.start[row, j] + at[here] / rows.weights[j]
        if j in domain.confined:
            low = domain.floor(j, low, row)
            high = domain.ceil(j, np.nextafter(low, np.inf), row)
        fits = (low < boxes.upper[here, j]) & (high > boxes.lower[here, j])
        splits.choose(here[fits], SPLIT, j, low[fits], high[fits])
