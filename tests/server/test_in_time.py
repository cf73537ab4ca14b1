"""A request that would take longer than it may is answered with what was found by then."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from starlette.testclient import TestClient

from pertinent import Plausibility
from pertinent.geometry.running import deadline
from pertinent.server import ServerSettings
from pertinent.server.solving import worker
from pertinent.server.solving.engine import Engine
from pertinent.server.solving.pool import Pool
from pertinent.server.web.service import Service
from tests.server.inline import application, recipe, small


class Noting:
    """An engine that notes how much time it has."""

    def answer(self, task, request):
        return deadline() - time.monotonic()


def test_a_worker_stops_searching_before_its_request_fails():
    kind, seconds = worker.answered(Noting(), "explain", {}, 100.0)
    assert kind == worker.ANSWER
    assert 40 < seconds <= 80
    assert deadline() == np.inf


def question(body, limit=30.0, **arguments):
    """What a worker is asked when the body is one of explain."""
    made = recipe(**arguments)
    settings = ServerSettings(time_limit=limit)
    service = Service(made, small().frame, settings, Pool(made, limit=limit))
    return service.question({"ids": None, "plausible": None, **body})


@pytest.mark.parametrize(
    ("body", "limit", "seconds"),
    [
        ({"ids": [3]}, 30, None),
        ({"ids": [3], "plausible": False}, 30, None),
        ({"ids": [3], "plausible": True}, 30, 2.0),
        ({"ids": [3], "plausible": True, "detail": "live"}, 30, 0.5),
        ({"ids": [3], "plausible": True}, 2, 0.5),
        ({"ids": [3], "plausible": True, "detail": "live"}, 0.5, 0.125),
        ({"ids": list(range(50)), "plausible": True}, 30, 0.125),
        ({"ids": [3], "plausible": True, "time_limit": 7.0}, 30, 7.0),
    ],
)
def test_a_plausible_question_has_a_limit_below_that_of_its_request(body, limit, seconds):
    found = question(body, limit)
    assert found.get("time_limit") == seconds
    if seconds is not None and "time_limit" not in body:
        assert 3 * seconds * len(body["ids"]) < limit


def test_so_has_one_where_the_server_is_plausible_by_itself():
    plausible = Plausibility(small().frame, small().label)
    assert question({"ids": [3]}, plausibility=plausible)["time_limit"] == 2.0
    assert "time_limit" not in question({"ids": [3], "plausible": False}, plausibility=plausible)


def test_an_answer_that_was_cut_off_says_how_far_it_was_proved():
    app, _ = application()
    with TestClient(app, "http://127.0.0.1") as client:
        body = {"ids": [3], "plausible": True, "time_limit": 1e-6, "certificate": True}
        [told] = client.post("/api/v1/explain", json=body).json()["explanations"]
    assert told["summary"]["positive"]["status"] in ("feasible", "failed")
    assert told["summary"]["negative"]["status"] in ("feasible", "failed")
    assert "no valid answer is smaller" not in told["words"]["proof"]


def test_densities_are_fitted_once_and_before_somebody_asks(monkeypatch):
    fits, fit = [], Plausibility._densities
    monkeypatch.setattr(Plausibility, "_densities", lambda *a: fits.append(1) or fit(*a))
    engine = Engine(recipe())
    engine.rehearse_plausible()
    assert len(fits) == 1
    for limit in (1.0, 2.0):
        engine.answer("explain", {
            "rows": [small().frame.iloc[3].tolist()], "ids": [3], "plausible": True,
            "time_limit": limit,
        })  # fmt: skip
    assert len(fits) == 1


def test_a_pipe_that_nobody_can_wait_for_is_not_quiet():
    assert not worker._is_quiet(io.BytesIO())
