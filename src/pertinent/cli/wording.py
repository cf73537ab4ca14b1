"""Messages of the library in the words of the command line: options instead of arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial

from pertinent.exceptions import visible

#: The options that take back what the data suggest of a feature, by the argument of Python.
_TAKEN_BACK = {
    "bounds": "--bound {}=:",
    "step": "--step {}=none",
    "categories": "--any-category {}",
}
#: What the library calls things, and what the command line does.
_PHRASES = (
    (re.compile(r"\b(missing|method|norm)=(['\"])([\w-]+)\2"), r"--\1 \3"),
    (re.compile(r"\bsearch=True\b"), "--search"),
    (re.compile(r"^(data|X) (?=has|lacks|holds)"), "The table "),
    (re.compile(r"(?<= of )(data|X)(?= holds| has)"), "the table"),
    (re.compile(r"(?<![\w-])(min_proba|time_limit|max_changes)\b=?"), r"--\1"),
)


def in_options(text: str) -> str:
    """Return a message with the options of the command line in place of arguments of Python.

    Examples
    --------
    >>> from pertinent.cli.wording import in_options
    >>> in_options("X has gaps. With missing='impute' they are filled.")
    'The table has gaps. With --missing impute they are filled.'
    """
    for pattern, ours in _PHRASES:
        text = pattern.sub(partial(_dashed, ours), text)
    return text


def _dashed(ours: str, found: re.Match[str]) -> str:
    words = found.expand(ours)
    return words.replace("_", "-") if words.startswith("--") else words


def options_for(taken_back: Mapping[str, Sequence[str]]) -> str:
    """Return the options that take back what the data suggest: features by argument of Python.

    Examples
    --------
    >>> from pertinent.cli.wording import options_for
    >>> print(options_for({"bounds": ("age", "debt {EUR}"), "step": ("b",)}))
    “--bound age=: --bound 'debt {EUR}=:' --step b=none”
    """
    options = [
        visible(f"{option} {shlex.quote(value.replace('{}', name))}")
        for field, names in taken_back.items()
        for option, value in [_TAKEN_BACK[field].split()]
        for name in names
    ]
    return f"“{' '.join(options)}”"
