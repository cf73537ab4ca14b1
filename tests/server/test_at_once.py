"""What threads of the server answer: few requests at a time, each in time."""

import json
import threading

import pytest
from starlette.testclient import TestClient

from tests.server.inline import application, small

AT, BODY = "http://127.0.0.1", {"rows": [json.loads(small().frame.iloc[3].to_json())]}


@pytest.fixture
def held(monkeypatch):
    """An application that has one place, whose predictions wait for an event."""
    monkeypatch.setattr("pertinent.server.web.at_once.UNDER_WAY", 1)
    app, service = application(time_limit=0.05)
    event, ended, predict = threading.Event(), threading.Event(), service.predict

    def late(body):
        event.wait(600)
        service.threads.limit = 600  # from now on no machine is too slow
        ended.set()
        return predict(body)

    monkeypatch.setattr(service, "predict", late)
    with TestClient(app, AT) as client:
        yield client, event, ended
        event.set()


def test_a_prediction_that_takes_too_long_is_given_up_and_keeps_its_place(held):
    client, event, ended = held
    late = client.post("/api/v1/predict", json=BODY)
    assert late.status_code == 504
    assert "took longer than 0.05 seconds" in late.json()["detail"]
    for path in ("rows", "rows/3"):
        crowded = client.get(f"/api/v1/{path}")
        assert crowded.status_code == 503
        assert crowded.headers["Retry-After"] == "1"
    event.set()
    assert ended.wait(600)
    while (found := client.post("/api/v1/predict", json=BODY)).status_code == 503:
        pass  # the place is given back after the answer
    assert found.status_code == 200
    assert client.get("/api/v1/rows/3").status_code == 200
