"""Frames of pandas, column by column: each in the very type that the source's column has."""

from __future__ import annotations

from typing import Any

import numpy as np


def pandas_column(source: Any, values: Any, *, missing: bool) -> Any:
    """Return values in the type of a pandas Series, where that type can hold them.

    Parameters
    ----------
    source : Series
    values : list or ndarray
        None where one is missing.
    missing : bool
        Whether any is missing.

    Returns
    -------
    ndarray or Series
    """
    dtype: Any = source.dtype
    if isinstance(dtype, np.dtype):
        plain = None if missing else _as_array(values, dtype)
        if plain is not None:
            return plain
        if missing and dtype.kind in "iu":
            # int64 cannot hold a missing value, Int64 of pandas can
            dtype = dtype.name.replace("i", "I").replace("u", "U")
        elif missing and dtype.kind == "b":
            dtype = object  # truth values of NumPy cannot be missing
    if hasattr(dtype, "categories"):
        # A category that this very column never listed is added, not lost.
        new = [v for v in dict.fromkeys(values) if v is not None and v not in dtype.categories]
        if new:
            dtype = type(dtype)([*dtype.categories, *new], ordered=dtype.ordered)
    return type(source)(list(values), dtype=dtype)  # an array of objects may become one of words


def _as_array(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return numbers as an array of a type that holds each of them; None where pandas decides."""
    numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iufb"
    if not numbers or dtype.kind not in "iufb":
        return None
    made = values.astype(dtype)
    return made if (made == values).all() else None
