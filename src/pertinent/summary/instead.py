"""What stands in for an empty positive, as a summary shows it and as a file stores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.setting.claims.instead import Basis, Instead, fixed_by_rules, left_free
from pertinent.setting.limits import positive_limits
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.results import Positives
from pertinent.summary.asked import Asked
from pertinent.summary.rounding import round_valid
from pertinent.tables.raw import number_columns, raw_rows


def as_told(positive: dict[str, Any]) -> dict[str, Any]:
    """Return what is told of a positive: of one that is empty, what stands in for it."""
    instead: dict[str, Any] | None = positive.get("instead")  # files of before lack it
    if instead is None or instead["basis"] == Basis.NEGATIVE:
        return positive
    return positive | instead


def rounded_positive(
    asked: Asked, question: PositiveQuestion, positive: Positives, rows: Any, steps: FloatArray
) -> FloatArray:
    """Return the points of some positives, their new numbers rounded as far as predict allows.

    Categories and the sample's own values are quoted.
    """
    table, values = positive.table.take(rows), positive.values[rows]
    features = table.features
    new = number_columns(features) & (values != table.values)
    base = np.broadcast_to(question.baseline, values.shape)
    limits = positive_limits(asked.setting, table, question)
    kept = new & features.by_column(positive.kept[rows])
    return round_valid(
        asked.setting, table, values, kept, base, positive.label[rows], limits, steps
    )


def instead_summary(
    asked: Asked,
    instead: Instead | None,
    steps: FloatArray,
    room: Callable[[int, Any], dict[str, Any] | None],
) -> dict[str, Any] | None:
    """Return what stands in for one empty positive, as plain values; None if none does.

    ``baseline`` holds the values that the others rest at, ``free`` counts those that vary;
    ``room(j, value)`` says how far the value of feature j may move.
    """
    if instead is None:
        return None
    if instead.positive is None:
        return {"basis": str(instead.basis)}
    found = instead.positive
    question = replace(asked.question, baseline=found.baseline)
    one, features = np.array([0]), found.table.features
    points = {
        "value": rounded_positive(asked, question, found, one, steps),
        "exact": found.values,
        "baseline": found.baseline[None],
    }
    raw = {
        name: raw_rows(found.table, values, told=name == "value")[0]
        for name, values in points.items()
    }
    fixed = fixed_by_rules(asked.setting, question, found.table, found.method)[0]
    sufficient = instead.basis is Basis.SUFFICIENT
    label = None if instead.place < 0 else found.classes.tolist()[instead.place]
    return {
        "basis": str(instead.basis),
        "method": str(found.method),
        "class": label,
        "class_text": asked.settings.wording.labels.get(label),
        "status": str(found.status[0]),
        "trivial": bool(found.trivial[0]),
        **{
            name: _finite(getattr(found, name)[0])
            for name in ("objective", "bound", "closeness", "closeness_bound")
        },
        "values": [
            {
                "feature": features.names[j],
                "value": raw["value"][j],
                "exact": raw["exact"][j],
                "fixed": bool(fixed[j]),
                **_known("range", room(int(j), raw["value"][j])),
            }
            for j in np.flatnonzero(found.kept[0])
        ],
        "point": raw["exact"],
        "baseline": raw["baseline"],
        "free": _free_count(asked, question, found) if sufficient else 0,
    }


def _free_count(asked: Asked, question: PositiveQuestion, found: Positives) -> int:
    """Return of how many features it does not matter what they are."""
    free = left_free(asked.setting, question, found)[0]
    free[sorted(found.table.features.unused)] = True  # the model does not look: nothing is fixed
    return int(free[~found.kept[0]].sum())


def _known(name: str, value: Any) -> dict[str, Any]:
    """Return an entry for a value; none without it, as in files of before."""
    return {} if value is None else {name: value}


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
