"""Numbers that users give: what is none is refused in one sentence that names it."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; truth values are none."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer; truth values are none."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def require_number(name: str, value: Any) -> None:
    """Refuse what is not a finite number of at least 0."""
    if not (is_number(value) and 0 <= value < inf):
        raise InputError(f"{name} must be a number of at least 0. Got {value!r} instead.")


def require_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least so much."""
    if not (is_whole(value) and value >= least):
        raise InputError(
            f"{name} must be a whole number of at least {least}. Got {value!r} instead."
        )


def is_missing(values: Any) -> BoolArray:
    """Return which of the values are None or not equal to themselves (NaN, NaT)."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fc":
        return np.isnan(values)
    return np.array([_is_missing(v) for v in values], dtype=bool)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
