"""The model has the last word: points as handed out, judged by predict and by the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pertinent.density.measure import by_sample
from pertinent.exceptions import InputError
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting


def refuse_categories(setting: Setting, asked: str) -> None:
    """Say that columns of one feature cannot be chosen one by one."""
    if not setting.features.is_plain:
        raise InputError(
            f"{asked} chooses among features that are numbers, and this model also takes "
            'categories, bins or missing values. Use method="two-phase" or "exact", which know '
            "them."
        )


def refuse_blends(setting: Setting, asked: str) -> None:
    """Say that points which are blends of others cannot be chosen feature by feature."""
    if by_sample(setting.within):
        raise InputError(f"{asked} does not know this kind of plausibility. Leave it out.")


R = TypeVar("R", Positives, Negatives)


def doubted(setting: Setting, results: R) -> R:
    """Return the results with nothing claimed where a region does not hold its own sample.

    See `doubt`: what the model predicts there is its own rounding, and proofs about its
    region prove nothing.
    """
    if not setting.may_fold_badly or not len(results):
        return results
    rows = setting.misplaced(results.table)
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
