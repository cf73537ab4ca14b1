"""Errors of the library; each also is the standard error a caller would expect."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


class PertinentError(Exception):
    """Base of all errors raised on purpose by this library."""


class InputError(PertinentError, ValueError):
    """A value handed in cannot be used; the message says what was expected."""


class UnsupportedModelError(PertinentError, TypeError):
    """The classifier has no known decision regions; the message lists what has.

    Parameters
    ----------
    why : str
    instead : str
        What else could be done, where that is long.
    """

    def __init__(self, why: str, instead: str = "") -> None:
        super().__init__(f"{why} {instead}".rstrip())
        self.why, self.instead = why, instead


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


#: Invisible characters that reorder or join what is around them, and ends of lines and paragraphs.
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: object) -> str:
    r"""Return text in which no character does anything: control characters are spelled out.

    Names and labels come from files of strangers. An escape sequence among them would reach the
    terminal, a change of direction would reorder a sentence, an end of line would forge one.

    Examples
    --------
    >>> from pertinent.exceptions import visible
    >>> print(visible("in\x1b[2Jcome\n"), visible("Größe, 身長"))
    in\x1b[2Jcome\n Größe, 身長
    """
    said = str(text)
    if said.isprintable():  # then nothing is hidden in it
        return said
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _INVISIBLE else c
        for c in said
    )


def visible_json(text: str) -> str:
    r"""Return JSON in which invisible characters, which only its texts can hold, are escapes.

    Whoever reads the JSON gets the same texts; whoever prints it sees them.

    Examples
    --------
    >>> from pertinent.exceptions import visible_json
    >>> print(visible_json('{"name": "Größe\x9b2J"}'))
    {"name": "Größe\u009b2J"}
    """
    return _NOT_PLAIN.sub(lambda found: _escaped(found[0]), text)


#: Most texts are plain throughout; of the others each character is looked at.
_NOT_PLAIN = re.compile(r"[^\n -~]")


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def one_line(error: object, limit: int = 200) -> str:
    """Return what an error of another library says, on one line and not at any length."""
    said = visible(" ".join(str(error).split())).rstrip(".")
    return said if len(said) <= limit else f"{said[:limit]}..."


@contextmanager
def reading(path: Path, what: str = "", kind: type[PertinentError] = InputError) -> Iterator[None]:
    """Turn whatever the content of a file leads to into one sentence that names the file.

    ``what`` is what the file is read as, such as " as a model".
    """
    name = one_line(path.name)
    try:
        yield
    except MissingExtraError:
        raise
    except PertinentError as error:
        raise type(error)(f"{name}: {error}") from error
    except Exception as error:  # a damaged file may break its reader anywhere
        why = f"{type(error).__name__}: {one_line(error)}"
        raise kind(f"{name} cannot be read{what}: {why}.") from error


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Turn a full disk, a missing folder and the like into one sentence that names the file."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has seen enough
        raise
    except OSError as error:
        why = one_line(error.strerror or error)
        raise InputError(f"Cannot write {one_line(path)}: {why}.") from error
