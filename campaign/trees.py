"""Trees and their sums: every cell tried by ``predict``, and the same model in other units.

Thresholds are read off the fitted model. Between two of them nothing changes, so the nearest point
of every cell is made of values next to a threshold and of those where the search starts: with few
cells all of them can be tried, and no solver is needed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from campaign.attacks import CLEARLY, may_attack, typed, wanted_by
from campaign.cases import Case
from campaign.judges import Tally
from campaign.tables import Array

#: Points tried for one sample, and samples of one question.
MOST_CELLS, MOST_ROWS = 20_000, 20
#: Chances of two classes that are closer than this are a tie: rounding may decide it.
TIE = 1e-9
#: What a grid of thresholds does not tell apart.
BEYOND = ("integer", "decimals", "max changes", "relation")
#: Models that hand their samples to the trees in single precision, and the one that does not.
_ROUNDED = (
    "DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier",
    "ExtraTreesClassifier", "GradientBoostingClassifier",
)  # fmt: skip
_BY_BINS = "HistGradientBoostingClassifier"
TREES = (*_ROUNDED, _BY_BINS)


def splits(model: Any) -> Iterator[tuple[Array, Array]]:
    """Yield views of the features and the thresholds of each tree: what is written there counts."""
    if type(model).__name__ == _BY_BINS:
        for predictor in (p for some in model._predictors for p in some):
            yield predictor.nodes["feature_idx"], predictor.nodes["num_threshold"]
        return
    trees = np.ravel(model.estimators_) if hasattr(model, "estimators_") else [model]
    for tree in trees:
        yield tree.tree_.feature, tree.tree_.threshold


def thresholds(model: Any) -> list[Array]:
    """Return the thresholds of each feature, ascending."""
    found: list[set[float]] = [set() for _ in range(model.n_features_in_)]
    for features, edges in _inner(model):
        for j, edge in zip(features.tolist(), edges.tolist(), strict=True):
            found[j].add(edge)
    return [np.array(sorted(edges)) for edges in found]


def _inner(model: Any) -> Iterator[tuple[Array, Array]]:
    """Yield the features and thresholds of the nodes that are no leaves."""
    if type(model).__name__ == _BY_BINS:
        for predictor in (p for some in model._predictors for p in some):
            nodes = predictor.nodes[predictor.nodes["is_leaf"] == 0]
            yield nodes["feature_idx"], nodes["num_threshold"]
        return
    for features, edges in splits(model):
        yield features[features >= 0], edges[features >= 0]


def beside(edges: Array, rounded: bool) -> tuple[Array, Array]:
    """Return a value just left of each threshold and one just right of it."""
    if not rounded:
        return edges, np.nextafter(edges, np.inf)
    left = edges.astype(np.float32)
    left = np.where(left > edges, np.nextafter(left, np.float32(-np.inf)), left)
    return left.astype(float), np.nextafter(left, np.float32(np.inf)).astype(float)


def cells(case: Case, center: Array, low: Array, high: Array) -> Array | None:
    """Return one point of every cell, next to the center; None where there are too many."""
    rounded = type(case.model).__name__ in _ROUNDED
    values = []
    for j, edges in enumerate(thresholds(case.model)):
        left, right = beside(edges, rounded or case.X.dtype == np.float32)
        start = float(np.clip(center[j], low[j], high[j]))
        near = np.r_[start, left[left < start], right[right > start]]
        values.append(np.unique(near[(near >= low[j]) & (near <= high[j])]))
    if np.prod([float(len(v)) for v in values]) > MOST_CELLS:
        return None
    return np.array(list(product(*values)))


def judge_cells(case: Case, found: Any, kind: str, tally: Tally) -> None:
    """Compare each bound with the nearest of all cells, where these are few."""
    if type(case.model).__name__ not in TREES or not may_attack(case, found, kind):
        return
    if any(rule[0] in BEYOND for rule in case.rules) or case.dtypes is not None:
        return
    for row in range(min(len(found), MOST_ROWS)):
        own = case.X[row].astype(float)
        center = own if kind == "negative" else case.baseline.astype(float)
        low, high = case.limits(own)
        if kind == "positive" and case.between:
            low = np.maximum(low, np.minimum(own, center))
            high = np.minimum(high, np.maximum(own, center))
        points = None if (low > high).any() else cells(case, center, low, high)
        if points is None or not len(points):
            continue
        right = wanted_by(case, found, kind, row)(case.model.predict(typed(case, points)))
        right &= _sure(case, points)
        cost = (case.weights * np.abs(points - center)).sum(axis=1)
        best = cost[right].min(initial=np.inf)
        tally.counts["brute force: cells"] += 1
        floor = 1e-6 * float((case.weights * np.abs(center)).max(initial=0.0))
        if best < float(found.bound[row]) * (1 - CLEARLY) - floor:
            point = points[right][cost[right].argmin()]
            tally.fail(
                "brute force: cells", row,
                f"{kind}, {found.status[row]}: bound {found.bound[row]!r}, and {best!r} is reached "
                f"at {point.tolist()}",
            )  # fmt: skip


def _sure(case: Case, points: Array) -> Array:
    """Return where no other class is as likely, up to rounding."""
    chances = np.sort(np.asarray(case.model.predict_proba(typed(case, points)), float), axis=1)
    return np.asarray(chances[:, -1] > chances[:, -2] + TIE)


def rewritten(model: Any, order: Array | None, scale: Array | None) -> Any:
    """Return the model for features in another order, or in other units (powers of two).

    Feature ``j`` of the new order is feature ``order[j]`` of the old one.
    """
    made = copy.deepcopy(model)
    for features, edges in splits(made):
        inner = features >= 0  # a leaf of one tree has no feature; one of bins says 0, unused
        if scale is not None:
            edges[inner] *= scale[features[inner]]
        if order is not None:
            features[inner] = np.argsort(order)[features[inner]]
    return made
