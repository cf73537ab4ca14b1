"""How kernels are compiled by numba, which is touched only where one is imported.

numba's cache looks at the date of the file of an `entry` alone. So every function that one calls
stands in the same file, and what may change elsewhere is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

#: Functions that only compiled code calls: without the wrappers that cost much of compiling.
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def entry(function: Function) -> Function:
    """Compile a function that Python calls."""
    return _njit(function, cache=True)


def compiled(function: Function) -> Function:
    """Compile a function that only compiled functions call."""
    return _njit(function, **_INNER)


def inlined(function: Function) -> Function:
    """Compile a function into those that call it, where passing its arguments takes too long."""
    return _njit(function, forceinline=True, **_INNER)


def _njit(function: Function, **options: Any) -> Function:
    from numba import njit

    return cast(Function, njit(error_model="numpy", nogil=True, **options)(function))
