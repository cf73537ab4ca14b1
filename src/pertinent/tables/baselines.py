"""Base values and weights: what counts as turned off, and how much a change costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.domain import Lattice
from pertinent.geometry.gaps import ROUNDING
from pertinent.tables.features import Features


def or_default(baseline: Any, data: FloatArray | None) -> Any:
    """Return the baseline given; for None the median of the data, or 0 where there are none."""
    if baseline is not None:
        return baseline
    return 0.0 if data is None else "median"


def baseline_values(
    baseline: Any,
    features: Features,
    data: FloatArray | None,
    lattice: Mapping[int, Lattice] | None = None,
) -> FloatArray:
    """Return the value at which each feature counts as turned off, column by column.

    Parameters
    ----------
    baseline : float, sequence of n_features, mapping of feature to value, "mean" or "median"
        Categories are turned off at the category given, or else at the most frequent one of the
        data. A mapping leaves the others at 0; with data, at their medians.
    features : Features
    data : ndarray of shape (n, n_columns) or None
        Needed for "mean" and "median", and for categories that are not given.
    lattice : mapping of int to Lattice, optional
        The steps of columns that are confined to some: what comes from the data is rounded to
        them, what is given must be one of them.
    """
    if isinstance(baseline, str):
        if baseline not in ("mean", "median"):
            raise InputError(f"baseline must be 'mean', 'median' or numbers. Got {baseline!r}.")
        if data is None:
            raise InputError(f"baseline={baseline!r} is taken from data: pass data=X_train too.")
        values = _from_data(features, data, baseline, lattice or {})
    elif isinstance(baseline, Mapping):
        values = _given(features, data, dict(baseline), lattice or {})
    elif features.is_plain:
        values = _per_feature("baseline", baseline, features)
    elif np.ndim(baseline) == 0:
        numbers = {j: baseline for j in range(len(features)) if not features.is_category(j)}
        values = _given(features, data, numbers, lattice or {})
    else:
        if len(baseline) != len(features):
            raise InputError(
                f"baseline must have one value for each of the {len(features)} features, "
                f"got {len(baseline)}."
            )
        values = _given(features, data, dict(enumerate(baseline)), lattice or {})
    if not np.isfinite(values).all():
        raise InputError("baseline must be finite.")
    for j, steps in (lattice or {}).items():
        if not steps.has(values[j]):
            name = features.names[features.owner[j]]
            raise InputError(
                f"The baseline of {name!r} is {values[j]:g}, and a rule asks for "
                f"{steps.words()}. Give it such a baseline."
            )
    for bins in features.bins:
        bins.fill(values[None])
    return values


def _from_data(
    features: Features, data: FloatArray, how: str, lattice: Mapping[int, Lattice]
) -> FloatArray:
    values = np.asarray(data.mean(axis=0) if how == "mean" else np.median(data, axis=0))
    for number, mark in features.marks.items():
        known = data[data[:, mark] == 0, number]
        if len(known):
            values[number] = known.mean() if how == "mean" else np.median(known)
        values[mark] = 0.0
    for j, steps in lattice.items():
        values[j] = steps.nearest(values[j])
    for j in range(len(features)):
        if features.is_category(j):
            columns = features.columns_of(j)
            known = columns[: len(features.levels[j] or ())]
            values[columns] = 0.0
            if len(known):  # the most frequent category; the first of several
                values[known[data[:, known].sum(axis=0).argmax()]] = 1.0
    return values


def _given(
    features: Features,
    data: FloatArray | None,
    given: dict[Any, Any],
    lattice: Mapping[int, Lattice],
) -> FloatArray:
    values = (
        np.zeros(features.dim) if data is None else _from_data(features, data, "median", lattice)
    )
    found = {features.index(name): value for name, value in given.items()}
    for j, value in found.items():
        columns = features.columns_of(j)
        if features.is_category(j):
            values[columns] = 0.0
            values[columns[features.level(j, value)]] = 1.0
        else:
            values[columns[:1]] = _number("baseline", features.names[j], value)
    for j in range(len(features)):
        if features.is_category(j) and j not in found and data is None and features.levels[j]:
            raise InputError(
                f"Which category of {features.names[j]!r} counts as turned off? Pass data=X_train "
                f"for the most frequent one, or baseline={{{features.names[j]!r}: ...}}."
            )
    return values


def weight_values(
    weights: Any,
    features: Features,
    data: FloatArray | None,
    costs: Mapping[Any, float] | None = None,
) -> FloatArray:
    """Return the cost of moving each column by one unit.

    None means 1 for each feature; with data, 1 / standard deviation, so that units do not matter.
    A change of category costs 1, as much as a change of a number by one standard deviation: it
    moves two columns of its group, each at half the cost. To fill in a number that is missing costs
    as much as a change of category, beside the distance. ``costs`` multiplies.
    """
    values, marks = np.ones(len(features)), np.ones(len(features))
    if data is not None and (weights is None or isinstance(weights, Mapping)):
        scale = _spread(features, data)
        numeric = np.array([not features.is_category(j) for j in range(len(features))], dtype=bool)
        # A constant column has no scale; rounding in its mean must not pass for one.
        spread = scale > ROUNDING * np.abs(data).max(axis=0, initial=0.0)[features.first]
        values = np.where(numeric & spread, 1.0 / np.where(spread, scale, 1.0), 1.0)
    if isinstance(weights, Mapping):
        for name, value in weights.items():
            values[features.index(name)] = marks[features.index(name)] = _number(
                "weight", name, value
            )
    elif weights is not None:
        values = _per_feature("weights", weights, features)
        marks = values.copy()
    bad = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if len(bad):
        raise InputError(
            f"weights must be positive and finite. Got {values[bad[0]]:g} for "
            f"{features.names[bad[0]]!r}. To forbid a change, use Constraints(frozen=[...]); "
            "to make it nearly free, use a small positive weight."
        )
    for name, cost in (costs or {}).items():
        values[features.index(name)] *= cost
        marks[features.index(name)] *= cost
    if features.is_plain:
        return values
    half = np.array([0.5 if features.is_category(j) else 1.0 for j in range(len(features))])
    columns = np.where(features.hidden, 0.0, (values * half)[features.owner])
    for mark in features.marks.values():
        columns[mark] = marks[features.owner[mark]]
    return columns


def _spread(features: Features, data: FloatArray) -> FloatArray:
    """Return the standard deviation of each feature's first column, missing numbers aside."""
    scale = data.std(axis=0)
    for number, mark in features.marks.items():
        known = data[data[:, mark] == 0, number]
        scale[number] = known.std() if len(known) else 0.0
    return np.asarray(scale[features.first])


def _number(what: str, feature: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The {what} of {feature!r} must be a number. Got {value!r} instead."
        ) from error


def _per_feature(name: str, value: Any, features: Features) -> FloatArray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers. Got {value!r} instead.") from error
    if array.shape not in ((), (len(features),)):
        raise InputError(
            f"{name} must be a number or one number for each of the {len(features)} features. "
            f"Got shape {array.shape}."
        )
    return np.array(np.broadcast_to(array, (len(features),)))
