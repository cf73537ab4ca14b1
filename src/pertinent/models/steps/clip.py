"""Columns that a step cuts off at two ends (``clip=True``).

A number x is then seen as ``min(max(x, a), b) = x - e``, where the excess e is 0 between the ends
and ``x - a`` or ``x - b`` beyond them: a hidden column that follows from the bin x falls in.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.geometry.region import AffineMap
from pertinent.models.steps.walk import Columns, Walk, cut_of
from pertinent.models.tolerances import CUT_OFF
from pertinent.tables.features import Binned


def cut_off(
    step: Foreign, columns: Columns, walk: Walk, first: FloatArray, last: FloatArray
) -> Columns:
    """Return ``min(max(column, first), last)`` of each column; ends have shape (n_columns,)."""
    columns.require_unbent(walk, step)
    if columns.products is not None:
        raise walk.refuse(step, "cuts products of columns off (clip=True). Fit it with clip=False.")
    matrix, shift = columns.map.dense().copy(), columns.map.shift.copy()
    for k, ends in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        _cut_one(step, columns, walk, k, ends, matrix, shift)
    raw = np.full(len(columns), -1)
    return Columns(columns.features, AffineMap(matrix, shift), raw, columns.names)


def _cut_one(
    step: Foreign,
    columns: Columns,
    walk: Walk,
    k: int,
    ends: tuple[float, float],
    matrix: FloatArray,
    shift: FloatArray,
) -> None:
    """Rewrite one row of the map."""
    features = columns.features
    inputs = np.flatnonzero(matrix[k])
    if not len(inputs):
        shift[k] = np.clip(shift[k], *ends)
        return
    group = group_of(columns, inputs)
    if group is not None:  # exactly one of these columns is 1: each value is cut off by itself
        matrix[k, group] = np.clip(matrix[k, group] + shift[k], *ends) - shift[k]
        return
    if len(inputs) > 1:
        if not _already_within(columns, k, inputs, ends):
            raise walk.refuse(
                step, "cuts a column off that mixes several raw features (clip=True). Fit it "
                "with clip=False, or put it in front of the step that mixes them.",
            )  # fmt: skip
        return
    slope, feature = float(matrix[k, inputs[0]]), int(features.owner[inputs[0]])
    edges = sorted((end - float(shift[k])) / slope for end in ends)
    if walk.recording:
        walk.cut(step, Binned(feature, (edges[0], edges[1]), clipped=True))
        return
    known = cut_of(features.binned, feature)
    assert known is not None
    matrix[k, features.bins[features.binned.index(known)].excess] = -slope


def group_of(columns: Columns, inputs: IntArray) -> IntArray | None:
    """Return the group of 0 and 1 that all inputs belong to, if there is one."""
    first, last = inputs.min(), inputs.max()
    for group in columns.features.groups:
        # Both are sorted: most groups lie elsewhere, which is seen at once.
        if group[0] <= first and last <= group[-1] and np.isin(inputs, group).all():
            return group
    return None


def _already_within(columns: Columns, k: int, inputs: IntArray, ends: tuple[float, float]) -> bool:
    """Return whether a number that an earlier step cut off cannot reach beyond the ends."""
    slope = columns.map.dense()[k]
    for bins in columns.features.bins:
        if bins.excess is not None and set(inputs) == {bins.column, bins.excess}:
            if slope[bins.excess] != -slope[bins.column]:
                return False
            reached = slope[bins.column] * bins.edges + columns.map.shift[k]
            room = CUT_OFF * (ends[1] - ends[0])
            return bool(reached.min() >= ends[0] - room and reached.max() <= ends[1] + room)
    return False
