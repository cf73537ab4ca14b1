"""The face of all optima of one linear projection, searched for a second point by HiGHS."""

from __future__ import annotations

import highspy
import numpy as np

from pertinent._typing import BoolArray, FloatArray
from pertinent.projection.problem import Task


def second_optimum(
    task: Task,
    row: int,
    point: FloatArray,
    y: FloatArray,
    can_rise: BoolArray,
    can_fall: BoolArray,
) -> tuple[int, FloatArray | None]:
    """Return 1 if the optimum is alone on its face, 0 with another optimum, -1 if unclear.

    On the face, features with a nonzero reduced cost keep their value, the others stay on their
    side of the center, and rows with a positive multiplier stay tight. Features that sit at an
    end of what is left to them are pushed off it as far as possible.
    """
    cell, center = task.cell, task.centers[row]
    fall_to = np.where(point > center, np.maximum(task.lower[row], center), task.lower[row])
    rise_to = np.where(point < center, np.minimum(task.upper[row], center), task.upper[row])
    low = np.where(can_fall, fall_to, point)
    high = np.where(can_rise, rise_to, point)
    push = np.where(point <= low, 1.0, 0.0) - np.where(point >= high, 1.0, 0.0)
    # An endless face needs an end to show a second point, away from the first.
    reach = 1.0 + np.abs(point)
    low = np.where(np.isfinite(low), low, point - reach)
    high = np.where(np.isfinite(high), high, point + reach)
    tight = y > 0
    activity = cell.G @ point
    other = _maximise(
        push,
        low,
        high,
        cell.G,
        np.where(tight, np.minimum(cell.h, activity), -np.inf),
        np.maximum(cell.h, activity),
    )
    if other is None:
        return -1, None
    if np.abs(other - point).max() > 1e-7 * (1.0 + np.abs(point).max()):
        return 0, other
    # Pushing moves only what sits at an end: the rest must be determined by the tight rows.
    inside = (point > low) & (point < high)
    rank = np.linalg.matrix_rank(cell.G[tight][:, inside]) if inside.any() else 0
    return (1 if rank == inside.sum() else -1), None


def _maximise(
    push: FloatArray,
    low: FloatArray,
    high: FloatArray,
    G: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
) -> FloatArray | None:
    """Return an optimum of ``max push'x`` within the ranges and rows, None if there is none."""
    m, d = G.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = d, m
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = -push, low, high
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(0, d * m + 1, m)
    lp.a_matrix_.index_ = np.tile(np.arange(m, dtype=np.int32), d)
    lp.a_matrix_.value_ = G.T.ravel()
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)
