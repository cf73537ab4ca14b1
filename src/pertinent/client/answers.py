"""What the server answers, as types."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

#: A value of a row; None where it is missing.
Value = bool | int | float | str | None


class Row(TypedDict):
    """One row of the table; ``predicted`` is None until it is scored."""

    id: int
    values: dict[str, Value]
    predicted: Value
    probability: float | None


class Page(TypedDict):
    """A page of rows; ``scored`` is the share of all rows that are scored."""

    total: int
    matching: int
    offset: int
    scored: float
    rows: list[Row]


class Prediction(TypedDict):
    """The class of a row, and the probability of each class where the model has them."""

    label: Value
    probabilities: dict[str, float] | None


class Explained(TypedDict):
    """One explanation; ``stored``, with its certificate, where it was asked for."""

    words: dict[str, str]
    headings: dict[str, str]
    text: str
    short: str
    summary: dict[str, Any]
    probability: dict[str, Any]
    reason: dict[str, Any] | None
    constraints_line: str
    seconds: float
    stored: NotRequired[dict[str, Any]]


class Verdict(TypedDict):
    """What the independent check says."""

    verdict: str
    ok: bool
    findings: list[dict[str, str]]
    words: str
    format: str
    seconds: float
