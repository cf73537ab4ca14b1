"""Errors of the library; each also is the standard error a caller would expect."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any


class PertinentError(Exception):
    """Base of all errors raised on purpose by this library."""


class InputError(PertinentError, ValueError):
    """A value handed in cannot be used; the message says what was expected."""


class UnsupportedModelError(PertinentError, TypeError):
    """The classifier has no known decision regions; the message lists what has."""


class MissingExtraError(PertinentError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}'. "
            f'Install it with: pip install "pertinent[{extra}]"'
        )


def optional(module: str, extra: str, purpose: str) -> Any:
    """Return a module of an optional package, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.split(".")[0], extra, purpose) from error


def unknown_name(kind: str, name: object, known: Iterable[object]) -> InputError:
    """Return the error for a name that does not exist, with the closest one that does.

    Examples
    --------
    >>> from pertinent.exceptions import unknown_name
    >>> print(unknown_name("feature", "incme", ["age", "income"]))
    'incme' is not a feature of this model. Did you mean 'income'?
    """
    names = list(known)
    close = difflib.get_close_matches(str(name), [str(n) for n in names], n=1)
    if close:
        hint = f"Did you mean {close[0]!r}?"
    else:
        shown = ", ".join(repr(n) for n in names[:12])
        hint = f"Known: {shown}{', ...' if len(names) > 12 else ''}."
    return InputError(f"{name!r} is not a {kind} of this model. {hint}")
