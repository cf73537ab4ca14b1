"""Every point that the rules allow for one sample, with what the model says of it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from campaign.lattice.case import CATEGORY, LATTICE, LEVELS, Case, plausibility
from campaign.lattice.kinds import KINDS
from campaign.tables import Array

#: How close to a limit double precision may decide, and single precision.
NEAR, NEAR_SINGLE = 1e-9, 1e-5


@dataclass(frozen=True)
class Grid:
    """All points of one sample that rules of single columns allow.

    Attributes
    ----------
    case : the question
    own : the sample as it is read: a missing value as the model's imputer fills it
    points : table of n points
    allowed : shape (n,), whether relations hold, and density and probability are as asked
    sure : shape (n,), whether rounding decides nothing about the point
    labels : shape (n,), the class of each point; of numbers -1, 0, 1: below, in, above the range
    own_label : the class of the sample
    """

    case: Case
    own: list[Any]
    points: pd.DataFrame
    allowed: Array
    sure: Array
    labels: Array
    own_label: Any

    def __len__(self) -> int:
        return len(self.points)

    def column(self, j: int) -> Array:
        """Return the values of one column."""
        values = self.points.iloc[:, j]
        return np.asarray(values, dtype=object if values.name == CATEGORY else float)

    def differs(self, reference: list[Any]) -> Array:
        """Return which columns of each point differ from a reference, shape (n, d)."""
        columns = [~same(self.column(j), value) for j, value in enumerate(reference)]
        return np.array(columns, dtype=bool).T.reshape(len(self), len(reference))

    def costs(self, reference: list[Any]) -> Array:
        """Return what each column of each point costs, seen from a reference, shape (n, d).

        A category costs its weight w. A number that gets lost costs w, one that is filled in
        ``w (1 + |value - s|)``, with s where the missing one stands.
        """
        columns = []
        for j, name in enumerate(self.case.columns):
            values, value = self.column(j), reference[j]
            if name == CATEGORY:
                columns.append((~same(values, value)).astype(float))
                continue
            lost = np.isnan(values)
            origin = stand(self.case, name) if is_gap(value) else float(value)
            away = np.abs(np.where(lost, origin, values) - origin)
            columns.append(away + (lost != is_gap(value)))
        weighted = np.array(columns).T * self.case.weights
        return np.asarray(weighted.reshape(len(self), len(columns)))

    def place(self, point: pd.Series) -> int | None:
        """Return which point this is; None if it is none of them."""
        here = np.ones(len(self), dtype=bool)
        for j, value in enumerate(read(self.case, point)):
            here &= same(self.column(j), value)
        found = np.flatnonzero(here)
        return int(found[0]) if len(found) else None

    def changes(self, moved: Array) -> Array:
        """Return how many changes each point counts: features that change together count once."""
        count = moved.sum(axis=1).astype(int)
        for group in self.case.rules.get("together", ()):
            count -= moved[:, self.places(group)].all(axis=1)
        return np.asarray(count)

    def places(self, names: list[str]) -> list[int]:
        """Return where columns stand."""
        return [self.case.columns.index(name) for name in names]


def is_gap(value: Any) -> bool:
    """Return whether a value is missing."""
    return not isinstance(value, str) and bool(np.isnan(value))


def same(values: Array, value: Any) -> Array:
    """Return which values are this one; a missing one is like another."""
    return np.asarray(np.isnan(values) if is_gap(value) else values == value, dtype=bool)


def read(case: Case, row: pd.Series) -> list[Any]:
    """Return the values of a row, as the model's own imputer reads them where it fills."""
    values = [row[name] if name == CATEGORY else float(row[name]) for name in case.columns]
    if case.options["missing"] == "impute":
        filled = case.model[0].statistics_
        values = [float(filled[j]) if is_gap(v) else v for j, v in enumerate(values)]
        if case.single:
            values = [float(np.float32(v)) for v in values]
    return values


