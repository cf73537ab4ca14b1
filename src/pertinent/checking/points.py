"""The point of an answer: what it is predicted as, the rules, and where points are plausible."""

from __future__ import annotations

import numpy as np

from pertinent.checking.findings import Finding, judged
from pertinent.geometry.arrays import Limits
from pertinent.setting.judge import judge_points
from pertinent.setting.region_key import RegionKey
from pertinent.setting.results import Negatives, Positives, Results
from pertinent.setting.setting import Setting


def valid(
    name: str, prepared: Setting, results: Results, key: RegionKey, label: int, limits: Limits
) -> list[Finding]:
    """Judge the point as it was handed out; nothing is said where there is none.

    ``key`` is the region that was asked for, ``label`` the class that the point is said to have.
    """
    if not results.found[0]:
        return []
    table = results.table
    blends = results.blend if isinstance(results, Positives | Negatives) else None
    found = judge_points(
        prepared,
        table,
        results.values,
        key.kind,
        np.array([key.place]),
        limits,
        changes=isinstance(results, Negatives),
        blends=blends,
    )
    says = f"predict says {prepared.classes.tolist()[int(found.predicted[0])]!r}"
    right = found.right[0] and found.predicted[0] == label
    obeys = found.obeys[0] and (found.points == results.values).all()
    out = [
        judged(f"{name} is predicted as said", right, says),
        judged(f"{name} obeys the rules", obeys),
    ]
    if prepared.within is not None:
        out.append(judged(f"{name} is {prepared.within.words()}", found.dense[0]))
    return out
