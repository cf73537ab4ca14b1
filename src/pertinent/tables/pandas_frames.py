"""Frames of pandas, column by column: each in the very type that the source's column has."""

from __future__ import annotations

from typing import Any

import numpy as np


def pandas_column(dtype: Any, values: Any, *, missing: bool) -> Any:
    """Return values as a column of a pandas frame in a type, where that can hold them.

    Parameters
    ----------
    dtype : dtype of NumPy or pandas
    values : list or ndarray
        None where one is missing.
    missing : bool
        Whether any is missing.

    Returns
    -------
    ndarray, ExtensionArray or Series
    """
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
    from pandas import Series  # here: who has no frame of pandas need not have it

    made = Series(list(values), dtype=dtype)
    # A frame would make an array of objects one of words; a Series it looks at for longer.
    return made if isinstance(made.dtype, np.dtype) else made.array


def _as_array(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return numbers as an array of a type that holds each of them; None where pandas decides."""
    numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iufb"
    if not numbers or dtype.kind not in "iufb":
        return None
    made = values.astype(dtype)
    return made if (made == values).all() else None
