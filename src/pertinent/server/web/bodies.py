"""The bodies of requests, as OpenAPI describes them; what does not fit is refused by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, RootModel, model_validator

Name = Annotated[str, Field(max_length=500)]
Text = Annotated[str, Field(max_length=2000)]
Value = bool | int | FiniteFloat | Text | None
Names = Annotated[list[Name], Field(max_length=2000)]
Number = int | FiniteFloat


class Strict(BaseModel):
    """A body in which unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class Row(RootModel[dict[Name, Value]]):
    """The values of one row by name; null where a value is missing."""


class Rules(Strict):
    """The rules that answers obey: keyword arguments of `pertinent.Constraints`."""

    frozen: Names | None = None
    bounds: dict[Name, tuple[Number | None, Number | None]] | None = None
    increase_only: Names | None = None
    decrease_only: Names | None = None
    integer: Names | None = None
    decimals: dict[Name, Annotated[int, Field(ge=-12, le=12)] | None] | None = None
    step: dict[Name, Number | tuple[Number, Number] | None] | None = None
    categories: dict[Name, Annotated[list[Value], Field(max_length=2000)] | None] | None = None
    transitions: dict[Name, dict[Text, list[Value]]] | None = None
    relations: Annotated[list[Text], Field(max_length=100)] | None = None
    max_changes: Annotated[int, Field(ge=1, le=10_000)] | None = None
    costs: dict[Name, FiniteFloat] | None = None
    together: Annotated[list[Names], Field(max_length=100)] | None = None


class Question(Strict):
    """What is asked of rows, whichever they are."""

    target: Value = None
    rules: Rules | None = None
    min_probability: Annotated[float, Field(ge=0, le=1)] | None = None
    method: Literal["two-phase", "strict", "exact", "sufficient"] | None = None
    norm: Literal["l1", "l0"] | None = None
    plausible: bool | None = None
    time_limit: Annotated[float, Field(gt=0, le=600)] | None = None


class Predict(Strict):
    """Rows to predict."""

    rows: Annotated[list[Row], Field(min_length=1)]


class Explain(Question):
    """Rows to explain: new ones, or those of the table by id."""

    rows: Annotated[list[Row], Field(min_length=1)] | None = None
    ids: Annotated[list[int], Field(min_length=1)] | None = None
    certificate: bool = False
    detail: Literal["live", "full"] = "full"

    @model_validator(mode="after")
    def _one_of_both(self) -> Explain:
        if (self.rows is None) == (self.ids is None):
            raise ValueError("give either rows or ids")
        return self


class Alternatives(Explain):
    """One row, and how many other changes that work to list."""

    count: Annotated[int, Field(ge=1, le=20)] = 3


class Menu(Explain):
    """One row, and how many features a lever may have."""

    max_features: Annotated[int, Field(ge=1, le=3)] = 2


class Document(Explain):
    """Rows to write about."""

    title: Annotated[str, Field(max_length=200)] | None = None


class Cohorts(Question):
    """By what to group rows, and which rows."""

    by: Name
    filters: Annotated[list[Text], Field(max_length=50)] = []
    sample: Annotated[int, Field(ge=1, le=5000)] = 300


class Check(Strict):
    """A stored explanation."""

    explanation: dict[str, Any]


class ProblemBody(BaseModel):
    """What is wrong, as problem+json."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None
    request_id: str
