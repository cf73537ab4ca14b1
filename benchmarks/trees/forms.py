"""Answers are valid alone, in batches of any order, as single precision and as whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees import models as of
from benchmarks.trees.results import Results

LINE = "forms"


def models() -> list[of.Case]:
    makes = {
        "gradient boosting 100 x depth 3": of.boosted,
        "histogram boosting 30 x 31 leaves": of.histogram(30),
        "xgboost 30 x 31 leaves": of.xgboost(30),
        "lightgbm 30 x 31 leaves": of.lightgbm(30),
        "catboost 30 x depth 5": of.catboost(30),
        "forest 30 x depth 5": of.forest("RandomForest", 30, 5),
        "extra trees 30 x depth 3": of.forest("ExtraTrees", 30, 3),
    }
    return [
        of.Case(name, table, make, ())
        for table in ("cancer", "wine")
        for name, make in makes.items()
    ]


def measure(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Ask each model in each form."""
    for case in models():
        if results.missing(LINE, case.title, 1) and only(f"{LINE}: {case.title}"):
            results.note(LINE, case.title, 0, _of(case, rows))


def _of(case: of.Case, rows: int) -> dict[str, float]:
    import pandas as pd

    import pertinent

    X, y = of.table_of(case.table)
    names = [f"x{j}" for j in range(X.shape[1])]
    out = {}
    for form, whole in (("float64", False), ("float32", False), ("int64", True)):
        frame = pd.DataFrame(np.round(1000 * X) if whole else X, columns=names).astype(form)
        train, some = frame[rows:], frame[:rows]
        model = case.make().fit(train, y[rows:])
        rules = pertinent.Constraints(integer=names) if whole else None
        found = pertinent.pertinent_negatives(model, some, constraints=rules, time_limit=5.0)
        there = found.status != "infeasible"
        points, target = found.points[there], found.target[there]
        order = np.random.default_rng(of.SEED).permutation(len(points))
        out |= {
            f"{form}_rows": len(points),
            f"{form}_batch": _share(model, points, target),
            f"{form}_shuffled": _share(model, points.iloc[order], target[order]),
            f"{form}_alone": np.mean(
                [_share(model, points.iloc[[i]], target[[i]]) for i in range(len(points))]
            ),
            f"{form}_typed": float((points.dtypes == form).all()),
        }
    return out


def _share(model: Any, points: Any, target: np.ndarray) -> float:
    return float(np.mean(np.ravel(model.predict(points)) == target))


def summary(results: Results) -> list[Measure]:
    """Return the bars: all are valid, in each form."""
    found = [answer for (line, _, _), answer in results.answers.items() if line == LINE]
    if not found:
        return []
    measures = []
    for form in ("float64", "float32", "int64"):
        count = sum(int(a[f"{form}_rows"]) for a in found)
        kinds = ("batch", "shuffled", "alone")
        worst = min(a[f"{form}_{kind}"] for a in found for kind in kinds)
        kept = all(a[f"{form}_typed"] for a in found)
        note = "points have the type of the samples" if kept else "points of another type"
        words = f"{worst:.1%} of {count} rows, {len(found)} models"
        measures.append(
            Measure(f"valid alone, in batches, shuffled: {form}", words, "100%", worst == 1, note)
        )
    return measures
