"""The answers, as OpenAPI describes them; they are written as they are, not converted."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from pertinent.server.web.bodies import Value


class Feature(BaseModel):
    """One feature: its kind, range, typical value and distribution."""

    name: str
    text: str
    unit: str | None
    kind: str
    low: float | None
    high: float | None
    step: float | None
    decimals: int | None
    categories: list[Value] | None
    typical: Value
    missing_allowed: bool
    distribution: dict[str, list[Any]] | None


class Inferred(BaseModel):
    """A rule that the data suggest."""

    feature: str
    rule: str
    words: str


class Model(BaseModel):
    """The model."""

    name: str
    kind: str
    classes: list[Value]
    class_words: dict[str, str]
    subject: str
    version: str
    fingerprint: str | None
    has_probability: bool
    n_rows: int
    id_name: str
    features: list[Feature]
    inferred: list[Inferred]
    rules: dict[str, Any]
    methods: list[str]
    norms: list[str]
    plausible: bool
    options: dict[str, Any]


class Schemas(BaseModel):
    """JSON schemas."""

    row: dict[str, Any]
    rules: dict[str, Any]
    explanation: dict[str, Any]


class TableRow(BaseModel):
    """One row of the table."""

    id: int
    values: dict[str, Value]
    predicted: Value
    probability: float | None


class Page(BaseModel):
    """A page of rows."""

    total: int
    matching: int
    offset: int
    scored: float
    rows: list[TableRow]


class Prediction(BaseModel):
    """Class and probabilities of one row."""

    label: Value
    probabilities: dict[str, float] | None


class Predictions(BaseModel):
    """Predictions in the order of the rows."""

    predictions: list[Prediction]


class RuleNamed(BaseModel):
    """A rule of a conflict, by reference."""

    kind: str
    features: list[str]
    number: float | None
    place: int | None
    words: str
    inferred: bool


class Reason(BaseModel):
    """Why there is no change that works; ``rules`` conflict, and each of them matters."""

    kind: str
    proved: bool
    words: str
    rules: list[RuleNamed]


class Explained(BaseModel):
    """One explanation."""

    words: dict[str, str]
    headings: dict[str, str]
    text: str
    short: str
    summary: dict[str, Any]
    probability: dict[str, Any]
    reason: Reason | None
    constraints_line: str
    seconds: float
    stored: dict[str, Any] | None = None


class Explanations(BaseModel):
    """Explanations in the order of the rows."""

    explanations: list[Explained]


class Card(BaseModel):
    """Another change that works."""

    values: list[dict[str, Any]]
    objective: float | None
    proved: bool
    target: Value
    words: str
    probability: float | None


class AlternativesFound(BaseModel):
    """An explanation and other changes."""

    explanation: Explained
    cards: list[Card]


class Lever(BaseModel):
    """What changing only some features can do."""

    features: list[str]
    status: str
    works: bool
    needs_all: bool
    values: dict[str, list[Value]]
    objective: float | None
    bound: float | None
    target: Value
    words: str
    reason: str | None


class MenuFound(BaseModel):
    """Levers, those that work first."""

    sets: list[Lever]
    frozen: list[str]
    words: str


class Group(BaseModel):
    """One group of rows."""

    words: str
    filters: list[str]
    n: int
    answered: int
    share: float | None
    share_low: float | None
    share_high: float | None
    median_cost: float | None
    median_low: float | None
    median_high: float | None
    levers: list[dict[str, Any]]
    ids: list[dict[str, Any]]


class CohortsFound(BaseModel):
    """Groups of rows compared."""

    by: str
    total: int
    rows: int
    groups: list[Group]
    gap: dict[str, Any] | None
    words: str


class Finding(BaseModel):
    """One claim, and whether it holds."""

    claim: str
    verdict: str
    words: str


class Verdict(BaseModel):
    """What the independent check says."""

    verdict: str
    ok: bool
    findings: list[Finding]
    words: str
    format: str
    seconds: float
