"""How probable a model calls a class, before and after a change: by its own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.models.combined.searched import unsearched
from pertinent.models.regressors import RangeClassifier
from pertinent.setting.setting import Setting
from pertinent.summary.words import Chance
from pertinent.tables.table import Table

PROBABILITY, SCORE, VALUE = Chance


def chances_of(setting: Setting, table: Table, points: FloatArray) -> tuple[str, FloatArray] | None:
    """Return the model's own number of each class at each point; None where it has none.

    Parameters
    ----------
    setting : Setting
    table : Table
        The samples: one for each point, or those of all samples in their order, then again.
    points : ndarray of shape (n, n_columns)
        Rows of NaN give rows of NaN.

    Returns
    -------
    tuple of str and ndarray of shape (n, n_classes)
    """
    model = unsearched(setting.model)
    if isinstance(model, RangeClassifier):
        return VALUE, _values(model, table, points)
    for kind, name in ((PROBABILITY, "predict_proba"), (SCORE, "decision_function")):
        ask = getattr(model, name, None)  # scikit-learn hides what a model cannot do
        if ask is None:
            continue
        gone: BoolArray = np.asarray(np.isnan(points).any(axis=1))
        if not len(points):
            return kind, np.zeros((0, len(setting.classes)))
        try:
            found = np.asarray(ask(table.for_model(_without_gaps(table, points, gone))))
        except ValueError:  # as nearest centroids of one sample a class: their spread is no number
            continue
        numbers = _by_class(found.astype(float), len(setting.classes))
        if numbers is None:
            return None
        return kind, np.where(gone[:, None], np.nan, numbers)
    return None


def _values(model: RangeClassifier, table: Table, points: FloatArray) -> FloatArray:
    """Return what a regressor predicts, the same number for each class."""
    gone: BoolArray = np.asarray(np.isnan(points).any(axis=1))
    found = np.zeros(0)
    if len(points):
        found = model.values(table.for_model(_without_gaps(table, points, gone)))
    return np.repeat(np.where(gone, np.nan, found)[:, None], len(model.classes_), axis=1)


def _without_gaps(table: Table, points: FloatArray, gone: BoolArray) -> FloatArray:
    """Return the points with the samples where there are none."""
    return np.where(gone[:, None], np.resize(table.values, points.shape), points)


def _by_class(found: FloatArray, n_classes: int) -> FloatArray | None:
    """Return one column for each class; a single score of two classes is that of the second."""
    if found.ndim == 1 and n_classes == 2:
        return np.column_stack([-found, found])
    return found if found.ndim == 2 and found.shape[1] == n_classes else None


def shown_chances(
    found: tuple[str, dict[str, FloatArray]] | None, count: int
) -> list[dict[str, Any] | None]:
    """Return what a summary says of each row: `chance_columns` row by row, None for what is not."""
    if found is None:
        return [None] * count
    kind, columns = found
    return [
        {"kind": kind, **{name: _known(values[i]) for name, values in columns.items()}}
        for i in range(count)
    ]


def chance_columns(
    setting: Setting,
    table: Table,
    points: dict[str, FloatArray],
    label: IntArray,
    target: IntArray,
    *,
    at_once: bool = False,
) -> tuple[str, dict[str, FloatArray]] | None:
    """Return what the model's numbers are, and those of all rows; None where it has none.

    ``prediction``: of the predicted class at the sample, ``enough``: at the positive; ``before``
    and ``after``: of the contrast class at the sample and at the negative; NaN where there is no
    such point. Of a regressor these are its predictions, and ``low`` and ``high`` the range that is
    asked for. With ``at_once`` the model is asked about all points in one call: it may then add
    up in another order.
    """
    asked = [table.values, *points.values()]
    found = _at_once(setting, table, asked) if at_once else _one_by_one(setting, table, asked)
    if found is None:
        return None
    kind, (before, *others) = found
    at = dict(zip(points, others, strict=True))
    rows = np.arange(len(table))
    known = np.where(target < 0, 0, target)
    columns = {
        "prediction": before[rows, label],
        "enough": at["positive"][rows, label],
        "before": np.where(target < 0, np.nan, before[rows, known]),
        "after": np.where(target < 0, np.nan, at["negative"][rows, known]),
    }
    model = unsearched(setting.model)
    if isinstance(model, RangeClassifier):
        ends = {"low": model.low, "high": model.high}
        columns |= {n: np.full(len(rows), np.nan if e is None else e) for n, e in ends.items()}
    return kind, {name: np.where(np.isfinite(own), own, np.nan) for name, own in columns.items()}


def _one_by_one(
    setting: Setting, table: Table, asked: list[FloatArray]
) -> tuple[str, list[FloatArray]] | None:
    """Return the numbers at points of each kind, one for each sample; None where there are none."""
    first, *rest = (chances_of(setting, table, points) for points in asked)
    if first is None:
        return None
    kind, before = first
    return kind, [before, *(before * np.nan if own is None else own[1] for own in rest)]


def _at_once(
    setting: Setting, table: Table, asked: list[FloatArray]
) -> tuple[str, list[FloatArray]] | None:
    found = chances_of(setting, table, np.concatenate(asked))
    return None if found is None else (found[0], np.split(found[1], len(asked)))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
