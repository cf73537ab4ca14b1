"""The model has the last word: points as handed out, judged by predict and by the rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.features import Table
from pertinent.prepared import GROWTH, Prepared, into_bounds

REFUSED = "the point found does not pass the model's predict, even with a margin of {:g}"


@dataclass(frozen=True, eq=False)
class Judged:
    """Points in the form handed out, what they are predicted as, and whether they will do."""

    points: FloatArray
    predicted: IntArray
    valid: BoolArray


def judge(
    prepared: Prepared,
    table: Table,
    points: FloatArray,
    kind: str,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Judged:
    """Return the points as handed out, with the model's verdict.

    Parameters
    ----------
    prepared : Prepared
    table : Table
        Says in which form points are handed out.
    points : ndarray of shape (n, n_features)
    kind : {"is", "not"}
        Whether a point must be predicted as its label, or as any other.
    labels : ndarray of int, shape (n,)
    lower, upper : ndarray broadcastable to (n, n_features)
    """
    low, high = np.broadcast_to(lower, points.shape), np.broadcast_to(upper, points.shape)
    handed = into_bounds(table.as_handed_out(points), low, high, table.single_precision)
    predicted = prepared.predict(table, handed)
    right = (predicted == labels) if kind == "is" else (predicted != labels)
    obeys = ((handed >= low) & (handed <= high)).all(axis=1)
    return Judged(handed, predicted, right & obeys)


def grown(margin: float) -> float:
    """Return the margin of the next attempt."""
    return max(margin, 1e-9) * GROWTH
