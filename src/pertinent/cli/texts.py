"""Texts from files, explained word by word: what `pertinent explain` does for a model of texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pertinent.cli.files import parse_label, parse_rows, read_lines, read_table
from pertinent.cli.given import Given
from pertinent.exceptions import InputError, PertinentError, one_line
from pertinent.geometry.arrays import Foreign

if TYPE_CHECKING:
    from pertinent.api.explanation import Explanation
    from pertinent.api.text import TextExplainer

#: The options of all commands that texts have, too.
COMMON = ("target", "alternatives", "time_limit", "allow_pickle", "trust")

Column = Annotated[
    str | None,
    typer.Option(help="Of a table of texts, the column.", rich_help_panel="Models of texts"),
]
Add = Annotated[
    list[str] | None,
    typer.Option(help="Words that a change may add.", rich_help_panel="Models of texts"),
]
AddAny = Annotated[
    bool,
    typer.Option("--add-any", help="A change may add any word.", rich_help_panel="Models of texts"),
]


@dataclass(frozen=True)
class TextOptions:
    """The options that only models of texts have."""

    column: str | None
    add: list[str]
    add_any: bool

    def require_none(self) -> None:
        """Refuse them for a model of tables."""
        if self != TextOptions(None, [], False):
            raise InputError(
                "--column, --add and --add-any are for models of texts. This model reads tables."
            )


def explain_texts(
    model: Foreign, file: Path, given: Given, rows: str | None, options: TextOptions
) -> list[Explanation]:
    """Return the explanations of the texts in a file, each called by its place there."""
    _require_common(given)
    texts = read_texts(file, options.column)
    places = parse_rows(rows, len(texts))
    chosen = range(len(texts)) if places is None else places
    from pertinent.api.text import TextExplainer  # loads solvers, which `check` does without

    explainer = TextExplainer(
        model,
        add=options.add_any or options.add,
        alternatives=given.alternatives,
        time_limit=given.time_limit,
    )
    target = parse_label(given.target, model)
    return [_explained(explainer, texts[place], target, place) for place in chosen]


def _explained(explainer: TextExplainer, text: str, target: object, place: int) -> Explanation:
    try:
        return replace(explainer.explain([text], target)[0], name=place)
    except PertinentError as error:
        raise type(error)(f"Text {place}: {error}") from error


def _require_common(given: Given) -> None:
    """Refuse options that are about the columns of a table."""
    plain = Given()
    odd = [f.name for f in fields(Given) if getattr(given, f.name) != getattr(plain, f.name)]
    others = [f"--{name.replace('_', '-')}" for name in odd if name not in COMMON]
    if others:
        raise InputError(
            f"{others[0]} is for tables, and this model reads texts. Texts have the options "
            "--target, --alternatives, --time-limit, --column, --add and --add-any."
        )


def read_texts(file: Path, column: str | None) -> list[str]:
    """Return the lines of a text file that are not blank, or one column of a table."""
    if column is None and (str(file) == "-" or file.suffix.lower() == ".txt"):
        return read_lines(file)
    frame = read_table(file)
    if column is None:
        found = list(_texts(frame))
        if len(found) != 1:
            said = ", ".join(map(repr, found)) if found else "none"
            raise InputError(
                f"{one_line(file.name)}: expected one column of texts, got {said}. Name it: "
                "--column NAME."
            )
        column = found[0]
    if column not in frame.columns:
        raise InputError(f"There is no column {column!r} of texts.")
    values: list[str] = frame[column].tolist()
    odd = [i for i, value in enumerate(values) if not isinstance(value, str)]
    if odd:
        raise InputError(f"Column {column!r} holds no text in row {odd[0]}.")
    return values


def _texts(frame: Foreign) -> Iterator[str]:
    for name in frame.columns:
        if all(isinstance(value, str) for value in frame[name]):
            yield name
