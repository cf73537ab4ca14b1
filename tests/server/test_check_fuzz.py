"""Real explanations, changed at random, at the door of the check: nothing forged holds.

`make test SUITE=fuzz` tries thousands.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache

import numpy as np
import pytest
from starlette.testclient import TestClient

from pertinent.server.web.answers import Verdict
from pertinent.server.web.bodies import ProblemBody
from tests.server.inline import application
from tests.server.mutations import mutated

CASES = int(os.environ.get("PERTINENT_FUZZ", "4")) * 3
#: Questions whose answers are changed, each asked of one row.
QUESTIONS = {
    "plain": {"ids": [0]},
    "target": {"ids": [7], "target": "yes", "rules": {"frozen": ["age"], "max_changes": 2}},
    "none": {"ids": [2], "target": "no",
             "rules": {"frozen": ["age", "job", "<script>alert(1)</script>"],
                       "increase_only": ["income"]}},
    "strict": {"ids": [5], "method": "strict", "norm": "l0"},
    "sufficient": {"ids": [5], "method": "sufficient"},
    "probable": {"ids": [9], "min_probability": 0.8},
    "plausible": {"ids": [3], "plausible": True, "time_limit": 100},
}  # fmt: skip
#: What is said in words, which another version may say otherwise: told apart, as not checked.
SENTENCES = {"reason", "reasons", "text", "constraints", "inferred", "plausible"}
#: Where the sample stood in its table is no claim about the model.
PLACES = {"row", "id"}
#: What is asked. Weights are taken as given, and what holds holds for those that are told.
ASKED = ("features", "sample", "margin", "min_proba", "method", "norm", "avoided")


def changed(honest, told, worded=False):
    """Yield the claims of ``told`` that ``honest`` does not make, and whether they are words.

    What is not told is not claimed. A number may be off by rounding.
    """
    if isinstance(honest, dict) and isinstance(told, dict):
        for key, value in told.items():
            if key not in honest:
                yield f"{key} is more", True
            elif key not in PLACES:
                yield from changed(honest[key], value, worded or key in SENTENCES)
    elif isinstance(honest, list) and isinstance(told, list) and len(honest) == len(told):
        for one, other in zip(honest, told, strict=True):
            yield from changed(one, other, worded)
    elif _is_number(honest) and _is_number(told):
        if abs(honest - told) > 1e-6 * max(1.0, abs(honest)):
            yield f"{honest} is {told}", False
    elif honest != told:
        yield f"{honest} is {told}", worded and isinstance(told, str) and isinstance(honest, str)


def _is_number(value):
    return isinstance(value, int | float)


@cache
def served():
    app, _ = application()
    return TestClient(app, "http://127.0.0.1", raise_server_exceptions=False)


@cache
def honest():
    told = {}
    for name, body in QUESTIONS.items():
        answer = served().post("/api/v1/explain", json={**body, "certificate": True})
        told[name] = answer.json()["explanations"][0]["stored"]
    return told


def sent(document):
    """Send a document, as whoever writes JSON by hand would."""
    content = json.dumps({"explanation": document}).encode()
    head = {"Content-Type": "application/json"}
    return served().post("/api/v1/check", content=content, headers=head)


def require_no_forgery(name, document, told, done):
    """What holds says what the honest explanation says; other words are told apart."""
    own, summary = honest()[name], document["summary"]
    apart = [one for one in told["findings"] if one["verdict"] == "not checked"]
    for what, worded in changed(own["summary"], summary):
        assert worded, (what, done)
        assert apart, (what, done)
    asked, other = (d["proof"]["question"] for d in (own, document))
    for part in ASKED:
        if part in other:
            assert not list(changed(asked[part], other[part])), (part, done)


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_was_not_changed_holds(name):
    assert sent(honest()[name]).json()["verdict"] == "holds"


@pytest.mark.parametrize("name", QUESTIONS)
def test_whatever_was_changed_is_answered_and_no_forged_claim_holds(name):
    rng = np.random.default_rng([list(QUESTIONS).index(name), CASES])
    others, seen = list(honest().values()), Counter()
    for _ in range(CASES):
        document, done = mutated(honest()[name], others, rng)
        answer = sent(document)
        if answer.status_code == 200:
            verdict = Verdict.model_validate_json(answer.content, strict=True).verdict
            assert verdict in ("holds", "refuted", "unknown")
            seen[verdict] += 1
            if verdict == "holds":
                require_no_forgery(name, document, answer.json(), done)
        else:
            assert answer.status_code in (400, 422), (done, answer.text)
            problem = ProblemBody.model_validate_json(answer.content)
            assert problem.field in ("explanation", "body"), (done, answer.text)
            seen[answer.status_code] += 1
    print(name, dict(seen))
    assert seen["refuted"]
    assert seen[422]
