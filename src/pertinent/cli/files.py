"""Tables from files, and what the words of options stand for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from pertinent.exceptions import InputError, one_line, optional, reading
from pertinent.geometry.arrays import Foreign

READERS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".arrow": "arrow",
    ".feather": "arrow",
}  # fmt: skip
#: What stands between the values of a text table.
SEPARATORS = (",", ";", "\t")
#: So many characters of the first line tell what separates.
LONGEST_HEADER = 1_000_000


def called(path: Path) -> str:
    """Return what messages call the table of a file."""
    return "standard input" if str(path) == "-" else one_line(path.name)


def read_table(path: Path) -> Any:
    """Return a CSV, Parquet or Arrow file as a pandas DataFrame; "-" is text on standard input."""
    if str(path) == "-":
        text = sys.stdin.read()
        with reading(Path("standard input")):
            return _with_rows(_read_text(text.partition("\n")[0], lambda: StringIO(text)))
    kind = READERS.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"Expected a file that ends in {', '.join(READERS)}; got {path.name}.")
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    pd = optional("pandas", "cli", "Reading tables")
    with reading(path):
        if kind == "csv":
            with path.open(encoding="utf-8-sig") as file:
                first = file.readline(LONGEST_HEADER)
            return _with_rows(_read_text(first, lambda: path))
        return _with_rows(pd.read_parquet(path) if kind == "parquet" else _read_arrow(path))


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file that are not blank; "-" is standard input."""
    if str(path) == "-":
        text = sys.stdin.read()
    elif not path.is_file():
        raise InputError(f"There is no file {path}.")
    else:
        with reading(path, " as text"):
            text = path.read_text(encoding="utf-8-sig")
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise InputError(f"{one_line(path.name)}: expected a text on each line, got none.")
    return lines


def _with_rows(frame: Any) -> Any:
    """Refuse a table without rows, and text that no table has."""
    if not len(frame):
        raise InputError("It has the names of columns, but no rows.")
    for name in frame.select_dtypes(exclude=["number", "bool", "datetime"]):
        damaged = [i for i, value in enumerate(frame[name]) if "\0" in str(value)]
        if damaged:
            raise InputError(f"Column {name!r} holds a null character in row {damaged[0]}.")
    return frame


def _read_text(first: str, source: Callable[[], Any]) -> Any:
    """Return a table whose values are separated by commas, semicolons or tabs.

    What is most common in the first line separates. Where commas alone keep a column from being
    numbers, and do not separate, they are decimal points.
    """
    pd = optional("pandas", "cli", "Reading tables")
    if not first.strip():
        raise InputError(
            "It is empty. Expected a line with the names of the columns, then the rows."
        )
    separator = max(SEPARATORS, key=first.count)
    frame = pd.read_csv(source(), sep=separator)
    if separator == ",":
        return frame
    other = pd.read_csv(source(), sep=separator, decimal=",")
    numbers = [
        name
        for name in frame.columns
        if other[name].dtype.kind in "if" and frame[name].dtype.kind not in "if"
    ]
    return frame.assign(**{name: other[name] for name in numbers})


def _read_arrow(path: Path) -> Any:
    """Return an Arrow file, in the file or the stream format."""
    import pyarrow as pa

    with pa.memory_map(str(path)) as source:
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
    return table.to_pandas()


