"""Base values and weights: what counts as turned off, and how much a change costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent._typing import FloatArray
from pertinent.exceptions import InputError
from pertinent.features import Features


def baseline_values(baseline: Any, features: Features, data: FloatArray | None) -> FloatArray:
    """Return the value at which each feature counts as turned off.

    Parameters
    ----------
    baseline : float, array of shape (n_features,), mapping of feature to value, "mean" or "median"
    features : Features
    data : ndarray of shape (n, n_features) or None
        Needed for "mean" and "median".
    """
    if isinstance(baseline, str):
        if baseline not in ("mean", "median"):
            raise InputError(f"baseline must be 'mean', 'median' or numbers. Got {baseline!r}.")
        if data is None:
            raise InputError(f"baseline={baseline!r} is taken from data: pass data=X_train too.")
        return np.asarray(data.mean(axis=0) if baseline == "mean" else np.median(data, axis=0))
    if isinstance(baseline, dict):
        values = np.zeros(len(features))
        for name, value in baseline.items():
            values[features.index(name)] = value
    else:
        values = _per_feature("baseline", baseline, features)
    if not np.isfinite(values).all():
        raise InputError("baseline must be finite.")
    return values


def weight_values(weights: Any, features: Features, data: FloatArray | None) -> FloatArray:
    """Return the cost of moving each feature by one unit.

    None means 1 for each feature; with data, 1 / standard deviation, so that units do not matter.
    """
    if weights is None:
        return np.ones(len(features)) if data is None else _inverse_scale(data)
    if isinstance(weights, dict):
        values = np.ones(len(features)) if data is None else _inverse_scale(data)
        for name, value in weights.items():
            values[features.index(name)] = value
    else:
        values = _per_feature("weights", weights, features)
    bad = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if len(bad):
        raise InputError(
            f"weights must be positive and finite. Got {values[bad[0]]:g} for "
            f"{features.names[bad[0]]!r}. To forbid a change, use Constraints(frozen=[...]); "
            "to make it nearly free, use a small positive weight."
        )
    return values


def _inverse_scale(data: FloatArray) -> FloatArray:
    scale = data.std(axis=0)
    return np.asarray(1.0 / np.where(scale > 0, scale, 1.0))


def _per_feature(name: str, value: Any, features: Features) -> FloatArray:
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (len(features),)):
        raise InputError(
            f"{name} must be a number or one number for each of the {len(features)} features. "
            f"Got shape {array.shape}."
        )
    return np.array(np.broadcast_to(array, (len(features),)))
