"""schemathesis against the OpenAPI document: no 5xx, nothing that the document does not say."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.server.inline import application

#: Cases for each operation, right and wrong ones; `make test SUITE=fuzz` asks for more.
CASES = int(os.environ.get("PERTINENT_FUZZ", "4"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
HEADERS = {"Host": "127.0.0.1"}
PATHS = (
    "model", "schema", "rows", "rows/{id}", "predict", "explain", "alternatives", "menu",
    "cohorts", "check", "report", "letter",
)  # fmt: skip


@cache
def document():
    app, service = application()
    service.rows.scores.start()
    assert service.rows.scores.wait(600)
    return schemathesis.openapi.from_asgi("/openapi.json", app, headers=HEADERS)


POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
#: The first two take nothing that could be wrong.
MODES = [(path, POSITIVE) for path in PATHS] + [(path, NEGATIVE) for path in PATHS[2:]]


@pytest.mark.parametrize(("path", "mode"), MODES)
def test_whatever_is_sent_is_answered_as_documented(path, mode):
    operations = document()[f"/api/v1/{path}"]
    for method in operations:
        print(method, path, mode, dict(fuzzed(operations[method], mode)))


def fuzzed(operation, mode):
    """Send cases, judge every answer, and return how often each status came."""
    codes = Counter()

    @settings(
        max_examples=CASES, phases=[Phase.generate], deadline=None, database=None,
        derandomize=CASES < 100, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(mode))
    def ask(case):
        answer = case.call(headers=HEADERS, timeout=600)  # the default waits 10 s
        codes[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)

    ask()
    return codes
