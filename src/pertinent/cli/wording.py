"""Messages of the library in the words of the command line: options instead of arguments."""

from __future__ import annotations

import ast
import re
import shlex
from functools import partial

from pertinent.exceptions import visible

#: Rules to relax, as `pertinent.rules.reference.relaxing` writes them.
_RELAXED = re.compile(r"Constraints\(((?:\w+=\{[^{}]*\}(?:, )?)+)\)")
_RULE = re.compile(r"(\w+)=(\{[^{}]*\})")
#: What the library calls things, and what the command line does.
_PHRASES = (
    (re.compile(r"\b(missing|method|norm)=(['\"])([\w-]+)\2"), r"--\1 \3"),
    (re.compile(r"^(data|X) (?=has|lacks|holds)"), "The table "),
    (re.compile(r"(?<= of )(data|X)(?= holds)"), "the table"),
    (re.compile(r"(?<![\w-])(min_proba|time_limit|max_changes)\b=?"), r"--\1"),
)


def in_options(text: str) -> str:
    """Return a message with the options of the command line in place of arguments of Python.

    Examples
    --------
    >>> from pertinent.cli.wording import in_options
    >>> in_options("X has gaps. With missing='impute' they are filled.")
    'The table has gaps. With --missing impute they are filled.'
    >>> in_options("to allow more: Constraints(bounds={'age': (None, None)}, step={'b': None})")
    'to allow more: “--bound age=: --steps none”'
    """
    text = _RELAXED.sub(lambda found: _relaxing(found[1]) or found[0], text)
    for pattern, ours in _PHRASES:
        text = pattern.sub(partial(_dashed, ours), text)
    return text


def _dashed(ours: str, found: re.Match[str]) -> str:
    words = found.expand(ours)
    return words.replace("_", "-") if words.startswith("--") else words


def _relaxing(fields: str) -> str:
    """Return the options that take back what the data suggest; "" if that is no such line."""
    options: list[str] = []
    for field, written in _RULE.findall(fields):
        if field == "bounds":
            options += [f"--bound {visible(shlex.quote(f'{name}=:'))}" for name in _names(written)]
        else:
            options.append({"step": "--steps none", "categories": "--rare 0"}.get(field, ""))
    return f"“{' '.join(options)}”" if options and all(options) else ""


def _names(written: str) -> list[str]:
    """Return the features of a mapping that is written down; none if it is anything else."""
    try:
        found = ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return []
    return [str(name) for name in found] if isinstance(found, dict) else []
