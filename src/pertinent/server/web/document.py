"""The OpenAPI document, made for this model: rows with its features, classes, categories."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from pertinent.server.solving.form import BOOLEAN, CATEGORY, LARGEST, Column
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


def told(answer: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Return what a route answers, for OpenAPI; the answer itself is not converted."""
    return {200: {"model": answer, "description": (answer.__doc__ or "").split("\n")[0]}}


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
        kinds = [{"type": "number", "minimum": -LARGEST, "maximum": LARGEST}]
    gone = [{"type": "null"}] if column.may_be_missing else []
    return {"anyOf": [*kinds, *gone]} if gone else kinds[0]


def schema_of(service: Service) -> dict[str, Any]:
    """Return what `GET /api/v1/schema` answers."""
    return {
        "row": row_schema(service.form.columns),
        "rules": Rules.model_json_schema(),
        "explanation": json_schema(),
    }


#: The bodies that ask about rows, and those of them that ask about a single one.
ABOUT_ROWS, ABOUT_ONE = ("Explain", "Document"), ("Alternatives", "Menu")


def _speak_of_model(schemas: dict[str, Any], service: Service) -> None:
    """Name the features, classes and rows that there are, so that a reader need not guess."""
    names = list(service.form.names)
    numbers = [c.name for c in service.form.columns if c.kind != CATEGORY]
    goal = {"enum": [*service.classes, None], "title": "Target"}
    for name in (*ABOUT_ROWS, *ABOUT_ONE):
        known = schemas[name]["properties"]
        most = 1 if name in ABOUT_ONE else service.settings.rows
        places = {"type": "integer", "minimum": 0, "maximum": max(len(service.rows) - 1, 0)}
        known["ids"] = _list(places, most)
        known["rows"] = _list({"$ref": "#/components/schemas/Row"}, most)
        known["target"] = goal
        schemas[name]["oneOf"] = [
            {"required": ["rows"], "properties": {"ids": {"type": "null"}}},
            {"required": ["ids"], "properties": {"rows": {"type": "null"}}},
        ]
    schemas["Predict"]["properties"]["rows"]["maxItems"] = service.settings.rows
    schemas["Cohorts"]["properties"]["target"] = goal
    schemas["Cohorts"]["properties"]["by"] = {"enum": [*names, "@class"]}
    rules = schemas["Rules"]["properties"]
    for rule, own in (("frozen", names), ("increase_only", numbers), ("decrease_only", numbers),
                      ("integer", numbers)):  # fmt: skip
        rules[rule] = {"anyOf": [{"type": "array", "items": {"enum": own}}, {"type": "null"}]}
    for rule, own in (("bounds", numbers), ("costs", names), ("decimals", numbers),
                      ("step", numbers)):  # fmt: skip
        for kind in rules[rule]["anyOf"]:
            if kind.get("type") == "object":
                kind["propertyNames"] = {"enum": own}


def _list(items: dict[str, Any], most: int) -> dict[str, Any]:
    own = {"type": "array", "items": items, "minItems": 1, "maxItems": most}
    return {"anyOf": [own, {"type": "null"}]}


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
        _speak_of_model(schemas, service)
        if service.settings.tokens:
            own = {"token": {"type": "http", "scheme": "bearer"}}
            document["components"]["securitySchemes"] = own
            document["security"] = [{"token": []}]
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
