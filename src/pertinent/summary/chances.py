"""How probable a model calls a class, before and after a change: by its own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: What the numbers are: those of ``predict_proba``, or of ``decision_function``.
PROBABILITY, SCORE = "probability", "score"


def chances_of(setting: Setting, table: Table, points: FloatArray) -> tuple[str, FloatArray] | None:
    """Return the model's own number of each class at each point; None where it has none.

    Parameters
    ----------
    setting : Setting
    table : Table
        The samples, one for each point.
    points : ndarray of shape (n, n_columns)
        Rows of NaN give rows of NaN.

    Returns
    -------
    tuple of str and ndarray of shape (n, n_classes)
    """
    model = setting.model
    for kind, name in ((PROBABILITY, "predict_proba"), (SCORE, "decision_function")):
        ask = getattr(model, name, None)  # scikit-learn hides what a model cannot do
        if ask is None:
            continue
        gone: BoolArray = np.asarray(np.isnan(points).any(axis=1))
        if not len(points):
            return kind, np.zeros((0, len(setting.classes)))
        found = np.asarray(ask(table.for_model(np.where(gone[:, None], table.values, points))))
        numbers = _by_class(found.astype(float), len(setting.classes))
        if numbers is None:
            return None
        return kind, np.where(gone[:, None], np.nan, numbers)
    return None


def _by_class(found: FloatArray, n_classes: int) -> FloatArray | None:
    """Return one column for each class; a single score of two classes is that of the second."""
    if found.ndim == 1 and n_classes == 2:
        return np.column_stack([-found, found])
    return found if found.ndim == 2 and found.shape[1] == n_classes else None


def shown_chances(
    setting: Setting, table: Table, points: dict[str, FloatArray], label: IntArray, target: IntArray
) -> list[dict[str, Any] | None]:
    """Return what a summary says of each row.

    ``prediction``: of the predicted class at the sample, ``enough``: at the positive; ``before``
    and ``after``: of the contrast class at the sample and at the negative.
    """
    own = chances_of(setting, table, table.values)
    if own is None:
        return [None] * len(table)
    kind, before = own
    at = {}
    for name, values in points.items():
        found = chances_of(setting, table, values)
        at[name] = before * np.nan if found is None else found[1]
    rows = np.arange(len(table))
    known = np.where(target < 0, 0, target)
    columns = {
        "prediction": before[rows, label],
        "enough": at["positive"][rows, label],
        "before": np.where(target < 0, np.nan, before[rows, known]),
        "after": np.where(target < 0, np.nan, at["negative"][rows, known]),
    }
    return [
        {"kind": kind, **{name: _finite(values[i]) for name, values in columns.items()}}
        for i in range(len(table))
    ]


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