def stand(case: Case, name: str) -> float:
    """Return where a missing number stands: at the median of the data, 0 without data."""
    if not case.options.get("with_data"):
        return 0.0
    known = np.sort(case.data[name].dropna().to_numpy(float))
    return float(known[(len(known) - 1) // 2])


def grid_of(case: Case, row: int, wide: bool = False) -> Grid:
    """Return the grid of one sample.

    Parameters
    ----------
    case : Case
    row : int
    wide : bool
        Columns without bounds, or without steps, get more values; else the usual ones.
    """
    own = read(case, case.samples.iloc[row])
    many = [_values(case, own[j], name, wide) for j, name in enumerate(case.columns)]
    points = _table(case, many)
    labels, sure = labels_of(case, points)
    (own_label,), _ = labels_of(case, case.samples.iloc[[row]])
    allowed = np.ones(len(points), dtype=bool)
    for holds, clear in _conditions(case, points, labels):
        allowed &= holds
        sure &= clear
    return Grid(case, own, points, allowed, sure, labels, own_label)


def _table(case: Case, many: list[list[Any]]) -> pd.DataFrame:
    """Return all combinations, in the types that they are handed in."""
    points = pd.DataFrame(list(itertools.product(*many)), columns=case.columns)
    kind = np.float32 if case.single else np.float64
    return points.astype(dict.fromkeys(case.numbers, kind))


def _values(case: Case, own: Any, name: str, wide: bool) -> list[Any]:
    """Return what the rules of one column allow."""
    if name == CATEGORY:
        return _categories(case, own)
    rules, numbers = case.rules, set(_lattice(case, name, wide))
    low, high = rules.get("bounds", {}).get(name, (-np.inf, np.inf))
    if not is_gap(own):
        numbers.add(own)
        low = max(low, own) if name in rules.get("increase_only", ()) else low
        high = min(high, own) if name in rules.get("decrease_only", ()) else high
    values = sorted(v for v in numbers if low <= v <= high)
    missing = case.options["missing"]
    if missing == "allow" or (missing == "keep" and is_gap(own)):
        values.append(np.nan)
    if name in rules.get("frozen", ()):
        values = [v for v in values if v == own or (is_gap(v) and is_gap(own))]
    return values


def _lattice(case: Case, name: str, wide: bool) -> list[float]:
    values = LATTICE[name]
    if wide:
        step, span = values[1], len(values)
        values = np.arange(-2 * span, 3 * span) * step
        stepped = name in (*case.rules.get("integer", ()), *case.rules.get("decimals", ()))
        if not stepped and name not in case.rules.get("step", ()):
            values = np.concatenate([values, values + step / 2])
        values = np.round(values, 2)
        values = values[values >= KINDS[case.kind].least]
    if case.single:
        values = values.astype(np.float32)
    return [float(v) for v in values]


def _categories(case: Case, own: str) -> list[str]:
    levels = list(case.rules.get("categories", {}).get(CATEGORY, LEVELS))
    onward = case.rules.get("transitions", {}).get(CATEGORY)
    if onward is not None:
        levels = [level for level in levels if level == own or level in onward.get(own, ())]
    if CATEGORY in case.rules.get("frozen", ()):
        levels = [level for level in levels if level == own]
    return levels


# -- What the model says -----------------------------------------------------------------------


def labels_of(case: Case, points: pd.DataFrame) -> tuple[Array, Array]:
    """Return the class of each point, and whether rounding decides nothing about it."""
    if not len(points):
        return np.zeros(0, dtype=int), np.ones(0, dtype=bool)
    predicted = np.asarray(case.model.predict(points)).reshape(len(points))
    sure = ~_ties(case, points)
    if not case.regressor:
        return predicted, sure
    low, high = (np.nan if end is None else end for end in case.target)
    if case.kind not in ("tree of numbers", "1-NN of numbers"):
        for end in (low, high):
            sure &= ~(np.abs(predicted - end) <= _near(case) * (1 + abs(end)))
    with np.errstate(invalid="ignore"):
        return np.where(predicted < low, -1, np.where(predicted > high, 1, 0)), sure


def _near(case: Case) -> float:
    other = case.kind.startswith(("XGBoost", "LightGBM", "CatBoost"))
    return NEAR_SINGLE if case.single or other else NEAR


def _ties(case: Case, points: pd.DataFrame) -> Array:
    """Return the points that lie as far from prototypes of two classes: rounding decides."""
    if case.kind not in ("1-NN", "1-NN of numbers", "nearest centroid"):
        return np.zeros(len(points), dtype=bool)
    piped = hasattr(case.model, "steps")
    last = case.model[-1] if piped else case.model
    seen = np.asarray(case.model[:-1].transform(points) if piped else points.to_numpy(float))
    if case.kind == "nearest centroid":
        away = np.sort(((seen[:, None] - last.centroids_[None]) ** 2).sum(axis=2), axis=1)
        return np.asarray(away[:, 1] - away[:, 0] < _near(case))
    away, who = last.kneighbors(seen, min(5, len(case.data)))
    labels = case.labels[who]
    return np.asarray(((away - away[:, :1] < _near(case)) & (labels != labels[:, :1])).any(axis=1))


def _conditions(case: Case, points: pd.DataFrame, labels: Array) -> Any:
    """Yield which points keep each condition beyond single columns, and which clearly do or not."""
    near = _near(case)
    room = _room(case, points)
    yield relations_hold(case, points), (np.abs(room) > near).all(axis=1) | (not case.single)
    least = case.options.get("min_proba")
    if least is not None and len(points):
        chances = case.model.predict_proba(points)
        place = np.searchsorted(case.model.classes_, labels)
        reached = chances[np.arange(len(points)), place]
        yield reached >= least - 1e-12, np.abs(reached - least) > near
    if case.options.get("plausible") and len(points):
        score = np.full(len(points), -np.inf)
        density = plausibility(case)
        for label in np.unique(labels):
            here = labels == label
            found = density.score_samples(points[here], label) - density.threshold(label)
            score[here] = found
        yield score >= 0, np.abs(score) > near


def _room(case: Case, points: pd.DataFrame) -> Array:
    """Return how far inside each relation the points lie, shape (n, n_relations)."""
    columns = []
    for names, numbers, sense, most in case.rules.get("relations", ()):
        total = sum(u * points[k].to_numpy(float) for u, k in zip(numbers, names, strict=True))
        columns.append((most - total) * (1 if sense == "<=" else -1))
    return np.array(columns).T.reshape(len(points), len(columns))


def relations_hold(case: Case, points: pd.DataFrame) -> Array:
    """Return the points that obey the relations."""
    return np.asarray((_room(case, points) >= -_near(case)).all(axis=1))
