"""The face of all optima of one linear projection, searched for a second point by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.solvers.problem import SOLVED, Task
from pertinent.solvers.programs.linear import LinearProgram
from pertinent.solvers.tolerances import APART, FLAT


@dataclass(frozen=True, eq=False)
class Face:
    """What was found on a face.

    Parameters
    ----------
    verdict : int
        1 if the optimum is alone, 0 if there is another one, -1 if that is unclear.
    other : ndarray of shape (n_features,), optional
    multipliers : ndarray of shape (n_rows,), optional
        Optimal multipliers by which the optimum can be seen to be alone.
    """

    verdict: int
    other: FloatArray | None = None
    multipliers: FloatArray | None = None


def search_face(
    task: Task,
    row: int,
    point: FloatArray,
    y: FloatArray,
    can_rise: BoolArray,
    can_fall: BoolArray,
) -> Face:
    """Return whether an optimum is alone on its face, which multipliers ``y`` describe.

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
    pushed = LinearProgram(
        -push,
        cell.G,
        row_lower=np.where(tight, np.minimum(cell.h, activity), -np.inf),
        row_upper=np.maximum(cell.h, activity),
        lower=low,
        upper=high,
    ).solve()
    if pushed.outcome != SOLVED:
        return Face(-1)
    other, prices = pushed.v, -pushed.prices
    if np.abs(other - point).max() > APART * (1.0 + np.abs(point).max()):
        return Face(0, other)
    # Pushing moves only what sits at an end: the rest must be determined by the tight rows.
    inside = (point > low) & (point < high)
    rank = np.linalg.matrix_rank(cell.G[tight][:, inside]) if inside.any() else 0
    if rank < inside.sum():
        return Face(-1)
    prices = np.where(tight, prices, np.maximum(prices, 0.0))  # but for rounding they are
    return Face(1, multipliers=_strict(task, row, y, prices))


def _strict(task: Task, row: int, y: FloatArray, prices: FloatArray) -> FloatArray | None:
    """Return optimal multipliers that charge for leaving the optimum; None if there are none.

    Pushing features off their ends is in vain because of the prices z of the rows, ``(G'z)_i``
    being at least what feature i is pushed by, and 0 for features between their ends. So under
    ``y + t z`` whatever could move at no cost under ``y`` costs something. The step t must
    leave multipliers positive, and slopes ``|a_i|`` on the side of their weights where they are.
    """
    cell, weights = task.cell, task.weights
    slopes, turns = y @ cell.G, prices @ cell.G
    apart = np.abs(np.abs(slopes) - weights)
    room = np.where(apart <= FLAT * weights, weights, apart)
    turns = np.where(task.lower[row] == task.upper[row], 0.0, turns)
    limits = [room[turns != 0] / np.abs(turns[turns != 0]), y[prices < 0] / -prices[prices < 0]]
    step = 0.5 * min(limit.min(initial=np.inf) for limit in limits)
    return y + step * prices if 0 < step < np.inf else None
