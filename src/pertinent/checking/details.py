"""What is said beside the answer itself: which features, densities, reasons, alternatives."""

from __future__ import annotations

import numpy as np

from pertinent.checking.findings import CHANGE, ENOUGH, Finding, judged
from pertinent.density.measure import measure
from pertinent.setting.results import Negatives, Positives, Results
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked


def positive_details(asked: Asked, positive: Positives) -> Finding:
    """Judge which features are kept, and whether that is trivial."""
    prepared = asked.prepared
    right = {
        "trivial": bool(positive.trivial[0]) == bool(positive.objective[0] == 0),
        "fallback": not positive.fallback[0],
    }
    if positive.method != "sufficient":
        on = np.abs(positive.values - asked.question.baseline) > asked.question.off_tol
        own = positive.found[:, None] & prepared.features.by_feature(on)
        right["kept"] = np.array_equal(positive.kept, own)
    if positive.method == "two-phase":
        at = positive.sparse_values
        same = prepared.predict(positive.table, at)[0] if positive.found[0] else None
        right["sparse_point"] = same is None or same == positive.label[0]
    else:
        right["sparse_point"] = np.array_equal(
            positive.sparse_values, positive.values, equal_nan=True
        )
    return _details(ENOUGH, prepared, positive, right)


def negative_details(prepared: Setting, negative: Negatives) -> Finding:
    """Judge which features are changed, and how close the change is said to be."""
    different = prepared.features.by_feature(negative.values != negative.table.values)
    same = np.isclose(negative.closeness, negative.objective, rtol=1e-9, atol=1e-12)
    right = {
        "changed": np.array_equal(negative.changed, negative.found[:, None] & different),
        "closeness": bool(same[0]) or not negative.found[0],
    }
    return _details(CHANGE, prepared, negative, right)


def _details(name: str, prepared: Setting, results: Results, right: dict[str, bool]) -> Finding:
    """Judge what both parts say, beside what was judged already (``right``, by field)."""
    label = results.target_place if isinstance(results, Negatives) else results.label
    measured = measure(prepared.within, label, results.values)
    names = ("log_density", "density_threshold", "density_percentile")
    for field, own in zip(names, measured, strict=True):
        told = getattr(results, field)
        if own is None or told is None:
            right[field] = own is told
        else:
            right[field] = np.allclose(own, told, rtol=1e-9, atol=1e-9, equal_nan=True)
    right["reason"] = not results.found[0] or results.reasons[0] is None
    right["alternatives"] = not any(getattr(results, "alternatives", ((),)))
    wrong = ", ".join(field for field, holds in right.items() if not holds)
    return judged(f"{name}: its details are as said", not wrong, f"differs in {wrong}")
