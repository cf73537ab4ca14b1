"""What is measured of each sample.

Sparsity, closeness before and after phase 2, overlap; and for the paper's models the strict
positives (kept features keep their exact values) and the exact ones (its eq. 3 itself: the fewest
features, then the closest values).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pertinent
from experiments.protocol import Fold, folds

COLUMNS = (
    "sparsity",
    "closeness",
    "closeness_plus",
    "overlap",
    "explained",
    "proved",
    "unique",
    "negative_explained",
    "negative_proved",
    "negative_unique",
    "strict_sparsity",
    "strict_explained",
    "exact_sparsity",
    "exact_closeness",
    "exact_explained",
    "rounded_valid",
    "small_kept",
    "curved_rows",
)


def measure(data: str, model: str, seed: int, strict: bool) -> list[dict[str, Any]]:
    """Return one record a sample, over the three folds of one repetition."""
    records: list[dict[str, Any]] = []
    for number, fold in enumerate(folds(data, model, seed)):
        if not len(fold.X):
            continue
        rows = _measure_fold(fold, strict)
        for i in range(len(fold.X)):
            own = {name: float(rows[name][i]) for name in COLUMNS}
            records.append({"fold": number, "f1": fold.f1, **own})
    return records


def _measure_fold(fold: Fold, strict: bool) -> dict[str, np.ndarray]:
    X, model = fold.X, fold.model
    positive = pertinent.pertinent_positives(model, X)
    negative = pertinent.pertinent_negatives(model, X)
    found = positive.found & (model.predict(_filled(positive.values)) == model.predict(X))
    contrast = negative.found & (model.predict(_filled(negative.values)) != model.predict(X))
    on = np.nan_to_num(positive.sparse_values) != 0
    rows = {
        # Eq. 7: how many nonzero features of the sample are zero in the positive.
        "sparsity": (X != 0).sum(1) - (np.nan_to_num(positive.values) != 0).sum(1),
        # Eq. 8 of phase 1's point alone, and of the two-phase point.
        "closeness": (np.abs(positive.sparse_values - X) * on).sum(1),
        "closeness_plus": positive.closeness,
        "overlap": (positive.kept & negative.changed).sum(1),
        "explained": found,
        "proved": positive.status == "optimal",
        "unique": _share(positive.unique),
        "negative_explained": contrast,
        "negative_proved": negative.status == "optimal",
        "negative_unique": _share(negative.unique),
    }
    # What the published code does to an answer: two decimals, and "off" below 0.1.
    rounded = np.round(_filled(positive.sparse_values), 2)
    rows["rounded_valid"] = model.predict(rounded) == model.predict(X)
    small = positive.kept & (np.abs(_filled(positive.values)) < 0.1)
    rows["small_kept"] = small.any(axis=1)
    region = pertinent.decision_region(model, model.classes_.tolist()[0])
    rows["curved_rows"] = np.full(len(X), len(region.cells[0].quadratics))
    blank = np.full(len(X), np.nan)
    for method in ("strict", "exact"):
        if strict:
            answer = pertinent.pertinent_positives(model, X, method=method)
            on = np.nan_to_num(answer.values) != 0
            valid = answer.found & (model.predict(_filled(answer.values)) == model.predict(X))
            rows[f"{method}_sparsity"] = np.where(valid, (X != 0).sum(1) - on.sum(1), np.nan)
            rows[f"{method}_explained"] = valid
            rows[f"{method}_closeness"] = answer.closeness
        else:
            rows |= {f"{method}_{name}": blank for name in ("sparsity", "explained", "closeness")}
    return {name: np.asarray(rows[name], dtype=float) for name in COLUMNS}


def _filled(values: np.ndarray) -> np.ndarray:
    """Points for ``predict``: rows without a point are zero, and never counted as explained."""
    return np.nan_to_num(values)


def _share(unique: np.ndarray) -> np.ndarray:
    """1 unique, 0 not, NaN not decided."""
    known = {True: 1.0, False: 0.0}
    return np.array([known.get(value, np.nan) for value in unique])
