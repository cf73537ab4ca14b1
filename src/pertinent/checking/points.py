"""The point of an answer: what it is predicted as, the rules, and where points are plausible."""

from __future__ import annotations

import numpy as np

from pertinent.checking.findings import Finding, judged
from pertinent.density.measure import is_plausible
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.setting.results import Negatives, Positives, Results
from pertinent.setting.setting import Setting
from pertinent.summary.rounding import passes, rules_broken


def valid(
    name: str, prepared: Setting, results: Results, label: int, limits: Limits
) -> list[Finding]:
    """Judge the point as it was handed out; nothing is said where there is none."""
    if not results.found[0]:
        return []
    table = results.table
    points = table.as_handed_out(results.values)
    predicted = int(prepared.predict(table, points)[0])
    good = passes(prepared, table, points, np.array([label]))[0]
    inside = ((points >= limits[0]) & (points <= limits[1])).all()
    broken = rules_broken(prepared, table, points, changes=isinstance(results, Negatives))
    obeys = inside and (points == results.values).all() and not broken.any()
    says = f"predict says {prepared.classes.tolist()[predicted]!r}"
    return [
        judged(f"{name} is predicted as said", good, says),
        judged(f"{name} obeys the rules", obeys),
        *_plausible(name, prepared, label, points[0], results),
    ]


def _plausible(
    name: str, prepared: Setting, label: int, point: FloatArray, results: Results
) -> list[Finding]:
    """Judge the density of the point, or whether it is the blend it is said to be."""
    if prepared.within is None:
        return []
    blends = results.blend if isinstance(results, Positives | Negatives) else None
    blend = None if blends is None else blends[0]
    holds = is_plausible(prepared.within, label, point, blend)
    return [judged(f"{name} is {prepared.within.words()}", holds)]
