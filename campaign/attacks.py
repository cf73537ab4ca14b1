"""Attacks on certified bounds: a valid point below a bound refutes it.

A bound speaks of points that lie inside their class by what rounding needs. A point therefore only
refutes one if the model gives it the class in every one of many neighbours that rounding could make
of it, with and without rounding in between (`is_robust`), and if it is clearly nearer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from campaign.cases import BOTH, Case
from campaign.exact import exact_predict
from campaign.judges import Tally, obeys
from campaign.models import Rng
from campaign.tables import Array

#: Below the bound by this share, to count.
CLEARLY = 1e-6
TRIES = 300


def judge_bounds(case: Case, found: Any, kind: str, rng: Rng, tally: Tally) -> None:
    """Attack the bound of each sample: by random points, along axes, and by local search."""
    if not may_attack(case, found, kind):
        return
    for row in range(len(found)):
        bound = float(found.bound[row])
        if not bound > 0:
            continue
        center = _center(case, row, kind)
        reach = bound * (1 - CLEARLY) if np.isfinite(bound) else _far(case, row)
        wanted = wanted_by(case, found, kind, row)
        goals = [found.values[row]] if found.found[row] else []
        goals += list(case.X.astype(float))[:20]
        near = candidates(rng, center, case.weights, reach, goals)
        try_points(case, row, near, center, reach, wanted, kind, tally, "attack", rng)


def may_attack(case: Case, found: Any, kind: str) -> bool:
    """Return whether the bound is a distance to a sample or to the baseline."""
    if case.options.get("margin") or case.options.get("min_proba"):
        return False
    if found.values.shape != case.X.shape:
        return False  # bins: distances are between columns of the library's own
    if kind == "negative":
        return bool(found.norm.value == "l1")
    if case.dtypes is not None:
        return False  # the baseline of each column is one in its own precision
    return found.method.value == "two-phase" and not case.options.get("off_tol")


def _center(case: Case, row: int, kind: str) -> Array:
    return case.X[row].astype(float) if kind == "negative" else case.baseline.astype(float)


def _far(case: Case, row: int) -> float:
    """Return how far to look where a proof says that there is no point at all."""
    x = case.X.astype(float)
    return float(10 * (case.weights * (np.abs(x - x[row]).max(axis=0) + np.abs(x[row]))).sum())


def wanted_by(case: Case, found: Any, kind: str, row: int) -> Any:
    """Return the test whether a prediction would have answered the question."""
    own = found.prediction[row]
    if kind == "positive":
        return lambda labels: labels == own
    if case.target is not None:
        return lambda labels: labels == case.target
    return lambda labels: labels != own


def candidates(rng: Rng, center: Array, weights: Array, reach: float, goals: list[Array]) -> Array:
    """Return points within weighted L1 distance ``reach`` of a center, most at its edge."""
    d = len(center)
    step = reach / weights
    axes = np.concatenate([np.diag(step), -np.diag(step)])[: 2 * 200]
    active = rng.random((TRIES, d)) < rng.choice([1.5 / d, 0.5, 1.0], (TRIES, 1))
    moves = rng.exponential(size=(TRIES, d)) * rng.choice([-1.0, 1.0], (TRIES, d)) * active
    size = np.abs(moves).sum(axis=1, keepdims=True)
    inner = rng.random((TRIES, 1)) ** (1 / max(1, min(d, 8)))
    moves = moves / np.where(size > 0, size, 1.0) * inner * step
    toward = [np.asarray(goal, float) - center for goal in goals]
    lengths = [float((weights * np.abs(g)).sum()) for g in toward]
    ways = [g * min(1.0, reach / n) for g, n in zip(toward, lengths, strict=True) if n > 0]
    return center + np.concatenate([axes, moves, *[w[None] for w in ways]])


def try_points(
    case: Case, row: int, near: Array, center: Array, reach: float, wanted: Any, kind: str,
    tally: Tally, name: str, rng: Rng,
) -> None:  # fmt: skip
    """Refute the bound by any of the points that obeys the rules and is valid for sure."""
    own = case.X[row].astype(float)
    near = pulled(case, near, own, center, kind)
    near = local_search(case, near, center, wanted, rng, reach)
    cost = (case.weights * np.abs(near - center)).sum(axis=1)
    tally.counts[f"bounds under {name}"] += 1
    tally.counts[f"points of {name}"] += len(near)
    good = (cost <= reach) & lawful(case, near, own, center, kind)
    good[good] = wanted(case.model.predict(typed(case, near[good]))) if good.any() else False
    for i in np.flatnonzero(good):
        if is_robust(case, near[i], wanted, rng):
            tally.fail(
                f"bounds under {name}",
                row,
                f"{kind}: the valid point {near[i].tolist()} costs {cost[i]!r}, less than the "
                f"bound that {reach!r} is just below",
            )
            return


def typed(case: Case, points: Array) -> Any:
    """Return points as the kind of table that the samples came in."""
    if case.dtypes is None:
        return points.astype(case.X.dtype)
    import pandas as pd

    return pd.DataFrame({f"x{j}": c for j, c in enumerate(points.T)})


def pulled(case: Case, points: Array, own: Array, center: Array, kind: str) -> Array:
    """Return the points moved into the limits, which never takes them farther if these allow."""
    low, high = case.limits(own)
    if kind == "positive" and case.between:
        low = np.maximum(low, np.minimum(own, center))
        high = np.minimum(high, np.maximum(own, center))
    out = np.clip(points, low, np.maximum(low, high))
    for name, j, *value in case.rules:
        if name in ("integer", "decimals"):
            out[:, j] = np.round(out[:, j], value[0] if value else 0)
    return out


def lawful(case: Case, points: Array, own: Array, center: Array, kind: str) -> Array:
    """Return which points obey all rules."""
    low, high = case.limits(own)
    if kind == "positive" and case.between:
        low = np.maximum(low, np.minimum(own, center))
        high = np.minimum(high, np.maximum(own, center))
    right = ((points >= low) & (points <= high)).all(axis=1)
    for rule in case.rules:
        right &= obeys(rule, points, own[None], kind, slack=0.0)
    if case.ask == BOTH and case.dtypes is not None:  # counts stay whole: a rule of its own
        counts = [j for j, dtype in enumerate(case.dtypes) if dtype.startswith("int")]
        right &= (points[:, counts] == np.round(points[:, counts])).all(axis=1)
    return right


def local_search(
    case: Case, near: Array, center: Array, wanted: Any, rng: Rng, reach: float
) -> Array:
    """Return the points, and those made by moving what is spent on one feature to another."""
    if len(center) > 50:
        return near
    best = near[np.argsort(-_scores(case, near, wanted))[:5]]
    moved = [near]
    for point in best:
        spent = case.weights * (point - center)
        for _ in range(20):
            i, j = rng.integers(len(center), size=2)
            other = spent.copy()
            other[j] += np.sign(other[j] or rng.choice([-1.0, 1.0])) * abs(other[i])
            other[i] = 0.0 if i != j else other[i]
            moved.append((center + other / case.weights)[None])
    return np.concatenate(moved)


def _scores(case: Case, points: Array, wanted: Any) -> Array:
    """Return how nearly the model gives the points a wanted class, where it tells."""
    labels = np.asarray(case.model.classes_)
    if type(case.model).__name__ == "NearestCentroid" or not hasattr(case.model, "predict_proba"):
        return np.asarray(wanted(case.model.predict(typed(case, points))), float)
    shares = np.nan_to_num(np.asarray(case.model.predict_proba(typed(case, points)), float))
    return shares[:, np.asarray(wanted(labels), bool)].sum(axis=1)


def is_robust(case: Case, point: Array, wanted: Any, rng: Rng) -> bool:
    """Return whether the class stays in every neighbour that rounding could make of a point."""
    size = 1e-4 if case.single else 1e-11
    spread = size * (np.abs(point) + np.abs(case.X.astype(float)).max(axis=0))
    beside = np.vstack([point, point + spread * rng.uniform(-1, 1, (64, len(point)))])
    exactly = exact_predict(case.model, typed(case, beside))
    sure = exactly is None or bool(np.all(wanted(exactly)))
    return sure and bool(np.all(wanted(case.model.predict(typed(case, beside)))))
