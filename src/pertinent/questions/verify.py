"""The model has the last word: points as handed out, judged by predict and by the rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pertinent.answering.nearest import GROWTH
from pertinent.density.measure import by_sample
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import into_bounds
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class Judged:
    """Points in the form handed out, what they are predicted as, and whether they will do."""

    points: FloatArray
    predicted: IntArray
    valid: BoolArray


def judge(
    prepared: Setting,
    table: Table,
    points: FloatArray,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Judged:
    """Return the points as handed out, with the model's verdict.

    Parameters
    ----------
    prepared : Setting
    table : Table
        Says in which form points are handed out.
    points : ndarray of shape (n, n_features)
    kind : Kind
        Whether a point must be predicted as its label, or as any other.
    labels : ndarray of int, shape (n,)
    lower, upper : ndarray broadcastable to (n, n_features)
    """
    low, high = np.broadcast_to(lower, points.shape), np.broadcast_to(upper, points.shape)
    handed = into_bounds(table.as_handed_out(points), low, high, table.single_precision)
    predicted = prepared.predict(table, handed)
    right = kind.holds(predicted, labels)
    right &= prepared.is_sure(kind, labels, handed, table)
    obeys = ((handed >= low) & (handed <= high)).all(axis=1)
    return Judged(handed, predicted, right & obeys)


def refuse_categories(prepared: Setting, asked: str) -> None:
    """Say that columns of one feature cannot be chosen one by one."""
    if not prepared.features.is_plain:
        raise InputError(
            f"{asked} chooses among features that are numbers, and this model also takes "
            'categories or bins. Use method="two-phase" or "exact", which know them.'
        )


def refuse_blends(prepared: Setting, asked: str) -> None:
    """Say that points which are blends of others cannot be chosen feature by feature."""
    if by_sample(prepared.within):
        raise InputError(f"{asked} does not know this kind of plausibility. Leave it out.")


def grown(prepared: Setting, table: Table, used: float) -> float:
    """Return the margin of the next attempt: first what rounding needs, then ever more."""
    return max(prepared.margin_for(table), used * GROWTH)


R = TypeVar("R", Positives, Negatives)


def doubted(prepared: Setting, results: R) -> R:
    """Return the results with nothing claimed where a region does not hold its own sample.

    See `doubt`: what the model predicts there is its own rounding, and proofs about its
    region prove nothing.
    """
    if not prepared.may_fold_badly or not len(results):
        return results
    rows = prepared.misplaced(results.table)
    if not rows.any():
        return results
    status, reason = results.status_code.copy(), results.reasons.copy()
    gone = rows & (status == INFEASIBLE)
    status[rows & (status == OPTIMAL)] = FEASIBLE
    status[gone] = FAILED
    reason[gone] = Reason(Why.MISPLACED)
    others = tuple(
        tuple(replace(other, proved=False) for other in listed) if rows[i] else listed
        for i, listed in enumerate(results.alternatives)
    )
    changes: dict[str, Any] = {
        "status_code": status,
        "reasons": reason,
        "alternatives": others,
        "unique_code": np.where(rows, -1, results.unique_code).astype(np.int8),
        "bound": np.where(rows, 0.0, results.bound),
        "closeness_bound": np.where(rows, 0.0, results.closeness_bound),
    }
    return replace(results, **changes)