def model_columns(frame: Any, model: Foreign, ignore: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the columns that the model knows, and the names of the others.

    A model that was fitted without names gets all columns but those to be ignored.
    """
    unknown = [name for name in ignore if name not in frame.columns]
    if unknown:
        raise InputError(f"There is no column {unknown[0]!r} to ignore.")
    frame = frame.drop(columns=list(ignore))
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return frame, []
    extra = [name for name in frame.columns if name not in set(known)]
    return frame.drop(columns=extra), extra


def parse_rows(text: str | None, count: int) -> list[int] | None:
    """Return row numbers from "3", "0,4" or "10-20".

    Examples
    --------
    >>> from pertinent.cli.files import parse_rows
    >>> parse_rows("0,4-6", 10)
    [0, 4, 5, 6]
    """
    if text is None:
        return None
    rows: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            rows += range(int(first), int(last or first) + 1)
        except ValueError as error:
            raise InputError(f'Expected rows like "0,4,10-20", got {text!r}.') from error
    wrong = [row for row in rows if not 0 <= row < count]
    if wrong:
        raise InputError(f"There is no row {wrong[0]}: the table has {count} rows.")
    return rows


def parse_bounds(texts: Sequence[str]) -> dict[str | int, tuple[float | None, float | None]]:
    """Return bounds from "income=0:" (at least 0), "time=6:72" or "debt=:100".

    Examples
    --------
    >>> from pertinent.cli.files import parse_bounds
    >>> parse_bounds(["income=0:", "time=6:72"])
    {'income': (0.0, None), 'time': (6.0, 72.0)}
    """
    bounds: dict[str | int, tuple[float | None, float | None]] = {}
    for text in texts:
        name, equals, ends = text.rpartition("=")
        low, colon, high = ends.partition(":")
        try:
            if not (name and equals and colon):
                raise ValueError(text)
            bounds[name] = (float(low) if low else None, float(high) if high else None)
        except ValueError as error:
            raise InputError(f'Expected bounds like "income=0:1000", got {text!r}.') from error
    return bounds


def parse_steps(texts: Sequence[str]) -> dict[str | int, float | None]:
    """Return steps from "amount=50" or "age=none", which allows any number.

    Examples
    --------
    >>> from pertinent.cli.files import parse_steps
    >>> parse_steps(["amount=50", "age=none"])
    {'amount': 50.0, 'age': None}
    """
    steps: dict[str | int, float | None] = {}
    for text in texts:
        name, _, step = text.rpartition("=")
        try:
            if not name:
                raise ValueError(text)
            steps[name] = None if step == "none" else float(step)
        except ValueError as error:
            raise InputError(
                f'Expected a step like "amount=50" or "age=none", got {text!r}.'
            ) from error
    return steps


def parse_limits(text: str) -> Any:
    """Return where limits come from: "data", "none", or the share by which they are wider.

    Examples
    --------
    >>> from pertinent.cli.files import parse_limits
    >>> parse_limits("data"), parse_limits("none"), parse_limits("0.1")
    ('data', None, 0.1)
    """
    if text in ("data", "none"):
        return "data" if text == "data" else None
    try:
        share = float(text)
    except ValueError as error:
        raise InputError(f'Expected limits "data", "none" or a share, got {text!r}.') from error
    if not 0 <= share < float("inf"):
        raise InputError(f'Expected limits "data", "none" or a share of at least 0, got {text!r}.')
    return share


def parse_range(text: str) -> tuple[float | None, float | None]:
    """Return a range of predictions from "160000:" (at least), "1:2.5" or ":100".

    Examples
    --------
    >>> from pertinent.cli.files import parse_range
    >>> parse_range("160000:"), parse_range("-1:2.5")
    ((160000.0, None), (-1.0, 2.5))
    """
    low, colon, high = text.partition(":")
    try:
        if not colon:
            raise ValueError(text)
        return float(low) if low else None, float(high) if high else None
    except ValueError as error:
        raise InputError(
            f'The model predicts a number. Expected a range like "160000:", ":100" or "1:2.5", got '
            f"{text!r}."
        ) from error


def parse_target(text: str | None, model: Foreign) -> Any:
    """Return the class of the model that is written like this, or the range of a regressor."""
    from pertinent.models.regressors import is_regressor

    if is_regressor(model):
        return None if text is None else parse_range(text)
    return parse_label(text, model)


def parse_label(text: str | None, model: Foreign) -> Any:
    """Return the class of the model that is written like this."""
    if text is None:
        return None
    labels = {str(label): label for label in model.classes_.tolist()}
    if text not in labels:
        raise InputError(f"There is no class {text!r}; the model knows {', '.join(labels)}.")
    return labels[text]
