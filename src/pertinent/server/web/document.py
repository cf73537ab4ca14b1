"""The OpenAPI document, made for this model: rows with its features, classes, categories."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from pertinent.server.solving.form import BOOLEAN, CATEGORY, Column
from pertinent.server.web.bodies import ProblemBody, Rules
from pertinent.server.web.problems import MEDIA_TYPE, TITLES
from pertinent.server.web.service import Service
from pertinent.summary.stored import json_schema

#: What any request may be answered with beside its answer.
STATUSES = (400, 401, 403, 404, 408, 413, 415, 421, 422, 429, 500, 503, 504)


def responses() -> dict[int | str, dict[str, Any]]:
    """Return the problems of every route, for OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    return {status: {"description": TITLES[status], "content": content} for status in STATUSES}


def row_schema(columns: tuple[Column, ...]) -> dict[str, Any]:
    """Return the JSON schema of a row."""
    return {
        "type": "object",
        "description": "The values of one row by name; null where a value is missing.",
        "properties": {column.name: _value_schema(column) for column in columns},
        "required": [column.name for column in columns],
        "additionalProperties": False,
    }


def _value_schema(column: Column) -> dict[str, Any]:
    if column.kind == CATEGORY:
        known: dict[str, Any] = {"enum": list(column.categories)}
        kinds = [{"type": "string", "maxLength": 2000}] if column.takes_others else [known]
    elif column.kind == BOOLEAN:
        kinds = [{"type": "boolean"}]
    else:
        kinds = [{"type": "number", "minimum": -1e300, "maximum": 1e300}]
    gone = [{"type": "null"}] if column.may_be_missing else []
    return {"anyOf": [*kinds, *gone]} if gone else kinds[0]


def schema_of(service: Service) -> dict[str, Any]:
    """Return what `GET /api/v1/schema` answers."""
    return {
        "row": row_schema(service.form.columns),
        "rules": Rules.model_json_schema(),
        "explanation": json_schema(),
    }


def describe_api(app: FastAPI, service: Service) -> None:
    """Let the OpenAPI document speak of this model."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = make()
        schemas = document["components"]["schemas"]
        schemas["ProblemBody"] = ProblemBody.model_json_schema()
        schemas["Row"] = row_schema(service.form.columns)
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
